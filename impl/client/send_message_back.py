"""Messages that a push consumer sends back to the broker that has them.

Left out: what that broker does not take is not sent anew to the retry topic.
"""

from __future__ import annotations

from impl.client.mq_client_instance import MQClientInstance
from impl.common.message import MessageExt

SEND_BACK_TIMEOUT_MS = 5_000


async def send_message_back(
    instance: MQClientInstance, group: str, msg: MessageExt, delay_level: int, broker_name: str | None,
    max_reconsume_times: int,
) -> None:
    """DefaultMQPushConsumerImpl#sendMessageBack; raises JavaErrors if the message may not be stored again.

    broker_name -- whose master is asked, and a name server, which does not answer, if it is not known; None: the host
    that has stored the message.
    """
    addr = (instance.addr_of(msg.store_host) if broker_name is None
            else instance.routes.find_broker_address_in_publish(broker_name))
    await instance.api.consumer_send_message_back(
        addr, msg, group, delay_level, SEND_BACK_TIMEOUT_MS, max_reconsume_times)
