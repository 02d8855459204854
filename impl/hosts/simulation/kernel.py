"""The scheduler: steps the coroutines of all simulated processes, one at a time, in virtual time.

Time is an int of milliseconds since the simulation began. Code takes no time; a task waits by sleeping or on a Future.
A *segment* is what a task does between two awaits. After each, and also at each `interleave` at which the thread goes
on at once, the monitor sees the process and the events that were traced in it; a segment without any it sees only when
it is due.

Fault injected here, chosen by the tape at the rate `order` of the fault profile (0 never, n once in n): of the tasks
that could run in the same millisecond another than the first comes first; choice k: the k-th next of ORDER_WINDOW.

And, when `faults.py` or a scenario says so:

* `pause`: a whole process stands still (garbage collection, SIGSTOP) and goes on later as if nothing had been;
* `kill`: a process is gone (kill -9, power loss). Its coroutines are closed here. Closing runs their `finally` clauses,
  so that every port of a dead process raises ProcessDeadError: nothing they do reaches the world. A process that is
  started again is another object, with the next incarnation number.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from types import CoroutineType
from typing import Any, Self
from weakref import WeakSet

from impl.decisions.java_errors import JavaError
from impl.events.host import ProcessKilled, ProcessPaused, ThreadDied
from impl.hosts.simulation.clock import WallClock
from impl.hosts.simulation.executor import Pool
from impl.hosts.simulation.process import Process, ProcessDeadError, Task, as_coroutine
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import Tape, Where
from impl.hosts.simulation.trail import Trail

ORDER_WINDOW = 4
RESTING = 200_000
"""How many objects may be made and kept before Python looks for cycles among them while worlds live (default: 700).

