import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greycard.illuminant import angular_error, unit
from greycard.posterior import posterior

CANDIDATES = unit([[0.3, 0.8, 0.5], [0.31, 0.8, 0.5], [0.8, 0.7, 0.2]])


@given(st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3))
def test_probabilities_sum_to_one_for_any_scores(scores):
    result = posterior(np.array(scores), CANDIDATES)
    assert result.probabilities.sum() == pytest.approx(1)
    assert (result.probabilities >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(result.mean()), 1)


def test_softmax_by_hand():
    result = posterior(np.log([1.0, 2.0, 5.0]), CANDIDATES)
    np.testing.assert_allclose(result.probabilities, [0.125, 0.25, 0.625])
    np.testing.assert_allclose(
        result.mean(), unit(0.125 * CANDIDATES[0] + 0.25 * CANDIDATES[1] + 0.625 * CANDIDATES[2])
    )
    np.testing.assert_array_equal(result.maximum(), CANDIDATES[2])


def test_gain_and_bias_act_before_the_softmax():
    plain = posterior(np.array([1.0, 2.0, 3.0]) * [2, 1, 0] + [0.5, 0, -1], CANDIDATES)
    learned = posterior(np.array([1.0, 2.0, 3.0]), CANDIDATES, gain=np.array([2, 1, 0]), bias=np.array([0.5, 0, -1]))
    np.testing.assert_allclose(learned.probabilities, plain.probabilities)


def test_modes_gather_neighbours_and_account_for_everything():
    modes = posterior(np.log([0.35, 0.25, 0.4]), CANDIDATES).modes()
    assert [mode.probability for mode in modes] == pytest.approx([0.6, 0.4])
    assert angular_error(modes[0].illuminant, CANDIDATES[0]) < 1
    np.testing.assert_allclose(modes[1].illuminant, CANDIDATES[2])


def test_modes_of_a_certain_posterior():
    modes = posterior(np.array([0.0, 0.0, 5000.0]), CANDIDATES).modes()
    assert modes[0].probability == pytest.approx(1)
    assert all(np.isfinite(mode.illuminant).all() for mode in modes)


def test_the_search_for_modes_ends_where_none_can_be_probable_enough():
    result = posterior(np.log([0.35, 0.25, 0.4]), CANDIDATES)
    assert [mode.probability for mode in result.modes(at_least=0.65)] == pytest.approx([0.4])  # 0.6 are left
    assert len(result.modes(at_least=0.55)) == 2
