"""The tables reproduce the recorded call sequences of the Java classes, and a fault planted in any table is noticed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.hash_map import ConcurrentHashMap, HashMap
from stateful_tests.conformance.adapters import broker_clients, client_tables, route_info
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.replay import Adapter, Row, lines, recordings

ADAPTERS: dict[str, Adapter] = {**broker_clients.ADAPTERS, **client_tables.ADAPTERS, **route_info.ADAPTERS}
SAMPLE = 80  # sequences of each family


def sample(name: str, rows: int = SAMPLE) -> Iterator[Row]:
    (path,) = recordings(RECORDINGS, [name])
    return (row for _, row in itertools.islice(lines(path), 1, rows + 1))


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_every_step_answers_and_leaves_the_tables_as_recorded(name: str) -> None:
    rows = list(sample(name))
    assert len(rows) == SAMPLE
    assert [found for found in map(ADAPTERS[name], rows) if found is not None] == []


def never(*_arguments: Any, **_named: Any) -> bool:
    return False


def nothing(*_arguments: Any, **_named: Any) -> None:
    return None


def by_arrival(self: HashMap[Any, Any]) -> Any:
    return tuple(self._entries.values())


def raise_only(self: Any, mq: MessageQueue | None, offset: int, *, increase_only: bool) -> None:
    del increase_only
    if mq is not None:
        self.offset_table.put(mq, max(offset, self.offset_table.get(mq, offset)))


def largest_offset(self: Any, msgs: Any) -> int:
    for msg in msgs:
        self.msg_tree_map.remove(msg.queue_offset)
    return self.msg_tree_map.first_key() if self.msg_tree_map else -1


def forgets_nothing(self: ConcurrentHashMap[Any, Any], key: Any) -> Any:
    return self.get(key)


# A recording, the name that is replaced inside the implementation, and what a careless port would put there.
OFFSETS = "broker.consumer_offset_manager"
FAULTS: list[tuple[str, str, Any]] = [
    ("broker-client-sequences", "broker.consumer_manager.CHANNEL_EXPIRED_TIMEOUT_MS", 119_999),
    ("broker-client-sequences", "broker.consumer_group_info.ConsumerGroupInfo.do_channel_close_event", never),
    ("broker-client-sequences", "broker.consumer_filter_manager.compile_expression", nothing),
    ("broker-client-sequences", "broker.consumer_filter_manager.FILTER_DATA_CLEAN_TIME_SPAN_MS", 10**9),
    ("broker-client-sequences", "broker.producer_manager.ProducerManager._remove_reply_channel", nothing),
    ("broker-client-sequences", "hash_map.HashMap.nodes", by_arrival),
    ("broker-offset-sequences", f"{OFFSETS}.ConsumerOffsetManager._delete_through_key_set", nothing),
    ("broker-offset-sequences", f"{OFFSETS}.TOPIC_GROUP_SEPARATOR", "#"),
    ("lock-sequences", "broker.rebalance_lock_manager.REBALANCE_LOCK_MAX_LIVE_TIME_MS", 59_999),
    ("lock-sequences", "hash_map.ConcurrentHashMap.remove", forgets_nothing),
    ("process-queue-sequences", "client.process_queue.ProcessQueue.remove_message", largest_offset),
    ("process-queue-sequences", "client.process_queue.PULL_MAX_IDLE_TIME_MS", 119_999),
    ("process-queue-sequences", "client.process_queue.ProcessQueue._note_accumulation", nothing),
    ("rebalance-sequences", "client.rebalance.CONSUME_PASSIVELY", "CONSUME_ACTIVELY"),
    ("rebalance-sequences", "client.rebalance.RebalanceImpl._mark_unlocked", nothing),
    ("rebalance-sequences", "client.process_queue.ProcessQueue.is_pull_expired", never),
    ("remote-offset-store-sequences", "client.offset_store.RemoteBrokerOffsetStore.update_offset", raise_only),
    ("remote-offset-store-sequences", "client.offset_store.READ_FAILED", -1),
    ("remote-offset-store-sequences", "client.offset_store.is_blank", never),
    ("route-sequences", "namesrv.route_info_manager.BROKER_CHANNEL_EXPIRED_TIME_MS", 119_999),
    ("route-sequences", "namesrv.route_info_manager.MASTER_ID", 1),
    ("route-sequences", "namesrv.route_info_manager.RouteInfoManager._remove_from_first_cluster", nothing),
    ("route-sequences-aliased", "hash_map.HashMap.nodes", by_arrival),
    ("route-sequences-aliased", "hash_map.ConcurrentModificationError", StopIteration),
]


@pytest.mark.parametrize(("name", "where", "fault"), FAULTS, ids=[f"{name}: {where}" for name, where, _ in FAULTS])
def test_a_planted_fault_is_noticed(name: str, where: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"impl.{where}", fault)
    found = next((found for found in map(ADAPTERS[name], sample(name, 10**6)) if found is not None), None)
    assert found is not None
    assert found.startswith("step ")
    assert "expected" in found


def test_every_family_has_a_planted_fault() -> None:
    assert {name for name, _, _ in FAULTS} == set(ADAPTERS)


def test_an_operation_that_the_adapter_does_not_know_is_never_equal() -> None:
    for adapter in ADAPTERS.values():
        scripted = {"seq": 0, "model": "CLUSTERING", "strategy": "AVG", "order": False, "type": "PASSIVELY", "me": "c1"}
        step: Row = {"op": "compact", "r": None, "s": {}, "calls": [], "ev": []}
        with pytest.raises(KeyError, match="compact"):
            adapter({**scripted, "steps": [step]})
