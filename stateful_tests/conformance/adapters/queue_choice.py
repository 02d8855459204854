"""Recordings of a producer's choice of queues, and of the queues themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.decisions.fault_strategy import (
    LATENCY_MAX_MS,
    NOT_AVAILABLE_DURATION_MS,
    LatencyFaultTolerance,
    MQFaultStrategy,
    compute_not_available_duration,
)
from impl.decisions.java_arithmetic import boolean_hash, double_hash, long_hash, string_hash
from impl.decisions.java_errors import not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import ThreadLocalIndex, TopicPublishInfo, hash_position, machine_room_position
from impl.decisions.route_queues import (
    BrokerData,
    QueueData,
    TopicRouteData,
    sorted_queue_datas,
    topic_publish_queues,
    topic_route_data_is_change,
    topic_subscribe_queues,
)
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.replay import Adapter, Row

T0_MS = 1_700_000_000_000  # the clock at the start of each sequence
TOPIC = "T"  # of the queues made from a route


def _row(queue: MessageQueue) -> list[Any]:
    return [queue.topic, queue.broker_name, queue.queue_id]


def message_queue(row: Row) -> str | None:
    """Order, equality, hash and text; for null fields an error object stands in the place of the order."""
    left, right = (MessageQueue(*fields) for fields in row["a"])
    order, *others = row["r"]
    return (
        compare(order if isinstance(order, dict) else {"r": order}, lambda: left.compare_to(right), "compareTo")
        or difference(others, [left == right, left.java_hash(), left.text])
    )


_HASH_CODES: Mapping[str, Callable[[Any], int]] = {
    "String": string_hash, "Long": long_hash, "Double": double_hash,
    "Boolean": lambda value: boolean_hash(value=value), "Integer": lambda value: value, "hash": lambda value: value,
}


def queue_selector(row: Row) -> str | None:
    """By hash of an argument, by machine room."""
    arguments = row["a"]
    size, value = arguments["n"], arguments["value"]
    if arguments["selector"] == "ByMachineRoom":
        return compare(row, lambda: machine_room_position(size))
    hash_code = {"null": lambda _value: not_null(None), **_HASH_CODES}[arguments["type"]]
    return compare({"ByHash": row}[arguments["selector"]], lambda: hash_position(hash_code(value), size))


def thread_local_index(row: Row) -> str | None:
    """The counter from a stored value on."""
    counter = ThreadLocalIndex(row["a"]["start"])
    return compare(row, lambda: [counter.increment_and_get() for _ in range(row["a"]["calls"])])


def fault_duration(row: Row) -> str | None:
    """The back-off of a latency; null tables are the default ones."""
    latency_max, durations = row["a"]["latencyMax"], row["a"]["notAvailableDuration"]
    return compare(row, lambda: compute_not_available_duration(
        row["a"]["latency"], LATENCY_MAX_MS if latency_max is None else latency_max,
        NOT_AVAILABLE_DURATION_MS if durations is None else durations,
    ))


class _FaultRun:
    """One run of fault-strategy-sequences: the objects, the clock, and how each operation is called."""

    def __init__(self, row: Row) -> None:
        route = None if row["route"] is None else [(name, nums) for name, nums in row["route"]]
        queues = [MessageQueue(*fields) for fields in row["queues"]]
        self.info = TopicPublishInfo(queues, ThreadLocalIndex(row["index"]), route)
        self.tolerance = LatencyFaultTolerance(ThreadLocalIndex(row["worst"]))
        self.strategy = MQFaultStrategy(self.tolerance, send_latency_fault_enable=row["enabled"])
        self.now_ms = T0_MS

    def do(self, step: Row) -> Any:
        """Apply one step; answers what the recording calls r."""
        match step["op"]:
            case "update":
                self.strategy.update_fault_item(
                    step["broker"], step["latency"], isolation=step["isolation"], now_ms=self.now_ms,
                )
            case "select":
                place = self.strategy.select_one_position(self.info, step["last"], self.now_ms)
                return [_row(self.info.message_queue_list[place]), place]
            case "plain":
                return _row(self.info.message_queue_list[self.info.select_one_position()])
            case "pickOne":
                return self.tolerance.pick_one_at_least(self.now_ms)
            case "available":
                return self.tolerance.is_available(step["broker"], self.now_ms)
            case "tick":
                self.now_ms += step["ms"]
            case "setIndex":
                self.info.send_which_queue.index = step["value"]
            case "setWorst":
                self.tolerance.which_item_worst.index = step["value"]
        return None

    def state(self) -> dict[str, Any]:
        """The state after a step, in the recording's form."""
        items = self.tolerance.fault_item_table.values()
        return {
            "queues": [_row(queue) for queue in self.info.message_queue_list],
            "faults": {item.name: [item.current_latency_ms, item.start_timestamp_ms - T0_MS] for item in items},
            "index": self.info.send_which_queue.index,
            "worst": self.tolerance.which_item_worst.index,
        }


_FAULT_OPS = frozenset({"update", "select", "plain", "pickOne", "available", "tick", "setIndex", "setWorst"})


def fault_strategy(row: Row) -> str | None:
    """A run, up to the first step where two fault items compare equal (Java's shuffle decides there)."""
    run = _FaultRun(row)
    for number, step in enumerate(row["steps"]):
        if step["op"] not in _FAULT_OPS:
            raise ValueError(f"no operation {step['op']!r}")
        if step.get("tie"):
            return None
        recorded = {**step, "r": [step["r"], step["pos"]]} if step["op"] == "select" and "r" in step else step
        what = f"step {number} {step['op']}"
        found = compare(recorded, lambda step=step: run.do(step), what) or difference(step["s"], run.state(), what)  # type: ignore[misc]
        if found is not None:
            return found
        run.now_ms += step.get("tickAfter", 0)
    return None


def _route(row: Row | None) -> TopicRouteData | None:
    if row is None:
        return None
    brokers = tuple(
        BrokerData(cluster, name, {int(number): address for number, address in addresses.items()})
        for cluster, name, addresses in row["brokers"]
    )
    return TopicRouteData(tuple(QueueData(*fields) for fields in row["queues"]), brokers, row["order"])


def route_to_queues(row: Row) -> str | None:
    """Publish and subscribe lists; without a configured order the route's list is left sorted."""
    route = not_null(_route(row["a"]))

    def publish() -> dict[str, Any]:
        made = topic_publish_queues(TOPIC, route)
        return {"queues": [_row(queue) for queue in made.queues], "orderTopic": made.order_topic}

    datas = route.queue_datas if route.order_topic_conf else sorted_queue_datas(route.queue_datas)
    return (
        compare(row["subscribe"], lambda: [_row(queue) for queue in topic_subscribe_queues(TOPIC, route)], "subscribe")
        or compare(row["publish"], publish, "publish")
        or difference(row["sortedBrokers"], [data.broker_name for data in datas], "sortedBrokers")
    )


def route_change(row: Row) -> str | None:
    """Whether a route counts as changed."""
    old, new = map(_route, row["a"])
    return compare(row, lambda: topic_route_data_is_change(old, new))


ADAPTERS: dict[str, Adapter] = {
    "fault-duration": fault_duration,
    "fault-strategy-sequences": fault_strategy,
    "messagequeue-order": message_queue,
    "queue-selectors": queue_selector,
    "route-change": route_change,
    "route-to-queues": route_to_queues,
    "thread-local-index": thread_local_index,
}
