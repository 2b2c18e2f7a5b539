import numpy as np
import pytest

from conftest import random_network
from greycard import likelihood, thumbnail
from greycard.illuminant import unit


def test_the_network_has_the_papers_size():
    network = random_network()
    assert network.trainable_weights == 22_849
    assert network.weights == 24_641


def test_a_candidate_is_a_shift_of_the_features(image):
    """Dividing the picture by a light, in the middle and at the edge of the frame, is subtracting a constant."""
    network = random_network()
    light = unit([0.3, 0.8, 0.5])
    divided = thumbnail.LogImage(image.values - np.log(light).astype(np.float32), image.counted)
    everywhere = np.arange(image.counted.size)
    shifted = likelihood.first_layer(network, image, everywhere) - likelihood.candidate_shifts(network, light[None])[0]
    np.testing.assert_allclose(likelihood.first_layer(network, divided, everywhere), shifted, atol=2e-5)


def test_the_first_layer_of_some_cells_is_a_convolution_that_repeats_the_edge(image):
    network = random_network()
    padded = np.pad(image.values, ((1, 1), (1, 1), (0, 0)), mode="edge")
    cells = [(0, 0), (0, 63), (63, 0), (63, 63), (17, 40), (40, 0)]
    expected = [
        np.einsum("yxc,yxcf->f", padded[y : y + 3, x : x + 3], network.convolution_weight) + network.convolution_bias
        for y, x in cells
    ]
    found = likelihood.first_layer(network, image, np.array([64 * y + x for y, x in cells]))
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(("cells", "candidates"), [(1, 1), (7, 150), (511, 3), (577, 2), (1030, 1), (3, 700)])
def test_the_mean_over_the_cells_does_not_depend_on_how_the_work_is_cut(cells, candidates):
    network = random_network()
    generator = np.random.default_rng(cells)
    features = generator.normal(size=(cells, 64)).astype(np.float32)
    shifts = generator.normal(size=(candidates, 64)).astype(np.float32)
    layer1 = np.maximum(features - shifts[:, None], 0) @ network.cell1_weight + network.cell1_bias
    layer2 = np.maximum(layer1, 0) @ network.cell2_weight + network.cell2_bias
    expected = np.maximum(layer2, 0).mean(axis=1)
    np.testing.assert_allclose(likelihood.pooled(network, features, shifts), expected, atol=2e-5)


def test_some_units_alone_have_the_means_that_they_have_among_all():
    generator, network = np.random.default_rng(0), random_network()
    features = generator.normal(size=(100, 64)).astype(np.float32)
    shifts = generator.normal(size=(9, 64)).astype(np.float32)
    everything = likelihood.pooled(network, features, shifts)
    np.testing.assert_allclose(likelihood.pooled(network, features, shifts, 40), everything[:, :40], atol=1e-5)


def test_the_most_important_units_come_first_and_nothing_else_changes(image):
    network, candidates = random_network(), unit(np.random.default_rng(0).uniform(0.2, 1, (6, 3)))
    ordered = likelihood.most_important_first(network)
    np.testing.assert_allclose(
        likelihood.log_likelihoods(ordered, image, candidates),
        likelihood.log_likelihoods(network, image, candidates),
        atol=1e-5,
    )
    said = np.linalg.norm(ordered.cell2_weight, axis=0) * np.linalg.norm(ordered.dense1_weight, axis=1)
    assert np.all(np.diff(said) <= 0)


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
