"""Fast Fourier colour constancy, model Q: filters on a torus of log-chroma (Barron & Tsai 2017).

Two histograms of a thumbnail, of its cells and of its edges, are convolved with learned filters by way of their Fourier
transforms; a learned map of which lights are frequent is added; the softmax of that is the probability of each light. A
von Mises distribution fitted to it gives the light and its covariance. The torus tells a light only up to whole turns:
that nearest to gray-world is meant (the paper's de-aliasing).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.baselines import von_mises
from greycard.baselines.cells import Cells, labelled, read
from greycard.baselines.histograms import BIN_SIZE, BINS, chroma, features, from_chroma, mean_chroma
from greycard.baselines.method import require_fitted
from greycard.baselines.von_mises import VonMises
from greycard.illuminant import Array, angular_error

Spectra = NDArray[np.complex64]
"""(N, 2, 64, 33) Fourier transforms of the histograms of N pictures."""


@dataclass(frozen=True)
class Penalty:
    """How strongly filters and the map are held small and smooth; the numbers of the paper's regularisation.

    filter_size, map_size: factors of the sum of squares. filter_slope, map_slope: of that of the differences between
    neighbouring bins.
    """

    filter_size: float = 1e-4
    filter_slope: float = 1e-3
    map_size: float = 1e-3
    map_slope: float = 1e-1


@dataclass(frozen=True)
class _Pictures:
    """What is learned from: spectra of the histograms, lights (N, 2) in bins."""

    spectra: Spectra
    lights: Array

    def where(self, chosen: NDArray[np.bool_]) -> _Pictures:
        return _Pictures(self.spectra[chosen], self.lights[chosen])


class FFCC:
    """After `fit`: `filters_` (2, 64, 33) spectra of the filters, `map_` (64, 64), `origin_` (2,) chroma of bin (0, 0).

    penalty: how strongly to regularise; by default what does best on a fifth of the training pictures, held out.
    """

    learns = True

    def __init__(self, penalty: Penalty | None = None, *, steps: tuple[int, int] = (24, 64)) -> None:
        """Use steps[0] iterations for the convex loss, then steps[1] for that of von Mises."""
        self.penalty, self.steps = penalty, steps

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> FFCC:
        """Learn from thumbnails (N, 64, 64, 3) with illuminants (N, 3)."""
        cells, lights = labelled(thumbnails, illuminants)
        places = chroma(lights)
        self.origin_ = places.mean(axis=0) - BINS // 2 * BIN_SIZE
        pictures = _Pictures(self._spectra(cells), (places - self.origin_) / BIN_SIZE)
        self.penalty_ = self.penalty or self._choose(pictures)
        self.filters_, self.map_ = self._train(pictures, self.penalty_)
        return self

    def predict(self, thumbnails: NDArray[Any]) -> Array:
        """(N, 3) illuminants of thumbnails (N, 64, 64, 3)."""
        return from_chroma(self.predict_distribution(thumbnails).mean)

    def predict_distribution(self, thumbnails: NDArray[Any]) -> VonMises:
        """The mean (N, 2) and covariance (N, 2, 2) of the light of thumbnails, in log g/r and log g/b."""
        require_fitted(self, "filters_")
        cells = read(thumbnails)
        found = von_mises.fit(_softmax(_responses(self._spectra(cells), self.filters_, self.map_)))
        places = self.origin_ + BIN_SIZE * found.mean
        turn = BINS * BIN_SIZE
        places += turn * np.rint((mean_chroma(cells) - places) / turn)
        return VonMises(places, BIN_SIZE**2 * found.covariance)

    def _spectra(self, cells: Cells) -> Spectra:
        from scipy.fft import rfft2

        return np.asarray(rfft2(features(cells, self.origin_)))

    def _choose(self, pictures: _Pictures) -> Penalty:
        """The penalty of the smallest mean error on a fifth of the pictures that the training is not shown.

        One factor at a time is moved by powers of ten, from the largest to the smallest effect.
        """
        held_out = np.arange(len(pictures.lights)) % 5 == 2
        learned, rest = pictures.where(~held_out), pictures.where(held_out)
        truths = from_chroma(rest.lights * BIN_SIZE)

        def error(penalty: Penalty) -> float:
            found = von_mises.fit(_softmax(_responses(rest.spectra, *self._train(learned, penalty))))
            nearest = rest.lights + von_mises.wrapped(found.mean - rest.lights, BINS)
            return float(angular_error(from_chroma(nearest * BIN_SIZE), truths).mean())

        best = Penalty()
        least = error(best)
        for name in ("filter_slope", "map_slope", "filter_size", "map_size"):
            for factor in (0.1, 10.0):
                tried = replace(best, **{name: getattr(best, name) * factor})
                found = error(tried)
                if found < least:
                    best, least = tried, found
                    break
        return best

    def _train(self, pictures: _Pictures, penalty: Penalty) -> tuple[NDArray[np.complex64], NDArray[np.float32]]:
        """Filters and map of the smallest loss: first of the convex one, then, from there, of that of von Mises.

        What is minimised over are not the filters but filters whose spectrum is multiplied by the penalty's root, so
        that the penalty is a plain sum of squares: that is the paper's preconditioning.
        """
        from scipy.fft import irfft2, rfft2
        from scipy.optimize import minimize

        roots = _penalty_roots(penalty)

        def unfold(x: Array) -> tuple[NDArray[np.complex64], NDArray[np.float32]]:
            spectra = rfft2(x.reshape(3, BINS, BINS)) / roots
            return spectra[:2].astype(np.complex64), irfft2(spectra[2]).astype(np.float32)

        def objective(x: Array, data_loss: Callable[[Array, Array], tuple[Array, Array]]) -> tuple[float, Array]:
            filters, of_map = unfold(x)
            probabilities = _softmax(_responses(pictures.spectra, filters, of_map))
            losses, by_response = data_loss(probabilities, pictures.lights)
            spectrum = rfft2(by_response.astype(np.float32))
            by_filters = np.einsum("nuv,nkuv->kuv", spectrum, pictures.spectra.conj())
            by_map = rfft2(by_response.sum(axis=0, dtype=np.float64))
            gradient = irfft2(np.concatenate([by_filters, by_map[None]]) / roots).ravel()
            return float(losses.sum() + 0.5 * x @ x), gradient + x

        x = np.zeros(3 * BINS * BINS)
        for data_loss, steps in ((_cross_entropy, self.steps[0]), (_von_mises, self.steps[1])):
            x = minimize(
                objective, x, (data_loss,), jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 10}
            ).x
        return unfold(x)


def _penalty_roots(penalty: Penalty) -> Array:
    """(3, 64, 33) root of the penalty of each frequency: for the two filters and the map."""
    wave = 2 - 2 * np.cos(2 * np.pi * np.arange(BINS) / BINS)
    slopes = wave[:, None] + wave[None, : BINS // 2 + 1]
    of_filter = np.sqrt(penalty.filter_size + penalty.filter_slope * slopes)
    return np.stack([of_filter, of_filter, np.sqrt(penalty.map_size + penalty.map_slope * slopes)])


def _responses(spectra: Spectra, filters: NDArray[np.complex64], of_map: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, 64, 64) log-probability of each light, but for a constant."""
    from scipy.fft import irfft2

    return np.asarray(irfft2(spectra[:, 0] * filters[0] + spectra[:, 1] * filters[1]) + of_map)


