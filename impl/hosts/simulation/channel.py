"""One end of a connection; what TCP does for RocketMQ, and to it.

What is written at one end arrives at the other in order, LATENCY_MS later; an end that is closed tells the other by a
FIN, in order behind the data. An end reports to its owner what Netty would: CONNECT, CLOSE, IDLE (nothing read and
nothing written for IDLE_MS), EXCEPTION (a reset). A paused process receives, and sees events, when it goes on.

Faults injected here, each chosen by the tape at the rate that the fault profile gives:

* `delay`: a message takes one of DELAYS_MS longer. Messages behind it on the connection wait, those on other
  connections overtake it;
* `one_way_loss`, `one_way_duplicate`: a message that nobody answers is lost, or arrives twice;
* `write_stall`: the socket takes no more bytes for one of STALLS_MS: the channel is not writable, and this message and
  those behind it leave, and give back their permits, only then. Of a byte stream (sockets.py) a part has left before.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol

from impl.events.host import MessageLost
from impl.hosts.simulation.process import Process
from impl.hosts.simulation.profile import CALM
from impl.hosts.simulation.trail import Flow

if TYPE_CHECKING:  # a channel is a thing of its network
    from impl.hosts.simulation.network import Network

LATENCY_MS = 1
DELAYS_MS = (1, 5, 20, 100, 500, 2_000, 5_000, 15_000)
STALLS_MS = (5, 20, 100, 1_000, 10_000)
IDLE_MS = 120_000  # serverChannelMaxIdleTimeSeconds, clientChannelMaxIdleTimeSeconds
ONCE = (1,)  # the value of a fault that just strikes
FIN: Final = "FIN"


class Endpoint(Protocol):
    """Who owns an end of a connection. None of these may wait; each is called outside any segment."""

    def received(self, channel: Channel, message: Any) -> None:
        """A message has arrived."""
        ...

    def connected(self, channel: Channel) -> None:
        """The other side has connected to this one."""
        ...

    def closed(self, channel: Channel, *, by_self: bool) -> None:
        """The connection is over; by_self -- this side closed it (then it is called within the closing segment)."""
        ...

    def broken(self, channel: Channel) -> None:
        """The connection was reset; `closed` follows."""
        ...

    def idle(self, channel: Channel) -> None:
        """Nothing was read or written for IDLE_MS."""
        ...


class Channel:
    """One end of a connection: a `Connection` for the code above.

    active -- open, as far as this end knows. peer -- the other end, once there is one. used_ms -- true time of the last
    read or write; stalled_ms -- true time until which the socket takes nothing. answered -- the requests that this end
    has answered, by their opaques.
    """

    __slots__ = ("_due_ms", "_inbox", "_opened", "_stalled", "active", "answered", "endpoint", "kernel", "network",
                 "peer", "process", "remote_address", "severed", "stalled_ms", "used_ms")

    def __init__(self, network: Network, process: Process, endpoint: Endpoint, remote_address: str) -> None:
        """Not open yet."""
        self.network, self.kernel = network, network.kernel
        self.process, self.endpoint, self.remote_address = process, endpoint, remote_address
        self.peer: Channel = self
        self.active = self.severed = self._opened = False
        self.used_ms = self.stalled_ms = self._due_ms = 0
        self._inbox: deque[tuple[Any, Flow | None]] = deque()
        self.answered: set[int] = set()
        self._stalled = 0

    def __deepcopy__(self, memo: object) -> Channel:
        """A connection cannot be sent over a connection."""
        raise TypeError(f"the channel {self} is part of a message: send its address")

    def __str__(self) -> str:
        """From where to where."""
        return f"{self.process.name} -> {self.peer.process.name}"

    def is_active(self) -> bool:
        """See `impl.ports.remoting`."""
        return self.active

    def is_writable(self) -> bool:
        """See `impl.ports.remoting`."""
        return self.stalled_ms <= self.kernel.now_ms

    def close(self) -> None:
        """See `impl.ports.remoting`."""
        self.process.check_alive()
        if self.active:
            kernel = self.kernel
            if kernel.trail is not None:
                kernel.trail.close(kernel.now_ms, self, len(kernel.records))
            self.lose()
            self.peer.arrive(FIN, LATENCY_MS)
            self.endpoint.closed(self, by_self=True)

    def write(self, message: Any, *, lossy: bool = False, stalls: bool = True) -> bool:
        """Send a message; False if this end is not open.

        lossy -- a one-way message, which may be lost or doubled. stalls -- whether the socket may stall in its midst.
        """
        if not self.process.alive:
            self.process.check_alive()
        if not self.active:
            return False
        kernel = self.kernel
        self.used_ms = now_ms = kernel.now_ms
        self.network.messages += 1
        trail = kernel.trail
        flow = None if trail is None else trail.write(self, message, now_ms, len(kernel.records))
        delay_ms = LATENCY_MS + self.stalled_ms - now_ms if self.stalled_ms > now_ms else LATENCY_MS
        if kernel.profile is CALM:
            self.peer.arrive(message, delay_ms, flow)
        else:
            self._write_with_faults(message, delay_ms, flow, lossy=lossy, stalls=stalls)
        return True

    def stall(self, message: Any) -> int:
        """Let the tape choose for how long the socket takes nothing from now on (ms), 0 if it goes on as it does."""
        kernel = self.kernel
        if not kernel.profile.write_stall or not self.is_writable():
            return 0
        stall_ms = kernel.fault(kernel.profile.write_stall, STALLS_MS, lambda: f"{message} {self}", self.process.name,
                                "stalled {} ms") or 0
        self.stalled_ms = kernel.now_ms + stall_ms
        return stall_ms

    def _write_with_faults(
        self, message: Any, delay_ms: int, flow: Flow | None, *, lossy: bool, stalls: bool,
    ) -> None:
        kernel, profile, name = self.kernel, self.kernel.profile, self.process.name

        def where() -> str:
            return f"{message} {self}"

        if stalls:
            delay_ms += self.stall(message)
        if lossy and kernel.fault(profile.one_way_loss, ONCE, where, name, "lost"):
            kernel.record(name, MessageLost(self.peer.process.name))
            return
        if lossy and kernel.fault(profile.one_way_duplicate, ONCE, where, name, "doubled"):
            self.peer.arrive(message, delay_ms, flow)
        delay_ms += kernel.fault(profile.delay, DELAYS_MS, where, name, "delayed {} ms") or 0
        self.peer.arrive(message, delay_ms, flow)

    def arrive(self, message: Any, delay_ms: int, flow: Flow | None = None) -> None:
        """Put a message on its way to this end, behind those that are on their way already."""
        kernel = self.kernel
        due_ms = kernel.now_ms + delay_ms
        if due_ms < self._due_ms:  # noqa: PLR1730  # a call for each message is too much
            due_ms = self._due_ms
        self._due_ms = due_ms
        self._inbox.append((message, flow))
        kernel.at(due_ms, self._deliver)

    def open(self) -> None:
        """Become active and watch for idleness."""
        self.active = self._opened = True
        self.used_ms = self.kernel.now_ms
        self.kernel.at(self.used_ms + IDLE_MS, self._watch)
        self.network.open_ends[self] = None

    def reset(self, _: Any = None) -> None:
        """This end learns that the connection is broken; nothing happens if it is not open any more."""
        if self.active and not self.later(self.reset):
            self.lose()
            self.endpoint.broken(self)
            self.endpoint.closed(self, by_self=False)

    def release(self) -> None:
        """Deliver what a partition has held back."""
        for _ in range(self._stalled):
            self.kernel.at(self.kernel.now_ms + LATENCY_MS, self._deliver)
        self._stalled = 0

    def lose(self) -> None:
        """Be open no more; nobody is told."""
        self.active = False
        if not self.peer.active:
            self.network.open_ends.pop(self, None)
            self.network.open_ends.pop(self.peer, None)

    def later(self, callback: Any) -> bool:
        """Whether the process stands still; then the callback comes when it goes on."""
        stands = self.process.alive and self.process.paused_until_ms > self.kernel.now_ms
        if stands:
            self.kernel.stand(self.process, callback)
        return stands

    def _deliver(self, _: Any) -> None:
        network, kernel = self.network, self.kernel
        if self.process.paused_until_ms > kernel.now_ms and self.later(self._deliver):
            return
        if network.blocked and (self.peer.process.name, self.process.name) in network.blocked:
            self._stalled += 1
            return
        if not self._opened:  # the other end was quicker than the last step of the handshake
            kernel.at(kernel.now_ms + LATENCY_MS, self._deliver)
            return
        message, flow = self._inbox.popleft()
        if self.severed:
            return
        if not self.active:
            if network.is_up(self.process) and (self.process.name, self.peer.process.name) not in network.blocked:
                kernel.at(kernel.now_ms + LATENCY_MS, self.peer.reset)
        elif message is FIN:
            self.lose()
            self.endpoint.closed(self, by_self=False)
        else:
            self.used_ms = kernel.now_ms
            if flow is not None:
                flow.received_ms, flow.received_at = kernel.now_ms, len(kernel.records)
            self.endpoint.received(self, message)

    def _watch(self, _: Any) -> None:
        if not self.active or self.later(self._watch):
            return
        if self.used_ms + IDLE_MS <= self.kernel.now_ms:
            self.used_ms = self.kernel.now_ms
            self.endpoint.idle(self)
        self.kernel.at(self.used_ms + IDLE_MS, self._watch)
