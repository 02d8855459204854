"""Repairs of where a queue is begun, and of what a listener may still say when it is given up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from impl.broker.consumer_manage_processor import ConsumerManageProcessor
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.message_listener import ConsumeOrderlyContext
from impl.client.offset_store import OFFSET_RPC_TIMEOUT_MS, RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.pull_callback import PULL_TIME_DELAY_MS_WHEN_EXCEPTION
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.client.rebalance_push import CONSUME_LOCK_TIMEOUT_MS, RebalancePushImpl
from impl.common.heartbeat_data import CLUSTERING
from impl.common.message import MessageExt
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import Source
from impl.ports.threads import Threads
from impl.store.store_tables import StoreTables
from impl.variants.variant import Variant, around, replace


def _new(rebalance: RebalancePushImpl) -> dict[MessageQueue, ProcessQueue]:
    """The queues that were begun where the broker had no offset, until it has one."""
    return cast("dict[MessageQueue, ProcessQueue]", vars(rebalance).setdefault("new", {}))


@around(RebalancePushImpl, "_take")
def _note_what_is_new(original: Callable[..., Awaitable[PullRequest | None]]) -> Callable[..., Awaitable[object]]:
    async def _take(self: RebalancePushImpl, mq: MessageQueue, is_order: bool, threads: Threads) -> PullRequest | None:
        """A queue that is begun at 0 is begun there by everybody."""
        pull_request = await original(self, mq, is_order, threads)
        if pull_request is not None and pull_request.next_offset > 0 and self.message_model == CLUSTERING \
                and mq not in self.offset_store.clone_offset_table(mq.topic):
            _new(self)[mq] = pull_request.process_queue
            self.offset_store.update_offset(mq, pull_request.next_offset, increase_only=True)
        return pull_request

    return _take


@around(DefaultMQPushConsumerImpl, "pull_message")
def _commit_before_the_first_pull(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def pull_message(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> None:
        """Nothing is pulled of a new queue before the broker has its offset; else the chain goes on a second later."""
        mq, pq, store = pull_request.message_queue, pull_request.process_queue, self.offset_store
        if _new(self.rebalance_impl).get(mq) is not pq or pq.dropped or not isinstance(store, RemoteBrokerOffsetStore):
            await original(self, pull_request)
            return
        pq.last_pull_timestamp = self.node.now_ms()
        if not await _committed(store, mq):
            self.pull_message_service.execute_pull_request_later(pull_request, PULL_TIME_DELAY_MS_WHEN_EXCEPTION)
            return
        if _new(self.rebalance_impl).get(mq) is pq:
            del _new(self.rebalance_impl)[mq]
        await original(self, pull_request)

    return pull_message


async def _committed(self: RemoteBrokerOffsetStore, mq: MessageQueue) -> bool:
    """Whether the broker has what memory had when it was known whom it goes to; if that was nothing, nothing is due."""
    try:
        addr = await self._broker_addr(mq)
        offset = self.offset_table.get(mq)
        if offset is not None:
            await self.rpc.update_consumer_offset(addr, self.group_name, mq, offset, OFFSET_RPC_TIMEOUT_MS)
    except JavaError:
        return False
    return True


def _older(manager: ConsumerOffsetManager) -> dict[tuple[str, str], frozenset[int]]:
    """By group and topic: the queues that had messages when the group was new, and asked for the first time."""
    return cast("dict[tuple[str, str], frozenset[int]]", vars(manager).setdefault("older", {}))


@around(ConsumerManageProcessor, "_queried_offset")
def _nothing_of_what_is_older(original: Callable[..., int | None]) -> Callable[..., int | None]:
    def _queried_offset(
        self: ConsumerManageProcessor, group: str, topic: str, queue_id: int, stored: int,
    ) -> int | None:
        """The store tells which queues have messages before a group begins; of others a young one answers 0."""
        known, key = _older(self.consumer_offset_manager), (group, topic)
        if key not in known:
            is_new = not self.consumer_offset_manager.query_offsets(group, topic)
            store = cast("StoreTables", self.message_store)
            known[key] = frozenset(queue.queue_id for queue in store.queues() if is_new and queue.topic == topic
                                   and queue.get_max_offset_in_queue() > 0)
        return None if stored < 0 and queue_id in known[key] else original(self, group, topic, queue_id, stored)

    return _queried_offset


@around(ConsumerOffsetManager, "remove_offset")
def _a_group_is_new_again(original: Callable[..., None]) -> Callable[..., None]:
    def remove_offset(self: ConsumerOffsetManager, group: str) -> None:
        """Also what is known of its begin goes."""
        for key in [key for key in _older(self) if key[0] == group]:
            del _older(self)[key]
        original(self, group)

    return remove_offset


@around(RebalancePushImpl, "_source")
def _retry_from_the_first(original: Callable[..., Source]) -> Callable[..., Source]:
    def _source(self: RebalancePushImpl, stored: int, *, retry_topic: bool) -> Source:
        """A retry topic has nothing but messages of this group."""
        source = original(self, stored, retry_topic=retry_topic)
        return Source.ZERO if retry_topic and source is Source.MAX_OFFSET else source

    return _source


@replace(ConsumeMessageConcurrentlyService, "_update_offset")
async def _look_again(
    self: ConsumeMessageConcurrentlyService, mq: MessageQueue, pq: ProcessQueue, offset: int,
) -> None:
    """`dropped` is looked at in the step that raises the offset."""
    await self.node.interleave("processConsumeResult: between removeMessage and updateOffset")
    if not pq.dropped:
        self._put(mq, offset, increase_only=True)


@replace(ConsumeMessageOrderlyService, "consume")
async def _settle_under_the_lock(
    self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[MessageExt],
) -> bool:
    """Who gets the lock of the queue finds the batch settled."""
    context, goes_on = ConsumeOrderlyContext(mq), False
    await self.node.lock(pq.consume_lock)
    try:
        if not pq.dropped:
            status = await self._listen(msgs, context)
            goes_on = await self.process_consume_result(status, context, pq, msgs)
    except JavaError:
        self.node.unlock(pq.consume_lock)
        raise
    self.node.unlock(pq.consume_lock)
    return goes_on


@replace(ConsumeMessageOrderlyService, "_counts")
def _while_it_is_in_the_table(self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue) -> bool:
    """What was read counts until the queue has left the table; a reset, which clears the cache, has the last word."""
    return not pq.dropped or _is_at_work(self.consumer.rebalance_impl, mq, pq)


def _is_at_work(rebalance: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue) -> bool:
    is_read = pq.consume_lock.held and bool(pq.consuming_msg_orderly_tree_map)
    return is_read and rebalance.process_queue_table.get(mq) is pq


@around(RebalancePushImpl, "remove_unnecessary_message_queue")
def _listener_first(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def remove_unnecessary_message_queue(
        self: RebalancePushImpl, mq: MessageQueue, pq: ProcessQueue, threads: Threads,
    ) -> bool:
        """The offset of an ordered queue is committed and forgotten when its last batch is settled."""
        if self.orderly and self.message_model == CLUSTERING and _is_at_work(self, mq, pq):
            self.report_dropped(by_rebalance=True)
            if not await threads.try_lock(pq.consume_lock, CONSUME_LOCK_TIMEOUT_MS):
                pq.try_unlock_times += 1
                return False
            threads.unlock(pq.consume_lock)
            if self.process_queue_table.get(mq) is not pq:
                return False
        return await original(self, mq, pq, threads)

    return remove_unnecessary_message_queue


REPAIRS = (
    Variant(
        "first_offset_is_committed", "repair", "Where a group has no offset, the first one is committed before a pull.",
        "the idea: updateConsumeOffsetToBroker, not one-way, in DefaultMQPushConsumerImpl#pullMessage", ("L1",),
        (_note_what_is_new, _commit_before_the_first_pull),
    ),
    Variant(
        "new_group_is_told_so", "repair", "A queue that had messages before a group was new answers it no offset.",
        "the idea: setZeroIfNotFound of apache/rocketmq 5, decided by the broker", ("X24",),
        (_nothing_of_what_is_older, _a_group_is_new_again),
    ),
    Variant(
        "retry_from_the_first", "repair", "A group without an offset begins its retry topic at 0.",
        "the idea: CONSUME_FROM_TIMESTAMP as CONSUME_FROM_LAST_OFFSET", ("L11",), (_retry_from_the_first,),
    ),
    Variant(
        "dropped_is_looked_at_last", "repair", "A listener's success does not raise the offset of a dropped queue.",
        "the idea: ProcessQueue#isDropped in the step that raises the offset", ("X18",), (_look_again,),
    ),
    Variant(
        "batch_ends_first", "repair", "The last batch of an ordered queue is settled before the queue is given up.",
        "the idea: consumeLock around processConsumeResult, and before persist and removeOffset", ("X11",),
        (_settle_under_the_lock, _while_it_is_in_the_table, _listener_first),
    ),
)
