"""Bayesian colour constancy: which light makes the surfaces look as surfaces do (Rosenberg 2003; Gehler 2008).

The lights are a discrete set with the shares of the training labels as their prior. The likelihood of a light is that
of the surfaces it leaves under a histogram of surfaces, learned from the training pictures under their true lights. A
bin counts once, however many cells fall into it: Rosenberg's remedy for the false independence of neighbouring pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines import held_out
from greycard.baselines.cells import Cells, labelled, read
from greycard.baselines.histograms import BIN_SIZE, chroma
from greycard.baselines.method import require_fitted
from greycard.candidates import log_prior, select
from greycard.illuminant import Array, unit

BINS = 128
"""Of a surface's log-chroma, from -2 to 2."""
LIGHTS = 120
STRENGTHS = (30.0, 100.0, 300.0)
"""To how many independent observations the surfaces of a picture amount; chosen on held-out pictures."""


class Bayesian:
    """After `fit`: `lights_` (n, 3), `prior_` (n,) and `surfaces_` (128, 128), both as logarithms; `strength_`."""

    learns = True

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> Bayesian:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        colours = _distinct_colours(cells)

        def estimates(strength: float, learned: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Array:
            trial = Bayesian()._learn([colours[i] for i in np.flatnonzero(learned)], lights[learned], strength)
            return trial._estimates([colours[i] for i in np.flatnonzero(rest)])

        return self._learn(colours, lights, held_out.best(STRENGTHS, lights, estimates))

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) posterior means for thumbnails (N, 64, 64, 3)."""
        require_fitted(self, "surfaces_")
        return self._estimates(_distinct_colours(read(thumbnails)))

    def _learn(self, colours: list[NDArray[Any]], lights: Array, strength: float) -> Bayesian:
        from scipy.ndimage import gaussian_filter

        counts = np.zeros((BINS, BINS))
        for seen, light in zip(colours, chroma(lights), strict=True):
            np.add.at(counts, _bins(seen - light), 1 / len(seen))
        # Half a percent is spread over all surfaces, so that one never seen before excludes no light.
        shares = gaussian_filter(counts, 1.5, mode="constant") / len(colours)
        self.surfaces_ = np.log(0.995 * shares + 0.005 / BINS**2)
        self.lights_ = select(lights, LIGHTS)
        self.prior_ = log_prior(lights, self.lights_).astype(np.float64)
        self.strength_ = strength
        return self

    def _estimates(self, colours: list[NDArray[Any]]) -> Array:
        places = chroma(self.lights_)
        means = []
        for seen in colours:
            likelihood = self.surfaces_[_bins(seen[None] - places[:, None])].mean(axis=1)
            scores = self.strength_ * likelihood + self.prior_
            weights = np.exp(scores - scores.max())
            means.append(weights @ self.lights_)
        return unit(np.array(means))


def _distinct_colours(cells: Cells) -> list[NDArray[Any]]:
    """For each picture the chroma (m, 2) of the bins that any of its cells fall into."""
    found = []
    for values, valid in zip(cells.values, cells.valid, strict=True):
        bins = np.rint(chroma(values[valid].astype(np.float64)) / BIN_SIZE).astype(np.int64)
        found.append(np.unique(bins, axis=0) * BIN_SIZE)
    return found


def _bins(surfaces: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bins of chroma (..., 2); what lies outside falls into the outermost."""
    index = np.clip(np.rint(surfaces / BIN_SIZE).astype(np.int64) + BINS // 2, 0, BINS - 1)
    return index[..., 0], index[..., 1]
