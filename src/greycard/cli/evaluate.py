"""`greycard evaluate`: score a model, or anybody's estimates, against the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from greycard.coarse_to_fine import Speed
    from greycard.datasets.packed import Packed
    from greycard.estimator import Estimator
    from greycard.evaluation import CandidateSets, CandidateSource, Scores


def command(
    data: Annotated[Path, typer.Argument(help="A packed data set (.npz).")],
    model: Annotated[str | None, typer.Option(help="A model's name or file; by default the bundled one.")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="Score this baseline instead, each fold fitted to the others; or module:Class of your own."),
    ] = None,
    fit_on: Annotated[
        list[Path] | None, typer.Option(help="For --method: fit to these packed sets instead of to the other folds.")
    ] = None,
    per_camera: Annotated[
        bool, typer.Option("--per-camera", help="For --method: fit each camera by itself (NUS-8's folds always do).")
    ] = False,
    candidates: Annotated[
        Literal["labels", "pictures", "matrix", "model"] | None,
        typer.Option(
            help="From the labels of the other folds (the default); from the camera's colour matrix, with or without "
            "the pictures of the other folds; or the model's own (the default where it has learned gain and bias)."
        ),
    ] = None,
    cameras: Annotated[
        Path | None,
        typer.Option(help="JSON file of colour matrices, for --candidates matrix; default: the bundled ones."),
    ] = None,
    folds: Annotated[Literal["folds", "scene_folds"], typer.Option(help="Which split.")] = "folds",
    predictions: Annotated[Path | None, typer.Option(help="Score this CSV (name, r, g, b) instead of a model.")] = None,
    against: Annotated[
        Path | None, typer.Option(help="Compare with the estimates in this CSV, image by image.")
    ] = None,
    per_image: Annotated[Path | None, typer.Option(help="Write each image's estimate and errors to this CSV.")] = None,
    include_seen: Annotated[bool, typer.Option("--include-seen", help="Score training images too.")] = False,
    speed: Annotated[
        Literal["exact", "default", "live"], typer.Option(help="How much of a picture is looked at.")
    ] = "exact",
    grid: Annotated[
        int, typer.Option(min=8, max=64, help="Cells along each side; fewer where thumbnails are noisy.")
    ] = 64,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score a model on a packed data set.

    Images that the model was trained on are left out, or refused where there are no others, unless --include-seen.
    """
    from greycard.datasets import packed
    from greycard.errors import GreycardError
    from greycard.estimator import load
    from greycard.evaluation import read_predictions
    from greycard.statistics import paired_comparison

    dataset = packed.load(data)
    if grid != 64 and (predictions or method):
        raise GreycardError("--grid is for models: leave out --predictions and --method")
    if predictions and (model or method or include_seen or candidates or cameras or speed != "exact"):
        raise GreycardError(
            "--predictions takes the place of a model: leave out --model, --method, --candidates, --cameras, "
            "--include-seen and --speed"
        )
    if method and (model or include_seen or candidates or cameras):
        raise GreycardError(
            "--method takes the place of a model: leave out --model, --candidates, --cameras, --include-seen"
        )
    if not method and (fit_on or per_camera):
        raise GreycardError("--fit-on and --per-camera belong to --method")
    about: dict[str, Any] = {}
    if predictions:
        scores = read_predictions(predictions, dataset)
    elif method:
        scores, protocol = _run_method(dataset, method, fit_on, folds, per_camera)
        about = {"method": method, "protocol": protocol}
    else:
        estimator = load(model, speed)
        source = _source(estimator, dataset, candidates, cameras, folds)
        scores = _run_model(dataset, estimator, source, folds, include_seen, speed, grid)
    report: dict[str, Any] = scores.report() | {"left_out_as_seen": len(dataset) - len(scores.data)} | about
    if against:
        other = read_predictions(against, scores.data)
        report["comparison"] = paired_comparison(scores.angular_errors, other.angular_errors)
    if per_image:
        scores.write_csv(per_image)
    if as_json:
        print(json.dumps(report))
    else:
        print_report(report)


