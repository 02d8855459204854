"""Requests that wait for their replies: RequestResponseFuture, and who holds all of a process."""

from __future__ import annotations

from typing import Protocol

from impl.client.client_errors import RequestTimeoutError
from impl.common.message import MessageExt
from impl.decisions.java_errors import JavaError
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.pools import Scheduler
from impl.ports.threads import Signal

FIRST_SCAN_MS, SCAN_PERIOD_MS = 3_000, 1_000


class RequestCallback(Protocol):
    """`client.producer.RequestCallback`."""

    def on_success(self, message: MessageExt | None) -> None:
        """The reply."""
        ...

    def on_exception(self, error: JavaError | None) -> None:
        """The request could not be sent, or no reply came."""
        ...


class RequestResponseFuture:
    """`client.producer.RequestResponseFuture`.

    response_msg -- the reply. send_request_ok -- False: the request could not be sent; cause -- why.
    """

    def __init__(
        self, node: Node, correlation_id: str, timeout_ms: int, request_callback: RequestCallback | None,
    ) -> None:
        """Wait from now on."""
        self.node, self.correlation_id, self.timeout_ms = node, correlation_id, timeout_ms
        self.request_callback = request_callback
        self.begin_ms = node.now_ms()
        self.response_msg: MessageExt | None = None
        self.send_request_ok = True
        self.cause: JavaError | None = None
        self._latch = Signal(f"RequestResponseFuture of {correlation_id}")

    def execute_request_callback(self) -> None:
        """RequestResponseFuture#executeRequestCallback."""
        if self.request_callback is None:
            return
        if self.send_request_ok and self.cause is None:
            self.request_callback.on_success(self.response_msg)
        else:
            self.request_callback.on_exception(self.cause)

    def is_timeout(self) -> bool:
        """RequestResponseFuture#isTimeout."""
        return self.node.now_ms() - self.begin_ms > self.timeout_ms

    async def wait_response_message(self, timeout_ms: int) -> MessageExt | None:
        """RequestResponseFuture#waitResponseMessage."""
        if timeout_ms > 0 or self._latch.notified:
            await self.node.wait(self._latch, timeout_ms)
        return self.response_msg

    def put_response_message(self, response_msg: MessageExt | None) -> None:
        """RequestResponseFuture#putResponseMessage."""
        self.response_msg = response_msg
        self.node.wake(self._latch)


class RequestFutureHolder:
    """`client.producer.RequestFutureHolder`: one for all producers of a process.

    request_future_table -- correlation id to who waits.
    """

    def __init__(self, node: Node) -> None:
        """Nobody waits, and no producer runs."""
        self.node = node
        self.request_future_table: ConcurrentHashMap[str, RequestResponseFuture] = ConcurrentHashMap()
        self._producers: list[object] = []
        self._began_ms = 0
        self._scheduler: Scheduler | None = None

    def start_scheduled_task(self, producer: object) -> None:
        """RequestFutureHolder#startScheduledTask: with the first producer of the process the scan begins."""
        if not self._producers:
            self._began_ms = self.node.now_ms()
        self._producers.append(producer)

    def shutdown(self, producer: object) -> None:
        """RequestFutureHolder#shutdown: with the last one it ends; whoever still waits is not called back."""
        self._producers = [one for one in self._producers if one is not producer]
        if not self._producers and self._scheduler is not None:
            self._scheduler.shutdown()
            self._scheduler = None

    def put(self, future: RequestResponseFuture) -> None:
        """Enter a request. Before the first one the scan finds nothing, and is left out; it keeps its step."""
        self.request_future_table.put(future.correlation_id, future)
        if self._scheduler is None and self._producers:
            spent_ms = self.node.now_ms() - self._began_ms
            next_ms = max(FIRST_SCAN_MS, (spent_ms // SCAN_PERIOD_MS + 1) * SCAN_PERIOD_MS)
            self._scheduler = self.node.scheduler("RequestHouseKeepingService")
            self._scheduler.schedule_at_fixed_rate(self.scan_expired_request, next_ms - spent_ms, SCAN_PERIOD_MS)

    def scan_expired_request(self) -> None:
        """RequestFutureHolder#scanExpiredRequest: who waits in a thread of his own is not woken."""
        expired = [one for _, one in self.request_future_table.traverse() if one.is_timeout()]
        for future in expired:
            self.request_future_table.remove(future.correlation_id)
        for future in expired:
            future.cause = RequestTimeoutError("request timeout, no reply message.")
            try:
                future.execute_request_callback()
            except JavaError:
                continue  # logged

    def process_reply_message(self, reply: MessageExt, correlation_id: str | None) -> None:
        """ClientRemotingProcessor#processReplyMessage: a reply that nobody waits for is logged.

        Raises NullPointerError for a reply without correlation id, as a ConcurrentHashMap does.
        """
        future = self.request_future_table.get(correlation_id)  # type: ignore[arg-type]  # null raises there
        if future is None:
            return
        future.put_response_message(reply)
        self.request_future_table.remove(future.correlation_id)
        if future.request_callback is not None:
            future.request_callback.on_success(reply)
