"""Planted bugs of messages with which listeners fail, or which none has been given: where they go, and when."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.client import send_message_back
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CONSUME_START_TIMESTAMP,
    PROPERTY_TRANSACTION_PREPARED,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import NullPointerError
from impl.variants.variant import Variant, around

SendsBack = Callable[[DefaultMQPushConsumerImpl, MessageExt, int, str | None], Awaitable[None]]
ToRetry = Callable[[str, MessageExt, int, int], Message]
FirstExpired = Callable[[ProcessQueue, int], MessageExt | None]


@around(DefaultMQPushConsumerImpl, "send_message_back")
def _to_where_it_was_stored(original: SendsBack) -> SendsBack:
    async def send_message_back(
        self: DefaultMQPushConsumerImpl, msg: MessageExt, delay_level: int, broker_name: str | None,
    ) -> None:
        """The address in the record counts, whoever is the master by now."""
        del broker_name
        await original(self, msg, delay_level, None)

    return send_message_back


@around(ProcessQueue, "first_expired_msg")
def _from_the_beginning_of_time(original: FirstExpired) -> FirstExpired:
    def first_expired_msg(self: ProcessQueue, consume_timeout_minutes: int) -> MessageExt | None:
        """What no listener was given has no start, which is taken for 0."""
        return _unseen(self) or original(self, consume_timeout_minutes)

    return first_expired_msg


@around(ProcessQueue, "first_expired_msg")
def _with_a_start(original: FirstExpired) -> FirstExpired:
    def first_expired_msg(self: ProcessQueue, consume_timeout_minutes: int) -> MessageExt | None:
        """What no listener was given has no start, which is parsed: the timer of its caller ends."""
        if _unseen(self) is not None:
            raise NullPointerError
        return original(self, consume_timeout_minutes)

    return first_expired_msg


def _unseen(pq: ProcessQueue) -> MessageExt | None:
    """The first message, if no listener was given it."""
    msg = pq.msg_tree_map.first() if pq.msg_tree_map else None
    return None if msg is None or msg.get_property(PROPERTY_CONSUME_START_TIMESTAMP) else msg


@around(send_message_back, "message_to_retry")
def _as_it_came(original: ToRetry) -> ToRetry:
    def message_to_retry(group: str, msg: MessageExt, reconsume_times: int, max_reconsume_times: int) -> Message:
        """All properties are sent on, also that of a half message."""
        half = msg.get_property(PROPERTY_TRANSACTION_PREPARED)
        new_msg = original(group, msg, reconsume_times, max_reconsume_times)
        if half is not None:
            new_msg.put_property(PROPERTY_TRANSACTION_PREPARED, half)
        return new_msg

    return message_to_retry


BUGS = (
    Variant("seeded-back-to-the-store-host", "bug", "What has failed is sent back to the address in its record, "
            "whoever is the master by now.", "client-cpp #210, apache/rocketmq #8584",
            replacements=(_to_where_it_was_stored,)),
    Variant("seeded-unseen-has-expired", "bug", "What no listener was given counts as had for too long.",
            "client-go #1034", replacements=(_from_the_beginning_of_time,)),
    Variant("seeded-cleaner-ends-at-the-unseen", "bug", "Nothing expires any more once the first message of a queue "
            "was given to no listener yet.", "apache/rocketmq #1097, #3861", replacements=(_with_a_start,)),
    Variant("seeded-retry-copy-is-half", "bug", "What a transaction has committed is a half message when a consumer "
            "sends it again.", "apache/rocketmq #1648, #1649", replacements=(_as_it_came,)),
)
