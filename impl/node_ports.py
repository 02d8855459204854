"""What the threads, servers and clients of one process ask of the host beyond `impl.ports`.

The port of a whole process is `Node`: time, threads, pools, files, chance, remoting, and the trace. Both hosts give it,
so that the same servers and clients run in a simulation and on real sockets.

A kill -9 runs no `finally`. Under simulation it does, so code written against these ports must have no effect in
`finally` or `async with`: a port of a dead process raises, and nothing may catch that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from impl.decisions.java_errors import JavaError
from impl.ports import Channel, Clock, Lock, Threads

CURRENT_VERSION = 399  # MQVersion.CURRENT_VERSION: the ordinal of V4_9_3


class Command(NamedTuple):
    """RemotingCommand: a request or a response.

    code -- request or response code, an int (a member of an IntEnum prints its name). header -- the custom header;
    body -- what the body decodes to: dataclasses, containers, strings, numbers; the other side gets a copy. remark --
    text of a response. version -- ordinal of MQVersion. language -- LanguageCode. The rest is set by remoting: opaque
    -- correlates; is_response, oneway -- bits of `flag`.
    """

    code: int
    header: Any = None
    body: Any = None
    remark: str | None = None
    version: int = CURRENT_VERSION
    language: str = "JAVA"
    opaque: int = 0
    is_response: bool = False
    oneway: bool = False

    def __str__(self) -> str:
        """The code, by its name if it has one."""
        return f"{'response ' if self.is_response else ''}{getattr(self.code, 'name', int(self.code))}"


class Connection(Channel, Protocol):
    """One end of a connection, and whom it leads to."""

    @property
    def remote_address(self) -> str:
        """RemotingHelper#parseChannelRemoteAddr: "host:port" of the other end."""
        ...


Handler = Callable[[Connection, Command], "Awaitable[Command | None] | Command | None"]
"""NettyRequestProcessor#processRequest: a coroutine function, or a plain one if it has no interleave point.

None is no response at all (a suspended pull, a one-way push). A JavaError is answered with SYSTEM_ERROR.
"""

Job = Callable[[], "Awaitable[None] | None"]
"""What a pool runs: a coroutine function without arguments, or a plain one."""


class RemotingError(JavaError):
    """A call that failed in the transport."""

    java_class = "org.apache.rocketmq.remoting.exception.RemotingException"


class RemotingConnectError(RemotingError):
    """No connection, or none that is active."""

    java_class = "org.apache.rocketmq.remoting.exception.RemotingConnectException"

    def __init__(self, addr: str | None) -> None:
        """Name the address as the caller gave it (None is Java's null)."""
        super().__init__(f"connect to {'null' if addr is None else addr} failed")


class RemotingSendRequestError(RemotingError):
    """The write failed, or this side closed the connection while it waited."""

    java_class = "org.apache.rocketmq.remoting.exception.RemotingSendRequestException"

    def __init__(self, addr: str) -> None:
        """Name the address of the channel."""
        super().__init__(f"send request to <{addr}> failed")


class RemotingTimeoutError(RemotingError):
    """No answer, or no permit, in time."""

    java_class = "org.apache.rocketmq.remoting.exception.RemotingTimeoutException"


class RemotingTooMuchRequestError(RemotingError):
    """No permit and no time to wait for one, or a timeout that was over before anything was sent."""

    java_class = "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException"


class RejectedExecutionError(JavaError):
    """A pool takes no more work."""

    java_class = "java.util.concurrent.RejectedExecutionException"


@dataclass(slots=True, eq=False)
class ResponseFuture:
    """ResponseFuture: a request that waits for its response, as its callback sees it.

    channel -- where it was written; opaque -- of the request. timeout_ms -- what is left of the caller's timeout;
    begin_timestamp -- wall clock of the caller. response_command -- None: no response came. send_request_ok -- False:
    it could not be written, or this side closed the channel.
    """

    channel: Connection
    opaque: int
    timeout_ms: int
    begin_timestamp: int
    callback: InvokeCallback | None = None
    response_command: Command | None = None
    send_request_ok: bool = True

    def is_timeout(self, now_ms: int) -> bool:
        """ResponseFuture#isTimeout at a wall time: what a callback reports when there is no response."""
        return now_ms - self.begin_timestamp > self.timeout_ms


