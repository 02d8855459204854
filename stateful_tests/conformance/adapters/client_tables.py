"""Recordings of a client's tables: process queue, rebalance, offset store."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from impl.client.offset_store import FindBrokerResult, MQBrokerError, ReadOffsetType, RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue, TreeMap
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.common.heartbeat_data import CONSUME_ACTIVELY, CONSUME_PASSIVELY
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_MAX_OFFSET
from impl.decisions.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByConfig,
    AllocateMessageQueueConsistentHash,
    AllocateMessageQueueStrategy,
)
from impl.decisions.java_errors import JavaRuntimeError, MQClientError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import IllegalStateError
from impl.ports.threads import UNINTERRUPTED, Threads, run_now
from stateful_tests.conformance.adapters.sequence import (
    T0,
    ControlledClock,
    Operations,
    queue,
    queue_fields,
    replay_steps,
)
from stateful_tests.conformance.replay import Adapter, Row

GROUP = "G"
QUERY_NOT_FOUND = 22  # ResponseCode of a broker that has no offset
THROWS = -99  # the scripted start offset that stands for MQClientException
STRATEGIES: dict[str, AllocateMessageQueueStrategy] = {
    "AVG": AllocateMessageQueueAveragely(),
    "CIRCLE": AllocateMessageQueueAveragelyByCircle(),
    "HASH": AllocateMessageQueueConsistentHash(),
    "CONFIG": AllocateMessageQueueByConfig(),
}


def _message(queue_offset: int, body_length: int, max_offset: str | None = None) -> MessageExt:
    """A message as recordings write it: its offset, the length of its body (-1: none), the text of MAX_OFFSET."""
    body = None if body_length < 0 else bytes(body_length)
    return MessageExt(queue_offset, body, {} if max_offset is None else {PROPERTY_MAX_OFFSET: max_offset})


class _ProcessQueueRun(ControlledClock):
    """One process queue."""

    def __init__(self) -> None:
        super().__init__()
        self.pq = ProcessQueue(self.now_ms)
        self.operations: Operations = {
            "put": lambda step: self.pq.put_message(_messages(step)),
            "remove": lambda step: self.pq.remove_message(_messages(step)),
            "take": lambda step: [msg.queue_offset for msg in self.pq.take_messages(step["n"])],
            "commit": lambda _: self.pq.commit(),
            "rollback": lambda _: self.pq.rollback(),
            "again": lambda step: self.pq.make_message_to_consume_again(_messages(step)),
            "clear": lambda _: self.pq.clear(),
            "tick": self.tick,
            "flags": self._flags,
            "pullNow": self._pull_now,
            "lockNow": self._lock_now,
            "info": self._info,
        }

    def _flags(self, step: Row) -> None:
        self.pq.dropped, self.pq.locked = step["dropped"], step["locked"]

    def _pull_now(self, step: Row) -> None:
        del step
        self.pq.last_pull_timestamp = self.now_ms()

    def _lock_now(self, step: Row) -> None:
        del step
        self.pq.last_lock_timestamp = self.now_ms()

    def _info(self, step: Row) -> dict[str, Any]:
        del step
        info = self.pq.fill_process_queue_info()
        return {
            "cachedMin": info.cached_msg_min_offset,
            "cachedMax": info.cached_msg_max_offset,
            "cachedCount": info.cached_msg_count,
            "cachedMiB": info.cached_msg_size_in_mib,
            "transMin": info.transaction_msg_min_offset,
            "transMax": info.transaction_msg_max_offset,
            "transCount": info.transaction_msg_count,
            "locked": info.locked,
            "dropped": info.dropped,
        }

    def observed(self, step: Row) -> dict[str, Any]:
        del step
        pq = self.pq
        return {
            "s": {
                "tree": _tree_fields(pq.msg_tree_map),
                "taken": _tree_fields(pq.consuming_msg_orderly_tree_map),
                "count": pq.msg_count,
                "size": pq.msg_size_bytes,
                "offsetMax": pq.queue_offset_max,
                "consuming": pq.consuming,
                "acc": pq.msg_acc_cnt,
                "span": pq.get_max_span(),
                "hasTemp": pq.has_temp_message(),
                "dropped": pq.dropped,
                "locked": pq.locked,
                "lastConsume": pq.last_consume_timestamp - T0,
                "lastPull": pq.last_pull_timestamp - T0,
                "lastLock": pq.last_lock_timestamp - T0,
                "lockExpired": pq.is_lock_expired(),
                "pullExpired": pq.is_pull_expired(),
            },
        }


def _messages(step: Row) -> list[MessageExt]:
    return [_message(*fields) for fields in step["msgs"]]


def _tree_fields(tree: TreeMap) -> list[list[int]]:
    return [[msg.queue_offset, -1 if msg.body is None else len(msg.body)] for msg in tree.values()]


class _ScriptedBrokers:
    """The brokers that a client calls, as a recording scripts them, and the calls that they got."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.calls: list[list[Any]] = []
        self.no_addr: list[str] = []

    def find_broker_address_in_subscribe(
        self, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        """Every broker has one address, unless the script takes it away."""
        del broker_id, only_this_broker
        return None if broker_name in self.no_addr else FindBrokerResult(f"addr-{broker_name}", slave=False)

    def set_no_addr(self, step: Row) -> None:
        """The operation `noAddr`."""
        self.no_addr = step["brokers"]

    def calls_of_step(self) -> list[list[Any]]:
        """The calls since the last step, in an order that does not depend on hash tables."""
        calls, self.calls = self.calls, []
        return in_any_order(calls)


def in_any_order(calls: list[list[Any]]) -> list[list[Any]]:
    """A multiset of calls."""
    return sorted(calls, key=json.dumps)


class _LockingBrokers(_ScriptedBrokers):
    """RebalanceRpc."""

    def __init__(self, client_id: str) -> None:
        super().__init__(client_id)
        self.refused: list[MessageQueue] = []
        self.failing_addrs: list[str] = []
        self.cids: dict[str, list[str] | None] = {}

    async def find_consumer_id_list(self, topic: str, group: str) -> Sequence[str] | None:
        """The scripted members."""
        del group
        return self.cids.get(topic)

    async def lock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int,
    ) -> Collection[MessageQueue]:
        """Grants all but the refused ones, or throws."""
        del group, timeout_ms
        self.calls.append(["lockBatch", addr, [queue_fields(mq) for mq in sorted(mqs)]])
        self._fail(addr)
        return [mq for mq in mqs if mq not in self.refused]

    async def unlock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int, *, oneway: bool,
    ) -> None:
        """Succeeds or throws."""
        del group, timeout_ms
        self.calls.append(["unlockBatch", addr, [queue_fields(mq) for mq in sorted(mqs)], oneway])
        self._fail(addr)

    def _fail(self, addr: str) -> None:
        if addr in self.failing_addrs:
            raise JavaRuntimeError("scripted failure")


