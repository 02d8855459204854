"""Transactions: what a broker has for half messages: END_TRANSACTION, and the thread that asks their producers."""

from __future__ import annotations

from typing import cast

from impl.broker.registration import Registration
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.broker.transaction.default_check_listener import DefaultTransactionalMessageCheckListener
from impl.broker.transaction.end_transaction_processor import Answer, EndTransactionProcessor
from impl.broker.transaction.transactional_message_bridge import Tables, TransactionalMessageBridge
from impl.broker.transaction.transactional_message_service import (
    TransactionalMessageCheckService,
    TransactionalMessageServiceImpl,
)
from impl.common.headers import CheckTransactionStateRequestHeader, EndTransactionRequestHeader
from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message import MessageExt
from impl.common.message_decoder import encode
from impl.common.pull_result import PullResult
from impl.common.request_code import RequestCode
from impl.decisions.flags import (
    PERM_READ,
    PERM_WRITE,
    TRANSACTION_COMMIT_TYPE,
    TRANSACTION_NOT_TYPE,
    TRANSACTION_ROLLBACK_TYPE,
)
from impl.decisions.java_errors import JavaError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC
from impl.events import EndTransactionTaken, OpMessagesRead
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection, RemotingServer
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageFuture

CHECK_PERMIT_MS = 10  # Broker2Client#checkProducerTransactionState
_STATES = {TRANSACTION_COMMIT_TYPE: "COMMIT_MESSAGE", TRANSACTION_ROLLBACK_TYPE: "ROLLBACK_MESSAGE",
           TRANSACTION_NOT_TYPE: "UNKNOW"}


class _ReportedBridge(TransactionalMessageBridge):
    """The bridge, which says what the check has read."""

    def __init__(self, node: Node, tables: Tables, store: DefaultMessageStore, store_host: InetSocketAddress) -> None:
        super().__init__(tables, store, store_host, node.now_ms)
        self._node = node

    def get_message(self, topic: str, queue_id: int, offset: int, nums: int) -> PullResult | None:
        """TransactionalMessageBridge#getHalfMessage, #getOpMessage."""
        result = super().get_message(topic, queue_id, offset, nums)
        if result is not None and topic == RMQ_SYS_TRANS_OP_HALF_TOPIC:
            self._node.trace(OpMessagesRead(self._node.name, result.next_begin_offset))
        return result


class Transactions:
    """BrokerController#initialTransaction, and who serves END_TRANSACTION."""

    def __init__(
        self, tables: BrokerTables, threads: StoreThreads, remoting_server: RemotingServer, registration: Registration,
    ) -> None:
        """Work on the store of these threads."""
        self.tables, self.node, self.threads, self.store = tables, tables.node, threads, threads.store
        self.remoting_server, self.registration = remoting_server, registration
        bridge = _ReportedBridge(self.node, Tables(
            tables.config.broker_name, tables.consumer_offset_manager, tables.topic_config_manager, self._register),
            self.store, tables.store_host)
        self.service = TransactionalMessageServiceImpl(bridge)
        self._processor = EndTransactionProcessor(self.store, self.service)
        listener = DefaultTransactionalMessageCheckListener(bridge, self._send_check, self._create_topic)
        self._check_service = TransactionalMessageCheckService(self.service, listener, tables.config)
        self._checks = False

    def start(self) -> None:
        """BrokerController#startProcessorByHa: a store that has half messages is checked from the beginning."""
        if any(queue.topic == RMQ_SYS_TRANS_HALF_TOPIC for queue in self.store.queues()):
            self._start_to_check()

    def prepare(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """TransactionalMessageServiceImpl#asyncPrepareMessage; the first one starts the check."""
        self._start_to_check()
        return self.service.async_prepare_message(message)

    def _start_to_check(self) -> None:
        if not (self._checks or self.store.config.slave):
            self._checks = True
            self.node.start_thread("TransactionalMessageCheckService", self._check())

    def end_transaction(self, channel: Connection, request: Command) -> None:
        """EndTransactionProcessor#processRequest: a Handler that answers once disk and slave have answered.

        Raises what the processor raises; a producer that does not know gets no answer.
        """

        def respond(answer: Answer) -> None:
            self._wake()
            if not request.oneway:
                self.remoting_server.respond(channel, request, Command(answer.code, remark=answer.remark))

        self._report(request.header)
        self._processor.process_request(request.header, respond)
        self._wake()

    def _report(self, header: EndTransactionRequestHeader) -> None:
        self.node.trace(EndTransactionTaken(
            self.node.name, header.producer_group, header.msg_id or "", _STATES.get(header.commit_or_rollback, ""),
            header.from_transaction_check, header.tran_state_table_offset, header.commit_log_offset))

    def _wake(self) -> None:
        """Tell the threads of the store of what was put; a message that was committed may be delayed."""
        self.threads.put_done(RMQ_SYS_SCHEDULE_TOPIC)

    # The check --------------------------------------------------------------------------------------------------------

    async def _check(self) -> None:
        """TransactionalMessageCheckService#run. In Java it begins before there is a half message."""
        while not self.store.stopped:
            await self.node.sleep(self.tables.config.transaction_check_interval_ms)
            await self._check_service.run_once(self.node)
            self._wake()

    def _send_check(self, group: str | None, header: CheckTransactionStateRequestHeader, message: MessageExt) -> None:
        self.node.start_thread("Transaction-msg-check-thread", self._ask(group, header, message))

    async def _ask(
        self, group: str | None, header: CheckTransactionStateRequestHeader, message: MessageExt,
    ) -> None:
        """Broker2Client#checkProducerTransactionState: ask one producer of the group, one way."""
        channel = self.tables.producer_manager.get_available_channel(group)
        if channel is None:
            return
        try:
            request = Command(RequestCode.CHECK_TRANSACTION_STATE, header, encode(message, need_compress=False))
            await self.remoting_server.invoke_oneway(cast("Connection", channel), request, CHECK_PERMIT_MS)
        except JavaError:
            return  # logged

    async def _create_topic(self, topic: str, queue_nums: int) -> None:
        """TopicConfigManager#createTopicOfTranCheckMaxTime."""
        _, is_new = await self.tables.topic_config_manager.create_topic_in_send_message_back(
            topic, queue_nums, PERM_READ | PERM_WRITE, 0, self.node)
        if is_new:
            await self._register()

    async def _register(self) -> None:
        await self.registration.register_broker_all(check_order_config=False, oneway=True, force_register=True)
