"""What the recordings of the client's tables do not reach."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from impl.client.offset_store import FindBrokerResult, MQBrokerError, ReadOffsetType, RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.rebalance import PullRequest, RebalanceImpl
from impl.client.route_tables import DefaultTopic, RouteTables
from impl.client.topic_publish_info import TopicPublishInfo
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING, CONSUME_PASSIVELY
from impl.common.message import MessageExt
from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.java_errors import (
    ArrayIndexOutOfBoundsError,
    IllegalArgumentError,
    JavaRuntimeError,
    MQClientError,
    NullPointerError,
    NumberFormatError,
)
from impl.decisions.message_queue import MessageQueue
from impl.decisions.route_queues import BrokerData, QueueData, TopicRouteData
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import IllegalStateError
from impl.ports.threads import UNINTERRUPTED, Threads, Uninterrupted, run_now

# Process queue --------------------------------------------------------------------------------------------------------


THREE = b"xyz"


@dataclass
class Clock:
    time_ms: int = 1_000_000

    def now_ms(self) -> int:
        return self.time_ms


def offsets(msgs: Sequence[MessageExt]) -> list[int]:
    return [msg.queue_offset for msg in msgs]


def test_a_message_without_a_body_stops_a_put_half_way() -> None:
    pq = ProcessQueue(lambda: 0)
    with pytest.raises(NullPointerError):
        pq.put_message([MessageExt(5, THREE), MessageExt(6, None), MessageExt(7, THREE)])
    assert offsets(pq.msg_tree_map.values()) == [5, 6]
    assert (pq.msg_count, pq.msg_size_bytes, pq.queue_offset_max, pq.consuming) == (0, 3, 6, False)


def test_a_message_without_a_body_stops_a_removal_before_anything_is_counted() -> None:
    pq = ProcessQueue(lambda: 0)
    pq.put_message([MessageExt(5, THREE), MessageExt(6, THREE), MessageExt(7, THREE)])
    assert pq.remove_message([MessageExt(5, THREE), MessageExt(6, None), MessageExt(7, THREE)]) == 8
    assert offsets(pq.msg_tree_map.values()) == [7]
    assert (pq.msg_count, pq.msg_size_bytes) == (3, 6)


def test_a_message_without_a_body_stops_a_commit_that_has_already_counted() -> None:
    pq = ProcessQueue(lambda: 0)
    pq.make_message_to_consume_again([MessageExt(5, THREE), MessageExt(6, None)])
    pq.take_messages(2)
    with pytest.raises(NullPointerError):
        pq.commit()
    assert (pq.msg_count, len(pq.consuming_msg_orderly_tree_map)) == (-2, 2)


def test_a_broken_max_offset_is_noticed_after_the_put() -> None:
    pq = ProcessQueue(lambda: 0)
    with pytest.raises(NumberFormatError):
        pq.put_message([MessageExt(5, properties={"MAX_OFFSET": "many"})])
    assert (pq.msg_count, pq.consuming) == (1, True)


def test_only_the_first_message_can_expire() -> None:
    clock = Clock()
    pq = ProcessQueue(clock.now_ms)
    assert pq.first_expired_msg(15) is None
    started = {"CONSUME_START_TIME": str(clock.time_ms)}
    first, second = MessageExt(5, properties=started), MessageExt(6, properties=started)
    pq.put_message([first, second])
    clock.time_ms += 15 * 60 * 1000
    assert pq.first_expired_msg(15) is None
    clock.time_ms += 1
    assert pq.first_expired_msg(15) is first
    pq.remove_if_first(second)
    assert len(pq.msg_tree_map) == 2
    pq.remove_if_first(first)
    assert offsets(pq.msg_tree_map.values()) == [6]
    pq.put_message([MessageExt(4)])
    assert pq.first_expired_msg(15) is None


# Rebalance ------------------------------------------------------------------------------------------------------------


@dataclass
class Broker:
    """RebalanceRpc and OffsetRpc over one broker that grants all locks; `cids` None is a failed question."""

    client_id: str = "c1"
    cids: list[str] | None = field(default_factory=lambda: ["c1"])
    addr: str | None = "addr"
    committed: dict[MessageQueue, int] = field(default_factory=dict)
    unlocked: list[Collection[MessageQueue]] = field(default_factory=list)
    routes_asked: list[str] = field(default_factory=list)
    fails: bool = False

    def find_broker_address_in_subscribe(
        self, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        del broker_name, broker_id
        if self.addr is None or (self.addr.startswith("slave") and only_this_broker):
            return None
        return FindBrokerResult(self.addr, slave=self.addr.startswith("slave"))

    async def find_consumer_id_list(self, topic: str, group: str) -> Sequence[str] | None:
        del topic, group
        return self.cids

    async def lock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int,
    ) -> Collection[MessageQueue]:
        del addr, group, timeout_ms
        return mqs

    async def unlock_batch_mq(
        self, addr: str, group: str, mqs: Collection[MessageQueue], timeout_ms: int, *, oneway: bool,
    ) -> None:
        del addr, group, timeout_ms, oneway
        self.unlocked.append(mqs)
        if self.fails:
            raise JavaRuntimeError("no")

    async def update_topic_route_info_from_name_server(self, topic: str) -> bool:
        self.routes_asked.append(topic)
        return True

    async def query_consumer_offset(self, addr: str, group: str, mq: MessageQueue, timeout_ms: int) -> int:
        del addr, group, timeout_ms
        if mq not in self.committed:
            raise MQBrokerError(22, "Not found")
        return self.committed[mq]

    async def update_consumer_offset(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        del addr, group, timeout_ms
        self.committed[mq] = offset

    async def update_consumer_offset_oneway(
        self, addr: str, group: str, mq: MessageQueue, offset: int, timeout_ms: int,
    ) -> None:
        await self.update_consumer_offset(addr, group, mq, offset, timeout_ms)


class Consumer(RebalanceImpl):
    """A push consumer whose hooks only count."""

    def __init__(self, broker: Broker, model: str = CLUSTERING) -> None:
        super().__init__("G", model, AllocateMessageQueueAveragely(), broker, lambda: 0)
        self.dispatched: list[PullRequest] = []
        self.changed: list[str] = []

    async def message_queue_changed(
        self, topic: str, mq_all: Collection[MessageQueue], mq_divided: Collection[MessageQueue], threads: Threads,
    ) -> None:
        del mq_all, mq_divided, threads
        self.changed.append(topic)
        if topic == "bad":
            raise NullPointerError

    async def remove_unnecessary_message_queue(self, mq: MessageQueue, pq: ProcessQueue, threads: Threads) -> bool:
        del mq, pq, threads
        return True

    def consume_type(self) -> str:
        return CONSUME_PASSIVELY

    def remove_dirty_offset(self, mq: MessageQueue) -> None:
        del mq

    async def compute_pull_from_where_with_exception(self, mq: MessageQueue, threads: Threads) -> int:
        del mq, threads
        return 7

    async def dispatch_pull_request(self, pull_request_list: list[PullRequest]) -> None:
        self.dispatched += pull_request_list

    def subscribe(self, topic: str, queues: int) -> None:
        self.subscription_inner.put(topic, SubscriptionData(topic, "*"))
        self.topic_subscribe_info_table.put(topic, [MessageQueue(topic, "b", number) for number in range(queues)])


def test_a_topic_that_fails_does_not_stop_the_others() -> None:
    consumer = Consumer(Broker())
    for topic in ("bad", "T"):
        consumer.subscribe(topic, 2)
    run_now(consumer.do_rebalance(False, UNINTERRUPTED))
    assert sorted(consumer.changed) == ["T", "bad"]
    assert len(consumer.process_queue_table) == 4


def test_no_members_known_means_no_change() -> None:
    broker = Broker()
    consumer = Consumer(broker)
    consumer.subscribe("T", 2)
    run_now(consumer.do_rebalance(False, UNINTERRUPTED))
    broker.cids = None
    run_now(consumer.do_rebalance(False, UNINTERRUPTED))
    assert len(consumer.process_queue_table) == 2
    broker.cids = ["c2"]
    run_now(consumer.do_rebalance(False, UNINTERRUPTED))
    assert consumer.process_queue_table.is_empty()


def test_a_fresh_orderly_queue_counts_as_unlocked_until_the_next_lock_all() -> None:
    consumer = Consumer(Broker())
    consumer.subscribe("T", 1)
    run_now(consumer.do_rebalance(True, UNINTERRUPTED))
    (pq,) = consumer.process_queue_table.values()
    assert not pq.locked
    run_now(consumer.lock_all())
    assert pq.locked


def test_two_rebalances_at_once_make_one_process_queue() -> None:
    consumer = Consumer(Broker())
    consumer.subscribe("T", 1)

    class Second(Uninterrupted):
        async def interleave(self, where: str) -> None:
            if where == "updateProcessQueueTableInRebalance: before putIfAbsent":
                await consumer.do_rebalance(False, UNINTERRUPTED)

    run_now(consumer.do_rebalance(False, Second()))
    assert len(consumer.dispatched) == 1


def test_broadcasting_takes_every_queue_without_asking_for_members() -> None:
    consumer = Consumer(Broker(cids=None), BROADCASTING)
    consumer.subscribe("T", 3)
    run_now(consumer.do_rebalance(False, UNINTERRUPTED))
    assert len(consumer.process_queue_table) == 3
    consumer.topic_subscribe_info_table.put("T", [])
    run_now(consumer.do_rebalance(False, UNINTERRUPTED))
    assert consumer.process_queue_table.is_empty()


def test_unlock_swallows_its_error_and_does_nothing_without_an_address() -> None:
    broker = Broker(fails=True)
    consumer = Consumer(broker)
    mq = MessageQueue("T", "b", 0)
    run_now(consumer.unlock(mq, oneway=True))
    broker.addr = None
    run_now(consumer.unlock(mq, oneway=True))
    assert broker.unlocked == [[mq]]


# Offset store ---------------------------------------------------------------------------------------------------------


def test_offsets_go_to_a_slave_when_there_is_no_master() -> None:
    broker, mq = Broker(addr="slave"), MessageQueue("T", "b", 0)
    store = RemoteBrokerOffsetStore(broker, "G")
    run_now(store.update_consume_offset_to_broker(mq, 5, is_oneway=False))
    assert broker.routes_asked == ["T"]
    assert run_now(store.read_offset(mq, ReadOffsetType.READ_FROM_STORE, UNINTERRUPTED)) == 5
    broker.addr = None
    with pytest.raises(MQClientError, match=r"The broker\[b\] not exist"):
        run_now(store.update_consume_offset_to_broker(mq, 6, is_oneway=True))
    assert run_now(store.read_offset(mq, ReadOffsetType.READ_FROM_STORE, UNINTERRUPTED)) == -2
    assert run_now(store.read_offset(mq, ReadOffsetType.READ_FROM_MEMORY, UNINTERRUPTED)) == 5


# Routes ---------------------------------------------------------------------------------------------------------------


@dataclass
class NameServer:
    routes: dict[str, TopicRouteData] = field(default_factory=dict)
    reachable: bool = True

    async def get_topic_route_info_from_name_server(self, topic: str, timeout_ms: int) -> TopicRouteData | None:
        del timeout_ms
        if not self.reachable:
            raise JavaRuntimeError("connect to null failed")
        if topic not in self.routes:
            raise MQClientError("CODE: 17")
        return self.routes[topic]


@dataclass
class Producer:
    published: dict[str, TopicPublishInfo] = field(default_factory=dict)

    def is_publish_topic_need_update(self, topic: str) -> bool:
        return topic not in self.published or not self.published[topic].ok()

    def update_topic_publish_info(self, topic: str, info: TopicPublishInfo) -> None:
        self.published[topic] = info


@dataclass
class Subscriber:
    topics: list[str]
    subscribed: dict[str, Collection[MessageQueue]] = field(default_factory=dict)

    def is_subscribe_topic_need_update(self, topic: str) -> bool:
        return topic in self.topics and topic not in self.subscribed

    def update_topic_subscribe_info(self, topic: str, mqs: Collection[MessageQueue]) -> None:
        if topic in self.topics:
            self.subscribed[topic] = mqs


def route(*brokers: tuple[str, dict[int, str]], queues: int = 2, order: str | None = None) -> TopicRouteData:
    return TopicRouteData(
        tuple(QueueData(name, queues, queues, 6, 0) for name, _ in brokers),
        tuple(BrokerData("C", name, addrs) for name, addrs in brokers),
        order,
    )


class Client:
    def __init__(self, **routes: TopicRouteData) -> None:
        self.name_server = NameServer(dict(routes))
        self.producers: list[Producer] = []
        self.consumers: list[Subscriber] = []
        self.tables = RouteTables(self.name_server, lambda: self.producers, lambda: self.consumers)

    def update(self, topic: str, default: DefaultTopic | None = None) -> bool:
        return run_now(self.tables.update_topic_route_info_from_name_server(topic, UNINTERRUPTED, default))


def test_a_route_is_taken_over_when_it_has_changed_or_somebody_lacks_it() -> None:
    client = Client(T=route(("b", {0: "m:1", 1: "s:1"})))
    assert client.update("T")
    assert not client.update("T")
    client.consumers.append(Subscriber(["T"]))
    assert client.update("T")
    assert not client.update("T")
    client.producers.append(Producer())
    assert client.update("T")
    client.name_server.routes["T"] = route(("b", {1: "s:1"}))
    assert client.update("T")
    assert client.tables.find_broker_address_in_publish("b") is None
    assert client.consumers[0].subscribed["T"] == [MessageQueue("T", "b", 0), MessageQueue("T", "b", 1)]
    assert client.producers[0].published["T"].message_queue_list == []
    assert client.update("T")


def test_the_old_route_stays_when_there_is_no_new_one() -> None:
    client = Client(T=route(("b", {0: "m:1"})))
    client.update("T")
    del client.name_server.routes["T"]
    assert not client.update("T")
    client.name_server.reachable = False
    with pytest.raises(IllegalStateError, match="connect to null failed"):
        client.update("T")
    assert client.tables.find_broker_address_in_publish("b") == "m:1"
    client.name_server.reachable = True
    client.tables.lock_namesrv.held = True
    client.name_server.routes["T"] = route(("b2", {0: "m:2"}))
    assert not client.update("T")
    client.tables.lock_namesrv.held = False
    assert client.update("T")


def test_a_broken_order_configuration_leaves_the_lock_free_and_the_addresses_new() -> None:
    client = Client(T=route(("b", {0: "m:1"}), order="b"))
    assert client.update("T")
    client.producers.append(Producer())
    client.name_server.routes["T"] = route(("b", {0: "m:2"}), order="b")
    with pytest.raises(ArrayIndexOutOfBoundsError):
        client.update("T")
    assert not client.tables.lock_namesrv.held
    assert client.tables.find_broker_address_in_publish("b") == "m:2"
    assert client.tables.topic_route_table.get("T") != client.name_server.routes["T"]


def test_the_default_route_is_cut_to_the_queues_that_the_producer_wishes() -> None:
    client = Client(TBW102=route(("b", {0: "m:1"}), queues=8))
    client.producers.append(Producer())
    assert client.update("new", DefaultTopic("TBW102", 4))
    assert len(client.producers[0].published["new"].message_queue_list) == 4
    assert client.update("other", DefaultTopic("TBW102", 16))
    assert len(client.producers[0].published["other"].message_queue_list) == 8


def test_the_route_itself_is_entered_last() -> None:
    client = Client(T=route(("b", {0: "m:1"})))
    seen: list[tuple[bool, bool]] = []

    class Watching(Uninterrupted):
        async def interleave(self, where: str) -> None:
            del where
            tables = client.tables
            seen.append((tables.broker_addr_table.contains_key("b"), tables.topic_route_table.contains_key("T")))

    run_now(client.tables.update_topic_route_info_from_name_server("T", Watching()))
    assert seen == [(True, False)] * 3


def test_offline_addresses_go_but_those_of_a_lost_route_stay() -> None:
    client = Client(T=route(("b", {0: "m:1", 1: "s:1"})), U=route(("b2", {0: "m:2"})), V=route(("b3", {0: "m:3"})))
    for topic in "TUV":
        client.update(topic)
    client.name_server.routes["T"] = route(("b", {0: "m:1"}))
    client.update("T")
    client.tables.broker_addr_table.put("b", old := client.tables.broker_addr_table.get("b").clone())  # type: ignore[union-attr]
    old.put(1, "s:1")
    client.name_server.routes["U"] = route(("b", {0: "m:1"}))
    client.update("U")
    del client.name_server.routes["V"]
    client.update("V")
    run_now(client.tables.clean_offline_broker(UNINTERRUPTED))
    found = {name: dict(addrs.entries()) for name, addrs in client.tables.broker_addr_table.entries()}
    assert found == {"b": {0: "m:1"}, "b3": {0: "m:3"}}
    client.tables.lock_namesrv.held = True
    client.tables.topic_route_table.clear()
    run_now(client.tables.clean_offline_broker(UNINTERRUPTED))
    assert len(client.tables.broker_addr_table) == 2


@pytest.mark.parametrize(("broker_id", "only", "expected"), [
    (0, True, None),
    (0, False, ("s:2", True)),
    (1, True, ("s:2", True)),
    (2, False, ("s:2", True)),
    (5, True, None),
    (5, False, ("s:2", True)),
])  # fmt: skip
def test_addresses_for_consumers(broker_id: int, only: bool, expected: tuple[str, bool] | None) -> None:
    client = Client(T=route(("b", {7: "s:7", 2: "s:2"})))
    client.update("T")
    find = client.tables.find_broker_address_in_subscribe
    found = find("b", broker_id, only_this_broker=only)
    assert (None if found is None else (found.broker_addr, found.slave)) == expected
    assert find("unknown", broker_id, only_this_broker=only) is None


def test_the_version_of_a_broker_is_that_of_its_last_heartbeat_answer() -> None:
    client = Client(T=route(("b", {0: "m:1"})))
    client.update("T")
    client.tables.note_broker_version("b", "m:1", 399)
    found: Any = client.tables.find_broker_address_in_subscribe("b", 0, only_this_broker=True)
    assert found == FindBrokerResult("m:1", slave=False, broker_version=399)
    assert client.tables.find_broker_version("b", "m:2") == 0
    assert client.tables.find_broker_version("b2", "m:1") == 0


def test_members_are_asked_for_at_a_random_broker_master_first() -> None:
    client = Client(T=route(("b1", {0: "m:1", 1: "s:1"}), ("b2", {1: "s:2", 2: "s:3"}), ("b3", {})), U=route())
    assert client.tables.find_broker_addr_by_topic("T", lambda _: 0) is None
    client.update("T")
    client.update("U")
    assert client.tables.find_broker_addr_by_topic("T", lambda _: 0) == "m:1"
    assert client.tables.find_broker_addr_by_topic("T", lambda n: {3: 1, 2: 1}[n]) == "s:3"
    with pytest.raises(IllegalArgumentError):
        client.tables.find_broker_addr_by_topic("T", lambda _: 2)
    assert client.tables.find_broker_addr_by_topic("U", lambda _: 0) is None
