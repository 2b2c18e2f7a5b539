"""`greycard sidecar`: the white balance where a raw converter reads it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greycard.cli.pictures import Camera, Group, ModelName, Region, Workers

if TYPE_CHECKING:
    from greycard.estimator import Estimate
    from greycard.sidecars import Program

_APPROXIMATE = "the temperature is approximate: the file has no colour matrices of its own (and untested in Lightroom)"


def command(
    files: Annotated[list[Path], typer.Argument(help="RAW files. They are only read; the sidecars lie beside them.")],
    program: Annotated[str, typer.Option("--for", help="rawtherapee, darktable, or adobe.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a white balance that a sidecar has already.")
    ] = False,
    camera: Camera = None,
    model: ModelName = None,
    region: Region = None,
    group: Group = None,
    workers: Workers = None,
) -> None:
    """Write sidecars with the white balance that greycard finds.

    Everything else in a sidecar that is there already is kept. Exits with 1 if any file failed.
    """
    from greycard import sidecars
    from greycard.cli.pictures import estimates, read_region, together
    from greycard.estimator import load

    chosen = sidecars.check(program)
    load(model)  # what is wrong with a model is said once, not for every file
    task = partial(_estimate, model=model, camera=camera, region=read_region(region) if region else None)
    failed = 0
    for name, answer in together(estimates(task, files, workers), group):
        line = answer if isinstance(answer, str) else _write(Path(name), chosen, answer, overwrite)
        if line is not None:
            failed += 1
            print(f"greycard: {line}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _estimate(path: Path, *, model: str | None, **options: Any) -> Estimate:
    """The light of a RAW file, in a process of its own."""
    from greycard.cli.pictures import loaded
    from greycard.errors import GreycardError
    from greycard.raw import SUFFIXES

    if path.suffix.lower() not in SUFFIXES:
        raise GreycardError(f"{path}: is no RAW file; raw converters read sidecars of those only")
    return loaded(model).estimate(path, **options)


def _write(path: Path, program: Program, estimate: Estimate, overwrite: bool) -> str | None:
    """Write a sidecar and tell its path, or why it cannot be."""
    from greycard import camera, sidecars
    from greycard.errors import GreycardError

    known = camera.colour_matrices(estimate.camera) if estimate.camera else None
    balance = sidecars.Balance(estimate.illuminant, estimate.matrices or known)
    try:
        print(sidecars.write(path, program, balance, overwrite=overwrite), flush=True)
    except GreycardError as error:
        return str(error)
    if program == "adobe" and (estimate.matrices is None or path.suffix.lower() != ".dng"):
        print(f"warning: {path}: {_APPROXIMATE}", file=sys.stderr)
    return None
