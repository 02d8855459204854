"""The tables of name servers: of those that live, and of one life that is followed."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import QueueData
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.namesrv.server import NamesrvController
from invariants.views.living import Living
from invariants.views.values import Registration


class NamesrvViews:
    """Of those that live; what is asked of another one is answered as if its tables were empty."""

    living: Living

    def namesrvs(self) -> list[str]:
        """The machines whose name servers live."""
        return [machine for machine in self.living.machines.namesrvs if self.living.namesrv(machine) is not None]

    def routed(self, namesrv: str, topic: str) -> list[str]:
        """The broker names in the route of a topic, sorted; empty if none of them is known: no route."""
        names = [data.broker_name for data in self.queue_datas(namesrv).get(topic, ())]
        table = self._route_info(namesrv)
        return sorted(names) if table and any(map(table.broker_addr_table.contains_key, names)) else []

    def queue_datas(self, namesrv: str) -> dict[str, tuple[QueueData, ...]]:
        """RouteInfoManager.topicQueueTable: topic to its queues at each broker name."""
        table = self._route_info(namesrv)
        return {} if table is None else {topic: tuple(datas) for topic, datas in table.topic_queue_table.entries()}

    def addresses(self, namesrv: str) -> dict[tuple[str, int], str]:
        """RouteInfoManager.brokerAddrTable: broker name and id to address."""
        table = self._route_info(namesrv)
        names = () if table is None else table.broker_addr_table.entries()
        return {(name, broker_id): addr for name, data in names for broker_id, addr in data.broker_addrs.entries()}

    def says_order(self, namesrv: str) -> bool:
        """NamesrvConfig.orderMessageEnable."""
        found = self.living.namesrv(namesrv)
        return found is not None and found.order_message_enable

    def clusters(self, namesrv: str) -> dict[str, tuple[str, ...]]:
        """RouteInfoManager.clusterAddrTable: cluster to its broker names, sorted."""
        table = self._route_info(namesrv)
        entries = () if table is None else table.cluster_addr_table.entries()
        return {cluster: tuple(sorted(names.key_set())) for cluster, names in entries}

    def address_of(self, namesrv: str, broker_name: str, broker_id: int = MASTER_ID) -> str | None:
        """Which address has this id of this name; None: none."""
        return self.addresses(namesrv).get((broker_name, broker_id))

    def registered(self, namesrv: str) -> dict[str, Registration]:
        """RouteInfoManager.brokerLiveTable: address to the connection of its registration."""
        table = self._route_info(namesrv)
        entries = () if table is None else table.broker_live_table.entries()
        return {addr: Registration(getattr(info.channel, "remote_address", ""), info.channel.is_active())
                for addr, info in entries}

    def key_values(self, namesrv: str) -> dict[str, str | None]:
        """KVConfigManager.configTable: "namespace key" to value."""
        found = self.living.namesrv(namesrv)
        tables = () if found is None else found.kv_config.config_table.entries()
        return {f"{namespace} {key}": value for namespace, table in tables for key, value in table.entries()}

    def _route_info(self, machine: str) -> RouteInfoManager | None:
        namesrv = self.living.namesrv(machine)
        return None if namesrv is None else namesrv.route_info


class Live(NamedTuple):
    """A BrokerLiveInfo. connection -- of the registration. last_update_timestamp -- in ms. version -- DataVersion."""

    connection: str
    last_update_timestamp: int
    version: tuple[int, int]


class RouteTables:
    """What RouteInfoManager's tables say whenever they are asked.

    controller -- of the name server.
    """

    def __init__(self, controller: NamesrvController) -> None:
        """Look at this one."""
        self.controller = controller
        self._table = controller.route_info

    def now_ms(self) -> int:
        """The clock of its machine."""
        return self.controller.node.now_ms()

    def names(self) -> dict[str, None]:
        """The broker names that have an address or topics, in the order of the tables."""
        with_topics = (data.broker_name for datas in self._table.topic_queue_table.values() for data in datas)
        return dict.fromkeys((*self._table.broker_addr_table.key_set(), *with_topics))

    def addresses(self, name: str) -> dict[int, str]:
        """RouteInfoManager.brokerAddrTable: broker id to address."""
        data = self._table.broker_addr_table.get(name)
        return {} if data is None else dict(data.broker_addrs.entries())

    def master(self, name: str) -> str | None:
        """The address that has the id 0."""
        return self.addresses(name).get(MASTER_ID)

    def live(self, addr: str) -> Live | None:
        """RouteInfoManager.brokerLiveTable: the entry of an address."""
        info = self._table.broker_live_table.get(addr)
        if info is None:
            return None
        version = info.data_version.timestamp, info.data_version.counter
        return Live(str(getattr(info.channel, "remote_address", "")), info.last_update_timestamp, version)

    def versions(self) -> dict[str, tuple[int, int]]:
        """RouteInfoManager.brokerLiveTable: address to data version."""
        return {addr: (info.data_version.timestamp, info.data_version.counter)
                for addr, info in self._table.broker_live_table.entries()}

    def topics(self, name: str) -> list[str]:
        """RouteInfoManager.topicQueueTable: the topics in which a broker name has queues."""
        return [topic for topic, datas in self._table.topic_queue_table.entries()
                if any(data.broker_name == name for data in datas)]

    def has_topics(self, name: str, topics: frozenset[str]) -> bool:
        """Whether a broker name has queues in all these topics."""
        return all(any(data.broker_name == name for data in self._table.topic_queue_table.get(topic) or ())
                   for topic in topics)
