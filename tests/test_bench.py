import numpy as np
import pytest

from greycard import bench, thumbnail
from greycard.candidates import CandidateSet
from greycard.illuminant import angular_error, unit
from greycard.model_file import load


def sample_of(model, make_packed):
    return bench.Sample.drawn(model, make_packed(12, content="distinct"), 4)


def test_all_evaluations_of_the_network_agree(tmp_path):
    """Otherwise their times would not be comparable."""
    pytest.importorskip("torch")
    pytest.importorskip("onnxruntime")
    model, notes = load(), []
    candidates = CandidateSet(model.any_camera.illuminants[::12])
    found = bench.methods(model, candidates, tmp_path, notes)
    picture = bench.made_up_thumbnails(1)[0]
    exact = found["exact"](picture)
    assert {"default", "live", "literal", "onnxruntime", "gray_world", "ffcc"} <= found.keys()
    for name in found.keys() & {"literal", "onnxruntime", "c"}:
        assert angular_error(found[name](picture), exact) < 0.01
    assert found["ffcc"](picture).shape == (3,)


def test_latencies_are_medians_of_turns():
    turns = []
    timed = {"a": lambda cells: turns.append("a"), "b": lambda cells: turns.append("b")}
    found = bench.latencies(timed, [np.ones(3)], repeats=10)
    # Once to fill caches, once to see which are slow, and two turns.
    assert "".join(turns) == "abab" + 2 * "aaaaabbbbb"
    assert found.keys() == {"a", "b"}
    assert all(value >= 0 for value in found.values())


def test_accuracy_tells_seen_images_and_compares_with_exact(untrained_model, make_packed):
    found = bench.accuracy(untrained_model, sample_of(untrained_model, make_packed))
    assert found["images"] == 4
    assert found["seen"] is False
    assert found["cost"].keys() == {"default", "live", "32x32", "16x12"}
    assert found["deviation"]["default"]["mean"] <= found["deviation"]["default"]["max"]


def test_the_trade_off_comes_closer_to_exact_with_more_cells(untrained_model, make_packed):
    found = bench.trade_off(untrained_model, sample_of(untrained_model, make_packed))
    assert len(found) == len(bench.LAST_CANDIDATES) * len(bench.CELL_COUNTS)
    most = [one["from_exact"] for one in found if one["candidates"] == max(bench.LAST_CANDIDATES)]
    assert most[-1] < most[0]


def test_a_coarser_thumbnail_averages_valid_cells_and_keeps_the_mean():
    cells = np.random.default_rng(0).uniform(0.1, 1, (64, 64, 3)).astype(np.float32)
    cells[:2, :2] = 0
    cells[2, 2] = 0
    coarse = thumbnail.coarser(cells, 32, 32)
    assert np.all(coarse[0, 0] == 0)
    np.testing.assert_allclose(coarse[1, 1], cells[2:4, 2:4].sum(axis=(0, 1)) / 3, rtol=1e-5)
    np.testing.assert_allclose(coarse[5, 9], cells[10:12, 18:20].mean(axis=(0, 1)), rtol=1e-5)
    assert thumbnail.coarser(cells, 12, 16).shape == (12, 16, 3)


def test_the_worst_data_set_stands_for_a_speed():
    def found(cost, apart):
        pair = {"mean": cost, "median": cost}
        return {
            "cost": {"default": pair, "live": pair},
            "deviation": {key: {"mean": apart, "max": 2 * apart} for key in ("default", "live")},
        }

    figures = bench._with_accuracy(bench._with_accuracy({}, found(0.01, 0.1), "a"), found(-0.03, 0.05), "b")
    assert figures["accuracy_cost_degrees"]["default"] == {"mean": -0.03, "median": -0.03}
    assert figures["deviation_degrees"]["live"] == {"mean": 0.1, "max": 0.2}
    assert figures["accuracy_by_dataset"].keys() == {"a", "b"}


def test_gray_world_is_the_mean_of_valid_cells():
    cells = np.zeros((64, 64, 3), np.float32)
    cells[10:20, 10:20] = [1, 2, 3]
    cells[10, 10] = [0, 9, 9]
    np.testing.assert_allclose(bench.gray_world(cells), unit([1, 2, 3]))


def test_peak_memory_of_exact_is_above_that_of_live(untrained_model):
    candidates = CandidateSet(untrained_model.any_camera.illuminants)
    picture = bench.made_up_thumbnails(1)[0]
    peaks = [bench.peak_megabytes(untrained_model, candidates, speed, picture) for speed in ("live", "exact")]
    assert 0 < peaks[0] < peaks[1] < 50
