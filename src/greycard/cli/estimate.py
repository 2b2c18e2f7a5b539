"""`greycard estimate`: the light of pictures."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from greycard.estimator import Estimate, Estimator
    from greycard.illuminant import Array

    Answer = tuple[str, Estimate | str]  # a file's name, and its estimate or why it has none

Files = Annotated[list[Path], typer.Argument(help="RAW files; linear 16-bit PNG or TIFF, NPY; or packed .npz.")]

Group = Annotated[
    str | None,
    typer.Option(help="One balance for pictures of one light: burst, folder or gap:SECONDS; split where it changes."),
]


def command(
    files: Files,
    camera: Annotated[str | None, typer.Option(help="The camera; by default what the file says.")] = None,
    model: Annotated[str | None, typer.Option(help="A model's name or file; by default the bundled one.")] = None,
    candidates: Annotated[Path | None, typer.Option(help="CSV (columns r, g, b) of candidates of your own.")] = None,
    black: Annotated[float, typer.Option(help="Stored value of no light.")] = 0.0,
    white: Annotated[
        float | None, typer.Option(help="Stored value of saturation, or inf; default 65535, for floats 1.")
    ] = None,
    assume_srgb: Annotated[bool, typer.Option("--assume-srgb", help="Undo an sRGB curve first.")] = False,
    region: Annotated[
        str | None,
        typer.Option(help="Look at this part only: left,top,right,bottom as fractions of the frame, unrotated."),
    ] = None,
    as_shot: Annotated[
        bool, typer.Option("--as-shot", help="Compare with the white that the camera chose (RAW files).")
    ] = False,
    group: Group = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; by default one for each core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Estimate the colour of the light in pictures.

    Exits with 1 if any file failed; the others are answered all the same.
    """
    from greycard.estimator import load

    load(model)  # what is wrong with a model is said once, not for every file
    given = _read_candidates(candidates) if candidates else None
    part = read_region(region) if region else None
    levels: dict[str, Any] = {"black": black, "white": white, "assume_srgb": assume_srgb, "region": part}

    def answers() -> Iterator[Answer]:
        sets = [path for path in files if path.suffix.lower() == ".npz"]
        pictures = [path for path in files if path not in sets]
        task = partial(estimate_one, model=model, camera=camera, candidates=given, **levels)
        yield from together(estimates(task, pictures, workers), group)
        for path in sets:
            yield from _packed(load(model), path, camera, given, levels)

    failed = _print_json(answers()) if as_json else _print_table(answers(), as_shot)
    if failed:
        raise typer.Exit(1)


def estimate_one(path: Path, *, model: str | None, **options: Any) -> Estimate:
    """One picture; in a process of its own where there are several, or where LibRaw decodes it."""
    return estimator(model).estimate(path, **options)


@cache
def estimator(model: str | None) -> Estimator:
    """The estimator with a model; loaded once in a process."""
    from greycard.estimator import load

    return load(model)


def estimates(task: Callable[[Path], Estimate], paths: list[Path], workers: int | None) -> Iterator[Answer]:
    """Every picture with its estimate or why there is none, in the order given."""
    from greycard.cli.terminal import bar
    from greycard.raw import SUFFIXES
    from greycard.workers import Failure, each

    if len(paths) == 1 and paths[0].suffix.lower() not in SUFFIXES:
        yield _answer(str(paths[0]), partial(task, paths[0]))
        return
    done: dict[int, Estimate | Failure] = {}
    following = 0
    with bar() as progress:
        count = progress.add_task("estimating", total=len(paths))
        for index, answer in each(task, paths, workers=workers):
            progress.advance(count)
            done[index] = answer
            while following in done:
                path, found = paths[following], done.pop(following)
                following += 1
                yield str(path), found.about(path) if isinstance(found, Failure) else found


def together(answers: Iterator[Answer], rule: str | None) -> Iterator[Answer]:
    """The same answers, with one light for those of a group, where there is a rule for groups."""
    if rule is None:
        yield from answers
        return
    from greycard import metadata, series

    series.grouped([], rule, [])  # a rule that makes no sense is told before the work
    everything = list(answers)
    good = [index for index, (_, answer) in enumerate(everything) if not isinstance(answer, str)]
    paths = [Path(everything[index][0]) for index in good]
    found: dict[int, Estimate] = {}
    for group in series.grouped(paths, rule, [metadata.read(path).taken for path in paths]):
        members = [good[place] for place in group]
        of_group = [answer for index in members if not isinstance(answer := everything[index][1], str)]
        found.update(zip(members, series.balanced_together(of_group), strict=True))
    for index, (name, answer) in enumerate(everything):
        yield name, found.get(index, answer)


