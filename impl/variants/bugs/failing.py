"""Planted bugs of messages with which listeners fail, or which none has been given: where they go, and when."""

from __future__ import annotations

from collections.abc import Callable

from impl.client import send_message_back
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService
from impl.client.message_listener import ConsumeConcurrentlyContext
from impl.client.mq_client_instance import MQClientInstance
from impl.client.process_queue import ProcessQueue
from impl.client.send_kernel import SYNC
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CONSUME_START_TIMESTAMP,
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_MAX_RECONSUME_TIMES,
    PROPERTY_RECONSUME_TIME,
    PROPERTY_RETRY_TOPIC,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError, NullPointerError
from impl.decisions.names import get_retry_topic
from impl.decisions.retry_level import FIRST_RETRY_LEVEL
from impl.hash_map import HashMap
from impl.variants.variant import Variant, around, replace

FirstExpired = Callable[[ProcessQueue, int], MessageExt | None]


@replace(ConsumeMessageConcurrentlyService, "send_message_back")
async def _to_where_it_was_stored(
    self: ConsumeMessageConcurrentlyService, msg: MessageExt, context: ConsumeConcurrentlyContext,
) -> bool:
    """The address in the record counts, whoever is the master by now."""
    try:
        await self.consumer.send_message_back(msg, context.delay_level_when_next_consume, None)
    except JavaError:
        msg.reconsume_times += 1
        return False
    return True


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


@replace(send_message_back, "send_to_retry_topic")
async def _as_it_came(
    instance: MQClientInstance, group: str, msg: MessageExt, reconsume_times: int, max_reconsume_times: int,
) -> None:
    """All properties are sent on, also that of a half message."""
    properties: HashMap[str, str] = HashMap()
    new_msg = Message(get_retry_topic(group), msg.body, flag=msg.flag)
    for name, value in (msg.properties or {}).items():
        properties.put(name, value)
    new_msg.properties = properties
    new_msg.put_property(PROPERTY_RETRY_TOPIC, msg.topic)
    new_msg.put_property(PROPERTY_RECONSUME_TIME, str(reconsume_times))
    new_msg.put_property(PROPERTY_MAX_RECONSUME_TIMES, str(max_reconsume_times))
    new_msg.put_property(PROPERTY_DELAY_TIME_LEVEL, str(FIRST_RETRY_LEVEL + msg.reconsume_times))
    producer = instance.inner_producer
    await producer.send_default_impl(new_msg, SYNC, producer.config.send_msg_timeout_ms)


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
