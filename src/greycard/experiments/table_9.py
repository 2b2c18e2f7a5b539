"""Table 9: the medians of table 3 for each camera."""

from __future__ import annotations

from greycard.experiments import table_3
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table, figures_over_seeds

PUBLISHED = {
    "Canon EOS-1Ds Mark III": (1.59, 1.49),
    "Canon EOS 600D": (1.49, 1.23),
    "Fujifilm X-M1": (1.34, 1.33),
    "Nikon D5200": (1.69, 1.50),
    "Olympus E-PL6": (1.30, 1.13),
    "Panasonic DMC-GX1": (1.43, 1.21),
    "Samsung NX2000": (1.54, 1.42),
    "Sony SLT-A57": (1.50, 1.41),
}
COLUMNS = ("one model per device", "multi-device training")


def run(lab: Lab) -> Table:
    """Nothing is trained that table 3 has not trained."""
    own, together = table_3.outcomes(lab)
    rows = []
    for camera, figures in PUBLISHED.items():
        medians = [
            dict(zip(COLUMNS, (scores.report()["cameras"][camera]["median"] for scores in pair), strict=True))
            for pair in zip(own.scores, together.scores, strict=True)
        ]
        rows.append(
            Row(camera, "as in table 3", dict(zip(COLUMNS, figures, strict=True)), **figures_over_seeds(medians))
        )
    return Table("table-9", "NUS-8, scene folds: median error for each camera.", rows, COLUMNS)
