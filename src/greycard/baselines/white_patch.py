"""White-patch: the brightest response of each channel is that of white (Brainard & Wandell 1986)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines.cells import read
from greycard.baselines.minkowski import positive
from greycard.illuminant import Array


class WhitePatch:
    """The largest value of each channel; there is nothing to fit."""

    learns = False

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> WhitePatch:
        """Nothing changes."""
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        return positive(read(thumbnails).values.max(axis=(1, 2)).astype(np.float64))
