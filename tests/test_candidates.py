import numpy as np
import pytest

from greycard import GreycardError, candidates
from greycard.illuminant import angular_error, to_chromaticity, unit


@pytest.fixture
def measured():
    generator = np.random.default_rng(3)
    warmth = generator.uniform(0, 1, 400)
    ratios = np.stack([0.4 + 0.5 * warmth, 0.9 - 0.6 * warmth], axis=1) + generator.normal(0, 0.02, (400, 2))
    return unit(np.stack([ratios[:, 0], np.ones(400), ratios[:, 1]], axis=1))


@pytest.mark.parametrize("strategy", ["kmeans", "uniform", "mixture"])
def test_every_strategy_gives_positive_unit_vectors_and_repeats_itself(measured, strategy):
    chosen = candidates.select(measured, 120, strategy, seed=5)
    assert chosen.shape == (121 if strategy == "uniform" else 120, 3)
    assert (chosen > 0).all()
    np.testing.assert_allclose(np.linalg.norm(chosen, axis=1), 1)
    np.testing.assert_array_equal(chosen, candidates.select(measured, 120, strategy, seed=5))


@pytest.mark.parametrize("space", ["rgb", "chromaticity", "log-chromaticity"])
def test_kmeans_stands_close_to_every_measured_light(measured, space):
    chosen = candidates.select(measured, 60, "kmeans", space=space)
    nearest = angular_error(measured[:, None], chosen[None]).min(axis=1)
    assert np.median(nearest) < 1.0
    assert nearest.max() < 5.0


def test_uniform_spans_the_extrema_in_an_eleven_by_eleven_grid(measured):
    ratios = to_chromaticity(candidates.select(measured, 120, "uniform"))
    assert len(np.unique(ratios[:, 0].round(9))) == 11
    np.testing.assert_allclose(ratios.min(axis=0), to_chromaticity(measured).min(axis=0))
    np.testing.assert_allclose(ratios.max(axis=0), to_chromaticity(measured).max(axis=0))


def test_mixture_follows_the_density(measured):
    drawn = to_chromaticity(candidates.select(measured, 300, "mixture"))
    np.testing.assert_allclose(drawn.mean(axis=0), to_chromaticity(measured).mean(axis=0), atol=0.05)


@pytest.mark.parametrize("strategy", ["kmeans", "uniform", "mixture"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_fewer_lights_than_candidates(measured, strategy, count):
    chosen = candidates.select(measured[:count], 120, strategy)
    assert 1 <= len(chosen) <= 121
    assert (chosen > 0).all()
    if strategy == "kmeans":
        np.testing.assert_allclose(np.sort(chosen, axis=0), np.sort(measured[:count], axis=0))


def test_repeated_lights_count_once():
    assert len(candidates.select(np.tile([0.4, 0.8, 0.5], (50, 1)), 10)) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"illuminants": np.empty((0, 3))}, "at least one"),
        ({"n": 0}, "n: at least one"),
        ({"strategy": "kmean"}, "strategy.*kmean"),
        ({"space": "lab"}, "space.*lab"),
        ({"illuminants": [[1.0, -0.1, 1.0]]}, "positive"),
    ],
)
def test_wrong_arguments_are_named(measured, wrong, message):
    with pytest.raises(GreycardError, match=message):
        candidates.select(**({"illuminants": measured, "n": 10} | wrong))


def test_given_candidates_are_checked_row_by_row():
    with pytest.raises(GreycardError, match="row 1"):
        candidates.check([[0.4, 0.8, 0.5], [0.4, 0.0, 0.5]])
    for wrong in ([0.4, 0.8, 0.5], "abc", [[1, 2], [3]]):
        with pytest.raises(GreycardError, match=r"shape \(n, 3\)"):
            candidates.check(wrong)
    np.testing.assert_allclose(np.linalg.norm(candidates.check([[4, 8, 5]]), axis=1), 1)


def test_the_prior_is_the_share_of_lights_nearest_to_each_candidate():
    chosen = unit([[1.0, 1.0, 0.5], [0.5, 1.0, 1.0], [0.8, 1.0, 0.8]])
    measured = np.concatenate([np.repeat(chosen[:1], 9, axis=0), chosen[1:2] * 3])
    shares = np.array([9.5, 1.5, 0.5])
    np.testing.assert_allclose(candidates.log_prior(measured, chosen), np.log(shares / shares.mean()), rtol=1e-6)


