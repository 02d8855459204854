"""What people want to know of a run besides its records: which thread did what, and which message brought it about.

It is kept on replay only, and changes nothing of the run.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from impl.hosts.simulation.executor import Pool
from impl.hosts.simulation.process import Task

if TYPE_CHECKING:  # a channel is a thing of its network
    from impl.hosts.simulation.channel import Channel

NO_THREAD = 0
"""Of what happens outside any thread: timers of the network, faults."""


@dataclass(slots=True, eq=False)
class Flow:
    """What became of one message.

    source, target -- machines. message -- as it was written. thread -- who wrote it. sent_at, received_at -- how many
    records there were then; received_ms, received_at -- None: it has not arrived (yet). answers -- the request whose
    response it is.
    """

    sent_ms: int
    source: str
    target: str
    message: Any
    thread: int
    sent_at: int
    answers: Flow | None = None
    received_ms: int | None = None
    received_at: int | None = None

    @property
    def text(self) -> str:
        """The code of the message, and whether it is a response."""
        return str(self.message)


class Halt(NamedTuple):
    """A thread was descheduled: when (ms), in the process of which machine, where in its code, for how long.

    at -- how many records there were.
    """

    ms: int
    machine: str
    thread: int
    where: str
    paused_ms: int
    at: int


@dataclass(slots=True, eq=False)
class Wait:
    """A thread waits: for a connection to a machine, or for something else that has a name.

    to -- the machine; empty: something else. what -- its name. at -- how many records there were. until_ms -- None: it
    waits still. in_vain -- it gives up.
    """

    ms: int
    machine: str
    thread: int
    to: str
    what: str
    at: int
    until_ms: int | None = None
    in_vain: bool = False

    def end(self, ms: int, *, in_vain: bool) -> None:
        """It goes on."""
        self.until_ms, self.in_vain = ms, in_vain


class Close(NamedTuple):
    """A thread closes the connection of its machine to another one; ends -- what the two call it."""

    ms: int
    machine: str
    other: str
    ends: tuple[str, str]
    thread: int
    at: int


class PutOff(NamedTuple):
    """A job is put off: when (ms), how many records there were, for how long."""

    ms: int
    at: int
    delay_ms: int


class Trail:
    """See the module.

    flows -- messages in the order in which they were written. halts, waits, closes -- in their order. put_off -- by the
    thread of the job, where it was not to begin at once. jobs -- the name of the pool of each thread that is a job.
    """

    def __init__(self) -> None:
        """Nothing has happened."""
        self.flows: list[Flow] = []
        self.halts: list[Halt] = []
        self.waits: list[Wait] = []
        self.closes: list[Close] = []
        self.put_off: dict[int, PutOff] = {}
        self.jobs: dict[int, str] = {}
        self._later: dict[int, tuple[Any, PutOff]] = {}  # by the identity of the job, which is kept alive
        self._entered: list[int] = []  # numbers of records at which another thread went on, and which
        self._threads: list[int] = []
        self._tasks: dict[Task, int] = {}
        self._machines: dict[int, str] = {}
        self._began: dict[int, tuple[int, int]] = {}
        self._handles: dict[int, Any] = {}  # threads that handle a request
        self._written: dict[int, Flow] = {}  # by the identity of the message, which its flow keeps alive
        self._asked: dict[tuple[int, int], Flow] = {}  # requests by their end of the connection, and opaque
        self._last = NO_THREAD

    @property
    def thread(self) -> int:
        """The thread that runs now."""
        return self._threads[-1] if self._threads else NO_THREAD

    def thread_of(self, at: int, machine: str) -> int:
        """The thread that made the record with this index, which is of this machine."""
        place = bisect_right(self._entered, at) - 1
        thread = self._threads[place] if place >= 0 else NO_THREAD
        return thread if self._machines.get(thread) == machine else NO_THREAD

    def request_of(self, thread: int) -> Flow | None:
        """The message that a thread handles."""
        return self._written.get(id(self._handles.get(thread)))

    def handled(self, flow: Flow) -> bool:
        """Whether a thread has begun to handle a message."""
        return any(message is flow.message for message in self._handles.values())

    def began(self, thread: int) -> tuple[int, int]:
        """When a thread began (ms), and how many records there were."""
        return self._began[thread]

    def enter(self, target: Any, argument: Any, at: int, now_ms: int) -> None:
        """The kernel lets this target go on, behind so many records; a job of a pool is a thread of its own."""
        if target.__class__ is Task:
            number = self._tasks.get(target) or self._next()
            self._tasks[target] = number
        elif target.__class__ is Pool:
            number = self._next()
            self.jobs[number] = target.name
            request = getattr(argument, "request", None)
            if request is not None:
                self._handles[number] = request
            if id(argument) in self._later:
                self.put_off[number] = self._later.pop(id(argument))[1]
        else:
            number = NO_THREAD
        if number:
            self._machines[number] = target.process.name
            self._began.setdefault(number, (now_ms, at))
        self._entered.append(at)
        self._threads.append(number)

    def continues(self, task: Task) -> None:
        """The job that was entered last waits, and has become a task."""
        self._tasks[task] = self.thread

    def write(self, channel: Channel, message: Any, now_ms: int, at: int) -> Flow:
        """A message is written at an end of a connection."""
        flow = Flow(now_ms, channel.process.name, channel.peer.process.name, message, self.thread, at)
        opaque = getattr(message, "opaque", None)
        if opaque is not None and message.is_response:
            flow.answers = self._asked.get((id(channel.peer), opaque))
        elif opaque is not None:
            self._asked[id(channel), opaque] = flow
        self.flows.append(flow)
        self._written[id(message)] = flow
        return flow

    def halt(self, ms: int, machine: str, where: str, paused_ms: int, at: int) -> None:  # what a Halt is
        """The thread that runs is descheduled."""
        self.halts.append(Halt(ms, machine, self.thread, where, paused_ms, at))

    def wait(self, ms: int, machine: str, at: int, *, to: str = "", what: str = "") -> Wait:
        """The thread that runs begins to wait; see Wait."""
        self.waits.append(Wait(ms, machine, self.thread, to, what, at))
        return self.waits[-1]

    def close(self, ms: int, channel: Channel, at: int) -> None:
        """The thread that runs closes this end of a connection."""
        ends = channel.remote_address, channel.peer.remote_address
        self.closes.append(Close(ms, channel.process.name, channel.peer.process.name, ends, self.thread, at))

    def later(self, ms: int, job: Any, delay_ms: int, at: int) -> None:
        """A job is to begin so much later."""
        self._later[id(job)] = job, PutOff(ms, at, delay_ms)

    def _next(self) -> int:
        self._last += 1
        return self._last
