"""Corrected moments: the light is a linear function of moments of the colours or of the edges (Finlayson 2013).

A moment of degree d is the d-th root of a mean such as that of r r g, so that it scales as the exposure does.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines import held_out
from greycard.baselines.cells import Cells, labelled, read, surrounded
from greycard.baselines.histograms import edge_strength
from greycard.baselines.method import require_fitted
from greycard.baselines.minkowski import positive
from greycard.illuminant import Array

Kind = tuple[Literal["colours", "edges"], int]
"""Of what the moments are, and up to which degree."""
KINDS: tuple[Kind, ...] = (("colours", 2), ("colours", 3), ("edges", 2), ("edges", 3))
ROUNDS = 50


class CorrectedMoments:
    """After `fit`: `kind_`, chosen on held-out pictures, and `correction_` (moments, 3)."""

    learns = True

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> CorrectedMoments:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        found = {kind: moments(cells, kind) for kind in KINDS}

        def estimates(kind: Kind, learned: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Array:
            return positive(found[kind][rest] @ correction(found[kind][learned], lights[learned]))

        self.kind_ = held_out.best(KINDS, lights, estimates)
        self.correction_ = correction(found[self.kind_], lights)
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        require_fitted(self, "correction_")
        return positive(moments(read(thumbnails), self.kind_) @ self.correction_)


def moments(cells: Cells, kind: Kind) -> Array:
    """(N, m) moments of the colours or of the edges of each picture: 9 up to degree 2, 19 up to degree 3."""
    what, degree = kind
    rows = []
    for number in range(len(cells.values)):
        one = cells[number : number + 1]
        colours = edge_strength(one)[surrounded(one.valid)] if what == "edges" else one.values[one.valid]
        channels = colours.astype(np.float64).T
        rows.append(
            [
                np.prod(channels[list(chosen)], axis=0).mean() ** (1 / order)
                for order in range(1, degree + 1)
                for chosen in combinations_with_replacement(range(3), order)
            ]
        )
    return np.array(rows)


def correction(found: Array, lights: Array) -> Array:
    """(m, 3) the matrix that sends moments (N, m) to lights (N, 3), whose brightness is unknown.

    Brightness and matrix are solved for in turn, by least squares. A millionth of the mean square of the moments is
    added to the squares, so that there is a solution also where pictures are few, and something where they are flat.
    """
    brightness = np.linalg.norm(found[:, :3], axis=1)
    added = max(1e-6 * len(found) * float(np.mean(found**2)), 1e-12)
    gram = found.T @ found + added * np.eye(found.shape[1])
    matrix = np.zeros((found.shape[1], 3))
    for _ in range(ROUNDS):
        matrix = np.linalg.solve(gram, found.T @ (brightness[:, None] * lights))
        brightness = np.maximum(np.sum((found @ matrix) * lights, axis=1), 1e-6)
        brightness *= len(found) / brightness.sum()  # otherwise both shrink together, round by round
    return matrix
