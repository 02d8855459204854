"""Recordings of the six allocation strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from impl.decisions.allocation import (
    AllocateMachineRoomNearby,
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByConfig,
    AllocateMessageQueueByMachineRoom,
    AllocateMessageQueueConsistentHash,
    AllocateMessageQueueStrategy,
    HashFunction,
    md5_hash,
)
from impl.decisions.java_arithmetic import string_hash, wrap64
from impl.decisions.java_text import utf16_length, utf16_units
from impl.decisions.message_queue import MessageQueue
from stateful_tests.conformance.adapters.comparison import compare
from stateful_tests.conformance.replay import Adapter, Row

_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def _queues(rows: list[Any] | None) -> list[MessageQueue] | None:
    return None if rows is None else [MessageQueue(*row) for row in rows]


def _shared(rows: list[Any] | None, asked: list[MessageQueue] | None) -> list[MessageQueue] | None:
    """A configured list: while recording it held the asked objects themselves, each once, where they are equal."""
    if rows is None:
        return None
    free = list(asked or ())
    shared = []
    for queue in (MessageQueue(*row) for row in rows):
        place = free.index(queue) if queue in free else None
        shared.append(queue if place is None else free.pop(place))
    return shared


def _positions(asked: list[MessageQueue] | None, answered: list[MessageQueue] | None) -> list[Any] | None:
    """The answer as positions in the asked list, found by identity; a foreign queue is spelt out."""
    if answered is None:
        return None
    places = {id(queue): place for place, queue in enumerate(asked or ())}
    return [places.get(id(queue), [queue.topic, queue.broker_name, queue.queue_id]) for queue in answered]


def _allocate(
    arguments: Row, asked: list[MessageQueue] | None, make: Callable[[], AllocateMessageQueueStrategy],
) -> Callable[[], Any]:
    """A call that makes the strategy (its constructor may refuse) and answers positions in the asked list."""
    group, cid, members = arguments["group"], arguments["cid"], arguments["cidAll"]
    return lambda: _positions(asked, make().allocate(group, cid, asked, members))


_THREE: Mapping[str, AllocateMessageQueueStrategy] = {
    "AVG": AllocateMessageQueueAveragely(),
    "CIRCLE": AllocateMessageQueueAveragelyByCircle(),
    "HASH": AllocateMessageQueueConsistentHash(),
}


def average_circle_hash(row: Row) -> str | None:
    """One input, three strategies."""
    asked = _queues(row["a"]["mqAll"])
    for name, strategy in _THREE.items():
        found = compare(row[name], _allocate(row["a"], asked, lambda strategy=strategy: strategy), name)  # type: ignore[misc]
        if found is not None:
            return found
    return None


def config(row: Row) -> str | None:
    """The configured list, as queues."""
    arguments = row["a"]
    strategy = AllocateMessageQueueByConfig(_queues(arguments["config"]))
    asked, members = _queues(arguments["mqAll"]), arguments["cidAll"]

    def call() -> list[list[Any]] | None:
        answered = strategy.allocate(arguments["group"], arguments["cid"], asked, members)
        return None if answered is None else [[mq.topic, mq.broker_name, mq.queue_id] for mq in answered]

    return compare(row, call)


def machine_room(row: Row) -> str | None:
    """Rooms in broker names."""
    rooms = row["a"]["consumeridcs"]
    strategy = AllocateMessageQueueByMachineRoom(None if rooms is None else frozenset(rooms))
    return compare(row, _allocate(row["a"], _queues(row["a"]["mqAll"]), lambda: strategy))


def _fnv64(text: str) -> int:
    result = _FNV_OFFSET
    for unit in utf16_units(text):
        result = ((result ^ unit) * _FNV_PRIME) % 2**64
    return wrap64(result)


def _negative_hash(text: str) -> int:
    return wrap64(-string_hash(text) * 1000003)


def _constant(text: str) -> int:
    del text
    return 42


_HASHES: Mapping[str, HashFunction] = {
    "md5": md5_hash, "java": string_hash, "negjava": _negative_hash, "len": utf16_length, "const": _constant,
    "fnv64": _fnv64,
}


def consistent_hash(row: Row) -> str | None:
    """Other counts of virtual nodes, other hash functions."""
    count, hash_function = row["a"]["vnodes"], _HASHES[row["a"]["hash"]]
    asked = _queues(row["a"]["mqAll"])
    return compare(row, _allocate(row["a"], asked, lambda: AllocateMessageQueueConsistentHash(count, hash_function)))


@dataclass(frozen=True)
class _Tables:
    """The resolver of a row: rooms by broker name or by the parity of the queue's id, and by member."""

    broker_rooms: Mapping[str, str | None]
    cid_rooms: Mapping[str, str | None]
    by_parity: bool

    def broker_deploy_in(self, message_queue: MessageQueue) -> str | None:
        """The room of a queue."""
        if self.by_parity:
            return f"r{message_queue.queue_id & 1}"
        return self.broker_rooms.get(message_queue.broker_name)

    def consumer_deploy_in(self, client_id: str) -> str | None:
        """The room of a member."""
        return self.cid_rooms.get(client_id)


def nearby(row: Row) -> str | None:
    """An inner strategy and a resolver; a null one is refused by the constructor."""
    arguments = row["a"]
    asked, rooms = _queues(arguments["mqAll"]), arguments["consumeridcs"]
    inners: Mapping[str, Any] = {
        **_THREE, "NULL": None, "CONFIG": AllocateMessageQueueByConfig(_shared(arguments["config"], asked)),
        "ROOM": AllocateMessageQueueByMachineRoom(None if rooms is None else frozenset(rooms)),
    }
    tables = _Tables(arguments["brokerRooms"], arguments["cidRooms"], arguments["resolver"] == "queueParity")
    resolvers: Mapping[str, Any] = {"table": tables, "queueParity": tables, "nullResolver": None}
    inner, resolver = inners[arguments["inner"]], resolvers[arguments["resolver"]]
    return compare(row, _allocate(arguments, asked, lambda: AllocateMachineRoomNearby(inner, resolver)))


_CLASSES: Mapping[str, Callable[[], AllocateMessageQueueStrategy]] = {
    "AllocateMessageQueueAveragely": AllocateMessageQueueAveragely,
    "AllocateMessageQueueAveragelyByCircle": AllocateMessageQueueAveragelyByCircle,
    "AllocateMessageQueueConsistentHash": AllocateMessageQueueConsistentHash,
    "AllocateMessageQueueByConfig": AllocateMessageQueueByConfig,
    "AllocateMessageQueueByMachineRoom": AllocateMessageQueueByMachineRoom,
}


def strategy_name(row: Row) -> str | None:
    """`Class`, or `AllocateMachineRoomNearby(Class)`."""
    outer, _, inner = row["a"].removesuffix(")").rpartition("(")
    strategy = _CLASSES[inner]()
    if outer:
        strategy = {"AllocateMachineRoomNearby": AllocateMachineRoomNearby}[outer](strategy, _Tables({}, {}, False))
    return compare(row, lambda: strategy.name)


ADAPTERS: dict[str, Adapter] = {
    "allocation-average-circle-hash": average_circle_hash,
    "allocation-config": config,
    "allocation-consistent-hash-params": consistent_hash,
    "allocation-machine-room": machine_room,
    "allocation-names": strategy_name,
    "allocation-nearby": nearby,
}
