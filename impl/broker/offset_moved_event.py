"""OffsetMovedEvent: the message by which a broker says that it has sent a consumer to another offset."""

from __future__ import annotations

import json

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_KEYS, PROPERTY_TAGS
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_OFFSET_MOVED_EVENT
from impl.store.message_ext_broker_inner import MessageExtBrokerInner


def offset_moved_event(
    group: str, mq: MessageQueue, offset_request: int, offset_new: int, broker: InetSocketAddress, now_ms: int,
) -> MessageExtBrokerInner:
    """PullMessageProcessor#generateOffsetMovedEvent: the message, which waits for disk and slave as others do.

    offset_request, offset_new -- where the group wanted to read, and where it is sent. broker -- who says so.
    """
    event = {
        "consumerGroup": group,
        "messageQueue": {"brokerName": mq.broker_name, "queueId": mq.queue_id, "topic": mq.topic},
        "offsetNew": offset_new, "offsetRequest": offset_request,
    }
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    message = MessageExtBrokerInner(RMQ_SYS_OFFSET_MOVED_EVENT, body, broker, broker, born_timestamp=now_ms)
    for name, value in ((PROPERTY_TAGS, group), (PROPERTY_DELAY_TIME_LEVEL, "0"), (PROPERTY_KEYS, group)):
        message.put_property(name, value)
    message.write_properties()
    return message
