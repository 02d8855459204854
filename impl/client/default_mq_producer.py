"""DefaultMQProducer: what applications call. Namespaces are put before the names of topics and groups here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from impl.client.client_config import ClientConfig, InNamespace
from impl.client.client_errors import SendError
from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.message_queue_selectors import MessageQueueSelector
from impl.client.producer_config import ProducerConfig
from impl.client.send_kernel import ONEWAY, SYNC
from impl.client.send_result import SendCallback, SendResult
from impl.client.validators import check_message
from impl.common.message_batch import MessageBatch, generate_from_list
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.ports.node import Node

if TYPE_CHECKING:  # a manager's instances have producers
    from impl.client.mq_client_instance import MQClientInstance
    from impl.client.mq_client_manager import MQClientManager


class DefaultMQProducer(InNamespace):
    """`client.producer.DefaultMQProducer`. A time-out of None is the configured one.

    Sends raise MQClientError (a SendError says why, by its response_code), RemotingError, MQBrokerError, and
    IllegalStateError where no name server can be reached. None of them says that the message is not stored.
    """

    def __init__(
        self, node: Node, manager: MQClientManager, client_config: ClientConfig, config: ProducerConfig,
    ) -> None:
        """Not started; a client id without a name of its own gets one."""
        self.node, self.namespace = node, client_config.namespace
        self.config = replace(config, producer_group=self.with_namespace(config.producer_group))
        client_config = manager.change_instance_name_to_pid(client_config)
        self.impl = self._impl(manager.get_or_create_mq_client_instance(client_config))

    def _impl(self, instance: MQClientInstance) -> DefaultMQProducerImpl:
        """What does the work."""
        return DefaultMQProducerImpl(self.node, instance, self.config, self.namespace)

    @property
    def client_id(self) -> str:
        """Of the instance."""
        return self.impl.instance.client_id

    async def start(self) -> None:
        """DefaultMQProducer#start; raises MQClientError."""
        await self.impl.start()

    async def shutdown(self) -> None:
        """DefaultMQProducer#shutdown."""
        await self.impl.shutdown()

    # Sending, where the producer chooses a queue ----------------------------------------------------------------------

    async def send(self, msg: Message, timeout_ms: int | None = None) -> SendResult:
        """DefaultMQProducer#send(Message)."""
        self._prepare(msg)
        return not_null(await self.impl.send_default_impl(msg, SYNC, self._timeout_ms(timeout_ms)))

    async def send_batch(self, msgs: Collection[Message], timeout_ms: int | None = None) -> SendResult:
        """DefaultMQProducer#send(Collection)."""
        batch = self._batch(msgs)
        return not_null(await self.impl.send_default_impl(batch, SYNC, self._timeout_ms(timeout_ms)))

    def send_async(self, msg: Message, callback: SendCallback, timeout_ms: int | None = None) -> None:
        """DefaultMQProducer#send(Message, SendCallback)."""
        msg.topic = self.with_namespace(msg.topic)
        self.impl.send_default_async(msg, callback, self._timeout_ms(timeout_ms))

    def send_batch_async(
        self, msgs: Collection[Message], callback: SendCallback, timeout_ms: int | None = None,
    ) -> None:
        """DefaultMQProducer#send(Collection, SendCallback)."""
        self.impl.send_default_async(self._batch(msgs), callback, self._timeout_ms(timeout_ms))

    async def send_oneway(self, msg: Message) -> None:
        """DefaultMQProducer#sendOneway: that it returns says that the message was written to a connection, no more."""
        msg.topic = self.with_namespace(msg.topic)
        await self.impl.send_default_impl(msg, ONEWAY, self.config.send_msg_timeout_ms)

    # … where the application does -------------------------------------------------------------------------------------

    async def send_to(self, msg: Message, mq: MessageQueue, timeout_ms: int | None = None) -> SendResult:
        """DefaultMQProducer#send(Message, MessageQueue)."""
        msg.topic = self.with_namespace(msg.topic)
        return not_null(await self.impl.send_to(msg, self.queue_with_namespace(mq), SYNC, self._timeout_ms(timeout_ms)))

    async def send_batch_to(
        self, msgs: Collection[Message], mq: MessageQueue, timeout_ms: int | None = None,
    ) -> SendResult:
        """DefaultMQProducer#send(Collection, MessageQueue): the queue's topic is to have its namespace already."""
        return not_null(await self.impl.send_to(self._batch(msgs), mq, SYNC, self._timeout_ms(timeout_ms)))

    def send_async_to(
        self, msg: Message, mq: MessageQueue, callback: SendCallback, timeout_ms: int | None = None,
    ) -> None:
        """DefaultMQProducer#send(Message, MessageQueue, SendCallback)."""
        msg.topic = self.with_namespace(msg.topic)
        self.impl.send_async_to(msg, self.queue_with_namespace(mq), callback, self._timeout_ms(timeout_ms))

    async def send_oneway_to(self, msg: Message, mq: MessageQueue) -> None:
        """DefaultMQProducer#sendOneway(Message, MessageQueue)."""
        msg.topic = self.with_namespace(msg.topic)
        await self.impl.send_to(msg, self.queue_with_namespace(mq), ONEWAY, self.config.send_msg_timeout_ms)

    async def send_select(
        self, msg: Message, selector: MessageQueueSelector, arg: object, timeout_ms: int | None = None,
    ) -> SendResult:
        """DefaultMQProducer#send(Message, MessageQueueSelector, Object)."""
        msg.topic = self.with_namespace(msg.topic)
        return not_null(await self.impl.send_select_impl(msg, selector, arg, SYNC, self._timeout_ms(timeout_ms)))

    def send_select_async(
        self, msg: Message, selector: MessageQueueSelector, arg: object, callback: SendCallback,
        timeout_ms: int | None = None,
    ) -> None:
        """DefaultMQProducer#send(Message, MessageQueueSelector, Object, SendCallback)."""
        msg.topic = self.with_namespace(msg.topic)
        self.impl.send_select_async(msg, selector, arg, callback, self._timeout_ms(timeout_ms))

    async def send_oneway_select(self, msg: Message, selector: MessageQueueSelector, arg: object) -> None:
        """DefaultMQProducer#sendOneway(Message, MessageQueueSelector, Object)."""
        msg.topic = self.with_namespace(msg.topic)
        await self.impl.send_select_impl(msg, selector, arg, ONEWAY, self.config.send_msg_timeout_ms)

    def _prepare(self, msg: Message) -> None:
        check_message(msg, self.config.max_message_size)
        msg.topic = self.with_namespace(msg.topic)

    def _batch(self, msgs: Collection[Message]) -> MessageBatch:
        """DefaultMQProducer#batch: whatever is wrong with one of them, none is sent."""
        try:
            batch = generate_from_list(msgs)
            for msg in batch:
                check_message(msg, self.config.max_message_size)
                self.impl.kernel.set_uniq_id(msg)
                msg.topic = self.with_namespace(msg.topic)
            batch.body = batch.encode()
        except JavaError as error:
            raise SendError("Failed to initiate the MessageBatch", cause=error) from error
        batch.topic = self.with_namespace(batch.topic)
        return batch

    def _timeout_ms(self, timeout_ms: int | None) -> int:
        return self.config.send_msg_timeout_ms if timeout_ms is None else timeout_ms
