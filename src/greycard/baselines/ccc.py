"""Convolutional colour constancy: a filter of log-chroma histograms that finds the light (Barron 2015).

Four pictures of a thumbnail each have a histogram: the thumbnail, it sharpened, the brightest around each cell, and the
deviation around it. Simplified to one scale in the place of a pyramid: the filters are held smooth instead. Unlike with
FFCC the plane does not wrap around, no map of frequent lights is learned, and the second loss is the expected angular
error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines import held_out
from greycard.baselines.cells import Cells, filled, labelled, read, surrounded
from greycard.baselines.filters import Filters, Penalty, Spectra, cross_entropy, learn, spectra, through_softmax
from greycard.baselines.histograms import BIN_SIZE, chroma, from_chroma, histogram
from greycard.baselines.method import require_fitted
from greycard.illuminant import Array

BINS = 96
"""Wide enough (3 in log-chroma) that colours which matter lie inside, with room for the filter beyond."""
FLAT = 1e6
"""A penalty that keeps the map of frequent lights at nothing."""
PENALTIES = tuple(Penalty(1e-6, slope, map_size=FLAT, map_slope=0.0) for slope in (3e-3, 1e-2, 3e-2))
"""What is tried on training pictures that are held out: filters are held smooth, not small."""
NEAR = 3
"""The estimate is the mean of the probabilities this many bins around the largest."""


class CCC:
    """After `fit`: `filters_`, `penalty_`, and `origin_` (2,), the chroma of bin (0, 0).

    penalty: by default what does best on training pictures that are held out. steps: of L-BFGS, for each loss.
    """

    learns = True

    def __init__(self, penalty: Penalty | None = None, steps: tuple[int, int] = (24, 32)) -> None:
        """Nothing is learned yet."""
        self.penalty, self.steps = penalty, steps

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> CCC:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        places = chroma(lights)
        self.origin_ = places.mean(axis=0) - BINS // 2 * BIN_SIZE
        pictures, bins = self._spectra(cells), (places - self.origin_) / BIN_SIZE

        def estimates(penalty: Penalty, learned: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Array:
            return self._estimates(self._learned(pictures[learned], bins[learned], penalty), pictures[rest])

        self.penalty_ = self.penalty or held_out.best(PENALTIES, lights, estimates)
        self.filters_ = self._learned(pictures, bins, self.penalty_)
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        require_fitted(self, "filters_")
        return self._estimates(self.filters_, self._spectra(read(thumbnails)))

    def _spectra(self, cells: Cells) -> Spectra:
        return spectra(cells, lambda batch: four_histograms(batch, self.origin_))

    def _learned(self, pictures: Spectra, lights: Array, penalty: Penalty) -> Filters:
        places = self.origin_ + BIN_SIZE * np.stack(np.meshgrid(*[np.arange(BINS)] * 2, indexing="ij"), axis=-1)
        colours = from_chroma(places).reshape(-1, 3)

        def expected_error(probabilities: NDArray[np.float32], truths: Array) -> tuple[Array, NDArray[np.float32]]:
            """The angular error in degrees that a light drawn from the probabilities would have on average."""
            cosines = from_chroma(self.origin_ + BIN_SIZE * truths) @ colours.T
            errors = np.degrees(np.arccos(np.clip(cosines, -1, 1))).astype(np.float32).reshape(probabilities.shape)
            losses = (probabilities * errors).sum(axis=(1, 2), dtype=np.float64)
            return losses, through_softmax(probabilities, errors)

        return learn(pictures, lights, penalty, ((cross_entropy, self.steps[0]), (expected_error, self.steps[1])))

    def _estimates(self, filters: Filters, pictures: Spectra) -> Array:
        """(N, 3) the mean of what is probable near the most probable light."""
        probabilities = filters.probabilities(pictures)
        best = np.stack(
            np.unravel_index(probabilities.reshape(len(pictures), -1).argmax(axis=1), (BINS, BINS)), axis=-1
        )
        window = np.arange(-NEAR, NEAR + 1)
        u, v = (np.clip(best[:, axis, None] + window, 0, BINS - 1) for axis in (0, 1))
        around = probabilities[np.arange(len(best))[:, None, None], u[:, :, None], v[:, None, :]].astype(np.float64)
        total = around.sum(axis=(1, 2))
        mean = np.stack([(around.sum(axis=2) * u).sum(axis=1), (around.sum(axis=1) * v).sum(axis=1)], axis=-1)
        return from_chroma(self.origin_ + BIN_SIZE * mean / total[:, None])


def four_histograms(cells: Cells, origin: Array) -> NDArray[np.float32]:
    """(N, 4, bins, bins) of cells, and of what filters make of them; origin: (2,) the chroma of bin (0, 0)."""
    from scipy.ndimage import uniform_filter

    def around(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(uniform_filter(values, size=(1, 3, 3, 1), mode="nearest"))

    picture = filled(cells)
    mean = around(picture)
    sharp, varied = picture - mean, np.sqrt(np.maximum(around(picture**2) - mean**2, 0))
    # Of a flat surface there is nothing but rounding, and rounding has no colour.
    sharp, varied = (np.where(one > np.float32(1e-3) * mean, one, np.float32(0)) for one in (sharp, varied))
    bright = np.maximum(around(picture**4), 0) ** np.float32(0.25)
    inner = surrounded(cells.valid)
    found = [histogram(one, inner, origin, BINS, torus=False) for one in (sharp, bright, varied)]
    return np.stack([histogram(cells.values, cells.valid, origin, BINS, torus=False), *found], axis=1)
