"""Gray-world: the average of a scene is grey (Buchsbaum 1980)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from greycard.baselines.cells import read
from greycard.baselines.minkowski import positive
from greycard.illuminant import Array


class GrayWorld:
    """The mean of the valid cells; there is nothing to fit."""

    learns = False

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> GrayWorld:
        """Nothing changes."""
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        return positive(read(thumbnails).values.mean(axis=(1, 2), dtype="float64"))
