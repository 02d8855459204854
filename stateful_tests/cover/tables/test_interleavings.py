"""Between the steps of the composed operations another thread can run: the known races of the tables, one by one."""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_manager import ConsumerManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.common.data_version import DataVersion
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SubscriptionData
from impl.hash_map import ConcurrentModificationError
from impl.namesrv.route_info_manager import BrokerRegistration, RouteInfoManager
from impl.ports.remoting import Channel
from impl.ports.threads import UNINTERRUPTED, Interleave, Uninterrupted, run_now

T = TypeVar("T")


@types.coroutine
def suspended_at(where: str) -> Generator[str, None, None]:
    yield where


class Suspending(Uninterrupted):
    """A thread that stops at every interleave point and says where it is."""

    async def interleave(self, where: str) -> None:
        await suspended_at(where)


class Paused:
    """An operation on a thread of its own, driven by hand."""

    def __init__(self, operation: Coroutine[Any, Any, Any], where: str) -> None:
        """Run it up to the interleave point that is named so."""
        self.operation = operation
        while operation.send(None) != where:
            pass

    def finish(self) -> Any:
        try:
            while True:
                self.operation.send(None)
        except StopIteration as stop:
            return stop.value


SUSPENDING = Suspending()


@dataclass(eq=False)
class Connection:
    name: str
    closed: bool = field(default=False)

    def close(self) -> None:
        self.closed = True

    def is_active(self) -> bool:
        return not self.closed

    def is_writable(self) -> bool:
        return True


@dataclass
class Events:
    seen: list[tuple[str, ...]] = field(default_factory=list)

    async def change(self, group: str, channels: Sequence[Channel], threads: Interleave) -> None:
        del threads
        self.seen.append(("CHANGE", group, *(channel.name for channel in channels if isinstance(channel, Connection))))

    async def unregister(self, group: str, threads: Interleave) -> None:
        del threads
        self.seen.append(("UNREGISTER", group))

    async def register(self, group: str, sub_list: Sequence[SubscriptionData], threads: Interleave) -> None:
        del threads
        self.seen.append(("REGISTER", group, *(str(sub.topic) for sub in sub_list)))


@dataclass
class Clock:
    time_ms: int = 1_000_000

    def now_ms(self) -> int:
        return self.time_ms


class Members:
    """One broker's consumers of group G."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.events = Events()
        self.manager = ConsumerManager(self.events, self.clock.now_ms)

    def info(self, connection: Connection) -> ClientChannelInfo:
        return ClientChannelInfo(connection, f"c-{connection.name}", "JAVA", 399, self.clock.now_ms())

    def heartbeat(
        self, connection: Connection, *topics: str, threads: Interleave = UNINTERRUPTED, version: int = 1,
    ) -> Coroutine[Any, Any, bool]:
        subs = [SubscriptionData(topic, "*", sub_version=version) for topic in topics]
        data = ConsumerData("G", CONSUME_PASSIVELY, CLUSTERING, "CONSUME_FROM_LAST_OFFSET", subs)
        return self.manager.register_consumer(self.info(connection), data, notify=True, threads=threads)

    def unregister(self, connection: Connection, threads: Interleave = UNINTERRUPTED) -> Coroutine[Any, Any, None]:
        return self.manager.unregister_consumer("G", self.info(connection), notify=True, threads=threads)

    def connections(self) -> list[str]:
        group = self.manager.get_consumer_group_info("G")
        channels = [] if group is None else group.get_all_channel()
        return [channel.name for channel in channels if isinstance(channel, Connection)]

    def topics(self) -> list[str]:
        group = self.manager.get_consumer_group_info("G")
        return [] if group is None else list(group.subscription_table.key_set())


K1, K2, K3 = Connection("K1"), Connection("K2"), Connection("K3")


def test_b2_two_heartbeats_empty_the_subscriptions() -> None:
    broker = Members()
    run_now(broker.heartbeat(K1, "A"))
    first = Paused(broker.heartbeat(K1, "A", threads=SUSPENDING), "updateSubscription: between the two loops")
    second = Paused(broker.heartbeat(K2, "B", threads=SUSPENDING), "updateSubscription: between the two loops")
    assert sorted(broker.topics()) == ["A", "B"]
    first.finish()
    second.finish()
    assert broker.topics() == []


def test_an_overtaken_heartbeat_puts_an_older_version_back() -> None:
    broker = Members()
    run_now(broker.heartbeat(K1, "A", version=100))
    slow = Paused(
        broker.heartbeat(K1, "A", version=150, threads=SUSPENDING), "updateSubscription: the topic has been looked up",
    )
    run_now(broker.heartbeat(K2, "A", version=200))
    slow.finish()
    found = broker.manager.find_subscription_data("G", "A")
    assert found is not None
    assert found.sub_version == 150


def test_b7_a_heartbeat_is_lost_when_its_group_dies() -> None:
    broker = Members()
    run_now(broker.heartbeat(K1, "A"))
    leaver = Paused(broker.unregister(K1, SUSPENDING), "unregisterConsumer: before the group is removed")
    assert run_now(broker.heartbeat(K2, "A")) is True
    assert broker.connections() == ["K2"]
    leaver.finish()
    assert broker.connections() == []
    assert broker.manager.get_consumer_group_info("G") is None


def test_b8_removal_by_key_kills_the_successor() -> None:
    broker = Members()
    run_now(broker.heartbeat(K1, "A"))
    slow = Paused(broker.unregister(K1, SUSPENDING), "unregisterConsumer: before the group is removed")
    run_now(broker.unregister(K1))
    run_now(broker.heartbeat(K3, "A"))
    assert broker.connections() == ["K3"]
    slow.finish()
    assert broker.connections() == []


def test_b9_a_heartbeat_in_flight_makes_a_ghost() -> None:
    broker = Members()
    run_now(broker.heartbeat(K1, "A"))
    run_now(broker.heartbeat(K2, "A"))
    in_flight = Paused(broker.heartbeat(K1, "A", threads=SUSPENDING), "registerConsumer: before updateChannel")
    run_now(broker.unregister(K1))
    in_flight.finish()
    assert sorted(broker.connections()) == ["K1", "K2"]


def test_b14_members_are_told_before_the_filters_exist() -> None:
    broker = Members()
    heartbeat = Paused(broker.heartbeat(K1, "A", threads=SUSPENDING), "registerConsumer: before REGISTER")
    assert broker.events.seen == [("CHANGE", "G", "K1")]
    heartbeat.finish()
    assert broker.events.seen[-1] == ("REGISTER", "G", "A")


def test_a_scan_closes_a_connection_that_has_just_been_heard_of_again() -> None:
    broker, connection = Members(), Connection("K1")
    run_now(broker.heartbeat(connection, "A"))
    broker.clock.time_ms += 120_001
    scan = Paused(
        broker.manager.scan_not_active_channel(SUSPENDING), "scanNotActiveChannel: before a channel is closed",
    )
    run_now(broker.heartbeat(connection, "A"))
    scan.finish()
    assert connection.closed
    assert broker.connections() == []
    assert ("UNREGISTER", "G") not in broker.events.seen


def test_b21_two_first_commits_lose_one_queue() -> None:
    offsets = ConsumerOffsetManager(lambda _topic, _queue_id: 0)
    first = Paused(offsets.commit_offset("G", "T", 0, 5, SUSPENDING), "commitOffset: the map has been looked up")
    run_now(offsets.commit_offset("G", "T", 1, 7, UNINTERRUPTED))
    first.finish()
    assert (offsets.query_offset("G", "T", 0), offsets.query_offset("G", "T", 1)) == (5, -1)


def test_b22_a_lock_is_granted_twice() -> None:
    clock, mq = Clock(), MessageQueue("T", "b", 0)
    locks = RebalanceLockManager(clock.now_ms)
    assert run_now(locks.try_lock_batch("G", [mq], "c1", UNINTERRUPTED)) == [mq]
    clock.time_ms += 60_001
    expired = Paused(locks.try_lock_batch("G", [mq], "c1", SUSPENDING), "isLocked: the owner has been read")
    assert run_now(locks.try_lock_batch("G", [mq], "c2", UNINTERRUPTED)) == [mq]
    assert expired.finish() == [mq]
    assert run_now(locks.try_lock_batch("G", [mq], "c1", UNINTERRUPTED)) == []


class Routes:
    """A name server with the brokers b1 and b2."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.manager = RouteInfoManager(self.clock.now_ms)
        self.connections = {name: Connection(name) for name in ("b1", "b2", "b3")}

    def register(self, name: str, connection: Connection | None = None) -> None:
        self.manager.register_broker(BrokerRegistration(
            "C", f"{name}:10911", name, 0, None,
            TopicConfigSerializeWrapper({"T": TopicConfig("T", 4, 4)}, DataVersion(0, 1)), None,
            connection or self.connections[name],
        ))

    def brokers(self) -> list[str]:
        route = self.manager.pickup_topic_route_data("T")
        return [] if route is None else sorted(data.broker_name for data in route.broker_datas)


