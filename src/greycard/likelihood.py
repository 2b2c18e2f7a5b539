"""How plausible a picture looks when corrected by each candidate: the paper's CNN, in NumPy.

The network sees log(Y / l) = log Y - log l, and its first layer is a convolution that replicates the edge. So one
convolution of log Y serves all candidates: a candidate only shifts the 64 features of every cell by a constant.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array
from greycard.thumbnail import LogImage

Floats = NDArray[np.float32]

_ROWS = 512
"""Cells, each under one candidate, evaluated at a time: their activations stay in a core's second-level cache."""


@dataclass(frozen=True)
class Network:
    """Weights of the likelihood network. A matrix is (inputs, outputs); ReLU follows every layer but the last.

    The first layer, VGG-16's first convolution, is frozen; the rest is trained: 22,849 of 24,641 numbers.
    """

    convolution_weight: Floats  # (3, 3, 3, 64): rows, columns, colour, feature
    convolution_bias: Floats  # (64,)
    cell1_weight: Floats  # (64, 64)
    cell1_bias: Floats
    cell2_weight: Floats  # (64, 128)
    cell2_bias: Floats
    dense1_weight: Floats  # (128, 64), after the mean over cells
    dense1_bias: Floats
    dense2_weight: Floats  # (64, 32)
    dense2_bias: Floats
    dense3_weight: Floats  # (32, 1)
    dense3_bias: Floats

    @property
    def weights(self) -> int:
        """How many numbers the network has."""
        return sum(getattr(self, field.name).size for field in fields(self))

    @property
    def trainable_weights(self) -> int:
        """How many of them are trained."""
        return self.weights - self.convolution_weight.size - self.convolution_bias.size


SHAPES: dict[str, tuple[int, ...]] = {
    "convolution_weight": (3, 3, 3, 64),
    "convolution_bias": (64,),
    "cell1_weight": (64, 64),
    "cell1_bias": (64,),
    "cell2_weight": (64, 128),
    "cell2_bias": (128,),
    "dense1_weight": (128, 64),
    "dense1_bias": (64,),
    "dense2_weight": (64, 32),
    "dense2_bias": (32,),
    "dense3_weight": (32, 1),
    "dense3_bias": (1,),
}
"""What the arrays of a `Network` must look like."""


def log_likelihoods(network: Network, image: LogImage, candidates: Array) -> Floats:
    """Log-likelihood of the picture under each candidate, up to a constant: (n,). All cells, all candidates.

    candidates: (n, 3) unit illuminants.
    """
    features = first_layer(network, image, np.flatnonzero(image.counted))
    return head(network, pooled(network, features, candidate_shifts(network, candidates)))


def first_layer(network: Network, image: LogImage, cells: NDArray[np.intp]) -> Floats:
    """(m, 64) features of some cells before the ReLU: the convolution of the uncorrected log image.

    cells: (m,) their places in the grid, counted row by row.
    """
    rows, columns = image.counted.shape
    padded = np.empty((rows + 2, columns + 2, 3), dtype=np.float32)
    padded[1:-1, 1:-1] = image.values
    padded[0, 1:-1], padded[-1, 1:-1] = image.values[0], image.values[-1]
    padded[:, 0], padded[:, -1] = padded[:, 1], padded[:, -2]
    # The three neighbours in a row lie beside each other: nine numbers from the left one on.
    corners = 3 * (cells + 2 * (cells // columns))[:, None] + 3 * (columns + 2) * np.arange(3)
    runs = np.lib.stride_tricks.sliding_window_view(padded.reshape(-1), 9)
    patches = runs[corners].reshape(-1, 27)
    return np.asarray(patches @ network.convolution_weight.reshape(27, -1) + network.convolution_bias)


def candidate_shifts(network: Network, candidates: Array) -> Floats:
    """(n, 64): what correcting by each candidate subtracts from the features of every cell."""
    kernel_sums = network.convolution_weight.sum(axis=(0, 1), dtype=np.float64)
    return np.asarray(np.log(candidates, dtype=np.float64) @ kernel_sums, dtype=np.float32)


def pooled(network: Network, features: Floats, shifts: Floats) -> Floats:
    """(n, 128) mean over the cells of the last 1x1 layer, for each candidate.

    features: (cells, 64) before the ReLU; shifts: (n, 64).
    Since relu(x - t) = max(x, t) - t, the bias of a layer and the shift of a candidate become a threshold t, and what
    is subtracted goes through the next layer, once a candidate instead of once a cell. Shifts count from their mean:
    small thresholds have small rounding errors, which would be those of every cell and not average out.
    """
    centre = shifts.mean(axis=0)
    features, shifts = features - centre, shifts - centre
    thresholds1 = shifts @ network.cell1_weight - network.cell1_bias
    thresholds2 = thresholds1 @ network.cell2_weight - network.cell2_bias
    sums = np.zeros((len(shifts), network.cell2_bias.size), dtype=np.float64)
    for start in range(0, len(features), _ROWS):
        block = features[start : start + _ROWS]
        cells, at_once = len(block), max(1, _ROWS // len(block))
        # Short sums in single precision, their sums in double: a long one would lose digits.
        short = math.gcd(cells, 32)
        ones = np.ones(short, dtype=np.float32)
        for first in range(0, len(shifts), at_once):
            some = slice(first, first + at_once)
            count = len(shifts[some])
            layer0, layer1, layer2 = (buffer[: count * cells] for buffer in _buffers.layers)
            np.maximum(block, shifts[some, None], out=layer0.reshape(count, cells, -1))
            np.matmul(layer0, network.cell1_weight, out=layer1)
            shaped1 = layer1.reshape(count, cells, -1)
            np.maximum(shaped1, thresholds1[some, None], out=shaped1)
            np.matmul(layer1, network.cell2_weight, out=layer2)
            shaped2 = layer2.reshape(count, cells, -1)
            np.maximum(shaped2, thresholds2[some, None], out=shaped2)
            short_sums = np.matmul(ones, layer2.reshape(-1, short, layer2.shape[1]))
            sums[some] += short_sums.reshape(count, cells // short, -1).sum(axis=1, dtype=np.float64)
    return np.asarray(sums / len(features) - thresholds2, dtype=np.float32)


def head(network: Network, means: Floats) -> Floats:
    """(n,) log-likelihoods from the means (n, 128) over the cells."""
    hidden = np.maximum(means @ network.dense1_weight + network.dense1_bias, 0)
    hidden = np.maximum(hidden @ network.dense2_weight + network.dense2_bias, 0)
    return np.asarray((hidden @ network.dense3_weight + network.dense3_bias)[:, 0])


class _Buffers(threading.local):
    """Activations of the three layers, used over and over: fetching fresh memory would cost more than the arithmetic.

    Every thread has its own.
    """

    def __init__(self) -> None:
        self.layers = tuple(np.empty((_ROWS, width), dtype=np.float32) for width in (64, 64, 128))


_buffers = _Buffers()
