"""Table 8: how many candidates, for a camera that was never seen. Nothing is trained that table 5 has not."""

from __future__ import annotations

from greycard.estimator import Estimator
from greycard.evaluation import evaluate
from greycard.experiments import table_5
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table, figures_over_seeds, published

PUBLISHED = {
    5: published(2.53, 1.71, 1.81, 0.51, 6.06),
    25: published(2.28, 1.43, 1.59, 0.45, 5.63),
    50: published(2.28, 1.46, 1.61, 0.46, 5.52),
    100: published(2.12, 1.31, 1.45, 0.40, 5.31),
    120: published(2.07, 1.31, 1.43, 0.41, 5.12),
    150: published(2.16, 1.32, 1.49, 0.40, 5.34),
    200: published(2.12, 1.33, 1.47, 0.40, 5.27),
}


def run(lab: Lab) -> Table:
    """The models of table 5, with fewer or more candidates."""
    rows = []
    for count, figures in PUBLISHED.items():
        data, candidates = table_5.test_set(lab, count)
        reports = []
        for seed in range(lab.seeds):
            lab.say(f"{count} candidates, seed {seed}")
            estimator = Estimator(lab.without("cube_plus", seed))
            reports.append(evaluate(estimator, data, candidates=candidates, speed="default").report()["overall"])
        rows.append(Row(f"{count} candidates", "NUS-8 and Gehler-Shi", figures, **figures_over_seeds(reports)))
    return Table(
        "table-8",
        f"{table_5.where_tested(lab)} The networks are the same in all rows; estimates at the default speed "
        "(docs/speed.md).",
        rows,
    )
