"""Messages that a push consumer sends back: to the broker that has them, or else anew to the retry topic."""

from __future__ import annotations

from impl.client.mq_client_instance import MQClientInstance
from impl.client.send_kernel import SYNC
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_MAX_RECONSUME_TIMES,
    PROPERTY_RECONSUME_TIME,
    PROPERTY_RETRY_TOPIC,
    PROPERTY_TRANSACTION_PREPARED,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.decisions.names import get_retry_topic
from impl.decisions.retry_level import FIRST_RETRY_LEVEL
from impl.hash_map import HashMap

SEND_BACK_TIMEOUT_MS = 5_000


async def send_message_back(
    instance: MQClientInstance, group: str, msg: MessageExt, delay_level: int, broker_name: str | None,
    max_reconsume_times: int,
) -> None:
    """DefaultMQPushConsumerImpl#sendMessageBack; raises JavaErrors if the message is not stored again, or may not be.

    broker_name -- whose master is asked, and a name server, which does not answer, if it is not known; None: the host
    that has stored the message. If that fails, the message may be stored there all the same, and is sent anew: the
    level that was asked for is then forgotten, also that for the dead letters.
    """
    try:
        addr = (instance.addr_of(msg.store_host) if broker_name is None
                else instance.routes.find_broker_address_in_publish(broker_name))
        await instance.api.consumer_send_message_back(
            addr, msg, group, delay_level, SEND_BACK_TIMEOUT_MS, max_reconsume_times)
    except JavaError:
        await send_to_retry_topic(instance, group, msg, msg.reconsume_times + 1, max_reconsume_times)


async def send_to_retry_topic(
    instance: MQClientInstance, group: str, msg: MessageExt, reconsume_times: int, max_reconsume_times: int,
) -> None:
    """ConsumeMessageOrderlyService#sendMessageBack, and the end of DefaultMQPushConsumerImpl#sendMessageBack.

    The producer of the instance sends. Raises JavaErrors.
    """
    new_msg, producer = message_to_retry(group, msg, reconsume_times, max_reconsume_times), instance.inner_producer
    try:
        await producer.send_default_impl(new_msg, SYNC, producer.config.send_msg_timeout_ms)
    except JavaError:
        msg.properties = dict(new_msg.properties.entries())
        raise
    msg.properties = dict(new_msg.properties.entries())


def message_to_retry(group: str, msg: MessageExt, reconsume_times: int, max_reconsume_times: int) -> Message:
    """The message that a consumer sends anew to the retry topic of its group.

    Both messages have one map of properties, so that what is put into the new one is in the old one, too, and the id of
    the original that was set before is not there.
    """
    properties: HashMap[str, str] = HashMap()
    new_msg = Message(get_retry_topic(group), msg.body, flag=msg.flag)
    for name, value in (msg.properties or {}).items():
        properties.put(name, value)
    new_msg.properties = properties
    new_msg.put_property(PROPERTY_RETRY_TOPIC, msg.topic)
    new_msg.put_property(PROPERTY_RECONSUME_TIME, str(reconsume_times))
    new_msg.put_property(PROPERTY_MAX_RECONSUME_TIMES, str(max_reconsume_times))
    new_msg.clear_property(PROPERTY_TRANSACTION_PREPARED)
    new_msg.put_property(PROPERTY_DELAY_TIME_LEVEL, str(FIRST_RETRY_LEVEL + msg.reconsume_times))
    return new_msg
