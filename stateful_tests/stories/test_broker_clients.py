"""Stories of one broker's client tables: members that are listed and should not be, and the other way round."""

from __future__ import annotations

from impl.broker.client_channel_info import CHANNEL_EXPIRED_TIMEOUT_MS
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.events import (
    ConsumerIdsChanged,
    ConsumerRegistered,
    ConsumerRemoved,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from stateful_tests.worlds.world import World

BROKER = "broker-a"
ORDERS = PushConsumerConfig("G", {"orders": "*"})
INVOICES = PushConsumerConfig("H", {"invoices": "*"})


def one_broker(world: World) -> None:
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 4, 4), TopicConfig("invoices", 4, 4)])
    world.run(100)


def join(world: World, machine: str, *configs: PushConsumerConfig) -> DefaultMQPushConsumerImpl:
    """One process; its consumers share an instance, and so a connection and a heartbeat."""
    world.add_consumer(machine, *configs, instance_name="shop")
    world.run(5_000)
    return world.consumers[machine][0]


def removals(world: World, why: str, since_ms: int) -> list[ConsumerRemoved]:
    return [event for _, event in world.events(ConsumerRemoved, since_ms) if event.why == why]


def test_b1_members_with_different_topics_remove_each_others() -> None:
    with World() as world:
        one_broker(world)
        join(world, "c1", ORDERS)
        join(world, "c2", PushConsumerConfig("G", {"invoices": "*"}))
        since_ms = world.now_ms
        tables = []
        for _ in range(120):
            world.run(1_000)
            tables.append(tuple(world.views.expressions(BROKER, "G")))

        assert {("orders",), ("invoices",)} <= set(tables)
        assert {"orders", "invoices"} not in [set(table) for table in tables]
        removed = [event.topic for _, event in world.events(SubscriptionRemoved, since_ms)]
        assert removed.count("orders") >= 4
        assert removed.count("invoices") >= 4
        assert len(world.events(ConsumerIdsChanged, since_ms)) >= 2 * len(removed)


def test_b3_of_two_expressions_the_one_with_the_greatest_version_filters_for_all() -> None:
    with World() as world:
        one_broker(world)
        join(world, "c1", PushConsumerConfig("G", {"orders": "a"}))
        join(world, "c2", PushConsumerConfig("G", {"orders": "b"}))
        world.run(120_000)

        filters = {
            machine: world.consumers[machine][0].rebalance_impl.subscription_inner.get("orders")
            for machine in ("c1", "c2")
        }
        newest = max((sub for sub in filters.values() if sub), key=lambda sub: sub.sub_version)
        assert {sub.sub_string for sub in filters.values() if sub} == {"a", "b"}
        assert world.views.expressions(BROKER, "G") == {"orders": newest.sub_string}
        assert world.views.one_owner_each("G", "orders")
        updates = [event.sub_string for _, event in world.events(SubscriptionUpdated) if event.topic == "orders"]
        assert {"a", "b"} == set(updates)


def test_b7_a_heartbeat_enters_a_group_object_that_has_just_been_removed() -> None:
    with World() as world:
        one_broker(world)
        last = join(world, "c1", ORDERS)
        paused = world.pause("registerConsumer: before updateChannel", 1_000)
        world.add_consumer("c2", ORDERS)
        world.run_until(lambda: paused.hit, 1_000)
        since_ms = world.now_ms

        world.call("c1", last.shutdown)
        world.run(1_500)

        (_, entered), = world.events(ConsumerRegistered, since_ms)
        assert entered.client_id == world.consumers["c2"][0].instance.client_id
        assert not entered.attached
        assert world.consumers["c2"][0].service_state == "RUNNING"
        assert world.views.listed(BROKER, "G") == []
        assert world.run_until(lambda: world.views.listed(BROKER, "G") != [], 30_000) > 20_000


def ghost(world: World, *, broken_before: bool) -> DefaultMQPushConsumerImpl:
    """The consumer of G leaves while its heartbeat stands still at the broker; the one of H stays.

    broken_before -- the heartbeat is the first one on its connection.
    """
    one_broker(world)
    leaver = join(world, "c1", ORDERS, INVOICES)
    world.run(20_000)
    if broken_before:
        for connection in world.connections("c1", BROKER):
            world.simulation.network.sever(connection, 0)
    paused = world.pause("heartBeat: before registerConsumer", 1_000)
    world.run_until(lambda: paused.hit, 30_000)
    world.call("c1", leaver.shutdown)
    world.run(500)
    assert not leaver.instance.consumer_table.contains_key("G")
    world.run(1_500)
    return leaver


def test_b9_a_heartbeat_that_is_handled_after_the_goodbye_makes_a_ghost() -> None:
    with World() as world:
        leaver = ghost(world, broken_before=False)
        assert leaver.service_state == "SHUTDOWN_ALREADY"
        assert world.views.listed(BROKER, "G") == [leaver.instance.client_id]


