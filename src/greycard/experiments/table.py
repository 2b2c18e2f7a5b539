"""A table of results: published figures beside measured ones, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

PUBLISHED = ("mean", "median", "trimean", "best25", "worst25")
"""The five statistics of the paper's tables."""


def published(mean: float, median: float, trimean: float, best25: float, worst25: float) -> dict[str, float]:
    """A row of a published table."""
    return dict(zip(PUBLISHED, (mean, median, trimean, best25, worst25), strict=True))


@dataclass(frozen=True)
class Row:
    """One line: what was measured, averaged over seeds, beside what was published.

    spread: smallest and largest value over the seeds. seconds: of all its runs together.
    """

    name: str
    trained_on: str
    published: Mapping[str, float]
    measured: Mapping[str, float]
    spread: Mapping[str, Sequence[float]] = field(default_factory=dict)
    seeds: int = 1
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the paper, run again.

    name: "table-1"; caption: protocol and what differs from the paper's; columns: the keys that rows are about.
    """

    name: str
    caption: str
    rows: Sequence[Row]
    columns: Sequence[str] = PUBLISHED
    unit: str = "degrees"

    def to_dict(self) -> dict[str, Any]:
        """What `greycard reproduce --json` prints."""
        return {
            "table": self.name,
            "caption": self.caption,
            "unit": self.unit,
            "rows": [asdict(row) for row in self.rows],
        }

    def to_markdown(self) -> str:
        """The table for people: measured values, their spread in brackets, and the published line below each."""
        lines = [
            f"**{self.name.replace('-', ' ').capitalize()}.** {self.caption}",
            "",
            f"| {self.unit} | trained on | {' | '.join(self.columns)} |",
            f"|---|---|{'---|' * len(self.columns)}",
        ]
        for row in self.rows:
            name = f"{row.name} ({row.note})" if row.note else row.name
            seeds = f", {row.seeds} seeds" if row.seeds > 1 else ""
            lines.append(f"| {name}{seeds} | {row.trained_on} | {' | '.join(self._cells(row))} |")
            if row.published:
                cells = " | ".join(_number(row.published.get(column)) for column in self.columns)
                lines.append(f"| — as published | | {cells} |")
        return "\n".join(lines) + "\n"

    def _cells(self, row: Row) -> list[str]:
        cells = []
        for column in self.columns:
            text = _number(row.measured.get(column))
            low, high = row.spread.get(column, (0.0, 0.0))
            cells.append(f"{text} ({_number(low)} to {_number(high)})" if row.seeds > 1 and text else text)
        return cells


def figures_over_seeds(summaries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The `measured`, `spread` and `seeds` of a row, from the statistics of one run for each seed."""
    keys = [key for key, value in summaries[0].items() if isinstance(value, float)]
    return {
        "measured": {key: float(np.mean([summary[key] for summary in summaries])) for key in keys},
        "spread": {key: [float(min(s[key] for s in summaries)), float(max(s[key] for s in summaries))] for key in keys},
        "seeds": len(summaries),
    }


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
