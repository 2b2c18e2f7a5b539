"""How plausible a picture looks when corrected by each candidate: the paper's CNN, in NumPy.

The network sees log(Y / l) = log Y - log l, and its first layer is a convolution that replicates the edge. So one
convolution of log Y serves all candidates: a candidate only shifts the 64 features of every cell by a constant.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array
from greycard.thumbnail import LogImage

Floats = NDArray[np.float32]

_ROWS = 576
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
    features = np.empty((len(cells), network.convolution_bias.size), dtype=np.float32)
    kernels = network.convolution_weight.reshape(27, -1)
    for start in range(0, len(cells), _ROWS):
        some = cells[start : start + _ROWS]
        # All places are inside; "clip" only lets NumPy write to the buffers at once.
        places = _patch_places(rows, columns).take(some, 0, out=_buffers.places[: len(some)], mode="clip")
        patches = padded.reshape(-1).take(places, out=_buffers.patches[: len(some)], mode="clip")
        np.matmul(patches, kernels, out=features[start : start + _ROWS])
    return np.add(features, network.convolution_bias, out=features)


@cache
def _patch_places(rows: int, columns: int) -> NDArray[np.intp]:
    """(rows * columns, 27): where the neighbourhood of each cell lies in the padded image, counted number by number."""
    y, x, down, across, colour = np.ogrid[:rows, :columns, :3, :3, :3]
    return np.asarray(3 * ((y + down) * (columns + 2) + x + across) + colour).reshape(rows * columns, 27)


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
    shifts = shifts - centre
    thresholds1 = shifts @ network.cell1_weight - network.cell1_bias
    thresholds2 = thresholds1 @ network.cell2_weight - network.cell2_bias
    sums = np.zeros((len(shifts), network.cell2_bias.size), dtype=np.float64)
    for start in range(0, len(features), _ROWS):
        some_features = features[start : start + _ROWS]
        block = np.subtract(some_features, centre, out=_buffers.block[: len(some_features)])
        cells, at_once = len(block), max(1, _ROWS // len(block))
        # Short sums in single precision, their sums in double: a long one would lose digits.
        short = cells if cells < 32 else math.gcd(cells, 32)
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
    hidden = _dense(means, network.dense1_weight, network.dense1_bias)
    hidden = _dense(hidden, network.dense2_weight, network.dense2_bias)
    return np.asarray(hidden @ network.dense3_weight[:, 0] + network.dense3_bias)


def _dense(values: Floats, weight: Floats, bias: Floats) -> Floats:
    """(n, outputs) of a layer with its ReLU, of values (n, inputs)."""
    result: Floats = values @ weight
    result += bias
    return np.maximum(result, 0, out=result)


class _Buffers(threading.local):
    """Neighbourhoods of cells, and activations of the layers, used over and over: fresh memory would cost more time.

    Every thread has its own.
    """

    def __init__(self) -> None:
        self.places = np.empty((_ROWS, 27), dtype=np.intp)
        self.patches = np.empty((_ROWS, 27), dtype=np.float32)
        self.block = np.empty((_ROWS, 64), dtype=np.float32)
        self.layers = tuple(np.empty((_ROWS, width), dtype=np.float32) for width in (64, 64, 128))


_buffers = _Buffers()
