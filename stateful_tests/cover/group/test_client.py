"""A consumer as a process: its start and its end, its heartbeats, where it begins, how it takes and gives queues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impl.client.local_file_offset_store import LocalFileOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig, check_config
from impl.common.heartbeat_data import BROADCASTING
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import MQClientError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    ConsumerIdsFetched,
    ConsumerRegistered,
    ConsumerShutDown,
    ConsumerStarted,
    LockGranted,
    LockReleased,
    OffsetCommitted,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    ThreadDied,
)
from impl.hash_map import IllegalStateError
from stateful_tests.stories.scenes import FORGETFUL, acknowledge, expire, fill
from stateful_tests.worlds.world import World

NS, BROKER = "nameserver1", "broker-a"
ORDERS = PushConsumerConfig("G", {"orders": "*"})
IN_ORDER = PushConsumerConfig("G", {"orders": "*"}, orderly=True)


def one_broker(world: World, *machines: str) -> None:
    world.add_namesrv()
    for machine in machines or (BROKER,):
        world.add_broker(machine, machine, topics=[TopicConfig("orders", 4, 4), TopicConfig("invoices", 2, 2)])
    world.run(100)


def join(world: World, machine: str, *configs: PushConsumerConfig, run_ms: int = 5_000) -> DefaultMQPushConsumerImpl:
    world.add_consumer(machine, *configs)
    world.run(run_ms)
    return world.consumers[machine][0]


def uncaught(world: World, machine: str) -> list[str]:
    records = world.simulation.kernel.records
    return [event.error for _, who, event in records if who == machine and event.__class__ is ThreadDied]


def believed(pq: ProcessQueue) -> bool:
    return pq.locked


def queue(queue_id: int, topic: str = "orders") -> MessageQueue:
    return MessageQueue(topic, BROKER, queue_id)


def test_a_consumer_is_registered_before_it_has_a_list_and_has_a_list_before_it_takes_a_queue() -> None:
    with World() as world:
        one_broker(world)
        join(world, "c1", ORDERS)
        kinds = [ConsumerStarted, ConsumerRegistered, ConsumerIdsFetched, QueueTaken, QueuesAssigned]
        first = [world.events(kind)[0][0] for kind in kinds]
        assert first == sorted(first)
        assert {event.mq.topic for _, event in world.events(QueueTaken)} == {"orders", "%RETRY%G"}
        assert world.views.one_owner_each("G", "orders")


def test_without_any_name_server_start_fails_and_the_consumer_runs_all_the_same() -> None:
    with World() as world:
        one_broker(world)
        world.simulation.kill(NS)
        consumer = join(world, "c1", ORDERS)
        assert uncaught(world, "c1") == [IllegalStateError.java_class]
        assert consumer.service_state == "RUNNING"
        world.simulation.start(NS)
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 90_000)


def test_one_instance_has_one_consumer_of_a_group() -> None:
    with World() as world:
        one_broker(world)
        world.add_consumer("c1", ORDERS, ORDERS, instance_name="shop")
        world.run(5_000)
        assert uncaught(world, "c1") == [MQClientError.java_class]
        assert [consumer.service_state for consumer in world.consumers["c1"]] == ["RUNNING", "CREATE_JUST"]


def test_consumers_of_one_process_have_instances_of_their_own_unless_they_are_named() -> None:
    with World() as world:
        one_broker(world)
        join(world, "c1", ORDERS, PushConsumerConfig("H", {"orders": "*"}))
        first, second = world.consumers["c1"]
        assert first.instance is not second.instance
        assert first.instance.client_id != second.instance.client_id


def test_every_client_beats_as_a_producer_too_and_knows_all_brokers_of_tbw102() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 4, 4)])
        world.add_broker("broker-b", "broker-b")
        world.run(100)
        consumer = join(world, "c1", ORDERS)
        assert world.brokers[BROKER].producer_manager.group_channel_table.contains_key(CLIENT_INNER_PRODUCER_GROUP)
        assert sorted(consumer.instance.routes.broker_addr_table.key_set()) == [BROKER, "broker-b"]
        assert world.views.listed("broker-b", "G") == [consumer.instance.client_id]


def test_a_heartbeat_that_meets_another_one_is_not_sent() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", ORDERS)
        consumer.instance.lock_heartbeat.held = True
        since_ms = world.now_ms
        world.run(100_000)
        assert world.events(ConsumerRegistered, since_ms) == []
        consumer.instance.lock_heartbeat.held = False
        world.run(31_000)
        assert world.events(ConsumerRegistered, since_ms) != []


def test_a_heartbeat_says_what_is_subscribed_when_it_is_sent_also_of_who_has_left_since_it_began() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", ORDERS)
        instance, inner = consumer.instance, consumer.rebalance_impl.subscription_inner
        prepared = instance._prepare_heartbeat_data()
        newer = replace(not_null(inner.get("orders")), sub_version=9)
        inner.put("orders", newer)
        instance.consumer_table.remove("G")
        (data,) = instance._as_encoded_now(prepared).consumer_data_set
        assert newer in data.subscription_data_set


def test_members_come_and_go_and_every_queue_has_one_owner_each_time() -> None:
    with World() as world:
        one_broker(world, BROKER, "broker-b")
        for machine in ("c1", "c2", "c3"):
            join(world, machine, ORDERS)
            assert world.views.one_owner_each("G", "orders")
        world.call("c2", world.consumers["c2"][0].shutdown)
        world.run(5_000)
        assert world.views.one_owner_each("G", "orders")
        assert world.views.listed(BROKER, "G") == world.views.listed("broker-b", "G")
        world.simulation.kill("c1")
        world.run(5_000)
        assert set(map(tuple, world.views.holders("G", "orders").values())) == {("c3",)}


def test_a_new_topic_is_shared_out_after_the_next_route_and_rebalance() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", ORDERS)
        world.call("c1", lambda: consumer.subscribe("invoices", "*"))
        world.run_until(lambda: world.views.one_owner_each("G", "invoices"), 51_000)
        consumer.unsubscribe("orders")
        world.run_until(lambda: len(world.views.no_owner("G", "orders")) == 4, 21_000)
        world.run(31_000)
        assert set(world.views.expressions(BROKER, "G")) == {"invoices"}


@pytest.mark.parametrize(("where", "starts_at"), [
    (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, [7, 0, 200, 200]),
    (ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, [7, 0, 0, 0]),
    (ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, [7, 0, 188, 0]),  # where each of them begins
])
def test_where_a_queue_is_begun(where: ConsumeFromWhere, starts_at: list[int]) -> None:
    with World() as world:
        world.store_config = FORGETFUL
        one_broker(world)
        fill(world, queue(2), 200)
        expire(world, queue(2))
        fill(world, queue(3), 200)
        world.brokers[BROKER].consumer_offset_manager.decode('{"offsetTable":{"orders@G":{0:7}}}')
        join(world, "c1", PushConsumerConfig("G", {"orders": "*"}, consume_from_where=where))
        taken = {event.mq: event.offset for _, event in world.events(QueueTaken)}
        assert [taken[queue(queue_id)] for queue_id in range(4)] == starts_at


def test_offsets_are_committed_every_5_s_and_when_a_queue_is_given_up() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", ORDERS, run_ms=20_000)
        acknowledge(world, consumer, 5, queue(0))
        world.run(5_100)
        assert (queue(0).queue_id, 5) in [(event.queue_id, event.offset) for _, event in world.events(OffsetCommitted)]
        acknowledge(world, consumer, 9, queue(3))
        join(world, "c2", ORDERS)
        (dropped_ms, _), = [
            (ms, event) for ms, event in world.events(QueueDropped) if event.mq == queue(3)
        ]
        committed = [
            ms for ms, event in world.events(OffsetCommitted) if (event.queue_id, event.offset) == (3, 9)
        ]
        assert committed
        assert 0 <= committed[0] - dropped_ms <= 10


def test_an_orderly_consumer_locks_what_it_takes_believes_it_later_and_gives_it_back() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", IN_ORDER, run_ms=500)
        pq = consumer.rebalance_impl.process_queue_table.get(queue(3))
        assert pq is not None
        locks = world.brokers[BROKER].rebalance_lock_manager
        assert locks.holder("G", queue(3)) == consumer.instance.client_id
        assert not believed(pq)
        world.run(1_000)
        assert believed(pq)
        join(world, "c2", IN_ORDER)
        assert [event.client_id for _, event in world.events(LockReleased) if event.mq == queue(3)] == [
            consumer.instance.client_id,
        ]
        world.run_until(lambda: locks.holder("G", queue(3)) not in {None, consumer.instance.client_id}, 21_000)
        assert world.views.one_owner_each("G", "orders")
        granted = {event.client_id for _, event in world.events(LockGranted) if event.mq == queue(3)}
        assert len(granted) == 2


def test_an_orderly_queue_whose_listener_is_at_work_stays_in_the_table_and_keeps_its_lock() -> None:
    with World() as world:
        one_broker(world)
        first = join(world, "c1", IN_ORDER, run_ms=20_000)
        pq = first.rebalance_impl.process_queue_table.get(queue(3))
        assert pq is not None
        pq.consume_lock.held = True
        join(world, "c2", IN_ORDER, run_ms=90_000)
        assert pq.dropped
        assert pq.try_unlock_times >= 3
        assert first.rebalance_impl.process_queue_table.get(queue(3)) is pq
        assert queue(3) in world.views.no_owner("G", "orders")
        pq.consume_lock.held = False
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 100_000)


def test_a_shutdown_gives_back_locks_then_offsets_then_membership_then_queues() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", IN_ORDER, run_ms=20_000)
        consumer.offset_store.update_offset(queue(1), 5, increase_only=True)
        since_ms = world.now_ms
        world.call("c1", consumer.shutdown)
        world.run(1_000)
        kinds = [LockReleased, OffsetCommitted, QueueDropped, ConsumerShutDown]
        times = [world.events(kind, since_ms)[0][0] for kind in kinds]
        assert times == sorted(times)
        assert world.views.listed(BROKER, "G") == []
        assert len(world.views.no_owner("G", "orders")) == 4
        assert consumer.instance.manager.factory_table.is_empty()
        assert uncaught(world, "c1") == []


def test_a_broadcasting_consumer_has_all_queues_and_keeps_its_offsets_in_a_file() -> None:
    broadcasting = PushConsumerConfig("G", {"orders": "*"}, message_model=BROADCASTING)
    with World() as world:
        one_broker(world)
        first = join(world, "c1", broadcasting)
        join(world, "c2", broadcasting)
        assert set(map(tuple, world.views.holders("G", "orders").values())) == {("c1", "c2")}
        assert isinstance(first.offset_store, LocalFileOffsetStore)
        first.offset_store.update_offset(queue(1), 42, increase_only=True)
        world.run(11_000)
        world.restart("c1")
        world.run(5_000)
        taken = {event.mq: event.offset for _, event in world.events(QueueTaken, 16_000)}
        assert taken[queue(1)] == 42


def test_a_suspended_consumer_keeps_its_queues_and_its_place() -> None:
    with World() as world:
        one_broker(world)
        first = join(world, "c1", ORDERS)
        first.suspend()
        join(world, "c2", ORDERS, run_ms=60_000)
        assert len(world.views.two_owners("G", "orders")) == 2
        world.call("c1", first.resume)
        world.run(100)
        assert world.views.one_owner_each("G", "orders")


def test_a_pull_that_hangs_for_two_minutes_costs_the_queue_and_it_comes_back() -> None:
    with World() as world:
        one_broker(world)
        world.run(3_000)
        consumer = join(world, "c1", ORDERS, run_ms=19_000)  # its pulls have come back, and it rebalances in a second
        pq = consumer.rebalance_impl.process_queue_table.get(queue(0))
        assert pq is not None
        since_ms = world.now_ms
        pq.last_pull_timestamp -= 120_000
        world.run(5_000)
        (dropped_ms, dropped), = world.events(QueueDropped, since_ms)
        taken = [ms for ms, event in world.events(QueueTaken, since_ms) if event.mq == dropped.mq]
        assert dropped.mq == queue(0)
        assert 0 <= taken[0] - dropped_ms <= 10


def test_a_time_to_begin_at_is_one_that_can_be_read() -> None:
    check_config(PushConsumerConfig("G", {}, consume_timestamp="20220216074500"))
    with pytest.raises(MQClientError, match="consumeTimestamp is invalid"):
        check_config(PushConsumerConfig("G", {}, consume_timestamp="yesterday"))
