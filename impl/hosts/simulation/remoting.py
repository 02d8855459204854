"""Remoting under simulation: NettyRemotingAbstract of 4.9.3, what its client and its server have in common.

No fault is injected here; this is what 4.9.3 makes of those of the network. What is mirrored with its hazards:

* requests of one connection go to the pools of their codes and are answered in any order;
* a request has its opaque before it waits for a channel or a permit (RemotingCommand#createRequestCommand);
* the response table is keyed by opaque only; what comes late, or twice, is dropped;
* a synchronous call that times out closes its connection, which fails all other calls that wait on it
  (NettyRemotingClient#invokeSync, NettyRemotingAbstract#failFast); a close by the other side fails none of them;
* an asynchronous call ends by its response, by failFast, or by a scan each second once timeout + 1000 ms have passed
  by the wall clock; the scan also forgets synchronous calls, whose answers are then dropped: both at once when the
  clock jumps forward (NettyRemotingAbstract#scanResponseTable);
* a one-way message needs a permit, waits for one as long as its timeout says, and gives it back when the write is
  done, a stalled write late (NettyRemotingAbstract#invokeOnewayImpl);
* what is no command, as bytes of replication, closes its connection (NettyDecoder#decode);
* channel events wait in one queue for one thread, which drops what comes when more than 10,000 wait
  (NettyRemotingAbstract.NettyEventExecutor#putNettyEvent).

Left out: RPC hooks (ACL), TLS.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, cast

from impl.decisions.java_errors import JavaError
from impl.events.host import AnsweredAgain, EventDropped
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.executor import Pool
from impl.hosts.simulation.network import Network
from impl.hosts.simulation.process import TIMED_OUT, Future, Process
from impl.hosts.simulation.wire import FIXED, copied
from impl.ports.pools import Pool as PoolPort, RejectedExecutionError
from impl.ports.remoting import (
    ChannelEventListener,
    Command,
    Connection,
    Handler,
    InvokeCallback,
    RemotingSendRequestError,
    RemotingTimeoutError,
    RemotingTooMuchRequestError,
    ResponseFuture,
)

SYSTEM_ERROR, SYSTEM_BUSY, REQUEST_CODE_NOT_SUPPORTED = 1, 2, 3  # RemotingSysResponseCode
SCAN_PERIOD_MS = 1000  # the timer of scanResponseTable
MAX_EVENTS = 10_001  # putNettyEvent adds while at most maxSize = 10,000 wait


class RequestTask:
    """RequestTask: a request on its way through a pool; see `impl.ports.remoting`."""

    __slots__ = ("_handler", "_remoting", "channel", "create_timestamp", "request", "stop_run")

    def __init__(self, remoting: Remoting, handler: Handler, channel: Channel, request: Command) -> None:
        """Queued now."""
        self._remoting, self._handler, self.channel, self.request = remoting, handler, channel, request
        self.create_timestamp = remoting.process.now_ms()
        self.stop_run = False

    def __call__(self) -> Awaitable[None] | None:
        """Process the request, unless BrokerFastFailure has answered it already."""
        if self.stop_run:
            return None
        try:
            response: Any = self._handler(self.channel, self.request)
        except JavaError as error:
            response = Command(SYSTEM_ERROR, remark=exception_simple_desc(error))
        if response is not None:
            if response.__class__ is not Command:
                return self._wait(response)
            self._answer(response)
        return None

    async def _wait(self, handling: Awaitable[Command | None]) -> None:
        try:
            response = await handling
        except JavaError as error:
            response = Command(SYSTEM_ERROR, remark=exception_simple_desc(error))
        if response is not None:
            self._answer(response)

    def _answer(self, response: Command) -> None:
        if not self.request.oneway:
            self._remoting.respond(self.channel, self.request, response)

    def return_response(self, code: int, remark: str) -> None:
        """RequestTask#returnResponse: written for one-way requests too."""
        self._remoting.respond(self.channel, self.request, Command(code, remark=remark))


def exception_simple_desc(error: JavaError) -> str:
    """RemotingHelper#exceptionSimpleDesc without the first stack frame, which names a line of Java."""
    return error.java_class if error.message is None else f"{error.java_class}: {error.message}"


class Permits:
    """A fair Semaphore; free -- permits that nobody has, queue -- who waits for one."""

    def __init__(self, process: Process, permits: int) -> None:
        """All free."""
        self.process, self.free = process, permits
        self.queue: deque[Future] = deque()

    def take(self) -> bool:
        """Take one that is free, unless others wait already."""
        if not self.free or self.queue:
            return False
        self.free -= 1
        return True

    async def acquire(self, timeout_ms: int) -> bool:
        """Semaphore#tryAcquire: take one, waiting at most so long; False when the time is over."""
        if self.take():
            return True
        if timeout_ms <= 0:
            return False
        turn = Future(self.process.kernel)
        self.queue.append(turn)
        got = await self.process.until(turn, timeout_ms)
        self.queue.remove(turn)
        return got is not TIMED_OUT

    def release(self, _: object = None) -> None:
        """Give one back: to who has waited longest."""
        for turn in self.queue:
            if turn.resolve(True):
                return
        self.free += 1


