import numpy as np
import pytest

from greycard import GreycardError, render, synthetic
from greycard.illuminant import angular_error


def test_a_grey_surface_has_the_colour_of_the_light():
    """Reflectances without colour keep the ratio of the channels: the scene's mean over greys is the illuminant."""
    spectrum = synthetic.light_spectrum("A")
    grey = (0.5 * spectrum) @ synthetic._sensitivities()
    assert angular_error(grey, synthetic.scene("A").illuminant) == pytest.approx(0, abs=1e-9)


def test_scenes_repeat_and_differ_by_seed():
    first, again, other = synthetic.scene("D65", 1), synthetic.scene("D65", 1), synthetic.scene("D65", 2)
    np.testing.assert_array_equal(first.pixels, again.pixels)
    assert not np.array_equal(first.pixels, other.pixels)
    np.testing.assert_array_equal(first.illuminant, other.illuminant)


def test_warm_light_is_warm():
    ratios = [
        synthetic.scene(light).illuminant[2] / synthetic.scene(light).illuminant[0] for light in ("A", "D50", "D75")
    ]
    assert ratios == sorted(ratios)


def test_candidates_surround_lights_that_are_not_among_them():
    candidates = synthetic.camera_candidates()
    assert candidates.shape == (120, 3)
    for light in ("A", "D50", "D65", "LED-B3", "3000K"):
        nearest = angular_error(candidates, synthetic.scene(light).illuminant).min()
        assert nearest < 1.5, light


@pytest.mark.parametrize("light", ["moon", "50K", "K"])
def test_an_unknown_light_is_refused(light):
    with pytest.raises(GreycardError, match=f"light '{light}'"):
        synthetic.light_spectrum(light)


def test_rendering_makes_the_known_light_white():
    scene = synthetic.scene("A")
    matrix = synthetic.camera_to_srgb()
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    flat = np.broadcast_to(scene.illuminant, (4, 4, 3))
    rendered = render.srgb(flat, scene.illuminant, matrix).astype(int)
    assert np.ptp(rendered) <= 1
