"""Stories of queues that nobody works on, though members of their group live; and of one that two work on."""

from __future__ import annotations

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING
from impl.common.topic_config import TopicConfig
from impl.decisions.allocation import AllocateMessageQueueByConfig, AllocateMessageQueueByMachineRoom
from impl.decisions.flags import PERM_WRITE
from impl.decisions.message_queue import MessageQueue
from impl.events import ConsumerIdsFetched
from stateful_tests.stories.scenes import (
    BROKER,
    FIRST,
    IN_ORDER,
    LAST,
    ORDERS,
    begin_batch,
    believes,
    end_batch,
    held,
    join,
    stage,
)
from stateful_tests.worlds.world import World

BESIDE = MessageQueue("orders", BROKER, 2)


def test_d7_a_batch_that_outlasts_the_leases_runs_beside_that_of_the_next_owner() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1", IN_ORDER)
        world.run_until(lambda: believes(first, LAST), 21_000)
        for way in ((BROKER, "c1"), ("c1", BROKER)):
            world.simulation.network.partition(*way)
        world.run(25_000)
        assert believes(first, LAST)
        batch = begin_batch(first)
        second = join(world, "c2", IN_ORDER)
        world.run(20_000)
        assert not believes(first, LAST)  # it begins no other one
        world.run_until(lambda: believes(second, LAST), 60_000)
        begin_batch(second)
        assert batch.consume_lock.held
        assert not batch.dropped  # listeners_do_not_overlap


def test_u2_a_member_that_does_not_find_itself_in_the_list_gives_everything_up() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        world.run(10_000)
        join(world, "c2")
        world.run(10_000)
        world.restart(BROKER)
        world.run_until(lambda: world.views.listed(BROKER, "G") != [], 31_000)
        assert first.instance.client_id in world.views.listed(BROKER, "G")
        slow = world.pause("findConsumerIdList: the list is here, and not applied yet", 3_000)  # at c1
        world.run_until(lambda: slow.hit, 1_000)
        since_ms = world.now_ms
        world.run_until(lambda: world.views.no_owner("G", "orders") != [], 20_000)
        lists = [event for _, event in world.events(ConsumerIdsFetched, since_ms)]
        assert any(event.client_ids is not None and event.client_id not in event.client_ids for event in lists)
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 60_000)


def test_u3_the_second_place_of_a_client_id_that_is_listed_twice_is_nobodys() -> None:
    with World() as world:
        stage(world)
        for machine in ("c1", "c2"):
            world.add_consumer(machine, ORDERS, client_ip="10.0.0.1", instance_name="billing")
        world.add_consumer("c3", ORDERS, client_ip="10.0.0.2", instance_name="billing")
        world.run(60_000)
        ids = world.views.listed(BROKER, "G")
        assert ids == ["10.0.0.1@billing", "10.0.0.1@billing", "10.0.0.2@billing"]
        for _ in range(60):
            world.run(1_000)
            assert world.views.no_owner("G", "orders") == [MessageQueue("orders", BROKER, 2)]  # the share of place 1
            assert world.views.holders("G", "orders")[LAST] == ["c3"]


def test_u5_a_member_that_is_suspended_keeps_its_place_and_its_share() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1")
        join(world, "c2")
        first.suspend()
        for _ in range(60):
            world.run(10_000)
            assert world.views.holders("G", "orders")[FIRST] == ["c1"]
        assert len(world.views.listed(BROKER, "G")) == 2
        assert first.offset_store.clone_offset_table("orders")[FIRST] == 0
        assert not held(first, FIRST).is_pull_expired()


def test_u6_a_batch_that_never_returns_keeps_a_queue_from_its_owner_for_ever() -> None:
    with World() as world:
        stage(world)
        first = join(world, "c1", IN_ORDER)
        world.run(20_000)
        pq = begin_batch(first)
        begin_batch(first, BESIDE)
        join(world, "c2", IN_ORDER)
        world.run(300_000)
        assert pq.dropped
        assert pq.try_unlock_times >= 10
        assert world.brokers[BROKER].rebalance_lock_manager.holder("G", LAST) == first.instance.client_id
        assert world.views.no_owner("G", "orders") == [BESIDE, LAST]  # contender_gets_the_lock
        end_batch(first, pq)
        world.run_until(lambda: world.views.no_owner("G", "orders") == [BESIDE], 80_000)  # abandoned_lock_is_freed


def test_u9_an_orderly_consumer_that_broadcasts_never_pulls() -> None:
    with World() as world:
        stage(world)
        config = PushConsumerConfig("G", {"orders": "*"}, message_model=BROADCASTING)
        ordered = join(world, "c1", PushConsumerConfig(
            "H", {"orders": "*"}, message_model=BROADCASTING, orderly=True,
        ))
        normal = join(world, "c2", config)
        world.run(300_000)
        assert world.views.one_owner_each("H", "orders")
        assert not held(ordered).locked
        assert ordered.offset_store.clone_offset_table("orders") == {}  # no pull was ever answered
        assert len(normal.offset_store.clone_offset_table("orders")) == 4
        assert world.brokers[BROKER].rebalance_lock_manager.holder("H", LAST) == ordered.instance.client_id


def test_u13_a_strategy_that_throws_leaves_the_queues_of_the_dead_to_nobody() -> None:
    with World() as world:
        stage(world, "blue@broker-a")
        config = PushConsumerConfig(
            "G", {"orders": "*"}, strategy=AllocateMessageQueueByMachineRoom(frozenset({"blue"})),
        )
        join(world, "c1", config)
        survivor = join(world, "c2", config)
        assert world.views.one_owner_each("G", "orders")
        object.__setattr__(survivor.rebalance_impl.strategy, "consumeridcs", None)  # setConsumeridcs(null)
        world.simulation.kill("c1")
        world.run(300_000)
        assert len(world.views.no_owner("G", "orders")) == 2
        assert [machines for machines in world.views.holders("G", "orders").values() if machines] == [["c2"], ["c2"]]


def test_u14_a_topic_that_may_no_longer_be_read_keeps_its_owners() -> None:
    with World() as world:
        stage(world)
        consumer = join(world, "c1")
        config = TopicConfig("orders", 4, 4, PERM_WRITE)
        world.brokers[BROKER].topic_config_manager.update_topic_config(config)
        world.run(300_000)
        assert consumer.rebalance_impl.topic_subscribe_info_table.get("orders") in ((), [], frozenset())
        assert len(world.views.holders("G", "orders")) == 4  # only_the_readable_is_held


def test_l13_a_list_of_queues_that_forgets_the_retry_topic() -> None:
    with World() as world:
        stage(world)
        mine = AllocateMessageQueueByConfig([MessageQueue("orders", BROKER, i) for i in range(4)])
        join(world, "c1", PushConsumerConfig("G", {"orders": "*"}, strategy=mine))
        world.run(120_000)
        assert world.views.one_owner_each("G", "orders")
        assert len(world.views.no_owner("G", "%RETRY%G")) == 1
