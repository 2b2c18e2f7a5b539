import numpy as np
import pytest

from conftest import random_network
from greycard import likelihood, thumbnail
from greycard.illuminant import unit


@pytest.fixture
def image():
    generator = np.random.default_rng(2)
    cells = generator.uniform(0.05, 1, (64, 64, 3))
    cells[:5, 20:30] = 0
    return thumbnail.log_image(cells)


def test_the_network_has_the_papers_size():
    network = random_network()
    assert network.trainable_weights == 22_849
    assert network.weights == 24_641


def test_a_candidate_is_a_shift_of_the_features(image):
    """Dividing the picture by a light, in the middle and at the edge of the frame, is subtracting a constant."""
    network = random_network()
    light = unit([0.3, 0.8, 0.5])
    divided = thumbnail.LogImage(image.values - np.log(light).astype(np.float32), image.counted)
    shifted = likelihood.first_layer(network, image) - likelihood.candidate_shifts(network, light[None])[0]
    np.testing.assert_allclose(likelihood.first_layer(network, divided), shifted, atol=2e-5)


def test_the_answer_depends_only_on_the_corrected_picture(image):
    """Twice as much red in the picture and in the candidate leaves the likelihood as it was."""
    network = random_network()
    candidates = unit([[0.3, 0.8, 0.5], [0.5, 0.5, 0.5]])
    relit = thumbnail.LogImage(image.values + np.log([2, 1, 1]).astype(np.float32), image.counted)
    # Not made unit length again: the exposure of the corrected picture would change.
    np.testing.assert_allclose(
        likelihood.log_likelihoods(network, relit, candidates * [2, 1, 1]),
        likelihood.log_likelihoods(network, image, candidates),
        atol=1e-5,
    )


def test_cells_that_do_not_count_do_not_matter(image):
    network = random_network()
    candidates = unit([[0.3, 0.8, 0.5]])
    values = image.values.copy()
    values[1:3, 23:27] = 3.0  # inside the masked box, away from its rim
    changed = thumbnail.LogImage(values, image.counted)
    np.testing.assert_array_equal(
        likelihood.log_likelihoods(network, changed, candidates), likelihood.log_likelihoods(network, image, candidates)
    )
