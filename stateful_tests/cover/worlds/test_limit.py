from __future__ import annotations

import gc
import resource
import signal
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from stateful_tests.worlds.limit import LOOKS, OverTimeError, limited

ROUNDS = 2_000_000  # some 80 ms: signals of timers come every few


def burn(rounds: int | None = None) -> int:
    return next(done for done in count() if done == rounds)


def test_work_without_end_is_over() -> None:
    with pytest.raises(OverTimeError, match=r"0\.05 s of CPU time are over"), limited(0.05):
        burn()


def test_work_that_ends_is_not() -> None:
    with limited(20):
        assert burn(1_000) == 1_000


def test_progress_begins_the_time_anew() -> None:
    steps = iter(range(6))
    with pytest.raises(OverTimeError), limited(0.04, lambda: next(steps, None)):
        burn()
    assert next(steps, None) is None


def test_a_pause_spoils_only_one_look() -> None:
    """Signals that come during it are one, and the time to the next look begins behind it."""
    every_s, looks = 0.2, list[float]()

    def used() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime

    def progress() -> int:
        looks.append(used())
        return len(looks)

    with limited(LOOKS * every_s, progress):
        begin = used()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGVTALRM})
        while used() < begin + 2.5 * every_s:
            burn(1_000)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGVTALRM})
        while len(looks) < 3:
            burn(1_000)
    assert looks[2] - looks[1] > 0.8 * every_s


class Late:
    """Its destructor works for longer than is allowed."""

    def __init__(self, ended: list[bool]) -> None:
        self.ended = ended

    def __del__(self) -> None:
        burn(ROUNDS)
        self.ended.append(True)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_no_destructor_is_interrupted() -> None:
    ended: list[bool] = []

    def work() -> None:
        Late(ended)
        burn()

    with pytest.raises(OverTimeError), limited(0.002):
        work()
    assert ended == [True]


@pytest.fixture
def collected() -> Iterator[list[bool]]:
    ended: list[bool] = []

    def slow(_phase: str, _info: dict[str, Any]) -> None:
        burn(ROUNDS)
        ended.append(True)

    gc.callbacks.append(slow)
    yield ended
    gc.callbacks.remove(slow)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_no_callback_of_the_collector_is_interrupted(collected: list[bool]) -> None:
    def work() -> None:
        gc.collect(0)
        burn()

    with pytest.raises(OverTimeError), limited(0.002):
        work()
    assert len(collected) >= 2
