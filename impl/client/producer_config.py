"""ProducerConfig: the settings of DefaultMQProducer and TransactionMQProducer."""

from __future__ import annotations

from dataclasses import dataclass

from impl.common.request_code import ResponseCode
from impl.decisions.names import AUTO_CREATE_TOPIC_KEY_TOPIC

RETRY_RESPONSE_CODES = frozenset({
    ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SERVICE_NOT_AVAILABLE, ResponseCode.SYSTEM_ERROR,
    ResponseCode.NO_PERMISSION, ResponseCode.NO_BUYER_ID, ResponseCode.NOT_IN_CURRENT_UNIT,
})
"""DefaultMQProducer.retryResponseCodes; SYSTEM_BUSY is not among them."""


@dataclass(frozen=True, slots=True)
class ProducerConfig:
    """`client.producer.DefaultMQProducer`, with its defaults. Sizes are bytes.

    send_msg_timeout_ms -- the budget of ONE send call with all its retries. compress_msg_body_over_howmuch -- bodies of
    so many bytes and more are compressed. cores -- threads that prepare asynchronous sends.
    """

    producer_group: str
    create_topic_key: str = AUTO_CREATE_TOPIC_KEY_TOPIC
    default_topic_queue_nums: int = 4
    send_msg_timeout_ms: int = 3_000
    compress_msg_body_over_howmuch: int = 4_096
    compress_level: int = 5
    retry_times_when_send_failed: int = 2
    retry_times_when_send_async_failed: int = 2
    retry_another_broker_when_not_store_ok: bool = False
    max_message_size: int = 4 * 1024 * 1024
    retry_response_codes: frozenset[int] = RETRY_RESPONSE_CODES
    send_latency_fault_enable: bool = False
    send_message_with_vip_channel: bool = False
    unit_mode: bool = False
    cores: int = 2
    check_request_hold_max: int = 2_000
