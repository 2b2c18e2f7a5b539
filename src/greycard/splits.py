"""How a data set is divided into parts that are left out in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from greycard.datasets.packed import FoldColumn, Packed
from greycard.errors import GreycardError
from greycard.evaluation import CandidateSource

SplitBy = Literal["folds", "scene_folds", "dataset"]


@dataclass(frozen=True)
class Split:
    """One part to test on, (N,) True where an image belongs to it; the model is trained on the rest.

    candidates: where those of the test images come from. folds: for candidates from labels, by which split.
    """

    name: str
    test: NDArray[np.bool_]
    candidates: CandidateSource
    folds: FoldColumn = "folds"


def splits(data: Packed, by: SplitBy) -> list[Split]:
    """The parts to leave out in turn.

    "folds" and "scene_folds": each fold; the candidates are those of the model, from the labels it was trained on.
    "dataset": each data set, whose cameras the model has never seen; the candidates for each of its folds come from the
    labels of its other folds (the paper's training-free setting).
    """
    if by == "dataset":
        names = np.unique(data.datasets)
        if len(names) < 2:
            raise GreycardError("leaving out one data set in turn needs at least two")
        return [Split(f"without-{name}", data.datasets == name, "labels") for name in names]
    numbers = data.fold_numbers(by)
    mixed = np.unique(data.datasets[data.scene_folds >= 0])
    if by == "folds" and len(mixed) > 0 and len(np.unique(data.cameras)) > 1:
        raise GreycardError(
            f"{', '.join(mixed)}: its folds share scenes between cameras, so a model would be tested on scenes that it "
            "has seen; leave out scene_folds instead (--by scene_folds)"
        )
    if len(np.unique(numbers)) < 2:
        raise GreycardError(f"{by}: cross-validation needs at least two folds")
    return [Split(f"fold-{number}", numbers == number, "model", by) for number in np.unique(numbers)]
