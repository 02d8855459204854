"""Followers of subscriptions and routes: silent on what RocketMQ does, loud on hazards and on planted faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.reported_tables import ReportedConsumerManager, ReportedGroupInfo
from impl.client.push_consumer import PushConsumerConfig
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.subscription import SubscriptionData
from impl.events import (
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    ClientChannelClosed,
    ClockJumped,
    ConsumerRegistered,
    ConsumerRemoved,
    GroupEntered,
    GroupRemoved,
)
from impl.hosts.simulation.kernel import Record
from impl.hosts.simulation.process import Process
from impl.hosts.simulation.tape import RandomTape
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.namesrv.server import ReportedRouteInfo
from impl.ports.remoting import Command
from impl.ports.threads import Interleave
from invariants.finding import Finding
from invariants.refinement.follower import ROUND, Follower, Following
from invariants.refinement.monitor import Monitor, Step
from invariants.refinement.registration import Registrations
from invariants.refinement.registration import _Group as RegisteringGroup
from invariants.refinement.route_info import RouteInfo
from invariants.refinement.subscription import FEW, NAME, Subscription, _Group
from invariants.runs import OF_RUNS
from stateful_tests.stories import (
    test_broker_clients,
    test_client_tables,
    test_leaving,
    test_lost_and_late,
    test_name_server,
    test_route_tables,
)
from stateful_tests.stories.scenes import registration
from stateful_tests.stories.storm import STORMY, group_world
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.workloads import WORKLOADS, traffic
from stateful_tests.worlds.world import World

NS, BROKER = "nameserver1", "broker-a"
ORDERS = PushConsumerConfig("G", {"orders": "*"})
TOPICS = (TopicConfig("orders", 4, 4), TopicConfig("invoices", 4, 4))
LOOK_THEN_PUT = {("refines_subscription", "differs", "version"), ("refines_subscription", "differs", "expression"),
                 ("refines_subscription", "differs", "expression", "version")}
"""ConsumerGroupInfo#updateSubscription looks a topic up and puts it in two steps; the model has one."""


