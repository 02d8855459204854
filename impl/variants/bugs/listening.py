"""Seeded bugs of what a consumer is given: an offset that nobody committed, messages twice, or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from impl.broker.consumer_manage_processor import ConsumerManageProcessor
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService, Messages
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.message_listener import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from impl.client.mq_client_instance import MQClientInstance
from impl.client.offset_store import ReadOffsetType, RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.pull_callback import PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CONSUME_START_TIMESTAMP
from impl.common.pull_result import PullResult
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullStatus
from impl.ports.threads import Interleave
from impl.variants.variant import Variant, around, replace

Submit = Callable[..., None]
Commit = Callable[..., Awaitable[None]]


@around(PullCallback, "_take")
def _stay_where_it_was(original: Callable[[PullCallback, PullResult], None]) -> Callable[..., None]:
    def _take(self: PullCallback, pull_result: PullResult) -> None:
        mq, here = self.pull_request.message_queue, self.pull_request.next_offset
        stayed = vars(self.consumer).setdefault("stayed", {})
        if pull_result.pull_status is PullStatus.FOUND and stayed.get(mq) != here:
            stayed[mq] = here
            pull_result = pull_result._replace(next_begin_offset=here)
        original(self, pull_result)

    return _take


@around(ConsumeMessageConcurrentlyService, "submit_consume_request")
def _submit_all_but_one(original: Submit) -> Submit:
    def submit_consume_request(
        self: ConsumeMessageConcurrentlyService, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *,
        dispatch_to_consume: bool,
    ) -> None:
        original(self, msgs[:-1], pq, mq, dispatch_to_consume=dispatch_to_consume)

    return submit_consume_request


@around(ConsumeMessageConcurrentlyService, "submit_consume_request")
def _submit_the_last_one_too(original: Submit) -> Submit:
    def submit_consume_request(
        self: ConsumeMessageConcurrentlyService, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *,
        dispatch_to_consume: bool,
    ) -> None:
        """At each fourth offset what was found before is worked on once more."""
        before = vars(self).setdefault("before", {})
        if mq in before and not msgs[0].queue_offset % 4:
            original(self, before[mq], pq, mq, dispatch_to_consume=dispatch_to_consume)
        before[mq] = msgs
        original(self, msgs, pq, mq, dispatch_to_consume=dispatch_to_consume)

    return submit_consume_request


@around(MQClientInstance, "update_consumer_offset_oneway")
def _commit_less(original: Commit) -> Commit:
    def update_consumer_offset_oneway(
        self: MQClientInstance, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> Awaitable[None]:
        """Each fourth offset is sent three too low."""
        return original(self, addr, group, mq, offset if offset % 4 else max(0, offset - 3), timeout_ms)

    return update_consumer_offset_oneway


@around(ConsumeMessageConcurrentlyService, "submit_consume_request")
def _submit_if_asked(original: Submit) -> Submit:
    def submit_consume_request(
        self: ConsumeMessageConcurrentlyService, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *,
        dispatch_to_consume: bool,
    ) -> None:
        """The flag is one of orderly consumers, and nobody clears it here."""
        if dispatch_to_consume:
            original(self, msgs, pq, mq, dispatch_to_consume=dispatch_to_consume)

    return submit_consume_request


@around(ProcessQueue, "remove_message")
def _one_too_low(original: Callable[..., int]) -> Callable[..., int]:
    def remove_message(self: ProcessQueue, msgs: Iterable[MessageExt]) -> int:
        offset = original(self, msgs)
        return self.queue_offset_max if offset >= 0 and not self.msg_tree_map else offset

    return remove_message


@replace(ProcessQueue, "take_messages")
def _stay_busy(self: ProcessQueue, batch_size: int) -> list[MessageExt]:
    self.last_consume_timestamp = self.now_ms()
    result: list[MessageExt] = []
    while len(result) < batch_size and (msg := self.msg_tree_map.poll_first()) is not None:
        result.append(msg)
        self.consuming_msg_orderly_tree_map.put(msg.queue_offset, msg)
    return result


@replace(ConsumerManageProcessor, "_queried_offset")
def _zero_for_none(
    self: ConsumerManageProcessor, group: str, topic: str, queue_id: int, stored: int,
) -> int | None:
    del self, group, topic, queue_id
    return max(0, stored)


@around(ConsumeMessageOrderlyService, "process_consume_result")
def _neither_again_nor_settled(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def process_consume_result(
        self: ConsumeMessageOrderlyService, status: ConsumeOrderlyStatus, context: ConsumeOrderlyContext,
        pq: ProcessQueue, msgs: Sequence[MessageExt],
    ) -> bool:
        """The next batch that succeeds settles this one, too."""
        if status is ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT:
            return True
        return await original(self, status, context, pq, msgs)

    return process_consume_result


@around(ConsumeMessageConcurrentlyService, "_send_back")
def _all_that_is_cached(original: Callable[..., Awaitable[Messages]]) -> Callable[..., Awaitable[Messages]]:
    async def _send_back(
        self: ConsumeMessageConcurrentlyService, failed: Messages, context: ConsumeConcurrentlyContext,
        pq: ProcessQueue,
    ) -> Messages:
        """One batch that fails takes the others of its queue with it."""
        await original(self, pq.msg_tree_map.values() if failed else [], context, pq)
        return []

    return _send_back


@replace(ProcessQueue, "remove_if_first")
def _remove_uncounted(self: ProcessQueue, msg: MessageExt) -> bool:
    """What has expired leaves the cache, and its bytes stay in the count."""
    is_first = bool(self.msg_tree_map) and self.msg_tree_map.first_key() == msg.queue_offset
    if is_first:
        self.msg_tree_map.remove(msg.queue_offset)
    return is_first


@replace(RemoteBrokerOffsetStore, "persist_all")
async def _commit_all_that_was_held(
    self: RemoteBrokerOffsetStore, mqs: Collection[MessageQueue] | None, threads: Interleave,
) -> None:
    """The timer commits all that is in memory, also of queues that are other members' by now."""
    del mqs, threads
    for mq, offset in self.offset_table.traverse():
        await self._commit(mq, offset)


