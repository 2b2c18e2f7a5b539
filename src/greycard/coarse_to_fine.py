"""Log-likelihoods in milliseconds: a few candidates on many cells instead of all candidates on all cells.

Two facts make this possible. An image is a bag of cells, so some of them estimate the mean over all. And the mean over
the cells is a smooth function of the candidate, so a spline through some candidates tells it for the others. The
network's last layers, which are cheap, then run for every candidate: the posterior stays whole.

1. *Coarse*: candidates spread evenly over the set are evaluated on few cells, the others are interpolated.
2. *Fine*: a few candidates, spread over where the coarse posterior has its weight, are evaluated on many cells. What
   that changes is interpolated and added for all candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.likelihood import Floats, Network, candidate_shifts, first_layer, head, log_likelihoods, pooled
from greycard.posterior import posterior
from greycard.thumbnail import LogImage

Speed = Literal["exact", "default", "live"]
"""exact: all cells and all candidates, the reference. default: hardly different. live: for video and small devices."""


@dataclass(frozen=True)
class Effort:
    """How many candidates are evaluated on how many cells, in the coarse and in the fine step."""

    coarse_candidates: int
    coarse_cells: int
    fine_candidates: int
    fine_cells: int


EFFORTS: dict[Speed, Effort | None] = {
    "exact": None,
    "default": Effort(48, 64, 8, 896),
    "live": Effort(40, 48, 6, 448),
}
"""What the speeds mean. docs/speed.md says how the numbers were chosen."""


_USUAL = 120
"""Candidates for which the efforts above were chosen; more of them also reach farther."""
_NEGLIGIBLE = 1e-4
"""A candidate that is so much less probable than the best one after the coarse step is not looked at again."""


class Scorer:
    """Log-likelihoods of pictures under one set of candidates, at one speed.

    What depends on the candidates alone is computed once, for many pictures.
    """

    def __init__(self, network: Network, candidates: CandidateSet, effort: Effort | None) -> None:
        """effort: None for all cells and all candidates."""
        self._network = network
        self._candidates = candidates
        self._effort = effort = _widened(effort, len(candidates.illuminants))
        if effort is None:
            return
        self._shifts = candidate_shifts(network, candidates.illuminants)
        self._places = _places(candidates.illuminants)
        everywhere = np.ones(len(self._places))
        self._coarse = _well_spread(self._places, everywhere, effort.coarse_candidates)
        self._from_coarse = _spline(self._places, self._coarse)

    def log_likelihoods(self, image: LogImage) -> Floats:
        """Log-likelihood of the picture under each candidate, up to a constant: (n,)."""
        if self._effort is None:
            return log_likelihoods(self._network, image, self._candidates.illuminants)
        network, effort = self._network, self._effort
        features = first_layer(network, image, spread_cells(image.counted, effort.fine_cells))
        if len(self._shifts) <= effort.fine_candidates:
            return head(network, pooled(network, features, self._shifts))
        # The first of the cells are spread over the picture as well as all of them.
        few = features[: effort.coarse_cells]
        means = self._from_coarse @ pooled(network, few, self._shifts[self._coarse])
        coarse = head(network, means)
        weight = self._probabilities(coarse)
        # The root lets nodes stand where a little of the weight is, too: they hold the spline at its ends.
        fine = _well_spread(self._places, np.sqrt(weight), effort.fine_candidates)
        change = pooled(network, features, self._shifts[fine]) - means[fine]
        scores = head(network, means + _spline(self._places, fine) @ change)
        # Far from all nodes a spline tells anything: what the coarse step rules out keeps its score.
        kept = weight > _NEGLIGIBLE * weight.max()
        return np.where(kept, scores, coarse + np.mean(scores[kept] - coarse[kept]))

    def _probabilities(self, scores: Floats) -> Array:
        """(n,) posterior; gain and prior have their say in where it is worth looking closely."""
        chosen = self._candidates
        return posterior(scores, chosen.illuminants, chosen.gain, chosen.bias).probabilities


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
    return replace(effort, coarse_candidates=2 * effort.coarse_candidates, fine_candidates=3 * effort.fine_candidates)


def spread_cells(counted: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Up to `most` of the cells that count (rows, columns), spread evenly: their places, counted row by row.

    The first of them are spread evenly, too.
    """
    order = cell_order(*counted.shape)
    return order[counted.reshape(-1)[order]][:most]


@cache
def cell_order(rows: int, columns: int) -> NDArray[np.intp]:
    """All cells in an order whose every beginning covers the grid evenly (Roberts 2018, the R2 sequence as a mask)."""
    plastic = 1.32471795724474602596  # x with x^3 = x + 1
    y, x = np.mgrid[:rows, :columns]
    return np.argsort(((x / plastic + y / plastic**2) % 1).reshape(-1), kind="stable")


def _places(illuminants: Array) -> Array:
    """(n, 2) candidates in log r/g-b/g, where equal steps are equal ratios, with a spread of one along each axis."""
    logs = np.log(illuminants)
    ratios = logs[:, [0, 2]] - logs[:, 1:2]
    return np.asarray((ratios - ratios.mean(axis=0)) / np.maximum(ratios.std(axis=0), 1e-6))


def _well_spread(places: Array, weights: Array, count: int) -> NDArray[np.intp]:
    """Numbers of `count` places: the one of most weight, then always the one that is missed most.

    places: (n, 2); weights: (n,). Missed is what has weight and is far from all that are chosen (squared distance).
    """
    chosen = [int(np.argmax(weights))]
    apart = np.full(len(places), np.inf)
    for _ in range(min(count, len(places)) - 1):
        offsets = places - places[chosen[-1]]
        apart = np.minimum(apart, np.einsum("nk,nk->n", offsets, offsets))
        chosen.append(int(np.argmax(weights * apart)))
    return np.array(chosen)


def _spline(places: Array, nodes: NDArray[np.intp]) -> Floats:
    """(n, m) matrix that sends values at m nodes to values at all places: a cubic spline in the plane (Duchon 1977).

    places: (n, 2); nodes: (m,) numbers of places. A plane plus the cube of the distance from every node.
    """
    at_nodes = places[nodes]
    count = len(nodes)
    system = np.zeros((count + 3, count + 3))
    system[:count] = _spline_terms(at_nodes, at_nodes)
    system[count:, :count] = system[:count, count:].T
    # Least squares: candidates on a line, or the same one twice, leave the plane or a term open.
    solution = np.linalg.lstsq(system, np.eye(count + 3, count), rcond=1e-9)[0]
    return np.asarray(_spline_terms(places, at_nodes) @ solution, dtype=np.float32)


def _spline_terms(places: Array, nodes: Array) -> Array:
    """(n, m + 3) cubes of the distances from the nodes (m, 2), then 1, x and y."""
    offsets = places[:, None] - nodes
    distances = np.sqrt(np.einsum("nmk,nmk->nm", offsets, offsets))
    return np.column_stack([distances**3, np.ones(len(places)), places])
