"""`greycard reproduce`: a table of the paper, run again, beside the published one."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

TABLES = tuple(f"table-{number}" for number in range(1, 13))


def command(
    table: Annotated[
        str,
        typer.Argument(
            help="table-1 to table-12, `rivals` for all baselines, or `galleries` for pictures sorted by error."
        ),
    ],
    data: Annotated[
        Path, typer.Option(envvar="GREYCARD_DATA", help="Folder with gehler_shi.npz, nus8.npz, cube_plus.npz.")
    ] = Path(),
    out: Annotated[Path, typer.Option(help="Folder for models and estimates; what is there is not done again.")] = Path(
        "runs"
    ),
    results: Annotated[
        Path | None, typer.Option(help="Folder for the table as Markdown and JSON; by default --out.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from 0 on.")] = 1,
    method: Annotated[
        list[str] | None, typer.Option(help="For rivals: run this method only; may be given several times.")
    ] = None,
    protocol: Annotated[
        list[str] | None, typer.Option(help="For rivals: run this protocol only, such as gehler-shi; or several.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a table of the paper again. Interrupted, it goes on where it was when started again."""
    from greycard.cli.train import require_torch
    from greycard.errors import GreycardError
    from greycard.output import write_whole

    if table not in (*TABLES, "rivals", "galleries"):
        raise GreycardError(f"{table!r} is not known; expected one of {', '.join(TABLES)}, rivals, galleries")
    if (method or protocol) and table != "rivals":
        raise GreycardError("--method and --protocol belong to rivals")
    require_torch()

    from greycard.experiments.lab import Lab

    lab = Lab(data, out, seeds, say=lambda line: print(line, file=sys.stderr, flush=True))
    if table == "galleries":
        from greycard.experiments import galleries

        for path in galleries.run(lab):
            print(path)
        return
    folder = results or out
    if table == "rivals":
        from greycard import plot
        from greycard.experiments import rivals

        found: Any = rivals.run(lab, method, protocol)
        plot.save(found.plot(), folder / "rivals.png")
    else:
        found = importlib.import_module(f"greycard.experiments.{table.replace('-', '_')}").run(lab)
    write_whole(folder / f"{table}.json", json.dumps(found.to_dict(), indent=1) + "\n")
    write_whole(folder / f"{table}.md", found.to_markdown())
    print(json.dumps(found.to_dict()) if as_json else found.to_markdown(), end="" if not as_json else "\n")
