"""Log-likelihoods in milliseconds: a few candidates on many cells instead of all candidates on all cells.

Two facts make this possible. An image is a bag of cells, so some of them estimate the mean over all. And the mean over
the cells is a smooth function of the candidate, so some candidates tell it for the others. The network's last layers,
which are cheap, then run for every candidate: the posterior stays whole.

1. Many candidates, spread evenly over the set, are evaluated on few cells; the others are interpolated.
2. Candidates that are ruled out by now keep their score.
3. Fewer candidates, spread over where the posterior has its weight, are evaluated on more cells. What that changes is
   smoother still; it is interpolated and added for all that are left. And so on, step by step. Later steps may leave
   out units of the network that say little.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.likelihood import (
    Floats,
    Network,
    candidate_shifts,
    first_layer,
    head,
    log_likelihoods,
    most_important_first,
    pooled,
)
from greycard.posterior import probabilities
from greycard.thumbnail import LogImage

Speed = Literal["exact", "default", "live"]
"""exact: all cells and all candidates, the reference. default: hardly different. live: for video and small devices."""


class Step(NamedTuple):
    """How many candidates are evaluated on how many cells.

    units: how many of the 128 units of the network's last 1x1 layer are, those that say most. The others keep the mean
    of the step before; so the first step has them all.
    """

    candidates: int
    cells: int
    units: int = 128


Effort = tuple[Step, ...]
"""Two or more steps, from many candidates on few cells to few candidates on many cells."""

DEFAULT: Effort = (Step(48, 24), Step(8, 160), Step(4, 896, 80))
EFFORTS: dict[Speed, Effort | None] = {
    "exact": None,
    "default": DEFAULT,
    "live": (Step(48, 16), Step(6, 64, 96), Step(3, 288, 64)),
}
"""What the speeds mean. docs/speed.md says how the numbers were chosen."""

_USUAL = 120
"""Candidates for which the efforts above were chosen; more of them also reach farther."""
_NEGLIGIBLE = 1e-4
"""A candidate that is so much less probable than the best one after the first step is not looked at again."""
_REACH = 1.5
"""How far from a candidate the means still resemble its own, in units of the set's spread; 1 to 3 are about as good."""
_UNKNOWN = 100.0
"""Variance of the constant that the means vary about, in units of their own: next to nothing is known of it."""
_JITTER = 1e-4
"""Added to the variance at a node, so that the same candidate twice has a solution."""


class Scorer:
    """Log-likelihoods of pictures under one set of candidates, at one speed.

    What depends on the candidates alone is computed once, for many pictures.
    """

    def __init__(self, network: Network, candidates: CandidateSet, effort: Effort | None) -> None:
        """effort: None for all cells and all candidates."""
        self._network = network if effort is None else most_important_first(network)
        self._candidates = candidates
        self._effort = effort = _widened(effort, len(candidates.illuminants))
        if effort is None:
            return
        self._shifts = candidate_shifts(network, candidates.illuminants)
        self._places = _places(candidates.illuminants)
        self._first, apart = _well_spread(self._places, np.ones(len(self._places)), effort[0].candidates)
        self._from_first = _interpolation(self._first, apart)

    def log_likelihoods(self, image: LogImage) -> Floats:
        """Log-likelihood of the picture under each candidate, up to a constant: (n,)."""
        if self._effort is None:
            return log_likelihoods(self._network, image, self._candidates.illuminants)
        network, (first, *later) = self._network, self._effort
        # The first of the cells are spread over the picture as well as all of them.
        most = max(step.cells for step in self._effort)
        features = first_layer(network, image, spread_cells(image.counted, most))
        if len(self._shifts) <= later[-1].candidates:
            return head(network, pooled(network, features, self._shifts))
        means = self._from_first @ pooled(network, features[: first.cells], self._shifts[self._first])
        coarse = head(network, means)
        weight = self._weight(coarse)
        kept = np.flatnonzero(weight > _NEGLIGIBLE * weight.max())
        means, weight, places, shifts = means[kept], weight[kept], self._places[kept], self._shifts[kept]
        for step in later:
            # The root of the root lets nodes stand where a little of the weight is, too.
            nodes, apart = _well_spread(places, np.sqrt(np.sqrt(weight)), step.candidates)
            units = slice(step.units)
            change = pooled(network, features[: step.cells], shifts[nodes], step.units) - means[nodes, units]
            means[:, units] += _interpolation(nodes, apart) @ change
            scores = head(network, means)
            weight = self._weight(scores, kept)
        result: Floats = coarse + (scores - coarse[kept]).mean()
        result[kept] = scores
        return result

    def _weight(self, scores: Floats, kept: NDArray[np.intp] | slice = slice(None)) -> Array:
        """(m,) posterior of the candidates `kept`: gain and prior have their say in where to look closely."""
        gain, bias = (None if one is None else one[kept] for one in (self._candidates.gain, self._candidates.bias))
        return probabilities(scores, gain, bias)


