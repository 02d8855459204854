"""Validators: what a producer refuses to send."""

from __future__ import annotations

from impl.client.client_errors import SendError
from impl.common.message_to_send import Message
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import MQClientError
from impl.decisions.names import check_allowed_send_topic, check_group, check_topic

DEFAULT_PRODUCER_GROUP = "DEFAULT_PRODUCER"  # MixAll


def check_config(producer_group: str | None) -> None:
    """DefaultMQProducerImpl#checkConfig; raises MQClientError."""
    check_group(producer_group)
    if producer_group == DEFAULT_PRODUCER_GROUP:
        raise MQClientError(
            f"producerGroup can not equal {DEFAULT_PRODUCER_GROUP}, please specify another one.")


def check_message(msg: Message | None, max_message_size: int) -> None:
    """Validators#checkMessage; max_message_size -- bytes of the body, before compression. Raises MQClientError."""
    if msg is None:
        raise _illegal("the message is null")
    check_topic(msg.topic)
    check_allowed_send_topic(msg.topic)
    if msg.body is None:
        raise _illegal("the message body is null")
    if not msg.body:
        raise _illegal("the message body length is zero")
    if len(msg.body) > max_message_size:
        raise _illegal(f"the message body size over max value, MAX: {max_message_size}")


def _illegal(message: str) -> SendError:
    """MQClientException(MESSAGE_ILLEGAL, …)."""
    code = int(ResponseCode.MESSAGE_ILLEGAL)
    return SendError(f"CODE: {code}  DESC: {message}", code)
