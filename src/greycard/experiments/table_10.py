"""Table 10: three ways to choose candidates."""

from __future__ import annotations

from dataclasses import replace

from greycard.candidates import Strategy
from greycard.experiments import table_4
from greycard.experiments.lab import Lab
from greycard.experiments.table import Table, published

PUBLISHED: dict[Strategy, dict[str, float]] = {
    "uniform": published(2.11, 1.20, 1.30, 0.41, 5.45),
    "mixture": published(2.27, 1.10, 1.25, 0.41, 6.31),
    "kmeans": published(1.99, 1.06, 1.14, 0.35, 5.35),
}
NAMES = {"uniform": "uniform grid", "mixture": "mixture of Gaussians", "kmeans": "K-means"}


def run(lab: Lab) -> Table:
    """As the first row of table 4, with candidates chosen otherwise."""
    rows = []
    for strategy, figures in PUBLISHED.items():
        recipe = replace(table_4.shortened("one-camera"), strategy=strategy)
        # K-means is table 4's run, so its models serve here too.
        key = "cube-plus/one-camera" if strategy == "kmeans" else f"cube-plus/{strategy}"
        trained_on = "Cube+" if lab.cube_challenge else "Cube+, other folds"
        rows.append(table_4.outcome_of(lab, key, recipe).row(NAMES[strategy], trained_on, figures))
    epochs = table_4.EPOCHS["one-camera"]
    return Table(
        "table-10",
        f"{table_4.where_tested(lab)} From scratch, {epochs} epochs, 120 candidates (121 in the grid).",
        rows,
    )
