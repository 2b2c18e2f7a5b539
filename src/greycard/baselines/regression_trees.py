"""An ensemble of regression trees on four simple features (Cheng 2015).

The features are chromaticities: of the mean, of the brightest cell, of the most frequent colour, and of the mode of
the picture's palette. Each has its own trees; what the features agree on is the estimate. Simplified: trees differ by
random draws of the training pictures (Breiman 1996), where the paper draws them by distance from chosen lights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines.cells import Cells, labelled, read
from greycard.baselines.method import require_fitted
from greycard.illuminant import Array, unit

TREES = 30
AGREE = 0.025
"""Estimates of two features that are closer than this in r/(r+g+b), g/(r+g+b) agree (the paper's threshold)."""
PALETTE = 300
"""Fullest bins of a histogram of colours that make up the palette."""
BINS = 64


class RegressionTrees:
    """After `fit`: `forests_`, one of scikit-learn's for each of the four features."""

    learns = True

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> RegressionTrees:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        from sklearn.ensemble import RandomForestRegressor

        cells, lights = labelled(thumbnails, illuminants)
        targets = chromaticity(lights)
        self.forests_ = [
            RandomForestRegressor(TREES, min_samples_leaf=2, max_features=1, random_state=number).fit(feature, targets)
            for number, feature in enumerate(four_features(cells))
        ]
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        require_fitted(self, "forests_")
        found = four_features(read(thumbnails))
        # (features, trees, N, 2)
        each = np.array(
            [
                [tree.predict(feature.astype(np.float32)) for tree in forest.estimators_]
                for forest, feature in zip(self.forests_, found, strict=True)
            ]
        )
        red, green = consensus(np.median(each, axis=1)).T
        return unit(np.stack([red, green, np.maximum(1 - red - green, 1e-6)], axis=-1))


def consensus(estimates: Array) -> Array:
    """(4, N, 2) estimates of the four features -> (N, 2): the median of those that agree with two others, or of all."""
    distances = np.linalg.norm(estimates[:, None] - estimates[None], axis=-1)
    agreeing = (distances < AGREE).sum(axis=1) >= 3  # with itself and two more
    kept = np.where((agreeing.any(axis=0) & ~agreeing)[..., None], np.nan, estimates)
    return np.asarray(np.nanmedian(kept, axis=0))


def chromaticity(colours: NDArray[Any]) -> Array:
    """(..., 3) -> (..., 2): r and g as shares of r + g + b."""
    return np.asarray(colours[..., :2] / colours.sum(axis=-1, keepdims=True), dtype=np.float64)


def four_features(cells: Cells) -> list[Array]:
    """The four features of the paper, each (N, 2)."""
    rows = [_features(values[valid]) for values, valid in zip(cells.values, cells.valid, strict=True)]
    return list(np.array(rows).transpose(1, 0, 2))


def _features(colours: NDArray[np.float32]) -> list[Array]:
    """Of one picture's valid cells (n, 3)."""
    places = chromaticity(colours)
    index = (places * BINS).astype(np.int64)
    flat = index[:, 0] * BINS + index[:, 1]
    counts = np.bincount(flat, minlength=BINS * BINS)
    dominant = places[flat == counts.argmax()].mean(axis=0)
    fullest = np.argsort(counts, kind="stable")[::-1][:PALETTE]
    fullest = fullest[counts[fullest] > 0]
    palette = np.stack([fullest // BINS, fullest % BINS], axis=-1) / BINS + 0.5 / BINS
    return [
        chromaticity(colours.mean(axis=0)),
        chromaticity(colours[colours.sum(axis=1).argmax()]),
        dominant,
        _mode(palette),
    ]


def _mode(palette: Array) -> Array:
    """(2,) the colour of a palette (m, 2) around which it is densest, by a Gaussian kernel of 0.03."""
    squared = ((palette[:, None] - palette[None]) ** 2).sum(axis=-1)
    return np.asarray(palette[np.exp(-0.5 * squared / 0.03**2).sum(axis=1).argmax()])
