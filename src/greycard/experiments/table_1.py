"""Table 1: Gehler-Shi, three-fold."""

from __future__ import annotations

from greycard.experiments.lab import Lab
from greycard.experiments.table import Table, published
from greycard.training import recipe as recipes


def run(lab: Lab) -> Table:
    """From scratch, and pre-trained on the other two data sets."""
    data = lab.gehler_shi
    scratch = lab.cross_validated("gehler-shi/one-camera", data, recipes.load("one-camera"))
    start = lab.without("gehler_shi")
    tuned = lab.cross_validated("gehler-shi/fine-tune-one", data, recipes.load("fine-tune-one"), start=start)
    return Table(
        "table-1",
        "Gehler-Shi, its own three folds; its two cameras share one set of 120 candidates, a gain and a prior are "
        "learned for each. Trained on two folds, tested on the third.",
        [
            scratch.row("from scratch", "Gehler-Shi, other folds", published(2.35, 1.43, 1.63, 0.40, 5.80)),
            tuned.row(
                "pre-trained",
                "NUS-8 and Cube+, then Gehler-Shi, other folds",
                published(2.10, 1.32, 1.53, 0.36, 5.10),
                note="one pre-training for all seeds",
            ),
        ],
    )
