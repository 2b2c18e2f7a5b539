from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch")

from greycard.estimator import Estimator
from greycard.illuminant import angular_error
from greycard.likelihood import log_likelihoods
from greycard.thumbnail import log_image
from greycard.training.loop import train
from greycard.training.recipe import Recipe
from greycard.training.sharpness import best_factor, sharpened

QUICK = Recipe(epochs=6, batch=8, cells=16, candidates=12, step_candidates=3, dropout=0.0, gain_bias="fixed")


def test_log_likelihoods_of_a_sharpened_network_are_so_many_times_as_large(make_packed):
    data = make_packed(8)
    network = train(data, QUICK).network
    image = log_image(data.images[0])
    plain, sharp = (log_likelihoods(one, image, data.illuminants) for one in (network, sharpened(network, 2.5)))
    np.testing.assert_allclose(sharp, 2.5 * plain, rtol=1e-4)


def test_the_best_factor_undoes_a_wrong_one(make_packed):
    data = make_packed(24)
    model = train(data, replace(QUICK, step_candidates=0, epochs=20))
    sets, of_image = [model.cameras["Alpha One"]], np.zeros(len(data), dtype=np.intp)
    right = best_factor(model.network, data, sets, of_image, seed=0)
    assert 0.5 < right < 4  # inside the range that is searched, so that both ways can be told
    for wrong in (2**-0.25, 2**0.25):
        found = best_factor(sharpened(model.network, wrong), data, sets, of_image, seed=0)
        assert found * wrong == pytest.approx(right)


@pytest.mark.parametrize("gain_bias", ["fixed", "learned"])
def test_a_sharpened_model_errs_less_on_its_training_images(make_packed, gain_bias):
    data = make_packed(24)
    errors = []
    for sharpen in (False, True):
        model = train(data, replace(QUICK, gain_bias=gain_bias, sharpen=sharpen))
        estimates = [Estimator(model).estimate_thumbnail(image, "Alpha One").illuminant for image in data.images]
        errors.append(angular_error(np.array(estimates), data.illuminants).mean())
    assert errors[1] < errors[0]
