"""greycard itself in the bench of its rivals: runs of the paper's tables, whose models and estimates serve here too."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from greycard import bench, model_file
from greycard.candidates import CandidateSet
from greycard.datasets.packed import Packed
from greycard.estimator import Estimator
from greycard.evaluation import Scores, evaluate, matrix_candidates
from greycard.experiments import table_2, table_3, table_4
from greycard.experiments.lab import Lab, Outcome
from greycard.illuminant import Array
from greycard.model_file import Model
from greycard.training import recipe as recipes

NAME = "greycard"


@dataclass(frozen=True, eq=False)
class Own:
    """Scores of one seed, the seconds of training and testing by the clock, and one of the models with candidates."""

    scores: Scores
    seconds: float
    model: Model
    candidates: CandidateSet

    @property
    def numbers(self) -> int:
        """Weights, and what is learned for each candidate."""
        learned = 0 if self.candidates.gain is None else 2 * len(self.candidates.illuminants)
        return self.model.network.trainable_weights + learned

    def predictor(self) -> Callable[[NDArray[Any]], Array]:
        """What a thumbnail (1, 64, 64, 3) goes through, at the default speed, to an illuminant (3,)."""
        estimate = bench.of_effort(self.model, self.candidates)
        return lambda thumbnails: estimate(thumbnails[0])


TRAINED_ON = {
    "nus-8-multi-device": "Gehler-Shi and Cube+, then the other scenes, all cameras",
    "nus-8-per-device": "Gehler-Shi and Cube+, then the camera's other scenes",
    "gehler-shi-unseen": "NUS-8 and Cube+; candidates by the colour matrix",
    "nus-8-unseen": "Gehler-Shi and Cube+; candidates by the colour matrix",
    "cube-plus-unseen": "Gehler-Shi and NUS-8; candidates by the colour matrix",
}
"""By protocol, where it is something else than what the rivals are trained on."""


def run(lab: Lab, protocol: str) -> Own:
    """greycard by a protocol of the bench; what has not been trained yet is trained, which can take hours."""
    lab = replace(lab, seeds=1)
    left_out = {"gehler-shi-unseen": "gehler_shi", "nus-8-unseen": "nus8", "cube-plus-unseen": "cube_plus"}
    if protocol in left_out:
        return _unseen(lab, left_out[protocol])
    key, outcome = _SEEN[protocol]
    found = outcome(lab)
    model = model_file.load(min((lab.runs / key).rglob("*.safetensors")))
    return Own(found.scores[0], found.seconds, model, next(iter(model.cameras.values()), model.any_camera))


_SEEN: dict[str, tuple[str, Callable[[Lab], Outcome]]] = {
    "gehler-shi": (
        "gehler-shi/one-camera",
        lambda lab: lab.cross_validated("gehler-shi/one-camera", lab.gehler_shi, recipes.load("one-camera")),
    ),
    "nus-8": ("nus8/one-camera", table_2.from_scratch),
    "nus-8-multi-device": ("nus8/scene-multi-device", lambda lab: table_3.outcomes(lab)[1]),
    "nus-8-per-device": ("nus8/scene-per-device", lambda lab: table_3.outcomes(lab)[0]),
    "cube-plus": (
        "cube-plus/one-camera",
        lambda lab: lab.cross_validated("cube-plus/one-camera", lab.cube_plus, table_4.shortened("one-camera")),
    ),
}
"""By protocol, where the runs of a table lie and how they are had."""


def _unseen(lab: Lab, left_out: str) -> Own:
    """Nothing of the test cameras is known but their colour matrices.

    At the default speed: the band of a matrix has so many candidates that exact ones would take an hour.
    """
    data: Packed = getattr(lab, left_out)
    model = lab.without(left_out)
    started = time.monotonic()
    candidates = matrix_candidates(Estimator(model), data, "folds")
    scores = evaluate(Estimator(model), data, candidates=candidates, speed="default")
    seconds = time.monotonic() - started + model.results["training_seconds"]
    return Own(scores, seconds, model, next(iter(candidates.values())))
