"""The framework of the gray-world family: Minkowski norms of derivatives of a smoothed picture (van de Weijer 2007)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells, filled, surrounded
from greycard.baselines.search import Searched
from greycard.illuminant import Array

SMALLEST = 1e-6
"""Relative to the largest channel: no channel of an estimate is darker than this."""


def norm(responses: NDArray[np.float32], power: float) -> Array:
    """(N, 3) Minkowski norm over the cells of responses (N, 64, 64, 3), 0 where a cell does not count."""
    # Numbers of a channel side by side: sums over them are then many times faster.
    channels = np.ascontiguousarray(np.moveaxis(responses, -1, 1)).reshape(len(responses), 3, -1)
    largest = np.maximum(channels.max(axis=-1), np.finfo(np.float32).tiny)
    raised = channels / largest[..., None]
    left = power
    while left >= 2:  # squaring is many times faster than a general power
        raised, left = raised * raised, left / 2
    if left != 1:
        raised = raised**left
    return positive(largest * raised.sum(axis=-1, dtype=np.float64) ** (1 / power))


def positive(estimates: Array) -> Array:
    """(N, 3) estimates without channels that are 0; where all are, white."""
    highest = estimates.max(axis=-1, keepdims=True)
    return np.asarray(np.where(highest > 0, np.maximum(estimates, SMALLEST * highest), 1.0))


def smoothed(cells: Cells, sigma: float) -> NDArray[np.float32]:
    """(N, 64, 64, 3) the valid cells blurred by a Gaussian of `sigma` cells, to which masked ones add nothing."""
    from scipy.ndimage import gaussian_filter

    if sigma == 0:
        return cells.values
    along = (0, sigma, sigma)
    weights = gaussian_filter(cells.valid.astype(np.float32), along, mode="nearest", truncate=3)
    values = gaussian_filter(cells.values, (*along, 0), mode="nearest", truncate=3)
    return np.where(cells.valid[..., None], values / np.maximum(weights, 1e-6)[..., None], np.float32(0))


def edges(cells: Cells, sigma: float, order: int) -> NDArray[np.float32]:
    """(N, 64, 64, 3) strength of the derivatives of this order, at a scale of `sigma` cells; 0 beside masked cells.

    First order: the length of the gradient. Second order: the Frobenius norm of the Hessian.
    """
    from scipy.ndimage import gaussian_filter

    picture = filled(cells)

    def derivative(down: int, across: int) -> NDArray[np.float32]:
        orders = (0, down, across, 0)
        return np.asarray(gaussian_filter(picture, (0, sigma, sigma, 0), order=orders, mode="nearest", truncate=3))

    if order == 1:
        squared = derivative(1, 0) ** 2 + derivative(0, 1) ** 2
    else:
        squared = derivative(2, 0) ** 2 + derivative(0, 2) ** 2 + 2 * derivative(1, 1) ** 2
    return np.asarray(np.sqrt(squared) * surrounded(cells.valid)[..., None], dtype=np.float32)


class MinkowskiMethod(Searched):
    """Pooling by a Minkowski norm; its power is the pooling parameter."""

    def _pooled(self, prepared: NDArray[np.float32], pooling: float) -> Array:
        return norm(prepared, pooling)
