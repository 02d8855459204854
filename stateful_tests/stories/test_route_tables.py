"""Stories of one name server's tables: what stays, what goes with it, and what a reader sees in between."""

from __future__ import annotations

from functools import partial

from impl.broker.controller import BrokerController
from impl.broker.tables import CONSUMER_OFFSET_PATH
from impl.common.config_manager import file_to_string
from impl.common.data_version import DataVersion
from impl.common.headers import (
    BrokerNameRequestHeader,
    KVConfigRequestHeader,
    TopicRequestHeader,
)
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.flags import FLAG_UNIT, PERM_READ, PERM_WRITE
from impl.events import BrokerDropped, BrokerLiveRemoved, BrokerRegistered, ClusterInfoFetched, EventDropped, ThreadDied
from impl.hash_map import ConcurrentModificationError
from impl.hosts.simulation.remoting_server import RemotingServer
from impl.namesrv.kv_config_manager import KV_CONFIG_PATH, NAMESPACE_ORDER_TOPIC_CONFIG
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import (
    ADDR,
    BROKER,
    NS,
    NS_ADDR,
    ORDERS,
    commit,
    heartbeat,
    join,
    registration,
    stage,
    start_asking,
    subscription,
)
from stateful_tests.worlds.deeds import OPERATOR
from stateful_tests.worlds.operators import fetch_cluster_info
from stateful_tests.worlds.world import World


def tables(world: World) -> RouteInfoManager:
    return world.namesrvs[NS].route_info


def of_proxy(broker_name: str, topic: str) -> Command:
    """A registration that never changes, of a broker with one topic."""
    wrapper = TopicConfigSerializeWrapper({topic: TopicConfig(topic, 1, 1)}, DataVersion(1, 1))
    return registration(broker_name, f"{broker_name}:10911", wrapper)


def perms(world: World, topic: str) -> list[int]:
    return [data.perm for data in tables(world).topic_queue_table.get(topic) or ()]


def test_n5_the_scan_evicts_the_living_broker_that_shares_a_connection_with_the_expired_one() -> None:
    with World() as world:
        world.add_namesrv()
        for broker_name, topic in (("silent", "orders"), ("alive", "invoices")):
            assert world.ask(NS_ADDR, of_proxy(broker_name, topic), tester="proxy").code == ResponseCode.SUCCESS
        for _ in range(4):
            world.run(30_000)
            world.ask(NS_ADDR, of_proxy("alive", "invoices"), tester="proxy")
        world.run(10_000)

        # live_broker_stays_routed and dead_broker_is_dropped are broken at one blow, and the scan has died of it
        dropped = {event.broker_addr for _, event in world.events(BrokerDropped)}
        assert "alive:10911" in dropped
        assert "silent:10911" not in dropped
        assert world.views.routed(NS, "invoices") == []
        assert not tables(world).broker_live_table.contains_key("silent:10911")
        uncaught = [event.error for _, _, event in world.simulation.kernel.records if event.__class__ is ThreadDied]
        assert uncaught == [ConcurrentModificationError.java_class]
        world.run(600_000)
        assert world.views.address_of(NS, "silent") == "silent:10911"
        assert world.views.routed(NS, "orders") == ["silent"]


def test_n6_half_a_registration_never_expires() -> None:
    with World() as world:
        world.add_namesrv()
        world.ask(NS_ADDR, registration("half", "half:10911", None))
        world.run(600_000)
        assert not tables(world).broker_live_table.contains_key("half:10911")
        assert world.views.address_of(NS, "half") == "half:10911"  # dead_broker_is_dropped


def test_n20_a_broker_is_told_success_and_is_not_registered() -> None:
    with World() as world:
        world.add_namesrv()
        assert world.ask(NS_ADDR, registration(BROKER, ADDR, None)).code == ResponseCode.SUCCESS
        assert len(tables(world).broker_live_table) == 0
        assert world.views.routed(NS, "orders") == []


def ask_for_the_route(world: World) -> list[Command]:
    """A client asks, and its answer is encoded 100 ms after the read lock was given back."""
    paused = world.pause("getRouteInfoByTopic: the read lock has been given back", 100)
    request = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, header=TopicRequestHeader("orders"))
    answers = start_asking(world, "client", request, NS_ADDR)
    world.run_until(lambda: paused.hit, 50)
    return answers