class Remoting:
    """NettyRemotingAbstract, for one process; an Endpoint of the network.

    response_table -- opaque to the request that waits. oneway_permits -- semaphoreOneway. async_permits --
    semaphoreAsync. stopped -- shut down.
    """

    def __init__(
        self, process: Process, network: Network, name: str, listener: ChannelEventListener | None,
        permits: tuple[int, int],
    ) -> None:
        """Nothing registered; name -- of its threads; permits -- one-way and asynchronous."""
        self.process, self.network, self.name, self.listener = process, network, name, listener
        self.response_table: dict[int, tuple[ResponseFuture, Future | None]] = {}
        self.processor_table: dict[int, tuple[Handler, PoolPort, Callable[[], bool] | None]] = {}
        self.default_processor: tuple[Handler, PoolPort, Callable[[], bool] | None] | None = None
        self.callback_pool = Pool(process, f"{name}PublicExecutor", 4)
        self.events = Pool(process, f"{name}EventExecutor", 1, MAX_EVENTS)
        self.oneway_permits, self.async_permits = Permits(process, permits[0]), Permits(process, permits[1])
        self._opaque = 0
        self._started_ms = process.kernel.now_ms
        self._scanning = self.stopped = False

    def register_processor(
        self, code: int, handler: Handler, pool: PoolPort | None = None, rejects: Callable[[], bool] | None = None,
    ) -> None:
        """See RemotingServer in `impl.ports.remoting`."""
        self.processor_table[code] = handler, pool or self.callback_pool, rejects

    def respond(self, channel: Connection, request: Command, response: Command) -> None:
        """Write a response with the opaque of its request; a closed channel swallows it.

        Only a request that nobody answers is doubled by the network; so any other that is answered again was so here.
        """
        end, opaque = end_of(channel), request.opaque
        if opaque in end.answered and not request.oneway:
            self.process.kernel.record(self.process.name, AnsweredAgain(end.remote_address, opaque))
        end.answered.add(opaque)
        end.write(on_wire(response, opaque, is_response=True))

    def received(self, channel: Channel, message: Command) -> None:
        """NettyRemotingAbstract#processMessageReceived: #processResponseCommand or #processRequestCommand."""
        if message.__class__ is not Command:
            channel.close()
            return
        if message.is_response:
            waiting = self.response_table.pop(message.opaque, None)
            if waiting is not None:
                waiting[0].response_command = message
                self._finish(*waiting)
            return
        request = message
        found = self.processor_table.get(request.code) or self.default_processor
        if found is None:
            remark = f" request type {int(request.code)} not supported"
            self.respond(channel, request, Command(REQUEST_CODE_NOT_SUPPORTED, remark=remark))
            return
        handler, pool, rejects = found
        if rejects is not None and rejects():
            busy = "[REJECTREQUEST]system busy, start flow control for a while"
            self.respond(channel, request, Command(SYSTEM_BUSY, remark=busy))
            return
        try:
            pool.execute(RequestTask(self, handler, channel, request))
        except RejectedExecutionError:
            if not request.oneway:
                busy = "[OVERLOAD]system busy, start flow control for a while"
                self.respond(channel, request, Command(SYSTEM_BUSY, remark=busy))

    def _finish(self, future: ResponseFuture, thread: Future | None) -> None:
        if thread is not None:
            thread.resolve()
        elif future.callback is not None:
            callback = future.callback
            try:
                self.callback_pool.execute(lambda: self._run(callback, future))
            except RejectedExecutionError:
                self.process.spawn(self.name, self._run(callback, future))

    async def _run(self, callback: InvokeCallback, future: ResponseFuture) -> None:
        """ResponseFuture#executeInvokeCallback, then #release."""
        try:
            more = callback(future)
            if more is not None:
                await more
        except JavaError as error:
            self.process.kernel.uncaught(self.process.name, self.name, error)
        self.async_permits.release()

    def fail_fast(self, channel: Channel) -> None:
        """NettyRemotingAbstract#failFast: this side has closed the channel, so nothing more will come on it."""
        for opaque, (future, _) in list(self.response_table.items()):
            if future.channel is channel:
                self._request_fail(opaque)

    def _request_fail(self, opaque: int) -> None:
        waiting = self.response_table.pop(opaque, None)
        if waiting is not None:
            waiting[0].send_request_ok = False
            self._finish(*waiting)

    def next_opaque(self) -> int:
        """RemotingCommand.requestId: whoever makes a request takes a number at once."""
        self._opaque += 1
        return self._opaque

    def _register(
        self, channel: Channel, request: Command, opaque: int, timeout_ms: int,
        callback: InvokeCallback | None, thread: Future | None,
    ) -> ResponseFuture:
        """Enter the request into the response table and write it."""
        future = ResponseFuture(channel, opaque, timeout_ms, self.process.now_ms(), callback)
        self.response_table[opaque] = future, thread
        if not self._scanning:
            self._scanning = True
            self._next_scan()
        channel.network.requests += channel.active
        if not channel.write(on_wire(request, opaque)):
            self.process.kernel.at(self.process.kernel.now_ms, self._request_fail, opaque)
        return future

    async def invoke_sync_on(self, channel: Channel, request: Command, opaque: int, timeout_ms: int) -> Command:
        """NettyRemotingAbstract#invokeSyncImpl."""
        process = self.process
        thread = Future(process.kernel)
        future = self._register(channel, request, opaque, timeout_ms, None, thread)
        await process.until(thread, timeout_ms)
        self.response_table.pop(future.opaque, None)
        if future.response_command is not None:
            return future.response_command
        if future.send_request_ok:
            raise RemotingTimeoutError(
                f"wait response on the channel <{channel.remote_address}> timeout, {timeout_ms}(ms)",
            )
        raise RemotingSendRequestError(channel.remote_address)

    async def invoke_async_on(
        self, channel: Channel, request: Command, opaque: int, timeout_ms: int, callback: InvokeCallback,
    ) -> None:
        """NettyRemotingAbstract#invokeAsyncImpl."""
        begin_ms = self.process.now_ms()
        if not await self.async_permits.acquire(timeout_ms):
            raise _no_permit("invokeAsyncImpl", "semaphoreAsyncValue", timeout_ms, self.async_permits)
        cost_ms = self.process.now_ms() - begin_ms
        if timeout_ms < cost_ms:
            self.async_permits.release()
            raise RemotingTimeoutError("invokeAsyncImpl call timeout")
        self._register(channel, request, opaque, timeout_ms - cost_ms, callback, None)

    async def invoke_oneway_on(self, channel: Channel, request: Command, opaque: int, timeout_ms: int) -> None:
        """NettyRemotingAbstract#invokeOnewayImpl; a write that fails is only logged in Java."""
        permits = self.oneway_permits
        if not permits.take() and not await permits.acquire(timeout_ms):
            raise _no_permit("invokeOnewayImpl", "semaphoreOnewayValue", timeout_ms, permits)
        self._write_oneway(channel, request, opaque)

    def _write_oneway(self, channel: Channel, request: Command, opaque: int) -> None:
        """The end of #invokeOnewayImpl, with a permit."""
        permits = self.oneway_permits
        channel.network.requests += channel.active
        channel.write(on_wire(request, opaque, oneway=True), lossy=True)
        if channel.is_writable():
            permits.release()
        else:
            self.process.kernel.at(channel.stalled_ms, permits.release)

    def _next_scan(self) -> None:
        """The timer of the scan, first after 3 s and then each second; it rests while no call waits."""
        kernel = self.process.kernel
        ticks = max(3, (kernel.now_ms - self._started_ms) // SCAN_PERIOD_MS + 1)
        kernel.at(self._started_ms + ticks * SCAN_PERIOD_MS, self._scan)

    def _scan(self, _: Any) -> None:
        if not self.process.alive or self.stopped:
            return
        if self.process.paused_until_ms > self.process.kernel.now_ms:
            self.process.kernel.stand(self.process, self._scan)
            return
        self.scan_response_table()
        self._scanning = bool(self.response_table)
        if self._scanning:
            self._next_scan()

    def scan_response_table(self) -> None:
        """NettyRemotingAbstract#scanResponseTable: give up calls whose timeout was over a second ago."""
        now_ms = self.process.now_ms()
        for opaque, (future, thread) in list(self.response_table.items()):
            if future.begin_timestamp + future.timeout_ms + 1000 <= now_ms:
                del self.response_table[opaque]
                if thread is None:
                    self._finish(future, None)

    def event(self, name: str, channel: Channel) -> None:
        """NettyRemotingAbstract#putNettyEvent."""
        if self.listener is not None and self.process.alive and not self.stopped:
            call = getattr(self.listener, f"on_channel_{name}")
            try:
                self.events.execute(lambda: call(channel.remote_address, channel))
            except RejectedExecutionError:
                self.process.kernel.record(self.process.name, EventDropped(name))


def on_wire(command: Command, opaque: int, *, is_response: bool = False, oneway: bool = False) -> Command:
    """What the other side will get: copies, with the fields that remoting sets."""
    code, header, body, remark, version, language, _, _, _ = command
    if header.__class__ not in FIXED:
        header = copied(header)
    if body.__class__ not in FIXED:
        body = copied(body)
    return _new(Command, (code, header, body, remark, version, language, opaque, is_response, oneway))


_new = tuple.__new__  # what the constructor of a named tuple calls, at a third of its price


def _no_permit(method: str, value: str, timeout_ms: int, permits: Permits) -> JavaError:
    if timeout_ms <= 0:
        return RemotingTooMuchRequestError(f"{method} invoke too fast")
    return RemotingTimeoutError(
        f"{method} tryAcquire semaphore timeout, {timeout_ms}ms, waiting thread nums: {len(permits.queue)} "
        f"{value}: {permits.free}",
    )


def end_of(channel: Connection) -> Channel:
    """The end itself: code above knows only its port, but no other host gives channels here."""
    return cast("Channel", channel)
