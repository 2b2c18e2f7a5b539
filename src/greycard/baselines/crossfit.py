"""Testing a method on what it has not learned from: each part of a data set by a method fitted to the others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from greycard.baselines import kept
from greycard.baselines.method import Method, find, learns, predicted
from greycard.camera import folder_name
from greycard.datasets.packed import Packed, concatenate
from greycard.errors import GreycardError
from greycard.evaluation import Scores, seen
from greycard.illuminant import Array
from greycard.model_file import TrainingImages
from greycard.output import write_whole
from greycard.splits import SplitBy, splits
from greycard.thumbnail import FEWEST_CELLS

Progress = Callable[[str], object]
"""Called with a line after each part."""


@dataclass(frozen=True)
class Crossfitted:
    """Scores of each part that was left out, how that was done in words, and the CPU seconds that fitting took.

    fitted: the last method; all are of the same size. Where its estimates were kept, it is not fitted.
    """

    parts: dict[str, Scores]
    protocol: str
    fit_seconds: float
    fitted: Method

    def pooled(self) -> Scores:
        """All parts together."""
        parts = list(self.parts.values())
        return Scores(concatenate([part.data for part in parts]), np.concatenate([part.estimates for part in parts]))


def each_camera(data: Packed, by: SplitBy, asked: bool = False) -> bool:
    """Whether cameras are fitted one by one: where asked for, or where the folds share scenes between cameras."""
    if asked and by == "dataset":
        raise GreycardError("--per-camera: a data set that is left out has cameras of its own; leave one of both out")
    return asked or (by == "folds" and bool(np.any(data.scene_folds >= 0)))


def crossfit(
    name: str,
    data: Packed,
    by: SplitBy = "folds",
    *,
    per_camera: bool = False,
    only: str | None = None,
    folder: Path | None = None,
    progress: Progress = lambda line: None,
) -> Crossfitted:
    """Leave out each part in turn, or `only` the one of that name: fit a new method to the rest, test it on the part.

    name: of the method. by: what is left out. per_camera: a method of its own for each camera; always so with "folds"
    where a data set has scene folds too, as its folds are meant for single cameras (NUS-8). folder: keeps the estimates
    of each part; what is there is not done again, unless the method, its pictures or its labels have changed.
    """
    method = find(name)
    _refuse_unusable(data)
    if not learns(method) and by != "dataset" and only is None:
        scores = Scores(data, predicted(method, data.images, name))
        return Crossfitted({"all": scores}, "nothing is fitted", 0.0, method)
    single = each_camera(data, by, per_camera)
    groups = [data.cameras == camera for camera in np.unique(data.cameras)] if single else [np.ones(len(data), bool)]
    tested: dict[str, list[Scores]] = {}
    seconds = 0.0
    for group in groups:
        of_group = data.where(group)
        parts = splits(of_group, by)
        if only is not None and only not in [part.name for part in parts]:
            raise GreycardError(f"part {only!r}: there is none; the parts are {', '.join(part.name for part in parts)}")
        for part in (part for part in parts if only in (None, part.name)):
            method, rest = find(name), of_group.where(part.test)
            of_camera = [folder_name(str(rest.cameras[0]))] if single else []
            place = folder and folder.joinpath(*of_camera, f"{part.name}.json")
            estimates, took = _estimated(method, name, of_group.where(~part.test), rest, place)
            seconds += took
            tested.setdefault(part.name, []).append(Scores(rest, estimates))
            progress(f"{', '.join(np.unique(rest.cameras))}: {part.name}")
    joined = {
        part: Scores(concatenate([one.data for one in scores]), np.concatenate([one.estimates for one in scores]))
        for part, scores in tested.items()
    }
    return Crossfitted(joined, _protocol(by, single), seconds, method)


def _estimated(method: Method, name: str, training: Packed, rest: Packed, place: Path | None) -> tuple[Array, float]:
    """Estimates (N, 3) of the rest by a method fitted to the training pictures, and the CPU seconds of the fit.

    place: file in which they are kept, also for the next time.
    """
    identity = ""
    if place:
        labels = training.illuminants.round(6).tolist()
        images = [training.digests().tolist(), rest.digests().tolist()]
        identity = kept.identity(name, kept.source(method), labels, images)
        found = kept.load(place, identity)
        if found is not None:
            return np.array(found["estimates"]), found["seconds"]
    started = time.process_time()
    method.fit(training.images, training.illuminants)
    seconds = time.process_time() - started
    estimates = predicted(method, rest.images, name)
    if place:
        write_whole(place, json.dumps({"identity": identity, "seconds": seconds, "estimates": estimates.tolist()}))
    return estimates, seconds


def fitted_to(name: str, training: Packed) -> Method:
    """A method fitted to a whole data set."""
    method = find(name)
    method.fit(training.images, training.illuminants)
    return method


def scored_on_others(name: str, data: Packed, training: Packed) -> Scores:
    """Scores of a method fitted to another data set; images that are in both are left out."""
    _refuse_unusable(data)
    _refuse_unusable(training)
    learned = TrainingImages(training.datasets, training.names, training.digests())
    rest = data.where(~_known(data, learned, name))
    return Scores(rest, predicted(fitted_to(name, training), rest.images, name))


def _refuse_unusable(data: Packed) -> None:
    """Refuse what no method can read, by the name of the picture."""
    usable = np.all(data.images > 0, axis=-1).sum(axis=(1, 2))
    if np.any(usable < FEWEST_CELLS):
        bad = int(np.argmin(usable))
        raise GreycardError(
            f"{data.datasets[bad]}: only {usable[bad]} cells of {data.names[bad]} can be used (at least {FEWEST_CELLS} "
            "are needed); the rest is black, clipped or masked: leave it out of the data set"
        )


def _known(data: Packed, learned: TrainingImages, name: str) -> NDArray[np.bool_]:
    known = seen(data, learned)
    if known.all():
        raise GreycardError(
            f"{', '.join(np.unique(data.datasets))}: {name} would be fitted to every image of it, so its errors would "
            "say nothing; leave out --fit-on to fit it to other folds"
        )
    return known


def _protocol(by: SplitBy, single: bool) -> str:
    if by == "dataset":
        return "fitted to the other data sets"
    what = "each camera by itself" if single else "all cameras together"
    return f"fitted to the other {by.replace('_', ' ')}, {what}"