def test_n9_a_route_names_queues_of_a_broker_whose_address_it_has_not() -> None:
    with World() as world:
        stage(world)
        answers = ask_for_the_route(world)
        world.add_broker("broker-b", "broker-b", topics=[TopicConfig("orders", 4, 4)])
        world.run(200)
        assert [data.broker_name for data in answers[0].body.queue_datas] == [BROKER, "broker-b"]
        assert [data.broker_name for data in answers[0].body.broker_datas] == [BROKER]


def test_n9_a_route_has_brokers_and_no_queues() -> None:
    with World() as world:
        stage(world)
        answers = ask_for_the_route(world)
        world.simulation.kill(BROKER)
        world.run(200)
        assert [data.broker_name for data in answers[0].body.broker_datas] == [BROKER]
        assert answers[0].body.queue_datas == ()


def test_n10_the_two_halves_of_the_cluster_information_are_of_different_times() -> None:
    with World() as world:
        stage(world)
        paused = world.pause("getBrokerClusterInfo: encoding, between the two tables", 100)
        world.add_tester(OPERATOR)
        world.call(OPERATOR, partial(fetch_cluster_info, world, NS))
        world.run_until(lambda: paused.hit, 50)
        world.add_broker("broker-b", "broker-b")
        world.run(200)
        ((_, answer),) = world.events(ClusterInfoFetched)
        assert answer.broker_names == {BROKER}
        assert answer.cluster_names == {BROKER, "broker-b"}


def test_n13_a_write_permission_that_was_wiped_comes_back_with_the_next_topic() -> None:
    with World() as world:
        stage(world)
        header = BrokerNameRequestHeader(BROKER)
        world.ask(NS_ADDR, Command(RequestCode.WIPE_WRITE_PERM_OF_BROKER, header=header))
        world.run(300_000)
        assert perms(world, "orders") == [PERM_READ]
        world.brokers[BROKER].topic_config_manager.update_topic_config(TopicConfig("parcels", 1, 1))
        world.run_until(lambda: perms(world, "orders") == [PERM_READ | PERM_WRITE], 31_000)


def test_n14_a_topic_that_was_deleted_at_the_name_server_comes_back() -> None:
    with World() as world:
        stage(world)
        request = Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, header=TopicRequestHeader("orders"))
        world.ask(NS_ADDR, request)
        world.run(60_000)
        assert world.views.routed(NS, "orders") == []
        world.brokers[BROKER].topic_config_manager.update_topic_config(TopicConfig("parcels", 1, 1))
        world.run_until(lambda: world.views.routed(NS, "orders") == [BROKER], 31_000)


def test_n14_a_topic_that_was_deleted_at_its_broker_is_routed_for_ever() -> None:
    with World() as world:
        stage(world)
        world.ask(ADDR, Command(RequestCode.DELETE_TOPIC_IN_BROKER, header=TopicRequestHeader("orders")))
        world.run(600_000)
        assert world.brokers[BROKER].topic_config_manager.select_topic_config("orders") is None
        assert world.views.routed(NS, "orders") == [BROKER]


def order_conf(topic: str) -> Command:
    header = KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG, topic, "broker-a:4")
    return Command(RequestCode.PUT_KV_CONFIG, header=header)


def test_n24_two_writers_of_the_key_values_leave_no_file() -> None:
    with World() as world:
        world.add_namesrv()
        paused = world.pause("string2File: before the old file is read", 100)
        first = start_asking(world, "t1", order_conf("orders"), NS_ADDR)
        second_one = world.pause("putKVConfig: between the write lock and persist", 1)
        second = start_asking(world, "t2", order_conf("invoices"), NS_ADDR)
        world.run_until(lambda: bool(first) and bool(second), 1_000)
        assert paused.hit
        assert second_one.hit

        assert file_to_string(world.simulation.nodes[NS].disk, KV_CONFIG_PATH) is None
        world.restart(NS)
        assert world.namesrvs[NS].kv_config.get_kv_list_by_namespace(NAMESPACE_ORDER_TOPIC_CONFIG) is None


def test_n24_does_not_happen_to_one_after_the_other() -> None:
    with World() as world:
        world.add_namesrv()
        for topic in ("orders", "invoices"):
            world.ask(NS_ADDR, order_conf(topic))
        world.restart(NS)
        table = world.namesrvs[NS].kv_config.get_kv_list_by_namespace(NAMESPACE_ORDER_TOPIC_CONFIG)
        assert sorted(table or {}) == ["invoices", "orders"]


