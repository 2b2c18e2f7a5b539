"""Choosing candidate illuminants for a camera: from lights that were measured with it, or from its colour matrix.

`select` has the three strategies of the paper (supplement, section D); `from_colour_matrix` needs no measured light.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.camera import ColourMatrices, colour_matrices
from greycard.errors import GreycardError
from greycard.illuminant import Array, from_chromaticity, to_chromaticity, unit

Strategy = Literal["kmeans", "uniform", "mixture"]
_DIMMEST = 0.05
"""Least share of its largest channel that a light has in its smallest."""
_WIDTH = 0.006
"""How far, in CIE 1960 uv, a light of one camera makes others probable."""
_LEAST = 1e-3
"""Density of a light that no camera has seen, as a share of the most probable one's."""

Space = Literal["rgb", "chromaticity", "log-chromaticity"]


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """Candidates of a camera: illuminants (n, 3) of unit length.

    bias: (n,) the log of their prior, learned or from the shares of labels; without it the prior is flat.
    gain: (n,) factors of their log-likelihoods where they were learned with the bias.
    """

    illuminants: Array
    gain: NDArray[np.float32] | None = None
    bias: NDArray[np.float32] | None = None


def select(
    illuminants: ArrayLike, n: int = 120, strategy: Strategy = "kmeans", *, space: Space = "rgb", seed: int = 0
) -> Array:
    """Candidates that stand for the illuminants of a camera: (n, 3), unit length, positive.

    illuminants: (m, 3), measured with the camera.
    strategy: "kmeans" clusters them in `space` and takes the centres; "uniform" lays a grid over their extrema in
    r/g-b/g, of the square number of points nearest to n (the paper's 11x11 for 120); "mixture" draws from ten
    Gaussians fitted in r/g-b/g.
    Where there are no more distinct illuminants than n, "kmeans" returns these themselves.
    """
    measured = unit(np.atleast_2d(np.asarray(illuminants, dtype=np.float64)))
    if measured.size == 0:
        raise GreycardError("illuminants: at least one is needed to choose candidates from")
    if n < 1:
        raise GreycardError(f"n: at least one candidate is needed, got {n}")
    if strategy not in get_args(Strategy):
        raise GreycardError(f"strategy: expected one of {', '.join(get_args(Strategy))}, got {strategy!r}")
    if strategy == "uniform":
        return _uniform(measured, n)
    if strategy == "mixture":
        return _mixture(measured, n, seed)
    return _kmeans(measured, n, space, seed)


def from_colour_matrix(matrices: ColourMatrices, known: Mapping[str, CandidateSet] | None = None) -> CandidateSet:
    """Candidates for a camera of which only the colour matrix is known: a band of lights, as the camera sees them.

    The band lies around the Planckian locus: 30 temperatures from 2,000 to 12,000 K, evenly spaced in mired, each at
    eight distances from the locus. known: candidates of other cameras, by name; how often their lights were seen,
    carried over through their bundled matrices, is the prior. Without them it is flat.
    """
    band = _band()
    seen = np.stack([matrices.at(cct) @ light for light, cct in zip(band.xyz, band.temperatures, strict=True)])
    # The warmest lights of the band have next to no blue, or less than none, for some matrices.
    possible = seen.min(axis=1) > _DIMMEST * seen.max(axis=1)
    if not possible.any():
        raise GreycardError("colour matrix: it sends no light to positive red, green and blue")
    return CandidateSet(unit(seen[possible]), bias=_prior_of(known or {}, band.uv[possible]))


@dataclass(frozen=True, eq=False)
class _Band:
    """Lights in XYZ (n, 3) with Y = 1 and in CIE 1960 uv (n, 2), and their temperatures (n,) in kelvin."""

    xyz: Array
    uv: Array
    temperatures: Array


@cache
def _band() -> _Band:
    """Lights around the Planckian locus, as `scripts/make_light_band.py` has written them down."""
    content = json.loads(resources.files("greycard").joinpath("models/light_band.json").read_text(encoding="utf-8"))
    uv = np.array(content["uv"])
    u, v = uv.T
    xyz = np.stack([3 * u, 2 * v, 4 - u - 10 * v], axis=1) / (2 * v)[:, None]
    return _Band(xyz, uv, np.array(content["kelvin"]))