InvokeCallback = Callable[[ResponseFuture], "Awaitable[None] | None"]
"""InvokeCallback#operationComplete, run in the callback pool."""


class ChannelEventListener(Protocol):
    """ChannelEventListener; each method is plain, or a coroutine function. One thread calls them one after another."""

    def on_channel_connect(self, remote_addr: str, channel: Connection) -> Awaitable[None] | None:
        """Someone has connected."""
        ...

    def on_channel_close(self, remote_addr: str, channel: Connection) -> Awaitable[None] | None:
        """A connection is gone, whoever closed it."""
        ...

    def on_channel_exception(self, remote_addr: str, channel: Connection) -> Awaitable[None] | None:
        """A connection broke; its close event follows."""
        ...

    def on_channel_idle(self, remote_addr: str, channel: Connection) -> Awaitable[None] | None:
        """Nothing was read or written for too long; the connection is being closed."""
        ...


class Pool(Protocol):
    """A ThreadPoolExecutor with a fixed number of threads and a FIFO queue."""

    @property
    def queue(self) -> Sequence[Job]:
        """What waits for a thread, oldest first; remoting puts a RequestTask there."""
        ...

    def execute(self, job: Job) -> None:
        """Run the job when a thread is free; raises RejectedExecutionError when the queue is full or after shutdown."""
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


class RequestTask(Protocol):
    """RequestTask: a request in the queue of a pool, as BrokerFastFailure sees it.

    create_timestamp -- wall clock at which it was queued. stop_run -- set, the request is no longer processed.
    """

    create_timestamp: int
    stop_run: bool

    def __call__(self) -> Awaitable[None] | None:
        """Process the request."""
        ...

    def return_response(self, code: int, remark: str) -> None:
        """RequestTask#returnResponse: answer at once (also a one-way request)."""
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


class Thread(Protocol):
    """A thread that was started."""

    async def join(self, timeout_ms: int) -> bool:
        """Wait for its end; False when the time is over."""
        ...


@dataclass(slots=True, eq=False)
class Signal:
    """A flag that one thread waits for: the `hasNotified` of a ServiceThread, a latch, a condition.

    notified -- wakings collapse into one; a wait that ends clears it.
    """

    name: str
    notified: bool = False


class RemotingClient(Protocol):
    """NettyRemotingClient: one connection for each address. addr None means "the name server", the one chosen last."""

    def start(self) -> None:
        """Begin to work."""
        ...

    def shutdown(self) -> None:
        """Close all connections; later calls fail."""
        ...

    def update_name_server_address_list(self, addrs: Sequence[str]) -> None:
        """Take the list, shuffled, if it differs from the old one."""
        ...

    def get_name_server_address_list(self) -> list[str] | None:
        """The shuffled list; None before the first."""
        ...

    def register_processor(self, code: int, handler: Handler, pool: Pool | None = None) -> None:
        """Handle requests of this code from servers, in the pool, or else in that of the callbacks."""
        ...

    async def invoke_sync(self, addr: str | None, request: Command, timeout_ms: int) -> Command:
        """Call and wait; raises RemotingConnectError, RemotingSendRequestError, RemotingTimeoutError.

        A timeout closes the connection, so that all other calls that wait on it fail.
        """
        ...

    async def invoke_async(self, addr: str | None, request: Command, timeout_ms: int, callback: InvokeCallback) -> None:
        """Call; the callback runs later, once. Connecting waits and raises, as does the lack of a permit."""
        ...

    async def invoke_oneway(self, addr: str | None, request: Command, timeout_ms: int) -> None:
        """Send without an answer; timeout_ms -- how long to wait for a permit."""
        ...

    def is_channel_writable(self, addr: str) -> bool:
        """NettyRemotingClient#isChannelWritable: true also if there is no connection."""
        ...

    async def close_channels(self, addrs: Sequence[str]) -> None:
        """Close the connections to these addresses, if there are."""
        ...


