"""Table 3: NUS-8, all pictures of a scene in one fold: one model for each device, or one for all."""

from __future__ import annotations

from greycard.experiments.lab import Lab, Outcome
from greycard.experiments.table import Table, published
from greycard.training import recipe as recipes


def outcomes(lab: Lab) -> tuple[Outcome, Outcome]:
    """One model for each device, and multi-device training; both pre-trained on the other two data sets."""
    start = lab.without("nus8")
    own = lab.per_camera("nus8/scene-per-device", lab.nus8, recipes.load("fine-tune-one"), "scene_folds", start)
    recipe = recipes.load("fine-tune-many")
    return own, lab.cross_validated("nus8/scene-multi-device", lab.nus8, recipe, "scene_folds", start)


def run(lab: Lab) -> Table:
    """Geometric means over the eight cameras."""
    own, together = outcomes(lab)
    return Table(
        "table-3",
        "NUS-8, scene folds: all pictures of a scene, by whichever camera, share a fold. Geometric mean over the 8 "
        "cameras of each statistic. All rows pre-trained on Gehler-Shi and Cube+.",
        [
            own.row(
                "one model per device",
                "Gehler-Shi and Cube+, then the device's other folds",
                published(2.35, 1.48, 1.67, 0.47, 5.71),
                "geometric_mean",
            ),
            together.row(
                "multi-device training",
                "Gehler-Shi and Cube+, then all devices' other folds",
                published(2.22, 1.33, 1.53, 0.44, 5.49),
                "geometric_mean",
            ),
        ],
    )
