"""SendMessageProcessor: SEND_MESSAGE and SEND_MESSAGE_V2, in sendMessageExecutor.

Left out: batches, the dead-letter queue for what was tried too often, messages that consumers send back.
"""

from __future__ import annotations

from impl.broker.refusal import Refusal
from impl.broker.registration import Registration
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.broker.transactions import Transactions
from impl.common.headers import SendMessageRequestHeader, SendMessageResponseHeader
from impl.common.inet_socket_address import socket_address
from impl.common.message_const import (
    PROPERTY_CLUSTER,
    PROPERTY_TAGS,
    PROPERTY_TRANSACTION_PREPARED,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.message_properties import message_properties2_string, string2_message_properties
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE, has_flag
from impl.decisions.java_text import parse_boolean
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX, is_not_allowed_send_topic, validate_topic
from impl.decisions.subscription import tags_string_to_tags_code
from impl.ports.remoting import Command, Connection, RemotingServer
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageResult
from impl.store.put_message_status import PutMessageStatus

_CODES = {
    PutMessageStatus.PUT_OK: ResponseCode.SUCCESS,
    PutMessageStatus.FLUSH_DISK_TIMEOUT: ResponseCode.FLUSH_DISK_TIMEOUT,
    PutMessageStatus.FLUSH_SLAVE_TIMEOUT: ResponseCode.FLUSH_SLAVE_TIMEOUT,
    PutMessageStatus.SLAVE_NOT_AVAILABLE: ResponseCode.SLAVE_NOT_AVAILABLE,
    PutMessageStatus.SERVICE_NOT_AVAILABLE: ResponseCode.SERVICE_NOT_AVAILABLE,
    PutMessageStatus.MESSAGE_ILLEGAL: ResponseCode.MESSAGE_ILLEGAL,
    PutMessageStatus.PROPERTIES_SIZE_EXCEEDED: ResponseCode.MESSAGE_ILLEGAL,
}
"""SendMessageProcessor#handlePutMessageResult; every other status is SYSTEM_ERROR."""
STORED = frozenset(_CODES[status] for status in (
    PutMessageStatus.PUT_OK, PutMessageStatus.FLUSH_DISK_TIMEOUT, PutMessageStatus.FLUSH_SLAVE_TIMEOUT,
    PutMessageStatus.SLAVE_NOT_AVAILABLE))
"""The codes that say that the message is in the log."""


class SendMessageProcessor:
    """`broker.processor.SendMessageProcessor`."""

    def __init__(
        self, tables: BrokerTables, threads: StoreThreads, remoting_server: RemotingServer, registration: Registration,
        transactions: Transactions,
    ) -> None:
        """Put into the store of these threads; registration -- announces topics that are made for a message.

        transactions -- take half messages.
        """
        self.tables, self.node, self.threads, self.store = tables, tables.node, threads, threads.store
        self.remoting_server, self.registration, self.transactions = remoting_server, registration, transactions

    def reject_request(self) -> bool:
        """SendMessageProcessor#rejectRequest: somebody has been writing for too long, or no buffer is free."""
        pool = self.store.transient_store_pool
        no_buffer = self.store.config.transient_store_pool_enable and pool.available_buffer_nums == 0
        return self.store.is_os_page_cache_busy() or no_buffer

    async def send_message(self, channel: Connection, request: Command) -> Command | None:
        """SendMessageProcessor#asyncSendMessage; None: the answer comes when disk and slave have answered."""
        header: SendMessageRequestHeader = request.header
        try:
            topic_config = await self._msg_check(header)
            message = self._message(channel, header, topic_config, request.body)
            queue_id, half = message.queue_id, self._is_half(message)
        except Refusal as refusal:
            return refusal.response
        future = self.transactions.prepare(message) if half else self.store.async_put_message(message)
        self.threads.put_done(message.topic)

        def answer(result: PutMessageResult) -> None:
            if not request.oneway:
                self.remoting_server.respond(channel, request, _answer(result, queue_id))

        future.when_complete(answer)
        return None

    def _is_half(self, message: MessageExtBrokerInner) -> bool:
        """Whether nobody is to get the message before its producer says so; raises Refusal."""
        half = parse_boolean(message.get_property(PROPERTY_TRANSACTION_PREPARED))
        if half and self.tables.config.reject_transaction_message:
            remark = f"the broker[{self.node.name}] sending transaction message is forbidden"
            raise Refusal(ResponseCode.NO_PERMISSION, remark)
        return half

    async def _msg_check(self, header: SendMessageRequestHeader) -> TopicConfig:
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
            remark = f"topic[{header.topic}] not exist, apply first please!"
            raise Refusal(ResponseCode.TOPIC_NOT_EXIST, remark)
        if header.queue_id >= max(topic_config.write_queue_nums, topic_config.read_queue_nums):
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"request queueId[{header.queue_id}] is illegal")
        return topic_config

    async def _made_topic(self, header: SendMessageRequestHeader) -> TopicConfig | None:
        manager = self.tables.topic_config_manager
        topic_config, is_new = await manager.create_topic_in_send_message(
            header.topic, header.default_topic, header.default_topic_queue_nums, 0, self.node)
        if topic_config is None and header.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            topic_config, is_new = await manager.create_topic_in_send_message_back(
                header.topic, 1, PERM_READ | PERM_WRITE, 0, self.node)
        if is_new:
            await self.registration.register_broker_all(check_order_config=False, oneway=True, force_register=True)
        return topic_config

    def _message(
        self, channel: Connection, header: SendMessageRequestHeader, topic_config: TopicConfig, body: bytes,
    ) -> MessageExtBrokerInner:
        """What is put: WAIT is obeyed, and not stored."""
        queue_id = header.queue_id
        if queue_id < 0:
            queue_id = self.node.random(topic_config.write_queue_nums, "SendMessageProcessor#randomQueueId")
        properties = string2_message_properties(header.properties)
        properties.put(PROPERTY_CLUSTER, self.tables.config.cluster_name)
        stored = [entry for entry in properties.entries() if entry[0] != PROPERTY_WAIT_STORE_MSG_OK]
        return MessageExtBrokerInner(
            header.topic, body, socket_address(channel.remote_address),
            socket_address(f"{self.node.name}:{self.tables.config.listen_port}"), queue_id, header.flag,
            header.sys_flag, header.born_timestamp, reconsume_times=header.reconsume_times or 0,
            properties=properties, properties_string=message_properties2_string(stored),
            tags_code=tags_string_to_tags_code(properties.get(PROPERTY_TAGS)))


def _answer(result: PutMessageResult, queue_id: int) -> Command:
    """SendMessageProcessor#handlePutMessageResult."""
    code = _CODES.get(result.status, ResponseCode.SYSTEM_ERROR)
    appended = result.append_message_result
    if code not in STORED or appended is None:
        return Command(code, remark=result.status.name)
    return Command(code, header=SendMessageResponseHeader(appended.get_msg_id(), queue_id, appended.logics_offset))
