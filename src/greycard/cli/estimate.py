"""`greycard estimate`: the light of pictures."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from greycard.cli.pictures import (
    Camera,
    Group,
    ModelName,
    Region,
    Workers,
    answered,
    estimate_one,
    estimates,
    loaded,
    read_region,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from greycard.baselines.estimator import BaselineEstimator
    from greycard.candidates import CandidateSet
    from greycard.cli.pictures import Answer
    from greycard.estimator import Estimate, Estimator
    from greycard.illuminant import Array

Files = Annotated[list[Path], typer.Argument(help="RAW files; linear 16-bit PNG or TIFF, NPY; or packed .npz.")]


def command(
    files: Files,
    camera: Camera = None,
    model: ModelName = None,
    method: Annotated[
        str | None, typer.Option(help="Use this baseline instead of a model; or module:Class of your own.")
    ] = None,
    fit_on: Annotated[
        list[Path] | None, typer.Option(help="For --method: fit it to these packed data sets (.npz) first.")
    ] = None,
    candidates: Annotated[
        Path | None, typer.Option(help="Candidates of your own for all files: CSV (columns r, g, b) or a camera file.")
    ] = None,
    cameras: Annotated[
        list[Path] | None,
        typer.Option(help="Camera files, or folders of them, for the pictures of these cameras; may be repeated."),
    ] = None,
    black: Annotated[float, typer.Option(help="Stored value of no light.")] = 0.0,
    white: Annotated[
        float | None, typer.Option(help="Stored value of saturation, or inf; default 65535, for floats 1.")
    ] = None,
    assume_srgb: Annotated[bool, typer.Option("--assume-srgb", help="Undo an sRGB curve first.")] = False,
    region: Region = None,
    as_shot: Annotated[
        bool, typer.Option("--as-shot", help="Compare with the white that the camera chose (RAW files).")
    ] = False,
    gain_map: Annotated[
        Path | None, typer.Option(help="NPY file of gains (h, w) or (h, w, 3) that undo the lens's shading.")
    ] = None,
    dump: Annotated[
        str | None,
        typer.Option(help="The files are bare sensor dumps: WIDTHxHEIGHT:PATTERN:BITS, such as 4000x3000:RGGB:12."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a .csv or .jsonl report instead; what it holds already is skipped."),
    ] = None,
    speed: Annotated[
        Literal["exact", "default", "live"], typer.Option(help="How much of a picture is looked at.")
    ] = "default",
    group: Group = None,
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Estimate the colour of the light in pictures.

    Exits with 1 if any file failed; the others are answered all the same.
    """
    from greycard import __version__
    from greycard.errors import GreycardError
    from greycard.estimator import load

    if method and (model or candidates or cameras or group):
        raise GreycardError(
            "--method takes the place of a model: leave out --model, --candidates, --cameras and --group"
        )
    if fit_on and not method:
        raise GreycardError("--fit-on belongs to --method")
    files_of_cameras = tuple(cameras or ())
    baseline = _baseline(method, fit_on) if method else None
    # What is wrong with these is said once, not for every file.
    estimator = baseline or load(model, speed, camera_files=files_of_cameras)
    given = _read_candidates(candidates) if candidates else None
    reading: dict[str, Any] = {
        "black": black,
        "white": white,
        "assume_srgb": assume_srgb,
        "region": read_region(region) if region else None,
        "dump": _read_dump(dump) if dump else None,
        "shading": _read_gain_map(gain_map) if gain_map else None,
    }
    with_what: dict[str, Any] = {"baseline": baseline, "model": model, "speed": speed, "cameras": files_of_cameras}
    own: dict[str, Any] = {} if given is None else {"candidates": given}
    task = partial(estimate_one, **with_what, camera=camera, **own, **reading)

    def answers(wanted: list[Path]) -> Iterator[Answer]:
        sets = [path for path in wanted if path.suffix.lower() == ".npz"]
        pictures = [path for path in wanted if path not in sets]
        yield from together(estimates(task, pictures, workers), group)
        for path in sets:
            yield from _packed(estimator, path, camera, own, reading)

    if report:
        if group:
            raise GreycardError("--group needs all pictures at once, a report goes on where it was: leave out one")
        used = [*files_of_cameras, *(path for path in (candidates, gain_map, *(fit_on or ())) if path)]
        by_what = [__version__, method, None if baseline else loaded(model).model.results]
        options = [camera, speed, black, white, assume_srgb, region, dump]
        failed = _write_report(report, [*by_what, *options, *map(_content, used)], files, answers)
    else:
        failed = _print_json(answers(files)) if as_json else _print_table(answers(files), as_shot)
    if failed:
        raise typer.Exit(1)


