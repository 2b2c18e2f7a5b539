"""What the commands about pictures share: options, and the estimates of many files on all cores and by groups."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from greycard.baselines.estimator import BaselineEstimator
    from greycard.coarse_to_fine import Speed
    from greycard.estimator import Estimate, Estimator
    from greycard.sidecars import Label, Program

    Answer = tuple[str, Estimate | str]  # a file's name, and its estimate or why it has none

Camera = Annotated[str | None, typer.Option(help="The camera; by default what the file says.")]
ModelName = Annotated[str | None, typer.Option(help="A model's name or file; by default the bundled one.")]
Region = Annotated[
    str | None,
    typer.Option(help="Look at this part only: left,top,right,bottom as fractions of the frame, unrotated."),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; by default one for each core.")]
Group = Annotated[
    str | None,
    typer.Option(help="One balance for pictures of one light: burst, folder or gap:SECONDS; split where it changes."),
]


def estimate_one(
    path: Path,
    *,
    model: str | None,
    baseline: BaselineEstimator | None = None,
    speed: Speed = "default",
    cameras: tuple[Path, ...] = (),
    dump: dict[str, Any] | None = None,
    **options: Any,
) -> Estimate:
    """One picture; in a process of its own where there are several, or where LibRaw decodes it."""
    estimator = baseline or loaded(model, speed, cameras)
    if dump is None:
        return estimator.estimate(path, **options)
    from greycard.errors import GreycardError
    from greycard.raw import from_dump

    if options.pop("assume_srgb"):
        raise GreycardError("--assume-srgb: a sensor dump is linear")
    picture = from_dump(path, black=options.pop("black"), white=options.pop("white"), **dump)
    return estimator.estimate_photo(picture, **options)


@cache
def loaded(model: str | None, speed: Speed = "default", cameras: tuple[Path, ...] = ()) -> Estimator:
    """The estimator with a model, a speed and camera files; loaded once in a process."""
    from greycard.estimator import load

    return load(model, speed, camera_files=cameras)


def estimates(task: Callable[[Path], Estimate], paths: list[Path], workers: int | None) -> Iterator[Answer]:
    """Every picture with its estimate or why there is none, in the order given."""
    from greycard.cli.terminal import bar
    from greycard.raw import SUFFIXES
    from greycard.workers import Failure, in_order

    if len(paths) == 1 and paths[0].suffix.lower() not in SUFFIXES:
        yield answered(str(paths[0]), partial(task, paths[0]))
        return
    with bar() as progress:
        count = progress.add_task("estimating", total=len(paths))
        found = in_order(task, paths, workers=workers, progress=partial(progress.advance, count))
        for path, answer in zip(paths, found, strict=True):
            yield str(path), answer.about(path) if isinstance(answer, Failure) else answer


def labels(pictures: list[Path], program: Program | None, workers: int | None) -> tuple[dict[Path, Label], int]:
    """The RAW files with a white balance that somebody chose, in the order given; how many files could not be read.

    Those are told, a line each.
    """
    from greycard import sidecars
    from greycard.cli.terminal import bar
    from greycard.workers import Failure, each

    found: dict[int, Label] = {}
    failed = 0
    with bar() as progress:
        count = progress.add_task("reading", total=len(pictures))
        for index, answer in each(partial(sidecars.label, program=program), pictures, workers=workers):
            progress.advance(count)
            if isinstance(answer, Failure):
                failed += 1
                print(f"greycard: {answer.about(pictures[index])}", file=sys.stderr)
            elif answer is not None:
                found[index] = answer
    return {pictures[index]: found[index] for index in sorted(found)}, failed


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


def answered(name: str, estimate: Callable[[], Estimate]) -> Answer:
    """A name with its estimate, or with the reason why there is none."""
    from greycard.errors import GreycardError

    try:
        return name, estimate()
    except GreycardError as error:
        return name, str(error)


def read_region(text: str) -> tuple[float, float, float, float]:
    """Left, top, right, bottom as fractions, as --region gives them."""
    from greycard.errors import GreycardError

    try:
        left, top, right, bottom = (float(word) for word in text.split(","))
    except ValueError as error:
        raise GreycardError(f"--region: expected left,top,right,bottom as fractions, got {text!r}") from error
    return left, top, right, bottom
