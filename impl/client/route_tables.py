"""What a client process knows of routes and brokers: the tables of MQClientInstance, and how a route enters them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from impl.client.offset_store import FindBrokerResult
from impl.client.topic_publish_info import TopicPublishInfo
from impl.decisions.java_errors import IllegalArgumentError, JavaError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import (
    TopicRouteData,
    topic_route_data_is_change,
    topic_subscribe_queues,
)
from impl.hash_map import ConcurrentHashMap, HashMap, IllegalStateError
from impl.ports.threads import Lock, Threads

LOCK_TIMEOUT_MS = 3000  # MQClientInstance.LOCK_TIMEOUT_MILLIS
MQ_CLIENT_API_TIMEOUT_MS = 3000  # ClientConfig.mqClientApiTimeout


class RouteFetch(Protocol):
    """What is asked of MQClientAPIImpl."""

    async def get_topic_route_info_from_name_server(self, topic: str, timeout_ms: int) -> TopicRouteData | None:
        """MQClientAPIImpl#getTopicRouteInfoFromNameServer.

        Raises MQClientError for every answer that is no route, TOPIC_NOT_EXIST among them, and another JavaError when
        no name server can be reached.
        """
        ...


class RouteProducer(Protocol):
    """What is asked of a producer of the instance (MQProducerInner)."""

    def is_publish_topic_need_update(self, topic: str) -> bool:
        """Whether it has no queues to send the topic to; any topic, also one that it never sends to."""
        ...

    def update_topic_publish_info(self, topic: str, info: TopicPublishInfo) -> None:
        """Takes the queues over; all producers of the instance are given the same object."""
        ...


class RouteConsumer(Protocol):
    """What is asked of a consumer of the instance (MQConsumerInner)."""

    def is_subscribe_topic_need_update(self, topic: str) -> bool:
        """Whether it subscribes the topic and has no queues of it."""
        ...

    def update_topic_subscribe_info(self, topic: str, mqs: Collection[MessageQueue]) -> None:
        """Takes the queues over, if it subscribes the topic."""
        ...


@dataclass(frozen=True, slots=True)
class DefaultTopic:
    """The way of a producer to an unknown topic: the route of create_topic_key, with no more queues than wished."""

    create_topic_key: str
    default_topic_queue_nums: int


class RouteTables:
    """The tables of `client.impl.factory.MQClientInstance` about routes: ConcurrentHashMaps.

    lockNamesrv is held by an update and by the removal of offline brokers; whoever reads the tables takes no lock.

    fetch -- asks a name server. producers, consumers -- those registered at this moment.

    topic_route_table -- topic to the last route that was taken over; nothing ever leaves it.
    broker_addr_table -- broker name to its addresses by id, 0 for the master.
    broker_version_table -- broker name to the versions that its addresses answered heartbeats with.
    """

    def __init__(
        self,
        fetch: RouteFetch,
        producers: Callable[[], Collection[RouteProducer]],
        consumers: Callable[[], Collection[RouteConsumer]],
    ) -> None:
        """Start empty."""
        self.fetch = fetch
        self.producers = producers
        self.consumers = consumers
        self.lock_namesrv = Lock("MQClientInstance.lockNamesrv")
        self.topic_route_table: ConcurrentHashMap[str, TopicRouteData] = ConcurrentHashMap()
        self.broker_addr_table: ConcurrentHashMap[str, HashMap[int, str]] = ConcurrentHashMap()
        self.broker_version_table: ConcurrentHashMap[str, HashMap[str, int]] = ConcurrentHashMap()

    # Updates, under lockNamesrv ---------------------------------------------------------------------------------------

    async def update_topic_route_info_from_name_server(
        self, topic: str, threads: Threads, default: DefaultTopic | None = None,
    ) -> bool:
        """MQClientInstance#updateTopicRouteInfoFromNameServer: whether a route was taken over.

        The old route stays when there is no new one, when it has not changed, and when the lock cannot be had in 3 s.
        Raises IllegalStateError when no name server can be reached, and what a broken order configuration does.
        """
        if not await threads.try_lock(self.lock_namesrv, LOCK_TIMEOUT_MS):
            return False
        try:
            route = await self._fetch_route(topic, default)
        except MQClientError:
            route = None  # logged
        except JavaError as error:
            threads.unlock(self.lock_namesrv)
            raise IllegalStateError(f"{error.java_class}: {error.message}") from error
        try:
            updated = route is not None and await self._take_over_if_changed(topic, route, threads)
        except JavaError:
            threads.unlock(self.lock_namesrv)
            raise
        threads.unlock(self.lock_namesrv)
        return updated

    async def _fetch_route(self, topic: str, default: DefaultTopic | None) -> TopicRouteData | None:
        if default is None:
            return await self.fetch.get_topic_route_info_from_name_server(topic, MQ_CLIENT_API_TIMEOUT_MS)
        route = await self.fetch.get_topic_route_info_from_name_server(
            default.create_topic_key, MQ_CLIENT_API_TIMEOUT_MS,
        )
        return None if route is None else _capped(route, default.default_topic_queue_nums)

    async def _take_over_if_changed(self, topic: str, route: TopicRouteData, threads: Threads) -> bool:
        old = self.topic_route_table.get(topic)
        changed = old != route and topic_route_data_is_change(old, route)
        if not changed and not self._is_need_update_topic_route_info(topic):
            return False
        await self.take_over(topic, route, threads)
        return True

    def _is_need_update_topic_route_info(self, topic: str) -> bool:
        """MQClientInstance#isNeedUpdateTopicRouteInfo."""
        return any(producer.is_publish_topic_need_update(topic) for producer in self.producers()) or any(
            consumer.is_subscribe_topic_need_update(topic) for consumer in self.consumers()
        )

    async def take_over(self, topic: str, route: TopicRouteData, threads: Threads) -> None:
        """Addresses, then queues, and the route itself at last; other threads see every state in between.

        A broker's addresses are replaced as a whole. Raises what a broken order configuration does, if there is a
        producer, after the addresses have been replaced.
        """
        for broker_data in route.broker_datas:
            addrs: HashMap[int, str] = HashMap()
            for broker_id, addr in broker_data.broker_addrs.items():
                addrs.put(broker_id, addr)
            self.broker_addr_table.put(broker_data.broker_name, addrs)
        await threads.interleave("updateTopicRouteInfoFromNameServer: before the producers")
        producers, consumers = self.producers(), self.consumers()
        if producers:
            info = TopicPublishInfo(topic, route)
            for producer in producers:
                producer.update_topic_publish_info(topic, info)
        await threads.interleave("updateTopicRouteInfoFromNameServer: before the consumers")
        if consumers:
            mqs = topic_subscribe_queues(topic, route)
            for consumer in consumers:
                consumer.update_topic_subscribe_info(topic, mqs)
        await threads.interleave("updateTopicRouteInfoFromNameServer: before topicRouteTable")
        self.topic_route_table.put(topic, route)

    async def clean_offline_broker(self, threads: Threads) -> None:
        """MQClientInstance#cleanOfflineBroker: addresses that no route has go, and names left without any.

        As routes never leave, a broker that vanished with its last route stays.
        """
        if not await threads.try_lock(self.lock_namesrv, LOCK_TIMEOUT_MS):
            return
        updated_table: list[tuple[str, HashMap[int, str]]] = []
        for broker_name, addrs in self.broker_addr_table.traverse():
            kept: HashMap[int, str] = HashMap()
            for broker_id, addr in addrs.entries():
                if self.is_broker_addr_exist_in_topic_route_table(addr):
                    kept.put(broker_id, addr)
            if kept.is_empty():
                self.broker_addr_table.remove(broker_name)
            else:
                updated_table.append((broker_name, kept))
            await threads.interleave("cleanOfflineBroker: before the next broker")
        for broker_name, kept in updated_table:
            self.broker_addr_table.put(broker_name, kept)
        threads.unlock(self.lock_namesrv)

    def note_broker_version(self, broker_name: str, addr: str, version: int) -> None:
        """What MQClientInstance#sendHeartbeatToAllBroker does with the version in an answer; no lock."""
        versions = self.broker_version_table.get(broker_name)
        if versions is None:
            versions = HashMap(4)
            self.broker_version_table.put(broker_name, versions)
        versions.put(addr, version)

    # Look-ups, without a lock -----------------------------------------------------------------------------------------

    def is_broker_addr_exist_in_topic_route_table(self, addr: str) -> bool:
        """MQClientInstance#isBrokerAddrExistInTopicRouteTable, #isBrokerInNameServer."""
        return any(
            addr in broker_data.broker_addrs.values()
            for route in self.topic_route_table.values()
            for broker_data in route.broker_datas
        )

    def find_broker_address_in_publish(self, broker_name: str) -> str | None:
        """MQClientInstance#findBrokerAddressInPublish: the master."""
        addrs = self.broker_addr_table.get(broker_name)
        return None if addrs is None else addrs.get(MASTER_ID)

    def find_broker_address_in_subscribe(
        self, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        """MQClientInstance#findBrokerAddressInSubscribe.

        A slave that is not there is replaced by the one with the next id, and anything by the first address of the
        name, unless only_this_broker.
        """
        addrs = self.broker_addr_table.get(broker_name)
        if addrs is None or addrs.is_empty():
            return None
        slave = broker_id != MASTER_ID
        addr = addrs.get(broker_id)
        if addr is None and slave:
            addr = addrs.get(broker_id + 1)
        if addr is None and not only_this_broker:
            first_id, addr = addrs.entries()[0]
            slave = first_id != MASTER_ID
        if addr is None:
            return None
        return FindBrokerResult(addr, slave, self.find_broker_version(broker_name, addr))

    def find_broker_version(self, broker_name: str, broker_addr: str) -> int:
        """MQClientInstance#findBrokerVersion: 0 before the first heartbeat was answered."""
        versions = self.broker_version_table.get(broker_name)
        return 0 if versions is None else versions.get(broker_addr, 0)

    def find_broker_addr_by_topic(self, topic: str, random: Callable[[int], int]) -> str | None:
        """MQClientInstance#findBrokerAddrByTopic: of a random broker of the route, its master or else a random slave.

        random -- n to one of 0 … n-1. Raises what Java does for a broker without any address.
        """
        route = self.topic_route_table.get(topic)
        if route is None or not route.broker_datas:
            return None
        addrs = route.broker_datas[random(len(route.broker_datas))].broker_addrs
        master = addrs.get(MASTER_ID)
        if master is not None:
            return master
        if not addrs:
            raise IllegalArgumentError("bound must be positive")
        return list(addrs.values())[random(len(addrs))]


def _capped(route: TopicRouteData, default_topic_queue_nums: int) -> TopicRouteData:
    """The route of the default topic as a producer takes it for its own."""
    queue_datas = []
    for data in route.queue_datas:
        queue_nums = min(default_topic_queue_nums, data.read_queue_nums)
        queue_datas.append(data._replace(read_queue_nums=queue_nums, write_queue_nums=queue_nums))
    return route._replace(queue_datas=tuple(queue_datas))
