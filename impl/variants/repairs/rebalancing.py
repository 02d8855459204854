"""Repairs of the rebalance: what two runs of it do to each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from impl.client.mq_client_instance import MQClientInstance
from impl.client.process_queue import ProcessQueue
from impl.client.pull_callback import PullCallback
from impl.client.rebalance import RebalanceImpl
from impl.client.rebalance_push import RebalancePushImpl
from impl.decisions import allocation
from impl.decisions.allocation import Members, Queues
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.events import ResetReceived
from impl.ports.threads import Threads
from impl.variants.held import Held
from impl.variants.variant import Variant, around, replace

_SOME = MessageQueue("", "", 0)


@around(RebalancePushImpl, "remove_unnecessary_message_queue")
def _only_its_own(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def remove_unnecessary_message_queue(
        self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
    ) -> bool:
        """What another run has entered meanwhile stays in the table."""
        given_up = await original(self, mq, pq, threads)
        return given_up and self.process_queue_table.get(mq) is pq

    return remove_unnecessary_message_queue


class _TakenAnewError(Exception):
    """The client has the queue again, and its offset is that of the new holding."""


class _GivingUp(Held):
    """The thread that gives a holding of a queue up."""

    __slots__ = ("mq", "pq", "rebalance")

    def __init__(self, threads: Threads, rebalance: RebalanceImpl, mq: MessageQueue, pq: ProcessQueue) -> None:
        super().__init__(threads)
        self.rebalance, self.mq, self.pq = rebalance, mq, pq

    async def interleave(self, where: str) -> None:
        await super().interleave(where)
        held = self.rebalance.process_queue_table.get(self.mq)
        if where == "removeUnnecessaryMessageQueue: between persist and removeOffset" and held not in (None, self.pq):
            raise _TakenAnewError


@around(RebalancePushImpl, "remove_unnecessary_message_queue")
def _keep_what_is_anothers(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def remove_unnecessary_message_queue(
        self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
    ) -> bool:
        """What the client has by now of a queue that it has taken anew is neither forgotten nor unlocked."""
        try:
            return await original(self, mq, pq, _GivingUp(threads, self, mq, pq))
        except _TakenAnewError:
            return False

    return remove_unnecessary_message_queue


@replace(RebalanceImpl, "truncate_message_queue_not_my_topic")
async def _leave_in_order(self: RebalanceImpl, threads: Threads) -> None:
    """What is no longer subscribed is given up as everything else: its offset is committed first, its lock returned."""
    for mq in self.process_queue_table.key_set():
        if not self.subscription_inner.contains_key(mq.topic):
            await threads.interleave("truncateMessageQueueNotMyTopic: before a queue is removed")
            await self.remove_process_queue(mq, threads)


@around(allocation, "_checked")
def _share_out_nothing(original: Callable[..., tuple[str, Queues, Members]]) -> Callable[..., object]:
    def _checked(
        current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> tuple[str, Queues, Members]:
        """That there are no queues is no error: nobody is given any."""
        if mq_all is None or mq_all:
            return original(current_cid, mq_all, cid_all)
        current_cid, _, cid_all = original(current_cid, (_SOME,), cid_all)
        return current_cid, mq_all, cid_all

    return _checked


@around(PullCallback, "_correct_offset")
def _take_it_again_at_once(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _correct_offset(self: PullCallback) -> None:
        """The queue has left the table: a rebalance takes it again."""
        await original(self)
        self.consumer.instance.rebalance_immediately()

    return _correct_offset


@around(PullCallback, "_correct_offset")
def _leave_what_is_another(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _correct_offset(self: PullCallback) -> None:
        """Who has the queue by now, this client too, has begun it at an offset of its own."""
        table, pq = self.consumer.rebalance_impl.process_queue_table, self.pull_request.process_queue
        if table.get(self.pull_request.message_queue) is pq:
            await original(self)

    return _correct_offset


@replace(MQClientInstance, "_be_reset")
async def _be_reset_beside(
    self: MQClientInstance, topic: str, group: str, offset_table: Mapping[MessageQueue, int],
) -> None:
    """The thread that was told goes on, while another one waits."""
    self.node.trace(ResetReceived(self.client_id, group, frozenset(offset_table.items())))

    async def reset() -> None:
        with suppress(JavaError):
            await self.reset_offset(topic, group, offset_table)

    self.node.start_thread("ResetOffsetThread", reset())


REPAIRS = (
    Variant(
        "run_removes_its_own", "repair", "A rebalance takes out of the table the process queue that it has dropped.",
        "the idea: ConcurrentHashMap#remove of a key and its value", ("X22",), (_only_its_own,),
    ),
    Variant(
        "topic_is_left_in_order", "repair", "Who leaves a topic commits how far it is, and returns its locks.",
        "the idea: removeProcessQueue in RebalanceImpl#truncateMessageQueueNotMyTopic", ("X12",), (_leave_in_order,),
    ),
    Variant(
        "nothing_is_shared_out", "repair", "Of a topic without readable queues a strategy gives nobody anything.",
        "the idea: AllocateMessageQueueStrategy#allocate answers an empty list", ("U14",),
        (_share_out_nothing,),
    ),
    Variant(
        "corrected_queue_is_taken_at_once", "repair", "When an illegal offset has been corrected a rebalance follows.",
        "the idea: rebalanceImmediately in the task of OFFSET_ILLEGAL, as in later versions", ("U10",),
        (_take_it_again_at_once,),
    ),
    Variant(
        "correction_is_of_its_holding", "repair", "An illegal offset is corrected as long as its queue is held.",
        "the idea: the task of OFFSET_ILLEGAL compares its process queue with that of the table", ("X17",),
        (_leave_what_is_another,),
    ),
    Variant(
        "offset_is_forgotten_with_its_holding", "repair", "Who gives a queue up forgets no offset of a later holding.",
        "the idea: RebalanceImpl#removeProcessQueue takes it out of the table last", ("X29",),
        (_keep_what_is_anothers,),
    ),
    Variant(
        "reset_waits_beside", "repair", "A reset waits in a thread of its own.",
        "the idea: ClientRemotingProcessor#resetOffset gives its thread back", ("U15",), (_be_reset_beside,),
    ),
)