class _ScriptedRebalance(RebalanceImpl):
    """The recorder's subclass: every hook writes its call down and answers what the script says."""

    def __init__(self, row: Row, brokers: _LockingBrokers, clock: ControlledClock) -> None:
        super().__init__(GROUP, row["model"], STRATEGIES[row["strategy"]], brokers, clock.now_ms)
        self.brokers = brokers
        self.type = {"PASSIVELY": CONSUME_PASSIVELY, "ACTIVELY": CONSUME_ACTIVELY}[row["type"]]
        self.kept: list[MessageQueue] = []
        self.starts: dict[MessageQueue, int] = {}

    async def message_queue_changed(
        self, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue], threads: Threads,
    ) -> None:
        del threads
        both = ([queue_fields(mq) for mq in sorted(mqs)] for mqs in (mq_all, mq_divided))
        self.brokers.calls.append(["changed", topic, *both])

    async def remove_unnecessary_message_queue(self, mq: MessageQueue, pq: ProcessQueue, threads: Threads) -> bool:
        del pq, threads
        answer = mq not in self.kept
        self.brokers.calls.append(["remove", queue_fields(mq), answer])
        return answer

    def consume_type(self) -> str:
        return self.type

    def remove_dirty_offset(self, mq: MessageQueue) -> None:
        self.brokers.calls.append(["dirty", queue_fields(mq)])

    async def compute_pull_from_where_with_exception(self, mq: MessageQueue, threads: Threads) -> int:
        del threads
        value = self.starts.get(mq, 0)
        self.brokers.calls.append(["from", queue_fields(mq), value])
        if value == THROWS:
            raise MQClientError("scripted failure")
        return value

    async def dispatch_pull_request(self, pull_request_list: list[PullRequest]) -> None:
        requests = sorted((one.message_queue, one.next_offset) for one in pull_request_list)
        self.brokers.calls.append(["dispatch", [[queue_fields(mq), offset] for mq, offset in requests]])


