"""Judges of histories (`invariants.history`): what name servers hold, and what slaves copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import (
    BrokerDropped,
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerUnregistered,
    BrokerUpdateTimestamp,
    ClockDrifts,
    ClockJumped,
    ProcessKilled,
    TopicDeleted,
    VersionQueried,
    WritePermWiped,
)
from impl.namesrv.route_info_manager import RouteInfoManager
from invariants.refinement.follower import Living
from invariants.refinement.judge import AfterHealing, Hearing, Judge

EXPIRED_MS = 120_000
COPIED_MS = 150_000
"""After a healing a slave learns who its master is, and copies it."""


class _RegistrationsKeepABroker(Judge):
    """Of registrations_keep_a_broker: not of name servers whose clocks were touched, nor of the end of a connection."""

    name = "registrations_keep_a_broker"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.last: dict[tuple[str, str], tuple[int, str]] = {}
        self.ended: set[tuple[str, str]] = set()
        self.touched: set[str] = set()

    def hears(self) -> Hearing:
        return {BrokerRegistered: self.registered, BrokerUpdateTimestamp: self.renewed,
                VersionQueried: self.queried, BrokerFound: self.end, BrokerLiveRemoved: self.removed, tuple: self.host}

    def registered(self, ms: int, machine: str, event: BrokerRegistered) -> None:
        if event.version is not None:
            self.last[machine, event.broker_addr] = ms, event.connection

    def renewed(self, ms: int, machine: str, event: BrokerUpdateTimestamp) -> None:
        known = self.last.get((machine, event.broker_addr))
        if known is not None:
            self.last[machine, event.broker_addr] = ms, known[1]

    def queried(self, _: int, machine: str, event: VersionQueried) -> None:
        """It speaks over this connection now."""
        known = self.last.get((machine, event.broker_addr))
        if known is not None and not event.changed:
            self.last[machine, event.broker_addr] = known[0], event.connection

    def end(self, _: int, machine: str, event: BrokerFound) -> None:
        self.ended.add((machine, event.connection))

    def removed(self, ms: int, machine: str, event: BrokerLiveRemoved) -> Iterator[str]:
        since_ms, connection = self.last.pop((machine, event.broker_addr), (-EXPIRED_MS, ""))
        if event.why == "expired" and ms - since_ms < EXPIRED_MS and machine not in self.touched:
            yield f"{machine} lets {event.broker_addr} expire {ms - since_ms} ms after it was heard of"
        if event.why == "destroyed" and connection and (machine, connection) not in self.ended:
            yield f"{machine} removes {event.broker_addr}, whose connection {connection} lasts"

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            for key in [key for key in self.last if key[0] == machine]:
                del self.last[key]
            self.ended = {key for key in self.ended if key[0] != machine}
        elif event.__class__ in (ClockJumped, ClockDrifts):
            self.touched.add(machine)


def _addresses(route_info: RouteInfoManager, broker_name: str) -> dict[int, str]:
    data = route_info.broker_addr_table.get(broker_name)
    return {} if data is None else dict(data.broker_addrs.entries())


def _queues(route_info: RouteInfoManager, broker_name: str) -> dict[str, object]:
    """Topic to the entry of the broker."""
    return {topic: data for topic, datas in route_info.topic_queue_table.entries() for data in datas
            if data.broker_name == broker_name}


class _GoodbyeFreesItsSenderOnly(Judge):
    """Of goodbye_frees_its_sender_only."""

    name = "goodbye_frees_its_sender_only"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.known: dict[tuple[str, str], dict[int, str]] = {}

    def hears(self) -> Hearing:
        return {BrokerRegistered: self.look, BrokerDropped: self.look_at_all, BrokerUnregistered: self.unregistered,
                tuple: self.host}

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            for key in [key for key in self.known if key[0] == machine]:
                del self.known[key]

    def look(self, _: int, machine: str, event: BrokerRegistered | BrokerUnregistered) -> None:
        namesrv = self.living.namesrv(machine)
        if namesrv is not None:
            self.known[machine, event.broker_name] = _addresses(namesrv.route_info, event.broker_name)

    def look_at_all(self, _: int, machine: str, __: BrokerDropped) -> None:
        namesrv = self.living.namesrv(machine)
        for where, broker_name in [*self.known] if namesrv is not None else ():
            if where == machine and namesrv is not None:
                self.known[where, broker_name] = _addresses(namesrv.route_info, broker_name)

    def unregistered(self, ms: int, machine: str, event: BrokerUnregistered) -> Iterator[str]:
        before = self.known.get((machine, event.broker_name), {})
        self.look(ms, machine, event)
        after = self.known.get((machine, event.broker_name), {})
        for broker_id, address in before.items():
            if address != event.broker_addr and after.get(broker_id) != address:
                yield f"{machine} removes {address} when {event.broker_addr} says goodbye"


class _KnownVersionChangesNothing(Judge):
    """Of known_version_changes_nothing: of a registration with the version that its broker had registered last."""

    name = "known_version_changes_nothing"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.known: dict[tuple[str, str], tuple[tuple[str, int, tuple[int, int] | None], dict[str, object]]] = {}

    def hears(self) -> Hearing:
        return {BrokerRegistered: self.registered, BrokerUnregistered: self.gone, BrokerDropped: self.gone,
                BrokerLiveRemoved: self.gone, TopicDeleted: self.gone, WritePermWiped: self.wiped, tuple: self.host}

    def registered(self, _: int, machine: str, event: BrokerRegistered) -> Iterator[str]:
        namesrv = self.living.namesrv(machine)
        if namesrv is None:
            return
        key, what = (machine, event.broker_name), (event.broker_addr, event.broker_id, event.version)
        known, queues = self.known.get(key), _queues(namesrv.route_info, event.broker_name)
        self.known[key] = what, queues
        if known is not None and known[0] == what and known[1] != queues:
            topic = min(topic for topic in {*queues, *known[1]} if queues.get(topic) != known[1].get(topic))
            yield f"{machine} changes its route of {topic} although {event.broker_addr} registers what it did before"

    def wiped(self, _: int, machine: str, event: WritePermWiped) -> None:
        namesrv, known = self.living.namesrv(machine), self.known.get((machine, event.broker_name))
        if namesrv is not None and known is not None:
            self.known[machine, event.broker_name] = known[0], _queues(namesrv.route_info, event.broker_name)

    def gone(self, _: int, machine: str, __: object) -> None:
        self._forget(machine)

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self._forget(machine)

    def _forget(self, machine: str) -> None:
        for key in [key for key in self.known if key[0] == machine]:
            del self.known[key]


class _SlaveFollowsItsMaster(AfterHealing):
    """Of slave_follows_its_master, while nothing changes any more."""

    name = "slave_follows_its_master"
    after_ms = COPIED_MS

    def look(self) -> Iterator[str]:
        brokers = [broker for machine in self.living.machines.brokers if (broker := self.living.broker(machine))]
        masters = {broker.config.broker_name: broker for broker in brokers if broker.config.broker_id == 0}
        for slave in brokers:
            master = masters.get(slave.config.broker_name)
            if slave.config.broker_id == 0 or master is None:
                continue
            for key, offsets in master.consumer_offset_manager.offset_table.entries():
                copied = slave.consumer_offset_manager.offset_table.get(key)
                if copied is None or dict(copied.entries()) != dict(offsets.entries()):
                    yield f"{slave.broker_addr} has other offsets of {key} than its master"
            mine, theirs = ({topic: config.read_queue_nums for topic, config in one.topic_config_table.entries()}
                            for one in (slave.topic_config_manager, master.topic_config_manager))
            for topic in sorted(topic for topic in {*mine, *theirs} if mine.get(topic) != theirs.get(topic)):
                yield f"{slave.broker_addr} has another {topic} than its master"


JUDGES: tuple[type[Judge], ...] = (
    _RegistrationsKeepABroker,
    _GoodbyeFreesItsSenderOnly,
    _KnownVersionChangesNothing,
    _SlaveFollowsItsMaster,
)
