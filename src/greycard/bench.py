"""Measuring how fast an estimate is and what its speed costs: all methods on the same pictures, in turn, in one run.

Times are medians, on one thread, from a thumbnail (64, 64, 3) to an illuminant. A busy machine slows all methods alike,
because they take turns; the ratios are what to compare between machines.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard import thumbnail
from greycard.batch import AT_ONCE
from greycard.candidates import CandidateSet
from greycard.coarse_to_fine import DEFAULT, EFFORTS, Effort, Scorer
from greycard.datasets.packed import Packed
from greycard.errors import GreycardError
from greycard.estimator import Estimator
from greycard.evaluation import label_candidates, matrix_candidates, seen
from greycard.illuminant import Array, angular_error, from_chromaticity, to_chromaticity, unit
from greycard.model_file import Model
from greycard.posterior import posterior

Method = Callable[[NDArray[Any]], Array]
"""Thumbnail (64, 64, 3) -> illuminant (3,)."""
CANDIDATE_COUNTS = (5, 25, 120, 300, 1000)
CELL_COUNTS = (256, 512, 1024, 2048, 4096)
LAST_CANDIDATES = (2, 4, 8)
GRIDS = ((32, 32), (12, 16))
"""Rows and columns of cells, coarser than a thumbnail: what the statistics of a camera's image processor give."""

_IN_A_ROW = 5
"""Pictures that a method is timed on before the next method has its turn."""


def measure(
    model: Model,
    thumbnails: Sequence[NDArray[Any]],
    data: Sequence[Packed] = (),
    *,
    repeats: int = 21,
    images: int = 60,
    say: Callable[[str], object] = lambda part: None,
) -> dict[str, Any]:
    """All figures of `greycard bench`.

    thumbnails: pictures to time; data: packed sets to measure accuracy on, `images` of each, evenly spaced.
    repeats: how often each method runs; the slow ones run a few times only.
    """
    candidates = _some_candidates(model, 120)
    notes: list[str] = []
    with one_thread(), TemporaryDirectory() as folder:
        say("latency")
        latency = latencies(methods(model, candidates, Path(folder), notes), thumbnails, repeats)
        say("growth with candidates and cells")
        with_candidates = latencies(
            {str(count): of_effort(model, _some_candidates(model, count)) for count in CANDIDATE_COUNTS},
            thumbnails,
            repeats,
        )
        with_cells = latencies(
            {str(cells): of_effort(model, candidates, closing_with(4, cells)) for cells in CELL_COUNTS},
            thumbnails,
            repeats,
        )
    say("throughput")
    figures: dict[str, Any] = {
        "latency_ms": latency,
        "speedup_over_literal": {
            speed: latency["literal"] / latency[speed] for speed in ("default", "live") if "literal" in latency
        },
        "latency_ms_by_candidates": with_candidates,
        "latency_ms_by_cells": with_cells,
        "throughput": throughput(model, candidates, thumbnails),
        "peak_megabytes": {speed: peak_megabytes(model, candidates, speed, thumbnails[0]) for speed in EFFORTS},
        "accuracy_cost_degrees": {},
        "deviation_degrees": {},
        "notes": notes,
    }
    for one in data:
        say(f"accuracy on {one.datasets[0]}")
        sample = Sample.drawn(model, one, images)
        figures = _with_accuracy(figures, accuracy(model, sample), str(one.datasets[0]))
        if "trade_off" not in figures:
            say("accuracy against time")
            with one_thread():
                figures["trade_off"] = trade_off(model, sample)
    return figures


@contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy, and torch where it is installed, work on one thread."""
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    with threadpool_limits(1):
        try:
            if torch:
                torch.set_num_threads(1)
            yield
        finally:
            if torch:
                torch.set_num_threads(threads)


def latencies(
    timed: Mapping[str, Method], thumbnails: Sequence[NDArray[Any]], repeats: int, slow: float = 0.1
) -> dict[str, float]:
    """Median milliseconds of each method. They take turns, several pictures each as in a stream of them.

    Those that need over `slow` seconds have one picture a turn.
    """
    for method in timed.values():
        method(thumbnails[0])  # fills caches
    first = {name: _seconds(method, thumbnails[0]) for name, method in timed.items()}
    times: dict[str, list[float]] = {name: [] for name in timed}
    for turn in range(0, repeats, _IN_A_ROW):
        for name, method in timed.items():
            for number in range(turn, turn + (_IN_A_ROW if first[name] < slow else 1)):
                times[name].append(_seconds(method, thumbnails[number % len(thumbnails)]))
    return {name: 1000 * statistics.median(values) for name, values in times.items()}


def methods(model: Model, candidates: CandidateSet, folder: Path, notes: list[str]) -> dict[str, Method]:
    """What is compared. What is not installed is left out, with a note. folder: for the compiled C file."""
    found: dict[str, Method] = {speed: of_effort(model, candidates, effort) for speed, effort in EFFORTS.items()}
    found["gray_world"] = gray_world
    for name, build in (("literal", literal), ("onnxruntime", _onnxruntime)):
        try:
            found[name] = build(model, candidates)
        except ImportError as error:
            notes.append(f"{name} is left out: {error.name} is not installed")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        notes.append("c is left out: no C compiler was found")
    else:
        found["c"] = _compiled(model, candidates, compiler, folder)
    found["ffcc"] = ffcc()
    return found


def of_effort(model: Model, candidates: CandidateSet, effort: Effort | None = DEFAULT) -> Method:
    """greycard at one speed."""
    scorer = Scorer(model.network, candidates, effort)

    def estimate(cells: NDArray[Any]) -> Array:
        scores = scorer.log_likelihoods(thumbnail.log_image(cells))
        return posterior(scores, candidates.illuminants, candidates.gain, candidates.bias).mean()

    return estimate


def closing_with(candidates: int, cells: int) -> Effort:
    """The default effort with another last step."""
    return (*DEFAULT[:-1], DEFAULT[-1]._replace(candidates=candidates, cells=cells))


def gray_world(cells: NDArray[Any]) -> Array:
    """The mean of the valid cells (Buchsbaum 1980)."""
    return unit(cells[thumbnail.valid_cells(cells)].mean(axis=0))


def throughput(model: Model, candidates: CandidateSet, thumbnails: Sequence[NDArray[Any]]) -> dict[str, Any]:
    """Pictures a second at the default speed, by one process and by one for each core, in turn, once they run."""
    estimator, cores = Estimator(model), os.cpu_count() or 1
    batch = [thumbnails[index % len(thumbnails)] for index in range(640 * cores)]
    rates: dict[int, list[float]] = {1: [], cores: []}
    with one_thread():
        for _ in range(3):
            for processes, found in rates.items():
                estimates = estimator.estimate_thumbnails(batch, candidates=candidates, processes=processes)
                found.append(_rate(estimates, before=processes * AT_ONCE))
    one, all_cores = statistics.median(rates[1]), statistics.median(rates[cores])
    return {"one_process": one, "all_cores": all_cores, "cores": cores, "gain": all_cores / one}


def _rate(estimates: Iterator[Any], before: int) -> float:
    """How many a second, after as many before: all processes have started by then, and have as much in hand."""
    for _ in range(before):
        next(estimates)
    start = time.perf_counter()
    arrivals = [time.perf_counter() for _ in estimates]  # the last one, before processes have ended
    return len(arrivals) / (arrivals[-1] - start)


def peak_megabytes(model: Model, candidates: CandidateSet, speed: Any, cells: NDArray[Any]) -> float:
    """Memory that one estimate needs on top of what is loaded."""
    estimate = of_effort(model, candidates, EFFORTS[speed])
    tracemalloc.start()
    try:
        estimate(cells)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@dataclass(frozen=True, eq=False)
class Sample:
    """Some images of a data set. rows: thumbnail and candidates of each; exact: (N, 3) what `exact` makes of them."""

    part: Packed
    rows: Sequence[tuple[NDArray[Any], CandidateSet]]
    exact: Array

    @classmethod
    def drawn(cls, model: Model, data: Packed, images: int) -> Sample:
        """Up to `images` of the data, evenly spaced, not trained on where there are such.

        Candidates come from the labels of the other folds, or from the colour matrix where there are no folds.
        """
        known = seen(data, model.trained_on)
        scored = data if known.all() else data.where(~known)
        part = scored.where(np.isin(np.arange(len(scored)), np.linspace(0, len(scored) - 1, images).astype(int)))
        has_folds = bool(np.all(data.folds >= 0))
        sets = label_candidates(data, "folds") if has_folds else matrix_candidates(Estimator(model), data, "folds")
        fields = zip(part.images, part.cameras, part.folds, strict=True)
        rows = [(cells, sets[str(camera), int(fold)]) for cells, camera, fold in fields]
        return cls(part, rows, _estimates(model, rows, None))


def accuracy(model: Model, sample: Sample) -> dict[str, Any]:
    """Errors of each speed beside `exact`, on images that the model was not trained on.

    Where it was trained on all of them, only the deviation from `exact` is meant seriously: `seen` tells.
    """
    part, rows = sample.part, sample.rows
    faster = {speed: _estimates(model, rows, effort) for speed, effort in EFFORTS.items() if effort is not None}
    estimates = faster | {"exact": sample.exact}
    by_grid = {f"{across}x{down}": _on_grid(model, rows, down, across) for down, across in GRIDS}
    errors = {key: angular_error(value, part.illuminants) for key, value in (estimates | by_grid).items()}
    exact = {"mean": float(errors["exact"].mean()), "median": float(np.median(errors["exact"]))}
    return {
        "images": len(part),
        "seen": bool(seen(part, model.trained_on).all()),
        "exact": exact,
        "cost": {
            key: {"mean": float(value.mean()) - exact["mean"], "median": float(np.median(value)) - exact["median"]}
            for key, value in errors.items()
            if key != "exact"
        },
        "deviation": {
            speed: _mean_and_max(angular_error(estimates[speed], sample.exact)) for speed in ("default", "live")
        },
    }


def trade_off(model: Model, sample: Sample) -> list[dict[str, float]]:
    """What the last step costs and gives, for numbers of candidates and cells: milliseconds, degrees from `exact`."""
    found = []
    for candidates in LAST_CANDIDATES:
        for cells in CELL_COUNTS:
            times: list[float] = []
            estimates = _estimates(model, sample.rows, closing_with(candidates, cells), times)
            apart = float(angular_error(estimates, sample.exact).mean())
            milliseconds = 1000 * statistics.median(times)
            found.append({"candidates": candidates, "cells": cells, "ms": milliseconds, "from_exact": apart})
    return found


def _estimates(
    model: Model,
    rows: Sequence[tuple[NDArray[Any], CandidateSet]],
    effort: Effort | None,
    times: list[float] | None = None,
) -> Array:
    """(N, 3) estimates of thumbnails, each with its candidates. times: gets the seconds of each."""
    of_set = cache(lambda chosen: of_effort(model, chosen, effort))
    found = []
    for cells, chosen in rows:
        method = of_set(chosen)
        start = time.perf_counter()
        found.append(method(cells))
        if times is not None:
            times.append(time.perf_counter() - start)
    return np.array(found)


def plot(figures: Mapping[str, Any]) -> Any:
    """A figure: milliseconds of each method, how they grow with candidates and cells, and accuracy against time."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise GreycardError("plots need matplotlib: pip install 'greycard[plot]'") from error
    figure = Figure(figsize=(14 if "trade_off" in figures else 10, 3.6), layout="constrained")
    bars, growth, *rest = figure.subplots(1, 3 if "trade_off" in figures else 2)
    latency = dict(sorted(figures["latency_ms"].items(), key=lambda item: -item[1]))
    bars.barh(list(latency), list(latency.values()))
    bars.set(xscale="log", xlabel="milliseconds for a thumbnail, one thread")
    for key, label in (("latency_ms_by_candidates", "candidates"), ("latency_ms_by_cells", "cells, last step")):
        growth.plot([int(count) for count in figures[key]], list(figures[key].values()), marker="o", label=label)
    growth.set(xscale="log", yscale="log", xlabel="number", ylabel="milliseconds, default")
    growth.legend()
    for against_time in rest:
        for candidates in LAST_CANDIDATES:
            points = [one for one in figures["trade_off"] if one["candidates"] == candidates]
            times, degrees = [one["ms"] for one in points], [one["from_exact"] for one in points]
            against_time.plot(times, degrees, marker="o", label=f"{candidates} candidates in the last step")
        against_time.set(xscale="log", yscale="log", xlabel="milliseconds", ylabel="degrees from exact, on average")
        against_time.legend()
    return figure


