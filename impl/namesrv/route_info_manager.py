"""RouteInfoManager: everything a name server knows of brokers and topics.

The Java class guards its plain HashMaps with one ReentrantReadWriteLock: a plain method here runs under that lock from
its beginning to its end, unless its docstring says that it takes none. The two composed operations show where the
locks leave gaps. An exception inside a locked method is logged and swallowed in Java, what was done so far stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from impl.common.data_version import DataVersion
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.flags import FLAG_UNIT, FLAG_UNIT_SUB, PERM_READ, PERM_WRITE, clear_flag, has_flag
from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import BrokerData, QueueData, TopicRouteData
from impl.hash_map import HashMap
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave

BROKER_CHANNEL_EXPIRED_TIME_MS = 1000 * 60 * 2


@dataclass(slots=True, eq=False)
class BrokerLiveInfo:
    """`namesrv.routeinfo.BrokerLiveInfo`: the last sign of life of a broker address.

    last_update_timestamp -- milliseconds since 1970 by the name server's clock; written without a lock by code 322.
    data_version -- what the address registered last. ha_server_addr -- where slaves replicate from.
    """

    last_update_timestamp: int
    data_version: DataVersion
    channel: Channel
    ha_server_addr: str | None


@dataclass(slots=True, eq=False)
class BrokerAddrs:
    """The BrokerData of the table: the addresses behind one broker name, as they are now.

    broker_addrs -- broker id, 0 for the master, to "host:port".
    """

    cluster: str
    broker_name: str
    broker_addrs: HashMap[int, str]

    def copy(self) -> BrokerData:
        """What an answer carries of it."""
        return BrokerData(self.cluster, self.broker_name, dict(self.broker_addrs.clone().entries()))


@dataclass(slots=True, eq=False)
class PickedUpRoute:
    """What RouteInfoManager#pickupTopicRouteData hands out to be encoded, after the lock has been given back.

    queue_datas -- the LIVE list of the table. broker_datas -- copies.
    filter_server_table -- broker address to its filter servers, None where it has none.
    """

    queue_datas: list[QueueData]
    broker_datas: list[BrokerData]
    filter_server_table: dict[str, list[str] | None]

    def encoded(self) -> TopicRouteData:
        """The answer as it is when it is encoded at this moment; filter servers, long out of use, are left out."""
        return TopicRouteData(tuple(self.queue_datas), tuple(self.broker_datas))


@dataclass(slots=True)
class RegisterBrokerResult:
    """`common.namesrv.RegisterBrokerResult`: the master as a slave learns it; a master gets neither."""

    ha_server_addr: str | None = None
    master_addr: str | None = None


@dataclass(slots=True)
class BrokerRegistration:
    """The arguments of RouteInfoManager#registerBroker.

    topic_config_wrapper -- None makes Java stop half way. filter_server_list -- None leaves the table as it is.
    """

    cluster_name: str
    broker_addr: str
    broker_name: str
    broker_id: int
    ha_server_addr: str | None
    topic_config_wrapper: TopicConfigSerializeWrapper | None
    filter_server_list: list[str] | None
    channel: Channel


class RouteInfoManager:
    """`namesrv.routeinfo.RouteInfoManager`.

    now_ms -- the clock of this name server.

    topic_queue_table -- topic to its queues, at most one entry per broker name.
    broker_addr_table -- broker name to the addresses behind it.
    cluster_addr_table -- cluster to its broker names (the values stand for HashSets).
    broker_live_table -- broker address to its last sign of life.
    filter_server_table -- broker address to its filter servers.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Start empty, as every name server does."""
        self.now_ms = now_ms
        self.topic_queue_table: HashMap[str, list[QueueData]] = HashMap(1024)
        self.broker_addr_table: HashMap[str, BrokerAddrs] = HashMap(128)
        self.cluster_addr_table: HashMap[str, HashMap[str, bool]] = HashMap(32)
        self.broker_live_table: HashMap[str, BrokerLiveInfo] = HashMap(256)
        self.filter_server_table: HashMap[str, list[str]] = HashMap(256)

    # Registration, under the write lock -------------------------------------------------------------------------------

    def register_broker(self, registration: BrokerRegistration) -> RegisterBrokerResult:
        """RouteInfoManager#registerBroker.

        Topics are taken over from a master only, and only if its data version is another than the one stored for the
        same address, or if nobody had this id before.
        """
        result = RegisterBrokerResult()
        broker_data, register_first = self._enter_address(registration)
        addr, wrapper = registration.broker_addr, registration.topic_config_wrapper
        if wrapper is None:
            return result  # NullPointerException, swallowed: the address has entered and will never expire
        if registration.broker_id == MASTER_ID and (
            self.is_broker_topic_config_changed(addr, wrapper.data_version) or register_first
        ):
            for topic_config in (wrapper.topic_config_table or {}).values():
                self._create_and_update_queue_data(registration.broker_name, topic_config)
        live_info = BrokerLiveInfo(
            self.now_ms(), wrapper.data_version, registration.channel, registration.ha_server_addr,
        )
        self.broker_live_table.put(addr, live_info)
        if registration.filter_server_list is not None:
            if registration.filter_server_list:
                self.filter_server_table.put(addr, registration.filter_server_list)
            else:
                self.filter_server_table.remove(addr)
        if registration.broker_id != MASTER_ID:
            self._tell_master(broker_data, result)
        return result

    def _enter_address(self, registration: BrokerRegistration) -> tuple[BrokerAddrs, bool]:
        """Write the address into clusters and names; also whether nobody had this id of this name before.

        An existing name keeps the cluster it was created with. The same address under another id of the name goes (a
        slave that was promoted); another address under the same id is replaced without a word.
        """
        name, addr, broker_id = registration.broker_name, registration.broker_addr, registration.broker_id
        broker_names = self.cluster_addr_table.get(registration.cluster_name)
        if broker_names is None:
            broker_names = HashMap()
            self.cluster_addr_table.put(registration.cluster_name, broker_names)
        broker_names.put(name, True)
        broker_data = self.broker_addr_table.get(name)
        register_first = broker_data is None
        if broker_data is None:
            broker_data = BrokerAddrs(registration.cluster_name, name, HashMap())
            self.broker_addr_table.put(name, broker_data)
        for other_id, other_addr in broker_data.broker_addrs.entries():
            if other_addr == addr and other_id != broker_id:
                broker_data.broker_addrs.remove(other_id)
        old_addr = broker_data.broker_addrs.put(broker_id, addr)
        return broker_data, register_first or old_addr is None

    def _create_and_update_queue_data(self, broker_name: str, topic_config: TopicConfig) -> None:
        """RouteInfoManager#createAndUpdateQueueData: an entry that differs goes, its successor is appended."""
        queue_data = QueueData(
            broker_name,
            topic_config.read_queue_nums,
            topic_config.write_queue_nums,
            topic_config.perm,
            topic_config.topic_sys_flag,
        )
        queue_datas = self.topic_queue_table.get(topic_config.topic_name)
        if queue_datas is None:
            self.topic_queue_table.put(topic_config.topic_name, [queue_data])
            return
        add_new_one = queue_data not in queue_datas
        queue_datas[:] = [data for data in queue_datas if data.broker_name != broker_name or data == queue_data]
        if add_new_one:
            queue_datas.append(queue_data)

    def _tell_master(self, broker_data: BrokerAddrs, result: RegisterBrokerResult) -> None:
        master_addr = broker_data.broker_addrs.get(MASTER_ID)
        live_info = None if master_addr is None else self.broker_live_table.get(master_addr)
        if live_info is not None:
            result.ha_server_addr = live_info.ha_server_addr
            result.master_addr = master_addr

    def unregister_broker(self, cluster_name: str, broker_addr: str, broker_name: str, broker_id: int) -> None:
        """RouteInfoManager#unregisterBroker: the id goes whatever address it has by now."""
        self.broker_live_table.remove(broker_addr)
        self.filter_server_table.remove(broker_addr)
        broker_data = self.broker_addr_table.get(broker_name)
        if broker_data is None:
            return
        broker_data.broker_addrs.remove(broker_id)
        if not broker_data.broker_addrs.is_empty():
            return
        self.broker_addr_table.remove(broker_name)
        broker_names = self.cluster_addr_table.get(cluster_name)
        if broker_names is not None:
            broker_names.remove(broker_name)
            if broker_names.is_empty():
                self.cluster_addr_table.remove(cluster_name)
        self._remove_topic_by_broker_name(broker_name)

    def _remove_topic_by_broker_name(self, broker_name: str | None) -> None:
        """RouteInfoManager#removeTopicByBrokerName; a topic without queues goes too."""
        for topic, queue_datas in self.topic_queue_table.entries():
            queue_datas[:] = [data for data in queue_datas if data.broker_name != broker_name]
            if not queue_datas:
                self.topic_queue_table.remove(topic)

    def delete_topic(self, topic: str) -> None:
        """RouteInfoManager#deleteTopic: at all brokers, and not remembered."""
        self.topic_queue_table.remove(topic)

    def wipe_write_perm_of_broker_by_lock(self, broker_name: str) -> int:
        """RouteInfoManager#wipeWritePermOfBrokerByLock, in place: the number of queue entries of the broker."""
        return self._operate_write_perm_of_broker(broker_name, lambda perm: clear_flag(perm, PERM_WRITE))

    def add_write_perm_of_broker_by_lock(self, broker_name: str) -> int:
        """RouteInfoManager#addWritePermOfBrokerByLock: read and write, whatever was there before."""
        return self._operate_write_perm_of_broker(broker_name, lambda _: PERM_READ | PERM_WRITE)

    def _operate_write_perm_of_broker(self, broker_name: str, changed: Callable[[int], int]) -> int:
        topic_cnt = 0
        for queue_datas in self.topic_queue_table.values():
            for place, queue_data in enumerate(queue_datas):
                if queue_data.broker_name == broker_name:
                    queue_datas[place] = queue_data._replace(perm=changed(queue_data.perm))
                    topic_cnt += 1
        return topic_cnt

    # Code 322 calls these three without a lock ------------------------------------------------------------------------

    def is_broker_topic_config_changed(self, broker_addr: str, data_version: DataVersion) -> bool:
        """RouteInfoManager#isBrokerTopicConfigChanged; no lock of its own."""
        previous = self.query_broker_topic_config(broker_addr)
        return previous is None or previous != data_version

    def query_broker_topic_config(self, broker_addr: str) -> DataVersion | None:
        """RouteInfoManager#queryBrokerTopicConfig; no lock of its own."""
        live_info = self.broker_live_table.get(broker_addr)
        return None if live_info is None else live_info.data_version

    def update_broker_info_update_timestamp(self, broker_addr: str) -> None:
        """RouteInfoManager#updateBrokerInfoUpdateTimestamp; no lock. The stored channel stays the old one."""
        live_info = self.broker_live_table.get(broker_addr)
        if live_info is not None:
            live_info.last_update_timestamp = self.now_ms()

    # Liveness ---------------------------------------------------------------------------------------------------------

    async def scan_not_active_broker(self, threads: Interleave) -> None:
        """RouteInfoManager#scanNotActiveBroker, without a lock.

        Raises ConcurrentModificationError when an address came or went behind its back: the one thread of the
        scheduled executor then never runs it again.
        """
        iterator = self.broker_live_table.iterator()
        while iterator.has_next():
            entry = iterator.next()
            last = entry.value.last_update_timestamp
            await threads.interleave("scanNotActiveBroker: the timestamp has been read")
            if last + BROKER_CHANNEL_EXPIRED_TIME_MS < self.now_ms():
                entry.value.channel.close()
                iterator.remove()
                await threads.interleave("scanNotActiveBroker: before onChannelDestroy")
                await self.on_channel_destroy(entry.key, entry.value.channel, threads)
                await threads.interleave("scanNotActiveBroker: before the next address")

    async def on_channel_destroy(self, remote_addr: str | None, channel: Channel | None, threads: Interleave) -> None:
        """RouteInfoManager#onChannelDestroy: find under the read lock, let it go, remove under the write lock.

        remote_addr -- taken when no address has this channel; the address of a client normally matches nothing.
        """
        broker_addr = None
        if channel is not None:
            broker_addr = self.find_broker_addr(channel)
            await threads.interleave("onChannelDestroy: between the read lock and the write lock")
        broker_addr = remote_addr if broker_addr is None else broker_addr
        if broker_addr:
            self.remove_broker_addr(broker_addr)

    def find_broker_addr(self, channel: Channel) -> str | None:
        """The part of RouteInfoManager#onChannelDestroy under the read lock: the FIRST address with this channel."""
        for broker_addr, live_info in self.broker_live_table.entries():
            if live_info.channel is channel:
                return broker_addr
        return None

    def remove_broker_addr(self, broker_addr: str) -> None:
        """The part of RouteInfoManager#onChannelDestroy under the write lock; it does not look at the channel again."""
        self.broker_live_table.remove(broker_addr)
        self.filter_server_table.remove(broker_addr)
        broker_name, remove_broker_name = self._remove_first_id(broker_addr)
        if remove_broker_name:
            if broker_name is not None:
                self._remove_from_first_cluster(broker_name)
            self._remove_topic_by_broker_name(broker_name)

    def _remove_first_id(self, broker_addr: str) -> tuple[str | None, bool]:
        """Walk the names up to the first that has the address; also whether a name was left without any address."""
        remove_broker_name = False
        for broker_name, broker_data in self.broker_addr_table.entries():
            found = None
            for broker_id, addr in broker_data.broker_addrs.entries():
                if addr == broker_addr:
                    found = broker_data.broker_name
                    broker_data.broker_addrs.remove(broker_id)
                    break
            if broker_data.broker_addrs.is_empty():
                remove_broker_name = True
                self.broker_addr_table.remove(broker_name)
            if found is not None:
                return found, remove_broker_name
        return None, remove_broker_name

    def _remove_from_first_cluster(self, broker_name: str) -> None:
        for cluster_name, broker_names in self.cluster_addr_table.entries():
            if broker_names.remove(broker_name):
                if broker_names.is_empty():
                    self.cluster_addr_table.remove(cluster_name)
                return

    # Queries, under the read lock -------------------------------------------------------------------------------------

    def pickup_topic_route_data(self, topic: str) -> PickedUpRoute | None:
        """RouteInfoManager#pickupTopicRouteData: None without a queue or without a broker.

        An order configuration is added by the processor, if the name server is told to.
        """
        queue_datas = self.topic_queue_table.get(topic)
        if queue_datas is None:
            return None
        route = PickedUpRoute(queue_datas, [], {})
        broker_names: HashMap[str, bool] = HashMap()
        for queue_data in queue_datas:
            broker_names.put(queue_data.broker_name, True)
        for broker_name in broker_names.key_set():
            broker_data = self.broker_addr_table.get(broker_name)
            if broker_data is not None:
                route.broker_datas.append(broker_data.copy())
                for broker_addr in broker_data.broker_addrs.values():
                    route.filter_server_table[broker_addr] = self.filter_server_table.get(broker_addr)
        return route if route.broker_datas else None

    def get_all_cluster_info(self) -> tuple[HashMap[str, BrokerAddrs], HashMap[str, HashMap[str, bool]]]:
        """RouteInfoManager#getAllClusterInfo, without a lock: names and clusters, the live tables."""
        return self.broker_addr_table, self.cluster_addr_table

    def get_all_topic_list(self) -> list[str]:
        """RouteInfoManager#getAllTopicList."""
        return list(self.topic_queue_table.key_set())

    def get_system_topic_list(self) -> tuple[list[str], str | None]:
        """RouteInfoManager#getSystemTopicList: cluster and broker names, and one address of the first broker."""
        topics = list(self.cluster_addr_table.key_set())
        for broker_names in self.cluster_addr_table.values():
            topics.extend(broker_names.key_set())
        first_addrs = (data.broker_addrs.values()[0] for data in self.broker_addr_table.values() if data.broker_addrs)
        return _distinct(topics), next(first_addrs, None)

    def get_topics_by_cluster(self, cluster: str) -> list[str]:
        """RouteInfoManager#getTopicsByCluster; an unknown cluster is a swallowed NullPointerException: no topics."""
        broker_names = self.cluster_addr_table.get(cluster)
        if broker_names is None:
            return []
        return _distinct(
            topic
            for broker_name in broker_names.key_set()
            for topic, queue_datas in self.topic_queue_table.entries()
            if any(data.broker_name == broker_name for data in queue_datas)
        )

    def get_unit_topics(self) -> list[str]:
        """RouteInfoManager#getUnitTopics: by the flag of the first queue entry."""
        return self._topics_by_flag(lambda flag: has_flag(flag, FLAG_UNIT))

    def get_has_unit_sub_topic_list(self) -> list[str]:
        """RouteInfoManager#getHasUnitSubTopicList: by the flag of the first queue entry."""
        return self._topics_by_flag(lambda flag: has_flag(flag, FLAG_UNIT_SUB))

    def get_has_unit_sub_un_unit_topic_list(self) -> list[str]:
        """RouteInfoManager#getHasUnitSubUnUnitTopicList: by the flag of the first queue entry."""
        return self._topics_by_flag(lambda flag: not has_flag(flag, FLAG_UNIT) and has_flag(flag, FLAG_UNIT_SUB))

    def _topics_by_flag(self, fits: Callable[[int], bool]) -> list[str]:
        return [topic for topic, datas in self.topic_queue_table.entries() if datas and fits(datas[0].topic_sys_flag)]


def _distinct(topics: Iterable[str]) -> list[str]:
    """A HashSet of topics, in the order of their arrival."""
    return list(dict.fromkeys(topics))
