"""A run as its pictures read it: what happened, in order, and what each event is about."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX

Record = tuple[int, str, Any]
"""True time in ms, machine, event."""
Things = Mapping[str, frozenset[Any]]
"""What an event is about: groups, topics, queues, clients, connections, peers, brokers and their names."""
_SAME = {"client_ids": "client", "members": "client", "client_id": "client", "holder": "client",
         "connection": "connection", "broker_name": "name", "broker_names": "name", "group": "group", "topic": "topic",
         "topics": "topic", "key": "key", "keys": "key", "server": "peer", "other": "peer", "target": "peer"}
_MEMBERS = {"member", "client"}  # as models call them
_ADDRESSES = {"broker_addr", "master_addr", "addrs", "addr", "address"}


class Message(Protocol):
    """A message of the run; see Flow of the simulation."""

    sent_ms: int
    source: str
    target: str
    message: Any
    thread: int
    sent_at: int
    received_ms: int | None
    received_at: int | None

    @property
    def answers(self) -> Message | None:
        """The request whose response it is."""
        ...


class Trail(Protocol):
    """Who did what after what; see Trail of the simulation."""

    @property
    def flows(self) -> Sequence[Any]:
        """Its messages."""
        ...

    @property
    def halts(self) -> Sequence[Any]:
        """Where threads were descheduled."""
        ...

    @property
    def waits(self) -> Sequence[Any]:
        """What its threads have waited for."""
        ...

    @property
    def closes(self) -> Sequence[Any]:
        """Which connections its threads have closed."""
        ...

    @property
    def put_off(self) -> Mapping[int, Any]:
        """By its thread, which job was put off."""
        ...

    @property
    def jobs(self) -> Mapping[int, str]:
        """By its thread, of which pool a job is."""
        ...

    def handled(self, flow: Any) -> bool:
        """Whether a thread has begun to handle a message."""
        ...

    def thread_of(self, at: int, machine: str) -> int:
        """The thread that made a record of a machine, or 0."""
        ...

    def request_of(self, thread: int) -> Any:
        """The message that a thread handles, or None."""
        ...

    def began(self, thread: int) -> tuple[int, int]:
        """When a thread began (ms), and how many records there were."""
        ...


class Log:
    """The records of a run with their trail; records are called by their index."""

    def __init__(self, records: Sequence[Record], trail: Trail) -> None:
        """Read them all."""
        self.records, self.trail = records, trail
        self.places: dict[tuple[str, type], list[int]] = defaultdict(list)
        self.of_thread: dict[int, list[int]] = defaultdict(list)
        self.names = {at: event.broker_name for _, at, event in records if event.__class__ is events.BrokerStarted}
        self._things: dict[int, Things] = {}
        self.threads = [trail.thread_of(place, at) for place, (_, at, _) in enumerate(records)]
        for place, (_, at, event) in enumerate(records):
            self.places[at, event.__class__].append(place)
            thread = self.threads[place]
            if thread and event.__class__ is not events.NumberDrawn:  # it says nothing of what the thread does
                self.of_thread[thread].append(place)

    def things(self, place: int) -> Things:
        """What a record is about."""
        if place not in self._things:
            _, at, event = self.records[place]
            self._things[place] = self.of_fields(at, zip(getattr(event, "_fields", ()), event, strict=False))
        return self._things[place]

    def of_fields(self, at: str, fields: Iterable[tuple[str, Any]]) -> Things:
        """What fields of an event of a machine are about."""
        found: dict[str, set[Any]] = defaultdict(set)
        given = dict(fields)
        for name, value in given.items():
            self._read(found, name, value)
        if given.get("namesrv", at) != at:
            found["peer"].add(given["namesrv"])
        if "queue_id" in given and "topic" in given:
            found["queue"].add((given["topic"], self.names.get(at, at), given["queue_id"]))
        return {name: frozenset(values) for name, values in found.items() if values}

    def _read(self, found: dict[str, set[Any]], name: str, value: Any) -> None:
        if value is None:
            return
        if name == "subscriptions":
            found["carried"].update(topic for topic, _, _ in value)
            return
        each = value if isinstance(value, tuple | frozenset) and not isinstance(value, MessageQueue) else (value,)
        for one in (value,) if name in _MEMBERS else each:
            if name not in _MEMBERS and isinstance(one, tuple) and not isinstance(one, MessageQueue):
                self._read(found, name, next((part for part in one if isinstance(part, MessageQueue)), None))
            elif isinstance(one, MessageQueue):
                found["queue"].add(tuple(one))
                found["topic"].add(one.topic)
            elif name in _MEMBERS:
                self._member(found, one)
            elif name in _ADDRESSES:
                found["broker"].add(machine(one))
            elif name in _SAME:
                found[_SAME[name]].add(one)
                if name == "connection":
                    found["peer"].add(machine(one))

    @staticmethod
    def _member(found: dict[str, set[Any]], member: Any) -> None:
        """What a model calls a member: by its client id, or by its connection."""
        named = str(member[0] if isinstance(member, tuple) and member else member)
        if named.rpartition(":")[2].isdecimal():
            found["connection"].add(named)
            found["peer"].add(machine(named))
        else:
            found["client"].add(named)

    def last(
        self, kinds: Iterable[type], before: int, agrees: Callable[[int], bool], at: str | None = None,
    ) -> int | None:
        """The last record of these classes, before a place, that agrees; at -- at this machine only."""
        best = -1
        for kind in kinds:
            for where in self.machines if at is None else (at,):
                places = self.places.get((where, kind), [])
                for index in range(bisect_left(places, before) - 1, -1, -1):
                    if places[index] <= best:
                        break
                    if agrees(places[index]):
                        best = places[index]
                        break
        return best if best >= 0 else None

    @cached_property
    def machines(self) -> tuple[str, ...]:
        """All that have reported something, in the order of their first record."""
        return tuple(dict.fromkeys(at for _, at, _ in self.records))

    @cached_property
    def speaking(self) -> frozenset[str]:
        """Those on which a part of RocketMQ runs that reports what it does."""
        return frozenset(at for _, at, event in self.records if event.__class__ not in events.HOST_EVENTS)

    @cached_property
    def sent(self) -> Mapping[int, Sequence[Any]]:
        """The requests that each thread has sent and waits for, in their order."""
        found: dict[int, list[Any]] = defaultdict(list)
        for flow in self.trail.flows:
            if flow.thread and not getattr(flow.message, "is_response", True) and not flow.message.oneway:
                found[flow.thread].append(flow)
        return found

    @cached_property
    def answers(self) -> Mapping[int, Any]:
        """By the identity of a request the answer to it that has arrived."""
        return {id(flow.answers): flow for flow in self.trail.flows
                if flow.answers is not None and flow.received_ms is not None}

    @cached_property
    def received(self) -> Mapping[int, Sequence[Any]]:
        """The responses that each thread was waiting for, in the order of their arrival."""
        found: dict[int, list[Any]] = defaultdict(list)
        for flow in self.trail.flows:
            if flow.answers is not None and flow.received_at is not None and flow.answers.thread:
                found[flow.answers.thread].append(flow)
        for flows in found.values():
            flows.sort(key=lambda one: one.received_at)
        return found


def machine(address: str) -> str:
    """The machine of "machine:port"."""
    return address.rpartition(":")[0] or address


def of_retries(topics: Iterable[Any]) -> bool:
    """Whether all of these topics, and at least one, are for messages that are to be consumed again."""
    named = [*topics]
    return bool(named) and all(str(topic).startswith(RETRY_GROUP_TOPIC_PREFIX) for topic in named)


def agree(one: Things, other: Things, names: Iterable[str]) -> bool:
    """Whether two share a value of each of these things that both have, and at least one is compared."""
    shared = [name for name in names if name in one and name in other]
    return bool(shared) and all(one[name] & other[name] for name in shared)
