"""Table 7: how many candidates, on Gehler-Shi."""

from __future__ import annotations

from dataclasses import replace

from greycard.experiments.lab import Lab
from greycard.experiments.table import Table, published
from greycard.training import recipe as recipes

PUBLISHED = {
    5: published(2.79, 2.06, 2.20, 0.67, 6.23),
    25: published(2.24, 1.50, 1.64, 0.38, 7.34),
    50: published(2.25, 1.47, 1.66, 0.37, 5.51),
    100: published(2.15, 1.38, 1.55, 0.40, 5.16),
    120: published(2.10, 1.32, 1.53, 0.36, 5.10),
    150: published(2.16, 1.33, 1.53, 0.39, 5.25),
    200: published(2.16, 1.39, 1.59, 0.37, 5.20),
}


def run(lab: Lab) -> Table:
    """As the pre-trained row of table 1, with fewer or more candidates."""
    start = lab.without("gehler_shi")
    rows = []
    for count, figures in PUBLISHED.items():
        recipe = replace(recipes.load("fine-tune-one"), candidates=count)
        # 120 candidates are table 1's run, so its models serve here too.
        key = "gehler-shi/fine-tune-one" if count == 120 else f"gehler-shi/candidates-{count}"
        outcome = lab.cross_validated(key, lab.gehler_shi, recipe, start=start)
        rows.append(outcome.row(f"{count} candidates", "NUS-8 and Cube+, then Gehler-Shi, other folds", figures))
    return Table("table-7", "Gehler-Shi, three folds, pre-trained, K-means candidates.", rows)
