"""Log-chroma histograms of thumbnails and of their edges (Barron 2015; on a torus: Barron & Tsai 2017).

The chroma of a colour is (u, v) = (log g/r, log g/b). A light that is brighter in red by some factor moves every pixel
by the same step in u: to find the light is to find where a histogram has to be moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells, filled, surrounded
from greycard.illuminant import Array

BIN_SIZE = 1 / 32
"""Width of a bin in u and v."""


def chroma(colours: NDArray[Any]) -> NDArray[Any]:
    """(..., 3) positive r, g, b -> (..., 2) log g/r, log g/b."""
    logs = np.log(colours)
    return np.asarray(logs[..., 1:2] - logs[..., ::2])


def from_chroma(places: Array) -> Array:
    """(..., 2) log g/r, log g/b -> (..., 3) illuminants of unit length."""
    colours = np.stack([np.exp(-places[..., 0]), np.ones_like(places[..., 0]), np.exp(-places[..., 1])], axis=-1)
    return np.asarray(colours / np.linalg.norm(colours, axis=-1, keepdims=True))


def edge_strength(cells: Cells) -> NDArray[np.float32]:
    """(N, 64, 64, 3) mean absolute difference of each cell from its eight neighbours, channel by channel."""
    picture = filled(cells)
    padded = np.pad(picture, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    height, width = picture.shape[1:3]
    total = np.zeros_like(picture)
    for y, x in ((y, x) for y in range(3) for x in range(3) if (y, x) != (1, 1)):
        total += np.abs(padded[:, y : y + height, x : x + width] - picture)
    return total / np.float32(8)


def histogram(
    colours: NDArray[np.float32], counted: NDArray[np.bool_], origin: Array, bins: int, *, torus: bool
) -> NDArray[np.float32]:
    """(N, bins, bins) shares of the colours (N, 64, 64, 3) whose chroma falls into each bin; each sums to 1, or is 0.

    counted: (N, 64, 64) which cells have a say. origin: (2,) the chroma at the centre of bin (0, 0).
    torus: what lies beyond the last bin comes in at the other side; otherwise it is left out.
    """
    counted = counted & np.all(colours > 0, axis=-1)
    places = (chroma(np.maximum(colours, np.float32(1e-12))) - origin.astype(np.float32)) / np.float32(BIN_SIZE)
    found = np.rint(places).astype(np.int64)
    if torus:
        found %= bins
    else:
        counted &= np.all((found >= 0) & (found < bins), axis=-1)
    pictures = np.arange(len(colours))[:, None, None]
    index = (pictures * bins + found[..., 0]) * bins + found[..., 1]
    counts = np.bincount(index[counted], minlength=len(colours) * bins * bins)
    shares = counts.reshape(len(colours), bins, bins).astype(np.float32)
    return np.asarray(shares / np.maximum(counted.sum(axis=(1, 2))[:, None, None], 1), dtype=np.float32)


def features(cells: Cells, origin: Array, bins: int, *, torus: bool) -> NDArray[np.float32]:
    """(N, 2, bins, bins): the histogram of the cells, and that of their edges."""
    of_cells = histogram(cells.values, cells.valid, origin, bins, torus=torus)
    of_edges = histogram(edge_strength(cells), surrounded(cells.valid), origin, bins, torus=torus)
    return np.stack([of_cells, of_edges], axis=1)
