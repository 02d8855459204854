"""Thread pools and timers of a simulated process.

No fault is injected here. What a pool does to RocketMQ is in its numbers: a job holds a thread for as long as its
coroutine lives, so a paused handler holds up the queue behind it, and a full queue refuses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from impl.hosts.simulation.process import Future, Process, ProcessDeadError
from impl.ports.pools import Job, RejectedExecutionError


class Pool:
    """ThreadPoolExecutor with core = maximum threads, first in first out.

    queue -- jobs that wait. free -- idle threads. `kernel.ready` holds it, with a job, where a thread is to begin one:
    the kernel runs the job, and makes a task of what is left of it when it first waits.
    """

    def __init__(self, process: Process, name: str, threads: int, queue_bound: int | None = None) -> None:
        """All threads idle; queue_bound -- how many jobs may wait, None: any number."""
        self.process, self.name, self.threads = process, name, threads
        self.queue_bound = queue_bound
        self.queue: deque[Job] = deque()
        self.free = threads
        self.is_shutdown = False
        self._terminated: list[Future] = []
        self._tell_queued: Callable[[], None] | None = None

    def __str__(self) -> str:
        """Process and thread."""
        return f"{self.process.name} {self.name}"

    def execute(self, job: Job) -> None:
        """See Pool in `impl.ports.pools`."""
        if self.is_shutdown:
            raise RejectedExecutionError(f"{self.name} is shut down")
        process = self.process
        if not process.alive:
            raise ProcessDeadError(process.name)
        if self.free:
            self.free -= 1
            process.kernel.ready.append((self, job))
        elif self.queue_bound is None or len(self.queue) < self.queue_bound:
            self.queue.append(job)
            if self._tell_queued is not None:
                self._tell_queued()
        else:
            raise RejectedExecutionError(f"{self.name}: {self.queue_bound} jobs wait")

    def end(self) -> None:
        """A thread is through with its job."""
        if not self.process.alive:
            return
        if self.queue:
            self.process.kernel.ready.append((self, self.queue.popleft()))
            return
        self.free += 1
        if self.is_shutdown and self.free == self.threads:
            for waiting in self._terminated:
                waiting.resolve(True)

    def when_queued(self, tell: Callable[[], None]) -> None:
        """See Pool in `impl.ports.pools`."""
        self._tell_queued = tell

    def remove(self, job: Job) -> bool:
        """See Pool in `impl.ports.pools`."""
        if job not in self.queue:
            return False
        self.queue.remove(job)
        return True

    def shutdown(self) -> None:
        """See Pool in `impl.ports.pools`."""
        self.is_shutdown = True

    def shutdown_now(self) -> list[Job]:
        """See Pool in `impl.ports.pools`."""
        self.is_shutdown = True
        given_back = list(self.queue)
        self.queue.clear()
        return given_back

    async def await_termination(self, timeout_ms: int) -> bool:
        """See Pool in `impl.ports.pools`."""
        if self.is_shutdown and self.free == self.threads:
            return True
        waiting = Future(self.process.kernel)
        self._terminated.append(waiting)
        return await self.process.until(waiting, timeout_ms) is True


class Scheduler:
    """ScheduledThreadPoolExecutor: jobs that are due queue for its threads."""

    def __init__(self, process: Process, name: str, threads: int) -> None:
        """Nothing scheduled."""
        self.process = process
        self.pool = Pool(process, name, threads)
        self.is_shutdown = False

    def schedule(self, job: Job, delay_ms: int) -> None:
        """See Scheduler in `impl.ports.pools`."""
        if self.is_shutdown:
            raise RejectedExecutionError(f"{self.pool.name} is shut down")
        kernel = self.process.kernel
        if kernel.trail is not None:
            kernel.trail.later(kernel.now_ms, job, delay_ms, len(kernel.records))
        self.process.after(delay_ms, lambda: self.pool.execute(job))

    def schedule_at_fixed_rate(self, job: Job, initial_delay_ms: int, period_ms: int) -> None:
        """See Scheduler in `impl.ports.pools`."""
        self._schedule(job, initial_delay_ms, period_ms, fixed_rate=True)

    def schedule_with_fixed_delay(self, job: Job, initial_delay_ms: int, delay_ms: int) -> None:
        """See Scheduler in `impl.ports.pools`."""
        self._schedule(job, initial_delay_ms, delay_ms, fixed_rate=False)

    def shutdown(self) -> None:
        """See Scheduler in `impl.ports.pools`."""
        self.is_shutdown = True

    def _schedule(self, job: Job, initial_delay_ms: int, period_ms: int, *, fixed_rate: bool) -> None:
        if self.is_shutdown:
            raise RejectedExecutionError(f"{self.pool.name} is shut down")
        process, kernel = self.process, self.process.kernel
        due_ms = process.uptime_ms() + initial_delay_ms

        def run() -> Awaitable[None] | None:
            if self.is_shutdown:
                return None
            more = job()
            if more is not None:
                return rest(more)
            again()
            return None

        async def rest(more: Awaitable[None]) -> None:
            await more
            again()

        def again() -> None:
            nonlocal due_ms
            if not process.alive:
                raise ProcessDeadError(process.name)
            uptime_ms = process.uptime_ms()
            due_ms = (due_ms if fixed_rate else uptime_ms) + period_ms
            wait_ms = process.clock.true_ms(due_ms - uptime_ms) if due_ms > uptime_ms else 0
            kernel.at(kernel.now_ms + wait_ms, queue)

        def queue(_: None = None) -> None:
            if process.alive and not self.is_shutdown:
                self.pool.execute(run)

        process.after(initial_delay_ms, queue)
