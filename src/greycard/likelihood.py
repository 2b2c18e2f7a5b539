"""How plausible a picture looks when corrected by each candidate: the paper's CNN, in NumPy.

The network sees log(Y / l) = log Y - log l, and its first layer is a convolution that replicates the edge. So one
convolution of log Y serves all candidates: a candidate only shifts the 64 features of every cell by a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array
from greycard.thumbnail import LogImage

Floats = NDArray[np.float32]

_BLOCK = 512
"""Cells evaluated at a time: their activations stay in a core's second-level cache."""


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
    """Log-likelihood of the picture under each candidate, up to a constant: (n,).

    candidates: (n, 3) unit illuminants.
    """
    features = first_layer(network, image)[image.counted]
    pooled = _pooled(network, features, candidate_shifts(network, candidates))
    hidden = np.maximum(pooled @ network.dense1_weight + network.dense1_bias, 0)
    hidden = np.maximum(hidden @ network.dense2_weight + network.dense2_bias, 0)
    return np.asarray((hidden @ network.dense3_weight + network.dense3_bias)[:, 0])


def first_layer(network: Network, image: LogImage) -> Floats:
    """(64, 64, 64) features of every cell before the ReLU: the convolution of the uncorrected log image."""
    padded = np.pad(image.values, ((1, 1), (1, 1), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))  # rows, columns, colour, 3, 3
    patches = windows.transpose(0, 1, 3, 4, 2).reshape(-1, 27)
    features = patches @ network.convolution_weight.reshape(27, -1) + network.convolution_bias
    return np.asarray(features.reshape(*image.counted.shape, -1))


def candidate_shifts(network: Network, candidates: Array) -> Floats:
    """(n, 64): what correcting by each candidate subtracts from the features of every cell."""
    kernel_sums = network.convolution_weight.sum(axis=(0, 1))
    return np.asarray(np.log(candidates).astype(np.float32) @ kernel_sums)


def _pooled(network: Network, features: Floats, shifts: Floats) -> Floats:
    """(n, 128) mean over the cells of the last 1x1 layer, for each candidate.

    features: (cells, 64) before the ReLU; shifts: (n, 64).
    Since relu(x - t) = max(x, t) - t, the bias of a layer and the shift of a candidate become a threshold t, and what
    is subtracted goes through the next layer, once a candidate instead of once a cell. The three buffers are used over
    and over: fetching fresh memory would cost more than the arithmetic.
    """
    thresholds1 = shifts @ network.cell1_weight - network.cell1_bias
    thresholds2 = thresholds1 @ network.cell2_weight - network.cell2_bias
    sums = np.zeros((len(shifts), network.cell2_bias.size), dtype=np.float64)
    layer0, layer1, layer2 = (np.empty((_BLOCK, width), dtype=np.float32) for width in (64, 64, 128))
    for start in range(0, len(features), _BLOCK):
        block = features[start : start + _BLOCK]
        cells0, cells1, cells2 = layer0[: len(block)], layer1[: len(block)], layer2[: len(block)]
        ones = np.ones(len(block), dtype=np.float32)
        for shift, threshold1, threshold2, total in zip(shifts, thresholds1, thresholds2, sums, strict=True):
            np.maximum(block, shift, out=cells0)
            np.matmul(cells0, network.cell1_weight, out=cells1)
            np.maximum(cells1, threshold1, out=cells1)
            np.matmul(cells1, network.cell2_weight, out=cells2)
            np.maximum(cells2, threshold2, out=cells2)
            total += ones @ cells2
    return np.asarray(sums / len(features) - thresholds2, dtype=np.float32)
