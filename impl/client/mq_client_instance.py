"""MQClientInstance: what all consumers of one client id share: connections, routes, heartbeats, threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from impl.client.client_config import ClientConfig
from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.mq_admin_impl import MQAdminImpl
from impl.client.mq_client_api import MQClientAPI
from impl.client.offset_store import FindBrokerResult
from impl.client.producer_config import ProducerConfig
from impl.client.pull_message_service import PullMessageService
from impl.client.rebalance_service import RebalanceService
from impl.client.route_tables import MQ_CLIENT_API_TIMEOUT_MS, DefaultTopic, RouteTables
from impl.client.send_message_api import SendMessageAPI
from impl.client.service_state import CREATE_JUST, RUNNING, SHUTDOWN_ALREADY, START_FAILED
from impl.common.heartbeat_data import CONSUME_PASSIVELY, ConsumerData, HeartbeatData, ProducerData
from impl.common.inet_socket_address import InetSocketAddress, socket_address
from impl.common.util_all import ip_to_text
from impl.decisions.java_errors import JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP, MASTER_ID
from impl.decisions.subscription import SubscriptionData, is_tag_type
from impl.events import (
    ConsumerIdsFetched,
    LocksHeard,
    OffsetReset,
    OffsetSent,
    ResetReceived,
    TimerJobBegan,
    TimerJobEnded,
)
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.threads import Lock

if TYPE_CHECKING:  # a consumer has an instance, and a manager makes it
    from impl.client.mq_client_manager import MQClientManager
    from impl.client.mq_consumer_inner import MQConsumerInner
    from impl.client.push_consumer import DefaultMQPushConsumerImpl

RESET_OFFSET_SLEEP_MS = 10_000  # MQClientInstance#resetOffset


class MQClientInstance:
    """`client.impl.factory.MQClientInstance`.

    All periodic tasks and the delayed unlocks of orderly consumers run on ONE thread: a slow one holds up the others.

    consumer_table -- group to consumer. producer_table -- group to producer; one of them is the inner one, which each
    instance has for messages that are sent back: since TBW102 is among its topics, every client polls the route of
    TBW102, and thereby learns of all brokers that create topics by themselves.
    """

    def __init__(self, node: Node, config: ClientConfig, manager: MQClientManager) -> None:
        """Not started."""
        self.node, self.config, self.manager = node, config, manager
        self.client_id = config.build_mq_client_id()
        self.service_state = CREATE_JUST
        self.consumer_table: ConcurrentHashMap[str, MQConsumerInner] = ConcurrentHashMap()
        self.producer_table: ConcurrentHashMap[str, DefaultMQProducerImpl] = ConcurrentHashMap()
        self.monitor = Lock("MQClientInstance: synchronized start, shutdown, resetOffset")
        self.lock_heartbeat = Lock("MQClientInstance.lockHeartbeat")
        self.remoting_client = node.remoting_client("NettyClient", config.client_callback_executor_threads)
        self.remoting_client.update_name_server_address_list(config.namesrv_addrs)
        processor = ClientRemotingProcessor(
            node, self.rebalance_immediately, self._be_reset, self.get_consumer_status, self.producer_table.get,
            manager.request_futures, config.namespace)
        self.api = MQClientAPI(self.remoting_client, self.client_id, processor)
        self.routes = RouteTables(self.api, self.producer_table.values, self.consumer_table.values)
        self.admin = MQAdminImpl(self)
        self.send_message_api = SendMessageAPI(
            node, self.remoting_client, config.namespace, self.routes.find_broker_address_in_publish)
        self.inner_producer = DefaultMQProducerImpl(
            node, self, ProducerConfig(CLIENT_INNER_PRODUCER_GROUP), config.namespace)
        self.scheduler = node.scheduler("MQClientFactoryScheduledThread")
        self.pull_message_service = PullMessageService(node, self.push_consumer)
        self.rebalance_service = RebalanceService(node, self.do_rebalance)
        self._in_heartbeat: dict[str, MQConsumerInner] = {}  # also those that are gone while it is sent

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """MQClientInstance#start, synchronized: once; raises MQClientError if an earlier start has failed."""
        await self.node.lock(self.monitor)
        if self.service_state == START_FAILED:
            self.node.unlock(self.monitor)
            raise MQClientError(f"The Factory object[{self.client_id}] has been created before, and failed.")
        if self.service_state == CREATE_JUST:
            self.service_state = START_FAILED
            self.remoting_client.start()
            self._start_scheduled_task()
            self.rebalance_service.start()
            await self.inner_producer.start(start_factory=False)
            self.service_state = RUNNING
        self.node.unlock(self.monitor)

    def _start_scheduled_task(self) -> None:
        """MQClientInstance#startScheduledTask: each job catches what it throws."""
        config = self.config
        for name, job, initial_delay_ms, period_ms in (
            ("updateTopicRouteInfoFromNameServer", self.update_topic_route_info_of_all, 10,
             config.poll_name_server_interval_ms),
            ("sendHeartbeatToAllBroker", self._clean_and_heartbeat, 1_000, config.heartbeat_broker_interval_ms),
            ("persistAllConsumerOffset", self.persist_all_consumer_offset, 10_000,
             config.persist_consumer_offset_interval_ms),
        ):
            self.scheduler.schedule_at_fixed_rate(
                self._reported(name, period_ms, _logging(job)), initial_delay_ms, period_ms)

    def _reported(self, name: str, period_ms: int, job: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            self.node.trace(TimerJobBegan(self.client_id, name, period_ms))
            await job()
            self.node.trace(TimerJobEnded(self.client_id, name))

        return run

    async def _clean_and_heartbeat(self) -> None:
        await self.routes.clean_offline_broker(self.node)
        await self.send_heartbeat_to_all_broker_with_lock()

    async def shutdown(self) -> None:
        """MQClientInstance#shutdown: nothing as long as anybody uses it."""
        if not self.consumer_table.is_empty() or len(self.producer_table) > 1:
            return
        await self.node.lock(self.monitor)
        if self.service_state == RUNNING:
            await self.inner_producer.shutdown(shutdown_factory=False)
            self.service_state = SHUTDOWN_ALREADY
            self.pull_message_service.shutdown()
            self.scheduler.shutdown()
            self.remoting_client.shutdown()
            await self.rebalance_service.shutdown()
            self.manager.factory_table.remove(self.client_id)
        self.node.unlock(self.monitor)

    def register_consumer(self, group: str, consumer: MQConsumerInner) -> bool:
        """MQClientInstance#registerConsumer: False if the instance has a consumer of the group already."""
        return self.consumer_table.put_if_absent(group, consumer) is None

    async def register_producer(self, group: str, producer: DefaultMQProducerImpl, *, synchronized: bool) -> bool:
        """MQClientInstance#registerProducer: False if the instance has a producer of the group already.

        synchronized -- False: the thread holds the monitor.
        """
        if synchronized:
            await self.node.lock(self.monitor)
        registered = self.producer_table.put_if_absent(group, producer) is None
        if synchronized:
            self.node.unlock(self.monitor)
        return registered

    async def unregister_producer(self, group: str, *, synchronized: bool) -> None:
        """MQClientInstance#unregisterProducer: out of the table, then a goodbye to every known broker address."""
        if synchronized:
            await self.node.lock(self.monitor)
        self.producer_table.remove(group)
        await self.unregister_client(group, None)
        if synchronized:
            self.node.unlock(self.monitor)

    async def unregister_consumer(self, group: str) -> None:
        """MQClientInstance#unregisterConsumer: out of the table, then a goodbye to every known broker address."""
        self.consumer_table.remove(group)
        await self.node.interleave("unregisterConsumer: before unregisterClient")
        await self.unregister_client(None, group)

    async def unregister_client(self, producer_group: str | None, consumer_group: str | None) -> None:
        """MQClientInstance#unregisterClient: one address after another; errors are logged."""
        for _, addrs in self.routes.broker_addr_table.traverse():
            for _, addr in addrs.entries():
                try:
                    await self.api.unregister_client(addr, producer_group, consumer_group, MQ_CLIENT_API_TIMEOUT_MS)
                except JavaError:
                    continue  # logged

    # Periodic work ----------------------------------------------------------------------------------------------------

    async def update_topic_route_info_of_all(self) -> None:
        """MQClientInstance#updateTopicRouteInfoFromNameServer(): an unreachable name server ends the round."""
        topics: dict[str, None] = {}
        for consumer in self.consumer_table.values():
            topics.update(dict.fromkeys(consumer.rebalance_impl.subscription_inner.key_set()))
        for producer in self.producer_table.values():
            topics.update(dict.fromkeys(producer.publish_topics()))
        for topic in topics:
            await self.update_topic_route_info_from_name_server(topic)

    async def persist_all_consumer_offset(self) -> None:
        """MQClientInstance#persistAllConsumerOffset."""
        for _, consumer in self.consumer_table.traverse():
            await consumer.persist_consumer_offset()

    async def send_heartbeat_to_all_broker_with_lock(self) -> None:
        """MQClientInstance#sendHeartbeatToAllBrokerWithLock: NO heartbeat, and nobody is told, if one is under way."""
        if not await self.node.try_lock(self.lock_heartbeat, 0):
            return
        await _logging(self._send_heartbeat_to_all_broker)()
        self.node.unlock(self.lock_heartbeat)

    async def _send_heartbeat_to_all_broker(self) -> None:
        """MQClientInstance#sendHeartbeatToAllBroker: broker by broker, 3 s each; slaves only for consumers."""
        heartbeat_data = self._prepare_heartbeat_data()
        has_consumers = bool(heartbeat_data.consumer_data_set)
        if not has_consumers and not heartbeat_data.producer_data_set:
            return
        for broker_name, addrs in self.routes.broker_addr_table.traverse():
            for broker_id, addr in addrs.entries():
                if not has_consumers and broker_id != MASTER_ID:
                    continue
                await self.node.interleave("sendHeartbeatToAllBroker: before the next broker")
                try:
                    version = await self.api.send_heartbeat(
                        addr, self._as_encoded_now(heartbeat_data), MQ_CLIENT_API_TIMEOUT_MS,
                    )
                except JavaError:
                    continue  # logged
                self.routes.note_broker_version(broker_name, addr, version)

    def _prepare_heartbeat_data(self) -> HeartbeatData:
        """MQClientInstance#prepareHeartbeatData."""
        self._in_heartbeat = dict(self.consumer_table.entries())
        return HeartbeatData(
            self.client_id,
            [ProducerData(group) for group in self.producer_table.key_set()],
            [consumer.consumer_data() for consumer in self._in_heartbeat.values()],
        )

    def _as_encoded_now(self, heartbeat_data: HeartbeatData) -> HeartbeatData:
        """Each address gets the same topics, but their versions as they are when the body is encoded for it.

        In Java the data has the SubscriptionData of the consumers themselves.
        """
        return HeartbeatData(heartbeat_data.client_id, heartbeat_data.producer_data_set, [
            ConsumerData(
                data.group_name, data.consume_type, data.message_model, data.consume_from_where,
                [self._live(data, sub) for sub in data.subscription_data_set], data.unit_mode,
            )
            for data in heartbeat_data.consumer_data_set
        ])

    def _live(self, data: ConsumerData, sub: SubscriptionData) -> SubscriptionData:
        consumer = self._in_heartbeat.get(data.group_name)
        current = None if consumer is None else consumer.rebalance_impl.subscription_inner.get(sub.topic or "")
        same = current is not None and current.sub_string == sub.sub_string
        return current if current is not None and same else sub

    # Rebalance --------------------------------------------------------------------------------------------------------

    def rebalance_immediately(self) -> None:
        """MQClientInstance#rebalanceImmediately."""
        self.rebalance_service.wakeup()

    async def do_rebalance(self) -> None:
        """MQClientInstance#doRebalance: consumer by consumer; errors are logged."""
        for _, consumer in self.consumer_table.traverse():
            try:
                await consumer.do_rebalance()
            except JavaError:
                continue

    async def find_consumer_id_list(self, topic: str, group: str) -> Sequence[str] | None:
        """MQClientInstance#findConsumerIdList: of one broker of the topic, another one each time."""
        addr = self._find_broker_addr_by_topic(topic)
        if addr is None:
            await self.update_topic_route_info_from_name_server(topic)
            addr = self._find_broker_addr_by_topic(topic)
        client_ids: Sequence[str] | None = None
        if addr is not None:
            try:
                client_ids = await self.api.get_consumer_id_list_by_group(addr, group, MQ_CLIENT_API_TIMEOUT_MS)
            except JavaError:
                client_ids = None  # logged
        self.node.trace(ConsumerIdsFetched(
            self.client_id, group, topic, addr, None if client_ids is None else tuple(client_ids),
        ))
        await self.node.interleave("findConsumerIdList: the list is here, and not applied yet")
        return client_ids

    def _find_broker_addr_by_topic(self, topic: str) -> str | None:
        return self.routes.find_broker_addr_by_topic(
            topic, lambda n: self.node.random(n, "MQClientInstance#findBrokerAddrByTopic"),
        )

    # Offset reset -----------------------------------------------------------------------------------------------------

    async def _be_reset(self, topic: str, group: str, offset_table: Mapping[MessageQueue, int]) -> None:
        self.node.trace(ResetReceived(self.client_id, group, frozenset(offset_table.items())))
        await self.reset_offset(topic, group, offset_table)

    async def reset_offset(self, topic: str, group: str, offset_table: Mapping[MessageQueue, int]) -> None:
        """MQClientInstance#resetOffset, synchronized: drop the queues, wait 10 s for who still works on them, commit.

        Only queues that this consumer holds are reset. What is on its way when they are dropped (a pull that is held,
        a listener's answer) may still raise the offset in memory afterwards (L8, X18). The consumer does not rebalance
        meanwhile, and then does in this thread.
        """
        await self.node.lock(self.monitor)
        consumer = self.push_consumer(group)
        if consumer is None:
            self.node.unlock(self.monitor)
            return
        consumer.suspend()
        for mq, pq in consumer.rebalance_impl.process_queue_table.traverse():
            if mq.topic == topic and mq in offset_table:
                pq.dropped = True
                pq.clear()
        consumer.rebalance_impl.report_dropped()
        await self.node.sleep(RESET_OFFSET_SLEEP_MS)
        for mq, _ in consumer.rebalance_impl.process_queue_table.traverse():
            if mq.topic == topic and mq in offset_table:
                await self._reset_queue(consumer, mq, offset_table[mq])
        await consumer.resume()
        self.node.unlock(self.monitor)

    def push_consumer(self, group: str) -> DefaultMQPushConsumerImpl | None:
        """The consumer of the group, if it is one that is pushed to."""
        consumer = self.consumer_table.get(group)
        is_push = consumer is not None and consumer.rebalance_impl.consume_type() == CONSUME_PASSIVELY
        return cast("DefaultMQPushConsumerImpl", consumer) if is_push else None

    async def _reset_queue(self, consumer: DefaultMQPushConsumerImpl, mq: MessageQueue, offset: int) -> None:
        """The end for one queue: whatever comes of its lock it leaves the table.

        If another thread has taken it out in this moment, Java commits all the same, and what fails then is logged.
        """
        consumer.update_consume_offset(mq, offset)
        self.node.trace(OffsetReset(self.client_id, consumer.group, mq, offset))
        await self.node.interleave("resetOffset: the offset has been set")
        table = consumer.rebalance_impl.process_queue_table
        pq = table.get(mq)
        if pq is None:
            await consumer.offset_store.persist(mq)
            consumer.offset_store.remove_offset(mq)
            return
        await consumer.rebalance_impl.remove_unnecessary_message_queue(mq, pq, self.node)
        consumer.rebalance_impl.report_removed(mq, table.remove(mq))

    def get_consumer_status(self, topic: str, group: str) -> Mapping[MessageQueue, int]:
        """MQClientInstance#getConsumerStatus: the offsets in memory of one topic; a blank one: of all."""
        consumer = self.consumer_table.get(group)
        return {} if consumer is None else consumer.offset_store.clone_offset_table(topic)

    # What consumers ask -----------------------------------------------------------------------------------------------

    def update_topic_route_info_from_name_server(
        self, topic: str, default: DefaultTopic | None = None,
    ) -> Coroutine[Any, Any, bool]:
        """MQClientInstance#updateTopicRouteInfoFromNameServer."""
        return self.routes.update_topic_route_info_from_name_server(topic, self.node, default)

    def find_broker_address_in_subscribe(
        self, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        """MQClientInstance#findBrokerAddressInSubscribe."""
        return self.routes.find_broker_address_in_subscribe(broker_name, broker_id, only_this_broker=only_this_broker)

    def addr_of(self, store_host: InetSocketAddress) -> str:
        """RemotingHelper#parseSocketAddressAddr: the address of a broker by the host that stands in its records.

        Where machines have names, a record has a number for each, and the names that are known here are tried.
        """
        addrs = (addr for _, broker_addrs in self.routes.broker_addr_table.entries() for addr in broker_addrs.values())
        text = f"{ip_to_text(store_host.address)}:{store_host.port}"
        return next((addr for addr in addrs if socket_address(addr) == store_host), text)

    async def check_client_in_broker(self) -> None:
        """MQClientInstance#checkClientInBroker: one broker for each expression that is not by tag.

        It stops at the first consumer without a subscription. Raises MQClientError for a refusal.
        """
        for group, consumer in self.consumer_table.traverse():
            subscriptions = consumer.rebalance_impl.subscription_inner.values()
            if not subscriptions:
                return
            for subscription in subscriptions:
                if is_tag_type(subscription.expression_type):
                    continue
                addr = self._find_broker_addr_by_topic(subscription.topic or "")
                if addr is not None:
                    await self._check(addr, group, subscription)

    async def _check(self, addr: str, group: str, subscription: SubscriptionData) -> None:
        try:
            await self.api.check_client_in_broker(addr, group, subscription, MQ_CLIENT_API_TIMEOUT_MS)
        except MQClientError:
            raise
        except JavaError as error:
            raise MQClientError(f"Check client in broker error, maybe because you use {subscription.expression_type} "
                                f"to filter message, but server has not been upgraded to support!{error}") from error

    async def lock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int,
    ) -> Collection[MessageQueue]:
        """MQClientAPIImpl#lockBatchMQ."""
        locked_mq = await self.api.lock_batch_mq(addr, group, mqs, timeout_ms)
        self.node.trace(LocksHeard(self.client_id, group, frozenset(mqs)))
        return locked_mq

    def unlock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int, *, oneway: bool,
    ) -> Coroutine[Any, Any, None]:
        """MQClientAPIImpl#unlockBatchMQ."""
        return self.api.unlock_batch_mq(addr, group, mqs, timeout_ms, oneway=oneway)

    def query_consumer_offset(
        self, addr: str, group: str, mq: MessageQueue, timeout_ms: int,
    ) -> Coroutine[Any, Any, int]:
        """MQClientAPIImpl#queryConsumerOffset."""
        return self.api.query_consumer_offset(addr, group, mq, timeout_ms)

    def update_consumer_offset(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> Coroutine[Any, Any, None]:
        """MQClientAPIImpl#updateConsumerOffset."""
        self.node.trace(OffsetSent(self.client_id, group, mq, offset))
        return self.api.update_consumer_offset(addr, group, mq, offset, timeout_ms)

    def update_consumer_offset_oneway(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> Coroutine[Any, Any, None]:
        """MQClientAPIImpl#updateConsumerOffsetOneway."""
        self.node.trace(OffsetSent(self.client_id, group, mq, offset))
        return self.api.update_consumer_offset_oneway(addr, group, mq, offset, timeout_ms)


def _logging(job: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """The try around a job: what it throws is logged."""

    async def run() -> None:
        try:
            await job()
        except JavaError:
            return

    return run
