"""BrokerFastFailure: answers SYSTEM_BUSY to what has waited too long in the queue of a pool.

Java looks every 10 ms, first after a second. Here it leaves out the looks that would find nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from impl.broker.broker_config import BrokerConfig
from impl.common.request_code import ResponseCode
from impl.ports.node import Node
from impl.ports.pools import Pool
from impl.ports.remoting import RequestTask
from impl.store.default_message_store import DefaultMessageStore

FIRST_MS, PERIOD_MS = 1_000, 10  # BrokerFastFailure#start


class _Watched(NamedTuple):
    """A pool, and how long a request may wait in its queue, in ms."""

    pool: Pool
    max_wait_ms: int


class BrokerFastFailure:
    """`broker.latency.BrokerFastFailure`. Replies, queries and everything about clients but heartbeats may wait."""

    def __init__(
        self, node: Node, config: BrokerConfig, pools: Mapping[str, Pool], store: DefaultMessageStore | None,
    ) -> None:
        """Watch the pools of these names in the request table; store -- None: the broker has no messages."""
        self._node, self._store, self._send_pool = node, store, pools["send"]
        self._watched = (
            _Watched(pools["send"], config.wait_time_in_send_queue_ms),
            _Watched(pools["pull"], config.wait_time_in_pull_queue_ms),
            _Watched(pools["heartbeat"], config.wait_time_in_heartbeat_queue_ms),
            _Watched(pools["end_transaction"], config.wait_time_in_transaction_queue_ms),
        )
        self._scheduler = node.scheduler("BrokerFastFailureScheduledThread")
        self._first_ms = 0
        self._due_ms: int | None = None
        self.stopped = False

    def start(self) -> None:
        """BrokerFastFailure#start."""
        self._first_ms = self._node.now_ms() + FIRST_MS
        for pool, _ in self._watched:
            pool.when_queued(self._look)

    def _look(self) -> None:
        """Something waits: let the thread look, unless it is about to."""
        now_ms = self._node.now_ms()
        due_ms = max(now_ms + self._rest_ms(), self._first_ms)
        if not self.stopped and (self._due_ms is None or due_ms < self._due_ms):
            self._due_ms = due_ms
            self._scheduler.schedule(self._run, due_ms - now_ms)

    def _rest_ms(self) -> int:
        """How long a look would find nothing to do: until a request has waited too long.

        The page cache can be busy at any time, while sends wait.
        """
        if self._send_pool.queue:
            return PERIOD_MS
        tasks = ((cast("RequestTask", pool.queue[0]), wait_ms) for pool, wait_ms in self._watched if pool.queue)
        due_ms = min(task.create_timestamp + wait_ms for task, wait_ms in tasks)
        return max(PERIOD_MS, due_ms - self._node.now_ms())

    def _run(self) -> None:
        self._due_ms = None
        if not self.stopped:
            self._clean_expired_request()
        if any(pool.queue for pool, _ in self._watched):
            self._look()

    def _clean_expired_request(self) -> None:
        """BrokerFastFailure#cleanExpiredRequest: no send waits while the page cache is busy, others their time."""
        if self._store is not None and self._store.is_os_page_cache_busy():
            self._clean_send_queue()
        for pool, max_wait_ms in self._watched:
            self._clean_expired_request_in_queue(pool, max_wait_ms)

    def _clean_send_queue(self) -> None:
        while self._send_pool.queue:
            task = cast("RequestTask", self._send_pool.queue[0])
            self._send_pool.remove(task)
            self._return_response(task, "PCBUSY_CLEAN_QUEUE", self._send_pool)

    def _clean_expired_request_in_queue(self, pool: Pool, max_wait_ms: int) -> None:
        """BrokerFastFailure#cleanExpiredRequestInQueue: from the oldest on, up to the first that may still wait."""
        while pool.queue:
            task = cast("RequestTask", pool.queue[0])
            if task.stop_run or self._node.now_ms() - task.create_timestamp < max_wait_ms:
                return
            pool.remove(task)
            task.stop_run = True
            self._return_response(task, "TIMEOUT_CLEAN_QUEUE", pool)

    def _return_response(self, task: RequestTask, why: str, pool: Pool) -> None:
        behind_ms = self._node.now_ms() - task.create_timestamp
        task.return_response(ResponseCode.SYSTEM_BUSY, (
            f"[{why}]broker busy, start flow control for a while, "
            f"period in queue: {behind_ms}ms, size of queue: {len(pool.queue)}"))
