"""Progress where nothing can move: a line every few seconds while something works.

What it tells is for people alone: no verdict has any of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

EVERY_S = 8.0


@contextmanager
def ticking(tell: Callable[[float], object], first_s: float = 0.0) -> Iterator[None]:
    """While the block runs call tell, with how many seconds it has waited, every EVERY_S seconds; from another thread.

    first_s -- after so long for the first time.
    """
    ended = Event()

    def work() -> None:
        waited_s = first_s
        while not ended.wait(EVERY_S if waited_s > first_s else first_s):
            tell(waited_s)
            waited_s += EVERY_S

    teller = Thread(target=work, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