def test_b9_the_ghost_on_an_old_connection_expires_while_its_member_connects_anew() -> None:
    with World() as world:
        one_broker(world)
        member = join(world, "c1", ORDERS)
        late = world.pause("heartBeat: before registerConsumer", 40_000)  # the client closes the connection meanwhile
        world.run_until(lambda: late.hit, 40_000)
        world.run(130_000)
        join(world, "c2", ORDERS)  # all members rebalance, and look into the list again 20 s later
        again = world.pause("heartBeat: before registerConsumer", 40_000)
        world.run_until(lambda: again.hit, 40_000)
        since_ms = world.now_ms
        world.run(20_000)

        assert [event.client_id for event in removals(world, "closed", since_ms)] == [member.instance.client_id]
        assert [event.client_id for event in removals(world, "expired", since_ms)] == [member.instance.client_id]
        assert member.service_state == "RUNNING"
        assert world.views.listed(BROKER, "G") == [world.consumers["c2"][0].instance.client_id]


def test_b11_the_expiry_of_the_ghost_takes_the_living_group_with_it() -> None:
    with World() as world:
        leaver = ghost(world, broken_before=False)
        since_ms = world.now_ms
        world.run_until(lambda: world.views.listed(BROKER, "G") == [], CHANNEL_EXPIRED_TIMEOUT_MS + 11_000)
        world.run(10)

        assert [event.group for event in removals(world, "expired", since_ms)] == ["G"]
        assert [event.group for event in removals(world, "closed", since_ms)] == ["H"]
        assert leaver.instance.consumer_table.key_set() == ("H",)
        assert world.views.listed(BROKER, "H") == []


def test_b11_a_member_that_is_heard_while_the_scan_looks_at_it_expires() -> None:
    with World() as world:
        one_broker(world)
        member = join(world, "c1", ORDERS, INVOICES)
        world.run(19_500 - world.now_ms)
        for ms in (0, 1_000):  # the second group and the producer of the client are stamped a second apart
            world.pause("heartBeat: before the next group", ms)
        world.call("c1", member.instance.send_heartbeat_to_all_broker_with_lock)
        world.run(2_000)
        member.instance.lock_heartbeat.held = True  # a heartbeat that takes two minutes: no other one is sent
        looked = world.pause("scanNotActiveChannel: before a channel is closed", 1_000)
        world.run_until(lambda: looked.hit, 125_000)
        since_ms = world.now_ms
        member.instance.lock_heartbeat.held = False
        world.call("c1", member.instance.send_heartbeat_to_all_broker_with_lock)
        world.run(1_500)

        assert {event.group for _, event in world.events(ConsumerRegistered, since_ms)} == {"G", "H"}
        assert [event.group for event in removals(world, "expired", since_ms)] == ["H"]


def test_b10_a_ghost_that_shares_its_info_with_a_living_group_never_expires() -> None:
    with World() as world:
        leaver = ghost(world, broken_before=True)
        world.run(600_000)
        assert world.views.listed(BROKER, "G") == [leaver.instance.client_id]
        assert world.views.listed(BROKER, "H") == [leaver.instance.client_id]
        assert leaver.instance.consumer_table.key_set() == ("H",)


def test_b12_nobody_is_told_of_a_member_that_the_scan_evicts() -> None:
    with World() as world:
        one_broker(world)
        silent = join(world, "c1", ORDERS)
        join(world, "c2", ORDERS)
        assert world.views.one_owner_each("G", "orders")
        silent.instance.lock_heartbeat.held = True  # a heartbeat that never ends: no other one is sent

        world.run_until(lambda: len(world.views.listed(BROKER, "G")) == 1, 160_000)
        since_ms = world.now_ms - 10
        world.run(100)

        (evicted,) = removals(world, "expired", since_ms)
        assert evicted.client_id == silent.instance.client_id
        assert world.events(ConsumerIdsChanged, since_ms) == []


def test_b12_a_member_whose_connection_closes_is_announced() -> None:
    with World() as world:
        one_broker(world)
        join(world, "c1", ORDERS)
        join(world, "c2", ORDERS)
        since_ms = world.now_ms
        world.simulation.kill("c1")
        world.run(100)
        assert [event.group for event in removals(world, "closed", since_ms)] == ["G"]
        assert [event.delivered for _, event in world.events(ConsumerIdsChanged, since_ms)] == [True]


def test_b17_a_call_that_times_out_evicts_its_caller() -> None:
    with World() as world:
        one_broker(world)
        consumer = join(world, "c1", ORDERS)
        since_ms = world.now_ms
        world.simulation.kernel.pause(world.simulation.nodes[BROKER], 30_000)
        world.run(30_010)
        world.run_until(lambda: world.views.listed(BROKER, "G") == [], 1_000)

        removed = removals(world, "closed", since_ms)
        assert {event.client_id for event in removed} == {consumer.instance.client_id}
        assert consumer.service_state == "RUNNING"
        assert world.simulation.nodes["c1"].alive
        world.run_until(lambda: world.views.listed(BROKER, "G") == [consumer.instance.client_id], 30_000)
