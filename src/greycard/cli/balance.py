"""`greycard balance`: pictures in which white is white."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greycard.cli.pictures import Camera, Group, ModelName, Region, Workers

if TYPE_CHECKING:
    from greycard.illuminant import Array
    from greycard.picture_file import Format


@dataclass(frozen=True)
class _Job:
    """A picture to render: where it goes, and its light where that is known already."""

    path: Path
    target: Path
    light: Array | None = None
    warnings: Sequence[str] = ()


def command(
    files: Annotated[list[Path], typer.Argument(help="RAW files; linear 16-bit PNG or TIFF, or NPY.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("balanced"),
    kind: Annotated[str, typer.Option("--format", help="jpeg, png, or tiff (16 bits).")] = "jpeg",
    warmth: Annotated[
        float, typer.Option(min=0, max=1, help="How much of the light's colour stays: 0 none, 1 as in daylight film.")
    ] = 0.0,
    sheet: Annotated[
        bool, typer.Option("--sheet", help="Also NAME-sheet.jpg: before and after, side by side.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace pictures that are there already.")] = False,
    camera: Camera = None,
    model: ModelName = None,
    black: Annotated[float, typer.Option(help="Stored value of no light (not for RAW files).")] = 0.0,
    white: Annotated[float | None, typer.Option(help="Stored value of saturation (not for RAW files).")] = None,
    region: Region = None,
    group: Group = None,
    workers: Workers = None,
) -> None:
    """Render pictures with the white balance that greycard finds.

    Exits with 1 if any file failed; the others are rendered all the same. The originals are only read.
    """
    from greycard.cli.pictures import estimate_one, estimates, read_region, together
    from greycard.cli.terminal import bar
    from greycard.errors import GreycardError
    from greycard.estimator import load
    from greycard.picture_file import SUFFIXES
    from greycard.workers import Failure, each

    if kind not in SUFFIXES:
        raise GreycardError(f"--format: expected {', '.join(SUFFIXES)}, got {kind!r}")
    load(model)  # what is wrong with a model is said once, not for every file
    levels: dict[str, Any] = {"black": black, "white": white}
    part = read_region(region) if region else None
    lights: dict[str, tuple[Array, list[str]]] = {}
    if group is not None:
        single = partial(estimate_one, model=model, camera=camera, region=part, **levels)
        answers = together(estimates(single, files, workers), group)
        lights = {
            name: (answer.illuminant, list(answer.warnings)) for name, answer in answers if not isinstance(answer, str)
        }
    targets = _targets(files, out, SUFFIXES[kind], sheet)
    jobs = [_Job(path, target, *lights.get(str(path), (None, []))) for path, target in zip(files, targets, strict=True)]
    task = partial(
        _balance,
        kind=kind,
        warmth=warmth,
        sheet=sheet,
        overwrite=overwrite,
        camera=camera,
        model=model,
        levels=levels,
        region=part,
    )
    failed = 0
    with bar() as progress:
        count = progress.add_task("balancing", total=len(jobs))
        for index, answer in each(task, jobs, workers=workers):
            progress.advance(count)
            if isinstance(answer, Failure):
                failed += 1
                print(f"greycard: {answer.about(files[index])}", file=sys.stderr)
            else:
                print(jobs[index].target, flush=True)
                for warning in answer:
                    print(f"warning: {files[index]}: {warning}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _sheet_of(target: Path) -> Path:
    return target.with_name(f"{target.stem}-sheet.jpg")


def _targets(files: list[Path], out: Path, suffix: str, sheet: bool) -> list[Path]:
    """Where each picture goes: its name with another ending; where two would meet, with its own ending as well."""
    from greycard.errors import GreycardError

    stems = Counter(path.stem.lower() for path in files)
    targets = [out / f"{path.stem if stems[path.stem.lower()] == 1 else path.name}{suffix}" for path in files]
    originals = {path.resolve() for path in files}
    written = [*targets, *(_sheet_of(target) for target in targets if sheet)]
    for target, count in Counter(written).items():
        if count > 1:
            raise GreycardError(f"{target}: {count} pictures would go there; give those of each folder another --out")
        if target.resolve() in originals:
            raise GreycardError(f"{target}: is an original, and those are never written to; use another --out")
    return targets


def _balance(
    job: _Job,
    *,
    kind: Format,
    warmth: float,
    sheet: bool,
    overwrite: bool,
    camera: str | None,
    model: str | None,
    levels: dict[str, Any],
    region: tuple[float, float, float, float] | None,
) -> list[str]:
    """Render one picture, and tell what a user should know of it; done in a process of its own."""
    from greycard import metadata, photo, picture_file, render
    from greycard.cli.pictures import loaded
    from greycard.errors import GreycardError

    for target in (job.target, _sheet_of(job.target)) if sheet else (job.target,):
        if target.exists() and not overwrite:
            raise GreycardError(f"{target}: is there already; use --overwrite to replace it, or another --out")
    picture = photo.read(job.path, **levels)
    warnings = list(job.warnings)
    light = job.light
    if light is None:
        estimate = loaded(model).estimate_photo(picture, camera, region=region)
        light, warnings = estimate.illuminant, list(estimate.warnings)
    scene = render.Scene.of(picture, camera, light)
    if scene.to_srgb is None:
        warnings.append("its camera's colour matrix is not known: its colours are shown as the sensor has them")
    about = metadata.read(job.path)
    chosen = scene.kept_warm(warmth)
    rendered = render.full_size(job.path, picture, chosen, scene.to_srgb, bits=16 if kind == "tiff" else 8)
    picture_file.write(job.target, render.turned(rendered, about.flip), kind, about)
    if sheet:
        before, after = (
            render.turned(render.from_photo(picture, one, scene.to_srgb), about.flip) for one in (scene.before, chosen)
        )
        both = render.side_by_side(before, after)
        picture_file.write(_sheet_of(job.target), both, "jpeg", about)
    return warnings
