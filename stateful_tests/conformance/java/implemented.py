"""The implementation's side of the live comparison: a strategy from the description that the worker gets too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from impl.decisions import allocation
from impl.decisions.java_arithmetic import string_hash
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import utf16_length
from impl.decisions.message_queue import MessageQueue
from stateful_tests.conformance.java.inputs import Input

Answer: TypeAlias = list[MessageQueue] | JavaError | None


@dataclass(frozen=True)
class Rooms:
    """A resolver out of two tables; an absent name has no room."""

    broker_rooms: Mapping[str, str]
    id_rooms: Mapping[str | None, str]

    def broker_deploy_in(self, message_queue: MessageQueue) -> str | None:
        """The room of the queue's broker."""
        return self.broker_rooms.get(message_queue.broker_name)

    def consumer_deploy_in(self, client_id: str) -> str | None:
        """The room of a member."""
        return self.id_rooms.get(client_id)


def _constant(text: str) -> int:
    del text
    return 42


_HASHES: Mapping[str, allocation.HashFunction] = {
    "md5": allocation.md5_hash, "java": string_hash, "length": utf16_length, "constant": _constant,
}


def implemented(described: Mapping[str, Any]) -> allocation.AllocateMessageQueueStrategy:
    """The implementation's strategy for a description; raises what its constructor raises."""
    match described["strategy"]:
        case "AVG":
            return allocation.AllocateMessageQueueAveragely()
        case "CIRCLE":
            return allocation.AllocateMessageQueueAveragelyByCircle()
        case "HASH":
            return allocation.AllocateMessageQueueConsistentHash(described["virtual_nodes"], _HASHES[described["hash"]])
        case "CONFIG":
            rows = described["queues"]
            return allocation.AllocateMessageQueueByConfig(
                None if rows is None else [MessageQueue(topic, broker, number) for broker, number, topic in rows],
            )
        case "ROOM":
            rooms = described["rooms"]
            return allocation.AllocateMessageQueueByMachineRoom(None if rooms is None else frozenset(rooms))
        case _:
            return _nearby(described)


def _nearby(described: Mapping[str, Any]) -> allocation.AllocateMachineRoomNearby:
    inner: Any = None if described["inner"] is None else implemented(described["inner"])
    tables: Any = None
    if described["broker_rooms"] is not None:
        tables = Rooms(dict(described["broker_rooms"]), dict(described["id_rooms"]))
    return allocation.AllocateMachineRoomNearby(inner, tables)


def implementation(given: Input) -> Answer:
    """The implementation's answer; a JavaError is returned. Anything else that it raises is raised."""
    try:
        scene = given.scene
        return implemented(given.strategy).allocate(scene.group, given.me, scene.queues, scene.ids)
    except JavaError as error:
        return error
