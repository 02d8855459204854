"""DefaultMQProducerImpl: a producer of an instance: its life, its topics, and how a send chooses and retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from impl.client.client_errors import ClientErrorCode, SendError, response_code_of
from impl.client.default_send import DefaultSend
from impl.client.message_queue_selectors import MessageQueueSelector, SelectMessageQueueByHash
from impl.client.mq_fault_strategy import MQFaultStrategy
from impl.client.producer_config import ProducerConfig
from impl.client.route_tables import DefaultTopic
from impl.client.send_kernel import SendKernel, Way, time_left
from impl.client.send_message_api import uniq_ids
from impl.client.send_result import CommunicationMode, SendCallback, SendResult
from impl.client.service_state import CREATE_JUST, RUNNING, SHUTDOWN_ALREADY, START_FAILED
from impl.client.topic_publish_info import PickedQueue, TopicPublishInfo
from impl.client.validators import check_config, check_message
from impl.common.headers import CheckTransactionStateRequestHeader
from impl.common.message import MessageExt
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError, MQClientError, NullPointerError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.namespace import without_namespace, wrap_namespace
from impl.events import ProducerShutDown, ProducerStarted, PublishInfoUpdated, SendAttempted, SendFailed
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.pools import RejectedExecutionError
from impl.ports.remoting import RemotingTooMuchRequestError

if TYPE_CHECKING:  # an instance has producers
    from impl.client.mq_client_instance import MQClientInstance

ASYNC_SENDER_QUEUE = 50_000  # DefaultMQProducerImpl.asyncSenderThreadPoolQueue


class DefaultMQProducerImpl:
    """`client.impl.producer.DefaultMQProducerImpl`.

    topic_publish_info_table -- topic to its queues; nothing ever leaves it, and each topic in it is polled for ever.
    namespace -- of its topics. instance -- whose connections and routes it uses.
    """

    def __init__(
        self, node: Node, instance: MQClientInstance, config: ProducerConfig, namespace: str | None = None,
    ) -> None:
        """Not started."""
        self.node, self.instance, self.config, self.namespace = node, instance, config, namespace
        self.group = config.producer_group
        self.service_state = CREATE_JUST
        self.topic_publish_info_table: ConcurrentHashMap[str, TopicPublishInfo] = ConcurrentHashMap()
        self.mq_fault_strategy = MQFaultStrategy(
            node, send_latency_fault_enable=config.send_latency_fault_enable)
        self.async_sender_executor = node.pool("AsyncSenderExecutor", config.cores, ASYNC_SENDER_QUEUE)
        self.kernel = SendKernel(self)

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self, *, start_factory: bool = True) -> None:
        """DefaultMQProducerImpl#start; start_factory -- False: the instance is just starting, and holds its monitor.

        Raises MQClientError.
        """
        if self.service_state != CREATE_JUST:
            raise MQClientError(f"The producer service state not OK, maybe started once, {self.service_state}")
        self.service_state = START_FAILED
        check_config(self.group)
        if not await self.instance.register_producer(self.group, self, synchronized=start_factory):
            self.service_state = CREATE_JUST
            raise MQClientError(
                f"The producer group[{self.group}] has been created before, specify another name please.")
        self.topic_publish_info_table.put(self.config.create_topic_key, TopicPublishInfo())
        if start_factory:
            self.node.trace(ProducerStarted(
                self.instance.client_id, self.group, self.config.send_latency_fault_enable))
            await self.instance.start()
        self.service_state = RUNNING
        await self.instance.send_heartbeat_to_all_broker_with_lock()
        self.instance.manager.request_futures.start_scheduled_task(self)

    async def shutdown(self, *, shutdown_factory: bool = True) -> None:
        """DefaultMQProducerImpl#shutdown: what is still being sent asynchronously is not waited for."""
        if self.service_state != RUNNING:
            return
        await self.instance.unregister_producer(self.group, synchronized=shutdown_factory)
        self.async_sender_executor.shutdown()
        if shutdown_factory:
            await self.instance.shutdown()
            self.node.trace(ProducerShutDown(self.instance.client_id, self.group))
        self.instance.manager.request_futures.shutdown(self)
        self.service_state = SHUTDOWN_ALREADY

    def make_sure_state_ok(self) -> None:
        """DefaultMQProducerImpl#makeSureStateOK; raises MQClientError."""
        if self.service_state != RUNNING:
            raise MQClientError(f"The producer service state not OK, {self.service_state}")

    # What the instance asks -------------------------------------------------------------------------------------------

    def publish_topics(self) -> tuple[str, ...]:
        """DefaultMQProducerImpl#getPublishTopicList."""
        return self.topic_publish_info_table.key_set()

    def is_publish_topic_need_update(self, topic: str) -> bool:
        """DefaultMQProducerImpl#isPublishTopicNeedUpdate."""
        info = self.topic_publish_info_table.get(topic)
        return info is None or not info.ok()

    def update_topic_publish_info(self, topic: str, info: TopicPublishInfo) -> None:
        """DefaultMQProducerImpl#updateTopicPublishInfo."""
        self.topic_publish_info_table.put(topic, info)
        self.node.trace(PublishInfoUpdated(self.instance.client_id, self.group, topic, tuple(info.message_queue_list)))

    def check_transaction_state(
        self, addr: str, msg: MessageExt, header: CheckTransactionStateRequestHeader,  # noqa: ARG002  # overridden
    ) -> None:
        """DefaultMQProducerImpl#checkTransactionState without a checkExecutor: raises NullPointerError."""
        raise NullPointerError

    # Queues -----------------------------------------------------------------------------------------------------------

    async def try_to_find_topic_publish_info(self, topic: str) -> TopicPublishInfo:
        """DefaultMQProducerImpl#tryToFindTopicPublishInfo: its route, or that of the topic that others are made after.

        Raises IllegalStateError if no name server can be reached.
        """
        table = self.topic_publish_info_table
        info = table.get(topic)
        if info is None or not info.ok():
            table.put_if_absent(topic, TopicPublishInfo())
            await self.instance.update_topic_route_info_from_name_server(topic)
            info = _known(table, topic)
        if info.have_topic_router_info or info.ok():
            return info
        default = DefaultTopic(self.config.create_topic_key, self.config.default_topic_queue_nums)
        await self.instance.update_topic_route_info_from_name_server(topic, default)
        return _known(table, topic)

    def select_one_message_queue(self, info: TopicPublishInfo, last_broker_name: str | None) -> PickedQueue:
        """DefaultMQProducerImpl#selectOneMessageQueue."""
        return self.mq_fault_strategy.select_one_message_queue(info, last_broker_name)

    def update_fault_item(self, broker_name: str, latency_ms: int, *, isolation: bool) -> None:
        """DefaultMQProducerImpl#updateFaultItem."""
        self.mq_fault_strategy.update_fault_item(broker_name, latency_ms, isolation=isolation)

    def send_attempted(
        self, msg: Message, mq: MessageQueue, attempt: int, info: TopicPublishInfo | None, hashed: str | None = None,
        *, oneway: bool = False, timeout_ms: int | None = None,
    ) -> None:
        """Report that a request is about to be sent."""
        listed = frozenset(() if info is None else info.message_queue_list)
        self.node.trace(SendAttempted(
            self.instance.client_id, self.group, uniq_ids(msg) or "", attempt, mq, listed, hashed, oneway,
            timeout_ms, msg.wait_store_msg_ok))

    def send_failed(
        self, msg: Message, error: JavaError, attempts: int, allowed: int, spent_ms: int, timeout_ms: int,
    ) -> None:
        """Report that the application is about to be told of a failure; a message without id was never tried."""
        key = uniq_ids(msg)
        if key is not None:
            self.node.trace(SendFailed(
                self.instance.client_id, self.group, key, msg.topic, response_code_of(error), attempts, allowed,
                spent_ms, timeout_ms))

    def validate_name_server_setting(self) -> None:
        """DefaultMQProducerImpl#validateNameServerSetting; raises MQClientError."""
        if not self.instance.remoting_client.get_name_server_address_list():
            raise SendError("No name server address, please set it.", ClientErrorCode.NO_NAME_SERVER_EXCEPTION)

    # Sending ----------------------------------------------------------------------------------------------------------

    async def send_default_impl(self, msg: Message, way: Way, timeout_ms: int) -> SendResult | None:
        """DefaultMQProducerImpl#sendDefaultImpl; None: not SYNC. See `default_send`."""
        return await DefaultSend(self, msg, way, timeout_ms).run()

    async def send_to(self, msg: Message, mq: MessageQueue, way: Way, timeout_ms: int) -> SendResult | None:
        """DefaultMQProducerImpl#send(Message, MessageQueue, …): no retry.

        Raises MQClientError, MQBrokerError, RemotingError.
        """
        self.make_sure_state_ok()
        check_message(msg, self.config.max_message_size)
        if way.mode is not CommunicationMode.ONEWAY and msg.topic != mq.topic:
            raise MQClientError("message's topic not equal mq's topic")
        return await self._send_once(msg, mq, way, timeout_ms)

    async def _send_once(self, msg: Message, mq: MessageQueue, way: Way, timeout_ms: int) -> SendResult | None:
        begin_ms = self.node.now_ms()
        try:
            return await self.kernel.send(msg, PickedQueue([mq], 0), way, timeout_ms)
        except JavaError as error:
            self.send_failed(msg, error, 1, 1, self.node.now_ms() - begin_ms, timeout_ms)
            raise

    async def send_select_impl(
        self, msg: Message, selector: MessageQueueSelector, arg: object, way: Way, timeout_ms: int,
    ) -> SendResult | None:
        """DefaultMQProducerImpl#sendSelectImpl: no retry at another queue.

        Raises MQClientError, MQBrokerError, RemotingError.
        """
        begin_ms = self.node.now_ms()
        self.make_sure_state_ok()
        check_message(msg, self.config.max_message_size)
        info = await self.try_to_find_topic_publish_info(msg.topic)
        if not info.ok():
            self.validate_name_server_setting()
            raise MQClientError(f"No route info for this topic, {msg.topic}")
        mq = self._selected(msg, info, selector, arg)
        left_ms = time_left(timeout_ms, self.node.now_ms() - begin_ms, "sendSelectImpl")
        if mq is None:
            raise MQClientError("select message queue return null.")
        if isinstance(selector, SelectMessageQueueByHash):
            way = replace(way, hashed=str(arg))
        return await self._send_once(msg, mq, way, left_ms)

    def _selected(
        self, msg: Message, info: TopicPublishInfo, selector: MessageQueueSelector, arg: object,
    ) -> MessageQueue | None:
        """What the selector says, which sees neither namespaces nor the message itself."""
        namespace = self.instance.config.namespace
        try:
            copy = msg.clone()
            copy.topic = without_namespace(msg.topic, namespace) or msg.topic
            mqs = [mq._replace(topic=without_namespace(mq.topic, self.namespace) or mq.topic)
                   for mq in info.message_queue_list]
            mq = selector.select(mqs, copy, arg)
        except JavaError as error:
            raise SendError("select message queue threw exception.", cause=error) from error
        return None if mq is None else mq._replace(topic=wrap_namespace(namespace, mq.topic) or mq.topic)

    # Asynchronous sends -----------------------------------------------------------------------------------------------

    def send_default_async(self, msg: Message, callback: SendCallback, timeout_ms: int) -> None:
        """DefaultMQProducerImpl#send(Message, SendCallback, long): in the pool; its waiting counts."""
        way = Way(CommunicationMode.ASYNC, callback)
        self._submit(callback, timeout_ms, "DEFAULT ASYNC send",
                     lambda left_ms: self.send_default_impl(msg, way, left_ms))

    def send_async_to(self, msg: Message, mq: MessageQueue, callback: SendCallback, timeout_ms: int) -> None:
        """DefaultMQProducerImpl#send(Message, MessageQueue, SendCallback, long)."""
        way = Way(CommunicationMode.ASYNC, callback)
        self._submit(callback, timeout_ms, "", lambda left_ms: self.send_to(msg, mq, way, left_ms))

    def send_select_async(
        self, msg: Message, selector: MessageQueueSelector, arg: object, callback: SendCallback, timeout_ms: int,
    ) -> None:
        """DefaultMQProducerImpl#send(Message, MessageQueueSelector, Object, SendCallback, long)."""
        way = Way(CommunicationMode.ASYNC, callback)
        self._submit(callback, timeout_ms, "",
                     lambda left_ms: self.send_select_impl(msg, selector, arg, way, left_ms))

    def _submit(
        self, callback: SendCallback, timeout_ms: int, what: str,
        send: Callable[[int], Awaitable[SendResult | None]],
    ) -> None:
        """Let the pool of the producer send; raises MQClientError if it does not take it."""
        begin_ms = self.node.now_ms()

        async def run() -> None:
            left_ms = timeout_ms - (self.node.now_ms() - begin_ms)
            if left_ms <= 0:
                callback.on_exception(RemotingTooMuchRequestError(f"{what} call timeout".strip()))
                return
            try:
                await send(left_ms)
            except JavaError as error:
                callback.on_exception(error)

        try:
            self.async_sender_executor.execute(run)
        except RejectedExecutionError as error:
            raise SendError("executor rejected ", cause=error) from error


def _known(table: ConcurrentHashMap[str, TopicPublishInfo], topic: str) -> TopicPublishInfo:
    info = table.get(topic)
    if info is None:
        raise NullPointerError
    return info
