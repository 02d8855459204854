"""Pools of threads, and timers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from impl.decisions.java_errors import JavaException

Job = Callable[[], "Awaitable[None] | None"]
"""What a pool runs: a coroutine function without arguments, or a plain one."""


class RejectedExecutionError(JavaException):
    """A pool takes no more work."""

    java_class = "java.util.concurrent.RejectedExecutionException"


class Pool(Protocol):
    """A ThreadPoolExecutor with a fixed number of threads and a FIFO queue."""

    @property
    def queue(self) -> Sequence[Job]:
        """What waits for a thread, oldest first; remoting puts a RequestTask there."""
        ...

    def execute(self, job: Job) -> None:
        """Run the job when a thread is free; raises RejectedExecutionError when the queue is full or after shutdown."""
        ...

    def when_queued(self, tell: Callable[[], None]) -> None:
        """Tell somebody, from now on, whenever a job has to wait for a thread."""
        ...

    def remove(self, job: Job) -> bool:
        """ThreadPoolExecutor#remove: take a job out of the queue; False if it is not there (any more)."""
        ...

    def shutdown(self) -> None:
        """Take no more jobs; what is queued still runs."""
        ...

    def shutdown_now(self) -> list[Job]:
        """Take no more jobs and give back what is queued; what runs goes on (no interrupts here)."""
        ...

    async def await_termination(self, timeout_ms: int) -> bool:
        """Wait until all is done after a shutdown; False when the time is over."""
        ...


class Scheduler(Protocol):
    """A ScheduledThreadPoolExecutor: its jobs share its threads, so a slow one holds up the others."""

    def schedule(self, job: Job, delay_ms: int) -> None:
        """Run once; also after shutdown, as Java's default is."""
        ...

    def schedule_at_fixed_rate(self, job: Job, initial_delay_ms: int, period_ms: int) -> None:
        """Run at fixed times, late ones at once; never again after a Java exception."""
        ...

    def schedule_with_fixed_delay(self, job: Job, initial_delay_ms: int, delay_ms: int) -> None:
        """Run with a pause after each run; never again after a Java exception."""
        ...

    def shutdown(self) -> None:
        """End the periodic jobs; a run that has begun goes on."""
        ...
