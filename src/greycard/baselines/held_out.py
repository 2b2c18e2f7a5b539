"""Choosing a setting of a learned method on training pictures that the learning is not shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array, angular_error
from greycard.statistics import STATISTICS, summary

Setting = TypeVar("Setting")
Train = Callable[[Setting, NDArray[np.bool_], NDArray[np.bool_]], Array]
"""A setting, which pictures (N,) to learn from and which to estimate -> (n, 3) estimates of the latter."""


PARTS = 3
MANY = 500
"""Pictures of which a single part tells settings apart; where there are fewer, every part is held out in turn."""


def best(settings: Sequence[Setting], illuminants: Array, estimates: Train[Setting]) -> Setting:
    """The setting of the smallest error on parts of every third picture, held out.

    The error is the geometric mean of the five statistics that the literature gives (as Barron & Tsai 2017 choose).
    With fewer than ten pictures there is nothing to choose by: the first one, then.
    """
    if len(illuminants) < 10 or len(settings) == 1:
        return settings[0]
    part = np.arange(len(illuminants)) % PARTS

    def error(setting: Setting) -> float:
        errors = [
            angular_error(estimates(setting, part != turn, part == turn), illuminants[part == turn])
            for turn in range(PARTS if len(illuminants) < MANY else 1)
        ]
        figures = summary(np.concatenate(errors))
        return float(np.mean([np.log(max(figures[key], 1e-9)) for key in STATISTICS[:5]]))

    return min(settings, key=error)
