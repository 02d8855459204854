"""Views: what they say of the tables of a small world, and that they say nothing of the dead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SQL92
from impl.hosts.simulation.clock import EPOCH_MS
from invariants.views import Filter, Views
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    FIRST,
    NS,
    acknowledge,
    commit,
    heartbeat,
    old_queues,
    stage,
    subscription,
)
from stateful_tests.worlds.world import World

IN_ORDER = PushConsumerConfig("G", {"orders": "*"}, orderly=True)


@pytest.fixture
def world() -> Iterator[World]:
    """A broker with four queues, and one member that has locked them all."""
    with World() as world:
        stage(world)
        old_queues(world, 100)
        world.add_consumer("c1", IN_ORDER, instance_name="shop")
        world.run(5_000)
        yield world


@pytest.fixture
def views(world: World) -> Views:
    return Views(world)


QUEUES = [MessageQueue("orders", BROKER, queue_id) for queue_id in range(4)]


def test_name_servers(world: World, views: Views) -> None:
    assert views.namesrvs() == [NS]
    assert views.routed(NS, "orders") == [BROKER]
    assert views.routed(NS, "payments") == []
    assert views.queue_datas(NS)["orders"] == ((BROKER, 4, 4, 6, 0),)
    assert views.addresses(NS) == {(BROKER, 0): ADDR}
    assert views.address_of(NS, BROKER) == ADDR
    assert views.address_of(NS, BROKER, 1) is None
    assert {addr: one.active for addr, one in views.registered(NS).items()} == {ADDR: True}
    assert views.registered(NS)[ADDR].connection.startswith(f"{BROKER}:")
    for connection in world.connections(BROKER, NS):
        world.simulation.network.sever(connection.peer, None)
    assert [one.active for one in views.registered(NS).values()] == [False]


def test_a_topic_without_any_address_has_no_route(world: World, views: Views) -> None:
    world.namesrvs[NS].route_info.broker_addr_table.remove(BROKER)
    assert views.queue_datas(NS)["orders"]
    assert views.routed(NS, "orders") == []


def test_brokers(world: World, views: Views) -> None:
    world.add_broker("slave", BROKER, topics=[TopicConfig("orders", 8, 8)], broker_id=1)
    world.run(100)
    assert [(one.machine, one.broker_name, one.broker_id, one.broker_addr) for one in views.brokers()] == [
        (BROKER, BROKER, 0, ADDR), ("slave", BROKER, 1, "slave:10911")]
    assert [one.master_addr for one in views.brokers()] == [None, ADDR]
    assert views.topics(BROKER)["orders"] == (BROKER, 4, 4, 6, 0)
    assert views.queues("orders") == [MessageQueue("orders", BROKER, queue_id) for queue_id in range(8)]
    assert views.queues("payments") == []
    slaves = world.brokers["slave"].topic_config_manager.topic_config_table
    slaves.put("orders", TopicConfig("orders", 2, 2))
    assert views.queues("orders") == QUEUES
    slaves.remove("orders")
    assert views.queues("orders") == QUEUES


def test_groups_of_a_broker(world: World, views: Views) -> None:
    assert views.groups(BROKER) == ["G"]
    assert "G" in views.subscription_groups(BROKER)
    assert "H" not in views.subscription_groups(BROKER)
    assert views.listed(BROKER, "G") == ["c1@shop"]
    assert views.listed(BROKER, "H") == []
    assert [*views.members(BROKER, "G").values()] == ["c1@shop"]
    assert next(iter(views.members(BROKER, "G"))).startswith("c1:")
    assert sorted(views.subscriptions(BROKER, "G")) == ["%RETRY%G", "orders"]
    assert views.expressions(BROKER, "G") == {"orders": "*"}
    world.ask(ADDR, heartbeat("c1@shop", subscription("orders")))
    assert views.listed(BROKER, "G") == ["c1@shop", "c1@shop"]


def test_filters_and_producers_of_a_broker(world: World, views: Views) -> None:
    sql = subscription("orders", "a > 1", 100, SQL92)
    world.ask(ADDR, heartbeat("c9", sql, group="H", producer="P"))
    assert views.subscriptions(BROKER, "H")["orders"] == ("a > 1", EPOCH_MS + 100, SQL92)
    assert views.filters(BROKER, "H") == {"orders": Filter(EPOCH_MS + 100, dead=False)}
    assert views.filters(BROKER, "G") == {}
    producers = {group: client_id for (group, _), client_id in views.producers(BROKER).items()}
    assert producers == {"CLIENT_INNER_PRODUCER": "c1@shop", "P": "c9"}
    assert set(views.reply_connections(BROKER)) == {"c1@shop", "c9"}
    assert set(views.reply_connections(BROKER).values()) == {connection for _, connection in views.producers(BROKER)}


def test_locks(world: World, views: Views) -> None:
    locks = {mq: (group, lock.client_id) for (group, mq), lock in views.locks(BROKER).items() if mq.topic == "orders"}
    assert locks == dict.fromkeys(QUEUES, ("G", "c1@shop"))
    assert not any(lock.expired for lock in views.locks(BROKER).values())
    world.simulation.kill("c1")
    world.run(61_000)
    assert all(lock.expired for lock in views.locks(BROKER).values())


def test_offsets_of_a_broker(world: World, views: Views) -> None:
    world.ask(ADDR, commit(2, 30, group="H"))
    assert views.committed(BROKER, "H") == {("orders", 2): 30}
    assert views.groups_with_offsets(BROKER) == {("H", "orders")}
    assert views.stored(FIRST).max_offset == 100
    assert views.stored(FIRST._replace(broker_name="elsewhere")).max_offset == 0


def test_consumers(world: World, views: Views) -> None:
    (one,) = views.consumers()
    assert (one.machine, one.client_id, one.group, one.message_model, one.orderly, one.service_state, one.pause) == (
        "c1", "c1@shop", "G", "CLUSTERING", True, "RUNNING", False)
    assert {held.mq for held in views.process_queues("c1") if not held.dropped and held.locked} >= {*QUEUES}
    assert not any(held.lock_expired for held in views.process_queues("c1"))
    assert views.subscribed("c1", "G")["orders"].sub_string == "*"
    assert views.subscribe_info("c1", "G")["orders"] == {*QUEUES}
    acknowledge(world.consumers["c1"][0], 7, FIRST)
    assert views.offsets("c1", "G")[FIRST] == 7
    assert views.known_addresses("c1") == {(BROKER, 0): ADDR}
    assert views.producing("c1") == {("CLIENT_INNER_PRODUCER", "c1@shop")}
    world.consumers["c1"][0].suspend()
    assert [one.pause for one in views.consumers()] == [True]
    world.call("c1", world.consumers["c1"][0].shutdown)
    world.run(1_000)
    assert len(views.consumers()) == 1
    assert views.in_service() == []


def test_holders(world: World, views: Views) -> None:
    assert views.holders("G", "orders") == {mq: ["c1"] for mq in QUEUES}
    assert views.one_owner_each("G", "orders")
    held = world.consumers["c1"][0].rebalance_impl.process_queue_table.get(FIRST)
    assert held is not None
    held.dropped = True
    assert views.no_owner("G", "orders") == [FIRST]
    assert not views.one_owner_each("G", "orders")
    held.dropped = False
    world.add_consumer("c2", PushConsumerConfig("G", {"orders": "*"}), client_ip="c1", instance_name="shop")
    world.run(5_000)
    assert set(views.two_owners("G", "orders")) == {mq for mq, here in views.holders("G", "orders").items()
                                                    if sorted(here) == ["c1", "c2"]} != set()


def test_groups_are_told_apart(world: World, views: Views) -> None:
    world.add_consumer("c2", PushConsumerConfig("H", {"orders": "a"}), IN_ORDER)
    world.run(5_000)
    assert views.subscribed("c2", "H")["orders"].sub_string == "a"
    assert views.subscribed("c2", "G")["orders"].sub_string == "*"
    assert views.holders("H", "orders") == {mq: ["c2"] for mq in QUEUES}
    world.ask(ADDR, commit(2, 30, group="H"))
    world.ask(ADDR, commit(2, 40, group="G"))
    assert views.committed(BROKER, "H")["orders", 2] == 30
    assert views.committed(BROKER, "G")["orders", 2] == 40


def test_nothing_is_said_of_the_dead(world: World, views: Views) -> None:
    for machine in (NS, BROKER, "c1"):
        world.simulation.kill(machine)
    assert [*views.namesrvs(), *views.brokers(), *views.consumers()] == []
    for of_namesrv in (views.queue_datas, views.addresses, views.registered):
        assert of_namesrv(NS) == {}
    for of_broker in (views.topics, views.producers, views.reply_connections, views.locks):
        assert of_broker(BROKER) == {}
    for of_group in (views.members, views.subscriptions, views.filters, views.committed):
        assert of_group(BROKER, "G") == {}
    assert views.listed(BROKER, "G") == views.groups(BROKER) == views.subscription_groups(BROKER) == []
    assert views.groups_with_offsets(BROKER) == set()
    for of_consumer in (views.subscribed, views.subscribe_info, views.offsets):
        assert of_consumer("c1", "G") == {}
    assert views.process_queues("c1") == []
    assert views.known_addresses("c1") == {}
    assert views.producing("c1") == set()
    assert views.holders("G", "orders") == {}
    assert views.stored(FIRST).max_offset == 0


def test_what_stands_still_is_read_once_and_anew_afterwards(world: World, views: Views) -> None:
    made = []

    def make() -> int:
        made.append(len(views.consumers()))
        return made[-1]

    with views.standing_still():
        before = views.consumers()
        assert views.once("members", make) == 1
        world.simulation.kill("c1")  # which nobody may do here: it shows that nothing is read again
        assert views.consumers() is before
        assert views.once("members", make) == 1
    assert views.consumers() == []
    assert views.once("members", make) == 0
    with views.standing_still():
        assert views.consumers() == []
        assert views.once("members", make) == 0
    assert made == [1, 0, 0]