A run makes hardly any, and keeps what it records: looking often costs a fifth of its time and finds nothing.
"""


class _Rest:
    """The rest of the garbage collector: from when a kernel is entered, or runs, until all such are closed, or gone."""

    def __init__(self) -> None:
        self._kernels: WeakSet[Kernel] = WeakSet()
        self._usual: tuple[int, int, int] | None = None  # while it rests

    def begin(self, kernel: Kernel) -> None:
        """Rest, unless it rests already, or is off."""
        self._kernels.add(kernel)
        if self._usual is None:
            self._usual = youngest, *older = gc.get_threshold()
            if youngest:
                gc.set_threshold(max(RESTING, youngest), *older)

    def end(self, kernel: Kernel) -> None:
        """Work again as before, unless other kernels still run."""
        self._kernels.discard(kernel)
        if self._usual is not None and not self._kernels:
            gc.set_threshold(*self._usual)
            self._usual = None


_REST = _Rest()


STANDS = 10_000
"""So many segments beyond those that a run may have, all in one millisecond, and no time passes any more."""


class EndlessRunError(Exception):
    """The run has had more segments than it may have, and nothing is known about its end.

    stands -- whether no time passes any more; else it goes on, and only does very much.
    """

    def __init__(self, said: str, *, stands: bool) -> None:
        """Say it."""
        super().__init__(said)
        self.stands = stands


Record = tuple[int, str, Any]  # one line of the run: true time, name of the process, what it traced
Monitor = Callable[[Process, Sequence[Record], bool], None]
"""Told of a segment: whose, what was recorded in it and since the last that was told, and whether it was due."""


class Kernel:
    """Virtual time and everything that waits in it; use it as a context manager, or call close.

    now_ms -- true time. ready -- what runs in this millisecond, as (task or callback, argument). profile -- rates of
    the faults, replaced when the world heals. records -- what was traced. segments -- how many have ended. monitor --
    called after each, and at a process's `interleave`, if something was recorded since it was called last, or if it is
    due: the first of a process and every show_every-th. shown -- how many records the monitor has been told.
    max_segments -- where a run is given up; more_segments -- and how many it may have more for each second of its time.
    running -- the task or pool that was stepped last. trail -- kept on replay only.
    """

    def __init__(
        self, tape: Tape, profile: FaultProfile = CALM, monitor: Monitor | None = None, max_segments: int = 10_000_000,
        more_segments: int = 0,
    ) -> None:
        """At time 0, with one process, `world`, for what is no part of RocketMQ (workload, faults); nobody kills it."""
        self.tape, self.profile, self.monitor, self.max_segments = tape, profile, monitor, max_segments
        self._first_segments, self.more_segments = max_segments, more_segments
        self.now_ms = 0
        self.segments = 0
        self.show_every = 1
        self.records: list[Record] = []
        self.trail = Trail() if tape.telling else None
        self.processes: dict[str, Process] = {}
        self.ready: deque[tuple[Any, Any]] = deque()
        self.running: Any = None
        self.on_kill: list[Callable[[Process, bool], None]] = []
        self._due: deque[tuple[Any, Any]] = deque()  # timers of this millisecond, which come after what is ready
        self._timers: dict[int, list[tuple[Any, Any]]] = {}  # later millisecond to its timers
        self._times: list[int] = []  # a heap of those milliseconds
        self._over_ms: int | None = None  # when the run had as many segments as it may have
        self.shown = 0
        self.world = Process(self, "world", WallClock(self))

    def __enter__(self) -> Self:
        """Let the garbage collector rest until the kernel is closed."""
        _REST.begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def fault(self, one_in: int, values: Sequence[int], where: Where, who: str, meaning: str) -> int | None:
        """Let the tape choose nothing (None) or one of the values; meaning -- the sentence, with {} for the value."""
        chosen = self.tape.pick(len(values) + 1, where, one_in) if one_in else 0
        if not chosen:
            return None
        value = values[chosen - 1]
        if self.tape.telling:
            self.tape.tell(self.now_ms, who, meaning.format(value))
        return value

    def record(self, process: str, event: Any) -> None:
        """Write a line of the run record; the hosts' own events are tuples that begin with a lower-case word."""
        self.records.append((self.now_ms, process, event))

    def at(self, time_ms: int, callback: Callable[[Any], object] | Task, argument: Any = None) -> None:
        """Call back at a true time, outside any segment; or let a task go on with the argument."""
        if time_ms <= self.now_ms:
            self._due.append((callback, argument))
        elif (timers := self._timers.get(time_ms)) is not None:
            timers.append((callback, argument))
        else:
            self._timers[time_ms] = [(callback, argument)]
            heappush(self._times, time_ms)

    def end_segment(self, process: Process) -> None:
        """Count a segment of the process and show it to the monitor, if that wants to see it."""
        self.segments += 1
        if self.segments > self.max_segments:
            self._too_long()
        if self.monitor is not None:
            left = process.left
            process.left = left - 1 if left else self.show_every - 1
            if not left or len(self.records) > self.shown:
                shown, self.shown = self.shown, len(self.records)
                self.monitor(process, self.records[shown:] if shown < self.shown else (), not left)

    def _too_long(self) -> None:
        """Let the run go on if it is old enough for so many segments; else end it, once it is clear if time passes."""
        self.max_segments = self._first_segments + self.now_ms * self.more_segments // 1000
        if self.segments <= self.max_segments:
            self._over_ms = None
            return
        if self._over_ms is None:
            self._over_ms = self.now_ms
        said = f"{self.segments:,} segments and only {self.now_ms:,} ms"
        if self.now_ms > self._over_ms:
            raise EndlessRunError(f"{said}: it talks without end", stands=False)
        if self.segments > self.max_segments + STANDS:
            raise EndlessRunError(f"{said}: does something spin?", stands=True)

    def run(self, until_ms: int) -> None:  # noqa: C901, PLR0912, PLR0915  # the inner loop: a call costs as much as a branch of it
        """Let everything happen up to this true time, which it is then.

        What is ready goes first, in its order; then comes the next timer. With the fault `order` all timers of one
        millisecond are ready together. The garbage collector rests until the kernel is closed.
        """
        _REST.begin(self)
        ready, due, times, pick, trail = self.ready, self._due, self._times, self.tape.pick, self.trail
        while True:
            if ready:
                rate = self.profile.order
                if rate and (n := len(ready)) > 1:
                    k = pick(n if n < ORDER_WINDOW else ORDER_WINDOW, "", rate)  # noqa: FURB136  # a call less
                    target, argument = self._overtaking(k) if k else ready.popleft()
                else:
                    target, argument = ready.popleft()
            elif due:
                target, argument = due.popleft()
                if due and self.profile.order:
                    ready.append((target, argument))
                    ready.extend(due)
                    due.clear()
                    continue
            elif times and times[0] <= until_ms:
                self.now_ms = heappop(times)
                due.extend(self._timers.pop(self.now_ms))
                continue
            else:
                break
            kind = target.__class__
            if trail is not None:
                trail.enter(target, argument, len(self.records), self.now_ms)
            if kind is not Task and kind is not Pool:
                target(argument)
                continue
            process = target.process
            if target.done if kind is Task else not process.alive:
                continue
            if process.paused_until_ms > self.now_ms:
                self.stand(process, target, argument)
                continue
            self.running = target
            try:
                if kind is Task:
                    awaited = next(target.steps, None)
                elif (more := argument()) is None:
                    awaited = None
                else:  # most jobs that could wait do not: only one that does becomes a task
                    if more.__class__ is not CoroutineType:
                        more = as_coroutine(more)
                    awaited = next(steps := more.__await__(), None)
                    if awaited is not None:
                        target = Task(process, target.name, more, steps, (target.end,))
                        if trail is not None:
                            trail.continues(target)
                        if not process.alive:
                            self._close_tasks(process)
            except BaseException as error:  # noqa: BLE001  # it raises again what is none of its business
                self._failed(target, error)
            else:
                if awaited is None:
                    target.end()
                elif awaited.__class__ is int:
                    self.at(self.now_ms + awaited, target)
                elif awaited.waiter is None:
                    awaited.waiter = target
                else:
                    raise RuntimeError(f"{target} waits for a future for which {awaited.waiter} waits already")
            if self.segments >= self.max_segments:
                self.end_segment(process)
            elif self.monitor is None:
                self.segments += 1
            elif process.left and len(self.records) == self.shown:
                self.segments += 1
                process.left -= 1
            else:
                self.end_segment(process)
        self.now_ms = until_ms

    def _overtaking(self, k: int) -> tuple[Any, Any]:
        """Take the one out that comes before k others which were ready first."""
        ready = self.ready
        chosen = ready[k]
        if self.tape.telling:
            who = str(chosen[0]) if isinstance(chosen[0], Task | Pool) else "the network"
            self.tape.tell(self.now_ms, who, f"came before {k} that were ready first")
        del ready[k]
        return chosen

    def _failed(self, thread: Task | Pool, error: BaseException) -> None:
        if isinstance(error, JavaError):
            self.uncaught(thread.process.name, thread.name, error)
        elif not isinstance(error, ProcessDeadError):
            error.add_note(f"in thread {thread} at {self.now_ms} ms")
            raise error
        thread.end()

    def uncaught(self, process: str, thread: str, error: JavaError) -> None:
        """Record that a thread, or a job of a pool, ended with a Java exception; a Python error is ours and goes up."""
        self.record(process, ThreadDied(thread, error.java_class, error.message))

    def stand(self, process: Process, target: Any, argument: Any = None) -> None:
        """Keep what a process that stands still would do, in its order, until it goes on."""
        if not process.standing:
            self.at(process.paused_until_ms, self._go_on, process)
        process.standing.append((target, argument))

    def _go_on(self, process: Process) -> None:
        if process.paused_until_ms > self.now_ms:
            self.at(process.paused_until_ms, self._go_on, process)  # it was paused again
            return
        self.ready.extend(process.standing)
        process.standing.clear()

    def resume(self, process: Process) -> None:
        """Let a process that stands still go on now."""
        process.paused_until_ms = 0
        self._go_on(process)

    def pause(self, process: Process, ms: int) -> None:
        """Let no thread of the process run for so many true milliseconds."""
        process.paused_until_ms = max(process.paused_until_ms, self.now_ms + ms)
        self.record(process.name, ProcessPaused(ms))

    def kill(self, process: Process, *, power_loss: bool = False) -> None:
        """End a process at once; power_loss -- its machine goes too, so that nobody closes its connections."""
        process.check_alive()
        process.alive = False
        self.record(process.name, ProcessKilled(process.incarnation, power_loss))
        for hook in self.on_kill:
            hook(process, power_loss)
        self._close_tasks(process)

    def _close_tasks(self, process: Process) -> None:
        for task in list(process.tasks):
            if task.coroutine.cr_running:  # type: ignore[attr-defined]  # a coroutine object has it, its type has not
                self.at(self.now_ms, self._close_tasks, process)  # it kills its own process: after this segment
                continue
            try:
                task.coroutine.close()
            except ProcessDeadError:
                pass
            except RuntimeError as error:
                raise RuntimeError(f"{task} awaits in finally: a kill -9 must not run it") from error
            task.end()

    def close(self) -> None:
        """End all processes; afterwards no coroutine is left."""
        for process in self.processes.values():
            process.alive = False
            self._close_tasks(process)
        self.ready.clear()
        self._due.clear()
        self._timers.clear()
        self._times.clear()
        _REST.end(self)
