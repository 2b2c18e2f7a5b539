"""Cross-validation: train on the rest, test on the part left out, pool the test errors; resumable."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from greycard import model_file
from greycard.candidates import CandidateSet
from greycard.datasets.packed import FoldColumn, Packed, concatenate
from greycard.errors import GreycardError
from greycard.estimator import Estimator
from greycard.evaluation import CandidateSets, CandidateSource, Scores, evaluate, label_candidates, seen
from greycard.model_file import Model
from greycard.output import write_whole
from greycard.splits import Split, SplitBy, splits
from greycard.training.checkpoint import Done, run_identity
from greycard.training.loop import train
from greycard.training.recipe import Recipe


@dataclass(frozen=True)
class Tested:
    """Scores of a part that was left out, and the seconds that training and testing took, also in earlier runs."""

    scores: Scores
    seconds: float


@dataclass(frozen=True)
class Watcher:
    """What a run tells of itself; each is called with the split it is about."""

    training: Callable[[Split, Done], object] = lambda split, done: None
    testing: Callable[[Split, int], object] = lambda split, done: None


def crossvalidate(
    data: Packed,
    recipe: Recipe,
    by: SplitBy,
    folder: Path,
    watcher: Watcher | None = None,
    only: str | None = None,
    start: Model | None = None,
) -> dict[str, Tested]:
    """Test each part that is left out, or `only` the one of that name.

    Models and estimates stay in `folder`; what is there is not done again. start: a model to train further.
    """
    if by == "dataset" and recipe.gain_bias == "learned":
        raise GreycardError(
            "a data set that is left out has candidates of its own, for which no gain and bias were learned; "
            'use a recipe with gain_bias = "fixed" (--recipe many-cameras)'
        )
    parts = splits(data, by)
    if only is not None and only not in [split.name for split in parts]:
        raise GreycardError(f"part {only!r}: there is none; the parts are {', '.join(split.name for split in parts)}")
    found = {}
    for split in (split for split in parts if only in (None, split.name)):
        found[split.name] = _left_out(data, split, recipe, folder, watcher or Watcher(), start)
    return found


def _left_out(
    data: Packed, split: Split, recipe: Recipe, folder: Path, watcher: Watcher, start: Model | None
) -> Tested:
    """Train on the rest, test on the part that is left out."""
    stem = str(folder / f"{split.name}-seed-{recipe.seed}")
    if start is not None and seen(data.where(split.test), start.trained_on).any():
        raise GreycardError(f"{split.name}: has test images on which the model {start.name!r} was trained before")
    model = trained(
        data.where(~split.test),
        recipe,
        Path(f"{stem}.safetensors"),
        start=start,
        report=lambda done: watcher.training(split, done),
    )
    return scored(
        model,
        data.where(split.test),
        stem,
        split.candidates,
        split.folds,
        progress=lambda done: watcher.testing(split, done),
    )


def pooled(tested: dict[str, Tested]) -> Scores:
    """All test images together, each scored by the model that has not seen it."""
    scores = [part.scores for part in tested.values()]
    return Scores(concatenate([part.data for part in scores]), np.concatenate([part.estimates for part in scores]))


def trained(
    data: Packed,
    recipe: Recipe,
    path: Path,
    *,
    start: Model | None = None,
    report: Callable[[Done], object] = lambda done: None,
) -> Model:
    """The model that an earlier run left at `path`, or else one that is trained now and kept there."""
    if path.exists():
        model = model_file.load(path)
        if model.results.get("run") != run_identity(data, recipe, start):
            raise GreycardError(
                f"{path}: was trained otherwise than now asked for, by another recipe or on other images or labels; "
                "choose another --out or remove it"
            )
        return model
    checkpoint = path.with_suffix(".checkpoint")
    model = train(data, recipe, start=start, name=path.stem, checkpoint=checkpoint, report=report)
    model_file.save(model, path)
    checkpoint.unlink(missing_ok=True)
    return model


def scored(
    model: Model,
    part: Packed,
    stem: str,
    candidates: CandidateSource | CandidateSets,
    folds: FoldColumn = "folds",
    progress: Callable[[int], object] = lambda done: None,
) -> Tested:
    """Scores of a model on images that it has not seen, from an earlier run where nothing that decides them differs.

    stem: path without ending of the files in which estimates and errors are kept. progress: called with how many images
    are done.
    """
    path = Path(f"{stem}.json")
    if candidates == "labels":
        candidates = label_candidates(part, folds)
    identity = _test_identity(model, part, candidates, folds)
    kept = _kept(path)
    if kept.get("identity") != identity:
        started = time.monotonic()
        done = iter(range(1, len(part) + 1))
        scores = evaluate(
            Estimator(model), part, candidates=candidates, folds=folds, progress=lambda: progress(next(done))
        )
        if len(scores.data) != len(part):
            known = len(part) - len(scores.data)
            raise GreycardError(f"{stem}: {known} test images are also among the training images")
        seconds = time.monotonic() - started
        kept = {"identity": identity, "seconds": round(seconds, 1), "estimates": scores.estimates.tolist()}
        write_whole(path, json.dumps(kept))
    scores = Scores(part, np.array(kept["estimates"]))
    scores.write_csv(f"{stem}.csv")
    return Tested(scores, kept["seconds"] + model.results["training_seconds"])


def _kept(path: Path) -> dict[str, Any]:
    """What an earlier run left; nothing where there is none or it is damaged."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _test_identity(model: Model, part: Packed, candidates: CandidateSource | CandidateSets, folds: FoldColumn) -> str:
    """A digest of all that decides the estimates of a part: the model, the images, and whence their candidates come."""
    labels = [part.illuminants.round(6).tolist(), getattr(part, folds).tolist(), part.cameras.tolist()]
    chosen = candidates if isinstance(candidates, str) else [[*key, _numbers(one)] for key, one in candidates.items()]
    content = [model.results["run"], part.digests().tolist(), chosen, folds, labels]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _numbers(chosen: CandidateSet) -> list[Any]:
    return [chosen.illuminants.round(6).tolist(), [] if chosen.bias is None else chosen.bias.tolist()]
