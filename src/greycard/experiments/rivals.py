"""The competition under one roof: every baseline, and greycard, on the same thumbnails and folds of three data sets.

What has been run is kept, one file for each method, data set and protocol; an interrupted bench goes on where it was.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from greycard.baselines import kept as kept_runs
from greycard.baselines.crossfit import crossfit
from greycard.baselines.method import METHODS, find
from greycard.datasets.packed import Packed, concatenate
from greycard.errors import GreycardError
from greycard.evaluation import Scores
from greycard.experiments import own
from greycard.experiments.lab import Lab
from greycard.experiments.quoted import QUOTED
from greycard.experiments.table import PUBLISHED
from greycard.output import write_whole
from greycard.splits import SplitBy
from greycard.statistics import paired_comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE = "ffcc"
"""The method that the others are compared with, picture by picture."""
WITHOUT_LEARNING = tuple(METHODS)[:8]
"""Those that have a parameter or two and nothing else to fit."""
PICTURES = 25
"""How many thumbnails are timed, one by one."""


@dataclass(frozen=True)
class Protocol:
    """What is tested, and what of it the methods may learn from.

    part: the statistics over all images, or their geometric mean over cameras, as is the custom for NUS-8.
    """

    key: str
    caption: str
    data: Callable[[Lab], Packed]
    by: SplitBy = "folds"
    per_camera: bool = False
    only: str | None = None
    part: Literal["overall", "geometric_mean"] = "overall"
    trained_on: str = "the other folds"


def _all(lab: Lab) -> Packed:
    return concatenate([lab.gehler_shi, lab.nus8, lab.cube_plus])


PROTOCOLS = (
    Protocol("gehler-shi", "Gehler-Shi, its own three folds, both cameras together", lambda lab: lab.gehler_shi),
    Protocol(
        "nus-8",
        "NUS-8, three folds, each camera by itself; geometric mean over the cameras",
        lambda lab: lab.nus8,
        per_camera=True,
        part="geometric_mean",
        trained_on="the camera's other folds",
    ),
    Protocol(
        "nus-8-multi-device",
        "NUS-8, scene folds, one fit for all cameras; geometric mean over the cameras",
        lambda lab: lab.nus8,
        by="scene_folds",
        part="geometric_mean",
        trained_on="the other scenes, all cameras",
    ),
    Protocol(
        "nus-8-per-device",
        "NUS-8, scene folds, each camera by itself; geometric mean over the cameras",
        lambda lab: lab.nus8,
        by="scene_folds",
        per_camera=True,
        part="geometric_mean",
        trained_on="the camera's other scenes",
    ),
    Protocol("cube-plus", "Cube+, blocks of 30 images in three folds", lambda lab: lab.cube_plus),
    Protocol(
        "gehler-shi-unseen",
        "Gehler-Shi, cameras never seen: nothing of them is used, neither pictures nor labels",
        _all,
        by="dataset",
        only="without-gehler_shi",
        trained_on="NUS-8 and Cube+",
    ),
    Protocol(
        "nus-8-unseen",
        "NUS-8, cameras never seen: nothing of them is used; geometric mean over the cameras",
        _all,
        by="dataset",
        only="without-nus8",
        part="geometric_mean",
        trained_on="Gehler-Shi and Cube+",
    ),
    Protocol(
        "cube-plus-unseen",
        "Cube+, a camera never seen: nothing of it is used (NUS-8's Canon EOS 600D is a near sibling)",
        _all,
        by="dataset",
        only="without-cube_plus",
        trained_on="Gehler-Shi and NUS-8",
    ),
)


@dataclass(frozen=True)
class Result:
    """One method on one data set by one protocol.

    measured: the statistics in degrees. milliseconds, fit_seconds: CPU time of one estimate, and of all fits (of
    greycard: of training and testing, by the clock). seconds: of all fits and tests. numbers: how many were fitted.
    against: the paired comparison with the reference, where both have been run.
    """

    method: str
    protocol: str
    trained_on: str
    measured: Mapping[str, float]
    fit_seconds: float
    seconds: float
    milliseconds: float
    numbers: int
    against: Mapping[str, Any] = field(default_factory=dict)


def run(lab: Lab, methods: Sequence[str] | None = None, protocols: Sequence[str] | None = None) -> Rivals:
    """All methods by all protocols, or those named; of the others, what earlier runs have kept is shown too."""
    known = [*METHODS, own.NAME]
    _check("method", methods, known)
    _check("protocol", protocols, [protocol.key for protocol in PROTOCOLS])
    found: list[Result] = []
    for protocol in PROTOCOLS:
        wanted = (methods or known) if protocol.key in (protocols or [protocol.key]) else []
        names = [name for name in known if name in wanted or _path(lab, name, protocol).exists()]
        if not names:
            continue
        data = protocol.data(lab)
        images = _images_digest(data)
        cells: dict[str, tuple[dict[str, Any], Scores]] = {}
        for name in names:
            identity = _identity(name, protocol, images)
            kept = kept_runs.load(_path(lab, name, protocol), identity)
            if kept is None and name in wanted:
                lab.say(f"{protocol.key}: {name}")
                found_now = _run_own(lab, protocol, data) if name == own.NAME else _run(name, protocol, data)
                kept = found_now | {"identity": identity}
                write_whole(_path(lab, name, protocol), json.dumps(kept))
            if kept is not None:
                cells[name] = kept, _scores(kept, data)
        found += _results(cells, protocol)
    return Rivals(found)


def _check(what: str, names: Sequence[str] | None, known: Sequence[str]) -> None:
    for name in names or ():
        if name not in known:
            raise GreycardError(f"--{what} {name!r} is not known; expected one of {', '.join(known)}")


def _results(cells: Mapping[str, tuple[dict[str, Any], Scores]], protocol: Protocol) -> Iterator[Result]:
    reference = cells[REFERENCE][1].angular_errors if REFERENCE in cells else None
    for name, (kept, scores) in cells.items():
        compared: Mapping[str, Any] = {}
        if reference is not None and name != REFERENCE:
            compared = paired_comparison(scores.angular_errors, reference)
        yield Result(
            name,
            protocol.key,
            kept["trained_on"],
            {key: value for key, value in scores.report()[protocol.part].items() if key in PUBLISHED},
            kept["fit_seconds"],
            kept["seconds"],
            kept["milliseconds"],
            kept["numbers"],
            compared,
        )


def _path(lab: Lab, name: str, protocol: Protocol) -> Path:
    return lab.runs / "rivals" / protocol.key / f"{name}.json"


def _run(name: str, protocol: Protocol, data: Packed) -> dict[str, Any]:
    started = time.process_time()
    fitted = crossfit(name, data, protocol.by, per_camera=protocol.per_camera, only=protocol.only)
    seconds = time.process_time() - started
    size = numbers(fitted.fitted)
    return {
        "trained_on": protocol.trained_on if size else "nothing",
        "fit_seconds": round(fitted.fit_seconds, 1),
        "seconds": round(seconds, 1),
        "milliseconds": milliseconds(fitted.fitted.predict, data),
        "numbers": size,
    } | _estimates(fitted.pooled())


def _run_own(lab: Lab, protocol: Protocol, data: Packed) -> dict[str, Any]:
    found = own.run(lab, protocol.key)
    return {
        "trained_on": own.TRAINED_ON.get(protocol.key, protocol.trained_on),
        "fit_seconds": round(found.seconds, 1),
        "seconds": round(found.seconds, 1),
        "milliseconds": milliseconds(found.predictor(), data),
        "numbers": found.numbers,
    } | _estimates(found.scores)


def _estimates(scores: Scores) -> dict[str, Any]:
    return {"images": _images(scores.data), "estimates": scores.estimates.round(8).tolist()}


def _scores(kept: Mapping[str, Any], data: Packed) -> Scores:
    """The scores that were kept, in the order of the data set, so that methods can be compared picture by picture."""
    rows = {image: row for row, image in enumerate(kept["images"])}
    tested = data.where(np.array([image in rows for image in _images(data)]))
    return Scores(tested, np.array(kept["estimates"])[[rows[image] for image in _images(tested)]])


def _images(data: Packed) -> list[str]:
    """A name for each image that is its own, also among several data sets."""
    return [f"{dataset}/{name}" for dataset, name in zip(data.datasets, data.names, strict=True)]


def _images_digest(data: Packed) -> str:
    """A digest of images, labels and folds."""
    labels = [data.illuminants.round(6).tolist(), data.folds.tolist(), data.scene_folds.tolist()]
    return kept_runs.identity(data.digests().tolist(), *labels)


def _identity(name: str, protocol: Protocol, images: str) -> str:
    """A digest of what decides the estimates: the method's source (of greycard: its recipes), protocol, images."""
    if name == own.NAME:
        files = (file for file in resources.files("greycard.recipes").iterdir() if file.name.endswith(".toml"))
        source = {file.name: file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name)}
    else:
        source = kept_runs.source(find(name))
    return kept_runs.identity(name, source, protocol.key, protocol.by, protocol.per_camera, images)


