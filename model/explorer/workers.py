"""Several cores at work: numpy lets other threads go on while it computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import process_time, thread_time
from typing import Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 2  # batches for each core that are begun before the first result is asked for


class Workers:
    """Threads, one for each core; with one core, none.

    busy_s -- CPU seconds of the work that was given to them: what else the process has spent, no other core can take.
    """

    def __init__(self, cores: int = 1) -> None:
        """Use so many cores."""
        self.cores, self.busy_s = cores, 0.0
        self._pool = ThreadPoolExecutor(cores) if cores > 1 else None

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the threads end; what has not begun does not begin."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results in the order of the items; a few items are taken ahead."""
        for result, spent_s in self._ahead(partial(_timed, work), items):
            self.busy_s += spent_s
            yield result

    def _ahead(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        if self._pool is None:
            yield from map(work, items)
            return
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(self._pool.submit(work, item))
            if len(waiting) > _AHEAD * self.cores:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Spent:
    """CPU seconds of the process since this was made."""

    def __init__(self) -> None:
        """Begin."""
        self._began_s = process_time()

    @property
    def seconds(self) -> float:
        """So far."""
        return process_time() - self._began_s


def _timed(work: Callable[[T], R], item: T) -> tuple[R, float]:
    """What comes of the item, and the CPU seconds of this thread that it took."""
    began_s = thread_time()
    result = work(item)
    return result, thread_time() - began_s
