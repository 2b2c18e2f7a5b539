"""Gray index: cells whose colour does not change where their brightness does are grey (Qian 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells, filled, surrounded
from greycard.baselines.minkowski import positive
from greycard.baselines.search import Searched
from greycard.illuminant import Array

CONTRAST = 1e-4
"""A cell without contrast in some channel tells nothing of its surface (the paper's threshold)."""


class GrayIndex(Searched):
    """The pooling parameter is the share of the cells that is taken for grey, in percent.

    The filter parameter is the width of the window, in cells, over which the index is averaged. The paper averages over
    7 pixels and takes 0.1 % of the pixels of a whole picture; of 4,096 cells that would be four.
    """

    filters = (1.0, 3.0, 7.0)
    poolings = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
    usual = (7.0, 1.0)

    def _filtered(self, cells: Cells, filtering: float) -> tuple[Cells, NDArray[np.float32]]:
        """The cells, and how far from grey each is (N, 64, 64); infinite where that cannot be told."""
        from scipy.ndimage import gaussian_laplace, uniform_filter

        picture = filled(cells)
        logs = np.log(np.maximum(picture, 1e-4))
        brightness = np.log(np.maximum(picture.sum(axis=-1), 1e-4))
        contrast = np.abs(gaussian_laplace(logs, (0, 0.5, 0.5, 0), mode="nearest"))
        of_brightness = gaussian_laplace(brightness, (0, 0.5, 0.5), mode="nearest")
        # The contrast of r / (r + g + b) and of b / (r + g + b) is a difference of contrasts of logarithms.
        red, blue = (
            gaussian_laplace(logs[..., channel], (0, 0.5, 0.5), mode="nearest") - of_brightness for channel in (0, 2)
        )
        index = uniform_filter(np.hypot(red, blue), (1, int(filtering), int(filtering)), mode="nearest")
        usable = surrounded(cells.valid) & np.all(contrast > CONTRAST, axis=-1)
        return cells, np.where(usable, index, np.float32(np.inf))

    def _pooled(self, prepared: tuple[Cells, NDArray[np.float32]], pooling: float) -> Array:
        cells, index = prepared
        flat, colours = index.reshape(len(index), -1), cells.values.reshape(len(index), -1, 3)
        count = max(1, round(flat.shape[1] * pooling / 100))
        chosen = np.argpartition(flat, count, axis=1)[:, :count]
        # Where fewer cells can be judged, the rest adds nothing; where none can, this is gray-world.
        known = np.take_along_axis(np.isfinite(flat), chosen, axis=1)
        sums = (np.take_along_axis(colours, chosen[..., None], axis=1) * known[..., None]).sum(axis=1)
        return positive(np.where(known.any(axis=1, keepdims=True), sums, colours.mean(axis=1)).astype(np.float64))
