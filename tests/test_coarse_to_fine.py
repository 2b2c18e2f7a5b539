import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import random_network
from greycard import coarse_to_fine, likelihood, model_file, thumbnail
from greycard.candidates import CandidateSet, from_colour_matrix
from greycard.coarse_to_fine import EFFORTS, Scorer, Step
from greycard.datasets import packed
from greycard.errors import GreycardError
from greycard.illuminant import angular_error, unit
from greycard.posterior import posterior

EVERYTHING = (Step(10**6, 10**6), Step(3, 10**6))


def some_candidates(count, seed=0):
    return unit(np.random.default_rng(seed).uniform(0.2, 1, (count, 3)))


def test_exact_is_the_plain_evaluation(image):
    network, candidates = random_network(), CandidateSet(some_candidates(5))
    np.testing.assert_array_equal(
        Scorer(network, candidates, EFFORTS["exact"]).log_likelihoods(image),
        likelihood.log_likelihoods(network, image, candidates.illuminants),
    )


def test_with_all_cells_and_candidates_in_the_first_step_nothing_is_lost(image):
    network, candidates = random_network(), CandidateSet(some_candidates(12))
    np.testing.assert_allclose(
        Scorer(network, candidates, EVERYTHING).log_likelihoods(image),
        likelihood.log_likelihoods(network, image, candidates.illuminants),
        atol=1e-4,
    )


def test_units_that_a_step_leaves_out_keep_what_the_step_before_has_found(image):
    """After all candidates on all cells there is nothing that a later step could change."""
    network, candidates = random_network(), CandidateSet(some_candidates(12))
    effort = (Step(12, 10**6), Step(3, 8, units=0), Step(3, 10**6, units=64))
    np.testing.assert_allclose(
        Scorer(network, candidates, effort).log_likelihoods(image),
        likelihood.log_likelihoods(network, image, candidates.illuminants),
        atol=1e-4,
    )


@pytest.mark.parametrize("count", [1, 2, 8, 9, 300])
@pytest.mark.parametrize("speed", ["default", "live"])
def test_any_number_of_candidates_has_a_score_each(image, count, speed):
    scorer = Scorer(random_network(), CandidateSet(some_candidates(count)), EFFORTS[speed])
    scores = scorer.log_likelihoods(image)
    assert scores.shape == (count,)
    assert np.all(np.isfinite(scores))
    np.testing.assert_array_equal(scorer.log_likelihoods(image), scores)


@pytest.mark.parametrize(
    "ratios",
    [
        np.column_stack([np.linspace(0.5, 2, 60), np.ones(60), np.linspace(0.5, 2, 60)]),  # on a line
        np.repeat([[0.4, 0.8, 0.5], [0.5, 0.7, 0.4]], 30, axis=0),  # two, many times
    ],
)
def test_candidates_on_a_line_or_many_times_still_get_the_scores_of_their_equals(image, ratios):
    network, candidates = random_network(), CandidateSet(unit(ratios))
    effort = (Step(48, 10**6), Step(8, 10**6))
    np.testing.assert_allclose(
        Scorer(network, candidates, effort).log_likelihoods(image),
        likelihood.log_likelihoods(network, image, candidates.illuminants),
        atol=0.02,
    )


def test_the_prior_decides_where_to_look_closely(image):
    """Scores near a candidate that only the prior makes probable are as good as if it had been looked at alone."""
    network, illuminants = random_network(), some_candidates(100)
    bias = np.full(100, -40.0, np.float32)
    bias[17] = 40.0
    effort = (Step(20, 8), Step(8, 64), Step(4, 10**6))
    scores = Scorer(network, CandidateSet(illuminants, bias=bias), effort).log_likelihoods(image)
    alone = likelihood.log_likelihoods(network, image, illuminants[17:18])[0]
    assert scores[17] == pytest.approx(alone, abs=1e-4)


def test_later_steps_look_where_the_weight_is():
    """Of many places far apart, the ones with weight are chosen before those that are only far away."""
    places = np.concatenate([np.linspace(0, 1, 20) + 0j, np.linspace(30, 40, 20) * 1j])
    weights = np.concatenate([np.ones(20), np.full(20, 1e-4)])
    nodes, _ = coarse_to_fine._well_spread(places, weights, 4)
    assert np.all(nodes < 20)