def made_up_thumbnails(count: int = 9) -> list[NDArray[np.float32]]:
    """Pictures for timing where no data set is at hand: coloured blocks with texture, (64, 64, 3)."""
    generator = np.random.default_rng(0)
    blocks = generator.uniform(0.05, 1, (count, 8, 8, 3)).repeat(8, axis=1).repeat(8, axis=2)
    return list((blocks * generator.uniform(0.8, 1.2, (count, 64, 64, 3))).astype(np.float32))


def _with_accuracy(figures: dict[str, Any], found: dict[str, Any], dataset: str) -> dict[str, Any]:
    """Figures with those of one more data set; the worst of all sets stands for a speed."""
    by_dataset = {**figures.get("accuracy_by_dataset", {}), dataset: found}
    cost = {
        speed: {
            key: max((one["cost"][speed][key] for one in by_dataset.values()), key=abs) for key in ("mean", "median")
        }
        for speed in ("default", "live")
    }
    deviation = {
        speed: {key: max(one["deviation"][speed][key] for one in by_dataset.values()) for key in ("mean", "max")}
        for speed in ("default", "live")
    }
    return figures | {
        "accuracy_by_dataset": by_dataset,
        "accuracy_cost_degrees": cost,
        "deviation_degrees": deviation,
    }