def test_n4_a_registration_during_the_scan_kills_it() -> None:
    routes = Routes()
    routes.register("b1")
    routes.register("b2")
    scan = Paused(
        routes.manager.scan_not_active_broker(SUSPENDING), "scanNotActiveBroker: the timestamp has been read",
    )
    routes.register("b3")
    with pytest.raises(ConcurrentModificationError):
        scan.finish()


def test_a_renewal_during_the_scan_does_not_kill_it() -> None:
    routes = Routes()
    routes.register("b1")
    routes.register("b2")
    scan = Paused(
        routes.manager.scan_not_active_broker(SUSPENDING), "scanNotActiveBroker: the timestamp has been read",
    )
    routes.register("b2")
    assert scan.finish() is None
    assert routes.brokers() == ["b1", "b2"]


def test_n7_a_late_channel_event_removes_a_broker_that_has_come_back() -> None:
    routes, again = Routes(), Connection("b1 again")
    routes.register("b1")
    event = Paused(
        routes.manager.on_channel_destroy("10.0.0.9:1", routes.connections["b1"], SUSPENDING),
        "onChannelDestroy: between the read lock and the write lock",
    )
    routes.register("b1", again)
    event.finish()
    assert routes.brokers() == []
    assert not again.closed


def test_n8_the_scan_closes_the_new_connection_of_a_broker_that_has_come_back() -> None:
    routes, again = Routes(), Connection("b1 again")
    routes.register("b1")
    routes.clock.time_ms += 120_001
    scan = Paused(
        routes.manager.scan_not_active_broker(SUSPENDING), "scanNotActiveBroker: the timestamp has been read",
    )
    routes.register("b1", again)
    scan.finish()
    assert again.closed
    assert not routes.connections["b1"].closed
    assert routes.brokers() == []


def test_n9_the_route_that_was_picked_up_changes_until_it_is_encoded() -> None:
    routes = Routes()
    routes.register("b1")
    picked_up = routes.manager.pickup_topic_route_data("T")
    assert picked_up is not None
    routes.register("b2")
    assert [data.broker_name for data in picked_up.encoded().queue_datas] == ["b1", "b2"]
    assert [data.broker_name for data in picked_up.encoded().broker_datas] == ["b1"]


def test_run_now_refuses_an_operation_that_waits() -> None:
    with pytest.raises(RuntimeError, match="suspended"):
        run_now(Members().heartbeat(K1, "A", threads=SUSPENDING))
