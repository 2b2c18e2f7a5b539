import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greycard import GreycardError
from greycard.baselines import cells, filters, histograms, von_mises
from greycard.baselines.ffcc import BINS, FFCC, PENALTIES
from greycard.baselines.filters import Filters, Penalty
from greycard.illuminant import angular_error, unit

QUICK = {"penalty": Penalty(), "steps": (6, 6)}


def test_it_learns_and_tells_how_sure_it_is(make_packed):
    data = make_packed(36)
    method = FFCC(**QUICK).fit(data.images[:24], data.illuminants[:24])
    errors = angular_error(method.predict(data.images[24:]), data.illuminants[24:])
    assert np.median(errors) < 2.5
    covariance = method.predict_distribution(data.images[24:]).covariance
    assert covariance.shape == (12, 2, 2)
    assert np.all(np.linalg.eigvalsh(covariance) > 0)


def test_lights_far_from_their_mean_are_told_by_the_middle_of_all(make_packed):
    """Much daylight and a little lamplight: more than half a turn of the torus from the mean of all."""
    data = make_packed(40)
    turn = BINS * histograms.BIN_SIZE
    lamp = np.exp([0, 0, -0.6 * turn])
    far = np.arange(40) % 8 == 0
    images = np.where(far[:, None, None, None], data.images * lamp, data.images)
    lights = unit(np.where(far[:, None], data.illuminants * lamp, data.illuminants))
    places = histograms.chroma(lights)
    assert np.any(np.abs(places - places.mean(axis=0)) > turn / 2)
    method = FFCC(**QUICK).fit(images, lights)
    assert angular_error(method.predict(images), lights).max() < 12


def test_the_penalty_is_chosen_on_pictures_that_are_held_out(make_packed, monkeypatch):
    tried = []
    real = filters.learn

    def learn(spectra, lights, penalty, stages):
        tried.append((len(lights), penalty))
        return real(spectra, lights, penalty, stages)

    monkeypatch.setattr("greycard.baselines.ffcc.learn", learn)
    data = make_packed(15)
    method = FFCC(steps=(1, 1)).fit(data.images, data.illuminants)
    assert [count for count, _ in tried] == [10] * 3 * len(PENALTIES) + [15]
    assert tried[-1][1] == method.penalty_


def test_an_unfitted_one_refuses(make_packed):
    with pytest.raises(GreycardError, match="has to learn"):
        FFCC().predict(make_packed(1).images)


def test_histograms_move_with_the_light_and_sum_to_one(make_packed):
    read = cells.read(make_packed(2).images)
    origin = np.array([-1.0, -1.0])
    found = histograms.features(read, origin, 64, torus=True)
    np.testing.assert_allclose(found.sum(axis=(2, 3)), 1, rtol=1e-5)
    tinted = cells.Cells(read.values * np.exp([-3 / 32, 0, 0]).astype(np.float32), read.valid)
    moved = histograms.features(tinted, origin, 64, torus=True)
    assert np.abs(np.roll(found[:, 0], 3, axis=1) - moved[:, 0]).sum() < 0.02
    far = histograms.features(read, origin + 50, 64, torus=False)
    assert far.sum() == 0


@given(st.floats(0, 64), st.floats(0, 64), st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_the_mean_of_a_bump_is_where_it_is_also_across_the_seam(u, v, seed):
    width = np.random.default_rng(seed).uniform(1.5, 4)
    bins = np.arange(64)
    distance = von_mises.wrapped(bins[:, None] - np.array([u, v]), 64)
    bump = np.exp(-0.5 * (distance / width) ** 2)
    probabilities = (bump[:, 0, None] * bump[None, :, 1])[None]
    found = von_mises.fit(probabilities / probabilities.sum())
    assert np.abs(von_mises.wrapped(found.mean[0] - [u, v], 64)).max() < 1e-3
    np.testing.assert_allclose(np.diag(found.covariance[0]), width**2 + von_mises.SMALLEST_VARIANCE, rtol=0.02)


def test_the_gradients_are_those_of_the_losses():
    generator = np.random.default_rng(0)
    responses, lights = generator.normal(size=(3, 8, 8)), generator.uniform(0, 8, (3, 2))
    step = 1e-6 * generator.normal(size=responses.shape)

    def softmax(values):
        raised = np.exp(values)
        return raised / raised.sum(axis=(1, 2), keepdims=True)

    def vm(probabilities, truths):
        losses, gradient = von_mises.loss(probabilities, truths)
        return losses, filters.through_softmax(probabilities, gradient)

    for loss in (filters.cross_entropy, vm):
        difference = loss(softmax(responses + step), lights)[0] - loss(softmax(responses - step), lights)[0]
        expected = 2 * (loss(softmax(responses), lights)[1] * step).sum(axis=(1, 2))
        np.testing.assert_allclose(difference, expected, rtol=1e-4)


def test_filtering_is_a_convolution_on_the_torus():
    from scipy.fft import rfft2

    generator = np.random.default_rng(0)
    pictures, kernels = generator.random((1, 2, 8, 8)), generator.random((2, 8, 8))
    spectra = Filters(rfft2(kernels), np.zeros((8, 8))).probabilities(rfft2(pictures))
    literal = np.zeros((8, 8))
    for k, y, x in np.ndindex(2, 8, 8):
        literal += pictures[0, k, y, x] * np.roll(kernels[k], (y, x), axis=(0, 1))
    raised = np.exp(literal - literal.max())
    np.testing.assert_allclose(spectra[0], raised / raised.sum(), rtol=1e-6)


def test_figures_on_real_pictures(data_folder):
    """A smaller training than the usual one, on one fold of Gehler-Shi."""
    from greycard.datasets import packed

    data = packed.load(data_folder / "gehler_shi.npz")
    test = data.folds == 0
    method = FFCC(Penalty(), steps=(12, 12)).fit(data.images[~test], data.illuminants[~test])
    errors = angular_error(method.predict(data.images[test]), unit(data.illuminants[test]))
    assert np.median(errors) < 1.6
    assert errors.mean() < 2.6