@replace(RemoteBrokerOffsetStore, "remove_offset")
def _remember_for_ever(self: RemoteBrokerOffsetStore, mq: MessageQueue | None) -> None:
    """What was given up stays in memory."""
    del self, mq


@around(RemoteBrokerOffsetStore, "read_offset")
def _begin_and_remember_nothing(original: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    async def read_offset(
        self: RemoteBrokerOffsetStore, mq: MessageQueue | None, read_type: ReadOffsetType, threads: Interleave,
    ) -> int:
        """What the broker has answered is where a queue begins, and does not enter offsetTable."""
        offset = await original(self, mq, read_type, threads)
        if mq is not None and read_type is ReadOffsetType.READ_FROM_STORE:
            self.offset_table.remove(mq)
        return offset

    return read_offset


@around(DefaultMQPushConsumerImpl, "_has_order")
def _begin_where_it_was_taken(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _has_order(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> bool:
        """The first pull takes what was read before the queue was locked for sure."""
        pull_request.previously_locked = True
        return await original(self, pull_request)

    return _has_order


@replace(ConsumeMessageConcurrentlyService, "_listen")
async def _note_the_time_of_the_first(
    self: ConsumeMessageConcurrentlyService, msgs: Messages, context: ConsumeConcurrentlyContext,
) -> ConsumeConcurrentlyStatus:
    """CONSUME_START_TIME is a property of the first message of a batch alone."""
    msgs[0].put_property(PROPERTY_CONSUME_START_TIMESTAMP, str(self.node.now_ms()))
    try:
        status = await self.consumer.message_listener.consume_message(msgs, context)
    except JavaError:
        return ConsumeConcurrentlyStatus.RECONSUME_LATER
    return ConsumeConcurrentlyStatus(status or ConsumeConcurrentlyStatus.RECONSUME_LATER)


BUGS = (
    Variant(
        "fc-size-not-reduced", "bug", "What has expired stays in the counts of its process queue.",
        "apache/rocketmq ROCKETMQ-314, commit 6f5e01e6fa", replacements=(_remove_uncounted,),
    ),
    Variant(
        "seeded-given-up-is-committed", "bug", "A client goes on committing queues that it has given up.",
        "RebalanceImpl#removeUnnecessaryMessageQueue without removeOffset, RemoteBrokerOffsetStore#persistAll without "
        "its mqs", replacements=(_commit_all_that_was_held, _remember_for_ever),
        over=("timer_forgets_what_nobody_sets",),
    ),
    Variant(
        "ol-go-retrylater-skips", "bug", "An ordered batch that is to come again is settled with the next one.",
        "client-go, source of 2025-12", replacements=(_neither_again_nor_settled,),
    ),
    Variant(
        "rt-wrong-batch-sent-back", "bug", "With one batch that fails all others of its queue are sent back.",
        "client-go #504, commit 80b3acc", replacements=(_all_that_is_cached,), over=("expired_is_over",),
    ),
    Variant(
        "seeded-found-is-pulled-again", "bug", "A pull that has found messages is made twice.",
        "seeded: an assignment in the wrong branch", replacements=(_stay_where_it_was,),
    ),
    Variant(
        "seeded-last-message-is-kept", "bug", "The last message of each pull is given to no listener.",
        "seeded: off by one", replacements=(_submit_all_but_one,),
    ),
    Variant(
        "seeded-batch-comes-again", "bug", "What a pull has found is sometimes worked on again after the next one.",
        "seeded: a list that is not cleared", replacements=(_submit_the_last_one_too,),
    ),
    Variant(
        "seeded-some-commits-are-lower", "bug", "Each fourth offset is committed three too low.",
        "seeded: off by some", replacements=(_commit_less,),
    ),
    Variant(
        "seeded-second-pull-waits", "bug", "What a second pull of a queue has found is given to no listener.",
        "seeded: a guard too many", replacements=(_submit_if_asked,),
    ),
    Variant(
        "seeded-first-of-a-batch-expires", "bug", "Of a batch that a listener keeps only the first message is sent "
        "back.", "seeded: a property of one message", replacements=(_note_the_time_of_the_first,),
    ),
    Variant(
        "seeded-queue-stays-busy", "bug", "An orderly consumer that has worked a queue off gets no task for it again.",
        "seeded: a forgotten reset", replacements=(_stay_busy,),
    ),
    Variant(
        "seeded-no-offset-is-zero", "bug", "A group that has committed nothing of a queue is answered 0.",
        "seeded: a default for a missing value", replacements=(_zero_for_none,), over=("new_group_is_told_so",),
    ),
    Variant(
        "seeded-last-message-is-not-committed", "bug", "Who has settled all that it has commits its last offset, not "
        "the one behind it: whoever takes the queue next is given that message once more.",
        "seeded: off by one", replacements=(_one_too_low,),
    ),
    Variant(
        "seeded-read-is-not-remembered", "bug", "Of a queue that is taken nothing is committed before something is "
        "settled.", "seeded: a forgotten put", replacements=(_begin_and_remember_nothing,),
    ),
    Variant(
        "seeded-first-pull-asks-nobody", "bug", "An orderly consumer begins a queue where the group was when it was "
        "taken, whatever was committed until the first pull.", "seeded: a flag that is set too early",
        replacements=(_begin_where_it_was_taken,),
    ),
)