def test_n25_a_close_that_finds_the_event_queue_full_is_forgotten() -> None:
    with World() as world:
        stage(world)
        join(world, "c1")
        server = world.namesrvs[NS].server
        assert isinstance(server, RemotingServer)
        server.events.queue_bound = 2  # ten thousand in RocketMQ
        testers = ("t1", "t2", "t3")
        for tester in testers:
            start_asking(world, tester, Command(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER), NS_ADDR)
        world.run(100)
        paused = world.pause("onChannelDestroy: between the read lock and the write lock", 1_000)
        for tester in testers:
            world.simulation.kill(tester)
        world.run_until(lambda: paused.hit, 100)
        world.simulation.kill(BROKER)
        world.run(10_000)

        assert EventDropped("close") in [event for _, _, event in world.simulation.kernel.records]
        assert world.views.routed(NS, "orders") == [BROKER]
        waited_ms = world.run_until(lambda: world.views.routed(NS, "orders") == [], 131_000)
        assert waited_ms > 100_000
        assert [event.why for _, event in world.events(BrokerLiveRemoved)] == ["expired"]


def test_n26_a_broker_that_changes_its_cluster_stays_in_the_old_one_too() -> None:
    with World() as world:
        stage(world)
        world.restart_broker_as(BROKER, cluster_name="blue")
        world.run(1_000)
        clusters = tables(world).cluster_addr_table
        assert {name: names.key_set() for name, names in clusters.entries()} == {
            "DefaultCluster": (BROKER,), "blue": (BROKER,),
        }
        data = tables(world).broker_addr_table.get(BROKER)
        assert data is not None
        assert data.cluster == "DefaultCluster"

        world.call(BROKER, world.brokers[BROKER].shutdown)
        world.run(1_000)
        assert clusters.key_set() == ("DefaultCluster",)
        assert world.views.address_of(NS, BROKER) is None

        world.add_tester(OPERATOR)
        world.call(OPERATOR, partial(fetch_cluster_info, world, NS))
        world.run(100)
        ((_, answer),) = world.events(ClusterInfoFetched)
        assert answer.broker_names == set()
        assert answer.cluster_names == {BROKER}


def unit_topics(world: World, broker: BrokerController) -> list[str]:
    broker.topic_config_manager.update_topic_config(TopicConfig("cells", 1, 1, topic_sys_flag=FLAG_UNIT))
    world.run(31_000)
    assert world.views.routed(NS, "cells") == [BROKER]
    return tables(world).get_unit_topics()


def test_n23_a_compressed_registration_loses_the_unit_flag() -> None:
    with World() as world:
        stage(world, compressed_register=True)
        assert unit_topics(world, world.brokers[BROKER]) == []
    with World() as world:
        stage(world)
        assert unit_topics(world, world.brokers[BROKER]) == ["cells"]


def test_n30_a_broker_that_starts_again_with_another_permission_is_routed_with_the_former_one() -> None:
    with World() as world:
        stage(world)
        world.restart_broker_as(BROKER, broker_permission=PERM_READ)
        world.run(31_000)
        assert len(world.events(BrokerRegistered)) > 2
        assert perms(world, "orders") == [PERM_READ | PERM_WRITE]


def test_n12_the_route_to_a_dead_master_is_believed_for_two_minutes() -> None:
    with World() as world:
        stage(world)
        consumer = join(world, "c1")
        world.simulation.kill(BROKER, power_loss=True)
        since_ms = world.now_ms
        world.run_until(lambda: world.views.routed(NS, "orders") == [], 131_000)
        assert world.now_ms - since_ms > 90_000
        world.run(60_000)
        queues = [mq for mq in consumer.rebalance_impl.process_queue_table.key_set() if mq.topic == "orders"]
        assert len(queues) == 4  # and they will stay: the client never forgets a route


def test_n12_a_route_without_a_master_leads_to_the_slave() -> None:
    with World() as world:
        stage(world)
        world.add_broker("broker-s", BROKER, broker_id=1)
        world.run(1_000)
        world.simulation.kill(BROKER)
        world.run(1_000)
        assert world.views.address_of(NS, BROKER) is None
        assert world.views.routed(NS, "orders") == [BROKER]
        consumer = join(world, "c1", ORDERS)
        found = consumer.instance.find_broker_address_in_subscribe(BROKER, 0, only_this_broker=False)
        assert found is not None
        assert (found.broker_addr, found.slave) == ("broker-s:10911", True)


