"""Seeded bugs of the pulls of push consumers, and of what becomes of what listeners answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService, Messages
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.message_listener import ConsumeConcurrentlyContext
from impl.client.process_queue import ProcessQueue
from impl.client.pull_api_wrapper import PullAPIWrapper
from impl.client.pull_callback import OFFSET_ILLEGAL_DELAY_MS, PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.client.service_state import RUNNING, SHUTDOWN_ALREADY
from impl.common.headers import PullMessageRequestHeader
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData
from impl.common.message import MessageExt
from impl.decisions.flags import FLAG_COMMIT_OFFSET, clear_flag
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.events import ConsumerShutDown, ConsumerStopping, OffsetCorrected, OffsetFoundIllegal
from impl.variants.variant import Variant, around, replace

_IDEA = "seeded"
PullHeader = Callable[..., Awaitable[PullMessageRequestHeader]]


@replace(PullCallback, "on_exception")
def _end(self: PullCallback, error: JavaError | None) -> None:
    """A pull that fails is the last one."""
    del self, error


@replace(PullCallback, "on_exception")
def _at_once(self: PullCallback, error: JavaError | None) -> None:
    """A pull that fails is made again at once."""
    del error
    self.consumer.execute_pull_request_immediately(self.pull_request)


@around(DefaultMQPushConsumerImpl, "_pull_header")
def _without_version(original: PullHeader) -> PullHeader:
    async def _pull_header(
        self: DefaultMQPushConsumerImpl, pull_request: PullRequest, subscription_data: SubscriptionData,
    ) -> PullMessageRequestHeader:
        return (await original(self, pull_request, subscription_data))._replace(sub_version=0)

    return _pull_header


@around(DefaultMQPushConsumerImpl, "_pull_header")
def pulls_commit_nothing(original: PullHeader) -> PullHeader:
    """No pull commits the offset in memory."""

    async def _pull_header(
        self: DefaultMQPushConsumerImpl, pull_request: PullRequest, subscription_data: SubscriptionData,
    ) -> PullMessageRequestHeader:
        header = await original(self, pull_request, subscription_data)
        return header._replace(sys_flag=clear_flag(header.sys_flag, FLAG_COMMIT_OFFSET), commit_offset=0)

    return _pull_header


@replace(PullAPIWrapper, "update_pull_from_which_node")
def _never_back(self: PullAPIWrapper, mq: MessageQueue, broker_id: int) -> None:
    """Whoever was sent to a slave stays there."""
    if broker_id:
        self.pull_from_which_node_table.put(mq, broker_id)


@around(PullAPIWrapper, "_addressed")
def _commit_to_slaves(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def _addressed(
        self: PullAPIWrapper, mq: MessageQueue, header: PullMessageRequestHeader,
    ) -> tuple[str, PullMessageRequestHeader]:
        """The flag stays, whoever is asked."""
        find = self.instance.find_broker_address_in_subscribe
        found = find(mq.broker_name, self.recalculate_pull_from_which_node(mq), only_this_broker=False)
        if found is None or not found.slave:
            answer: tuple[str, PullMessageRequestHeader] = await original(self, mq, header)
            return answer
        self._report(mq, header, found.broker_addr)
        return found.broker_addr, header

    return _addressed


@replace(DefaultMQPushConsumerImpl, "_is_full")
def _never_full(self: DefaultMQPushConsumerImpl, pq: ProcessQueue) -> bool:
    """There is no flow control."""
    del self, pq
    return False


@replace(DefaultMQPushConsumerImpl, "_is_full")
def _never_too_big(self: DefaultMQPushConsumerImpl, pq: ProcessQueue) -> bool:
    """Messages are counted, and not weighed."""
    return pq.msg_count > self.pull_threshold_for_queue


@around(DefaultMQPushConsumerImpl, "divide_thresholds")
def _one_queue_has_it_all(original: Callable[..., None]) -> Callable[..., None]:
    def divide_thresholds(self: DefaultMQPushConsumerImpl, queue_count: int) -> None:
        """What is set for a topic counts for each of its queues."""
        original(self, min(1, queue_count))

    return divide_thresholds


@replace(DefaultMQPushConsumerImpl, "_is_full")
def _full_of_one(self: DefaultMQPushConsumerImpl, pq: ProcessQueue) -> bool:
    """Nothing is pulled while more than one message waits."""
    del self
    return pq.msg_count > 1


@around(DefaultMQPushConsumerImpl, "_later_ms")
def _pull_on(original: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    async def _later_ms(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> int:
        """Nobody asks whether it is suspended."""
        paused, self.pause = self.pause, False
        later_ms = await original(self, pull_request)
        self.pause = paused
        return later_ms

    return _later_ms


@around(DefaultMQPushConsumerImpl, "_has_order")
def _whoever_has_the_lock(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _has_order(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> bool:
        """A queue is pulled with its lock or without it, once its offset is known."""
        return pull_request.previously_locked or await original(self, pull_request)

    return _has_order


@replace(ConsumeMessageOrderlyService, "_run")
async def _beside_each_other(self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue) -> None:
    """A queue that is taken again is worked on while a listener still is at work on it."""
    if not pq.dropped:
        with suppress(JavaError):
            await self._consume_in_order(mq, pq)


@replace(PullCallback, "_offset_illegal")
def _go_on_meanwhile(self: PullCallback) -> None:
    """The queue is kept until the offset is corrected."""
    consumer, mq, nearest = self.consumer, self.pull_request.message_queue, self.pull_request.next_offset
    consumer.node.trace(OffsetFoundIllegal(consumer.instance.client_id, consumer.group, mq, nearest))
    consumer.pull_message_service.execute_task_later(self._correct_offset, OFFSET_ILLEGAL_DELAY_MS)


@replace(PullCallback, "_offset_illegal")
def _correct_at_once(self: PullCallback) -> None:
    """Listeners that are at work are not waited for."""
    consumer, mq, nearest = self.consumer, self.pull_request.message_queue, self.pull_request.next_offset
    consumer.node.trace(OffsetFoundIllegal(consumer.instance.client_id, consumer.group, mq, nearest))
    self.pull_request.process_queue.dropped = True
    consumer.rebalance_impl.report_dropped()
    consumer.pull_message_service.execute_task_later(self._correct_offset, 10)


@replace(PullCallback, "_correct_offset")
async def _correct_here(self: PullCallback) -> None:
    """What is corrected is not sent: a queue that is given up at once, and begun elsewhere, has the old offset."""
    consumer, mq, offset = self.consumer, self.pull_request.message_queue, self.pull_request.next_offset
    consumer.update_consume_offset(mq, offset)
    consumer.node.trace(OffsetCorrected(consumer.instance.client_id, consumer.group, mq, offset))
    pq = consumer.rebalance_impl.process_queue_table.remove(mq)
    if pq is not None:
        pq.dropped = True
    consumer.offset_store.remove_offset(mq)


@replace(DefaultMQPushConsumerImpl, "consumer_data")
def _say_clustering(self: DefaultMQPushConsumerImpl) -> ConsumerData:
    """Every heartbeat says CLUSTERING."""
    return ConsumerData(self.group, CONSUME_PASSIVELY, CLUSTERING, self.config.consume_from_where,
                        self.rebalance_impl.subscription_inner.values())


@replace(ConsumeMessageConcurrentlyService, "_run")
async def _settle_all(
    self: ConsumeMessageConcurrentlyService, mq: MessageQueue, pq: ProcessQueue, msgs: Messages,
) -> None:
    """What a listener answers counts, whoever has the queue by now."""
    if pq.dropped:
        return
    context = ConsumeConcurrentlyContext(mq)
    self.consumer.reset_retry_topic(msgs)
    status = await self._listen(msgs, context)
    await self.node.interleave("ConsumeRequest: the listener has ended")
    with suppress(JavaError):
        await self.process_consume_result(status, context, pq, msgs)


@replace(ConsumeMessageOrderlyService, "_check_reconsume_times")
async def _count_nothing(self: ConsumeMessageOrderlyService, msgs: Sequence[MessageExt]) -> bool:
    """Every attempt is the first one."""
    del self, msgs
    return True


@around(ProcessQueue, "first_expired_msg")
def _in_seconds(original: Callable[[ProcessQueue, int], MessageExt | None]) -> Callable[..., MessageExt | None]:
    def first_expired_msg(self: ProcessQueue, consume_timeout_minutes: int) -> MessageExt | None:
        """The timeout is one of seconds."""
        del consume_timeout_minutes
        return original(self, 0)

    return first_expired_msg


@replace(DefaultMQPushConsumerImpl, "shutdown")
async def _say_goodbye_first(self: DefaultMQPushConsumerImpl) -> None:
    """Others take the queues before what is settled is committed."""
    if self.service_state != RUNNING:
        return
    self.node.trace(ConsumerStopping(self.instance.client_id, self.group))
    await self.consume_message_service.shutdown()
    await self.instance.unregister_consumer(self.group)
    await self.persist_consumer_offset()
    await self.instance.shutdown()
    self.rebalance_impl.destroy()
    self.service_state = SHUTDOWN_ALREADY
    self.node.trace(ConsumerShutDown(self.instance.client_id, self.group))


BUGS = (
    Variant("seeded-failed-pull-is-the-last", "bug", "A queue whose pull fails once is not pulled any more.", _IDEA,
            replacements=(_end,)),
    Variant("seeded-failed-pull-comes-at-once", "bug", "A pull that fails is repeated without a pause.", _IDEA,
            replacements=(_at_once,)),
    Variant("seeded-pulls-have-no-version", "bug", "A pull does not say by which subscription it is to be answered.",
            _IDEA, replacements=(_without_version,)),
    Variant("seeded-pulls-commit-nothing", "bug", "Offsets are committed by the timer alone.", _IDEA,
            replacements=(pulls_commit_nothing,)),
    Variant("seeded-slave-is-for-ever", "bug", "Who was sent to a slave never asks the master again.", _IDEA,
            replacements=(_never_back,)),
    Variant("seeded-slaves-are-told-offsets", "bug", "A pull that goes to a slave carries an offset to commit.", _IDEA,
            replacements=(_commit_to_slaves,)),
    Variant("seeded-caches-have-no-end", "bug", "A consumer pulls on, however much waits.", _IDEA,
            replacements=(_never_full,)),
    Variant("seeded-bytes-have-no-end", "bug", "A consumer pulls on, however many bytes wait.", _IDEA,
            replacements=(_never_too_big,)),
    Variant("seeded-queue-counts-as-topic", "bug", "What a consumer may cache of a topic it caches of each queue.",
            _IDEA, replacements=(_one_queue_has_it_all,)),
    Variant("seeded-one-message-fills-a-queue", "bug", "A consumer pulls nothing while two messages wait.", _IDEA,
            replacements=(_full_of_one,)),
    Variant("seeded-suspended-pull-on", "bug", "A consumer that is suspended pulls on.", _IDEA,
            replacements=(_pull_on,)),
    Variant("seeded-unlocked-is-pulled", "bug", "An ordered queue is pulled on when its lock is another one's.", _IDEA,
            replacements=(_whoever_has_the_lock,)),
    Variant("seeded-two-threads-a-queue", "bug", "Two threads of a process may work on one ordered queue.", _IDEA,
            replacements=(_beside_each_other,)),
    Variant("seeded-illegal-queue-is-kept", "bug", "A queue with an illegal offset is worked on until it is corrected.",
            _IDEA, replacements=(_go_on_meanwhile,)),
    Variant("seeded-correction-comes-at-once", "bug", "An offset that the broker does not have is corrected at once.",
            _IDEA, replacements=(_correct_at_once,)),
    Variant("seeded-correction-is-not-sent", "bug", "An offset that was corrected is not committed.", _IDEA,
            replacements=(_correct_here,), over=("corrected_queue_is_taken_at_once", "correction_is_of_its_holding")),
    Variant("seeded-all-say-clustering", "bug", "Broadcasting members say that they share messages out.", _IDEA,
            replacements=(_say_clustering,)),
    Variant("seeded-given-up-is-settled", "bug", "What a listener answers of a queue that was given up counts.", _IDEA,
            replacements=(_settle_all,)),
    Variant("seeded-suspended-is-not-counted", "bug", "A batch that is suspended comes again as at its first attempt.",
            _IDEA, replacements=(_count_nothing,)),
    Variant("seeded-timeout-is-in-seconds", "bug", "Messages are sent back from under listeners that are not late.",
            _IDEA, replacements=(_in_seconds,)),
    Variant("seeded-goodbye-comes-first", "bug", "A consumer that stops says goodbye before it commits.", _IDEA,
            replacements=(_say_goodbye_first,)),
)
