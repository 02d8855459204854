"""ReplyMessageProcessor: SEND_REPLY_MESSAGE and SEND_REPLY_MESSAGE_V2, in replyMessageExecutor.

A reply is pushed to who has asked, on the connection that its producer registered on, and stored as well.
"""

from __future__ import annotations

from typing import cast

from impl.broker.abstract_send_message_processor import AbstractSendMessageProcessor
from impl.broker.put_message_answer import stored_header
from impl.broker.refusal import Refusal
from impl.broker.registration import Registration
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.common.headers import ReplyMessageRequestHeader, SendMessageRequestHeader
from impl.common.inet_socket_address import socket_address
from impl.common.message_const import PROPERTY_MESSAGE_REPLY_TO_CLIENT, PROPERTY_PUSH_REPLY_TIME
from impl.common.message_properties import message_properties2_string, string2_message_properties
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import JavaError
from impl.ports.remoting import Channel, Command, Connection, RemotingServer
from impl.store.message_ext_broker_inner import MessageExtBrokerInner

CALL_CLIENT_TIMEOUT_MS = 10_000  # Broker2Client#callClient


class ReplyMessageProcessor(AbstractSendMessageProcessor):
    """`broker.processor.ReplyMessageProcessor`."""

    def __init__(
        self, tables: BrokerTables, threads: StoreThreads, remoting_server: RemotingServer, registration: Registration,
    ) -> None:
        """Push by this server, and put into the store of these threads."""
        super().__init__(tables, threads, registration)
        self.remoting_server = remoting_server

    async def process_request(self, channel: Connection, request: Command) -> Command:
        """ReplyMessageProcessor#processReplyMessageRequest: the answer says what became of the push.

        What became of the put is only logged; ids and offset are its, if it went well.
        """
        header: SendMessageRequestHeader = request.header
        try:
            topic_config = await self.pre_send(channel, header)
        except Refusal as refusal:
            return self.refused(refusal)
        queue_id = self.queue_of(header, topic_config)
        message = MessageExtBrokerInner(
            header.topic, request.body, socket_address(channel.remote_address), self.tables.store_host, queue_id,
            header.flag, born_timestamp=header.born_timestamp, reconsume_times=header.reconsume_times or 0,
            properties=string2_message_properties(header.properties), properties_string=header.properties)
        remark = await self._push_reply_message(channel, header, message)
        response_header = self.response_header()
        if remark is None:
            response_header = response_header._replace(msg_id="0", queue_id=queue_id, queue_offset=0)
        if self.tables.config.store_reply_message_enable:
            result = await self.threads.put_message(message)
            response_header = stored_header(result, response_header, queue_id)
        code = ResponseCode.SUCCESS if remark is None else ResponseCode.SYSTEM_ERROR
        return Command(code, remark=remark, header=response_header)

    async def _push_reply_message(
        self, channel: Connection, header: SendMessageRequestHeader, message: MessageExtBrokerInner,
    ) -> str | None:
        """ReplyMessageProcessor#pushReplyMessage: None if the client has taken it, else the remark."""
        sender_id = message.get_property(PROPERTY_MESSAGE_REPLY_TO_CLIENT)
        if sender_id is None:
            return f"reply message properties[{PROPERTY_MESSAGE_REPLY_TO_CLIENT}] is null"
        requester = self.tables.producer_manager.find_channel(sender_id)
        if requester is None:
            return f"push reply message fail, channel of <{sender_id}> not found."
        message.put_property(PROPERTY_PUSH_REPLY_TIME, str(self.node.now_ms()))
        push = self._request_header(channel, header, message_properties2_string(message.properties.entries()))
        code = await self._call_client(requester, Command(
            RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, push, message.body))
        return None if code == ResponseCode.SUCCESS else f"push reply message to {sender_id}fail."

    def _request_header(
        self, channel: Connection, header: SendMessageRequestHeader, properties: str,
    ) -> ReplyMessageRequestHeader:
        return ReplyMessageRequestHeader(
            producer_group=header.producer_group, topic=header.topic, queue_id=header.queue_id,
            born_timestamp=header.born_timestamp, properties=properties, sys_flag=header.sys_flag, flag=header.flag,
            default_topic=header.default_topic, default_topic_queue_nums=header.default_topic_queue_nums,
            reconsume_times=header.reconsume_times, unit_mode=header.unit_mode,
            born_host=f"/{channel.remote_address}",
            store_host=f"/{self.node.name}:{self.tables.config.listen_port}", store_timestamp=self.node.now_ms())

    async def _call_client(self, channel: Channel, request: Command) -> int | None:
        """Broker2Client#callClient: the code of the client's answer, None without one."""
        try:
            answer = await self.remoting_server.invoke_sync(
                cast("Connection", channel), request, CALL_CLIENT_TIMEOUT_MS)
        except JavaError:
            return None  # logged
        return answer.code
