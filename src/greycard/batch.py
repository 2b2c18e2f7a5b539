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

_AT_ONCE = 32
"""Thumbnails that go to a process together."""


def many_scores(scorer: Scorer, thumbnails: Thumbnails, processes: int = 1) -> Iterator[Floats]:
    """(n,) log-likelihoods of each thumbnail (64, 64, 3) in turn. One that cannot be used is an error that names it."""
    task = _Scores(scorer)
    parts = [_Part(start, thumbnails[start : start + _AT_ONCE]) for start in range(0, len(thumbnails), _AT_ONCE)]
    if processes == 1:
        for part in parts:
            yield from task(part)
        return
    from greycard import workers

    done: dict[int, NDArray[np.float32]] = {}
    following = 0
    for index, scores in workers.each(task, parts, workers=processes):
        if isinstance(scores, workers.Failure):
            raise GreycardError(scores.reason)
        done[index] = scores
        while following in done:
            yield from done.pop(following)
            following += 1


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
