"""What the commands show on a terminal: progress bars and tables that fit 80 columns."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table


def bar() -> Progress:
    """A bar with a label, a count and the time left, on standard error; none where nobody watches."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        # Results go to standard output: redirected, rich would print them on standard error beside the bar.
        redirect_stdout=False,
        redirect_stderr=False,
    )


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table with these column heads."""
    heads = [Column(column, overflow="fold", no_wrap=not column) for column in columns]
    return Table(*heads, title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title_justify="left")
