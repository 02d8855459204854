"""SendMessageProcessor, what consumers send: CONSUMER_SEND_MSG_BACK, in sendMessageExecutor."""

from __future__ import annotations

from impl.broker.abstract_send_message_processor import DLQ_NUMS_PER_GROUP
from impl.broker.refusal import Refusal
from impl.broker.send_message_processor import V3_4_9, SendMessageProcessor
from impl.common.faq_url import SUGGEST_TODO
from impl.common.headers import ConsumerSendMsgBackRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_ORIGIN_MESSAGE_ID,
    PROPERTY_RETRY_TOPIC,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_WRITE, build_topic_sys_flag, has_flag
from impl.decisions.java_arithmetic import wrap32
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import is_blank
from impl.decisions.names import get_dlq_topic, get_retry_topic
from impl.decisions.retry_level import goes_to_dead_letters, send_back_delay_level
from impl.events import SendBackTaken
from impl.ports.remoting import Command, Connection
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageResult
from impl.store.put_message_status import PutMessageStatus


class SendMessageBack:
    """SendMessageProcessor#asyncConsumerSendMsgBack."""

    def __init__(self, processor: SendMessageProcessor) -> None:
        """Share tables, store and topics with the processor of sends."""
        self._processor, self.tables, self.node = processor, processor.tables, processor.node

    async def consumer_send_msg_back(self, channel: Connection, request: Command) -> Command | None:
        """SendMessageProcessor#asyncConsumerSendMsgBack: a copy goes to the group's retry topic, or is a dead letter.

        Nobody looks whether the record belongs to a topic of the group. A group with no retry queue loses the message,
        and is told SUCCESS. Raises what the store raises for an offset that leads to no record. None: the answer comes
        when the put is over.
        """
        processor, header = self._processor, request.header
        try:
            message = await self._message(request)
        except Refusal as refusal:
            return refusal.response
        if message is None:
            self.node.trace(SendBackTaken(self.node.name, header.group, header.offset))
            return Command(ResponseCode.SUCCESS)
        topic, queue_id = message.topic, message.queue_id
        future = processor.store.async_put_message(message)
        processor.threads.put_done(message.topic)
        if topic == get_dlq_topic(header.group) and future.append_message_result is not None:
            processor.dead_letter_taken(header.group, message)

        def answer(result: PutMessageResult) -> None:
            response = _answer(result)
            if response.code == ResponseCode.SUCCESS and result.append_message_result is not None:
                self.node.trace(SendBackTaken(
                    self.node.name, header.group, header.offset, result.append_message_result.wrote_offset, topic,
                    queue_id))
            if not request.oneway:
                processor.remoting_server.respond(channel, request, response)

        future.when_complete(answer)
        return None

    async def _message(self, request: Command) -> MessageExtBrokerInner | None:
        """The checks in their order, and what is put; None: the group wants no retries. Raises Refusal."""
        header: ConsumerSendMsgBackRequestHeader = request.header
        group = self.tables.subscription_group_manager.find_subscription_group_config(header.group)
        if group is None:
            remark = f"subscription group not exist, {header.group} {SUGGEST_TODO}"
            raise Refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        if not has_flag(self.tables.config.broker_permission, PERM_WRITE):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the broker[{self.node.name}] sending message is forbidden")
        if group.retry_queue_nums <= 0:
            return None
        retry_topic = await self._retry_topic(header, group)
        topic, queue_id = retry_topic.topic_name, self.retry_queue(group, retry_topic)
        message = self._processor.store.look_message_by_offset(not_null(header.offset))
        if message is None:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"look message by offset failed, {header.offset}")
        limit = group.retry_max_times
        if request.version >= V3_4_9 and header.max_reconsume_times is not None:
            limit = header.max_reconsume_times
        delay_level = not_null(header.delay_level)
        if goes_to_dead_letters(message.reconsume_times, delay_level, limit):
            topic, queue_id = await self._dead_letter_topic(header), 0
        level = send_back_delay_level(message.reconsume_times, delay_level, limit)
        return _copy(message, topic, queue_id, level)

    def retry_queue(self, group: SubscriptionGroupConfig, retry_topic: TopicConfig) -> int:  # noqa: ARG002  # see M4
        """SendMessageProcessor#asyncConsumerSendMsgBack: a queue by the number that the group is to have.

        The topic may have been made when the group had another number.
        """
        return self.node.random(group.retry_queue_nums, "SendMessageProcessor#asyncConsumerSendMsgBack")

    async def _retry_topic(
        self, header: ConsumerSendMsgBackRequestHeader, group: SubscriptionGroupConfig,
    ) -> TopicConfig:
        topic = get_retry_topic(header.group)
        flag = build_topic_sys_flag(unit=False, has_unit_sub=True) if header.unit_mode else 0
        topic_config = await self._processor.topic_for_send_back(topic, group.retry_queue_nums, flag)
        if topic_config is None:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"topic[{topic}] not exist")
        if not has_flag(topic_config.perm, PERM_WRITE):
            raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{topic}] sending message is forbidden")
        return topic_config

    async def _dead_letter_topic(self, header: ConsumerSendMsgBackRequestHeader) -> str:
        topic = get_dlq_topic(header.group)
        if await self._processor.topic_for_send_back(topic, DLQ_NUMS_PER_GROUP) is None:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"topic[{topic}] not exist")
        return topic


def _copy(message: MessageExt, topic: str, queue_id: int, delay_level: int) -> MessageExtBrokerInner:
    """The message once more, as far as it was delivered: it waits neither for the disk nor for a slave."""
    copy = MessageExtBrokerInner(
        topic, message.body, message.born_host, message.store_host, queue_id, message.flag, message.sys_flag,
        message.born_timestamp, reconsume_times=wrap32(message.reconsume_times + 1))
    for entry in (message.properties or {}).items():
        copy.put_property(*entry)
    if copy.get_property(PROPERTY_RETRY_TOPIC) is None:
        copy.put_property(PROPERTY_RETRY_TOPIC, message.topic)
    copy.put_property(PROPERTY_WAIT_STORE_MSG_OK, "false")
    copy.put_property(PROPERTY_DELAY_TIME_LEVEL, str(delay_level))
    origin = copy.get_property(PROPERTY_ORIGIN_MESSAGE_ID)
    if (origin is None or is_blank(origin)) and message.msg_id is not None:
        copy.put_property(PROPERTY_ORIGIN_MESSAGE_ID, message.msg_id)
    copy.write_properties()
    return copy


def _answer(result: PutMessageResult) -> Command:
    if result.status is PutMessageStatus.PUT_OK:
        return Command(ResponseCode.SUCCESS)
    return Command(ResponseCode.SYSTEM_ERROR, remark=result.status.name)
