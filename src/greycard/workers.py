"""Many items on all cores, each in a process that may die or hang without harm to the others.

Decoders of strangers' files are C libraries: a broken file can crash them or keep them busy for ever. A worker that
dies, or takes longer than allowed, is replaced; only the item that it was at is lost.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from greycard.errors import GreycardError

Item = TypeVar("Item")
Result = TypeVar("Result")

_SPAWN = multiprocessing.get_context("spawn")  # the same on all systems, and safe with threads


@dataclass(frozen=True)
class Failure:
    """Why an item has no result, in one line."""

    reason: str

    def about(self, path: Path) -> str:
        """The reason with the file that it is about; that of a process that died does not name it."""
        return self.reason if str(path) in self.reason else f"{path}: {self.reason}"


def each(
    task: Callable[[Item], Result], items: Sequence[Item], *, workers: int | None = None, seconds: float = 120.0
) -> Iterator[tuple[int, Result | Failure]]:
    """The index of each item with its result or why there is none, in the order in which they are done.

    task: a function that can be pickled; a GreycardError that it raises becomes the reason of a failure.
    seconds: time allowed for one item.
    """
    waiting = iter(range(len(items)))
    staff: list[_Worker[Item, Result]] = []
    try:
        for index in range(min(workers or os.cpu_count() or 1, len(items))):
            staff.append(_Worker(task))
            staff[index].give(next(waiting), items)
        while busy := {worker.pipe: worker for worker in staff if worker.index is not None}:
            first_deadline = min(worker.started for worker in busy.values()) + seconds
            ready = wait(list(busy), timeout=max(0.0, first_deadline - time.monotonic()))
            for worker in busy.values():
                late = time.monotonic() - worker.started > seconds
                if worker.pipe not in ready and not late:
                    continue
                index, answer = worker.take(seconds)
                following = next(waiting, None)
                if following is not None:
                    worker.give(following, items)
                yield index, answer
    finally:
        for worker in staff:
            worker.stop()


def in_order(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int | None = None,
    seconds: float = 120.0,
    progress: Callable[[], object] = lambda: None,
) -> Generator[Result | Failure]:
    """The results of `each` in the order of the items. progress: called whenever an item is done."""
    done: dict[int, Result | Failure] = {}
    following = 0
    for index, result in each(task, items, workers=workers, seconds=seconds):
        progress()
        done[index] = result
        while following in done:
            yield done.pop(following)
            following += 1


class _Worker(Generic[Item, Result]):
    """A process that works at one item at a time; started again when it is gone."""

    def __init__(self, task: Callable[[Item], Result]) -> None:
        self._task = task
        self.index: int | None = None
        self.started = 0.0
        self._start()

    def _start(self) -> None:
        self._gone = False
        self.pipe, theirs = _SPAWN.Pipe()
        # One thread each: as many processes as cores are at work already.
        threads = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        os.environ.update(dict.fromkeys(threads, "1"))
        try:
            self._process = _SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
        finally:
            for name, value in threads.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        theirs.close()
        # Through the pipe, and not as an argument: a process that dies while it starts would leave a large one unread,
        # and this one waiting for ever.
        with suppress(OSError):  # where it is gone, `take` will notice
            self.pipe.send(self._task)

    def give(self, index: int, items: Sequence[Item]) -> None:
        """Let it work at an item."""
        if self._gone:
            self._start()
        self.index, self.started = index, time.monotonic()
        with suppress(OSError):  # where it is gone, `take` will notice
            self.pipe.send(items[index])

    def take(self, seconds: float) -> tuple[int, Result | Failure]:
        """The item it was at, with its result or why there is none; a worker that is gone or late is replaced."""
        index, self.index = self.index or 0, None
        try:
            if self.pipe.poll():
                answer: Result | Failure = self.pipe.recv()
                return index, answer
            reason = f"took longer than {seconds:g} s"
        except (EOFError, OSError):
            self._process.join(timeout=5)
            reason = f"the process that worked at it died (exit code {self._process.exitcode})"
        self.stop()
        self._gone = True
        return index, Failure(reason)

    def stop(self) -> None:
        """End the process, also where it does not listen."""
        self.pipe.close()
        self._process.join(timeout=0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection) -> None:
    """What a worker does: read its task, then answer items until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the caller's to handle: it closes the pipe
    try:
        task: Callable[[Any], Any] = pipe.recv()
    except (EOFError, OSError):
        return
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = task(item)
        except GreycardError as error:
            answer = Failure(str(error))
        except Exception as error:  # one line for this item; the rest goes on
            answer = Failure(f"failed ({error!r})")
        try:
            pipe.send(answer)
        except OSError:
            return
