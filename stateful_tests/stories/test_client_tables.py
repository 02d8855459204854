"""More stories of a broker's client tables: subscriptions, filters, producers, offsets, and brokers that disagree."""

from __future__ import annotations

from itertools import pairwise

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import (
    ConsumerOffsetRequestHeader,
    QueryCorrectionOffsetHeader,
    UnregisterClientRequestHeader,
)
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.subscription import SQL92
from impl.events import ConsumerIdsChanged, ConsumerRemoved, SubscriptionUpdated
from impl.hosts.simulation.clock import EPOCH_MS
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    ORDERS,
    ask_only,
    commit,
    heartbeat,
    held,
    join,
    stage,
    start_asking,
    subscription,
)
from stateful_tests.worlds.world import World

SQL = subscription("orders", "a > 1", 100, SQL92)
BROKEN_SQL = subscription("orders", "a >", 300, SQL92)


def goodbye(client_id: str) -> Command:
    return Command(RequestCode.UNREGISTER_CLIENT, header=UnregisterClientRequestHeader(client_id, None, "G"))


def filter_version(world: World) -> int | None:
    """The version of the living filter that a pull would find, as a story says it; None: it would be answered 27."""
    found = world.brokers[BROKER].consumer_filter_manager.get("orders", "G")
    return None if found is None or found.is_dead() else found.client_version - EPOCH_MS


def table_version(world: World, topic: str = "orders") -> int:
    """The version of the topic in the table, as a story says it; -1: there is none."""
    found = world.brokers[BROKER].consumer_manager.find_subscription_data("G", topic)
    return -1 if found is None else found.sub_version - EPOCH_MS


def test_b4_between_subscribe_and_heartbeat_a_pull_carries_a_version_that_the_broker_does_not_know() -> None:
    with World() as world:
        stage(world)
        consumer = join(world, "c1")
        paused = world.pause("subscribe: before the heartbeat", 10_000)
        world.call("c1", lambda: consumer.subscribe("orders", "a"))
        world.run_until(lambda: paused.hit, 10)
        mine = consumer.rebalance_impl.subscription_inner.get("orders")
        assert mine is not None
        for _ in range(90):
            world.run(100)
            assert mine.sub_version - EPOCH_MS > table_version(world)  # pull_finds_its_subscription: answered 25
        world.run(2_000)
        assert mine.sub_version - EPOCH_MS == table_version(world)
        assert not held(consumer).dropped


def test_b6_a_goodbye_on_another_connection_removes_nobody_and_is_announced() -> None:
    with World() as world:
        stage(world)
        world.ask(ADDR, heartbeat("c1", subscription("orders")), tester="connection 1")
        since_ms = world.now_ms
        assert world.ask(ADDR, goodbye("c1"), tester="connection 2").code == ResponseCode.SUCCESS
        assert world.views.listed(BROKER, "G") == ["c1"]
        assert world.events(ConsumerRemoved, since_ms) == []
        assert [event.delivered for _, event in world.events(ConsumerIdsChanged, since_ms)] == [True]
        world.run(110_000)
        assert world.views.listed(BROKER, "G") == ["c1"]  # leaving_member_stays_gone


def test_b14_members_are_told_of_a_subscription_before_its_filter_is_there() -> None:
    with World() as world:
        stage(world, enable_property_filter=True)
        paused = world.pause("registerConsumer: before REGISTER", 100)
        answers = start_asking(world, "c1", heartbeat("c1", SQL))
        world.run_until(lambda: paused.hit, 50)
        assert [event.delivered for _, event in world.events(ConsumerIdsChanged)] == [True]
        assert table_version(world) == 100
        assert filter_version(world) is None
        world.run_until(lambda: bool(answers), 200)
        assert filter_version(world) == 100


def test_b15_brokers_that_a_heartbeat_reaches_one_after_the_other_disagree_about_the_members() -> None:
    with World() as world:
        stage(world, BROKER, "broker-b")
        join(world, "c1")
        world.run_until(lambda: world.now_ms % 20_000 == 15_000, 20_000)
        ask_only(world, "broker-b")
        world.simulation.network.partition("c2", BROKER)
        world.simulation.kernel.pause(world.simulation.nodes["c1"], 100)
        world.add_consumer("c2", ORDERS)
        world.run(50)
        ask_only(world, BROKER)  # c2 has asked, c1 has not
        world.run(1_000)

        assert len(world.views.listed("broker-b", "G")) == 2
        assert len(world.views.listed(BROKER, "G")) == 1
        assert len(world.views.two_owners("G", "orders")) == 4
        world.simulation.network.heal()
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 60_000)


