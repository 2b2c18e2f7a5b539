"""`greycard doctor`: what a file is, what greycard will do with it, and how far to trust that."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from greycard.cli.pictures import ModelName

if TYPE_CHECKING:
    from greycard.estimator import Estimate
    from greycard.photo import Photo


def command(
    files: Annotated[list[Path], typer.Argument(help="RAW files, or linear pictures.")],
    model: ModelName = None,
) -> None:
    """Examine files before they are estimated. Exits with 1 if any cannot be used."""
    import sys

    from greycard.workers import Failure, each

    failed = 0
    for index, found in sorted(each(partial(_examine, model=model), files), key=lambda pair: pair[0]):
        if isinstance(found, Failure):
            failed += 1
            print(f"greycard: {found.about(files[index])}", file=sys.stderr)
        else:
            print("\n".join([str(files[index]), *(f"  {label:<12}{text}" for label, text in found)]))
    if failed:
        raise typer.Exit(1)


def _examine(path: Path, *, model: str | None) -> list[tuple[str, str]]:
    """The lines about one file, each a label and a text; done in a process of its own."""
    from greycard import photo
    from greycard.cli.pictures import loaded

    picture = photo.read(path)
    return [*_file(picture), *_answer(loaded(model).estimate_photo(picture))]


def _file(picture: Photo) -> list[tuple[str, str]]:
    """What the file is: camera, size, levels, clipping, shading, colours."""
    import numpy as np

    from greycard.mosaic import Mosaic
    from greycard.thumbnail import SATURATION

    height, width = picture.shape
    above = picture.pixels.astype(np.float32) - picture.black
    clipped = np.any(above >= SATURATION * (picture.white - picture.black), axis=-1)
    if isinstance(picture.stored, Mosaic):
        clipped |= picture.stored.clipped
    levels = " ".join(f"{level:g}" for level in picture.white - picture.black)
    lines = [
        ("camera", picture.camera or "not named"),
        ("planes", f"{width} x {height}, red, green and blue; linear"),
        ("range", f"{levels} above black"),
        ("clipped", f"{clipped.mean():.1%} of the pixels, left out"),
    ]
    if picture.shading is not None:
        lines.append(("shading", f"lens-shading gains up to {picture.shading.max():.2f}, applied"))
    lines.append(("colours", _colours(picture)))
    if picture.balanced:
        lines.append(("balance", "the values were balanced before they were stored; the matrix allows for that"))
    return lines


def _colours(picture: Photo) -> str:
    if picture.matrices is None:
        return "no colour matrix"
    if not picture.matrices.calibrated_at:
        return "one colour matrix"
    first, second = picture.matrices.calibrated_at
    return f"two colour matrices, for {first:.0f} K and {second:.0f} K"


def _answer(estimate: Estimate) -> list[tuple[str, str]]:
    """What greycard makes of it."""
    from greycard.illuminant import angular_error

    light = "no temperature" if estimate.cct is None else f"{estimate.cct:.0f} K, Duv {estimate.duv:+.3f}"
    lines = [
        ("candidates", f"{len(estimate.candidates)}, {estimate.candidates_from}"),
        ("estimate", f"{light}; gains r {estimate.gains[0]:.3f}, b {estimate.gains[2]:.3f}"),
    ]
    if estimate.as_shot is not None:
        apart = float(angular_error(estimate.as_shot, estimate.illuminant))
        lines.append(("as shot", f"{apart:.1f} degrees from the estimate"))
    return lines + [("warning", warning) for warning in estimate.warnings]
