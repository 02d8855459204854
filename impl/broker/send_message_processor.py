"""SendMessageProcessor: SEND_MESSAGE, SEND_MESSAGE_V2 and SEND_BATCH_MESSAGE, in sendMessageExecutor."""

from __future__ import annotations

from impl.broker.abstract_send_message_processor import (
    DLQ_NUMS_PER_GROUP,
    AbstractSendMessageProcessor,
    sys_flag_of,
)
from impl.broker.put_message_answer import put_message_answer
from impl.broker.refusal import Refusal
from impl.broker.registration import Registration
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.broker.transactions import Transactions
from impl.common.faq_url import SUGGEST_TODO
from impl.common.headers import SendMessageRequestHeader
from impl.common.inet_socket_address import socket_address
from impl.common.message_const import (
    PROPERTY_CLUSTER,
    PROPERTY_TRANSACTION_PREPARED,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.message_properties import message_properties2_string, string2_message_properties
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_text import parse_boolean, utf16_length
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX, get_dlq_topic
from impl.decisions.put_rules import BYTE_MAX
from impl.hash_map import HashMap
from impl.ports.remoting import Command, Connection, RemotingServer
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.put_message_result import PutMessageFuture, PutMessageResult

V3_4_9 = 121  # its ordinal in MQVersion


class SendMessageProcessor(AbstractSendMessageProcessor):
    """`broker.processor.SendMessageProcessor`, what producers send."""

    def __init__(
        self, tables: BrokerTables, threads: StoreThreads, remoting_server: RemotingServer, registration: Registration,
        transactions: Transactions,
    ) -> None:
        """Put into the store of these threads; transactions -- take half messages."""
        super().__init__(tables, threads, registration)
        self.remoting_server, self.transactions = remoting_server, transactions

    def reject_request(self) -> bool:
        """SendMessageProcessor#rejectRequest: somebody has been writing for too long, or no buffer is free."""
        pool = self.store.transient_store_pool
        no_buffer = self.store.config.transient_store_pool_enable and pool.available_buffer_nums == 0
        return self.store.is_os_page_cache_busy() or no_buffer

    async def send_message(self, channel: Connection, request: Command) -> Command | None:
        """SendMessageProcessor#asyncProcessRequest; None: the answer comes when disk and slave have answered.

        The header says whether it is a batch, not the code. Raises what the store raises of a message that it cannot
        read, such as a DELAY that is no number.
        """
        header: SendMessageRequestHeader = request.header
        send = self._send_batch_message if header.batch else self._send_message
        try:
            topic_config = await self.pre_send(channel, header)
            future, queue_id = await send(channel, request, topic_config)
        except Refusal as refusal:
            return self.refused(refusal)
        response_header = self.response_header()

        def answer(result: PutMessageResult) -> None:
            if not request.oneway:
                response = put_message_answer(result, response_header, queue_id, self.store)
                self.remoting_server.respond(channel, request, response)

        future.when_complete(answer)
        return None

    async def _send_message(
        self, channel: Connection, request: Command, topic_config: TopicConfig,
    ) -> tuple[PutMessageFuture, int]:
        """SendMessageProcessor#asyncSendMessage: the put, and the queue that the answer names; raises Refusal.

        That is the queue that was asked for, also of a message that has become a dead letter.
        """
        header: SendMessageRequestHeader = request.header
        queue_id = self.queue_of(header, topic_config)
        topic, real_queue_id, topic_config = await self._handle_retry_and_dlq(request, queue_id, topic_config)
        properties = record_properties(header, topic)
        properties.put(PROPERTY_CLUSTER, self.tables.config.cluster_name)
        message = MessageExtBrokerInner(
            topic, request.body, socket_address(channel.remote_address), self.tables.store_host, real_queue_id,
            header.flag, sys_flag_of(header, topic_config), header.born_timestamp,
            reconsume_times=header.reconsume_times or 0, properties=properties,
            properties_string=_without_wait(properties))
        half = self._is_half(message)
        future = self.transactions.prepare(message) if half else self.store.async_put_message(message)
        self.threads.put_done(message.topic)
        if topic != header.topic and future.append_message_result is not None:
            self.dead_letter_taken(header.topic.removeprefix(RETRY_GROUP_TOPIC_PREFIX), message)
        return future, queue_id

    async def _handle_retry_and_dlq(
        self, request: Command, queue_id: int, topic_config: TopicConfig,
    ) -> tuple[str, int, TopicConfig]:
        """SendMessageProcessor#handleRetryAndDLQ: topic, queue and topic configuration of the record; raises Refusal.

        Java also sets DELAY to 0 for a dead letter, in a map that the properties of the request then replace: what a
        consumer sends itself after its last try waits for its delay level once more (#2724).
        """
        header: SendMessageRequestHeader = request.header
        if not header.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            return header.topic, queue_id, topic_config
        group = header.topic.removeprefix(RETRY_GROUP_TOPIC_PREFIX)
        group_config = self.tables.subscription_group_manager.find_subscription_group_config(group)
        if group_config is None:
            remark = f"subscription group not exist, {group} {SUGGEST_TODO}"
            raise Refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        limit = group_config.retry_max_times
        if request.version >= V3_4_9 and header.max_reconsume_times is not None:
            limit = header.max_reconsume_times
        if (header.reconsume_times or 0) < limit:
            return header.topic, queue_id, topic_config
        dead_letters = get_dlq_topic(group)
        dlq_config = await self.topic_for_send_back(dead_letters, DLQ_NUMS_PER_GROUP)
        if dlq_config is None:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"topic[{dead_letters}] not exist")
        return dead_letters, 0, dlq_config

    def _is_half(self, message: MessageExtBrokerInner) -> bool:
        """Whether nobody is to get the message before its producer says so; raises Refusal."""
        half = parse_boolean(message.get_property(PROPERTY_TRANSACTION_PREPARED))
        if half and self.tables.config.reject_transaction_message:
            remark = f"the broker[{self.node.name}] sending transaction message is forbidden"
            raise Refusal(ResponseCode.NO_PERMISSION, remark)
        return half

    async def _send_batch_message(
        self, channel: Connection, request: Command, topic_config: TopicConfig,
    ) -> tuple[PutMessageFuture, int]:
        """SendMessageProcessor#asyncSendBatchMessage: neither a retry topic nor TRAN_MSG means anything here.

        Raises Refusal.
        """
        header: SendMessageRequestHeader = request.header
        queue_id = self.queue_of(header, topic_config)
        if utf16_length(header.topic) > BYTE_MAX:
            remark = f"message topic length too long {utf16_length(header.topic)}"
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, remark)
        batch = MessageExtBatch(
            header.topic, request.body, socket_address(channel.remote_address), self.tables.store_host, queue_id,
            header.flag, sys_flag_of(header, topic_config), header.born_timestamp,
            reconsume_times=header.reconsume_times or 0, properties=string2_message_properties(header.properties))
        batch.put_property(PROPERTY_CLUSTER, self.tables.config.cluster_name)
        future = self.store.async_put_messages(batch)
        self.threads.put_done(batch.topic)
        return future, queue_id


def record_properties(header: SendMessageRequestHeader, topic: str) -> HashMap[str, str]:  # noqa: ARG001  # see M1
    """MessageDecoder#string2messageProperties: of the record, as the client has sent them; topic -- of the record."""
    return string2_message_properties(header.properties)


def _without_wait(properties: HashMap[str, str]) -> str:
    """The text that is stored: WAIT is obeyed, and left out."""
    return message_properties2_string(
        entry for entry in properties.entries() if entry[0] != PROPERTY_WAIT_STORE_MSG_OK)