def _prior_of(known: Mapping[str, CandidateSet], uv: Array) -> NDArray[np.float32] | None:
    """(n,) log density, at lights uv (n, 2), of the lights of known cameras; every camera counts the same.

    None where no known camera has a bundled matrix. The density is wide, because matrices are only about right: the
    same daylight comes out up to 0.008 greener or pinker by one camera's matrix than by another's.
    """
    density = np.zeros(len(uv))
    for camera, chosen in known.items():
        matrices = colour_matrices(camera)
        if matrices is None:
            continue
        x, y, z = np.linalg.solve(matrices.matrices[0], chosen.illuminants.T)
        carried = np.stack([4 * x, 6 * y], axis=1) / (x + 15 * y + 3 * z)[:, None]
        shares = np.ones(len(carried)) if chosen.bias is None else np.exp(chosen.bias.astype(np.float64))
        distances = np.square(uv[:, None] - carried[None]).sum(axis=-1)
        density += np.exp(-distances / (2 * _WIDTH**2)) @ (shares / shares.sum())
    if not density.any():
        return None
    density += _LEAST * density.max()
    return np.asarray(np.log(density / density.mean()), dtype=np.float32)


def joined(first: CandidateSet, second: CandidateSet, share: float) -> CandidateSet:
    """The candidates of both; the first ones have this share of the prior probability, the others the rest."""
    priors = []
    for chosen, part in ((first, share), (second, 1 - share)):
        logs = np.zeros(len(chosen.illuminants)) if chosen.bias is None else chosen.bias.astype(np.float64)
        priors.append(logs - np.logaddexp.reduce(logs) + np.log(part))
    together = np.concatenate(priors)
    return CandidateSet(
        np.concatenate([first.illuminants, second.illuminants]),
        bias=np.asarray(together + np.log(len(together)), dtype=np.float32),
    )


def log_prior(illuminants: ArrayLike, candidates: ArrayLike) -> NDArray[np.float32]:
    """(n,) log of how often each candidate is the nearest to a light that was measured; 0 for an average share.

    illuminants: (m, 3), measured with the camera; candidates: (n, 3), unit length. K-means sets candidates closer where
    lights are frequent, but less so than they are frequent: the shares tell the rest. Half a light is added to every
    candidate, so that none becomes impossible.
    """
    measured, chosen = unit(np.atleast_2d(np.asarray(illuminants, dtype=np.float64))), np.asarray(candidates)
    counts = np.bincount(np.argmax(measured @ chosen.T, axis=1), minlength=len(chosen)) + 0.5
    return np.asarray(np.log(counts / counts.mean()), dtype=np.float32)


def check(candidates: ArrayLike, name: str = "candidates") -> Array:
    """Candidates given by a user as (n, 3) unit vectors, or the reason why they cannot be used."""
    try:
        array = np.asarray(candidates, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GreycardError(f"{name}: expected numbers in an array of shape (n, 3)") from error
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise GreycardError(f"{name}: expected an array of shape (n, 3), got {array.shape}")
    if not np.all(np.isfinite(array)) or not np.all(array > 0):
        bad = int(np.flatnonzero(~np.all(np.isfinite(array) & (array > 0), axis=1))[0])
        raise GreycardError(f"{name}: every channel must be a positive number; row {bad} is {array[bad].tolist()}")
    return unit(array)


def _kmeans(measured: Array, n: int, space: Space, seed: int) -> Array:
    spaces: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
        "rgb": (lambda points: points, unit),
        "chromaticity": (to_chromaticity, from_chromaticity),
        "log-chromaticity": (
            lambda points: np.log(to_chromaticity(points)),
            lambda logs: from_chromaticity(np.exp(logs)),
        ),
    }
    if space not in spaces:
        raise GreycardError(f"space: expected one of {', '.join(get_args(Space))}, got {space!r}")
    distinct = np.unique(measured, axis=0)
    if len(distinct) <= n:
        return distinct
    from sklearn.cluster import KMeans

    there, back = spaces[space]
    return back(KMeans(n, n_init=4, random_state=seed).fit(there(measured)).cluster_centers_)


def _uniform(measured: Array, n: int) -> Array:
    ratios = to_chromaticity(measured)
    side = max(1, round(np.sqrt(n)))
    lowest, highest = ratios.min(axis=0), ratios.max(axis=0)
    red, blue = (np.linspace(lowest[axis], highest[axis], side) for axis in (0, 1))
    grid = np.stack(np.meshgrid(red, blue, indexing="ij"), axis=-1).reshape(-1, 2)
    return from_chromaticity(np.unique(grid, axis=0))


def _mixture(measured: Array, n: int, seed: int) -> Array:
    from sklearn.mixture import GaussianMixture

    ratios = to_chromaticity(measured)
    components = min(10, len(np.unique(ratios, axis=0)))
    mixture = GaussianMixture(components, random_state=seed).fit(
        ratios if len(ratios) > 1 else np.repeat(ratios, 2, axis=0)
    )
    # A Gaussian has tails that reach below zero, where no light is: such draws are replaced by further ones.
    drawn = mixture.sample(50 * n)[0]
    drawn = drawn[np.random.default_rng(seed).permutation(len(drawn))]
    return from_chromaticity(drawn[np.all(drawn > 0, axis=1)][:n])