class Watch:
    """The kernel's monitor: the followers of tables of a world."""

    def __init__(self) -> None:
        self.following = Following()
        self.findings: list[Finding] = []

    def __call__(self, process: Process, records: Sequence[Record], due: bool) -> None:
        for follower in self.following.followers if due else self.following.concerned(records):
            self.findings += follower.segment(process.name, records, whole=due)

    @property
    def subscription(self) -> Subscription:
        return next(one for one in self.following.followers if isinstance(one, Subscription))

    @property
    def registrations(self) -> Registrations:
        return next(one for one in self.following.followers if isinstance(one, Registrations))

    @property
    def route_info(self) -> RouteInfo:
        return next(one for one in self.following.followers if isinstance(one, RouteInfo))

    def broken(self) -> set[str]:
        return {finding.property for finding in self.findings}

    def divergences(self) -> set[tuple[str, ...]]:
        return {finding.signature for finding in self.findings if finding.property.startswith("refines_")}


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Every world that is made from now on is watched; the last one counts."""
    watching, made = Watch(), World.__init__

    def init(world: World, *args: Any, **settings: Any) -> None:
        made(world, *args, **settings)
        world.simulation.kernel.monitor, world.simulation.kernel.show_every = watching, ROUND
        tables: list[Follower] = [Subscription(world), RouteInfo(world), Registrations(world)]
        watching.following, watching.findings = Following(tables), []

    monkeypatch.setattr(World, "__init__", init)
    return watching


def stage(world: World) -> None:
    world.add_namesrv()
    for machine in (BROKER, "broker-b"):
        world.add_broker(machine, machine, topics=TOPICS)
    world.run(100)


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


def test_a_heartbeat_that_is_put_into_a_former_object_after_its_connection_has_ended() -> None:
    group, heartbeat = RegisteringGroup(), ConsumerRegistered(BROKER, "G", "c1", "c1:1", True, True, frozenset())
    found = [*group.entered(GroupEntered(BROKER, "G")), *group.registered(heartbeat),
             *group.left(GroupRemoved(BROKER, "G", ("c1",))), *group.closed(ClientChannelClosed(BROKER, "c1:1")),
             *group.registered(heartbeat._replace(attached=False, added=False))]
    assert [one for one in found if one.property == "refines_registration"] == []


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


# Hazards --------------------------------------------------------------------------------------------------------------

STORIES: tuple[tuple[Callable[[], None], str], ...] = (
    (test_broker_clients.test_b1_members_with_different_topics_remove_each_others, "pull_finds_its_subscription"),
    (test_broker_clients.test_b1_members_with_different_topics_remove_each_others,
     "heartbeats_do_not_remove_others_topics"),
    (test_broker_clients.test_b7_a_heartbeat_enters_a_group_object_that_has_just_been_removed,
     "answered_heartbeat_means_listed"),
    (test_leaving.test_b8_the_second_goodbye_removes_a_group_that_is_another_one_by_now,
     "answered_heartbeat_means_listed"),
    (test_lost_and_late.test_b2_two_heartbeats_at_once_leave_an_empty_subscription_table, "table_is_one_members_set"),
    (test_lost_and_late.test_b2_two_heartbeats_at_once_leave_an_empty_subscription_table,
     "pull_finds_its_subscription"),
    (test_lost_and_late.test_b31_a_heartbeat_that_was_overtaken_by_one_of_the_same_client_takes_its_new_topic_away,
     "heartbeats_do_not_remove_others_topics"),
    (test_broker_clients.test_b3_of_two_expressions_the_one_with_the_greatest_version_filters_for_all,
     "pull_is_filtered_by_own_expression"),
    (test_client_tables.test_l4_a_member_whose_clock_is_behind_changes_its_expression_and_nobody_takes_it,
     "pull_is_filtered_by_own_expression"),
    (test_name_server.test_n1_a_late_goodbye_of_the_old_master_removes_the_new_one, "live_broker_stays_routed"),
    (test_name_server.test_n2_after_an_increment_the_other_topics_look_unchanged_for_ever,
     "full_registration_installs_all_topics"),
    (test_lost_and_late.test_n3_an_increment_overtakes_the_full_registration_of_a_topic_that_a_heartbeat_made,
     "full_registration_installs_all_topics"),
    (test_route_tables.test_n6_half_a_registration_never_expires, "dead_broker_is_dropped"),
    (test_name_server.test_n7_the_clean_up_after_a_broken_connection_removes_the_broker_that_has_come_back,
     "live_broker_stays_routed"),
    (test_name_server.test_n8_the_scan_removes_what_was_registered_while_it_looked, "live_broker_stays_routed"),
    (test_lost_and_late.test_n16_a_slave_that_becomes_master_does_not_bring_its_topics,
     "full_registration_installs_all_topics"),
)


@pytest.mark.parametrize(("story", "broken"), STORIES)
def test_the_story_of_a_hazard_breaks_its_property_and_no_step_is_foreign(
    watch: Watch, story: Callable[[], None], broken: str,
) -> None:
    story()
    assert broken in watch.broken()
    assert watch.divergences() == set()


def one_falls_silent(world: World) -> None:
    """Of two brokers on one connection one registers on: the connection is not idle, and only the scan sees it."""
    for broker_name, topic in (("silent", "orders"), ("alive", "invoices")):
        world.ask(f"{NS}:9876", test_route_tables.of_proxy(broker_name, topic), tester="proxy")
    for _ in range(16):
        world.run(30_000)
        world.ask(f"{NS}:9876", test_route_tables.of_proxy("alive", "invoices"), tester="proxy")


def test_n4_nobody_drops_the_dead_when_the_scan_has_died(watch: Watch) -> None:
    with World() as world:
        test_name_server.one_broker(world)
        world.add_broker("machine2", "broker-b")
        world.run(41_000)
        paused = world.pause("scanNotActiveBroker: the timestamp has been read", 1_000)
        world.run_until(lambda: paused.hit, 10_000)
        world.add_broker("machine3", "broker-c")
        world.run(1_100)
        assert watch.findings == []
        one_falls_silent(world)
        assert watch.broken() == {"dead_broker_is_dropped"}


def test_n5_the_scan_takes_a_step_that_no_name_has_alone(watch: Watch) -> None:
    test_route_tables.test_n5_the_scan_evicts_the_living_broker_that_shares_a_connection_with_the_expired_one()
    assert "live_broker_stays_routed" in watch.broken()
    assert ("refines_route_info", "destroy_remove", "(target[k] is a)") in watch.divergences()


@pytest.mark.parametrize("story", [
    test_lost_and_late.test_b29_a_heartbeat_that_was_overtaken_puts_an_older_subscription_over_a_newer_one,
    test_lost_and_late.test_b29_of_two_first_heartbeats_the_newer_one_is_lost,
])
def test_b29_a_thread_that_has_looked_before_takes_a_step_that_the_model_does_not_have(
    watch: Watch, story: Callable[[], None],
) -> None:
    story()
    assert watch.divergences() & LOOK_THEN_PUT
    assert watch.divergences() - LOOK_THEN_PUT == set()


# Planted faults -------------------------------------------------------------------------------------------------------


async def _puts_what_is_older(
    info: ConsumerGroupInfo, sub_list: Sequence[SubscriptionData], threads: Interleave,
) -> bool:
    for sub in sub_list:
        old = info.subscription_table.get(sub.topic or "")
        await threads.interleave("updateSubscription: the topic has been looked up")
        if old is None or sub.sub_version < old.sub_version:
            info.subscription_table.put(sub.topic or "", sub)
    return False


async def _removes_nothing(*_: object) -> bool:
    return False


async def _drops_the_group(manager: ReportedConsumerManager, caller: str, group: str, *_: object) -> None:
    del caller
    manager.consumer_table.remove(group)


async def _scans_nothing(*_: object) -> None:
    return None


def _drops_another(table: ReportedRouteInfo, broker_addr: str) -> None:
    other = next((addr for addr in table.broker_live_table.key_set() if addr != broker_addr), broker_addr)
    RouteInfoManager.remove_broker_addr(table, other)
    original_dropped(table, broker_addr)


original_dropped = ReportedRouteInfo.remove_broker_addr


def _silent(kind: type) -> Callable[[pytest.MonkeyPatch], None]:
    """Events of this kind are not reported."""
    def plant(patch: pytest.MonkeyPatch) -> None:
        trace = Process.trace
        patch.setattr(Process, "trace", lambda process, event: None if isinstance(event, kind)
                      else trace(process, event))

    return plant


def _replaced(owner: type | str, name: str, function: object) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        if isinstance(owner, str):
            patch.setattr(f"{owner}.{name}", function)
        else:
            patch.setattr(owner, name, function)

    return plant


def _registers_without_time(table: RouteInfoManager, registration: Any) -> Any:
    before = table.broker_live_table.get(registration.broker_addr)
    result = original_register(table, registration)
    live_info = table.broker_live_table.get(registration.broker_addr)
    if before is not None and live_info is not None:
        live_info.last_update_timestamp = before.last_update_timestamp
    return result


original_register = RouteInfoManager.register_broker

FAULTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "a put is not reported": (_replaced(ReportedGroupInfo, "_subscribed", lambda *_: None), "refines_subscription"),
    "a removal is not reported": (
        _replaced(ReportedGroupInfo, "_unsubscribed", lambda *_: None), "refines_subscription"),
    "a group is not reported": (_silent(GroupEntered), "refines_subscription"),
    "a new group is not reported to those who follow members": (_silent(GroupEntered), "refines_registration"),
    "a member that goes is not reported": (_silent(ConsumerRemoved), "refines_registration"),
    "a member that comes is not reported": (_silent(ConsumerRegistered), "refines_registration"),
    "a group with members is removed": (
        _replaced(ReportedConsumerManager, "drop_empty_group", _drops_the_group), "answered_heartbeat_means_listed"),
    "versions are compared the wrong way": (
        _replaced(ConsumerGroupInfo, "add_subscriptions", _puts_what_is_older), "refines_subscription"),
    "topics are not removed": (
        _replaced(ConsumerGroupInfo, "remove_subscriptions_missing_in", _removes_nothing), "refines_subscription"),
    "a registration is not reported": (_silent(BrokerRegistered), "refines_route_info"),
    "a clean-up is not reported": (_silent(BrokerFound), "refines_route_info"),
    "an address is removed by the wrong key": (
        _replaced(ReportedRouteInfo, "remove_broker_addr", _drops_another), "refines_route_info"),
    "topics stay when their broker goes": (
        _replaced(RouteInfoManager, "_remove_topic_by_broker_name", lambda *_: None), "refines_route_info"),
    "a registration is no sign of life": (
        _replaced(RouteInfoManager, "register_broker", _registers_without_time), "refines_route_info"),
    "a changed version counts as unchanged": (
        _replaced(RouteInfoManager, "is_broker_topic_config_changed", lambda *_: False), "refines_route_info"),
    "the scan comes too early": (
        _replaced("impl.namesrv.route_info_manager", "BROKER_CHANNEL_EXPIRED_TIME_MS", 20_000), "refines_route_info"),
}


def busy_world(world: World) -> None:
    """Members with different topics and expressions, one that leaves, later topics, brokers that end in all ways."""
    stage(world)
    world.add_consumer("c1", ORDERS)
    world.add_consumer("c2", PushConsumerConfig("G", {"invoices": "a"}))
    world.add_consumer("c3", ORDERS)
    world.run(5_000)
    world.call("c3", world.consumers["c3"][0].shutdown)
    world.run(60_000)
    world.create_topic(BROKER, "later")
    world.run(1_000)
    world.simulation.kill("broker-b")
    world.run(45_000)
    world.simulation.start("broker-b")
    world.run(30_000)
    world.simulation.kill("broker-b", power_loss=True)
    world.run(400_000)


def test_a_busy_world_without_a_fault_shows_no_foreign_step(watch: Watch) -> None:
    with World() as world:
        busy_world(world)
    assert watch.divergences() == set()
    assert watch.broken() == {"pull_finds_its_subscription", "heartbeats_do_not_remove_others_topics"}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(watch: Watch, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    plant, expected = FAULTS[fault]
    plant(monkeypatch)
    with World() as world:
        busy_world(world)
    assert expected in watch.broken()


def test_a_scan_that_never_comes_is_noticed(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RouteInfoManager, "scan_not_active_broker", _scans_nothing)
    with World() as world:
        world.add_namesrv()
        one_falls_silent(world)
    assert watch.broken() == {"dead_broker_is_dropped"}


def test_after_a_divergence_the_followers_go_on(watch: Watch) -> None:
    with World() as world:
        stage(world)
        world.add_consumer("c1", ORDERS)
        world.run(35_000)
        info = world.brokers[BROKER].consumer_manager.get_consumer_group_info("G")
        assert info is not None
        super(type(info.subscription_table), info.subscription_table).remove("orders")
        world.namesrvs[NS].route_info.topic_queue_table.remove("orders")
        world.run(200_000)
        assert watch.divergences() == {
            ("refines_subscription", "differs", "subscribed"), ("refines_route_info", "differs", "routed")}
        watch.findings.clear()
        world.add_consumer("c2", ORDERS)
        world.create_topic(BROKER, "later")
        world.run(200_000)
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