def _on_grid(model: Model, rows: Sequence[tuple[NDArray[Any], CandidateSet]], down: int, across: int) -> Array:
    """Exact estimates (N, 3) from coarser thumbnails."""
    found = []
    for cells, chosen in rows:
        image = thumbnail.log_image(thumbnail.coarser(cells, down, across), grid=(down, across))
        scores = Scorer(model.network, chosen, None).log_likelihoods(image)
        found.append(posterior(scores, chosen.illuminants, chosen.gain, chosen.bias).mean())
    return np.array(found)


def _mean_and_max(values: Array) -> dict[str, float]:
    return {"mean": float(values.mean()), "max": float(values.max())}


def _seconds(method: Method, cells: NDArray[Any]) -> float:
    start = time.perf_counter()
    method(cells)
    return time.perf_counter() - start


def _some_candidates(model: Model, count: int) -> CandidateSet:
    """Any number of candidates in the range of the model's own."""
    ratios = to_chromaticity(model.any_camera.illuminants)
    drawn = np.random.default_rng(0).uniform(ratios.min(axis=0), ratios.max(axis=0), (count, 2))
    return CandidateSet(from_chromaticity(drawn))


def literal(model: Model, candidates: CandidateSet) -> Method:
    """Every layer for every candidate over all cells, in torch: what the paper's code does."""
    import torch

    from greycard.training.network import LikelihoodNetwork, literal_log_likelihoods

    network = LikelihoodNetwork(0.0).eval()
    network.start_from(model.network, last_layer=True)
    lights = torch.from_numpy(candidates.illuminants.astype(np.float32))

    def estimate(cells: NDArray[Any]) -> Array:
        torch.set_num_threads(1)
        image = thumbnail.log_image(cells)
        with torch.no_grad():
            logs, counted = torch.from_numpy(image.values), torch.from_numpy(image.counted)
            scores = literal_log_likelihoods(network, logs, counted, lights).numpy()
        return posterior(scores, candidates.illuminants, candidates.gain, candidates.bias).mean()

    return estimate


def ffcc() -> Method:
    """FFCC's estimate. What it has learned does not change how long it takes, so a few made-up pictures teach it."""
    from greycard.baselines.ffcc import FFCC
    from greycard.baselines.filters import Penalty

    pictures = np.array(made_up_thumbnails(24))
    fitted = FFCC(Penalty(), steps=(2, 2)).fit(pictures, pictures.mean(axis=(1, 2)))

    def estimate(cells: NDArray[Any]) -> Array:
        return np.asarray(fitted.predict(cells[None])[0])

    return estimate


def _onnxruntime(model: Model, candidates: CandidateSet) -> Method:
    """The exported ONNX graph."""
    import onnxruntime

    from greycard.export_onnx import graph

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    content = graph(model.network, model.name).SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    ones = np.ones(len(candidates.illuminants), np.float32)
    fixed = {"candidates": candidates.illuminants.astype(np.float32), "gain": ones, "log_prior": 0 * ones}

    def estimate(cells: NDArray[Any]) -> Array:
        found = session.run(["illuminant"], {"thumbnails": cells[None].astype(np.float32), **fixed})
        return np.asarray(found[0][0], dtype=np.float64)

    return estimate


def _compiled(model: Model, candidates: CandidateSet, compiler: str, folder: Path) -> Method:
    """The exported C file, compiled for this machine; all cells."""
    import ctypes

    from greycard import export_c

    export_c.write(model, candidates, folder / "model.c")
    # Not -ffast-math: a library linked with it changes how the whole process rounds.
    reorder = ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno"]
    command = [compiler, "-std=c99", "-O3", "-march=native", *reorder, "-shared", "-fPIC", "model.c", "-lm"]
    subprocess.run([*command, "-o", "model.so"], cwd=folder, check=True, capture_output=True)  # noqa: S603
    library = ctypes.CDLL(str(folder / "model.so"))
    count = len(candidates.illuminants)
    lights = candidates.illuminants.astype(np.float32)
    results = [np.zeros(size, np.float32) for size in (4 * 64 * 64 + 320 * count, count, count, 3)]

    def pointer(array: NDArray[np.float32]) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def estimate(cells: NDArray[Any]) -> Array:
        stored = np.ascontiguousarray(cells, dtype=np.float32)
        library.greycard_estimate(pointer(stored), pointer(lights), None, None, count, 0, *map(pointer, results))
        return results[3].astype(np.float64)

    return estimate