def milliseconds(predict: Callable[[NDArray[Any]], Any], data: Packed) -> float:
    """CPU time of one estimate: the median over some thumbnails, one by one, after a first that is not counted.

    Of one thread, this is what a clock shows on a machine that does nothing else.
    """
    from threadpoolctl import threadpool_limits

    times = []
    with threadpool_limits(1):
        for image in data.images[: PICTURES + 1]:
            started = time.process_time()
            predict(image[None])
            times.append(1000 * (time.process_time() - started))
    return round(statistics.median(times[1:] or times), 3)


def numbers(method: object) -> int:
    """How many numbers `fit` has set: what the attributes whose names end in _ hold, also inside."""
    if not getattr(method, "learns", True):
        return 0
    return sum(_count(value) for key, value in vars(method).items() if key.endswith("_") and not key.startswith("_"))


def _count(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.size) * (2 if np.iscomplexobj(value) else 1)
    if isinstance(value, list | tuple):
        return sum(_count(one) for one in value)
    if hasattr(value, "estimators_"):  # a forest of scikit-learn: a feature, a threshold and two values for each node
        return sum(4 * int(tree.tree_.node_count) for tree in value.estimators_)
    if hasattr(value, "__dict__"):
        return sum(_count(one) for one in vars(value).values())
    return int(isinstance(value, int | float))


