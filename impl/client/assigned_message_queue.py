"""AssignedMessageQueue: where a lite pull consumer is in each queue that it has."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import RebalanceImpl
from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap

UNSET = -1


@dataclass(slots=True, eq=False)
class MessageQueueState:
    """`AssignedMessageQueue.MessageQueueState`: volatile fields.

    pull_offset -- where the next pull begins. consume_offset -- what the next commit says. seek_offset -- where the
    user wants to go; UNSET each as long as nobody has said anything.
    """

    process_queue: ProcessQueue
    paused: bool = False
    pull_offset: int = UNSET
    consume_offset: int = UNSET
    seek_offset: int = UNSET


class AssignedMessageQueue:
    """`client.impl.consumer.AssignedMessageQueue`; each method is one step.

    rebalance_impl -- whose process queues are taken, where the user has subscribed; None: the user has assigned queues.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Start empty; now_ms -- the clock of the client."""
        self.rebalance_impl: RebalanceImpl | None = None
        self.states: ConcurrentHashMap[MessageQueue, MessageQueueState] = ConcurrentHashMap()
        self._now_ms = now_ms

    def message_queues(self) -> tuple[MessageQueue, ...]:
        """AssignedMessageQueue#messageQueues."""
        return self.states.key_set()

    def is_paused(self, mq: MessageQueue) -> bool:
        """AssignedMessageQueue#isPaused: also one that is not assigned."""
        state = self.states.get(mq)
        return state is None or state.paused

    def pause(self, mqs: Collection[MessageQueue], *, paused: bool = True) -> None:
        """AssignedMessageQueue#pause, and #resume if not paused."""
        for mq in mqs:
            state = self.states.get(mq)
            if state is not None:
                state.paused = paused

    def process_queue(self, mq: MessageQueue) -> ProcessQueue | None:
        """AssignedMessageQueue#getProcessQueue."""
        state = self.states.get(mq)
        return None if state is None else state.process_queue

    def update_pull_offset(self, mq: MessageQueue, offset: int, process_queue: ProcessQueue) -> None:
        """AssignedMessageQueue#updatePullOffset: nothing if the queue has been taken anew meanwhile."""
        state = self.states.get(mq)
        if state is not None and state.process_queue is process_queue:
            state.pull_offset = offset

    def update_consume_offset(self, mq: MessageQueue, offset: int) -> None:
        """AssignedMessageQueue#updateConsumeOffset."""
        state = self.states.get(mq)
        if state is not None:
            state.consume_offset = offset

    def set_seek_offset(self, mq: MessageQueue, offset: int) -> None:
        """AssignedMessageQueue#setSeekOffset."""
        state = self.states.get(mq)
        if state is not None:
            state.seek_offset = offset

    def seek_offset(self, mq: MessageQueue) -> int:
        """AssignedMessageQueue#getSeekOffset."""
        state = self.states.get(mq)
        return UNSET if state is None else state.seek_offset

    def update_assigned_message_queue(self, assigned: Collection[MessageQueue], topic: str | None = None) -> None:
        """AssignedMessageQueue#updateAssignedMessageQueue: what else is there is dropped; topic -- only of this one."""
        for mq, state in self.states.entries():
            if topic in {None, mq.topic} and mq not in assigned:
                state.process_queue.dropped = True
                self.states.remove(mq)
        for mq in assigned:
            if not self.states.contains_key(mq):
                self.states.put(mq, MessageQueueState(self._process_queue_of(mq)))

    def _process_queue_of(self, mq: MessageQueue) -> ProcessQueue:
        found = None if self.rebalance_impl is None else self.rebalance_impl.process_queue_table.get(mq)
        return ProcessQueue(self._now_ms) if found is None else found

    def remove_assigned_message_queue(self, topic: str) -> None:
        """AssignedMessageQueue#removeAssignedMessageQueue: the process queues are not dropped here."""
        for mq in self.states.key_set():
            if mq.topic == topic:
                self.states.remove(mq)
