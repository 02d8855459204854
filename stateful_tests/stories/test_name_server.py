"""Stories of name servers: a live broker that is not routed, a topic that is not routed."""

from __future__ import annotations

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import RegisterBrokerRequestHeader, TopicRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.events import BrokerLiveRemoved, BrokerRegistered, ClockJumped, RegistrationEncoded, ThreadDied
from impl.hash_map import ConcurrentModificationError
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import NS_ADDR, registration
from stateful_tests.worlds.world import World

NS = "nameserver1"


def one_broker(world: World) -> None:
    world.add_namesrv()
    world.add_broker("machine1", "broker-a", topics=[TopicConfig("orders", 4, 4)])
    world.run(100)


def alive(world: World, machine: str) -> bool:
    return world.simulation.nodes[machine].alive


def test_n1_a_late_goodbye_of_the_old_master_removes_the_new_one() -> None:
    with World() as world:
        one_broker(world)
        world.add_broker("machine2", "broker-a", topics=[TopicConfig("orders", 4, 4)])
        world.run(100)
        assert world.views.address_of(NS, "broker-a") == "machine2:10911"

        world.call("machine1", world.brokers["machine1"].shutdown)
        world.run(100)

        assert alive(world, "machine2")
        assert world.views.address_of(NS, "broker-a") is None
        assert world.views.routed(NS, "orders") == []
        assert world.run_until(lambda: world.views.routed(NS, "orders") == ["broker-a"], 30_000) > 1_000


def test_n27_a_goodbye_that_comes_after_the_restart_of_its_broker_removes_the_new_process() -> None:
    with World() as world:
        one_broker(world)
        header = RegisterBrokerRequestHeader("broker-a", "machine1:10911", "DefaultCluster", 0)
        world.restart("machine1")
        world.run(1_000)
        assert world.views.routed(NS, "orders") == ["broker-a"]

        world.ask(NS_ADDR, Command(RequestCode.UNREGISTER_BROKER, header=header))  # of the process before

        assert alive(world, "machine1")
        assert world.views.address_of(NS, "broker-a") is None
        assert world.views.routed(NS, "orders") == []
        assert world.run_until(lambda: world.views.routed(NS, "orders") == ["broker-a"], 30_000) > 1_000


def test_n28_a_name_server_that_has_just_started_denies_topics_that_exist() -> None:
    with World() as world:
        one_broker(world)
        world.run(20_000)
        world.restart(NS)

        question = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, header=TopicRequestHeader("orders"))
        assert world.ask(NS_ADDR, question).code == ResponseCode.TOPIC_NOT_EXIST

        assert "orders" in world.views.topics("machine1")
        assert world.run_until(lambda: world.views.routed(NS, "orders") == ["broker-a"], 30_000) > 1_000


def test_n29_a_broker_that_comes_back_under_another_name_stays_listed_under_both() -> None:
    with World() as world:
        one_broker(world)
        world.restart_broker_as("machine1", broker_name="broker-z")
        for _ in range(30):
            world.run(10_000)
            assert world.views.addresses(NS) == {
                ("broker-a", 0): "machine1:10911", ("broker-z", 0): "machine1:10911"}
        assert world.views.routed(NS, "orders") == ["broker-a", "broker-z"]

        world.add_consumer("c1", PushConsumerConfig("G", {"orders": "*"}))
        world.run(5_000)
        held = [mq for mq, machines in world.views.holders("G", "orders").items() if machines]
        assert len(held) == 2 * 4  # each queue under both names


def test_n2_after_an_increment_the_other_topics_look_unchanged_for_ever() -> None:
    with World() as world:
        one_broker(world)
        world.restart(NS)
        world.create_topic("machine1", "invoices")
        world.run(1_000)
        assert world.views.routed(NS, "invoices") == ["broker-a"]

        world.run(300_000)

        full = [event for _, event in world.events(RegistrationEncoded, 10_000) if not event.increment]
        assert len(full) >= 9
        assert all({"orders", "invoices"} <= event.topics for event in full[1:])
        assert world.views.routed(NS, "invoices") == ["broker-a"]
        assert world.views.routed(NS, "orders") == []