def test_a_colour_matrix_gives_a_band_of_lights_as_the_camera_sees_them():
    from greycard.camera import ColourMatrices, colour_matrices
    from greycard.illuminant import temperatures

    matrix = colour_matrices("Canon EOS 5D")
    band = candidates.from_colour_matrix(matrix)
    assert 200 < len(band.illuminants) <= 240  # the warmest have no blue left for this camera
    assert band.illuminants.min() > 0
    assert (band.gain, band.bias) == (None, None)
    found = temperatures(band.illuminants[::7], matrix.at(5000))
    assert min(light.cct for light in found) < 2500
    assert max(light.cct for light in found) > 9000
    assert all(-0.015 < light.duv < 0.015 for light in found)
    # With two matrices, a light goes through the one for its temperature.
    one, other = np.eye(3), np.diag([2.0, 1.0, 1.0])
    two = ColourMatrices((one, other), (2000, 12_000))
    alone, both = (candidates.from_colour_matrix(each).illuminants for each in (ColourMatrices((one,)), two))
    np.testing.assert_allclose(both[-1], alone[-1], atol=1e-9)  # 2,000 K
    np.testing.assert_allclose(both[0], unit(alone[0] * [2, 1, 1]), atol=1e-9)  # 12,000 K


def test_lights_that_known_cameras_saw_often_are_probable_for_another():
    from greycard.camera import colour_matrices
    from greycard.candidates import CandidateSet

    one, other = colour_matrices("Canon EOS 5D"), colour_matrices("Nikon D5200")
    xyz = np.array([[1.10, 1, 0.36], [0.95, 1, 1.09]])  # lamplight and daylight
    of_one = CandidateSet(unit(xyz @ one.at(5000).T), bias=np.log(np.array([1, 9], dtype=np.float32)))
    chosen = candidates.from_colour_matrix(other, {"Canon EOS 5D": of_one, "No Such Camera": of_one})
    lamp, day = (
        chosen.bias[np.argmin(angular_error(chosen.illuminants, unit(light @ other.at(5000).T)))] for light in xyz
    )
    assert day - lamp == pytest.approx(np.log(9), abs=0.3)
    assert day == pytest.approx(chosen.bias.max(), abs=0.1)
    assert chosen.bias.min() == pytest.approx(chosen.bias.max() + np.log(1e-3), abs=0.1)
    assert candidates.from_colour_matrix(other, {"No Such Camera": of_one}).bias is None


def test_joined_candidates_share_the_prior_as_told():
    from greycard.candidates import CandidateSet, joined

    first = CandidateSet(unit([[1, 2, 1], [1, 2, 2]]), bias=np.log(np.array([3, 1], dtype=np.float32)))
    both = joined(first, CandidateSet(unit([[2, 2, 1], [2, 2, 3], [2, 1, 1]])), 0.9)
    prior = np.exp(both.bias) / np.exp(both.bias).sum()
    np.testing.assert_allclose(prior, [0.675, 0.225, 0.1 / 3, 0.1 / 3, 0.1 / 3], rtol=1e-5)
    assert both.illuminants.shape == (5, 3)


def test_a_matrix_that_turns_all_lights_negative_is_refused():
    from greycard.camera import ColourMatrices

    with pytest.raises(GreycardError, match="no light to positive"):
        candidates.from_colour_matrix(ColourMatrices((-np.eye(3),)))


def test_the_band_comes_near_to_the_lights_of_real_cameras(data_folder):
    from greycard.camera import colour_matrices
    from greycard.datasets import packed

    for name in ("gehler_shi", "nus8", "cube_plus"):
        data = packed.load(data_folder / f"{name}.npz")
        for camera in np.unique(data.cameras):
            band = candidates.from_colour_matrix(colour_matrices(str(camera))).illuminants
            nearest = angular_error(data.illuminants[data.cameras == camera][:, None], band[None]).min(axis=1)
            assert np.median(nearest) < 1.2
