"""Cross-validation: train on the rest, test on the part left out, pool the test errors; resumable."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greycard import model_file
from greycard.datasets.packed import FoldColumn, Packed, concatenate
from greycard.errors import GreycardError
from greycard.estimator import Estimator
from greycard.evaluation import CandidateSource, Scores, evaluate, read_predictions
from greycard.model_file import Model
from greycard.output import write_whole
from greycard.statistics import STATISTICS
from greycard.training.loop import Progress, train
from greycard.training.recipe import Recipe

SplitBy = Literal["folds", "scene_folds", "dataset"]


@dataclass(frozen=True)
class Split:
    """One part to test on, (N,) True where an image belongs to it; the model is trained on the rest.

    candidates: where those of the test images come from. folds: for candidates from labels, by which split.
    """

    name: str
    test: NDArray[np.bool_]
    candidates: CandidateSource
    folds: FoldColumn = "folds"


@dataclass(frozen=True)
class Watcher:
    """What a run tells of itself; each is called with the split it is about."""

    training: Callable[[Split, Progress], object] = lambda split, progress: None
    testing: Callable[[Split, int], object] = lambda split, done: None


def splits(data: Packed, by: SplitBy) -> list[Split]:
    """The parts to leave out in turn.

    "folds" and "scene_folds": each fold; the candidates are those of the model, from the labels it was trained on.
    "dataset": each data set, whose cameras the model has never seen; the candidates for each of its folds come from the
    labels of its other folds (the paper's training-free setting).
    """
    if by == "dataset":
        names = np.unique(data.datasets)
        if len(names) < 2:
            raise GreycardError("leaving out one data set in turn needs at least two")
        return [Split(f"without-{name}", data.datasets == name, "labels") for name in names]
    numbers = data.fold_numbers(by)
    if len(np.unique(numbers)) < 2:
        raise GreycardError(f"{by}: cross-validation needs at least two folds")
    return [Split(f"fold-{number}", numbers == number, "model", by) for number in np.unique(numbers)]


def crossvalidate(
    data: Packed, recipe: Recipe, by: SplitBy, folder: Path, watcher: Watcher | None = None
) -> dict[str, Scores]:
    """Scores of each part left out. Models and per-image CSV files stay in `folder`; what is there is not redone."""
    found = {}
    for split in splits(data, by):
        stem = folder / f"{split.name}-seed-{recipe.seed}"
        model = _trained(data, split, recipe, stem, watcher or Watcher())
        found[split.name] = _tested(model, data, split, stem, watcher or Watcher())
    return found


def pooled(scores: dict[str, Scores]) -> Scores:
    """All test images together, each scored by the model that has not seen it."""
    return Scores(
        concatenate([part.data for part in scores.values()]),
        np.concatenate([part.estimates for part in scores.values()]),
    )


def over_seeds(reports: list[dict[str, Any]], part: str = "overall") -> dict[str, dict[str, float]]:
    """Mean, smallest and largest value of each statistic over repeated runs."""
    values = {key: [report[part][key] for report in reports] for key in STATISTICS}
    return {
        key: {"mean": float(np.mean(runs)), "min": float(min(runs)), "max": float(max(runs))}
        for key, runs in values.items()
    }


def _trained(data: Packed, split: Split, recipe: Recipe, stem: Path, watcher: Watcher) -> Model:
    path = stem.with_suffix(".safetensors")
    rest = data.where(~split.test)
    if path.exists():
        model = model_file.load(path)
        if model.recipe != asdict(recipe) or not np.array_equal(model.trained_on.digests, rest.digests()):
            raise GreycardError(f"{path}: was trained otherwise than now asked for; choose another --out or remove it")
        return model
    checkpoint = stem.with_suffix(".checkpoint")
    model = train(
        rest,
        recipe,
        name=stem.name,
        checkpoint=checkpoint,
        report=lambda progress: watcher.training(split, progress),
    )
    model_file.save(model, path)
    stem.with_suffix(".csv").unlink(missing_ok=True)
    checkpoint.unlink(missing_ok=True)
    return model


def _tested(model: Model, data: Packed, split: Split, stem: Path, watcher: Watcher) -> Scores:
    path = stem.with_suffix(".csv")
    part = data.where(split.test)
    if path.exists():
        return read_predictions(path, part)
    done = iter(range(1, len(part) + 1))
    scores = evaluate(
        Estimator(model),
        part,
        candidates=split.candidates,
        folds=split.folds,
        progress=lambda: watcher.testing(split, next(done)),
    )
    if len(scores.data) != len(part):
        raise GreycardError(
            f"{split.name}: {len(part) - len(scores.data)} test images are also among the training images"
        )
    scores.write_csv(path)
    return scores


def write_results(path: Path, results: dict[str, Any]) -> None:
    """The results of a whole run as JSON."""
    write_whole(path, json.dumps(results, indent=1) + "\n")