def test_the_best_candidate_of_several_is_looked_at_on_all_cells(image):
    """A probable candidate is a node of the last step, so that its score is that of all cells."""
    network, illuminants = random_network(), some_candidates(60)
    bias = np.full(60, -3.0, np.float32)
    bias[41] = 3.0
    effort = (Step(60, 8), Step(1, 10**6))
    scores = Scorer(network, CandidateSet(illuminants, bias=bias), effort).log_likelihoods(image)
    alone = likelihood.log_likelihoods(network, image, illuminants[41:42])[0]
    assert scores[41] == pytest.approx(alone, abs=1e-4)


@given(rows=st.integers(1, 40), columns=st.integers(1, 40), most=st.integers(1, 2000), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_only_cells_that_count_are_chosen_and_each_once(rows, columns, most, seed):
    counted = np.random.default_rng(seed).random((rows, columns)) < 0.7
    chosen = coarse_to_fine.spread_cells(counted, most)
    assert len(chosen) == min(most, counted.sum()) == len(set(chosen.tolist()))
    assert counted.reshape(-1)[chosen].all()


@pytest.mark.parametrize("most", [64, 300, 1024])
def test_cells_are_spread_over_the_picture(most):
    chosen = coarse_to_fine.spread_cells(np.ones((64, 64), dtype=bool), most)
    in_each_part = np.histogram2d(chosen // 64, chosen % 64, bins=4)[0]
    assert in_each_part.min() >= 0.7 * most / 16
    assert in_each_part.max() <= 1.3 * most / 16


@given(seed=st.integers(0, 99), count=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_interpolation_keeps_values_at_its_nodes_and_constants_everywhere(seed, count):
    generator = np.random.default_rng(seed)
    places = generator.normal(size=60) + 1j * generator.normal(size=60)
    nodes, apart = coarse_to_fine._well_spread(places, np.ones(60), count)
    matrix = coarse_to_fine._interpolation(nodes, apart)
    values = generator.normal(size=count)
    np.testing.assert_allclose((matrix @ values)[nodes], values, atol=0.02)
    np.testing.assert_allclose(matrix @ np.full(count, 3.0), 3.0, atol=0.04)


def test_interpolation_follows_a_smooth_surface_and_does_not_run_away_far_from_it():
    generator = np.random.default_rng(0)
    near = generator.normal(size=200) + 1j * generator.normal(size=200)
    places = np.append(near, 40 + 40j)
    surface = np.sin(near.real) + 0.5 * near.imag
    weights = np.append(np.ones(200), 0.0)
    nodes, apart = coarse_to_fine._well_spread(places, weights, 40)
    found = coarse_to_fine._interpolation(nodes, apart) @ surface[nodes]
    assert np.abs(found[:200] - surface).mean() < 0.05
    assert surface.min() < found[200] < surface.max()


def test_an_unknown_speed_is_refused():
    with pytest.raises(GreycardError, match="speed: expected one of exact, default, live, got 'fast'"):
        coarse_to_fine.effort_of("fast")


def test_real_pictures_are_answered_nearly_as_exactly(data_folder):
    model, data = model_file.load(), packed.load(data_folder / "gehler_shi.npz")
    network, chosen = model.network, model.cameras["Canon EOS 5D"]
    images = [thumbnail.log_image(image) for image in data.images[data.cameras == "Canon EOS 5D"][::60]]

    def estimates(speed):
        scorer = Scorer(network, chosen, EFFORTS[speed])
        scores = [scorer.log_likelihoods(image) for image in images]
        return [posterior(one, chosen.illuminants, chosen.gain, chosen.bias).mean() for one in scores]

    exact = estimates("exact")
    assert 0 < angular_error(estimates("default"), exact).mean() < 0.15
    assert 0 < angular_error(estimates("live"), exact).mean() < 0.4


def test_a_band_from_a_colour_matrix_reaches_far_and_is_still_followed(data_folder):
    from greycard.camera import colour_matrices

    model, data = model_file.load(), packed.load(data_folder / "gehler_shi.npz")
    data = data.where(np.arange(len(data)) % 47 == 0)
    deviations = []
    for image, camera in zip(data.images, data.cameras, strict=True):
        chosen = from_colour_matrix(colour_matrices(str(camera)), model.cameras)
        found, exact = (
            posterior(
                Scorer(model.network, chosen, EFFORTS[speed]).log_likelihoods(thumbnail.log_image(image)),
                chosen.illuminants,
                chosen.gain,
                chosen.bias,
            ).mean()
            for speed in ("default", "exact")
        )
        deviations.append(float(angular_error(found, exact)))
    assert np.mean(deviations) < 0.3
    assert max(deviations) < 2
