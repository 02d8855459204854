"""Remoting: connections, requests and responses, clients and servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from impl.decisions.java_errors import JavaException
from impl.ports.pools import Pool

CURRENT_VERSION = 399  # MQVersion.CURRENT_VERSION: the ordinal of V4_9_3
NOT_SET = "not set any response code"  # RemotingCommand#createResponseCommand: stays where only the code is set


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


class Channel(Protocol):
    """A connection, as the tables hold it: compared by identity."""

    def close(self) -> None:
        """RemotingUtil#closeChannel: ask for the end; the event that reports it comes later, on another thread."""
        ...

    def is_active(self) -> bool:
        """Channel#isActive: connected, as far as this side knows."""
        ...

    def is_writable(self) -> bool:
        """Channel#isWritable: the bytes that wait to be sent are below the mark."""
        ...


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


class RemotingError(JavaException):
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
