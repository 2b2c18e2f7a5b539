"""Log-likelihoods of many thumbnails, on several cores where that is asked for.

Processes, not threads: an estimate is many short calls, between which threads would wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greycard import thumbnail
from greycard.coarse_to_fine import Scorer
from greycard.errors import GreycardError
from greycard.likelihood import Floats

Thumbnails = Sequence[NDArray[np.generic]] | NDArray[np.generic]

AT_ONCE = 32
"""Thumbnails that go to a process together."""
_SECONDS = 60.0
"""Time allowed for one thumbnail."""


def many_scores(scorer: Scorer, thumbnails: Thumbnails, processes: int = 1) -> Iterator[Floats]:
    """(n,) log-likelihoods of each thumbnail (64, 64, 3) in turn. One that cannot be used is an error that names it."""
    if processes < 1:
        raise GreycardError(f"processes: expected 1 or more, got {processes}")
    if processes == 1:
        for number, cells in enumerate(thumbnails):
            yield scorer.log_likelihoods(thumbnail.log_image(cells, f"thumbnail {number}"))
        return
    from greycard import workers

    parts = [_Part(start, thumbnails[start : start + AT_ONCE]) for start in range(0, len(thumbnails), AT_ONCE)]
    found = workers.in_order(_Scores(scorer), parts, workers=processes, seconds=_SECONDS * AT_ONCE)
    for part, scores in zip(parts, found, strict=True):
        if isinstance(scores, workers.Failure):
            last = part.start + len(part.thumbnails) - 1
            raise GreycardError(f"thumbnails {part.start} to {last}: {scores.reason}")
        yield from scores


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the thumbnails. start: number of the first."""

    start: int
    thumbnails: Thumbnails


@dataclass(frozen=True, eq=False)
class _Scores:
    """What a process does with a part; the scorer goes to it once."""

    scorer: Scorer

    def __call__(self, part: _Part) -> Floats:
        """(m, n) log-likelihoods."""
        named = ((f"thumbnail {number}", cells) for number, cells in enumerate(part.thumbnails, part.start))
        return np.stack([self.scorer.log_likelihoods(thumbnail.log_image(cells, name)) for name, cells in named])
