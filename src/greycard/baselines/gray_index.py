"""Gray index: cells whose colour does not change where their brightness does are grey (Qian 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells, filled, surrounded
from greycard.baselines.minkowski import positive
from greycard.baselines.search import Searched
from greycard.illuminant import Array

SIGMA = 0.5
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
        from scipy.ndimage import uniform_filter

        picture = filled(cells)
        logs = np.log(np.maximum(picture, 1e-4))
        of_brightness = contrast(np.log(np.maximum(picture.sum(axis=-1), 1e-4)))
        of_channels = contrast(logs)
        # The contrast of r / (r + g + b) and of b / (r + g + b) is a difference of contrasts of logarithms.
        red, blue = (of_channels[..., channel] - of_brightness for channel in (0, 2))
        index = uniform_filter(np.hypot(red, blue), (1, int(filtering), int(filtering)), mode="nearest")
        usable = surrounded(cells.valid) & np.all(np.abs(of_channels) > CONTRAST, axis=-1)
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


def contrast(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Laplacian of a Gaussian of half a cell, over the second and third axis; 0 where a picture is flat."""
    from scipy.ndimage import gaussian_filter, uniform_filter

    rest = (0,) * (logs.ndim - 3)
    down, across = (
        gaussian_filter(logs, (0, SIGMA, SIGMA, *rest), order=order, mode="nearest")
        for order in ((0, 2, 0, *rest), (0, 0, 2, *rest))
    )
    # Sampled so coarsely, the two derivatives of a constant are not 0; what is too much is taken off evenly.
    steps = np.arange(-2, 3) ** 2
    weights = np.exp(-0.5 * steps / SIGMA**2)
    excess = 2 * ((steps / SIGMA**4 - 1 / SIGMA**2) * weights).sum() / weights.sum()
    even = uniform_filter(logs, (0, 5, 5, *rest), mode="nearest")
    return np.asarray(down + across - np.float32(excess) * even)
