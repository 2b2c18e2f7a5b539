"""Pictures of one light: one balance for a group of them, and a light that is followed from frame to frame.

Neighbouring pictures show much the same things, so they are no independent evidence: their log-likelihoods are added
and then tempered, and the prior counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.estimator import Estimate, Estimator
from greycard.illuminant import Array
from greycard.posterior import Posterior, posterior

BURST = 2.0
"""Seconds: pictures taken at most this far apart are one burst."""
_TEMPER = 0.5
"""n pictures count as n to the power of this."""
_WEIGHT = 0.7
"""What one picture's log-likelihood counts where a change of the light inside a group is looked for."""
_CHANGE = 0.01
"""Probability that the light changes from one picture of a group to the next."""
_MEMORY = 0.85
"""What is left of the evidence of earlier frames at the next one, where a light is followed."""
_FRAMES_WORTH = 2.0
"""How many pictures all frames together count as, in the long run: frames are much alike."""
_FRAME_CHANGE = 0.01
"""Probability that the light changes from one frame to the next. These three were chosen on Gehler-Shi's pictures."""


def grouped(paths: Sequence[Path], rule: str, taken: Sequence[datetime | None]) -> list[list[int]]:
    """Indices of the pictures that belong together, each group in the order in which its pictures were taken.

    rule: "folder", "burst" or "gap:SECONDS" (pictures of a folder no further apart than that). taken: when each picture
    was taken; one that does not tell is a group of its own, except where the folder decides.
    """
    gap = _gap(rule)
    order = sorted(range(len(paths)), key=lambda i: (str(paths[i].parent), taken[i] or datetime.max, paths[i].name))
    groups: list[list[int]] = []
    for index in order:
        last = groups[-1][-1] if groups else None
        if last is not None and paths[last].parent == paths[index].parent and _joined(taken[last], taken[index], gap):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def balanced_together(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Estimates of a group in the order in which they were taken -> one light for all, unless the light changes.

    Where it changes, the group is split, and every part has its own. Pictures whose candidates differ, because
    different cameras took them, are never put together.
    """
    answers = list(estimates)
    by_candidates: list[list[int]] = []
    for index, one in enumerate(estimates):
        own = (group for group in by_candidates if np.array_equal(estimates[group[0]].candidates, one.candidates))
        group = next(own, None)
        if group is None:
            by_candidates.append([index])
        else:
            group.append(index)
    for group in by_candidates:
        posteriors = [estimates[index].known_posterior for index in group]
        for part in parts(posteriors):
            together = combined(posteriors[part])
            for index in group[part]:
                answers[index] = replace(estimates[index], illuminant=together.mean(), posterior=together)
    return answers


def combined(posteriors: Sequence[Posterior]) -> Posterior:
    """What pictures of one light say together: tempered sum of their evidence, with the prior once."""
    first = posteriors[0]
    total = np.sum([one.evidence() for one in posteriors], axis=0)
    return posterior(total * len(posteriors) ** (_TEMPER - 1), first.candidates, bias=first.log_prior)


def parts(posteriors: Sequence[Posterior]) -> list[slice]:
    """The stretches of a series in which the light is the same.

    They are those of the most probable path of a light that seldom changes (Viterbi 1967).
    """
    prior = _log_prior(posteriors[0])
    stay, change = np.log1p(-_CHANGE), np.log(_CHANGE) + prior
    score = prior + _WEIGHT * posteriors[0].evidence()
    came_from = []
    for one in posteriors[1:]:
        best = int(np.argmax(score))
        changed = score[best] + change > score + stay
        came_from.append(np.where(changed, best, np.arange(len(score))))
        score = np.maximum(score + stay, score[best] + change) + _WEIGHT * one.evidence()
    at = int(np.argmax(score))
    starts = []
    for number in range(len(posteriors) - 1, 0, -1):
        before = int(came_from[number - 1][at])
        if before != at:
            starts.append(number)
        at = before
    edges = [0, *reversed(starts), len(posteriors)]
    return [slice(low, high) for low, high in pairwise(edges)]


class Tracker:
    """Follows the light of a video or a timelapse: what was known before each frame is carried on to it.

    A filter over the candidates. From frame to frame what is known fades towards the prior, as the light may drift
    (exponential forgetting; Kulhavy and Zarrop 1993); and, rarely, the light changes to any.

    >>> import greycard, numpy
    >>> tracker = greycard.Tracker(greycard.load(), camera="Canon EOS 5D")
    >>> frame = numpy.random.default_rng(0).uniform(0.1, 0.8, (100, 100, 1)) * [0.4, 0.8, 0.5]
    >>> tracker.update(frame).illuminant.shape
    (3,)
    """

    def __init__(
        self,
        estimator: Estimator,
        camera: str | None = None,
        *,
        candidates: ArrayLike | CandidateSet | None = None,
    ) -> None:
        """camera, candidates: as in `Estimator.estimate`; they are the same for all frames."""
        self._estimator = estimator
        self._camera, self._candidates = camera, candidates
        self._belief: Posterior | None = None

    def update(self, frame: str | Path | ArrayLike) -> Estimate:
        """The light after one more frame: a file, or linear pixels (H, W, 3) from 0 to 1."""
        estimate = self._estimator.estimate(frame, self._camera, candidates=self._candidates)
        seen = estimate.known_posterior
        if self._belief is not None and np.array_equal(self._belief.candidates, seen.candidates):
            logs = _expected(self._belief, _log_prior(seen)) + _FRAMES_WORTH * (1 - _MEMORY) * seen.evidence()
            seen = replace(posterior(logs, seen.candidates), log_prior=seen.log_prior)
        self._belief = seen
        return replace(estimate, illuminant=seen.mean(), posterior=seen)


def _expected(belief: Posterior, prior: Array) -> Array:
    """(n,) log-probabilities of the candidates one frame after a belief. prior: (n,) log-probabilities."""
    faded = posterior(_MEMORY * belief.evidence(), belief.candidates, bias=prior).probabilities
    stays = np.log1p(-_FRAME_CHANGE) + np.log(np.maximum(faded, 1e-300))
    return np.asarray(np.logaddexp(stays, np.log(_FRAME_CHANGE) + prior))


def _log_prior(one: Posterior) -> Array:
    """(n,) log of the prior probabilities."""
    logs = np.zeros(len(one.candidates)) if one.log_prior is None else one.log_prior
    return np.asarray(logs - np.logaddexp.reduce(logs))


def _gap(rule: str) -> timedelta | None:
    """How far apart pictures of a group may be; None where the folder alone decides."""
    if rule == "folder":
        return None
    if rule == "burst":
        return timedelta(seconds=BURST)
    try:
        kind, seconds = rule.split(":")
        gap = timedelta(seconds=float(seconds))
    except (ValueError, OverflowError) as error:
        raise GreycardError(f"--group: expected burst, folder or gap:SECONDS, got {rule!r}") from error
    if kind != "gap" or gap < timedelta(0):
        raise GreycardError(f"--group: expected burst, folder or gap:SECONDS, got {rule!r}")
    return gap


def _joined(before: datetime | None, after: datetime | None, gap: timedelta | None) -> bool:
    return gap is None or (before is not None and after is not None and after - before <= gap)
