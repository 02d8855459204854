"""Followers of subscriptions and routes are silent on what RocketMQ does."""

from __future__ import annotations

import pytest

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import CreateTopicRequestHeader, TopicRequestHeader
from impl.common.request_code import RequestCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.events import BrokerLiveRemoved, BrokerRegistered, ClockJumped, VersionQueried
from impl.hosts.simulation.tape import RandomTape
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.ports.remoting import Command
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from invariants.refinement.monitor import Monitor, Step
from invariants.refinement.subscription import FEW, NAME, _Group
from invariants.runs import OF_RUNS
from stateful_tests.cover.refinement.watching import BROKER, LOOK_THEN_PUT, NS, ORDERS, Watch, stage
from stateful_tests.stories.scenes import registration
from stateful_tests.stories.storm import STORMY, group_world
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workload import traffic
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World

# Silence --------------------------------------------------------------------------------------------------------------


def test_a_calm_group_is_followed_without_a_word(watch: Watch) -> None:
    with group_world(RandomTape(1)) as world:
        world.run(130_000)
        group = watch.subscription.groups[BROKER]["G"]
        routes, topics = watch.route_info.servers[NS].names[BROKER]
        assert watch.findings == []
        assert len(group.now) == 3
        members = watch.registrations.groups[BROKER]["G"]
        assert sum(members.value("answered", channel) for channel in members.members.values()) == 3
        assert routes.value("at", "MASTER") == f"{BROKER}:10911"
        assert len(topics.exist) >= 8
        assert {routes.now_ms, watch.route_info.servers[NS].now_ms - routes.now_ms} - {0}


@pytest.mark.parametrize("seed", [0, 3, 7, 24])
def test_a_storm_shows_no_step_that_the_models_do_not_have(watch: Watch, seed: int) -> None:
    with group_world(RandomTape(seed), STORMY) as world:
        world.strike()
        world.run(120_000)
        world.heal()
        world.run(100_000)
        assert watch.divergences() <= LOOK_THEN_PUT
        assert watch.broken() <= {"refines_subscription", "live_broker_stays_routed"}


@pytest.mark.parametrize(("workload", "profile", "seed"), [
    ("subscriptions", "crashes", 0), ("subscriptions", "threads", 0), ("routes", "clocks", 0), ("routes", "crashes", 1),
    ("clustering", "network", 0), ("groups", "storm", 0),
])
def test_workloads_show_no_step_that_the_models_do_not_have(
    watch: Watch, workload: str, profile: str, seed: int,
) -> None:
    chosen = WORKLOADS[workload]
    with World(RandomTape(seed), PROFILES[profile]) as world:
        chosen.build(world)
        world.strike()
        world.simulation.kernel.world.spawn("traffic", traffic(world, chosen.deeds))
        world.run(chosen.storm_ms)
        world.heal()
        world.run(60_000)
        assert watch.divergences() <= LOOK_THEN_PUT


def test_more_members_and_topics_than_a_scope_has_elements(watch: Watch) -> None:
    with World() as world:
        stage(world)
        subscription = {f"topic{number}": "*" for number in range(7)}
        for number in range(11):
            world.add_consumer(f"c{number}", PushConsumerConfig("G", subscription))
        world.run(70_000)
        group = watch.subscription.groups[BROKER]["G"]
        named = group.reading.given.named
        assert (len(group.now), len(named["Member"]), len(named["Topic"])) == (11, 11, 8)
        for number in range(10):
            world.call(f"c{number}", world.consumers[f"c{number}"][0].shutdown)
            world.run(2_000)
        world.run(60_000)
        assert len(group.now) == 1
        assert len(named["Member"]) <= 1 + FEW
        assert watch.findings == []


def test_many_connections_of_one_broker(watch: Watch) -> None:
    with World() as world:
        stage(world)
        for _ in range(12):
            world.simulation.network.sever(world.connections(BROKER, NS)[0], 0)
            world.run(31_000)
        routes, _ = watch.route_info.servers[NS].names[BROKER]
        assert len(routes.monitor.reading.given.named["Connection"]) <= 2 + FEW
        assert watch.findings == []