def test_n2_does_not_happen_if_a_full_registration_comes_first() -> None:
    with World() as world:
        one_broker(world)
        world.restart(NS)
        world.run_until(lambda: world.views.routed(NS, "orders") == ["broker-a"], 30_000)
        world.create_topic("machine1", "invoices")
        world.run(1_000)
        assert world.views.routed(NS, "invoices") == world.views.routed(NS, "orders") == ["broker-a"]


def test_n7_the_clean_up_after_a_broken_connection_removes_the_broker_that_has_come_back() -> None:
    with World() as world:
        one_broker(world)
        paused = world.pause("onChannelDestroy: between the read lock and the write lock", 40_000)
        connection = world.connections("machine1", NS)[0]
        world.simulation.network.sever(connection.peer, 0)
        world.run_until(lambda: paused.hit, 1_000)
        since_ms = world.now_ms

        world.run_until(lambda: bool(world.events(BrokerRegistered, since_ms)), 30_001)
        assert world.views.routed(NS, "orders") == ["broker-a"]
        world.run_until(lambda: world.views.routed(NS, "orders") == [], 40_000)

        assert alive(world, "machine1")
        assert world.connections("machine1", NS)[0].active
        world.run_until(lambda: world.views.routed(NS, "orders") == ["broker-a"], 30_000)


def test_n8_the_scan_removes_what_was_registered_while_it_looked() -> None:
    with World() as world:
        one_broker(world)
        world.run(41_000)
        world.simulation.clocks[NS].jump(121_000)
        world.simulation.kernel.record(NS, ClockJumped(121_000))
        paused = world.pause("scanNotActiveBroker: the timestamp has been read", 40_000)
        world.run_until(lambda: paused.hit, 10_000)
        since_ms = world.now_ms

        world.run_until(lambda: bool(world.events(BrokerRegistered, since_ms)), 30_000)
        connection = world.connections("machine1", NS)[0]
        world.run_until(lambda: world.views.routed(NS, "orders") == [], 40_000)

        assert alive(world, "machine1")
        assert [event.why for _, event in world.events(BrokerLiveRemoved, since_ms)] == ["expired"]
        world.run(10)
        assert not connection.active
        world.run_until(lambda: world.views.routed(NS, "orders") == ["broker-a"], 30_000)


def removed_after_a_clock_jump(world: World) -> int:
    """How many brokers the scan removes when the name server's clock goes ahead by more than the expiry."""
    world.simulation.clocks[NS].jump(121_000)
    since_ms = world.now_ms
    world.run(10_001)
    return sum(event.why == "expired" for _, event in world.events(BrokerLiveRemoved, since_ms))


def test_n4_a_registration_in_the_middle_of_the_scan_ends_the_scan_for_ever() -> None:
    with World() as world:
        one_broker(world)
        world.add_broker("machine2", "broker-b")
        world.run(41_000)
        paused = world.pause("scanNotActiveBroker: the timestamp has been read", 1_000)
        world.run_until(lambda: paused.hit, 10_000)
        world.add_broker("machine3", "broker-c")
        world.run(1_100)
        uncaught = [event for _, _, event in world.simulation.kernel.records if event.__class__ is ThreadDied]
        assert [event.error for event in uncaught] == [ConcurrentModificationError.java_class]
        assert removed_after_a_clock_jump(world) == 0


def test_n4_after_the_scan_has_died_a_broker_that_only_its_proxy_survives_is_routed_for_ever() -> None:
    with World() as world:
        one_broker(world)
        wrapper = world.brokers["machine1"].topic_config_manager.build_topic_config_serialize_wrapper()
        world.ask(NS_ADDR, registration("silent", "silent:10911", wrapper), tester="proxy")

        async def go_on_asking() -> None:
            while True:
                request = Command(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
                await world.testers["proxy"].invoke_sync(NS_ADDR, request, 60_000)
                await world.simulation.nodes["proxy"].sleep(30_000)

        world.call("proxy", go_on_asking)
        paused = world.pause("scanNotActiveBroker: the timestamp has been read", 1_000)
        world.run_until(lambda: paused.hit, 10_000)
        world.add_broker("machine2", "broker-b")
        world.run(300_000)
        assert world.views.address_of(NS, "silent") == "silent:10911"  # dead_broker_is_dropped


def test_n4_a_scan_that_nobody_disturbs_goes_on() -> None:
    with World() as world:
        one_broker(world)
        world.run(42_000)
        assert removed_after_a_clock_jump(world) == 1