def _answer(name: str, estimate: Callable[[], Estimate]) -> Answer:
    """A name with its estimate, or with the reason why there is none."""
    from greycard.errors import GreycardError

    try:
        return name, estimate()
    except GreycardError as error:
        return name, str(error)


def _packed(
    estimator: Estimator, path: Path, camera: str | None, given: list[list[float]] | None, levels: dict[str, Any]
) -> Iterator[Answer]:
    """Every picture of a packed data set."""
    from greycard.datasets import packed
    from greycard.errors import GreycardError

    if levels != {"black": 0.0, "white": None, "assume_srgb": False, "region": None}:
        yield str(path), f"{path}: --black, --white, --assume-srgb and --region do not apply to packed thumbnails"
        return
    try:
        data = packed.load(path)
    except GreycardError as error:
        yield str(path), str(error)
        return
    for image, name, own in zip(data.images, data.names, data.cameras, strict=True):
        label = f"{path}:{name}"
        options: dict[str, Any] = {"camera_of_file": str(own), "candidates": given, "name": label}
        yield _answer(label, partial(estimator.estimate_thumbnail, image, camera, **options))


def _print_json(answers: Iterator[Answer]) -> int:
    failed = 0
    for name, answer in answers:
        failed += isinstance(answer, str)
        line = {"file": name, "error": answer} if isinstance(answer, str) else answer.to_dict()
        print(json.dumps(line), flush=True)
    return failed


def _print_table(answers: Iterator[Answer], as_shot: bool) -> int:
    from rich.console import Console
    from rich.markup import escape

    from greycard.cli.terminal import table as new_table

    table = new_table("file", "light", "gains r, b", "it may have been", *(["as shot"] if as_shot else []))
    notes, failures = [], []
    for _, answer in answers:
        if isinstance(answer, str):
            failures.append(answer)
            continue
        others = [_light(other.illuminant, other.cct, f"{other.probability:.0%}") for other in answer.alternatives(3)]
        duv = "" if answer.duv is None else f", Duv {answer.duv:+.3f}"
        table.add_row(
            escape(f"{answer.name}\n{answer.camera or 'camera not named'}"),
            _light(answer.illuminant, answer.cct) + duv,
            f"{answer.gains[0]:.3f}, {answer.gains[2]:.3f}",
            "\n".join(others),
            *([_as_shot(answer)] if as_shot else []),
        )
        notes += [f"{answer.name}: {warning}" for warning in answer.warnings]
    if table.row_count:
        Console().print(table)
    for note in notes:
        print(f"warning: {note}", file=sys.stderr)
    for failure in failures:
        print(f"greycard: {failure}", file=sys.stderr)
    return len(failures)


def _light(illuminant: Array, cct: float | None, prefix: str = "") -> str:
    """A light in a few letters: its temperature, or its colour where that is not known."""
    colour = "({:.3f}, {:.3f}, {:.3f})".format(*illuminant) if cct is None else f"{cct:.0f} K"
    return f"{prefix} {colour}".strip()


def _as_shot(answer: Estimate) -> str:
    """The camera's own white as gains, and how far it is from the estimate."""
    from greycard.illuminant import angular_error, gains

    if answer.as_shot is None:
        return "not told"
    red, _, blue = gains(answer.as_shot).tolist()
    return f"{red:.3f}, {blue:.3f}\n{float(angular_error(answer.as_shot, answer.illuminant)):.1f} degrees away"


def read_region(text: str) -> tuple[float, float, float, float]:
    """Left, top, right, bottom as fractions, as --region gives them."""
    from greycard.errors import GreycardError

    try:
        left, top, right, bottom = (float(word) for word in text.split(","))
    except ValueError as error:
        raise GreycardError(f"--region: expected left,top,right,bottom as fractions, got {text!r}") from error
    return left, top, right, bottom


def _read_candidates(path: Path) -> list[list[float]]:
    import csv

    from greycard.errors import GreycardError

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [[float(row[channel]) for channel in "rgb"] for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise GreycardError(f"{path}: expected a CSV file of numbers with the columns r, g, b") from error
