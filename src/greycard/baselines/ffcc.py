"""Fast Fourier colour constancy, model Q: filters on a torus of log-chroma (Barron & Tsai 2017).

Two histograms of a thumbnail, of its cells and of its edges, are convolved with learned filters by way of their Fourier
transforms; a learned map of which lights are frequent is added; the softmax of that is the probability of each light. A
von Mises distribution fitted to it gives the light and its covariance. The torus tells a light only up to whole turns:
that nearest to the middle of the training lights is meant (the paper's gray-light de-aliasing).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines import held_out, von_mises
from greycard.baselines.cells import Cells, labelled, read
from greycard.baselines.filters import Filters, Penalty, Spectra, cross_entropy, learn, spectra, through_softmax
from greycard.baselines.histograms import BIN_SIZE, chroma, features, from_chroma
from greycard.baselines.method import require_fitted
from greycard.baselines.von_mises import VonMises
from greycard.illuminant import Array

BINS = 64
PENALTIES = (
    Penalty(),
    Penalty(filter_slope=1e-2),
    Penalty(map_slope=3e-2),
    Penalty(filter_slope=1e-2, map_slope=3e-2),
    Penalty(filter_size=1e-4),
    Penalty(filter_size=3e-3, filter_slope=1e-2),
)
"""What is tried on training pictures that are held out."""


class FFCC:
    """After `fit`: `filters_`, `penalty_`, `origin_` (2,), the chroma of bin (0, 0), and `middle_` (2,) of the lights.

    penalty: how strongly to regularise; by default what does best on training pictures that are held out.
    steps: of L-BFGS, for the convex loss and then for that of von Mises; as many as its authors take.
    """

    learns = True

    def __init__(self, penalty: Penalty | None = None, steps: tuple[int, int] = (16, 64)) -> None:
        """Nothing is learned yet."""
        self.penalty, self.steps = penalty, steps

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> FFCC:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        places = chroma(lights)
        self.origin_ = places.mean(axis=0) - BINS // 2 * BIN_SIZE
        # Between the extremes, not the mean: lamplight can lie more than half a turn from the mean of much daylight.
        self.middle_ = (places.min(axis=0) + places.max(axis=0)) / 2
        pictures, bins = self._spectra(cells), (places - self.origin_) / BIN_SIZE

        def estimates(penalty: Penalty, learned: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Array:
            filters = self._learned(pictures[learned], bins[learned], penalty)
            return from_chroma(self._distribution(filters, pictures[rest]).mean)

        self.penalty_ = self.penalty or held_out.best(PENALTIES, lights, estimates)
        self.filters_ = self._learned(pictures, bins, self.penalty_)
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        return from_chroma(self.predict_distribution(thumbnails).mean)

    def predict_distribution(self, thumbnails: NDArray[Any]) -> VonMises:
        """The mean (N, 2) and covariance (N, 2, 2) of the light of thumbnails, in log g/r and log g/b."""
        require_fitted(self, "filters_")
        return self._distribution(self.filters_, self._spectra(read(thumbnails)))

    def _spectra(self, cells: Cells) -> Spectra:
        return spectra(cells, lambda batch: features(batch, self.origin_, BINS, torus=True))

    def _distribution(self, filters: Filters, pictures: Spectra) -> VonMises:
        found = von_mises.fit(filters.probabilities(pictures))
        from_middle = BIN_SIZE * found.mean + self.origin_ - self.middle_
        turn = BINS * BIN_SIZE
        return VonMises(self.middle_ + von_mises.wrapped(from_middle, turn), BIN_SIZE**2 * found.covariance)

    def _learned(self, pictures: Spectra, lights: Array, penalty: Penalty) -> Filters:
        stages = ((cross_entropy, self.steps[0]), (_von_mises_loss, self.steps[1]))
        return learn(pictures, lights, penalty, stages)


def _von_mises_loss(probabilities: NDArray[np.float32], lights: Array) -> tuple[Array, NDArray[np.float32]]:
    losses, gradient = von_mises.loss(probabilities, lights)
    return losses, through_softmax(probabilities, gradient)
