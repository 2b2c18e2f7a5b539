"""`greycard pack`: a public data set, or your own pictures, to one file of thumbnails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

Kind = Literal["gehler-shi", "nus-8", "cube-plus", "cube-challenge", "cube-plus-plus", "intel-tau", "pictures"]


def command(
    kind: Annotated[
        Kind, typer.Argument(help="Which data set; `pictures`: your own, with a table labels.csv (docs/data-sets.md).")
    ],
    folder: Annotated[Path, typer.Argument(help="The folder in which it lies as its authors lay it out.")],
    out: Annotated[Path, typer.Option(help="The packed file to write (.npz); its name becomes the data set's.")],
    labels: Annotated[
        Literal["sfu", "rec"], typer.Option(help="Gehler-Shi only: whose labels (rec: Hemrit et al. 2018).")
    ] = "sfu",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; by default one for each core.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the packed file if it exists.")] = False,
) -> None:
    """Pack a data set. Interrupted, it goes on where it was; what cannot be packed is named, and the exit code is 1."""
    from greycard.cli.terminal import bar
    from greycard.datasets import listings
    from greycard.datasets.pack import pack
    from greycard.errors import GreycardError

    if out.suffix != ".npz":
        raise GreycardError(f"{out}: a packed data set ends in .npz")
    if out.exists() and not overwrite:
        raise GreycardError(f"{out}: exists already; choose another name or --overwrite")
    if kind != "gehler-shi" and labels != "sfu":
        raise GreycardError("--labels belongs to gehler-shi, the only data set with two sets of labels")
    listing = listings.of(kind, folder, **({"labels": labels} if kind == "gehler-shi" else {}))
    _tell(listing.problems)
    with bar() as progress:
        task = progress.add_task("packing", total=len(listing.pictures))
        report = pack(listing.pictures, out, workers=workers, progress=lambda: progress.advance(task))
    _tell(report.failures)
    left_out = len(listing.problems) + len(report.failures)
    print(f"{out}: {report.packed} pictures packed, {left_out} left out" if report.packed else "nothing packed")
    if left_out:
        raise typer.Exit(1)


def _tell(problems: list[str]) -> None:
    for problem in problems:
        print(f"greycard: {problem}", file=sys.stderr)
