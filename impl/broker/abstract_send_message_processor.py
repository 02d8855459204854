"""AbstractSendMessageProcessor: what is checked of every message that is sent, also of replies."""

from __future__ import annotations

from impl.broker.refusal import Refusal
from impl.broker.registration import Registration
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.common.faq_url import SUGGEST_TODO
from impl.common.headers import SendMessageRequestHeader, SendMessageResponseHeader
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import MULTI_TAGS_FLAG, PERM_READ, PERM_WRITE, build_topic_sys_flag, has_flag
from impl.decisions.java_calendar import time_millis_to_human_string2
from impl.decisions.java_errors import not_null
from impl.decisions.names import (
    RETRY_GROUP_TOPIC_PREFIX,
    RMQ_SYS_SCHEDULE_TOPIC,
    is_not_allowed_send_topic,
    validate_topic,
)
from impl.events import DeadLetterTaken
from impl.ports.remoting import Command, Connection
from impl.store.message_ext_broker_inner import MessageExtBrokerInner

DLQ_NUMS_PER_GROUP = 1
_MULTI_TAG = "MULTI_TAG"  # TopicFilterType


class AbstractSendMessageProcessor:
    """`broker.processor.AbstractSendMessageProcessor`."""

    def __init__(self, tables: BrokerTables, threads: StoreThreads, registration: Registration) -> None:
        """Put into the store of these threads; registration -- announces topics that are made for a message."""
        self.tables, self.node, self.threads, self.store = tables, tables.node, threads, threads.store
        self.registration = registration

    def response_header(self) -> SendMessageResponseHeader:
        """SendMessageProcessor#preSend: what every answer to a send says, also one that refuses."""
        config = self.tables.config
        return SendMessageResponseHeader(msg_region=config.region_id, trace_on=config.trace_on)

    def refused(self, refusal: Refusal) -> Command:
        """The answer to a send that a check refuses."""
        return refusal.response._replace(header=self.response_header())

    async def pre_send(self, channel: Connection, header: SendMessageRequestHeader) -> TopicConfig:
        """SendMessageProcessor#preSend, and the topic that it leaves; raises Refusal."""
        start_ms = self.tables.config.start_accept_send_request_timestamp
        if self.node.now_ms() < start_ms:
            remark = f"broker unable to service, until {time_millis_to_human_string2(start_ms)}"
            raise Refusal(ResponseCode.SYSTEM_ERROR, remark)
        return await self._msg_check(channel, header)

    async def _msg_check(self, channel: Connection, header: SendMessageRequestHeader) -> TopicConfig:
        """AbstractSendMessageProcessor#msgCheck: a topic is made if need be, its permission is not looked at.

        Raises Refusal.
        """
        manager, config = self.tables.topic_config_manager, self.tables.config
        if not has_flag(config.broker_permission, PERM_WRITE) and manager.is_order_topic(header.topic):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the broker[{self.node.name}] sending message is forbidden")
        legal, _, remark = validate_topic(header.topic)
        if not legal:
            raise Refusal(ResponseCode.SYSTEM_ERROR, remark)
        if is_not_allowed_send_topic(header.topic):
            raise Refusal(ResponseCode.NO_PERMISSION, f"Sending message to topic[{header.topic}] is forbidden.")
        topic_config = manager.select_topic_config(header.topic) or await self._made_topic(header)
        if topic_config is None:
            remark = f"topic[{header.topic}] not exist, apply first please!{SUGGEST_TODO}"
            raise Refusal(ResponseCode.TOPIC_NOT_EXIST, remark)
        if not_null(header.queue_id) >= max(topic_config.write_queue_nums, topic_config.read_queue_nums):
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"request queueId[{header.queue_id}] is illegal, {topic_config} "
                                                     f"Producer: {channel.remote_address}")
        return topic_config

    async def _made_topic(self, header: SendMessageRequestHeader) -> TopicConfig | None:
        retry = header.topic.startswith(RETRY_GROUP_TOPIC_PREFIX)
        flag = build_topic_sys_flag(unit=not retry, has_unit_sub=retry) if header.unit_mode else 0
        topic_config, is_new = await self.tables.topic_config_manager.create_topic_in_send_message(
            header.topic, header.default_topic, header.default_topic_queue_nums, flag, self.node)
        if is_new:
            await self._announce()
        if topic_config is None and retry:
            return await self.topic_for_send_back(header.topic, 1, flag)
        return topic_config

    async def topic_for_send_back(self, topic: str, queue_nums: int, topic_sys_flag: int = 0) -> TopicConfig | None:
        """TopicConfigManager#createTopicInSendMessageBackMethod: the topic; None if 3 s were too short to make it."""
        topic_config, is_new = await self.tables.topic_config_manager.create_topic_in_send_message_back(
            topic, queue_nums, PERM_WRITE | PERM_READ, topic_sys_flag, self.node)
        if is_new:
            await self._announce()
        return topic_config

    def dead_letter_taken(self, group: str, message: MessageExtBrokerInner) -> None:
        """Report a message that was put, and whose tries are over."""
        level = message.delay_time_level() if message.topic == RMQ_SYS_SCHEDULE_TOPIC else 0
        self.node.trace(DeadLetterTaken(
            self.node.name, group, message.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX), level))

    async def _announce(self) -> None:
        """One way; but the broker registers once at a time, and whoever does so now may wait for 6 s (N-22)."""
        await self.registration.register_broker_all(check_order_config=False, oneway=True, force_register=True)

    def queue_of(self, header: SendMessageRequestHeader, topic_config: TopicConfig) -> int:
        """SendMessageProcessor#randomQueueId, for who names no queue."""
        if header.queue_id >= 0:
            return header.queue_id
        return self.node.random(topic_config.write_queue_nums, "SendMessageProcessor#randomQueueId")


def sys_flag_of(header: SendMessageRequestHeader, topic_config: TopicConfig) -> int:
    """SendMessageProcessor#handleRetryAndDLQ, its end: the flag of a message in a topic of several tags."""
    return header.sys_flag | (MULTI_TAGS_FLAG if topic_config.topic_filter_type == _MULTI_TAG else 0)
