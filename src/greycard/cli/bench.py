"""`greycard bench`: how fast an estimate is on this machine, and what its speed costs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer


def command(
    data: Annotated[
        list[Path] | None, typer.Argument(help="Packed data sets (.npz) to measure accuracy on; else times only.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A model's name or file; for accuracy one that has not seen the data.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often each method is timed.")] = 21,
    images: Annotated[int, typer.Option(min=2, help="Images of each data set for the accuracy.")] = 60,
    out: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file as well.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw them to this PNG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time greycard beside other evaluations of the same network, on one thread, in turn."""
    from greycard import bench
    from greycard.datasets import packed
    from greycard.model_file import load
    from greycard.output import write_whole

    sets = [packed.load(path) for path in data or []]
    thumbnails = list(sets[0].images[::50]) if sets else bench.made_up_thumbnails()
    figures = bench.measure(
        load(model),
        thumbnails,
        sets,
        repeats=repeats,
        images=images,
        say=lambda part: print(f"measuring {part}", file=sys.stderr, flush=True),
    )
    if out:
        write_whole(out, json.dumps(figures, indent=1) + "\n")
    if plot:
        from greycard import plot as plots

        plots.save(bench.plot(figures), plot)
    if as_json:
        print(json.dumps(figures))
    else:
        _print_table(figures)


def _print_table(figures: dict[str, Any]) -> None:
    from rich.console import Console

    from greycard.cli.terminal import table as new_table

    console, latency = Console(), figures["latency_ms"]
    literal = latency.get("literal")
    table = new_table("method", "ms", "times faster than literal", title="one thumbnail, 120 candidates, one thread")
    for name, milliseconds in sorted(latency.items(), key=lambda item: item[1]):
        table.add_row(name, f"{milliseconds:.2f}", f"{literal / milliseconds:.0f}" if literal else "")
    console.print(table)
    for title, key in (("candidates", "latency_ms_by_candidates"), ("cells in the last step", "latency_ms_by_cells")):
        console.print(f"ms by {title}: " + ", ".join(f"{count}: {value:.2f}" for count, value in figures[key].items()))
    rates = figures["throughput"]
    console.print(
        f"pictures a second: {rates['one_process']:.0f} by one process, {rates['all_cores']:.0f} by {rates['cores']}"
    )
    for dataset, found in figures.get("accuracy_by_dataset", {}).items():
        console.print(f"{dataset}, {found['images']} images: exact {_pair(found['exact'])} degrees (mean, median)")
        if found["seen"]:
            console.print("[red]the model was trained on them: only the deviation from exact means something[/red]")
        for name, cost in found["cost"].items():
            apart = found["deviation"].get(name)
            console.print(
                f"  {name}: {cost['mean']:+.3f}, {cost['median']:+.3f}"
                + (f"; from exact {apart['mean']:.3f} on average, {apart['max']:.2f} at most" if apart else "")
            )
    for one in figures.get("trade_off", []):
        console.print(
            f"last step {one['candidates']} x {one['cells']} cells: {one['ms']:.2f} ms, "
            f"{one['from_exact']:.3f} degrees from exact on average"
        )
    for note in figures["notes"]:
        console.print(f"note: {note}")


def _pair(numbers: dict[str, float]) -> str:
    return f"{numbers['mean']:.2f}, {numbers['median']:.2f}"
