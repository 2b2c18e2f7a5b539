"""`greycard compare`: how far greycard is from the white balance that a photographer chose."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greycard.cli.pictures import ModelName, Workers

if TYPE_CHECKING:
    from greycard.estimator import Estimate
    from greycard.illuminant import Array


def command(
    files: Annotated[list[Path], typer.Argument(help="RAW files with sidecars beside them.")],
    program: Annotated[
        str | None, typer.Option("--for", help="rawtherapee, darktable or adobe; by default whichever there is.")
    ] = None,
    model: ModelName = None,
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each camera a line.")] = False,
) -> None:
    """Compare estimates with the white balance in your sidecars: degrees, mired and tint, for each camera.

    A file without a sidecar, or with the camera's own balance in it, is left out. Exits with 1 if any file failed; the
    others are compared all the same.
    """
    from greycard import sidecars
    from greycard.cli.pictures import estimate_one, estimates, labels
    from greycard.errors import GreycardError

    chosen = sidecars.check(program) if program else None
    labelled, failed = labels(files, chosen, workers)
    if not labelled:
        if failed:
            raise typer.Exit(1)
        raise GreycardError(f"none of the {len(files)} files has a sidecar with a white balance of your own")
    rows: dict[str, list[dict[str, float]]] = {}
    answers = estimates(partial(estimate_one, model=model), list(labelled), workers)
    for (_, answer), label in zip(answers, labelled.values(), strict=True):
        if isinstance(answer, str):
            failed += 1
            print(f"greycard: {answer}", file=sys.stderr)
        else:
            rows.setdefault(label.camera, []).append(_difference(answer, label.light))
    _print(rows, as_json)
    if failed:
        raise typer.Exit(1)


def _difference(estimate: Estimate, light: Array) -> dict[str, float]:
    """Degrees between a light and its estimate; and where both have a temperature, mired and tint from the light on."""
    from greycard.illuminant import angular_error
    from greycard.sidecars.adobe import TINTS_PER_DUV

    found = {"degrees": float(angular_error(estimate.illuminant, light))}
    theirs = estimate.matrices.temperatures([light])[0] if estimate.matrices else None
    if theirs is not None and estimate.cct is not None and estimate.duv is not None:
        found["mired"] = 1e6 / estimate.cct - 1e6 / theirs.cct
        found["tint"] = (estimate.duv - theirs.duv) * TINTS_PER_DUV
    return found


def _print(rows: dict[str, list[dict[str, float]]], as_json: bool) -> None:
    from rich.console import Console
    from rich.markup import escape

    from greycard.cli.terminal import table as new_table

    table = new_table("camera", "pictures", "degrees, mean", "median", "mired", "tint")
    for camera, values in sorted(rows.items()):
        line = {"camera": camera, "n": len(values), **_summary(values)}
        if as_json:
            print(json.dumps(line), flush=True)
        else:
            columns = ("n", "mean_degrees", "median_degrees", "mean_mired", "mean_tint")
            table.add_row(escape(camera), *("" if line[key] is None else f"{line[key]:g}" for key in columns))
    if not as_json:
        Console().print(table)


def _summary(values: list[dict[str, float]]) -> dict[str, Any]:
    """Means of the differences. Signs: positive where greycard takes the light for warmer, or for greener."""
    import numpy as np

    degrees = [one["degrees"] for one in values]
    found: dict[str, Any] = {
        "mean_degrees": round(float(np.mean(degrees)), 2),
        "median_degrees": round(float(np.median(degrees)), 2),
    }
    for key, digits in (("mired", 0), ("tint", 0)):
        known = [one[key] for one in values if key in one]
        found[f"mean_{key}"] = round(float(np.mean(known)), digits) if known else None
    return found
