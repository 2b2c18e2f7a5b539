from dataclasses import replace

import numpy as np
import pytest

from greycard import GreycardError

pytest.importorskip("torch", reason="training needs torch")

from greycard.datasets.packed import concatenate
from greycard.training.crossval import Watcher, crossvalidate, over_seeds, pooled, splits
from greycard.training.recipe import Recipe

QUICK = Recipe(epochs=3, batch=8, cells=16, candidates=12, dropout=0.1, schedule="cosine")


def test_every_image_is_tested_once_by_a_model_that_has_not_seen_it(make_packed, tmp_path):
    data = make_packed(18)
    scores = crossvalidate(data, QUICK, "folds", tmp_path)
    assert list(scores) == ["fold-0", "fold-1", "fold-2"]
    assert sorted(pooled(scores).data.names) == sorted(data.names)
    from greycard import model_file

    for number in range(3):
        model = model_file.load(tmp_path / f"fold-{number}-seed-0.safetensors")
        assert not np.isin(model.trained_on.names, data.names[data.folds == number]).any()
        assert len(model.trained_on.names) == 12


def test_what_is_done_is_not_done_again(make_packed, tmp_path):
    data = make_packed(18)
    first = pooled(crossvalidate(data, QUICK, "folds", tmp_path))
    trained = []
    (tmp_path / "fold-1-seed-0.safetensors").unlink()
    again = pooled(
        crossvalidate(data, QUICK, "folds", tmp_path, Watcher(training=lambda split, _: trained.append(split.name)))
    )
    assert set(trained) == {"fold-1"}
    np.testing.assert_allclose(again.angular_errors, first.angular_errors, atol=1e-3)
    with pytest.raises(GreycardError, match="trained otherwise"):
        crossvalidate(data, replace(QUICK, cells=8), "folds", tmp_path)


def test_shuffled_labels_leave_nothing_to_know(make_packed, tmp_path):
    """If any label of a test image leaked into its estimate, shuffled labels could still be predicted."""
    data = make_packed(60)
    recipe = replace(QUICK, epochs=12)
    shuffled = replace(data, illuminants=data.illuminants[np.random.default_rng(0).permutation(60)])
    honest = pooled(crossvalidate(data, recipe, "folds", tmp_path / "honest")).angular_errors
    blind = pooled(crossvalidate(shuffled, recipe, "folds", tmp_path / "blind")).angular_errors
    from greycard.illuminant import angular_error

    constant = angular_error(shuffled.illuminants.mean(axis=0), shuffled.illuminants)
    assert honest.mean() < 0.5 * constant.mean()
    assert blind.mean() > 0.9 * constant.mean()


def test_data_sets_are_left_out_in_turn(make_packed, tmp_path):
    data = concatenate([make_packed(12, dataset="a"), make_packed(12, dataset="b", cameras=("Beta Two",), seed=1)])
    recipe = replace(QUICK, cameras="each", gain_bias="fixed")
    scores = crossvalidate(data, recipe, "dataset", tmp_path)
    assert list(scores) == ["without-a", "without-b"]
    assert set(scores["without-a"].data.cameras) == {"Alpha One"}
    with pytest.raises(GreycardError, match="at least two"):
        splits(make_packed(6), "dataset")


def test_spread_over_seeds():
    statistics = ("mean", "median", "trimean", "best25", "worst25", "worst5", "max")
    reports = [{"overall": dict.fromkeys(statistics, value)} for value in (1.0, 2.0, 6.0)]
    assert over_seeds(reports)["median"] == {"mean": 3.0, "min": 1.0, "max": 6.0}
