"""TransactionMQProducer: half messages, what becomes of them, and what the producer answers when a broker asks."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from impl.client.client_errors import SendError
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.producer_config import ProducerConfig
from impl.client.send_kernel import SYNC
from impl.client.send_result import LocalTransactionState, SendResult, SendStatus, TransactionSendResult
from impl.client.validators import check_message
from impl.common.headers import CheckTransactionStateRequestHeader, EndTransactionRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_PRODUCER_GROUP,
    PROPERTY_TRANSACTION_ID,
    PROPERTY_TRANSACTION_PREPARED,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
)
from impl.common.message_id import decode_message_id
from impl.common.message_to_send import Message
from impl.common.request_code import RequestCode
from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_NOT_TYPE, TRANSACTION_ROLLBACK_TYPE
from impl.decisions.java_errors import JavaError, not_null
from impl.events import HalfMessageEnded
from impl.ports.node import Node
from impl.ports.remoting import Command

if TYPE_CHECKING:  # an instance has producers
    from impl.client.client_config import ClientConfig
    from impl.client.mq_client_instance import MQClientInstance
    from impl.client.mq_client_manager import MQClientManager

CHECK_REPLY_TIMEOUT_MS = 3_000
COMMIT, ROLLBACK, UNKNOW = (
    LocalTransactionState.COMMIT_MESSAGE, LocalTransactionState.ROLLBACK_MESSAGE, LocalTransactionState.UNKNOW)
_TYPES = {COMMIT: TRANSACTION_COMMIT_TYPE, ROLLBACK: TRANSACTION_ROLLBACK_TYPE, UNKNOW: TRANSACTION_NOT_TYPE}


class TransactionListener(Protocol):
    """`client.producer.TransactionListener`: what it raises counts as UNKNOW."""

    def execute_local_transaction(self, msg: Message, arg: object) -> Awaitable[LocalTransactionState | None]:
        """The broker has the half message: do the transaction; None counts as UNKNOW."""
        ...

    def check_local_transaction(self, msg: MessageExt) -> Awaitable[LocalTransactionState | None]:
        """A broker asks, perhaps another member of the group than the one that has sent; None: no reply."""
        ...


class TransactionMQProducerImpl(DefaultMQProducerImpl):
    """The part of `client.impl.producer.DefaultMQProducerImpl` for transactions."""

    def __init__(
        self, node: Node, instance: MQClientInstance, config: ProducerConfig, namespace: str | None,
        transaction_listener: TransactionListener,
    ) -> None:
        """DefaultMQProducerImpl#initTransactionEnv: checks are answered by one thread."""
        super().__init__(node, instance, config, namespace)
        self.transaction_listener = transaction_listener
        self.check_executor = node.pool("checkExecutor", 1, config.check_request_hold_max)

    async def send_message_in_transaction(self, msg: Message, arg: object) -> TransactionSendResult:
        """DefaultMQProducerImpl#sendMessageInTransaction; raises MQClientError, and then the transaction is not run."""
        if msg.delay_time_level != 0:
            msg.clear_property(PROPERTY_DELAY_TIME_LEVEL)
        check_message(msg, self.config.max_message_size)
        msg.put_property(PROPERTY_TRANSACTION_PREPARED, "true")
        msg.put_property(PROPERTY_PRODUCER_GROUP, self.group)
        try:
            result = not_null(await self.send_default_impl(msg, SYNC, self.config.send_msg_timeout_ms))
        except JavaError as error:
            raise SendError("send message Exception", cause=error) from error
        state, local_error = ROLLBACK, None
        if result.send_status is SendStatus.SEND_OK:
            state, local_error = await self._execute(msg, arg, result)
        await self.node.interleave("sendMessageInTransaction: before endTransaction")
        with suppress(JavaError):  # logged
            await self.end_transaction(result, state, local_error)
        return TransactionSendResult(
            result.send_status, result.msg_id, None, result.message_queue, result.queue_offset, result.transaction_id,
            state)

    async def _execute(
        self, msg: Message, arg: object, result: SendResult,
    ) -> tuple[LocalTransactionState, JavaError | None]:
        if result.transaction_id is not None:
            msg.put_property(PROPERTY_TRANSACTION_ID, result.transaction_id)
        if msg.uniq_id:
            msg.transaction_id = msg.uniq_id
        try:
            state = await self.transaction_listener.execute_local_transaction(msg, arg)
        except JavaError as error:
            return UNKNOW, error
        return state or UNKNOW, None

    async def end_transaction(
        self, result: SendResult, state: LocalTransactionState, local_error: JavaError | None,
    ) -> None:
        """DefaultMQProducerImpl#endTransaction: one way, to whoever is the master now; nobody hears if it is lost.

        Without a known master the request goes to a name server. Raises RemotingError.
        """
        addr = self.instance.routes.find_broker_address_in_publish(result.message_queue.broker_name)
        offset = decode_message_id(result.offset_msg_id or result.msg_id).offset
        header = EndTransactionRequestHeader(
            self.group, result.queue_offset, offset, _TYPES[state], msg_id=result.msg_id,
            transaction_id=result.transaction_id)
        remark = None if local_error is None else f"executeLocalTransactionBranch exception: {_told(local_error)}"
        self.node.trace(HalfMessageEnded(self.instance.client_id, self.group, result.msg_id or "", state.value))
        await self._end_transaction_oneway(addr, header, remark, self.config.send_msg_timeout_ms)

    def check_transaction_state(
        self, addr: str, msg: MessageExt, header: CheckTransactionStateRequestHeader,
    ) -> None:
        """DefaultMQProducerImpl#checkTransactionState: in the check pool; raises RejectedExecutionError.

        The reply goes one way to the address that has asked.
        """
        self.check_executor.execute(lambda: self._check(addr, msg, header))

    async def _check(self, addr: str, msg: MessageExt, header: CheckTransactionStateRequestHeader) -> None:
        error: JavaError | None = None
        state: LocalTransactionState | None = UNKNOW
        try:
            state = await self.transaction_listener.check_local_transaction(msg)
        except JavaError as raised:
            error = raised
        if state is None:
            return  # NullPointerException, which ends the job
        msg_id = msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX) or msg.msg_id
        remark = None if error is None else f"checkLocalTransactionState Exception: {_told(error)}"
        self.node.trace(HalfMessageEnded(
            self.instance.client_id, self.group, msg_id or "", state.value, from_check=True))
        try:
            await self._end_transaction_oneway(addr, EndTransactionRequestHeader(
                self.group, header.tran_state_table_offset, header.commit_log_offset, _TYPES[state],
                from_transaction_check=True, msg_id=msg_id, transaction_id=header.transaction_id),
                remark, CHECK_REPLY_TIMEOUT_MS)
        except JavaError:
            return  # logged

    async def _end_transaction_oneway(
        self, addr: str | None, header: EndTransactionRequestHeader, remark: str | None, timeout_ms: int,
    ) -> None:
        """MQClientAPIImpl#endTransactionOneway."""
        request = Command(RequestCode.END_TRANSACTION, header, remark=remark)
        await self.instance.remoting_client.invoke_oneway(addr, request, timeout_ms)


class TransactionMQProducer(DefaultMQProducer):
    """`client.producer.TransactionMQProducer`."""

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, config: ProducerConfig,
        transaction_listener: TransactionListener,
    ) -> None:
        """Not started."""
        self.transaction_listener = transaction_listener
        super().__init__(node, manager, client_config, config)

    def _impl(self, instance: MQClientInstance) -> TransactionMQProducerImpl:
        self.transactional = TransactionMQProducerImpl(
            self.node, instance, self.config, self.namespace, self.transaction_listener)
        return self.transactional

    async def send_message_in_transaction(self, msg: Message, arg: object = None) -> TransactionSendResult:
        """TransactionMQProducer#sendMessageInTransaction; raises MQClientError."""
        msg.topic = self.with_namespace(msg.topic)
        return await self.transactional.send_message_in_transaction(msg, arg)

    async def shutdown(self) -> None:
        """TransactionMQProducer#shutdown."""
        await super().shutdown()
        self.transactional.check_executor.shutdown()


def _told(error: JavaError) -> str:
    return f"{error.java_class}: {error.message}"
