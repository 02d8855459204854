"""Small decisions of the running JVM: each answers the arguments `a` of a row of a recording with the rest of that row.

The names are those of the recordings, so that the adapters of `conform` compare a live row as they do a recorded one.
Only the worker imports this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import jpype

from stateful_tests.conformance.adapters.comparison import ANY_MESSAGE
from stateful_tests.conformance.java import message_bytes, message_inputs, text_inputs, texts
from stateful_tests.conformance.java.java_values import JavaValues

_HASH_TYPES = {"Integer": jpype.JInt, "Long": jpype.JLong, "Double": jpype.JDouble, "Boolean": jpype.JBoolean}


def _string_hash(values: JavaValues) -> Callable[[Any], dict[str, Any]]:
    """String#hashCode, and MessageExtBrokerInner#tagsString2tagsCode with either filter type and none."""
    filter_type = jpype.JClass("org.apache.rocketmq.common.TopicFilterType")
    types = {"single": filter_type.SINGLE_TAG, "multi": filter_type.MULTI_TAG, "none": None}
    tags_code = jpype.JClass("org.apache.rocketmq.store.MessageExtBrokerInner").tagsString2tagsCode

    def answer(argument: str | None) -> dict[str, Any]:
        text = values.text(argument)
        codes = {name: int(tags_code(filter_type, text)) for name, filter_type in types.items()}
        return {"hash": None if text is None else int(jpype.JString(text).hashCode()), **codes}

    return answer


def _message_queue_order(values: JavaValues) -> Callable[[Any], dict[str, Any]]:
    """MessageQueue#compareTo, #equals, #hashCode and #toString of [topic, broker name, queue id] pairs."""

    def answer(argument: Sequence[Sequence[Any]]) -> dict[str, Any]:
        left, right = (values.queue(broker, number, topic) for topic, broker, number in argument)
        text = json.loads(values.written(left.toString()))
        return {"r": [int(left.compareTo(right)), bool(left.equals(right)), int(left.hashCode()), text]}

    return answer


def _queue_selectors(values: JavaValues) -> Callable[[Any], dict[str, Any]]:
    """SelectMessageQueueByHash#select among n queues, for an argument of a type; the position chosen."""
    select = jpype.JClass("org.apache.rocketmq.client.producer.selector.SelectMessageQueueByHash")().select

    def answer(argument: dict[str, Any]) -> dict[str, Any]:
        queues = values.queues(json.dumps([["b", number, "T"] for number in range(argument["n"])]))
        value, kind = argument["value"], argument["type"]
        boxed = values.text(value) if kind == "String" else jpype.JObject(_HASH_TYPES[kind](value), f"java.lang.{kind}")
        return {"r": int(select(queues, None, boxed).getQueueId())}

    return answer


def _fault_duration(_values: JavaValues) -> Callable[[Any], dict[str, Any]]:
    """MQFaultStrategy#computeNotAvailableDuration, a private method, with given tables or the default ones."""
    strategy_class = jpype.JClass("org.apache.rocketmq.client.latency.MQFaultStrategy")
    method = strategy_class.class_.getDeclaredMethod("computeNotAvailableDuration", jpype.JLong)
    method.setAccessible(True)

    def answer(argument: dict[str, Any]) -> dict[str, Any]:
        strategy = strategy_class()
        if argument["latencyMax"] is not None:
            strategy.setLatencyMax(jpype.JArray(jpype.JLong)(argument["latencyMax"]))
        if argument["notAvailableDuration"] is not None:
            strategy.setNotAvailableDuration(jpype.JArray(jpype.JLong)(argument["notAvailableDuration"]))
        try:
            return {"r": int(method.invoke(strategy, jpype.JLong(argument["latency"])).longValue())}
        except jpype.JException as error:
            raise error.getCause() from error

    return answer


_DECISIONS: dict[str, Callable[[JavaValues], Callable[[Any], dict[str, Any]]]] = {
    "string-hash": _string_hash, "messagequeue-order": _message_queue_order, "queue-selectors": _queue_selectors,
    "fault-duration": _fault_duration, **{name: message_bytes.answering(name) for name in message_inputs.NAMES},
    **{name: texts.answering(name) for name in text_inputs.NAMES},
}


def _thrown(name: str, message: str | None) -> dict[str, Any]:
    """An exception as a row has it. What an index out of bounds is told in depends on the Java version."""
    return {"e": name, "m": ANY_MESSAGE if name.endswith("IndexOutOfBoundsException") else message}


def answer(values: JavaValues, decision: str, arguments: Sequence[Any]) -> str:
    """The rows of many arguments in order, without their `a`, as JSON text {rows}."""
    decided, rows = _DECISIONS[decision](values), []
    for argument in arguments:
        try:
            rows.append(decided(argument))
        except jpype.JException as error:
            rows.append(_thrown(*values.error(error)))
    return json.dumps({"rows": rows})
