import os
import signal
import time

import pytest

from greycard import GreycardError
from greycard.workers import Failure, each, in_order


def task(item: str) -> str:
    """What a file might do to its decoder; the workers import this module to find it."""
    if item == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "hang":
        time.sleep(60)
    if item == "refuse":
        raise GreycardError("refuse: is no picture")
    if item == "bug":
        raise ZeroDivisionError
    return item.upper()


def test_a_crash_a_hang_and_an_error_cost_only_their_own_item():
    items = ["a", "crash", "b", "hang", "c", "refuse", "d", "bug", "e"]
    found = dict(each(task, items, workers=2, seconds=8))
    assert sorted(found) == list(range(9))
    assert [found[index] for index in (0, 2, 4, 6, 8)] == ["A", "B", "C", "D", "E"]
    assert found[1] == Failure("the process that worked at it died (exit code -9)")
    assert found[3] == Failure("took longer than 8 s")
    assert found[5] == Failure("refuse: is no picture")
    assert "ZeroDivisionError" in found[7].reason


def test_nothing_to_do_is_done_at_once():
    assert list(each(task, [])) == []


def test_workers_end_when_nobody_listens_any_more():
    for _, result in each(task, ["a", "b", "c"], workers=1):
        assert result == "A"
        break


def test_threads_of_the_caller_are_left_as_they_were(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    list(each(task, ["a"]))
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"


@pytest.mark.parametrize("workers", [1, 3])
def test_all_items_are_done_once(workers):
    assert sorted(each(task, list("abcdefg"), workers=workers)) == list(enumerate("ABCDEFG"))


def test_results_come_in_the_order_of_the_items_and_progress_as_they_are_done():
    done = []
    found = list(in_order(task, ["a", "refuse", "c"], workers=2, progress=lambda: done.append(1)))
    assert found == ["A", Failure("refuse: is no picture"), "C"]
    assert len(done) == 3


class LargeTask:
    """More than a pipe holds, and nothing that a new process can read."""

    def __init__(self) -> None:
        self.content = bytes(10**6)

    def __reduce__(self):
        return _die, (self.content,)

    def __call__(self, item: str) -> str:
        return item


def _die(content: bytes) -> None:
    os._exit(3)


def test_a_process_that_dies_while_it_starts_is_noticed():
    found = dict(each(LargeTask(), ["a", "b"], workers=2, seconds=20))
    assert found == dict.fromkeys((0, 1), Failure("the process that worked at it died (exit code 3)"))
