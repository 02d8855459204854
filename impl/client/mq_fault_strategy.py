"""MQFaultStrategy: which queue a producer sends to next, and what it remembers of brokers that were slow."""

from __future__ import annotations

from impl.client.topic_publish_info import PickedQueue, ThreadLocalIndex, TopicPublishInfo
from impl.decisions import fault_strategy, queue_selection
from impl.decisions.fault_strategy import FaultItem, pick_one_at_least
from impl.decisions.queue_selection import first_index
from impl.ports.node import Node


class LatencyFaultToleranceImpl(fault_strategy.LatencyFaultTolerance):
    """`client.latency.LatencyFaultToleranceImpl` of one producer: a table for all its topics and threads."""

    def __init__(self, node: Node) -> None:
        """No broker was slow."""
        super().__init__(queue_selection.ThreadLocalIndex(first_index(0)))
        self.node, self._which_item_worst = node, ThreadLocalIndex()

    def pick_one_at_least(self, now_ms: int) -> str | None:
        """LatencyFaultToleranceImpl#pickOneAtLeast: shuffled before it is sorted, so that equal ones take turns."""
        items = list(self.fault_item_table.values())
        for i in range(len(items) - 1, 0, -1):
            j = i - self.node.random(i + 1, "LatencyFaultToleranceImpl#pickOneAtLeast")
            items[i], items[j] = items[j], items[i]
        return self._picked(items, now_ms)

    def _picked(self, items: list[FaultItem], now_ms: int) -> str | None:
        if len(items) <= 1:  # nobody counts
            return items[0].name if items else None
        return pick_one_at_least(items, now_ms, self._which_item_worst.of_this_thread(self.node))


class MQFaultStrategy:
    """`client.latency.MQFaultStrategy` of one producer, with the default tables.

    latency_fault_tolerance -- what it remembers. send_latency_fault_enable -- off by default: then only the broker of
    the last attempt is avoided.
    """

    def __init__(self, node: Node, *, send_latency_fault_enable: bool) -> None:
        """No broker was slow."""
        self.node, self.send_latency_fault_enable = node, send_latency_fault_enable
        self.latency_fault_tolerance = LatencyFaultToleranceImpl(node)

    def select_one_message_queue(self, info: TopicPublishInfo, last_broker_name: str | None) -> PickedQueue:
        """MQFaultStrategy#selectOneMessageQueue, for the thread that runs; raises DivisionByZeroError without queues.

        With the strategy on, last_broker_name is ignored, and an element of the shared list may be another queue
        from now on, also for those who have picked it before.
        """
        return PickedQueue(info.message_queue_list, self._decide().select_one_position(
            info.of_this_thread(self.node), last_broker_name, self.node.now_ms()))

    def update_fault_item(self, broker_name: str | None, latency_ms: int, *, isolation: bool) -> None:
        """MQFaultStrategy#updateFaultItem."""
        self._decide().update_fault_item(broker_name, latency_ms, isolation=isolation, now_ms=self.node.now_ms())

    def _decide(self) -> fault_strategy.MQFaultStrategy:
        return fault_strategy.MQFaultStrategy(
            self.latency_fault_tolerance, send_latency_fault_enable=self.send_latency_fault_enable)
