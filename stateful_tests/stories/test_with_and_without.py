"""Stories of repairs whose hazard has no story that a sentence refutes: told without the repair, and with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.rebalance import RebalanceImpl
from impl.common.headers import TopicRequestHeader
from impl.common.request_code import RequestCode
from impl.decisions.message_queue import MessageQueue
from impl.events import ConsumerIdsChanged, OffsetCorrected
from impl.hosts.simulation.node import Node
from impl.namesrv.server import SERVER_WORKER_THREADS
from impl.ports.remoting import Command, Connection
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from stateful_tests.stories import test_client_tables as tables, test_offset_reset as resets
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    IN_ORDER,
    LAST,
    NS,
    NS_ADDR,
    acknowledge,
    believes,
    commit_everywhere,
    commits,
    heartbeat,
    join,
    old_queues,
    registration,
    stage,
    start_asking,
    subscription,
    works,
)
from stateful_tests.worlds.world import World

SLOWLY = PushConsumerConfig("G", {"orders": "*"}, pull_interval_ms=100)
"""A member that has not read all of a queue when another pull of it begins elsewhere."""


def with_and_without(*names: str) -> Iterator[tuple[World, bool]]:
    """A world as shipped, and one with these repairs alone; whether it is the latter."""
    for repaired in (False, True):
        with active([REPAIRS[name] for name in names] if repaired else []), World() as world:
            yield world, repaired


def test_d8_nobody_gets_a_lock_of_a_restarted_broker_while_somebody_believes_in_it() -> None:
    for world, repaired in with_and_without("wait_for_old_leases"):
        stage(world)
        first = join(world, "c1", IN_ORDER)
        world.run_until(lambda first=first: believes(first, LAST), 120_000)  # type: ignore[misc]  # no type
        first.suspend()
        second = join(world, "c2", IN_ORDER)
        world.run(40_000)
        world.run_until(lambda world=world: world.now_ms % 20_000 == 6_000, 20_000)  # type: ignore[misc]  # same
        world.restart(BROKER)
        both, one = 0, 0
        for _ in range(150):
            world.run(1_000)
            granted = world.brokers[BROKER].rebalance_lock_manager.holder("G", LAST) == second.instance.client_id
            both += granted and believes(first, LAST)
            one += believes(first, LAST) != believes(second, LAST)
        assert (both == 0) is repaired
        assert one > 60


def test_b12_who_leaves_while_the_scan_stands_still_is_announced_once() -> None:
    for world, _ in with_and_without("expiry_is_announced"):
        stage(world)
        join(world, "c1")
        join(world, "c2")
        for place in ("scanExceptionChannel: between producers and consumers",
                      "scanNotActiveChannel: before the next group"):
            paused = world.pause(place, 1_000)
            world.run_until(lambda paused=paused: paused.hit, 11_000)  # type: ignore[misc]  # same
        since_ms = world.now_ms
        world.simulation.kill("c1")
        world.run(2_000)
        assert len(world.views.listed(BROKER, "G")) == 1
        assert len(world.events(ConsumerIdsChanged, since_ms)) == 1


def test_r1_a_client_forgets_a_topic_that_the_name_server_has_forgotten_and_stays_a_member() -> None:
    for world, repaired in with_and_without("forget_unknown_topics"):
        stage(world)
        consumer = join(world, "c1")
        world.ask(NS_ADDR, Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, header=TopicRequestHeader("orders")))
        world.run(31_000)
        known = consumer.instance.routes.topic_route_table.get("orders")
        assert (known is None) is repaired
        world.run(160_000)
        assert world.views.listed(BROKER, "G") == [consumer.instance.client_id]
        assert world.views.no_owner("G", "orders") == []


def test_r1_a_client_forgets_the_queues_of_a_topic_that_it_unsubscribes() -> None:
    for world, repaired in with_and_without("forget_unsubscribed_topics"):
        stage(world)
        consumer = join(world, "c1", PushConsumerConfig("G", {"orders": "*", "invoices": "*"}))
        consumer.unsubscribe("invoices")
        world.create_topic(BROKER, "invoices", 8)
        world.run(31_000)
        world.call("c1", partial(consumer.subscribe, "invoices", "*"))
        world.run(61_000)
        queues = consumer.rebalance_impl.topic_subscribe_info_table.get("invoices") or ()
        assert len(queues) == (8 if repaired else 4)


def test_n21_a_registration_that_comes_behind_the_end_of_its_connection_is_not_taken() -> None:
    for world, repaired in with_and_without("register_the_living"):
        stage(world)
        wrapper = world.brokers[BROKER].topic_config_manager.build_topic_config_serialize_wrapper()
        register = registration("late", "late:10911", wrapper)
        query = Command(RequestCode.QUERY_DATA_VERSION, header=register.header, body=wrapper.data_version)
        for tester in range(SERVER_WORKER_THREADS):  # all threads of the name server stand still
            world.pause("queryBrokerTopicConfig: the version has been compared", 1_000)
            start_asking(world, f"tester{tester}", query, NS_ADDR)
        world.run(100)
        start_asking(world, "late", register, NS_ADDR)
        world.run(100)
        world.simulation.kill("late")
        world.run(2_000)
        assert (world.views.address_of(NS, "late") is None) is repaired


def test_x10_the_first_pull_of_an_ordered_queue_waits_until_its_offset_can_be_read() -> None:
    for world, repaired in with_and_without("first_pull_reads_again"):
        stage(world)
        old_queues(world, 100)
        commit_everywhere(world, 100)
        world.add_consumer("c1", IN_ORDER)
        world.run(100)
        consumer = world.consumers["c1"][0]
        still_believes = partial(believes, consumer, LAST)
        world.run_until(still_believes, 30_000)
        world.simulation.kernel.pause(world.simulation.nodes[BROKER], 15_000)
        world.run(60_000)
        assert (world.events(OffsetCorrected) == []) is repaired


def test_b30_a_goodbye_waits_for_the_heartbeat_that_was_prepared_before_it() -> None:
    for world, repaired in with_and_without("goodbye_waits_for_heartbeats"):
        stage(world)
        both = (PushConsumerConfig("G", {"orders": "*"}), PushConsumerConfig("H", {"invoices": "*"}))
        world.add_consumer("c1", *both, instance_name="shop")
        world.run(5_000)
        consumer = world.consumers["c1"][0]
        paused = world.pause("sendHeartbeatToAllBroker: before the next broker", 1_000)
        world.call("c1", consumer.instance.send_heartbeat_to_all_broker_with_lock)
        world.run_until(lambda paused=paused: paused.hit, 1_000)  # type: ignore[misc]  # no type
        world.call("c1", consumer.shutdown)
        world.run(5_000)
        assert (world.views.listed(BROKER, "G") == []) is repaired


def test_b9_a_heartbeat_that_is_handled_behind_the_end_of_its_connection_enters_nobody() -> None:
    for world, repaired in with_and_without("goodbye_counts"):
        stage(world)
        paused = world.pause("heartBeat: before registerConsumer", 1_000)
        start_asking(world, "c1", heartbeat("c1", subscription("orders")))
        world.run_until(lambda paused=paused: paused.hit, 1_000)  # type: ignore[misc]  # no type
        world.simulation.kill("c1")
        world.run(2_000)
        assert (world.views.listed(BROKER, "G") == []) is repaired


def test_b9_a_goodbye_counts_for_heartbeats_on_another_connection_of_the_client() -> None:
    for world, repaired in with_and_without("goodbye_counts"):
        stage(world)
        paused = world.pause("heartBeat: before registerConsumer", 1_000)
        start_asking(world, "connection 1", heartbeat("c1", subscription("orders")))
        world.run_until(lambda paused=paused: paused.hit, 1_000)  # type: ignore[misc]  # same
        world.ask(ADDR, tables.goodbye("c1"), tester="connection 2")
        world.run(2_000)
        assert (world.views.listed(BROKER, "G") == []) is repaired


def left_by_a_connection(world: World) -> tuple[str, Callable[[], None]]:
    """A member whose connection has ended, which the broker does not see; and how a late goodbye comes on that."""
    stage(world)
    client_id = str(join(world, "c1").instance.client_id)
    (before,) = world.brokers[BROKER].consumer_manager.consumer_table.values()[0].get_all_channel()
    (connection,) = world.connections("c1", BROKER)
    world.simulation.network.sever(connection, None)
    unregister, _ = world.brokers[BROKER].processors[RequestCode.UNREGISTER_CLIENT]
    late = tables.goodbye(client_id)._replace(opaque=1_000)  # of an earlier process that has made more requests
    return client_id, partial(world.call, BROKER, partial(unregister, cast("Connection", before), late))


def test_b6_a_goodbye_that_comes_behind_a_heartbeat_on_a_newer_connection_ends_nobody() -> None:
    with active([REPAIRS["newest_connection_counts"], REPAIRS["goodbye_on_any_connection"]]), World() as world:
        client_id, say_goodbye = left_by_a_connection(world)
        world.run(31_000)
        say_goodbye()
        world.run(100)
        assert world.views.listed(BROKER, "G") == [client_id]


def test_b9_heartbeats_on_a_newer_connection_than_that_of_a_goodbye_count() -> None:
    with active([REPAIRS["goodbye_counts"]]), World() as world:
        client_id, say_goodbye = left_by_a_connection(world)
        say_goodbye()
        world.run(100)
        assert world.views.listed(BROKER, "G") == []
        world.run(31_000)
        assert world.views.listed(BROKER, "G") == [client_id]


def test_b5_the_newest_connection_of_a_member_counts_though_the_clock_of_the_broker_was_set_back() -> None:
    with active([REPAIRS["newest_connection_counts"]]), World() as world:
        stage(world)
        join(world, "c1")
        (before,) = world.views.members(BROKER, "G")
        (connection,) = world.connections("c1", BROKER)
        world.simulation.network.sever(connection, None)  # the broker does not see it
        world.simulation.clocks[BROKER].jump(-60_000)
        world.run(31_000)
        (now,) = world.views.members(BROKER, "G")
        assert now != before


def test_x21_a_queue_that_is_taken_while_a_reset_waits_is_dropped_before_it_leaves() -> None:
    for world, repaired in with_and_without("reset_drops_what_it_removes"):
        consumer = resets.idle_at_40(world, SLOWLY)
        world.run(7_000)
        world.ask(ADDR, resets.reset(0))
        world.run(100)
        consumer.rebalance_impl.process_queue_table.remove(LAST)
        paused = world.pause("updateProcessQueueTableInRebalance: before putIfAbsent", 1_000)
        world.call("c1", partial(consumer.rebalance_impl.do_rebalance, is_order=False, threads=consumer.node))
        world.run_until(lambda paused=paused: paused.hit, 1_000)  # type: ignore[misc]  # same
        world.run(6_000)
        taken = consumer.rebalance_impl.process_queue_table.get(LAST)
        assert taken is not None
        assert not taken.dropped
        world.run(resets.RESET_MS)
        assert consumer.rebalance_impl.process_queue_table.get(LAST) is not taken
        assert taken.dropped is repaired


def test_x23_an_offset_whose_read_ends_late_does_not_replace_what_was_settled_meanwhile() -> None:
    for world, repaired in with_and_without("late_read_changes_nothing"):
        consumer = resets.idle_at_40(world)
        rebalance, since_ms = consumer.rebalance_impl, world.now_ms
        rebalance.process_queue_table.remove(LAST)
        run = partial(rebalance.do_rebalance, is_order=False, threads=consumer.node)
        paused = world.pause("readOffset: the broker has answered", 10_000)
        world.call("c1", run)
        world.run_until(lambda paused=paused: paused.hit, 1_000)  # type: ignore[misc]  # same
        world.call("c1", run)
        world.run_until(lambda r=rebalance: r.process_queue_table.contains_key(LAST), 1_000)  # type: ignore[misc]  # same
        works(consumer, 0)
        acknowledge(world, consumer, 52)
        world.run(20_000)
        sent = commits(world, LAST, since_ms)
        assert 52 in sent
        assert (sent == sorted(sent)) is repaired


def test_x22_a_run_of_a_rebalance_removes_only_what_it_has_dropped() -> None:
    for world, repaired in with_and_without("run_removes_its_own"):
        rebalance = resets.idle_at_40(world).rebalance_impl
        node = world.simulation.nodes["c1"]

        def run(world: World, mqs: list[MessageQueue], rebalance: RebalanceImpl, node: Node) -> None:
            world.call("c1", lambda: rebalance.update_process_queue_table("orders", mqs, is_order=False, threads=node))

        mqs = list(rebalance.process_queue_table.key_set())
        others = [mq for mq in mqs if mq != LAST]
        paused = world.pause("updateProcessQueueTableInRebalance: the queue is dropped", 1_000)
        run(world, others, rebalance, node)
        world.run_until(lambda paused=paused: paused.hit, 1_000)  # type: ignore[misc]  # same
        run(world, others, rebalance, node)
        world.run(100)
        run(world, mqs, rebalance, node)  # the list has changed, and is as it was
        world.run(100)
        taken = rebalance.process_queue_table.get(LAST)
        assert taken is not None
        assert not taken.dropped
        world.run(2_000)
        assert not taken.dropped
        assert (rebalance.process_queue_table.get(LAST) is taken) is repaired
        run(world, mqs, rebalance, node)
        world.run(100)
        assert (rebalance.process_queue_table.get(LAST) is taken) is repaired
