"""Planted bugs of caches, of delayed, half and failed messages (groups FC, RT and TX of known bugs)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from impl.broker import send_message_back
from impl.broker.expression_message_filter import ExpressionMessageFilter
from impl.broker.send_message_back import SendMessageBack
from impl.broker.transaction import transactional_message_service as check
from impl.broker.transaction.default_check_listener import DefaultTransactionalMessageCheckListener
from impl.client import pull_api_wrapper
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService
from impl.client.message_listener import ConsumeConcurrentlyContext, ConsumeConcurrentlyStatus
from impl.client.process_queue import ProcessQueue
from impl.client.pull_callback import PullCallback
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.java_text import parse_integer
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import GetMessageStatus
from impl.decisions.retry_level import DELAY_LEVEL_TABLE
from impl.decisions.subscription import SubscriptionData
from impl.events import MessagesFound
from impl.ports.remoting import Command
from impl.store import dispatch_request
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_reads import GetMessageResult, MessageFilter, MessageReads
from impl.store.schedule_message_service import DeliverDelayedMessageTimerTask, ScheduleMessageService
from impl.variants.variant import Variant, around, replace

_EXECUTOR_QUEUE, _BUSY_MS, _BETWEEN_LOOKS_MS = 2, 1_000, 2_000
_EIGHTH, _PERMITS, _FOR_EVER_MS, _LATER_MS = 8, 10, 24 * 60 * 60 * 1_000, 1
_Copy = MessageExtBrokerInner | None


@replace(ConsumeMessageConcurrentlyService, "_update_offset")
async def _store_what_was_least(
    self: ConsumeMessageConcurrentlyService, mq: MessageQueue, pq: ProcessQueue, offset: int,
) -> None:
    """Whoever stores last has the last word, also with what was least before another removal."""
    await self.node.interleave("processConsumeResult: between removeMessage and updateOffset")
    if not pq.dropped:
        self._put(mq, offset, increase_only=False)


@around(ConsumeMessageConcurrentlyService, "_listen")
def _keep_the_permit(original: Callable[..., Awaitable[ConsumeConcurrentlyStatus]]) -> Callable[..., Any]:
    async def _listen(
        self: ConsumeMessageConcurrentlyService, msgs: list[MessageExt], context: ConsumeConcurrentlyContext,
    ) -> ConsumeConcurrentlyStatus:
        """Who gets no permit waits for one that nobody gives back; a listener that throws keeps its own."""
        if self.__dict__.setdefault("kept", 0) >= _PERMITS:
            await self.node.sleep(_FOR_EVER_MS)
        self.__dict__["kept"] += 1
        status = await original(self, msgs, context)
        self.__dict__["kept"] -= status is ConsumeConcurrentlyStatus.CONSUME_SUCCESS
        return status

    return _listen


@replace(PullCallback, "_found")
def _cache_it_afterwards(self: PullCallback, msgs: tuple[MessageExt, ...]) -> None:
    """The messages are given to threads, which may have ended with them before they are cached."""
    consumer, mq, pq = self.consumer, self.pull_request.message_queue, self.pull_request.process_queue
    if msgs and not pq.dropped:
        offsets = tuple(msg.queue_offset for msg in msgs)
        consumer.node.trace(MessagesFound(consumer.instance.client_id, consumer.group, mq, offsets))
    consumer.consume_message_service.submit_consume_request(msgs, pq, mq, dispatch_to_consume=True)

    async def put() -> None:
        await consumer.node.sleep(_LATER_MS)
        pq.put_message(msgs)
        consumer.execute_pull_request_immediately(self.pull_request)

    consumer.node.start_thread("PullCallback", put())


@around(DeliverDelayedMessageTimerTask, "_deliver")
def _go_on_behind_what_failed(original: Callable[..., bool]) -> Callable[..., bool]:
    def _deliver(self: DeliverDelayedMessageTimerTask, message: MessageExtBrokerInner, start: int) -> bool:
        """The next look begins behind the message that was not taken."""
        delivered = original(self, message, start)
        if not delivered:
            self.offset += 1
        return delivered

    return _deliver


@around(DeliverDelayedMessageTimerTask, "_deliver")
def _forget_some(original: Callable[..., bool]) -> Callable[..., bool]:
    def _deliver(self: DeliverDelayedMessageTimerTask, message: MessageExtBrokerInner, start: int) -> bool:
        """Each eighth look forgets what it finds first."""
        return start % _EIGHTH == 0 or original(self, message, start)

    return _deliver


@around(ScheduleMessageService, "load")
def _write_before_reading(original: Callable[..., bool]) -> Callable[..., bool]:
    def load(self: ScheduleMessageService) -> bool:
        """The timer that writes the table runs before the table is read."""
        self.persist()
        return original(self)

    return load


@around(dispatch_request, "compute_deliver_timestamp")
def _half_as_long(original: Callable[..., int]) -> Callable[..., int]:
    def compute_deliver_timestamp(
        level: int, store_timestamp_ms: int, table: Mapping[int, int] = DELAY_LEVEL_TABLE,
    ) -> int:
        """A delay is over at half its time."""
        return store_timestamp_ms + (original(level, store_timestamp_ms, table) - store_timestamp_ms) // 2

    return compute_deliver_timestamp


@replace(ExpressionMessageFilter, "is_matched_by_consume_queue")
def _let_all_pass(self: ExpressionMessageFilter, tags_code: int | None, cq_ext_unit: object = None) -> bool:
    """What a queue knows of a message filters nothing."""
    del self, tags_code, cq_ext_unit
    return True


@replace(ExpressionMessageFilter, "is_matched_by_commit_log")
def _let_all_records_pass(self: ExpressionMessageFilter, record: object, properties: object = None) -> bool:
    """Nor does the message itself."""
    del self, record, properties
    return True


@replace(pull_api_wrapper, "_is_subscribed")
def _look_at_no_tag(subscription_data: SubscriptionData, msg: MessageExt) -> bool:
    """The client relies on the broker."""
    del subscription_data, msg
    return True


@around(check._QueueCheck, "_check_prepare_queue_offset")  # noqa: SLF001  # the body of the check's loop
def _look_at_the_clock_again(original: Callable[..., bool]) -> Callable[..., bool]:
    def _check_prepare_queue_offset(self: check._QueueCheck, half: MessageExt) -> bool:
        """What has grown out of its immunity since the first look, which was a while ago, counts as handled."""
        seconds = parse_integer(half.get_property(PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS) or "0", 64)
        age_ms = self._bridge.now_ms() + _BETWEEN_LOOKS_MS - half.born_timestamp
        return age_ms >= seconds * 1_000 or original(self, half)

    return _check_prepare_queue_offset


@around(DefaultTransactionalMessageCheckListener, "resolve_half_msg")
def _ask_two_at_a_time(original: Callable[..., None]) -> Callable[..., None]:
    def resolve_half_msg(self: DefaultTransactionalMessageCheckListener, half: MessageExt) -> None:
        """The executor takes two questions a second; what it rejects is forgotten."""
        now_ms = self._bridge.now_ms()
        queued = self.__dict__.setdefault("queued", [])
        queued[:] = [ms for ms in queued if now_ms - ms < _BUSY_MS]
        if len(queued) < _EXECUTOR_QUEUE:
            queued.append(now_ms)
            original(self, half)

    return resolve_half_msg


@around(send_message_back, "_copy")
def _count_no_attempt(original: Callable[..., MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def _copy(message: MessageExt, topic: str, queue_id: int, delay_level: int) -> MessageExtBrokerInner:
        """The copy has the number of the message."""
        copy = original(message, topic, queue_id, delay_level)
        copy.reconsume_times = message.reconsume_times
        return copy

    return _copy


@around(send_message_back, "_copy")
def _delay_dead_letters(original: Callable[..., MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def _copy(message: MessageExt, topic: str, queue_id: int, delay_level: int) -> MessageExtBrokerInner:
        """A dead letter waits like any other copy."""
        return original(message, topic, queue_id, max(delay_level, 1))

    return _copy


@around(SendMessageBack, "_message")
def _keep_no_second_copy(original: Callable[..., Awaitable[_Copy]]) -> Callable[..., Awaitable[_Copy]]:
    async def _message(self: SendMessageBack, request: Command) -> _Copy:
        """A message that comes back from a retry topic is taken for one that nobody wants again."""
        copy = await original(self, request)
        return None if copy is not None and copy.reconsume_times > 1 else copy

    return _message


@around(SendMessageBack, "retry_queue")
def _count_queues_from_one(original: Callable[..., int]) -> Callable[..., int]:
    def retry_queue(self: SendMessageBack, group: SubscriptionGroupConfig, retry_topic: TopicConfig) -> int:
        """The first queue is 1."""
        return original(self, group, retry_topic) + 1

    return retry_queue


@around(send_message_back, "goes_to_dead_letters")
def _try_once_more(original: Callable[[int, int, int], bool]) -> Callable[[int, int, int], bool]:
    def goes_to_dead_letters(reconsume_times: int, delay_level: int, max_reconsume_times: int) -> bool:
        """The last attempt is behind the limit."""
        return original(reconsume_times, delay_level, max_reconsume_times + 1)

    return goes_to_dead_letters


@around(MessageReads, "get_message")
def _have_nothing_that_matches(original: Callable[..., GetMessageResult | None]) -> Callable[..., object]:
    def get_message(
        self: MessageReads, topic: str, queue_id: int, offset: int, max_msg_nums: int,
        message_filter: MessageFilter | None = None,
    ) -> GetMessageResult | None:
        """Who asks for the end of a queue first is told that what is there did not match."""
        found = original(self, topic, queue_id, offset, max_msg_nums, message_filter)
        asked, place = vars(self).setdefault("asked", set()), (topic, queue_id, offset)
        if found is None or found.status is not GetMessageStatus.OFFSET_OVERFLOW_ONE or place in asked:
            return found
        asked.add(place)
        return found._replace(status=GetMessageStatus.NO_MATCHED_MESSAGE)

    return get_message


_IDEA = "an idea: faults of other brokers"

BUGS = (
    Variant(
        "fc-commit-interleave", "bug", "Of two workers of a queue the slower one stores its smaller offset last.",
        "rocketmq-rust commit 09f8234fb", replacements=(_store_what_was_least,), over=("dropped_is_looked_at_last",),
    ),
    Variant(
        "fc-visible-before-cached", "bug", "Messages are given to listeners before they are cached.",
        "apache/rocketmq-client-go #927, commit 8afd69f", replacements=(_cache_it_afterwards,),
    ),
    Variant(
        "fc-permit-leak-on-panic", "bug", "A listener that fails keeps its permit, of which a member has ten.",
        "apache/rocketmq-client-go #910, commit a343f1b", replacements=(_keep_the_permit,),
    ),
    Variant(
        "fc-expired-then-failed", "bug", "A message that has expired is sent back again when its listener fails.",
        "apache/rocketmq #5481; 4.9.3 as shipped", undoes=("expired_is_over",),
    ),
    Variant(
        "rt-delay-skip-on-failure", "bug", "A delayed message whose put fails is passed over.",
        "apache/rocketmq #9248, #9249", replacements=(_go_on_behind_what_failed,),
    ),
    Variant(
        "rt-delay-replayed", "bug", "A start writes an empty table over the offsets of the delay levels.",
        "apache/rocketmq #6881, #6882, commit 0f1ff25512", replacements=(_write_before_reading,),
    ),
    Variant(
        "seeded-delays-are-halved", "bug", "A delayed message is delivered after half its delay.",
        "an idea: a deliver timestamp that is computed with another table", replacements=(_half_as_long,),
    ),
    Variant(
        "seeded-delays-are-forgotten", "bug", "Some delayed messages are never delivered.",
        "an idea: a delivery that counts before it is made", replacements=(_forget_some,),
    ),
    Variant(
        "seeded-filters-let-all-pass", "bug", "Neither broker nor client looks at tags and properties of messages.",
        "an idea: each relies on the other", replacements=(_let_all_pass, _let_all_records_pass, _look_at_no_tag),
    ),
    Variant(
        "tx-immunity-boundary", "bug", "A half message that becomes old enough between two looks at the clock is gone.",
        "apache/rocketmq #544, #548, commit 5d3560dc5c", replacements=(_look_at_the_clock_again,),
    ),
    Variant(
        "tx-check-exception-stalls", "bug", "A half message that cannot be read ends each round of the check.",
        "apache/rocketmq #9500; 4.9.3 as shipped (T4)", undoes=("unreadable_half_is_passed",),
    ),
    Variant(
        "tx-queue-full-loses-check", "bug", "Questions to producers that an executor rejects are forgotten.",
        "apache/rocketmq commit 6fb66c1f4c", replacements=(_ask_two_at_a_time,),
    ),
    Variant("seeded-attempts-are-not-counted", "bug", "The copy of a message that is sent back does not count it.",
            _IDEA, replacements=(_count_no_attempt,)),
    Variant("seeded-one-attempt-more", "bug", "A message that is sent back for the last time comes once more.",
            "an idea: greater, for not less", replacements=(_try_once_more,)),
    Variant("seeded-dead-letters-wait", "bug", "A dead letter waits for a delay level before it is one.", _IDEA,
            replacements=(_delay_dead_letters,)),
    Variant("seeded-second-copy-is-not-kept", "bug", "A message that comes back a second time is gone.", _IDEA,
            replacements=(_keep_no_second_copy,)),
    Variant("seeded-retry-queues-begin-at-1", "bug", "A message that is sent back goes to the queue behind its own.",
            _IDEA, replacements=(_count_queues_from_one,)),
    Variant("seeded-end-does-not-match", "bug", "A pull at the end of a queue is to be tried again at once.", _IDEA,
            replacements=(_have_nothing_that_matches,)),
)
