"""A limit to the CPU time of a piece of work, for code of others that may loop for ever."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AGAIN_S = 1.0
"""It is raised again after so long, should a destructor have swallowed it."""


class OverTimeError(BaseException):
    """The time is over. No `except Exception` of the code that runs can catch it."""


@contextmanager
def limited(
    seconds: float, progress: Callable[[], object] = bool, timer: int = signal.ITIMER_VIRTUAL,
) -> Iterator[None]:
    """In the block raise OverTimeError once this process has used so many seconds of CPU time without progress.

    progress -- something that is another whenever there was some, which begins the time anew; by default nothing is.
    timer -- ITIMER_VIRTUAL, or ITIMER_PROF, around another limit. CPU time, not wall time: a machine that is busy with
    something else must not change an outcome. Signals reach the main thread only: in another one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    number = {signal.ITIMER_VIRTUAL: signal.SIGVTALRM, signal.ITIMER_PROF: signal.SIGPROF}[timer]
    reached = progress()

    def over(*_: object) -> None:
        nonlocal reached
        before, reached = reached, progress()
        if before == reached:
            signal.setitimer(timer, AGAIN_S, AGAIN_S)
            raise OverTimeError(f"{seconds:g} s of CPU time are over")

    before = signal.signal(number, over)
    signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
