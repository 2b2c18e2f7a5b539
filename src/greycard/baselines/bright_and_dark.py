"""PCA of bright and dark pixels: the first principal direction of what lies far out along the mean (Cheng 2014)."""

from __future__ import annotations

import numpy as np

from greycard.baselines.cells import Cells
from greycard.baselines.minkowski import positive
from greycard.baselines.search import Searched
from greycard.illuminant import Array


class BrightAndDark(Searched):
    """The pooling parameter is the share of the cells that is taken at each end, in percent."""

    poolings = (0.5, 1.0, 2.0, 3.5, 5.0, 10.0, 20.0)
    usual = (0.0, 3.5)

    def _filtered(self, cells: Cells, filtering: float) -> list[Array]:
        """The valid cells (n, 3) of each picture, ordered by their projection on the mean."""
        ordered = []
        for values, valid in zip(cells.values, cells.valid, strict=True):
            colours = values[valid].astype(np.float64)
            ordered.append(colours[np.argsort(colours @ colours.mean(axis=0), kind="stable")])
        return ordered

    def _pooled(self, prepared: list[Array], pooling: float) -> Array:
        directions = []
        for colours in prepared:
            count = max(1, round(len(colours) * pooling / 100))
            chosen = np.concatenate([colours[:count], colours[-count:]])
            # Positive colours have a first direction without changes of sign (Perron 1907).
            directions.append(np.abs(np.linalg.eigh(chosen.T @ chosen)[1][:, -1]))
        return positive(np.array(directions))
