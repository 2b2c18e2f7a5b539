"""Illuminant estimation as classification: which cluster of lights a picture belongs to (Oh & Kim 2017).

The training labels are clustered by K-means; a classifier gives the probability of each cluster, and the estimate is
the mean of the centres by these. The paper's deep network is replaced by a multinomial logistic regression on the
log-chroma histograms of cells and edges, which thumbnails can feed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines import held_out
from greycard.baselines.cells import Cells, labelled, read
from greycard.baselines.histograms import BIN_SIZE, chroma, features
from greycard.baselines.method import require_fitted
from greycard.candidates import select
from greycard.illuminant import Array, unit

CLUSTERS = 25
BINS = 64
POOLED = 4
"""Bins that are joined along each side: a few hundred pictures cannot tell finer ones apart."""
LOOSENESS = (1.0, 10.0, 100.0)
"""Inverse strengths of the regularisation to try on held-out pictures."""


class OhKim:
    """After `fit`: `centres_` (k, 3), `weights_` (k, features), `offsets_` (k,), `origin_` (2,) of the histograms."""

    learns = True

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> OhKim:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        self.origin_ = chroma(lights).mean(axis=0) - BINS // 2 * BIN_SIZE
        found = self._features(cells)

        def estimates(looseness: float, learned: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Array:
            return self._learn(found[learned], lights[learned], looseness)._estimates(found[rest])

        return self._learn(found, lights, held_out.best(LOOSENESS, lights, estimates))

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        require_fitted(self, "weights_")
        return self._estimates(self._features(read(thumbnails)))

    def _learn(self, found: Array, lights: Array, looseness: float) -> OhKim:
        from sklearn.linear_model import LogisticRegression

        centres = select(lights, CLUSTERS)
        nearest = np.argmax(lights @ centres.T, axis=1)
        used = np.unique(nearest)
        self.centres_ = centres[used]
        if len(used) == 1:
            self.weights_, self.offsets_ = np.zeros((1, found.shape[1])), np.zeros(1)
            return self
        model = LogisticRegression(C=looseness, max_iter=2000).fit(found, nearest)
        weights, offsets = model.coef_, model.intercept_
        if len(used) == 2:  # scikit-learn then gives the second class only
            weights, offsets = np.concatenate([-weights, weights]) / 2, np.concatenate([-offsets, offsets]) / 2
        self.weights_, self.offsets_ = weights, offsets
        return self

    def _estimates(self, found: Array) -> Array:
        scores = found @ self.weights_.T + self.offsets_
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return unit(weights @ self.centres_)

    def _features(self, cells: Cells) -> Array:
        """(N, 512) roots of the two histograms, with bins joined."""
        fine = features(cells, self.origin_, BINS, torus=True)
        side = BINS // POOLED
        joined = fine.reshape(len(fine), 2, side, POOLED, side, POOLED).sum(axis=(3, 5))
        return np.asarray(np.sqrt(joined, dtype=np.float64).reshape(len(fine), -1))
