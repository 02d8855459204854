"""Stories of two members of a group that hold the same queue at one instant."""

from __future__ import annotations

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.message import MessageExt
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.events import LockGranted, QueueTaken
from stateful_tests.stories.scenes import ask_only, believes
from stateful_tests.worlds.world import World

ORDERS = PushConsumerConfig("G", {"orders": "*"})
IN_ORDER = PushConsumerConfig("G", {"orders": "*"}, orderly=True)


def brokers(world: World, *machines: str) -> None:
    world.add_namesrv()
    for machine in machines:
        world.add_broker(machine, machine, topics=[TopicConfig("orders", 4, 4)])
        world.run(100)


def join(world: World, machine: str, config: PushConsumerConfig = ORDERS) -> DefaultMQPushConsumerImpl:
    world.add_consumer(machine, config)
    world.run(5_000)
    return world.consumers[machine][0]


def test_d1_a_joiner_takes_its_share_before_the_owner_has_given_it_up() -> None:
    with World() as world:
        brokers(world, "broker-a")
        join(world, "c1")
        assert world.views.one_owner_each("G", "orders")

        world.simulation.kernel.pause(world.simulation.nodes["c1"], 5_000)
        join(world, "c2")

        assert len(world.views.two_owners("G", "orders")) == 2
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 20_000)


def test_d2_a_restarted_broker_knows_only_who_has_spoken_to_it_since() -> None:
    with World() as world:
        brokers(world, "broker-a", "broker-b")
        world.add_consumer("c1", ORDERS)
        world.run(10_000)
        join(world, "c2")
        ask_only(world, "broker-b")
        assert world.views.one_owner_each("G", "orders")

        world.run(5_000)
        world.restart("broker-b")
        world.run_until(lambda: world.views.two_owners("G", "orders") != [], 30_000)

        assert len(world.views.listed("broker-b", "G")) == 1
        assert len(world.views.listed("broker-a", "G")) == 2
        assert all(world.simulation.nodes[machine].alive for machine in ("c1", "c2"))
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 60_000)


def test_d4_as_long_as_one_broker_alone_has_lost_a_member_there_are_two_owners() -> None:
    with World() as world:
        brokers(world, "broker-a", "broker-b")
        join(world, "c1")
        join(world, "c2")
        ask_only(world, "broker-b")
        network = world.simulation.network
        network.partition("c1", "broker-b")
        network.partition("broker-b", "c1")
        for connection in world.connections("c1", "broker-b"):
            network.sever(connection.peer, None)

        world.run_until(lambda: world.views.two_owners("G", "orders") != [], 30_000)
        for _ in range(300):
            world.run(1_000)
            assert len(world.views.two_owners("G", "orders")) == 4

        world.heal()
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 80_000)


def test_d6_two_processes_with_one_client_id_own_the_same_half_and_nobody_the_other() -> None:
    with World() as world:
        brokers(world, "broker-a")
        for machine in ("c1", "c2"):
            world.add_consumer(machine, ORDERS, client_ip="10.0.0.1", instance_name="billing")
        world.run(100_000)
        for _ in range(100):
            world.run(1_000)
            assert len(world.views.two_owners("G", "orders")) == 2
            assert len(world.views.no_owner("G", "orders")) == 2
        assert world.views.listed("broker-a", "G") == ["10.0.0.1@billing"] * 2


def owner_that_came_back(world: World, *, cached: bool) -> tuple[DefaultMQPushConsumerImpl, MessageQueue]:
    """c1 gives a queue to a joiner, with or without cached messages, gets it back, and does not rebalance any more."""
    brokers(world, "broker-a")
    first = join(world, "c1", IN_ORDER)
    world.run(20_000)
    mq = MessageQueue("orders", "broker-a", 3)
    pq = first.rebalance_impl.process_queue_table.get(mq)
    assert pq is not None
    assert believes(first, mq)
    if cached:
        pq.put_message([MessageExt(0)])
    world.run_until(lambda: world.now_ms % 20_000 == 6_500, 20_000)
    world.add_consumer("c2", IN_ORDER)
    world.run_until(lambda: pq.dropped, 1_000)
    world.simulation.kill("c2")
    world.run_until(lambda: believes(first, mq), 20_000 if cached else 100_000)  # without them c2 has had the lock
    first.suspend()
    return first, mq


def test_d9_a_delayed_unlock_frees_the_lock_that_its_owner_has_taken_anew() -> None:
    with World() as world:
        first, mq = owner_that_came_back(world, cached=True)
        world.run_until(lambda: world.brokers["broker-a"].rebalance_lock_manager.holder("G", mq) is None, 20_000)
        assert believes(first, mq)

        world.add_consumer("c3", IN_ORDER)
        second = world.consumers["c3"][0]
        world.run_until(lambda: believes(second, mq), 2_000)

        assert believes(first, mq)
        assert mq in world.views.two_owners("G", "orders")


def test_d9_does_not_happen_if_nothing_was_cached() -> None:
    with World() as world:
        first, mq = owner_that_came_back(world, cached=False)
        for _ in range(20):
            world.run(1_000)
            assert world.brokers["broker-a"].rebalance_lock_manager.holder("G", mq) == first.instance.client_id
        second = join(world, "c3", IN_ORDER)
        world.run(60_000)
        assert believes(first, mq)
        assert not believes(second, mq)


def test_d10_an_orderly_shutdown_gives_the_locks_away_before_its_listener_and_its_offsets() -> None:
    with World() as world:
        brokers(world, "broker-a")
        first = join(world, "c1", IN_ORDER)
        world.run(22_000)
        first.suspend()
        second = join(world, "c2", IN_ORDER)
        world.run(14_800)  # c2 rebalances again in 0.2 s, the offsets of c1 are committed again in 3 s
        mq = MessageQueue("orders", "broker-a", 3)
        assert world.views.two_owners("G", "orders") == world.views.no_owner("G", "orders") == []
        pq = first.rebalance_impl.process_queue_table.get(mq)
        assert pq is not None
        pq.consume_lock.held = True  # its listener is at work, and does not mind being interrupted
        first.offset_store.update_offset(mq, 5, increase_only=True)
        since_ms = world.now_ms

        world.pause("shutdown: between unlockAll and persistConsumerOffset", 40_000)
        world.call("c1", first.shutdown)
        world.run_until(lambda: mq in world.views.two_owners("G", "orders"), 30_000)

        taken = {event.mq: event.offset for _, event in world.events(QueueTaken, since_ms)}
        granted = [event.client_id for _, event in world.events(LockGranted, since_ms) if event.mq == mq]
        assert taken[mq] == 0
        assert granted[-1] == second.instance.client_id
        assert pq.consume_lock.held
