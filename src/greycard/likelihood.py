"""How plausible a picture looks when corrected by each candidate: the paper's CNN, in NumPy.

The network sees log(Y / l) = log Y - log l, and its first layer is a convolution that replicates the edge. So one
convolution of log Y serves all candidates: a candidate only shifts the 64 features of every cell by a constant.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array
from greycard.thumbnail import LogImage

Floats = NDArray[np.float32]

_ROWS = 576
"""Cells, each under one candidate, evaluated at a time: their activations stay in a core's second-level cache."""
_CANDIDATES = 144
"""Candidates evaluated at a time: with more, a block would have so few cells that adding up blocks would cost time."""


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


def most_important_first(network: Network) -> Network:
    """The same network with the units of its last 1x1 layer in another order: first those that say most.

    What a unit says is taken to be the size of its weights times that of the weights which read it.
    """
    said = np.linalg.norm(network.cell2_weight, axis=0) * np.linalg.norm(network.dense1_weight, axis=1)
    order = np.argsort(-said, kind="stable")
    return replace(
        network,
        cell2_weight=np.ascontiguousarray(network.cell2_weight[:, order]),
        cell2_bias=network.cell2_bias[order],
        dense1_weight=np.ascontiguousarray(network.dense1_weight[order]),
    )


def candidate_shifts(network: Network, candidates: Array) -> Floats:
    """(n, 64): what correcting by each candidate subtracts from the features of every cell."""
    kernel_sums = network.convolution_weight.sum(axis=(0, 1), dtype=np.float64)
    return np.asarray(np.log(candidates, dtype=np.float64) @ kernel_sums, dtype=np.float32)


def pooled(network: Network, features: Floats, shifts: Floats, units: int | None = None) -> Floats:
    """(n, units) mean over the cells of the last 1x1 layer, for each candidate. units: only the first so many of 128.

    features: (cells, 64) before the ReLU; shifts: (n, 64).
    Since relu(x - t) = max(x, t) - t, the bias of a layer and the shift of a candidate become a threshold t, and what
    is subtracted goes through the next layer, once a candidate instead of once a cell. Shifts count from their mean:
    small thresholds have small rounding errors, which would be those of every cell and not average out.
    """
    if len(shifts) > _CANDIDATES:
        parts = np.array_split(shifts, -(-len(shifts) // _CANDIDATES))
        return np.concatenate([pooled(network, features, part, units) for part in parts])
    centre = shifts.mean(axis=0)
    shifts = shifts - centre
    cell2_weight = network.cell2_weight[:, :units]
    thresholds1 = shifts @ network.cell1_weight - network.cell1_bias
    thresholds2 = thresholds1 @ cell2_weight - network.cell2_bias[:units]
    # Cell by cell, all candidates of one in a row: so thresholds are long rows, which cost less than many short ones.
    at_once = _ROWS // len(shifts)
    ones = np.ones(at_once, dtype=np.float32)
    sums = np.zeros(thresholds2.size, dtype=np.float64)
    for start in range(0, len(features), at_once):
        some = features[start : start + at_once]
        block = np.subtract(some, centre, out=_buffers.block[: len(some)])
        rows = len(block) * len(shifts)
        layer0, layer1 = (buffer[: rows * 64].reshape(rows, 64) for buffer in _buffers.layers[:2])
        layer2 = _buffers.layers[2][: rows * cell2_weight.shape[1]].reshape(rows, -1)
        np.maximum(block[:, None], shifts, out=layer0.reshape(len(block), *shifts.shape))
        np.matmul(layer0, network.cell1_weight, out=layer1)
        by_cell1, by_cell2 = layer1.reshape(len(block), -1), layer2.reshape(len(block), -1)
        np.maximum(by_cell1, thresholds1.reshape(-1), out=by_cell1)
        np.matmul(layer1, cell2_weight, out=layer2)
        np.maximum(by_cell2, thresholds2.reshape(-1), out=by_cell2)
        # Sums of a block in single precision, their sums in double: a long one would lose digits.
        sums += ones[: len(block)] @ by_cell2
    return np.asarray(sums.reshape(thresholds2.shape) / len(features) - thresholds2, dtype=np.float32)


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
        self.layers = tuple(np.empty(_ROWS * width, dtype=np.float32) for width in (64, 64, 128))


_buffers = _Buffers()
