"""Repairs of the rebalance: what two runs of it do to each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.decisions.message_queue import MessageQueue
from impl.ports import Threads
from impl.variants.variant import Variant, around, replace


@around(RebalancePushImpl, "remove_unnecessary_message_queue")
def _only_its_own(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def remove_unnecessary_message_queue(
        self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
    ) -> bool:
        """What another run has entered meanwhile stays in the table."""
        given_up = await original(self, mq, pq, threads)
        return given_up and self.process_queue_table.get(mq) is pq

    return remove_unnecessary_message_queue


@replace(RebalanceImpl, "truncate_message_queue_not_my_topic")
async def _leave_in_order(self: RebalanceImpl, threads: Threads) -> None:
    """What is no longer subscribed is given up as everything else: its offset is committed first, its lock returned."""
    for mq in self.process_queue_table.key_set():
        if not self.subscription_inner.contains_key(mq.topic):
            await threads.interleave("truncateMessageQueueNotMyTopic: before a queue is removed")
            await self.remove_process_queue(mq, threads)


REPAIRS = (
    Variant(
        "run_removes_its_own", "repair", "A rebalance takes out of the table the process queue that it has dropped.",
        "the idea: ConcurrentHashMap#remove of a key and its value", ("X22",), (_only_its_own,),
    ),
    Variant(
        "topic_is_left_in_order", "repair", "Who leaves a topic commits how far it is, and returns its locks.",
        "the idea: removeProcessQueue in RebalanceImpl#truncateMessageQueueNotMyTopic", ("X12",), (_leave_in_order,),
    ),
)
