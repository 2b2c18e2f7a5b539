import numpy as np
import pytest

from greycard import GreycardError
from greycard.adaptation import FEWEST, adapted
from greycard.candidates import CandidateSet
from greycard.illuminant import unit

RED = np.linspace(0.3, 0.9, 40)
BAND = CandidateSet(unit(np.stack([RED, np.ones(40), 1.2 - RED], axis=1)))


def seen(places, sharpness, generator):
    """Log-likelihoods of pictures whose lights are at these places of the band, each misread by a few places."""
    misread = places + generator.normal(0, 1 / np.sqrt(2 * sharpness), len(places))
    return -sharpness * (np.arange(40) - misread[:, None]) ** 2


def test_the_prior_finds_the_lights_that_pictures_were_taken_in():
    generator = np.random.default_rng(0)
    places = np.repeat([10, 30], [240, 60])
    prior = np.exp(adapted(BAND, seen(places, 0.05, generator)).bias)
    prior /= prior.sum()
    assert prior[3:18].sum() == pytest.approx(0.8, abs=0.07)
    assert prior[23:38].sum() == pytest.approx(0.2, abs=0.07)
    assert prior.min() > 0


def test_estimates_get_better_by_it():
    generator = np.random.default_rng(1)
    places = np.full(200, 12)
    scores = seen(places, 0.02, generator)

    def error(bias):
        weights = np.exp(scores + bias - (scores + bias).max(axis=1, keepdims=True))
        return np.abs(weights @ np.arange(40) / weights.sum(axis=1) - places).mean()

    assert error(adapted(BAND, scores).bias) < 0.5 * error(np.zeros(40))


def test_pictures_that_say_nothing_leave_the_prior_nearly_as_it_was():
    before = CandidateSet(BAND.illuminants, bias=np.linspace(-1, 1, 40).astype(np.float32))
    after = adapted(before, np.zeros((100, 40)))
    inner = slice(3, -3)  # the blur has fewer neighbours at the ends
    np.testing.assert_allclose((after.bias - after.bias.mean())[inner], before.bias[inner], atol=0.05)


@pytest.mark.parametrize("shape", [(FEWEST - 1, 40), (FEWEST, 39), (FEWEST * 40,)])
def test_too_few_pictures_or_other_candidates_are_refused(shape):
    with pytest.raises(GreycardError, match=r"at least 20 pictures under 40 candidates"):
        adapted(BAND, np.zeros(shape))
