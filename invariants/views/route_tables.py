"""The tables of one life of a name server."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.names import MASTER_ID
from impl.namesrv.server import NamesrvController


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
