"""A bivariate von Mises distribution, approximated by its mean and covariance, fitted to a torus of probabilities.

Barron & Tsai 2017. The mean is that of angles; the covariance is taken on the plane that is cut open opposite to it.
Here all lengths are in bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array

Floating = TypeVar("Floating", bound=np.floating)
SMALLEST_VARIANCE = 1.0
"""Added to the variances: a distribution is no narrower than a bin."""


@dataclass(frozen=True, eq=False)
class VonMises:
    """mean: (N, 2); covariance: (N, 2, 2). In bins from bin 0; of what a method predicts, in log-chroma."""

    mean: Array
    covariance: Array


def wrapped(lengths: Array, turn: float) -> Array:
    """Differences on a torus that is `turn` around: from -turn / 2 to turn / 2."""
    return np.asarray((lengths + turn / 2) % turn - turn / 2)


def fit(probabilities: NDArray[np.floating]) -> VonMises:
    """The distribution of probabilities (N, n, n), each summing to 1."""
    return _fit(probabilities)[0]


def loss(probabilities: NDArray[Floating], truths: Array) -> tuple[Array, NDArray[Floating]]:
    """Negative log-likelihood (N,) of truths (N, 2), in bins, and its gradient (N, n, n) by the probabilities."""
    bins = probabilities.shape[-1]
    fitted, offsets, derivatives, first = _fit(probabilities)
    u, v = offsets[..., 0], offsets[..., 1]
    miss = wrapped(truths - fitted.mean, bins)
    inverse = np.linalg.inv(fitted.covariance)
    pulled = np.einsum("nij,nj->ni", inverse, miss)
    losses = 0.5 * np.log(np.linalg.det(fitted.covariance)) + 0.5 * np.sum(miss * pulled, axis=-1)
    # Gradients by the mean (-pulled) and by the covariance; the latter does not change when the mean moves.
    by_covariance = 0.5 * (inverse - pulled[:, :, None] * pulled[:, None, :])
    mixed = 2 * by_covariance[:, 0, 1, None]
    along_u = (
        -pulled[:, :1] * derivatives[..., 0]
        + by_covariance[:, 0, 0, None] * (u**2 - 2 * first[:, :1] * u)
        - mixed * first[:, 1:] * u
    )
    along_v = (
        -pulled[:, 1:] * derivatives[..., 1]
        + by_covariance[:, 1, 1, None] * (v**2 - 2 * first[:, 1:] * v)
        - mixed * first[:, :1] * v
    )
    kind = probabilities.dtype  # the large array keeps the precision of the probabilities
    gradient = (mixed * u).astype(kind)[:, :, None] * v.astype(kind)[:, None, :]
    gradient += along_u.astype(kind)[:, :, None] + along_v.astype(kind)[:, None, :]
    return losses, gradient


def _fit(probabilities: NDArray[np.floating]) -> tuple[VonMises, Array, Array, Array]:
    """The distribution; distance of each bin from its mean, derivative of the mean (N, n, 2); mean distance (N, 2)."""
    bins = probabilities.shape[-1]
    angles = 2 * np.pi * np.arange(bins) / bins
    marginals = np.stack([probabilities.sum(axis=2), probabilities.sum(axis=1)], axis=-1)
    sines, cosines = (np.einsum("nba,b->na", marginals, wave(angles)) for wave in (np.sin, np.cos))
    to_bins = bins / (2 * np.pi)
    mean = np.arctan2(sines, cosines) * to_bins % bins
    length = np.maximum(sines**2 + cosines**2, 1e-12)
    derivatives = (
        to_bins
        * (np.sin(angles)[:, None] * cosines[:, None] - np.cos(angles)[:, None] * sines[:, None])
        / length[:, None]
    )
    offsets = wrapped(np.arange(bins)[:, None] - mean[:, None], bins)
    first = np.einsum("nba,nba->na", marginals, offsets)
    second = np.einsum("nba,nba->na", marginals, offsets**2)
    mixed = (offsets[..., 0] * (probabilities @ offsets[..., 1:].astype(probabilities.dtype))[..., 0]).sum(axis=1)
    covariance = np.empty((len(mean), 2, 2))
    covariance[:, 0, 0], covariance[:, 1, 1] = (SMALLEST_VARIANCE + second - first**2).T
    covariance[:, 0, 1] = covariance[:, 1, 0] = mixed - first[:, 0] * first[:, 1]
    return VonMises(mean, covariance), offsets, derivatives, first
