from dataclasses import replace

import numpy as np
import pytest

from greycard import GreycardError

pytest.importorskip("torch", reason="training needs torch")

from greycard.datasets.packed import concatenate
from greycard.estimator import Estimator
from greycard.evaluation import evaluate, over_seeds
from greycard.illuminant import angular_error
from greycard.splits import splits
from greycard.training.crossval import Watcher, crossvalidate, pooled
from greycard.training.loop import train
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
    (tmp_path / "fold-1-seed-0.safetensors").unlink()
    (tmp_path / "fold-2-seed-0.json").write_text("damaged")
    trained, tested = [], []
    watcher = Watcher(lambda split, _: trained.append(split.name), lambda split, _: tested.append(split.name))
    again = pooled(crossvalidate(data, QUICK, "folds", tmp_path, watcher))
    assert set(trained) == {"fold-1"}
    assert set(tested) == {"fold-2"}  # fold 1 was trained to the same weights again, so its estimates stand
    np.testing.assert_allclose(again.angular_errors, first.angular_errors, atol=1e-6)


@pytest.mark.parametrize("change", ["recipe", "labels", "images"])
def test_a_run_that_was_trained_otherwise_is_not_taken_over(make_packed, tmp_path, change):
    data = make_packed(18)
    crossvalidate(data, QUICK, "folds", tmp_path)
    recipe = replace(QUICK, cells=8) if change == "recipe" else QUICK
    if change == "labels":
        data = replace(data, illuminants=data.illuminants[::-1])
    if change == "images":
        data = replace(data, images=data.images[::-1])
    with pytest.raises(GreycardError, match="trained otherwise"):
        crossvalidate(data, recipe, "folds", tmp_path)


def test_names_with_dots_do_not_collide(make_packed, tmp_path):
    data = concatenate([make_packed(6, dataset="set.a"), make_packed(6, dataset="set.b", seed=1)])
    crossvalidate(data, replace(QUICK, epochs=1, gain_bias="fixed"), "dataset", tmp_path)
    assert {path.name for path in tmp_path.glob("*.safetensors")} == {
        "without-set.a-seed-0.safetensors",
        "without-set.b-seed-0.safetensors",
    }


def test_a_single_part_can_be_tested(make_packed, tmp_path):
    assert list(crossvalidate(make_packed(9), QUICK, "folds", tmp_path, only="fold-1")) == ["fold-1"]
    with pytest.raises(GreycardError, match="'fold-7': there is none; the parts are fold-0"):
        crossvalidate(make_packed(9), QUICK, "folds", tmp_path, only="fold-7")


def test_shuffled_labels_leave_nothing_to_know(make_packed, tmp_path):
    """Labels that have nothing to do with the pictures can be learned by heart, but not foretold.

    A model that sees the test images in training gets them right: the check would notice a leak. Cross-validation on
    the same images and labels must do no better than a constant.
    """
    data = make_packed(12, content="distinct")
    shuffled = replace(data, illuminants=data.illuminants[np.random.default_rng(0).permutation(12)])
    recipe = replace(QUICK, epochs=250, dropout=0.0, cells=32, batch=4)
    constant = angular_error(shuffled.illuminants.mean(axis=0), shuffled.illuminants).mean()
    leaking = evaluate(Estimator(train(shuffled, recipe)), shuffled, candidates="model", include_seen=True)
    assert leaking.angular_errors.mean() < 0.5 * constant
    honest = pooled(crossvalidate(shuffled, recipe, "folds", tmp_path))
    assert honest.angular_errors.mean() > 0.9 * constant


def test_scenes_shared_by_cameras_must_not_be_split(make_packed):
    data = make_packed(12, cameras=("Alpha One", "Beta Two"))
    with_scenes = replace(data, scene_folds=data.folds)
    with pytest.raises(GreycardError, match="--by scene_folds"):
        splits(with_scenes, "folds")
    assert len(splits(with_scenes, "scene_folds")) == 3
    assert len(splits(with_scenes.where(with_scenes.cameras == "Beta Two"), "folds")) == 3


def test_data_sets_are_left_out_in_turn(make_packed, tmp_path):
    data = concatenate([make_packed(12, dataset="a"), make_packed(12, dataset="b", cameras=("Beta Two",), seed=1)])
    recipe = replace(QUICK, cameras="each", gain_bias="fixed")
    scores = crossvalidate(data, recipe, "dataset", tmp_path)
    assert list(scores) == ["without-a", "without-b"]
    assert set(scores["without-a"].scores.data.cameras) == {"Alpha One"}
    with pytest.raises(GreycardError, match="at least two"):
        splits(make_packed(6), "dataset")
    with pytest.raises(GreycardError, match="--recipe many-cameras"):
        crossvalidate(data, QUICK, "dataset", tmp_path)


def test_spread_over_seeds():
    statistics = ("mean", "median", "trimean", "best25", "worst25", "worst5", "max")
    reports = [{"overall": dict.fromkeys(statistics, value)} for value in (1.0, 2.0, 6.0)]
    assert over_seeds(reports)["median"] == {"mean": 3.0, "min": 1.0, "max": 6.0}
