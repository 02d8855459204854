"""Allocation strategies of the running JVM: the six official ones from a description, and calls by the batch.

A call is [strategy, group, me, queues, ids]: queues and ids are JSON texts (rows [broker name, queue id, topic]; names;
`null`), the strategy a description as `official` takes it, or null for the one strategy of the worker.
Only the worker imports this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jpype

from stateful_tests.conformance.java.java_values import JavaValues

_PACKAGE = "org.apache.rocketmq.client.consumer.rebalance"


class Resolver:
    """AllocateMachineRoomNearby.MachineRoomResolver out of two Java maps; an absent name has no room."""

    def __init__(self, values: JavaValues, broker_rooms: Sequence[Any], id_rooms: Sequence[Any]) -> None:
        """broker_rooms and id_rooms -- [name, room] pairs."""
        self._brokers, self._ids = _map(values, broker_rooms), _map(values, id_rooms)

    def brokerDeployIn(self, queue: Any) -> Any:  # noqa: N802 -- Java's name, which the proxy looks up
        """The room of the queue's broker."""
        return self._brokers.get(queue.getBrokerName())

    def consumerDeployIn(self, client_id: Any) -> Any:  # noqa: N802 -- same
        """The room of a member."""
        return self._ids.get(client_id)


def _map(values: JavaValues, pairs: Sequence[Any]) -> Any:
    """A java.util.HashMap of texts."""
    result = jpype.JClass("java.util.HashMap")()
    for name, room in pairs:
        result.put(values.text(name), values.text(room))
    return result


def official(values: JavaValues, described: Mapping[str, Any]) -> Any:
    """A strategy of RocketMQ from its description: `strategy`, and what its constructor or setter takes.

    AVG, CIRCLE; HASH: virtual_nodes and hash (md5, the default; java, length, constant); CONFIG: queues (rows or null);
    ROOM: rooms (names or null); NEARBY: inner (a description or null), broker_rooms and id_rooms ([name, room] pairs;
    null: no resolver).
    What the constructor throws is raised.
    """
    return _MAKERS[described["strategy"]](values, described)


def _averagely(_values: JavaValues, _described: Mapping[str, Any]) -> Any:
    return jpype.JClass(f"{_PACKAGE}.AllocateMessageQueueAveragely")()


def _circle(_values: JavaValues, _described: Mapping[str, Any]) -> Any:
    return jpype.JClass(f"{_PACKAGE}.AllocateMessageQueueAveragelyByCircle")()


class Hash:
    """A HashFunction of the user; the texts stay in Java."""

    def __init__(self, function: Callable[[Any], int]) -> None:
        """Take a function of a Java String that answers a long."""
        self._function = function

    def hash(self, key: Any) -> Any:
        """HashFunction#hash."""
        return jpype.JLong(self._function(key))


_HASHES = {
    "java": Hash(lambda key: key.hashCode()), "length": Hash(lambda key: key.length()),
    "constant": Hash(lambda _key: 42),
}


def _hash(_values: JavaValues, described: Mapping[str, Any]) -> Any:
    strategy = jpype.JClass(f"{_PACKAGE}.AllocateMessageQueueConsistentHash")
    count, name = jpype.JInt(described["virtual_nodes"]), described["hash"]
    if name == "md5":
        return strategy(count)
    return strategy(count, jpype.JProxy("org.apache.rocketmq.common.consistenthash.HashFunction", inst=_HASHES[name]))


def _config(values: JavaValues, described: Mapping[str, Any]) -> Any:
    strategy = jpype.JClass(f"{_PACKAGE}.AllocateMessageQueueByConfig")()
    strategy.setMessageQueueList(values.queues(json.dumps(described["queues"])))
    return strategy


def _machine_room(values: JavaValues, described: Mapping[str, Any]) -> Any:
    strategy = jpype.JClass(f"{_PACKAGE}.AllocateMessageQueueByMachineRoom")()
    if described["rooms"] is not None:
        rooms = values.texts(json.dumps(described["rooms"]))
        strategy.setConsumeridcs(jpype.JClass("java.util.HashSet")(rooms))
    return strategy


def _nearby(values: JavaValues, described: Mapping[str, Any]) -> Any:
    inner = None if described["inner"] is None else official(values, described["inner"])
    resolver = None
    if described["broker_rooms"] is not None:
        tables = Resolver(values, described["broker_rooms"], described["id_rooms"])
        resolver = jpype.JProxy(f"{_PACKAGE}.AllocateMachineRoomNearby$MachineRoomResolver", inst=tables)
    return jpype.JClass(f"{_PACKAGE}.AllocateMachineRoomNearby")(inner, resolver)


_MAKERS: dict[str, Callable[[JavaValues, Mapping[str, Any]], Any]] = {
    "AVG": _averagely, "CIRCLE": _circle, "HASH": _hash, "CONFIG": _config, "ROOM": _machine_room, "NEARBY": _nearby,
}


def answer(values: JavaValues, strategy: Any, calls: Sequence[Sequence[Any]], counter: memoryview) -> str:
    """Make the calls in order; the answer as JSON text {results: [rows or null], errors: {call: [class, message]}}.

    strategy -- asked where a call describes none.
    counter -- the number of the call under way is kept in its first element, for whoever must kill this process.

    Each call gets lists of its own, and its result is copied at once: a strategy may change what it was given, or
    answer the same list again and again.
    """
    results, errors = values.new_list(), {}
    for number, (described, group, me, queues, ids) in enumerate(calls):
        counter[0] = number
        try:
            asked = strategy if described is None else official(values, described)
            arguments = (values.text(group), values.text(me), values.queues(queues), values.texts(ids))
            results.add(values.copied(asked.allocate(*arguments)))
        except jpype.JException as error:
            errors[number] = values.error(error)
            results.add(None)
        except UnicodeDecodeError:  # out of JPype's own handling of an exception
            arguments = (values.text(group), values.text(me), values.queues(queues), values.texts(ids))
            errors[number] = values.hidden_error(asked, "allocate", *arguments)
            results.add(None)
    return f'{{"results":{values.written(results)},"errors":{json.dumps(errors)}}}'