def _baseline(method: str, fit_on: list[Path] | None) -> BaselineEstimator:
    """A baseline, fitted where there is something to fit it to."""
    from greycard.baselines.estimator import BaselineEstimator
    from greycard.baselines.method import find
    from greycard.datasets import packed

    found = find(method)
    if fit_on:
        training = packed.concatenate([packed.load(path) for path in fit_on])
        found.fit(training.images, training.illuminants)
    return BaselineEstimator(found, method)


def _packed(
    estimator: Estimator | BaselineEstimator,
    path: Path,
    camera: str | None,
    own: dict[str, Any],
    reading: dict[str, Any],
) -> Iterator[Answer]:
    """Every picture of a packed data set."""
    from greycard.datasets import packed
    from greycard.errors import GreycardError

    if reading["shading"] is not None or any(value for key, value in reading.items() if key != "shading"):
        yield str(path), f"{path}: is packed already; leave out what says how to read pictures, such as --black"
        return
    try:
        data = packed.load(path)
    except GreycardError as error:
        yield str(path), str(error)
        return
    for image, name, named in zip(data.images, data.names, data.cameras, strict=True):
        label = f"{path}:{name}"
        options: dict[str, Any] = {"camera_of_file": str(named), "name": label, **own}
        yield answered(label, partial(estimator.estimate_thumbnail, image, camera, **options))


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


def _read_dump(text: str) -> dict[str, Any]:
    from greycard.errors import GreycardError

    try:
        size, pattern, bits = text.split(":")
        width, height = (int(side) for side in size.lower().split("x"))
        return {"width": width, "height": height, "pattern": pattern, "bits": int(bits)}
    except ValueError as error:
        raise GreycardError(f"--dump: expected WIDTHxHEIGHT:PATTERN:BITS, got {text!r}") from error


def _read_gain_map(path: Path) -> Array:
    import numpy as np

    from greycard.errors import GreycardError

    try:
        return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    except (OSError, EOFError, ValueError) as error:
        raise GreycardError(f"{path}: expected an NPY file of gains (h, w) or (h, w, 3) ({error})") from error


def _read_candidates(path: Path) -> CandidateSet:
    """Candidates out of a camera file, or out of a table of lights."""
    import numpy as np

    from greycard import camera_file
    from greycard.candidates import CandidateSet

    if path.suffix.lower() == ".json":
        return camera_file.read(path).candidates
    return CandidateSet(np.concatenate(list(camera_file.read_lights(path).values())))


def _content(path: Path) -> str:
    """A digest of a file, or of the files in a folder: other content makes other estimates."""
    import hashlib

    parts = sorted(path.glob("*.json")) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()


def _write_report(
    path: Path, settings: list[Any], files: list[Path], answers: Callable[[list[Path]], Iterator[Answer]]
) -> int:
    """Add what a report does not hold yet; a summary and the failures are printed."""
    from greycard.report import Report

    counts = {"estimated": 0, "failed": 0}
    with Report(path, settings) as report:
        left = [file for file in files if str(file) not in report.done]
        for name, answer in answers(left):
            if name in report.done:  # a picture of a packed data set
                continue
            if isinstance(answer, str):
                counts["failed"] += 1
                print(f"greycard: {answer}", file=sys.stderr)
            else:
                counts["estimated"] += 1
            report.add({"file": name, "error": answer} if isinstance(answer, str) else answer.to_dict())
    print(f"{path}: {counts['estimated']} estimated, {counts['failed']} failed, {len(files) - len(left)} skipped")
    return counts["failed"]
