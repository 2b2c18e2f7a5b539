"""Convolutional mean: three small convolutions, then the mean over the picture; 1,137 weights (Gong 2019).

It is trained by torch (`greycard.training.convolutional_mean`) and estimates with NumPy alone. Its input is the root of
the thumbnail, at half its size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines.cells import Cells, labelled, read
from greycard.baselines.method import require_fitted
from greycard.illuminant import Array, unit

SHAPES = ((7, 3, 3, 3), (14, 7, 3, 3), (3, 14, 1, 1))
"""Of the three convolutions: out, in, height, width."""


class ConvolutionalMean:
    """After `fit`: `weights_`, (out, in, height, width) of each convolution, and `offsets_`, (out,) of each."""

    learns = True

    def __init__(self, epochs: int = 60) -> None:
        """Train for so many rounds over the pictures."""
        self.epochs = epochs

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> ConvolutionalMean:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3). Needs torch."""
        from greycard.errors import GreycardError

        try:
            from greycard.training.convolutional_mean import learn
        except ImportError as error:
            raise GreycardError("convolutional-mean is trained by torch: pip install 'greycard[train]'") from error
        cells, lights = labelled(thumbnails, illuminants)
        self.weights_, self.offsets_ = learn(*inputs(cells), lights, self.epochs)
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        require_fitted(self, "weights_")
        pictures, counted = inputs(read(thumbnails))
        values = pictures
        for number, (weights, offsets) in enumerate(zip(self.weights_, self.offsets_, strict=True), start=1):
            values = _convolved(values, weights) + offsets[:, None, None]
            # The last layer ends in softplus: a light is positive, and no channel of it can stop learning.
            values = np.maximum(values, 0) if number < len(SHAPES) else np.logaddexp(values, np.float32(0))
        sums = (values * counted[:, None]).sum(axis=(2, 3), dtype=np.float64)
        return unit(sums)


def inputs(cells: Cells) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the network reads: (N, 3, 32, 32), and (N, 32, 32) the share of each cell that is valid."""
    blocks = cells.values.reshape(len(cells.values), 32, 2, 32, 2, 3).sum(axis=(2, 4))
    counted = cells.valid.reshape(len(cells.valid), 32, 2, 32, 2).sum(axis=(2, 4)).astype(np.float32)
    pictures = np.sqrt(blocks / np.maximum(counted, 1)[..., None])
    return np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)), counted / 4


def _convolved(values: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, out, H, W): values (N, in, H, W), with zeros around them, by weights (out, in, height, width)."""
    side = weights.shape[-1]
    margin = side // 2
    padded = np.pad(values, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(2, 3))
    return np.tensordot(windows, weights, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