class RemotingServer(Protocol):
    """NettyRemotingServer."""

    def start(self) -> None:
        """Listen."""
        ...

    def shutdown(self) -> None:
        """Stop listening and close all connections."""
        ...

    def register_processor(
        self, code: int, handler: Handler, pool: Pool | None = None, rejects: Callable[[], bool] | None = None,
    ) -> None:
        """Handle requests of this code in the pool; rejects -- NettyRequestProcessor#rejectRequest."""
        ...

    def register_default_processor(self, handler: Handler, pool: Pool) -> None:
        """Handle requests of all other codes."""
        ...

    def respond(self, channel: Connection, request: Command, response: Command) -> None:
        """Answer a request whose handler gave None; nothing happens if the channel is gone."""
        ...

    async def invoke_sync(self, channel: Connection, request: Command, timeout_ms: int) -> Command:
        """Call a client and wait; raises RemotingSendRequestError, RemotingTimeoutError. Closes nothing."""
        ...

    async def invoke_async(
        self, channel: Connection, request: Command, timeout_ms: int, callback: InvokeCallback,
    ) -> None:
        """Call a client; the callback runs later, once."""
        ...

    async def invoke_oneway(self, channel: Connection, request: Command, timeout_ms: int) -> None:
        """Send to a client without an answer; timeout_ms -- how long to wait for one of the 256 permits."""
        ...


class Files(Protocol):
    """The files that a process reads and writes as whole texts (MixAll#string2File); each call is atomic."""

    def read_text(self, path: str) -> str | None:
        """The content; None if there is no such file."""
        ...

    def write_text(self, path: str, text: str) -> None:
        """Create or replace a file; the folder is made. Nothing is forced to the disk."""
        ...

    def rename(self, path: str, to: str) -> None:
        """Give a file another name, replacing what has it; nothing happens if there is no such file."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file if it is there."""
        ...


class Node(Clock, Threads, Protocol):
    """One process: what its servers, clients and services may ask for.

    Times in milliseconds go by the clock of its machine, which may drift.
    """

    @property
    def name(self) -> str:
        """Of the machine; part of its addresses ("broker-a:10911")."""
        ...

    @property
    def files(self) -> Files:
        """The files of its machine: they survive the process."""
        ...

    def sleep(self, ms: int) -> Awaitable[None]:
        """Thread#sleep."""
        ...

    def lock(self, lock: Lock) -> Awaitable[None]:
        """Lock#lock, synchronized: wait for as long as it takes."""
        ...

    def wait(self, signal: Signal, timeout_ms: int) -> Awaitable[bool]:
        """ServiceThread#waitForRunning: return at once if it was notified, else wait; whether it was. Clears it."""
        ...

    def wake(self, signal: Signal) -> None:
        """ServiceThread#wakeup."""
        ...

    def start_thread(self, name: str, run: Coroutine[Any, Any, None]) -> Thread:
        """Start a thread; an exception that leaves `run` ends it."""
        ...

    def pool(self, name: str, threads: int, queue_bound: int | None = None) -> Pool:
        """Make a pool; None: its queue has no bound."""
        ...

    def scheduler(self, name: str, threads: int = 1) -> Scheduler:
        """Make a scheduler."""
        ...

    def random(self, n: int, where: str) -> int:
        """Random#nextInt(n), 0 … n-1 with n at most 256; where -- the Java method that asks, for people."""
        ...

    def trace(self, event: Any) -> None:
        """Report what has just been done, in the segment that did it; event -- one of `impl.events`."""
        ...

    def remoting_client(
        self, name: str, callback_threads: int = 4, listener: ChannelEventListener | None = None,
    ) -> RemotingClient:
        """Make a client; name -- of its threads. callback_threads -- clientCallbackExecutorThreads."""
        ...

    def remoting_server(self, port: int, listener: ChannelEventListener | None = None) -> RemotingServer:
        """Make a server that will listen at "name:port" once it is started."""
        ...