@pytest.mark.parametrize(("subject", "is_entered"), [("shipped", False), ("repaired", True)])
def test_a_question_on_a_new_connection_enters_it_with_a_repair_only(
    watch: Watch, subject: str, *, is_entered: bool,
) -> None:
    with subject_named(subject).running(), World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, force_register=False)
        world.run(100)
        world.simulation.network.sever(world.connections(BROKER, NS)[0], 59_000)
        world.run(50_000)
        asked_on = world.events(VersionQueried)[-1][1].connection
        entered = world.events(BrokerRegistered)[-1][1].connection
        live_info = watch.route_info.servers[NS].table.live(f"{BROKER}:10911")
        assert live_info is not None
        assert asked_on != entered
        assert live_info.connection == (asked_on if is_entered else entered)
        assert watch.findings == []


@pytest.mark.parametrize("repairs", [(), ("deleted_stays_deleted",)])
def test_a_topic_that_was_deleted_while_its_broker_was_away(watch: Watch, repairs: tuple[str, ...]) -> None:
    with active([REPAIRS[name] for name in repairs]), World() as world:
        stage(world)
        world.simulation.kill(BROKER)
        world.run(1_000)
        world.ask(f"{NS}:9876", Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, header=TopicRequestHeader("orders")))
        world.simulation.start(BROKER)
        world.run(31_000)
        assert (BROKER in world.views.routed(NS, "orders")) is not bool(repairs)
    assert watch.divergences() == set()


@pytest.mark.parametrize("is_installed", [True, False])
def test_a_deleted_topic_that_its_broker_has_had_away_and_made_anew_is_installed(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, *, is_installed: bool,
) -> None:
    with active([REPAIRS["deleted_stays_deleted"]]), monkeypatch.context() as patch, World() as world:
        stage(world)
        for address, code in ((f"{NS}:9876", RequestCode.DELETE_TOPIC_IN_NAMESRV),
                              (f"{BROKER}:10911", RequestCode.DELETE_TOPIC_IN_BROKER)):
            world.ask(address, Command(code, header=TopicRequestHeader("orders")))
        world.run(61_000)
        assert watch.divergences() == set()
        if not is_installed:
            patch.setattr(RouteInfoManager, "_create_and_update_queue_data", lambda *_: None)
        header = CreateTopicRequestHeader("orders", 2, 2, PERM_READ | PERM_WRITE)
        world.ask(f"{BROKER}:10911", Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header=header))
        world.run(31_000)
    assert bool(watch.divergences()) is not is_installed


def test_a_clock_that_is_set_and_a_name_server_that_stands_still(watch: Watch) -> None:
    with World() as world:
        stage(world)
        for jump_ms in (-60_000, 3_600_000, -3_600_000):
            world.run(40_000)
            world.simulation.clocks[NS].jump(jump_ms)
            world.simulation.kernel.record(NS, ClockJumped(jump_ms))
        world.run(150_000)
        world.simulation.kernel.pause(world.simulation.nodes[NS], 130_000)
        world.run(300_000)
        assert watch.findings == []


@pytest.mark.parametrize("jump_ms", [-60_000, 60_000])
def test_a_broker_that_only_asks_runs_on_when_the_clock_of_a_name_server_is_set(watch: Watch, jump_ms: int) -> None:
    with subject_named("repaired").running(), World() as world:
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, force_register=False)
        world.run(40_000)
        registered = len(world.events(BrokerRegistered))
        world.simulation.clocks[NS].jump(jump_ms)
        world.simulation.kernel.record(NS, ClockJumped(jump_ms))
        world.run(1_000)
        routes, _ = watch.route_info.servers[NS].names[BROKER]
        world.run(400_000)
        assert len(world.events(BrokerRegistered)) == registered
        assert (watch.findings, routes.unheard, [*routes.running]) == ([], set(), [f"{BROKER}:10911"])


def test_a_broker_that_ends_behind_a_set_clock_is_heard_of_no_more(watch: Watch) -> None:
    with World() as world:
        stage(world)
        world.simulation.clocks[NS].jump(60_000)
        world.simulation.kernel.record(NS, ClockJumped(60_000))
        routes, _ = watch.route_info.servers[NS].names[BROKER]
        routes.begin_anew()
        assert routes.unheard == {f"{BROKER}:10911"}
        world.simulation.kill(BROKER)
        world.run(1_000)
        assert routes.unheard == set()


