"""Many thumbnails, on several cores where that is asked for.

Processes, not threads: an estimate is many short calls, between which threads would wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError

Thumbnails = Sequence[NDArray[np.generic]] | NDArray[np.generic]
Result = TypeVar("Result")
Task = Callable[[int, NDArray[np.generic]], Result]
"""The number of a thumbnail and its cells (64, 64, 3) -> what is made of it."""

AT_ONCE = 32
"""Thumbnails that go to a process together."""
_SECONDS = 60.0
"""Time allowed for one thumbnail."""


def many(task: Task[Result], thumbnails: Thumbnails, processes: int = 1) -> Iterator[Result]:
    """What `task` makes of each thumbnail, in their order. One that cannot be used is an error, after those before it.

    task: with several processes, one that can be pickled. It does all the work: what is left for this process to do
    would keep the others waiting.
    """
    if processes < 1:
        raise GreycardError(f"processes: expected 1 or more, got {processes}")
    if processes == 1:
        yield from (task(number, np.asarray(cells)) for number, cells in enumerate(thumbnails))
        return
    from greycard import workers

    parts = [_Part(start, thumbnails[start : start + AT_ONCE]) for start in range(0, len(thumbnails), AT_ONCE)]
    with closing(workers.in_order(_Parts(task), parts, workers=processes, seconds=_SECONDS * AT_ONCE)) as found:
        for part, answer in zip(parts, found, strict=True):
            if isinstance(answer, workers.Failure):
                last = part.start + len(part.thumbnails) - 1
                raise GreycardError(f"thumbnails {part.start} to {last}: {answer.reason}")
            results, reason = answer
            yield from results
            if reason is not None:
                raise GreycardError(reason)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the thumbnails. start: number of the first."""

    start: int
    thumbnails: Thumbnails


@dataclass(frozen=True, eq=False)
class _Parts(Generic[Result]):
    """What a process does with a part; the task goes to it once."""

    task: Task[Result]

    def __call__(self, part: _Part) -> tuple[list[Result], str | None]:
        """The results, up to a thumbnail that cannot be used; and why it cannot."""
        results: list[Result] = []
        try:
            for number, cells in enumerate(part.thumbnails, part.start):
                results.append(self.task(number, np.asarray(cells)))
        except GreycardError as error:
            return results, str(error)
        return results, None