def _source(
    estimator: Estimator,
    dataset: Packed,
    candidates: CandidateSource | None,
    cameras: Path | None,
    folds: Literal["folds", "scene_folds"],
) -> CandidateSource | CandidateSets | None:
    """Whence the candidates come; a file of colour matrices is read here."""
    from greycard.camera import read_matrices
    from greycard.errors import GreycardError
    from greycard.evaluation import matrix_candidates

    if cameras is None:
        return candidates
    if candidates not in ("matrix", "pictures"):
        raise GreycardError("--cameras belongs to --candidates matrix or pictures")
    return matrix_candidates(estimator, dataset, folds, read_matrices(cameras), pictures=candidates == "pictures")


def _run_model(
    dataset: Packed,
    estimator: Estimator,
    candidates: CandidateSource | CandidateSets | None,
    folds: Literal["folds", "scene_folds"],
    include_seen: bool,
    speed: Speed,
    grid: int,
) -> Scores:
    from greycard.cli.terminal import bar
    from greycard.evaluation import evaluate

    with bar() as progress:
        task = progress.add_task("evaluating", total=len(dataset))
        return evaluate(
            estimator,
            dataset,
            candidates=candidates,
            folds=folds,
            include_seen=include_seen,
            speed=speed,
            grid=grid,
            progress=lambda: progress.advance(task),
        )


def _run_method(
    dataset: Packed,
    method: str,
    fit_on: list[Path] | None,
    folds: Literal["folds", "scene_folds"],
    per_camera: bool,
) -> tuple[Scores, str]:
    """Scores of a baseline, and in words to what it was fitted."""
    from greycard.baselines.crossfit import crossfit, scored_on_others
    from greycard.datasets import packed
    from greycard.errors import GreycardError

    if not fit_on:
        found = crossfit(method, dataset, folds, per_camera=per_camera)
        return found.pooled(), found.protocol
    if per_camera:
        raise GreycardError("--per-camera belongs to folds: leave it out, or --fit-on")
    scores = scored_on_others(method, dataset, packed.concatenate([packed.load(path) for path in fit_on]))
    return scores, f"fitted to {', '.join(path.name for path in fit_on)}"


def print_report(report: dict[str, Any]) -> None:
    """The statistics as a table, with what a reader must know of them below."""
    from rich.console import Console
    from rich.markup import escape

    from greycard.cli.terminal import table as new_table
    from greycard.statistics import STATISTICS

    table = new_table("", "n", *STATISTICS, title="angular error in degrees")
    rows = {**report["cameras"], "all images": report["overall"], "geometric mean": report["geometric_mean"]}
    for name, row in rows.items():
        table.add_row(escape(name), str(row.get("n", "")), *(f"{row[key]:.2f}" for key in STATISTICS))
    console = Console()
    console.print(table)
    if "method" in report:
        console.print(escape(f"{report['method']}: {report['protocol']}"))
    low, high = report["overall"]["mean_interval"]
    median_low, median_high = report["overall"]["median_interval"]
    console.print(f"95 % intervals: mean {low:.2f} to {high:.2f}, median {median_low:.2f} to {median_high:.2f}")
    reproduction = report["reproduction"]
    console.print(f"reproduction error: mean {reproduction['mean']:.2f}, median {reproduction['median']:.2f}")
    if report.get("left_out_as_seen"):
        console.print(f"[yellow]left out {report['left_out_as_seen']} images that the model was trained on[/yellow]")
    if report["seen_images_scored"]:
        console.print(
            f"[red]{report['seen_images_scored']} of these images were used to train the model: "
            "this does not measure how good it is[/red]"
        )
    if "comparison" in report:
        compared = report["comparison"]
        interval = " to ".join(f"{end:+.2f}" for end in compared["mean_interval"])
        console.print(
            f"against the other estimates: mean {compared['mean_difference']:+.2f} ({interval}), "
            f"better on {compared['better_share']:.0%} of the images"
        )