class _RebalanceRun(ControlledClock):
    """The process-queue table of one consumer."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.brokers = brokers = _LockingBrokers(row["me"])
        self.rebalance = rebalance = _ScriptedRebalance(row, brokers, self)
        self.is_order: bool = row["order"]
        self.operations: Operations = {
            "subscribe": lambda step: self._subscribe(step["topic"]),
            "unsubscribe": lambda step: self._unsubscribe(step["topic"]),
            "route": self._route,
            "cids": lambda step: self._set(brokers.cids, step["topic"], step["ids"]),
            "refuse": lambda step: self._replace(brokers.refused, [queue(fields) for fields in step["mqs"]]),
            "lockFail": lambda step: self._replace(brokers.failing_addrs, step["addrs"]),
            "noAddr": brokers.set_no_addr,
            "start": lambda step: self._set(rebalance.starts, queue(step["mq"]), step["value"]),
            "keep": lambda step: self._replace(rebalance.kept, [queue(fields) for fields in step["mqs"]]),
            "pulled": self._pulled,
            "tick": self.tick,
            "rebalance": lambda _: run_now(rebalance.do_rebalance(self.is_order, UNINTERRUPTED)),
            "lock": lambda step: run_now(rebalance.lock(queue(step["mq"]))),
            "lockAll": lambda _: run_now(rebalance.lock_all()),
            "unlockAll": lambda _: run_now(rebalance.unlock_all(oneway=False)),
            "drop": lambda step: run_now(rebalance.remove_process_queue(queue(step["mq"]), UNINTERRUPTED)),
            "destroy": lambda _: rebalance.destroy(),
        }

    def _subscribe(self, topic: str) -> None:
        self.rebalance.subscription_inner.put(topic, SubscriptionData(topic, "*"))

    def _unsubscribe(self, topic: str) -> None:
        self.rebalance.subscription_inner.remove(topic)

    def _route(self, step: Row) -> None:
        if step["mqs"] is None:
            self.rebalance.topic_subscribe_info_table.remove(step["topic"])
        else:
            mqs = [queue(fields) for fields in step["mqs"]]
            self.rebalance.topic_subscribe_info_table.put(step["topic"], mqs)

    @staticmethod
    def _set(table: dict[Any, Any], key: Any, value: Any) -> None:
        table[key] = value

    @staticmethod
    def _replace(script: list[Any], values: list[Any]) -> None:
        script[:] = values

    def _pulled(self, step: Row) -> None:
        pq = self.rebalance.process_queue_table.get(queue(step["mq"]))
        if pq is not None:
            pq.last_pull_timestamp = self.now_ms()

    def observed(self, step: Row) -> dict[str, Any]:
        del step
        return {
            "calls": self.brokers.calls_of_step(),
            "s": [
                [queue_fields(mq), pq.dropped, pq.locked, pq.last_pull_timestamp - T0, pq.last_lock_timestamp - T0]
                for mq, pq in sorted(self.rebalance.process_queue_table.entries(), key=lambda entry: entry[0])
            ],
        }


class _OffsetBrokers(_ScriptedBrokers):
    """OffsetRpc."""

    def __init__(self) -> None:
        super().__init__("c1")
        self.failing: list[str] = []
        self.committed: dict[MessageQueue, int] = {}

    def _call(self, kind: str, addr: str, mq: MessageQueue, *offset: int) -> None:
        self.calls.append([kind, addr, mq.topic, mq.queue_id, *offset])
        if mq.broker_name in self.failing:
            raise IllegalStateError("scripted failure")

    async def update_topic_route_info_from_name_server(self, topic: str) -> bool:
        """Changes nothing."""
        self.calls.append(["route", topic])
        return False

    async def query_consumer_offset(self, addr: str, group: str, mq: MessageQueue, timeout_ms: int) -> int:
        """The committed offset, or the broker's answer that it has none."""
        del group, timeout_ms
        self._call("query", addr, mq)
        if mq not in self.committed:
            raise MQBrokerError(QUERY_NOT_FOUND, None)
        return self.committed[mq]

    async def update_consumer_offset(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        """Becomes the committed offset."""
        del group, timeout_ms
        self._call("update", addr, mq, offset)
        self.committed[mq] = offset

    async def update_consumer_offset_oneway(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        """Becomes the committed offset."""
        del group, timeout_ms
        self._call("updateOneway", addr, mq, offset)
        self.committed[mq] = offset


class _OffsetStoreRun:
    """The offset table of one clustering consumer."""

    def __init__(self) -> None:
        self.brokers = brokers = _OffsetBrokers()
        self.store = store = RemoteBrokerOffsetStore(brokers, GROUP)
        self.operations: Operations = {
            "update": lambda step: store.update_offset(
                _queue_or_null(step["mq"]), step["offset"], increase_only=step["increaseOnly"],
            ),
            "read": self._read,
            "persist": lambda step: run_now(store.persist(_queue_or_null(step["mq"]))),
            "persistAll": self._persist_all,
            "remove": lambda step: store.remove_offset(_queue_or_null(step["mq"])),
            "clone": self._clone,
            "commit": self._commit,
            "fail": self._fail,
            "noAddr": brokers.set_no_addr,
        }

    def _read(self, step: Row) -> int:
        mq = _queue_or_null(step["mq"])
        return run_now(self.store.read_offset(mq, ReadOffsetType(step["type"]), UNINTERRUPTED))

    def _persist_all(self, step: Row) -> None:
        mqs = [queue(fields) for fields in step["mqs"]]
        run_now(self.store.persist_all(mqs, UNINTERRUPTED))

    def _clone(self, step: Row) -> list[list[Any]]:
        return _offset_fields(self.store.clone_offset_table(step["topic"]))

    def _commit(self, step: Row) -> None:
        self.brokers.committed[queue(step["mq"])] = step["offset"]

    def _fail(self, step: Row) -> None:
        self.brokers.failing = step["brokers"]

    def observed(self, step: Row) -> dict[str, Any]:
        del step
        return {
            "calls": self.brokers.calls_of_step(), "s": _offset_fields(dict(self.store.offset_table.entries())),
        }


def _queue_or_null(fields: list[Any] | None) -> MessageQueue | None:
    return None if fields is None else queue(fields)


def _offset_fields(table: dict[MessageQueue, int]) -> list[list[Any]]:
    return [[queue_fields(mq), offset] for mq, offset in sorted(table.items())]


def _with_calls_in_any_order(row: Row) -> Row:
    """The recorded order of calls inside one step follows hash tables."""
    return {**row, "steps": [{**step, "calls": in_any_order(step["calls"])} for step in row["steps"]]}


ADAPTERS: dict[str, Adapter] = {
    "process-queue-sequences": lambda row: replay_steps(row, _ProcessQueueRun()),
    "rebalance-sequences": lambda row: replay_steps(_with_calls_in_any_order(row), _RebalanceRun(row)),
    "remote-offset-store-sequences": lambda row: replay_steps(_with_calls_in_any_order(row), _OffsetStoreRun()),
}