def test_b16_the_last_heartbeat_says_how_the_group_consumes() -> None:
    with World() as world:
        stage(world)
        join(world, "c1")
        world.run(7_000)
        join(world, "c2", PushConsumerConfig("G", {"orders": "*"}, message_model=BROADCASTING))
        models = []
        for _ in range(90):
            world.run(1_000)
            info = world.brokers[BROKER].consumer_manager.get_consumer_group_info("G")
            assert info is not None
            models.append(info.message_model)
        turns = sum(later != earlier for earlier, later in pairwise(models))
        assert set(models) == {BROADCASTING, CLUSTERING}
        assert turns >= 4


def test_b20_a_query_deletes_the_offsets_of_the_groups_that_it_is_to_leave_out() -> None:
    with World() as world:
        stage(world)
        world.ask(ADDR, commit(0, 50))
        world.ask(ADDR, commit(0, 70, topic="invoices"))
        world.ask(ADDR, commit(0, 80, group="H"))
        header = QueryCorrectionOffsetHeader("orders", "H", "G")
        answer = world.ask(ADDR, Command(RequestCode.QUERY_CORRECTION_OFFSET, header=header))
        assert answer.body == {0: 80}
        offsets = world.brokers[BROKER].consumer_offset_manager
        assert [offsets.query_offset("G", topic, 0) for topic in ("orders", "invoices")] == [-1, -1]
        assert offsets.query_offset("H", "orders", 0) == 80
        question = ConsumerOffsetRequestHeader("G", "orders", 0)
        known = world.ask(ADDR, Command(RequestCode.QUERY_CONSUMER_OFFSET, header=question))
        assert (known.code, known.header.offset) == (ResponseCode.SUCCESS, 0)  # G would begin anew


def offsets_of(world: World, *queue_ids: int) -> list[int]:
    """What the broker has for these queues of orders, in G; -1 for none."""
    return [world.brokers[BROKER].consumer_offset_manager.query_offset("G", "orders", one) for one in queue_ids]


def commit_twice_at_once(world: World) -> None:
    """Two first commits of a group: both are answered with success."""
    paused = world.pause("commitOffset: the map has been looked up", 100)
    first = start_asking(world, "t1", commit(0, 50))
    world.run_until(lambda: paused.hit, 50)
    assert world.ask(ADDR, commit(1, 60), tester="t2").code == ResponseCode.SUCCESS
    assert offsets_of(world, 1) == [60]
    world.run_until(lambda: bool(first), 200)
    assert first[0].code == ResponseCode.SUCCESS


def begin_again(world: World) -> None:
    """The broker is shut down, and started again."""
    broker = world.brokers[BROKER]
    world.call(BROKER, broker.shutdown)
    world.run(5_000)
    world.restart(BROKER)
    world.run_until(lambda: world.brokers.get(BROKER) not in (None, broker), 10_000)


def test_b20_what_a_query_has_deleted_is_gone_after_a_restart() -> None:
    with World() as world:
        stage(world)
        world.ask(ADDR, commit(0, 50))
        header = QueryCorrectionOffsetHeader("orders", "H", "G")
        world.ask(ADDR, Command(RequestCode.QUERY_CORRECTION_OFFSET, header=header))
        begin_again(world)
        assert offsets_of(world, 0) == [-1]


def test_b21_of_two_first_commits_one_is_lost() -> None:
    with World() as world:
        stage(world)
        commit_twice_at_once(world)
        assert offsets_of(world, 0, 1) == [50, -1]


def test_b21_what_was_lost_of_two_first_commits_is_gone_after_a_restart() -> None:
    with World() as world:
        stage(world)
        commit_twice_at_once(world)
        begin_again(world)
        assert offsets_of(world, 0, 1) == [50, -1]


def test_b23_replies_no_longer_find_a_producer_that_has_reconnected() -> None:
    with World() as world:
        stage(world)
        beat = heartbeat("p1", producer="P")
        world.ask(ADDR, beat, tester="connection 1")
        world.ask(ADDR, beat, tester="connection 2")
        producers = world.brokers[BROKER].producer_manager
        assert producers.find_channel("p1") is not None
        world.simulation.kill("connection 1")
        for _ in range(10):
            world.run(30_000)
            world.ask(ADDR, beat, tester="connection 2")
            assert producers.get_available_channel("P") is not None
            assert producers.find_channel("p1") is None


def test_b24_heartbeats_that_wait_for_a_thread_cost_everybody_the_membership() -> None:
    with World() as world:
        stage(world, cores=1)
        consumers = [join(world, machine) for machine in ("c1", "c2", "c3")]
        world.run(20_000)
        paused = world.pause("heartBeat: before registerConsumer", 40_000)  # the one thread of the pool
        start_asking(world, "slow", heartbeat("slow", subscription("orders")), timeout_ms=60_000)
        world.run_until(lambda: paused.hit, 100)
        world.run(35_000)
        assert world.views.listed(BROKER, "G") == []  # live_member_is_never_forgotten
        assert [consumer.service_state for consumer in consumers] == ["RUNNING"] * 3
        world.run_until(lambda: len(world.views.listed(BROKER, "G")) >= 3, 40_000)


