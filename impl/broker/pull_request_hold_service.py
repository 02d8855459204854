"""PullRequestHoldService: pulls that wait at a broker for the next message of their queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.common.headers import PullMessageRequestHeader
from impl.decisions.subscription import SubscriptionData, matches_by_consume_queue
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection
from impl.store.dispatch_request import DispatchRequest

LONG_POLLING_INTERVAL_MS = 5_000  # PullRequestHoldService#run


@dataclass(frozen=True, slots=True)
class PullRequest:
    """`longpolling.PullRequest`. suspend_timestamp -- since when it is held, ms; timeout_ms -- for how long."""

    channel: Connection
    request: Command
    subscription: SubscriptionData
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

    def __init__(
        self, node: Node, max_offset: Callable[[str, int], int], execute: Callable[[PullRequest], None],
    ) -> None:
        """Hold nothing; max_offset -- of a queue, by topic and id."""
        self.node, self._max_offset, self._execute = node, max_offset, execute
        self.pull_request_table: ConcurrentHashMap[tuple[str, int], list[PullRequest]] = ConcurrentHashMap(1024)
        self.stopped = False

    async def run(self) -> None:
        """PullRequestHoldService#run: look at all that is held, every 5 s."""
        while not self.stopped:
            await self.node.sleep(LONG_POLLING_INTERVAL_MS)
            for topic, queue_id in self.pull_request_table.key_set():
                self._notify(topic, queue_id, self._max_offset(topic, queue_id))

    def suspend_pull_request(self, topic: str, queue_id: int, pull_request: PullRequest) -> None:
        """PullRequestHoldService#suspendPullRequest."""
        held = self.pull_request_table.get((topic, queue_id))
        if held is None:
            self.pull_request_table.put((topic, queue_id), [pull_request])
        else:
            held.append(pull_request)

    def message_arriving(self, request: DispatchRequest) -> None:
        """NotifyMessageArrivingListener#arriving."""
        self._notify(request.topic, request.queue_id, request.consume_queue_offset + 1, request.tags_code)

    def _notify(self, topic: str, queue_id: int, max_offset: int, tags_code: int | None = None) -> None:
        """PullRequestHoldService#notifyMessageArriving; tags_code -- None: of any message."""
        held = self.pull_request_table.get((topic, queue_id))
        if not held:
            return
        pull_requests, held[:] = [*held], []
        for one in pull_requests:
            newest = max_offset if max_offset > one.offset else self._max_offset(topic, queue_id)
            matches = newest > one.offset and matches_by_consume_queue(one.subscription, tags_code)
            if matches or self.node.now_ms() >= one.suspend_timestamp + one.timeout_ms:
                self._execute(one)
            else:
                held.append(one)