def _softmax(responses: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, 64, 64) probabilities."""
    raised = np.exp(responses - responses.max(axis=(1, 2), keepdims=True))
    return np.asarray(raised / raised.sum(axis=(1, 2), keepdims=True))


def _cross_entropy(probabilities: Array, lights: Array) -> tuple[Array, Array]:
    """The convex loss (N,) and its gradient (N, 64, 64) by the responses; a light is shared by its four nearest bins."""
    corner = np.floor(lights).astype(int)
    part = lights - corner
    rows = np.arange(len(lights))
    gradient = probabilities.copy()
    losses = np.zeros(len(lights))
    for du in (0, 1):
        for dv in (0, 1):
            u, v = (corner[:, 0] + du) % BINS, (corner[:, 1] + dv) % BINS
            share = np.abs(1 - du - part[:, 0]) * np.abs(1 - dv - part[:, 1])
            losses -= share * np.log(np.maximum(probabilities[rows, u, v], 1e-30))
            gradient[rows, u, v] -= share
    return losses, gradient


def _von_mises(probabilities: Array, lights: Array) -> tuple[Array, Array]:
    """The loss of von Mises (N,) and its gradient (N, 64, 64) by the responses."""
    losses, gradient = von_mises.loss(probabilities, lights)
    mean = (probabilities * gradient).sum(axis=(1, 2), keepdims=True)
    return losses, probabilities * (gradient - mean)
