"""`greycard crossval`: train on the rest, test on the part left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from greycard.training.crossval import Watcher


def command(
    data: Annotated[list[Path], typer.Argument(help="Packed data sets (.npz).")],
    out: Annotated[Path, typer.Option(help="Folder for models, per-image CSV files and results.json.")],
    recipe: Annotated[
        str | None, typer.Option(help="A bundled recipe's name, or a TOML file; by default one-camera.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Test this baseline instead of a recipe; or module:Class of your own.")
    ] = None,
    per_camera: Annotated[
        bool, typer.Option("--per-camera", help="For --method: fit each camera by itself (NUS-8's folds always do).")
    ] = False,
    by: Annotated[Literal["folds", "scene_folds", "dataset"], typer.Option(help="What is left out in turn.")] = "folds",
    only: Annotated[str | None, typer.Option(help="Test this part only, such as fold-0 or without-nus8.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Train this model further (a bundled one's name, or a file).")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from 0 on.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Cross-validate a recipe, or a baseline. Interrupted, it goes on where it was when started again."""
    from greycard.cli.train import require_torch
    from greycard.errors import GreycardError
    from greycard.training import recipe as recipes

    if method:
        if recipe or start or seeds > 1:
            raise GreycardError("--method takes the place of a recipe: leave out --recipe, --from and --seeds")
        _crossfit(data, out, method, by, only, per_camera, as_json)
        return
    if per_camera:
        raise GreycardError("--per-camera belongs to --method")
    recipe = recipe or "one-camera"
    chosen = recipes.load(recipe)
    require_torch()

    from greycard import model_file
    from greycard.datasets import packed
    from greycard.evaluation import over_seeds
    from greycard.training.crossval import crossvalidate, pooled

    together = packed.concatenate([packed.load(path) for path in data])
    pretrained = model_file.load(start) if start else None
    groups: dict[str, list[dict[str, Any]]] = {}
    seconds = []
    for seed in range(seeds):
        watcher = _watcher(seed, chosen.epochs, as_json)
        tested = crossvalidate(together, chosen.with_seed(seed), by, out, watcher, only, pretrained)
        seconds.append(round(sum(part.seconds for part in tested.values())))
        # A data set left out is a result of its own; folds of one data set are parts of a single result.
        if by == "dataset":
            parts = {name: part.scores for name, part in tested.items()}
        else:
            parts = {only or "all folds": pooled(tested)}
        for name, scores in parts.items():
            groups.setdefault(name, []).append(scores.report())
    results = {
        "recipe": recipe,
        "by": by,
        "seeds": seeds,
        "seconds": seconds,
        "results": {
            name: {
                "overall": over_seeds(reports),
                "geometric_mean": over_seeds(reports, "geometric_mean"),
                "runs": reports,
            }
            for name, reports in groups.items()
        },
    }
    _finish(results, out, only, as_json)


def _crossfit(
    data: list[Path],
    out: Path,
    method: str,
    by: Literal["folds", "scene_folds", "dataset"],
    only: str | None,
    per_camera: bool,
    as_json: bool,
) -> None:
    """Cross-validate a baseline: the same files and the same results as for a recipe with one seed."""
    import sys
    import time

    from greycard.baselines.crossfit import crossfit
    from greycard.datasets import packed
    from greycard.evaluation import over_seeds

    def say(line: str) -> None:
        if not as_json:
            print(f"{method}, {line}", file=sys.stderr, flush=True)

    together = packed.concatenate([packed.load(path) for path in data])
    started = time.monotonic()
    found = crossfit(method, together, by, per_camera=per_camera, only=only, folder=out, progress=say)
    for name, scores in found.parts.items():
        scores.write_csv(out / f"{name}.csv")
    parts = found.parts if by == "dataset" else {only or "all folds": found.pooled()}
    reports = {name: scores.report() for name, scores in parts.items()}
    results = {
        "recipe": None,
        "method": method,
        "protocol": found.protocol,
        "by": by,
        "seeds": 1,
        "seconds": [round(time.monotonic() - started, 1)],
        "results": {
            name: {
                "overall": over_seeds([report]),
                "geometric_mean": over_seeds([report], "geometric_mean"),
                "runs": [report],
            }
            for name, report in reports.items()
        },
    }
    _finish(results, out, only, as_json)


def _finish(results: dict[str, Any], out: Path, only: str | None, as_json: bool) -> None:
    """Keep the results in a file and print them."""
    from greycard.output import write_whole

    write_whole(out / (f"results-{only}.json" if only else "results.json"), json.dumps(results, indent=1) + "\n")
    if as_json:
        print(json.dumps(results))
    else:
        _print_table(results)


def _watcher(seed: int, epochs: int, quiet: bool) -> Watcher:
    """A line for every tenth of a training, with its error, and for every part that is tested."""
    import sys

    from greycard.splits import Split
    from greycard.training.checkpoint import Done
    from greycard.training.crossval import Watcher

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    def training(split: Split, done: Done) -> None:
        if done.epochs % max(1, epochs // 10) == 0:
            say(f"seed {seed}, {split.name}: epoch {done.epochs}/{epochs}, error {done.error:.2f}")

    def testing(split: Split, done: int) -> None:
        if done == int(split.test.sum()):
            say(f"seed {seed}, {split.name}: {done} images tested")

    return Watcher(training, testing)


def _subject(results: dict[str, Any]) -> str:
    """What a table is about, in a few words."""
    return f"{results['method']}: {results['protocol']}" if "method" in results else f"{results['seeds']} seeds"


def _print_table(results: dict[str, Any]) -> None:
    from rich.console import Console

    from greycard.cli.terminal import table as new_table
    from greycard.statistics import STATISTICS

    table = new_table("", *STATISTICS, title=f"angular error in degrees, {_subject(results)}")
    for name, result in results["results"].items():
        for part, label in (("overall", name), ("geometric_mean", "geometric mean")):
            values = result[part]
            table.add_row(label, *(f"{values[key]['mean']:.2f}" for key in STATISTICS))
            if results["seeds"] > 1:
                table.add_row("  smallest", *(f"{values[key]['min']:.2f}" for key in STATISTICS))
                table.add_row("  largest", *(f"{values[key]['max']:.2f}" for key in STATISTICS))
    Console().print(table)
    print(f"training and testing took {', '.join(str(seconds) for seconds in results['seconds'])} s for each seed")
