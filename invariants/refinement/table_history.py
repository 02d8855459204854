"""Judges of histories (`invariants.history`): what name servers say of their tables, and what they let come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.broker.controller import BrokerController
from impl.decisions.flags import PERM_WRITE, clear_flag, has_flag
from impl.decisions.names import MASTER_ID, RMQ_SYS_SELF_TEST_TOPIC
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    KVConfigLoaded,
    KVConfigPut,
    ProcessKilled,
    ProcessStarted,
    RouteAnswered,
    TopicConfigUpdated,
    TopicDeleted,
    WritePermAdded,
    WritePermWiped,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import KNOWN_MS, AfterHealing, Hearing, Judge, Names, machine_of

DEAD_MS = 60_000
"""Whoever ended so long ago is known to be dead: the end of a connection is told at once."""


class _RouteFitsTogether(Judge):
    """Of route_fits_together."""

    name = "route_fits_together"

    def hears(self) -> Hearing:
        return {RouteAnswered: self.answered}

    def answered(self, _: int, machine: str, event: RouteAnswered) -> Iterator[str] | None:
        if event.queue_names == event.broker_names:
            return None
        name = min(event.queue_names ^ event.broker_names)
        lacks = "addresses" if name in event.queue_names else "queues"
        return iter((f"{machine} answers a route of {event.topic} with {name} and none of its {lacks}",))


class _RoutesLeadToTheLiving(Judge):
    """Of routes_lead_to_the_living. ended_ms -- machine to when its process ended, while it runs no other."""

    name = "routes_lead_to_the_living"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.ended_ms: dict[str, int] = {}

    def hears(self) -> Hearing:
        return {RouteAnswered: self.answered, tuple: self.host}

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        """What is started again is alive."""
        if event.__class__ is ProcessKilled:
            self.ended_ms[machine] = ms
        elif event.__class__ is ProcessStarted:
            self.ended_ms.pop(machine, None)

    def answered(self, ms: int, machine: str, event: RouteAnswered) -> Iterator[str]:
        for addr in sorted(event.addrs) if self.ended_ms else ():
            dead_ms = ms - self.ended_ms.get(machine_of(addr), ms)
            if dead_ms > DEAD_MS:
                yield f"{machine} leads clients of {event.topic} to {addr}, where nobody has lived for {dead_ms} ms"


class _RoutesSayWhatBrokersHave(AfterHealing):
    """Of routes_say_what_brokers_have: of masters that live.

    wiped -- name servers, and names of brokers whose permission to write was wiped there, once.
    """

    name = "routes_say_what_brokers_have"
    after_ms = KNOWN_MS

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.wiped: set[tuple[str, str]] = set()

    def hears(self) -> Hearing:
        return {**super().hears(), WritePermWiped: self.wipe}

    def wipe(self, _: int, machine: str, event: WritePermWiped) -> None:
        self.wiped.add((machine, event.broker_name))

    def look(self) -> Iterator[str]:
        masters: dict[str, list[BrokerController]] = {}
        for machine in self.living.machines.brokers:
            broker = self.living.broker(machine)
            if broker is not None and broker.config.broker_id == MASTER_ID:
                masters.setdefault(broker.config.broker_name, []).append(broker)
        for machine in self.living.machines.namesrvs:
            for topic, data in _queue_datas(self.living, machine):
                here = masters.get(data.broker_name, ())
                wiped = (machine, data.broker_name) in self.wiped
                if here and not any(_says(data, broker, topic, wiped=wiped) for broker in here):
                    yield f"{machine} routes {topic} to {data.broker_name} as {tuple(data[1:])}, which it is not there"


def _says(data: QueueData, broker: BrokerController, topic: str, *, wiped: bool) -> bool:
    config = broker.topic_config_manager.select_topic_config(topic)
    if config is None:
        return False
    right = config.read_queue_nums, config.write_queue_nums, config.perm, config.topic_sys_flag
    return data[1:] == right or (wiped and data[1:] == (*right[:2], clear_flag(config.perm, PERM_WRITE), right[3]))


def _queue_datas(living: Living, machine: str) -> Iterator[tuple[str, QueueData]]:
    """What a name server that lives has in topicQueueTable: topic and entry."""
    namesrv = living.namesrv(machine)
    for topic, datas in () if namesrv is None else namesrv.route_info.topic_queue_table.entries():
        for data in datas:
            yield topic, data


class _TakenAwayStaysAway(Judge):
    """Of what_is_taken_away_stays_away.

    wiped -- name server and broker name. listed -- the same to what the broker has registered; deleted -- to what of it
    was deleted since. A topic that its broker creates anew, or has no longer, is not one that was deleted.
    """

    name = "what_is_taken_away_stays_away"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()
        self.wiped: set[tuple[str, str]] = set()
        self.listed: dict[tuple[str, str], frozenset[str]] = {}
        self.deleted: dict[tuple[str, str], set[str]] = {}

    def hears(self) -> Hearing:
        return {WritePermWiped: self.wipe, WritePermAdded: self.add, TopicDeleted: self.delete,
                TopicConfigUpdated: self.create, BrokerRegistered: self.registered,
                BrokerStarted: self.names.started, tuple: self.host}

    def wipe(self, _: int, machine: str, event: WritePermWiped) -> None:
        if any(data.broker_name == event.broker_name for _, data in _queue_datas(self.living, machine)):
            self.wiped.add((machine, event.broker_name))

    def add(self, _: int, machine: str, event: WritePermAdded) -> None:
        self.wiped.discard((machine, event.broker_name))

    def delete(self, _: int, machine: str, event: TopicDeleted) -> None:
        for key, topics in self.listed.items():
            if key[0] == machine and event.topic in topics:
                self.deleted.setdefault(key, set()).add(event.topic)

    def create(self, _: int, machine: str, event: TopicConfigUpdated) -> None:
        started = self.names.brokers.get(machine)
        for key, topics in self.deleted.items():
            if started is not None and started.broker_name == key[1]:
                topics.discard(event.topic)

    def registered(self, _: int, machine: str, event: BrokerRegistered) -> Iterator[str]:
        key = machine, event.broker_name
        if event.broker_id == MASTER_ID and RMQ_SYS_SELF_TEST_TOPIC in event.topics:  # then it has no others
            self.listed[key] = event.topics
            self.deleted.get(key, set()).intersection_update(event.topics)
        if key in self.wiped or self.deleted.get(key):
            for topic, data in _queue_datas(self.living, machine):
                if data.broker_name == event.broker_name and topic in self.deleted.get(key, ()):
                    yield f"{machine} routes {topic} to {data.broker_name} again, where it was deleted"
                elif data.broker_name == event.broker_name and key in self.wiped and has_flag(data.perm, PERM_WRITE):
                    yield f"{machine} lets {topic} be written at {data.broker_name} again, whose permission was wiped"

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self.wiped = {key for key in self.wiped if key[0] != machine}
            for key in [key for key in self.listed if key[0] == machine]:
                del self.listed[key]
                self.deleted.pop(key, None)


class _IdIsNotTakenBack(Judge):
    """Of id_is_not_taken_back.

    holder -- name server, broker name and id to the address that has it. before -- the same to those from which others
    have taken it.
    """

    name = "id_is_not_taken_back"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.holder: dict[tuple[str, str, int], str] = {}
        self.before: dict[tuple[str, str, int], set[str]] = {}

    def hears(self) -> Hearing:
        return {BrokerRegistered: self.registered, BrokerLiveRemoved: self.removed, tuple: self.host}

    def registered(self, _: int, machine: str, event: BrokerRegistered) -> Iterator[str]:
        key, addr = (machine, event.broker_name, event.broker_id), event.broker_addr
        holder = self.holder.get(key)
        self.holder[key] = addr
        if holder is not None and holder != addr:
            before = self.before.setdefault(key, set())
            before.add(holder)
            if addr in before:
                before.discard(addr)
                yield f"{machine} gives id {event.broker_id} of {event.broker_name} back from {holder} to {addr}"

    def removed(self, _: int, machine: str, event: BrokerLiveRemoved) -> None:
        for key in [key for key, addr in self.holder.items() if key[0] == machine and addr == event.broker_addr]:
            del self.holder[key]
            self.before.pop(key, None)

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            for key in [key for key in self.holder if key[0] == machine]:
                del self.holder[key]
                self.before.pop(key, None)


class _KeyValuesSurvive(Judge):
    """Of key_values_survive; who loses power may lose its file. values -- machine to namespace and key to value."""

    name = "key_values_survive"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.values: dict[str, dict[tuple[str, str], str | None]] = {}

    def hears(self) -> Hearing:
        return {KVConfigPut: self.put, KVConfigLoaded: self.loaded, tuple: self.host}

    def put(self, _: int, machine: str, event: KVConfigPut) -> None:
        self.values.setdefault(machine, {})[event.namespace, event.key] = event.value

    def loaded(self, _: int, machine: str, event: KVConfigLoaded) -> Iterator[str]:
        found = {(namespace, key): value for namespace, key, value in event.values}
        for (namespace, key), value in self.values.pop(machine, {}).items():
            if found.get((namespace, key)) != value:
                yield f"{machine} starts with {found.get((namespace, key))} for {key} of {namespace}, not with {value}"

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled and event.power_loss:
            self.values.pop(machine, None)


JUDGES: tuple[type[Judge], ...] = (
    _RouteFitsTogether, _RoutesLeadToTheLiving, _RoutesSayWhatBrokersHave, _TakenAwayStaysAway, _IdIsNotTakenBack,
    _KeyValuesSurvive,
)
