"""PullRequestHoldService: pulls that wait at a broker for the next message of their queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.broker.expression_message_filter import ExpressionMessageFilter
from impl.broker.reported_tables import connection_of
from impl.common.headers import PullMessageRequestHeader
from impl.decisions.java_errors import JavaError
from impl.events import HeldPullRefused
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_reads import CqExtUnit, MessageReads

LONG_POLLING_INTERVAL_MS = 5_000  # PullRequestHoldService#run


@dataclass(frozen=True, slots=True)
class PullRequest:
    """`longpolling.PullRequest`. suspend_timestamp -- since when it is held, ms; timeout_ms -- for how long."""

    channel: Connection
    request: Command
    message_filter: ExpressionMessageFilter
    suspend_timestamp: int
    timeout_ms: int

    @property
    def offset(self) -> int:
        """The first offset that is wanted."""
        header: PullMessageRequestHeader = self.request.header
        return header.queue_offset


class PullRequestHoldService:
    """`longpolling.PullRequestHoldService`.

    pull_request_table -- topic and queue id to the pulls that are held. execute -- executeRequestWhenWakeup: runs a
    pull again, which is answered then in any case.
    """

    def __init__(self, node: Node, store: MessageReads, execute: Callable[[PullRequest], None]) -> None:
        """Hold nothing; store -- whose queues they are of."""
        self.node, self.store, self._execute = node, store, execute
        self.pull_request_table: ConcurrentHashMap[tuple[str, int], list[PullRequest]] = ConcurrentHashMap(1024)
        self.stopped = False

    async def run(self, interval_ms: int = LONG_POLLING_INTERVAL_MS) -> None:
        """PullRequestHoldService#run: look at all that is held, every so many ms."""
        while not self.stopped:
            await self.node.sleep(interval_ms)
            for topic, queue_id in self.pull_request_table.key_set():
                try:
                    self._notify(topic, queue_id, self.store.get_max_offset_in_queue(topic, queue_id))
                except JavaError:
                    continue  # logged

    def suspend_pull_request(self, topic: str, queue_id: int, pull_request: PullRequest) -> None:
        """PullRequestHoldService#suspendPullRequest."""
        held = self.pull_request_table.get((topic, queue_id))
        if held is None:
            self.pull_request_table.put((topic, queue_id), [pull_request])
        else:
            held.append(pull_request)

    def message_arriving(self, request: DispatchRequest, filter_bit_map: bytes | None) -> None:
        """NotifyMessageArrivingListener#arriving; raises what a filter raises, and who was held is lost then.

        filter_bit_map -- which of the groups' expressions the message fulfils, if that was worked out.
        """
        self._notify(request.topic, request.queue_id, request.consume_queue_offset + 1, request, filter_bit_map)

    def _notify(
        self, topic: str, queue_id: int, max_offset: int, arrived: DispatchRequest | None = None,
        filter_bit_map: bytes | None = None,
    ) -> None:
        """PullRequestHoldService#notifyMessageArriving; arrived -- None: of any message."""
        held = self.pull_request_table.get((topic, queue_id))
        if not held:
            return
        pull_requests, held[:] = [*held], []
        for one in pull_requests:
            newest = max_offset if max_offset > one.offset else self.store.get_max_offset_in_queue(topic, queue_id)
            matches = newest > one.offset and _matches(one, arrived, filter_bit_map)
            if matches or self.node.now_ms() >= one.suspend_timestamp + one.timeout_ms:
                self._wake(one)
            else:
                held.append(one)

    def _wake(self, pull_request: PullRequest) -> None:
        """Run it again; one that the pool does not take is neither held any more nor ever answered."""
        try:
            self._execute(pull_request)
        except JavaError:  # logged
            self.node.trace(HeldPullRefused(
                self.node.name, connection_of(pull_request.channel), pull_request.request.opaque))


def _matches(pull_request: PullRequest, arrived: DispatchRequest | None, filter_bit_map: bytes | None) -> bool:
    message_filter = pull_request.message_filter
    if arrived is None:
        return message_filter.is_matched_by_consume_queue(None, CqExtUnit(None, 0, None))
    unit = CqExtUnit(arrived.tags_code, arrived.store_timestamp, filter_bit_map)
    if not message_filter.is_matched_by_consume_queue(arrived.tags_code, unit):
        return False
    properties = arrived.properties_map
    return properties is None or message_filter.is_matched_by_commit_log(None, properties)