def effort_of(speed: str) -> Effort | None:
    """What a speed means; an unknown one is refused."""
    for name in get_args(Speed):
        if speed == name:
            return EFFORTS[name]
    raise GreycardError(f"speed: expected one of {', '.join(get_args(Speed))}, got {speed!r}")


def _widened(effort: Effort | None, count: int) -> Effort | None:
    """The effort for more candidates than usual, such as a band from a colour matrix: more of them are evaluated."""
    if effort is None or count <= _USUAL:
        return effort
    return tuple(step._replace(candidates=2 * step.candidates) for step in effort)


def spread_cells(counted: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Up to `most` of the cells that count (rows, columns), spread evenly: their places, counted row by row.

    The first of them are spread evenly, too.
    """
    order = cell_order(*counted.shape)
    return order[:most] if counted.all() else order[counted.reshape(-1)[order]][:most]


@cache
def cell_order(rows: int, columns: int) -> NDArray[np.intp]:
    """All cells in an order whose every beginning covers the grid evenly (Roberts 2018, the R2 sequence as a mask)."""
    plastic = 1.32471795724474602596  # x with x^3 = x + 1
    y, x = np.mgrid[:rows, :columns]
    return np.argsort(((x / plastic + y / plastic**2) % 1).reshape(-1), kind="stable")


def _places(illuminants: Array) -> NDArray[np.complex128]:
    """(n,) candidates in log r/g + i log b/g, where equal steps are equal ratios, with a spread of one along each axis.

    As complex numbers, so that a distance is one operation.
    """
    logs = np.log(illuminants)
    ratios = logs[:, [0, 2]] - logs[:, 1:2]
    scaled = (ratios - ratios.mean(axis=0)) / np.maximum(ratios.std(axis=0), 1e-6)
    return np.asarray(scaled[:, 0] + 1j * scaled[:, 1])


def _well_spread(places: NDArray[np.complex128], weights: Array, count: int) -> tuple[NDArray[np.intp], Array]:
    """Numbers (m,) of `count` places: the one of most weight, then always the one that is missed most.

    places, weights: (n,). Missed is what has weight and is far from all that are chosen.
    Also returns (m, n) the distances of the chosen ones from all places.
    """
    count = min(count, len(places))
    chosen = np.empty(count, dtype=np.intp)
    apart = np.empty((count, len(places)))
    missed, nearest = weights, np.full(len(places), np.inf)
    for turn in range(count):
        chosen[turn] = best = missed.argmax()
        np.abs(places - places[best], out=apart[turn])
        np.minimum(nearest, apart[turn], out=nearest)
        missed = weights * nearest
    return chosen, apart


def _interpolation(nodes: NDArray[np.intp], apart: Array) -> Floats:
    """(n, m) matrix that sends values at m nodes to values at all n places.

    nodes: (m,) numbers of places; apart: (m, n) their distances from all places. Kriging (Matheron 1963) with Matern's
    covariance of order 3/2, about a constant that is not known: between nodes a smooth surface, far from all of them a
    constant, where a polynomial would run away.
    """
    distances = apart * (np.sqrt(3) / _REACH)
    alike = (1 + distances) * np.exp(-distances) + _UNKNOWN
    system = alike[:, nodes]
    system.flat[:: len(nodes) + 1] += _JITTER
    return np.linalg.solve(system, alike).T.astype(np.float32)
