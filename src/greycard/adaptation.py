"""The prior of a camera from its own pictures, without a single label.

The likelihood of a picture leaves several candidates open, but what many pictures of a camera leave open together is
where its lights are: the prior under which the pictures are most probable is found by expectation maximisation
(Dempster 1977). A few pictures' worth of the prior before it, and some blur, keep it from following single pictures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.illuminant import angular_error

FEWEST = 20
"""Pictures: fewer say too little of where a camera's lights are."""
_BEFORE = 3.0
"""Pictures that the prior before counts for."""
_BLUR = 0.6
"""Degrees between lights that are about as probable."""
_ROUNDS = 20


def adapted(chosen: CandidateSet, log_likelihoods: NDArray[np.floating]) -> CandidateSet:
    """The candidates with the prior that pictures of the camera, taken in the lights it usually sees, suggest.

    log_likelihoods: (pictures, n) of each picture under each candidate.
    """
    scores = np.asarray(log_likelihoods, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(chosen.illuminants) or len(scores) < FEWEST:
        raise GreycardError(
            f"log_likelihoods: expected at least {FEWEST} pictures under {len(chosen.illuminants)} candidates, "
            f"got an array of shape {scores.shape}"
        )
    before = np.ones(len(chosen.illuminants)) if chosen.bias is None else np.exp(chosen.bias.astype(np.float64))
    before /= before.sum()
    blur = np.exp(-0.5 * (_angles(chosen) / _BLUR) ** 2)
    blur /= blur.sum(axis=0)
    prior = before
    for _ in range(_ROUNDS):
        posteriors = prior * np.exp(scores - scores.max(axis=1, keepdims=True))
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        prior = blur @ (posteriors.sum(axis=0) + _BEFORE * before)
        prior /= prior.sum()
    return replace(chosen, bias=np.log(prior * len(prior)).astype(np.float32))


def _angles(chosen: CandidateSet) -> NDArray[np.float64]:
    """(n, n) degrees between the candidates."""
    return angular_error(chosen.illuminants[:, None], chosen.illuminants[None])