def test_b25_a_group_whose_heartbeat_waits_too_long_has_no_retry_topic() -> None:
    with World() as world:
        stage(world)
        paused = world.pause("createTopic: before nextVersion", 10_000)
        start_asking(world, "c1", heartbeat("c1", subscription("orders")), timeout_ms=20_000)
        world.run_until(lambda: paused.hit, 100)
        second = heartbeat("c2", subscription("orders"), group="H")
        assert world.ask(ADDR, second, timeout_ms=5_000).code == ResponseCode.SUCCESS
        topics = world.brokers[BROKER].topic_config_manager
        assert world.views.listed(BROKER, "H") == ["c2"]
        assert topics.select_topic_config("%RETRY%H") is None
        world.run(10_000)
        world.ask(ADDR, second)
        assert topics.select_topic_config("%RETRY%H") is not None


def test_b26_a_text_that_does_not_compile_takes_the_filter_and_raises_the_version() -> None:
    with World() as world:
        stage(world, enable_property_filter=True)
        world.ask(ADDR, heartbeat("c1", SQL), tester="c1")
        assert (table_version(world), filter_version(world)) == (100, 100)
        assert world.ask(ADDR, heartbeat("c2", BROKEN_SQL), tester="c2").code == ResponseCode.SUCCESS
        assert (table_version(world), filter_version(world)) == (300, None)  # everybody's pull is answered 27
        world.ask(ADDR, heartbeat("c1", SQL), tester="c1")
        assert (table_version(world), filter_version(world)) == (300, 100)  # c2's pull is answered 28


def test_b26_a_goodbye_that_is_handled_after_a_new_heartbeat_kills_the_filter() -> None:
    with World() as world:
        stage(world, enable_property_filter=True)
        world.ask(ADDR, heartbeat("c1", SQL), tester="c1")
        paused = world.pause("unregisterConsumer: before UNREGISTER", 100)
        answers = start_asking(world, "c1", goodbye("c1"))
        world.run_until(lambda: paused.hit, 50)
        world.ask(ADDR, heartbeat("c2", SQL), tester="c2")
        assert filter_version(world) == 100
        world.run_until(lambda: bool(answers), 200)
        assert world.views.listed(BROKER, "G") == ["c2"]
        assert filter_version(world) is None
        world.ask(ADDR, heartbeat("c2", SQL), tester="c2")
        assert filter_version(world) == 100


def test_b27_the_topic_of_a_member_that_left_stays_until_another_one_is_heard_of() -> None:
    with World() as world:
        stage(world)
        world.ask(ADDR, heartbeat("c1", subscription("invoices")), tester="c1")
        both = heartbeat("c2", subscription("orders"), subscription("invoices"))
        world.ask(ADDR, both, tester="c2")
        world.ask(ADDR, goodbye("c2"), tester="c2")
        world.run(29_000)
        assert world.views.listed(BROKER, "G") == ["c1"]
        assert sorted(world.views.expressions(BROKER, "G")) == ["invoices", "orders"]
        world.ask(ADDR, heartbeat("c1", subscription("invoices")), tester="c1")
        assert sorted(world.views.expressions(BROKER, "G")) == ["invoices"]


def test_l4_a_member_whose_clock_is_behind_changes_its_expression_and_nobody_takes_it() -> None:
    with World() as world:
        stage(world)
        join(world, "c1", PushConsumerConfig("G", {"orders": "a"}))
        late = join(world, "c2", PushConsumerConfig("G", {"orders": "a"}))
        world.simulation.clocks["c2"].jump(-3_600_000)
        world.call("c2", lambda: late.subscribe("orders", "a || b"))
        world.run(120_000)
        assert world.views.expressions(BROKER, "G") == {"orders": "a"}
        mine = late.rebalance_impl.subscription_inner.get("orders")
        assert mine is not None
        assert mine.sub_string == "a || b"
        updates = {event.sub_string for _, event in world.events(SubscriptionUpdated) if event.topic == "orders"}
        assert updates == {"a"}


def test_l4_a_group_that_comes_back_with_a_clock_that_is_behind_finds_its_filter_dead() -> None:
    with World() as world:
        stage(world, enable_property_filter=True)
        world.ask(ADDR, heartbeat("c1", SQL), tester="c1")
        world.ask(ADDR, goodbye("c1"), tester="c1")
        behind = subscription("orders", "a > 1", 50, SQL92)
        for _ in range(3):
            assert world.ask(ADDR, heartbeat("c1", behind), tester="c1").code == ResponseCode.SUCCESS
            assert (table_version(world), filter_version(world)) == (50, None)  # every pull is answered 27
        world.ask(ADDR, heartbeat("c1", subscription("orders", "a > 1", 101, SQL92)), tester="c1")
        assert (table_version(world), filter_version(world)) == (101, 101)
