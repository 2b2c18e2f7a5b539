"""From log-likelihoods to a posterior over the candidates: its mean, its maximum and its modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greycard.illuminant import Array, unit

MODE_RADIUS = 3.0
"""Degrees: candidates this close to a mode's best one belong to it. About what an eye forgives in a white."""
_MODE_COSINE = np.cos(np.radians(MODE_RADIUS))


@dataclass(frozen=True)
class Mode:
    """A group of neighbouring candidates: their mean illuminant (3,), unit length, and their summed probability."""

    illuminant: Array
    probability: float


@dataclass(frozen=True)
class Posterior:
    """How probable each candidate is.

    candidates: (n, 3) unit illuminants; probabilities: (n,), summing to one. log_prior: (n,) or None where it is flat.
    """

    candidates: Array
    probabilities: Array
    log_prior: Array | None = None

    def evidence(self) -> Array:
        """(n,) what the picture itself says of the candidates: log-likelihoods, up to a constant."""
        logs = np.log(np.maximum(self.probabilities, 1e-300))
        return np.asarray(logs if self.log_prior is None else logs - self.log_prior)

    def mean(self) -> Array:
        """(3,) the minimum mean square error estimate, unit length (the paper's equation 9)."""
        return unit(self.probabilities @ self.candidates)

    def maximum(self) -> Array:
        """(3,) the single most probable candidate (MAP)."""
        return np.asarray(self.candidates[int(np.argmax(self.probabilities))])

    def modes(self, at_least: float = 0.0) -> list[Mode]:
        """Separate explanations of the picture, most probable first.

        The most probable candidate gathers those around it, then the most probable of the rest does, and so on.
        at_least: the search ends where all that is left is less probable than this.
        """
        left = np.ones(len(self.candidates), dtype=bool)
        found = []
        while left.any() and self.probabilities[left].sum() >= at_least:
            best = int(np.argmax(np.where(left, self.probabilities, -1.0)))
            members = left & (self.candidates @ self.candidates[best] >= _MODE_COSINE)
            weights = np.maximum(self.probabilities[members], 1e-300)
            found.append(Mode(unit(weights @ self.candidates[members]), float(self.probabilities[members].sum())))
            left &= ~members
        return sorted(found, key=lambda mode: -mode.probability)


def posterior(
    log_likelihoods: NDArray[np.floating],
    candidates: Array,
    gain: NDArray[np.floating] | None = None,
    bias: NDArray[np.floating] | None = None,
) -> Posterior:
    """Softmax of gain * log-likelihood + bias (the paper's equation 7).

    log_likelihoods, gain, bias: (n,); candidates: (n, 3). Without them, gain is 1 and the prior over candidates flat.
    """
    log_prior = None if bias is None else np.asarray(bias, np.float64)
    return Posterior(candidates, probabilities(log_likelihoods, gain, bias), log_prior)


def probabilities(
    log_likelihoods: NDArray[np.floating],
    gain: NDArray[np.floating] | None,
    bias: NDArray[np.floating] | None,
) -> Array:
    """(n,) the posterior of candidates, of whatever light they are; the rest is as in `posterior`."""
    scores = np.asarray(log_likelihoods, dtype=np.float64)
    if gain is not None:
        scores = scores * gain
    if bias is not None:
        scores = scores + bias
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())
