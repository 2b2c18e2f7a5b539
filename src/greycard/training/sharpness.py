"""How sharp the posterior of a trained network is to be.

A training step looks at some of the candidates only, and the likelihood that it learns suits such a sparse choice: wide
enough to reach the nearest candidate. Among all candidates a sharper one serves better. One factor on all
log-likelihoods mends that; it is chosen on the training images themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from greycard.candidates import CandidateSet
from greycard.datasets.packed import Packed
from greycard.illuminant import angular_error
from greycard.likelihood import Network, log_likelihoods
from greycard.posterior import posterior
from greycard.thumbnail import LogImage, log_image

_FACTORS = 2.0 ** (np.arange(-4, 9) / 4)  # 0.5 to 4
_IMAGES = 400
_CELLS = 256


def best_factor(
    network: Network, data: Packed, sets: Sequence[CandidateSet], of_image: NDArray[np.intp], seed: int
) -> float:
    """The factor on log-likelihoods with the least mean error over some of the images, with all their candidates.

    sets: candidates with gain and prior as the model will keep them; of_image: (N,) which of them is an image's.
    """
    generator = np.random.default_rng(seed)
    drawn = generator.choice(len(data), min(_IMAGES, len(data)), replace=False)
    errors = np.zeros(len(_FACTORS))
    for index in drawn:
        chosen = sets[of_image[index]]
        image = _some_cells(log_image(data.images[index], str(data.names[index])), generator)
        scores = log_likelihoods(network, image, chosen.illuminants)
        for place, factor in enumerate(_FACTORS):
            estimate = posterior(factor * scores, chosen.illuminants, chosen.gain, chosen.bias).mean()
            errors[place] += float(angular_error(estimate, data.illuminants[index]))
    return float(_FACTORS[int(np.argmin(errors))])


def sharpened(network: Network, factor: float) -> Network:
    """The network whose log-likelihoods are `factor` times those of `network`."""
    return replace(network, dense3_weight=network.dense3_weight * factor, dense3_bias=network.dense3_bias * factor)


def _some_cells(image: LogImage, generator: np.random.Generator) -> LogImage:
    counted = np.flatnonzero(image.counted)
    kept = np.zeros(image.counted.size, dtype=bool)
    kept[generator.choice(counted, min(_CELLS, len(counted)), replace=False)] = True
    return LogImage(image.values, kept.reshape(image.counted.shape))
