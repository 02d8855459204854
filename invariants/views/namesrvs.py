"""The tables of name servers."""

from __future__ import annotations

from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import QueueData
from impl.namesrv.route_info_manager import RouteInfoManager
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

    def address_of(self, namesrv: str, broker_name: str, broker_id: int = MASTER_ID) -> str | None:
        """Which address has this id of this name; None: none."""
        return self.addresses(namesrv).get((broker_name, broker_id))

    def registered(self, namesrv: str) -> dict[str, Registration]:
        """RouteInfoManager.brokerLiveTable: address to the connection of its registration."""
        table = self._route_info(namesrv)
        entries = () if table is None else table.broker_live_table.entries()
        return {addr: Registration(getattr(info.channel, "remote_address", ""), info.channel.is_active())
                for addr, info in entries}

    def _route_info(self, machine: str) -> RouteInfoManager | None:
        namesrv = self.living.namesrv(machine)
        return None if namesrv is None else namesrv.route_info
