"""Learned filters of histograms: responses by way of Fourier transforms, and their training (Barron & Tsai 2017)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells
from greycard.illuminant import Array

Spectra = NDArray[np.complex64]
"""(N, k, bins, bins // 2 + 1) Fourier transforms of the k histograms of each of N pictures."""
Loss = Callable[[NDArray[np.float32], Array], tuple[Array, NDArray[np.float32]]]
"""Probabilities (N, bins, bins) and lights (N, 2) in bins -> losses (N,), gradient (N, bins, bins) by the responses."""
BATCH = 32
"""Pictures at a time: what is made of them stays in the processor's cache."""


def spectra(cells: Cells, histograms: Callable[[Cells], NDArray[np.float32]]) -> Spectra:
    """Fourier transforms of histograms. histograms: those of each picture, (N, k, bins, bins)."""
    from scipy.fft import rfft2

    batches = [cells[start : start + BATCH] for start in range(0, len(cells), BATCH)]
    return np.concatenate([rfft2(histograms(batch)) for batch in batches])


@dataclass(frozen=True)
class Penalty:
    """How strongly the filters, and the map of frequent lights, are held small and smooth.

    filter_size, map_size: factors of the sum of squares. filter_slope, map_slope: of that of the differences between
    neighbouring bins.
    """

    filter_size: float = 1e-3
    filter_slope: float = 1e-3
    map_size: float = 1e-3
    map_slope: float = 1e-1

    def roots(self, bins: int, filters: int) -> Array:
        """(filters + 1, bins, bins // 2 + 1) root of the penalty of each frequency: for filters, and for the map."""
        wave = 2 - 2 * np.cos(2 * np.pi * np.arange(bins) / bins)
        slopes = wave[:, None] + wave[None, : bins // 2 + 1]
        of_filter = np.sqrt(self.filter_size + self.filter_slope * slopes)
        return np.stack([*[of_filter] * filters, np.sqrt(self.map_size + self.map_slope * slopes)])


@dataclass(frozen=True, eq=False)
class Filters:
    """spectra: (k, bins, bins // 2 + 1) of the filters of the k histograms; frequent: (bins, bins), added to them."""

    spectra: NDArray[np.complex64]
    frequent: NDArray[np.float32]

    def probabilities(self, pictures: Spectra) -> NDArray[np.float32]:
        """(N, bins, bins) how probable each light is: the softmax of the responses."""
        from scipy.fft import irfft2

        responses = irfft2(np.einsum("nkuv,kuv->nuv", pictures, self.spectra)) + self.frequent
        raised = np.exp(responses - responses.max(axis=(1, 2), keepdims=True))
        return np.asarray(raised / raised.sum(axis=(1, 2), keepdims=True))


def learn(pictures: Spectra, lights: Array, penalty: Penalty, stages: Sequence[tuple[Loss, int]]) -> Filters:
    """The filters of the smallest loss with penalty; each stage starts from where the one before has ended.

    lights: (N, 2) in bins. stages: a loss, and how many steps of L-BFGS. What is minimised over are not the filters but
    filters whose spectrum is multiplied by the penalty's root, so that the penalty is a plain sum of squares: that is
    the paper's preconditioning.
    """
    from scipy.fft import irfft2, rfft2
    from scipy.optimize import minimize

    filters, bins = pictures.shape[1:3]
    roots = penalty.roots(bins, filters)

    def unfolded(x: Array) -> Filters:
        spectra = rfft2(x.reshape(-1, bins, bins)) / roots
        return Filters(spectra[:-1].astype(np.complex64), irfft2(spectra[-1]).astype(np.float32))

    def objective(x: Array, loss: Loss) -> tuple[float, Array]:
        found, total = unfolded(x), 0.5 * float(x @ x)
        by_spectra = np.zeros(roots.shape, dtype=np.complex128)
        for start in range(0, len(pictures), BATCH):
            batch = slice(start, start + BATCH)
            losses, gradient = loss(found.probabilities(pictures[batch]), lights[batch])
            total += float(losses.sum())
            spectrum = rfft2(gradient)
            by_spectra[:-1] += (pictures[batch].conj() * spectrum[:, None]).sum(axis=0)
            by_spectra[-1] += spectrum.sum(axis=0)
        return total, irfft2(by_spectra / roots).ravel() + x

    x: Any = np.zeros((filters + 1) * bins * bins)
    for loss, steps in stages:
        x = minimize(objective, x, (loss,), jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    return unfolded(x)


def cross_entropy(probabilities: NDArray[np.float32], lights: Array) -> tuple[Array, NDArray[np.float32]]:
    """The convex loss: the logarithm of the probability of the true light, which is shared by its four nearest bins."""
    bins = probabilities.shape[-1]
    corner = np.floor(lights).astype(int)
    part = lights - corner
    rows = np.arange(len(lights))
    gradient = probabilities.copy()
    losses = np.zeros(len(lights))
    for du, dv in ((0, 0), (0, 1), (1, 0), (1, 1)):
        u, v = (corner[:, 0] + du) % bins, (corner[:, 1] + dv) % bins
        share = np.abs(1 - du - part[:, 0]) * np.abs(1 - dv - part[:, 1])
        losses -= share * np.log(np.maximum(probabilities[rows, u, v], 1e-30))
        gradient[rows, u, v] -= share.astype(np.float32)
    return losses, gradient


def through_softmax(probabilities: NDArray[np.float32], gradient: NDArray[np.float32]) -> NDArray[np.float32]:
    """A gradient (N, bins, bins) by the probabilities, turned into that by the responses."""
    weighted = probabilities * gradient
    return np.asarray(weighted - probabilities * weighted.sum(axis=(1, 2), keepdims=True))
