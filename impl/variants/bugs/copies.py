"""Seeded bugs of what a broker writes down again, and of what it says of it: copies, units and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from impl.broker import put_message_answer, send_message_back
from impl.broker.transaction import end_transaction_processor
from impl.common.headers import SendMessageResponseHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_KEYS,
    PROPERTY_ORIGIN_MESSAGE_ID,
    PROPERTY_TAGS,
    PROPERTY_TRANSACTION_PREPARED,
)
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.store import dispatch_request, schedule_message_service
from impl.store.dispatch_request import DelayLevels
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageResult
from impl.variants.variant import Variant, around

_Copied = Callable[[MessageExt], MessageExtBrokerInner]


@around(schedule_message_service, "message_timeup")
def _copy_without_flag(original: _Copied) -> _Copied:
    def message_timeup(message: MessageExt) -> MessageExtBrokerInner:
        """The flag of the application is not copied."""
        copy = original(message)
        copy.flag = 0
        return copy

    return message_timeup


@around(end_transaction_processor, "end_message_transaction")
def _copy_without_tags(original: _Copied) -> _Copied:
    def end_message_transaction(half: MessageExt) -> MessageExtBrokerInner:
        """Properties of the application go with those of the half message."""
        copy = original(half)
        for name in (PROPERTY_TAGS, PROPERTY_KEYS):
            copy.clear_property(name)
        copy.write_properties()
        return copy

    return end_message_transaction


@around(end_transaction_processor, "end_message_transaction")
def _take_the_queue_of_the_half(original: _Copied) -> _Copied:
    def end_message_transaction(half: MessageExt) -> MessageExtBrokerInner:
        """The queue is that of the half topic."""
        copy = original(half)
        copy.queue_id = half.queue_id
        return copy

    return end_message_transaction


@around(put_message_answer, "stored_header")
def _answer_the_place(original: Callable[..., SendMessageResponseHeader]) -> Callable[..., SendMessageResponseHeader]:
    def stored_header(
        result: PutMessageResult, header: SendMessageResponseHeader, queue_id: int,
    ) -> SendMessageResponseHeader:
        """The one offset is taken for the other."""
        answer, appended = original(result, header, queue_id), result.append_message_result
        return answer if answer is header or appended is None else answer._replace(queue_offset=appended.wrote_offset)

    return stored_header


@around(dispatch_request, "_tags_code")
def _without_a_sign(original: Callable[..., int]) -> Callable[..., int]:
    def _tags_code(
        topic: str, properties: Mapping[str, str], store_timestamp_ms: int, delay_levels: DelayLevels,
    ) -> int:
        """The absolute is taken, as index files do with keys."""
        return abs(original(topic, properties, store_timestamp_ms, delay_levels))

    return _tags_code


@around(dispatch_request, "_tags_code")
def _due_in_any_topic(original: Callable[..., int]) -> Callable[..., int]:
    def _tags_code(
        topic: str, properties: Mapping[str, str], store_timestamp_ms: int, delay_levels: DelayLevels,
    ) -> int:
        """A record with a delay level is one that waits: those that were delivered have theirs still."""
        del topic
        return original(RMQ_SYS_SCHEDULE_TOPIC, properties, store_timestamp_ms, delay_levels)

    return _tags_code


@around(dispatch_request, "_tags_code")
def _none_in_transactions(original: Callable[..., int]) -> Callable[..., int]:
    def _tags_code(
        topic: str, properties: Mapping[str, str], store_timestamp_ms: int, delay_levels: DelayLevels,
    ) -> int:
        """Half messages need no code, and the committed look like them."""
        if PROPERTY_TRANSACTION_PREPARED in properties:
            return 0
        return original(topic, properties, store_timestamp_ms, delay_levels)

    return _tags_code


@around(schedule_message_service, "message_timeup")
def _copy_as_if_new(original: _Copied) -> _Copied:
    def message_timeup(message: MessageExt) -> MessageExtBrokerInner:
        """A message is born when its delay is over."""
        copy = original(message)
        copy.born_timestamp = message.store_timestamp
        return copy

    return message_timeup


@around(send_message_back, "_copy")
def _name_the_last_copy(original: Callable[..., MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def _copy(message: MessageExt, topic: str, queue_id: int, delay_level: int) -> MessageExtBrokerInner:
        """What is sent back again says that it was the copy before."""
        copy = original(message, topic, queue_id, delay_level)
        if message.msg_id is not None:
            copy.put_property(PROPERTY_ORIGIN_MESSAGE_ID, message.msg_id)
            copy.write_properties()
        return copy

    return _copy


_IDEA = "an idea: faults of other ports"

BUGS = (
    Variant("seeded-delayed-lose-their-flag", "bug", "A message that was delayed comes without its flag.", _IDEA,
            replacements=(_copy_without_flag,)),
    Variant("seeded-committed-lose-their-tags", "bug", "A committed message has neither tags nor keys.", _IDEA,
            replacements=(_copy_without_tags,)),
    Variant("seeded-committed-go-to-queue-0", "bug", "A committed message is in the first queue of its topic.", _IDEA,
            replacements=(_take_the_queue_of_the_half,)),
    Variant("seeded-delayed-are-born-late", "bug", "A message that was delayed is born when it was stored.", _IDEA,
            replacements=(_copy_as_if_new,)),
    Variant("seeded-origin-is-the-last-copy", "bug", "A message that comes back again names the copy before as its "
            "origin.", _IDEA, replacements=(_name_the_last_copy,)),
    Variant("seeded-answers-name-the-log", "bug", "A producer is told the offset in the log for that in the queue.",
            _IDEA, replacements=(_answer_the_place,)),
    Variant("seeded-tags-have-no-sign", "bug", "Units have the absolute of the hash of a tag.", _IDEA,
            replacements=(_without_a_sign,)),
    Variant("seeded-delivered-keep-their-time", "bug", "The unit of a message that was delayed has its time of "
            "delivery for the hash of its tags.", _IDEA, replacements=(_due_in_any_topic,)),
    Variant("seeded-transactions-have-no-code", "bug", "The units of messages of transactions have no hash of tags.",
            _IDEA, replacements=(_none_in_transactions,)),
)
