"""Methods without learning that have one or two parameters, chosen on labelled pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines.cells import Cells, labelled, read
from greycard.illuminant import Array, angular_error

BATCH = 16
"""Thumbnails at a time: what is made of them stays in the processor's cache."""
ENOUGH = 300
"""Labelled pictures, evenly drawn from all: two parameters need no more."""


class Searched(ABC):
    """A method with a parameter of its filter and one of its pooling; `fit` tries all pairs.

    filters, poolings: the values to try. usual: the pair that is used before anything is fitted, from the literature.
    After `fit`, `filter_` and `pooling_` are the pair of the smallest mean angular error on the labelled pictures.
    """

    filters: Sequence[float] = (0.0,)
    poolings: Sequence[float]
    usual: tuple[float, float]
    learns = True

    def __init__(self) -> None:
        """Start with the usual parameters."""
        self.filter_, self.pooling_ = self.usual

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> Searched:
        """Choose the parameters; thumbnails (N, 64, 64, 3), illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        drawn = np.unique(np.linspace(0, len(lights) - 1, ENOUGH).round().astype(int))
        errors = np.zeros((len(self.filters), len(self.poolings)))
        for start in range(0, len(drawn), BATCH):
            rows = drawn[start : start + BATCH]
            for i, filtering in enumerate(self.filters):
                prepared = self._filtered(cells[rows], filtering)
                for j, pooling in enumerate(self.poolings):
                    errors[i, j] += angular_error(self._pooled(prepared, pooling), lights[rows]).sum()
        best = int(np.argmin(errors))
        self.filter_ = self.filters[best // len(self.poolings)]
        self.pooling_ = self.poolings[best % len(self.poolings)]
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        cells = read(thumbnails)
        batches = [cells[start : start + BATCH] for start in range(0, len(cells), BATCH)]
        return np.concatenate([self._pooled(self._filtered(batch, self.filter_), self.pooling_) for batch in batches])

    @abstractmethod
    def _filtered(self, cells: Cells, filtering: float) -> Any:
        """What is pooled."""

    @abstractmethod
    def _pooled(self, prepared: Any, pooling: float) -> Array:
        """(N, 3) positive."""
