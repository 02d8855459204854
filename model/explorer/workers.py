"""Several cores at work: numpy lets other threads go on while it computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 2  # batches for each core that are begun before the first result is asked for


class Workers:
    """Threads, one for each core; with one core, none."""

    def __init__(self, cores: int = 1) -> None:
        """Use so many cores."""
        self.cores = cores
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