def test_a_clock_that_is_set_while_the_scan_has_a_time_in_its_hand(watch: Watch) -> None:
    with World() as world:
        stage(world)
        world.run(34_000)
        read = world.pause("scanNotActiveBroker: the timestamp has been read", 10_000)
        world.run_until(lambda: read.hit, 10_000)
        world.simulation.clocks[NS].jump(3_600_000)
        world.simulation.kernel.record(NS, ClockJumped(3_600_000))
        since_ms = world.now_ms
        world.run(10_000)
        assert [event.broker_addr for _, event in world.events(BrokerRegistered, since_ms)] [-1:] == ["broker-b:10911"]
        assert [event.broker_addr for _, event in world.events(BrokerLiveRemoved, since_ms)] == ["broker-b:10911"]
        assert watch.divergences() == set()


def test_a_master_that_registers_as_a_slave_leaves_its_place(watch: Watch) -> None:
    with World() as world:
        stage(world)
        wrapper = world.brokers[BROKER].topic_config_manager.build_topic_config_serialize_wrapper()
        first = registration("late", "late:10911", wrapper)
        world.ask(f"{NS}:9876", first)
        assert world.views.address_of(NS, "late") == "late:10911"
        slave = first.header._replace(broker_id=1)  # it was late on its way
        world.ask(f"{NS}:9876", Command(RequestCode.REGISTER_BROKER, header=slave, body=first.body))
        assert world.views.address_of(NS, "late") is None
        assert watch.divergences() == set()


# Elements -------------------------------------------------------------------------------------------------------------


def member_of(watch: Watch) -> tuple[Monitor, Step]:
    """The monitor of a group with one member, and that this member leaves."""
    group = watch.subscription.groups[BROKER]["G"]
    (member,) = group.now.values()
    return group.monitor, ("leave", (member,))


def test_what_an_event_may_mean_can_depend_on_the_state(watch: Watch) -> None:
    with World() as world:
        stage(world)
        world.add_consumer("c1", ORDERS)
        world.run(1_000)
        monitor, leave = member_of(watch)
        assert monitor.follow("nothing", lambda _: [(leave,)]) == []
        finding, = monitor.follow("nothing", lambda _: [(leave,)])
        assert finding.sentence == "leave is not possible: listed[m]"
        assert finding.signature == (NAME, "leave", "listed[m]")


def test_states_that_do_not_fit_are_dropped_but_for_the_last(watch: Watch) -> None:
    with World() as world:
        stage(world)
        world.add_consumer("c1", ORDERS)
        world.run(1_000)
        monitor, leave = member_of(watch)
        cell = "listed", leave[1][0]
        monitor.follow("perhaps", [[], [leave]])
        assert len(monitor.states) == 2
        monitor.keep(lambda _: False)
        assert len(monitor.states) == 2
        monitor.keep(lambda state: state.get(cell, False))
        assert len(monitor.states) == 1
        assert monitor.value(*cell)


def test_threads_that_are_late_with_one_lock_leave_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each heartbeat says when its loops are over, so that many that wait behind them fit one state."""
    monkeypatch.setattr("invariants.refinement.monitor.MOST", 2)  # routes fit two
    record = run(Plan("repaired", "subscriptions", "threads", "focus"), STRATEGIES["focus"](415))
    assert record.unknown == ""
    monkeypatch.setattr(_Group, "looped", lambda *_: [])
    record = run(Plan("repaired", "subscriptions", "threads", "focus"), STRATEGIES["focus"](415))
    assert "states of Subscriptions fit" in record.unknown


# Every claim has a judge ----------------------------------------------------------------------------------------------


def test_every_concept_that_is_said_to_be_refined_has_a_follower() -> None:
    judged = {follower.name for workload in WORKLOADS.values() for follower in workload.followers(World())}
    claimed = {name for name in OF_RUNS if name.startswith("refines_")}
    assert claimed == {name for name in judged if name.startswith("refines_")}
