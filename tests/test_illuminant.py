import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greycard import GreycardError
from greycard.camera import colour_matrices
from greycard.illuminant import (
    angular_error,
    from_chromaticity,
    gains,
    reproduction_error,
    temperatures,
    to_chromaticity,
    unit,
)

channel = st.floats(1e-3, 1e3)
light = st.tuples(channel, channel, channel)


@given(light)
def test_chromaticity_and_back_is_the_same_light(colour):
    np.testing.assert_allclose(from_chromaticity(to_chromaticity(unit(colour))), unit(colour), rtol=1e-9)


@given(light, light)
def test_angular_error_is_symmetric_and_blind_to_exposure(a, b):
    error = angular_error(a, b)
    assert 0 <= error <= 90
    np.testing.assert_allclose(angular_error(b, np.multiply(a, 7.5)), error, atol=1e-9)


def test_angular_error_of_known_angles():
    assert angular_error([1, 1, 1e-9], [1, 1, 1e-9]) == 0
    assert angular_error([1, 1e-12, 1e-12], [1, 1, 1e-12]) == pytest.approx(45)
    # A millionth of a degree: arccos would return 0 or 8.5e-7.
    tiny = np.radians(1e-6)
    assert angular_error([1, 1, 1e-30], [1 - tiny, 1 + tiny, 1e-30]) == pytest.approx(1e-6, rel=1e-6)


def test_reproduction_error_depends_on_what_the_correction_leaves():
    # Twice too much red is left: the angle between (2, 1, 1) and (1, 1, 1), whatever the light was.
    expected = np.degrees(np.arccos(4 / np.sqrt(18)))
    for truth in ([1, 1, 1], [0.2, 0.9, 0.4]):
        estimate = np.array(truth) * [0.5, 1, 1]
        assert reproduction_error(estimate, truth) == pytest.approx(expected)


def test_gains_make_the_light_neutral():
    colour = unit([0.4, 0.8, 0.5])
    np.testing.assert_allclose(gains(colour), [2, 1, 1.6])


@pytest.mark.parametrize("wrong", [[1, 0, 1], [1, -1, 1], [np.nan, 1, 1], [1, 1], 3.0])
def test_what_is_no_light_is_refused(wrong):
    with pytest.raises(GreycardError, match="illuminants"):
        unit(wrong)


def test_temperature_of_daylight_through_a_camera_matrix():
    matrix = colour_matrices("Canon EOS 5D").at(6504)
    d65 = matrix @ [0.95047, 1.0, 1.08883]
    (found,) = temperatures(d65, matrix)
    assert found.cct == pytest.approx(6504, abs=15)
    assert found.duv == pytest.approx(0.0032, abs=0.0003)


def test_a_light_without_temperature_has_none():
    matrix = colour_matrices("Canon EOS 5D").at(6504)
    green = matrix @ [0.2, 1.0, 0.2]
    assert temperatures(np.maximum(green, 1e-3), matrix) == [None]


def test_numpy_prints_as_before_after_colour_science_was_used():
    before = repr(np.array([0.1, -2.0]))
    temperatures([0.4, 0.8, 0.5], colour_matrices("Canon EOS 5D").at(6504))
    assert repr(np.array([0.1, -2.0])) == before