@dataclass(frozen=True)
class Rivals:
    """The bench: what has been measured, and what others have published."""

    results: Sequence[Result]

    def to_dict(self) -> dict[str, Any]:
        """What `greycard reproduce rivals --json` prints."""
        captions = {protocol.key: protocol.caption for protocol in PROTOCOLS}
        rows = [
            asdict(result)
            | {"name": result.method, "published": QUOTED.get(result.protocol, {}).get(result.method, {}), "seeds": 1}
            for result in self.results
        ]
        return {
            "table": "rivals",
            "unit": "degrees",
            "seconds_without_learning": self.seconds_without_learning(),
            "protocols": captions,
            "rows": rows,
            "quoted": QUOTED,
        }

    def seconds_without_learning(self) -> float:
        """CPU time of all methods without learning on the three data sets, choosing their parameters included."""
        chosen = ("gehler-shi", "nus-8", "cube-plus")
        return sum(one.seconds for one in self.results if one.method in WITHOUT_LEARNING and one.protocol in chosen)

    def to_markdown(self) -> str:
        """A table for each protocol that anything was run by."""
        lines = [
            "**Rivals.** Angular error in degrees on 64x64 thumbnails: mean / median / trimean / best 25 % / worst "
            "25 %. Figures marked as quoted were published by others, on their own pictures, and were not measured "
            f"here. Differences are those of the means, minus {REFERENCE}'s, on the same pictures, with their 95 % "
            "interval. Milliseconds are CPU time for one thumbnail on one thread, as are the seconds of fitting; size "
            "is how many numbers are fitted. greycard's seconds are those of training and testing by the clock; its "
            "errors are exact ones, except with cameras never seen; its milliseconds, and its errors there, are those "
            "of its default speed, which costs hardly any accuracy (docs/speed.md). "
            f"The {len(WITHOUT_LEARNING)} methods without learning took "
            f"{self.seconds_without_learning():.0f} s of CPU time for the first protocol of each data set, all "
            "together.",
        ]
        for protocol in PROTOCOLS:
            results = [result for result in self.results if result.protocol == protocol.key]
            if results:
                lines += ["", f"## {protocol.caption}", "", *_markdown(protocol.key, results)]
        return "\n".join(lines) + "\n"

    def plot(self) -> Figure:
        """Mean error against the time of an estimate, a panel for each protocol."""
        from greycard.plot import accuracy_against_latency

        panels: dict[str, dict[str, tuple[float, float]]] = {}
        for result in self.results:
            panels.setdefault(result.protocol, {})[result.method] = (result.milliseconds, result.measured["mean"])
        return accuracy_against_latency(panels)


def _markdown(key: str, results: Sequence[Result]) -> list[str]:
    quoted = dict(QUOTED.get(key, {}))
    lines = [
        f"| method | trained on | measured | quoted | mean minus {REFERENCE}'s | fit, s | ms | size |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for result in sorted(results, key=lambda one: one.measured["mean"], reverse=True):
        difference = ""
        if result.against:
            low, high = result.against["mean_interval"]
            difference = f"{result.against['mean_difference']:+.2f} ({low:+.2f} to {high:+.2f})"
        cells = (
            result.method,
            result.trained_on,
            _five(result.measured),
            _five(quoted.pop(result.method, {})),
            difference,
            f"{result.fit_seconds:.0f}",
            f"{result.milliseconds:.2f}",
            f"{result.numbers:,}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines + [f"| {name} | not run here | | {_five(figures)} | | | | |" for name, figures in quoted.items()]


def _five(figures: Mapping[str, float]) -> str:
    """The five statistics in a cell; a dash where one was not published."""
    return " / ".join(f"{figures[key]:.2f}" if key in figures else "–" for key in PUBLISHED) if figures else ""
