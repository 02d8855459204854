"""Followers of subscriptions and routes notice planted faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.reported_tables import ReportedConsumerManager, ReportedGroupInfo
from impl.client.push_consumer_config import PushConsumerConfig
from impl.decisions.subscription import SubscriptionData
from impl.events import (
    BrokerFound,
    BrokerRegistered,
    ConsumerRegistered,
    ConsumerRemoved,
    GroupEntered,
)
from impl.hosts.simulation.process import Process
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.namesrv.server import ReportedRouteInfo
from impl.ports.threads import Interleave
from stateful_tests.cover.refinement.watching import BROKER, NS, ORDERS, Watch, one_falls_silent, stage
from stateful_tests.worlds.world import World


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
        world.simulation.kernel.show_every = 1  # the next heartbeat puts the topic back
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