def test_n11_name_servers_that_disagree_make_their_clients_divide_different_queues() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_namesrv("nameserver2")
        network = world.simulation.network
        network.partition("broker-b", "nameserver2")  # its registrations do not arrive there
        for machine in (BROKER, "broker-b"):
            world.add_broker(machine, machine, topics=[TopicConfig("orders", 4, 4)])
        world.run(10_000)
        assert world.views.routed(NS, "orders") == [BROKER, "broker-b"]
        assert world.views.routed("nameserver2", "orders") == [BROKER]
        for machine, namesrv in (("c1", NS), ("c2", "nameserver2")):
            draw = 1 - list(world.namesrvs).index(namesrv)  # the first connection goes to the one behind the drawn one
            world.script.draw("NettyRemotingClient#initValueIndex", draw)
            join(world, machine)
            assert world.connections(machine, namesrv)
        for _ in range(120):
            world.run(1_000)
            assert len(world.views.two_owners("G", "orders")) == 2
            assert len(world.views.no_owner("G", "orders")) == 4

        network.heal()
        world.run_until(lambda: world.views.one_owner_each("G", "orders"), 100_000)


def test_n17_a_query_of_the_version_does_not_tell_the_new_connection() -> None:
    with World() as world:
        stage(world, force_register=False)
        (connection,) = world.connections(BROKER, NS)
        world.simulation.network.sever(connection, 60_000)
        since_ms = world.now_ms
        world.run(59_000)
        assert world.connections(BROKER, NS) != []
        assert world.events(BrokerRegistered, since_ms) == []
        assert world.views.routed(NS, "orders") == [BROKER]

        world.run(2_000)  # the old connection is found closed
        assert world.alive(BROKER)
        assert world.views.routed(NS, "orders") == []  # live_broker_stays_routed
        world.run_until(lambda: world.views.routed(NS, "orders") == [BROKER], 31_000)


def test_n17_and_the_end_of_the_new_connection_goes_unnoticed() -> None:
    with World() as world:
        stage(world, force_register=False)
        (connection,) = world.connections(BROKER, NS)
        world.simulation.network.sever(connection, None)
        world.run(50_000)
        world.simulation.kill(BROKER)
        waited_ms = world.run_until(lambda: world.views.routed(NS, "orders") == [], 131_000)
        assert waited_ms > 60_000


def test_n18_the_vote_of_a_slow_name_server_is_missing() -> None:
    with World() as world:
        stage(world, force_register=False)
        world.run(20_000)
        world.restart(NS)
        for _ in range(3):
            slow = world.pause("queryBrokerTopicConfig: the version has been compared", 10_000)
            world.run_until(lambda slow=slow: slow.hit, 31_000)  # type: ignore[misc]  # mypy has no type for the default
        world.run(12_000)
        assert world.views.routed(NS, "orders") == []  # every_name_server_learns
        world.run_until(lambda: world.views.routed(NS, "orders") == [BROKER], 31_000)


def test_n22_a_name_server_that_hangs_holds_up_new_groups_and_the_offsets() -> None:
    with World() as world:
        stage(world)
        world.ask(ADDR, heartbeat("c1", subscription("orders")))
        world.run_until(lambda: world.now_ms % 30_000 == 9_000, 30_000)
        world.simulation.kernel.pause(world.simulation.nodes[NS], 60_000)
        world.run(1_500)  # the broker registers since half a second, and will for 5.5 s
        world.ask(ADDR, commit(0, 70))
        since_ms = world.now_ms
        known = start_asking(world, "t1", heartbeat("c1", subscription("orders")), timeout_ms=10_000)
        new = start_asking(world, "t2", heartbeat("c2", subscription("orders"), group="H"), timeout_ms=10_000)
        world.run(3_000)  # after so long a client gives up, and closes the connection
        assert known[0].code == ResponseCode.SUCCESS
        assert new == []
        assert world.views.listed(BROKER, "H") == []
        world.run(2_000)
        disk = world.simulation.nodes[BROKER].disk
        assert world.now_ms - since_ms == 5_000
        assert "70" not in (file_to_string(disk, CONSUMER_OFFSET_PATH) or "")
        world.run(1_000)
        assert new[0].code == ResponseCode.SUCCESS
        assert "70" in (file_to_string(disk, CONSUMER_OFFSET_PATH) or "")
