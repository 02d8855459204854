"""Name server and broker as processes: what they answer, what they keep, when they register."""

from __future__ import annotations

from inspect import signature
from types import MethodType
from typing import Any, cast

import pytest

from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.client_channel_info import CHANNEL_EXPIRED_TIMEOUT_MS
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.consumer_manage_processor import ConsumerManageProcessor
from impl.broker.examination_processor import ExaminationProcessor
from impl.broker.request_table import pool_sizes
from impl.broker.tables import CONSUMER_OFFSET_PATH
from impl.common.config_manager import file_to_string
from impl.common.data_version import DataVersion
from impl.common.headers import (
    BrokerNameRequestHeader,
    CheckClientRequestBody,
    ConsumerGroupRequestHeader,
    ConsumerOffsetRequestHeader,
    CreateTopicRequestHeader,
    DeleteSubscriptionGroupRequestHeader,
    KVConfigRequestHeader,
    LockBatchRequestBody,
    QueueOffsetRequestHeader,
    RegisterBrokerRequestHeader,
    TopicRequestHeader,
    UnregisterClientRequestHeader,
)
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData, HeartbeatData, ProducerData
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SQL92, SubscriptionData
from impl.events import BrokerRegistered, BrokerUpdateTimestamp, RegistrationEncoded, RegistrationFailed
from impl.hash_map import ConcurrentHashMap
from impl.namesrv.kv_config_manager import NAMESPACE_ORDER_TOPIC_CONFIG
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import FORGETFUL, expire, fill
from stateful_tests.worlds.world import World

NS, NS_ADDR = "nameserver1", "nameserver1:9876"
BROKER, ADDR = "broker-a", "broker-a:10911"
SELF = RegisterBrokerRequestHeader(BROKER, ADDR, "DefaultCluster", 0)


def one_broker(world: World, **settings: Any) -> None:
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 4, 4)], **settings)
    world.run(100)


def heartbeat(client_id: str, *groups: str, topic: str = "orders", version: int = 1) -> Command:
    subs = [SubscriptionData(topic, "*", sub_version=version)]
    consumers = [
        ConsumerData(group, CONSUME_PASSIVELY, CLUSTERING, "CONSUME_FROM_LAST_OFFSET", subs) for group in groups
    ]
    return Command(RequestCode.HEART_BEAT, body=HeartbeatData(client_id, [ProducerData("P")], consumers))


def consumer_list(world: World, group: str) -> Command:
    header = ConsumerGroupRequestHeader(group)
    return world.ask(ADDR, Command(RequestCode.GET_CONSUMER_LIST_BY_GROUP, header=header))


def route(world: World, topic: str) -> Command:
    return world.ask(NS_ADDR, Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, header=TopicRequestHeader(topic)))


# Name server ----------------------------------------------------------------------------------------------------------


def test_a_route_names_queues_and_addresses_and_an_unknown_topic_has_none() -> None:
    with World() as world:
        one_broker(world)
        body = route(world, "orders").body
        assert [(data.broker_name, data.read_queue_nums) for data in body.queue_datas] == [(BROKER, 4)]
        assert [dict(data.broker_addrs) for data in body.broker_datas] == [{0: ADDR}]
        assert route(world, "nothing").code == ResponseCode.TOPIC_NOT_EXIST


def test_a_name_server_does_not_answer_codes_that_it_does_not_know() -> None:
    with World() as world:
        world.add_namesrv()
        with pytest.raises(AssertionError, match="still not after"):
            world.ask(NS_ADDR, Command(RequestCode.HEART_BEAT))


def test_a_broker_registers_at_every_name_server_at_once_after_10_s_and_every_30_s() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_namesrv("nameserver2")
        world.add_broker(BROKER, BROKER)
        world.run(75_000)
        assert [ms // 1_000 for ms, _ in world.events(RegistrationEncoded)] == [0, 10, 40, 70]
        registered = [(event.namesrv, ms // 1_000) for ms, event in world.events(BrokerRegistered)]
        assert sorted(registered) == [(name, s) for name in (NS, "nameserver2") for s in (0, 10, 40, 70)]


def test_a_silent_name_server_costs_6_s_and_the_others_are_registered_all_the_same() -> None:
    with World() as world:
        world.add_namesrv()
        world.add_namesrv("nameserver2")
        world.simulation.network.partition(BROKER, "nameserver2")
        world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 4, 4)])
        world.run(9_000)
        assert world.views.routed(NS, "orders") == [BROKER]
        assert world.views.routed("nameserver2", "orders") == []
        failures = world.events(RegistrationFailed)
        assert [event.namesrv_addr for _, event in failures] == ["nameserver2:9876"]


def test_without_force_an_unchanged_version_is_only_a_sign_of_life() -> None:
    with World() as world:
        one_broker(world, force_register=False)
        world.run(150_000)
        assert len(world.events(BrokerRegistered)) == 1
        assert len(world.events(BrokerUpdateTimestamp)) >= 5
        assert world.views.routed(NS, "orders") == [BROKER]
        world.brokers[BROKER].topic_config_manager.update_topic_config(TopicConfig("invoices", 1, 1))
        world.run(31_000)
        assert world.views.routed(NS, "invoices") == [BROKER]


def test_a_query_of_the_version_says_whether_it_changed_and_what_it_is() -> None:
    with World() as world:
        one_broker(world)
        answer = world.ask(NS_ADDR, Command(RequestCode.QUERY_DATA_VERSION, header=SELF, body=DataVersion(1, 1)))
        assert answer.header.changed
        again = world.ask(NS_ADDR, Command(RequestCode.QUERY_DATA_VERSION, header=SELF, body=answer.body))
        assert not again.header.changed


def test_a_broker_that_ends_is_gone_at_once_and_one_that_vanishes_after_the_expiry() -> None:
    with World() as world:
        one_broker(world)
        world.simulation.kill(BROKER)
        world.run(10)
        assert world.views.routed(NS, "orders") == []
        world.simulation.start(BROKER)
        world.run(100)
        world.simulation.kill(BROKER, power_loss=True)
        waited_ms = world.run_until(lambda: world.views.routed(NS, "orders") == [], 131_000)
        assert waited_ms >= 119_000


def test_an_order_configuration_reaches_the_broker_and_outlives_the_name_server() -> None:
    with World() as world:
        one_broker(world)
        header = KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG, "orders", "broker-a:4")
        assert world.ask(NS_ADDR, Command(RequestCode.PUT_KV_CONFIG, header=header)).code == ResponseCode.SUCCESS
        world.run(31_000)
        assert world.brokers[BROKER].topic_config_manager.is_order_topic("orders")
        world.restart(NS)
        world.run(10)
        ask = Command(RequestCode.GET_KV_CONFIG, header=KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG, "orders"))
        assert world.ask(NS_ADDR, ask).body == "broker-a:4"
        delete = Command(
            RequestCode.DELETE_KV_CONFIG, header=KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG, "orders"),
        )
        assert world.ask(NS_ADDR, delete).code == ResponseCode.SUCCESS
        assert world.ask(NS_ADDR, ask).code == ResponseCode.QUERY_NOT_FOUND
        listed = Command(
            RequestCode.GET_KVLIST_BY_NAMESPACE, header=KVConfigRequestHeader(NAMESPACE_ORDER_TOPIC_CONFIG),
        )
        assert world.ask(NS_ADDR, listed).body == {}


def test_operators_may_look_at_and_change_the_tables_of_a_name_server() -> None:
    with World() as world:
        one_broker(world)
        wipe = Command(RequestCode.WIPE_WRITE_PERM_OF_BROKER, header=BrokerNameRequestHeader(BROKER))
        assert world.ask(NS_ADDR, wipe).header.topic_count >= 9
        assert {data.perm for data in route(world, "orders").body.queue_datas} == {4}
        add = Command(RequestCode.ADD_WRITE_PERM_OF_BROKER, header=BrokerNameRequestHeader(BROKER))
        assert world.ask(NS_ADDR, add).header.topic_count >= 9
        assert {data.perm for data in route(world, "orders").body.queue_datas} == {6}
        assert "orders" in world.ask(NS_ADDR, Command(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)).body
        assert "orders" in world.ask(
            NS_ADDR, Command(RequestCode.GET_TOPICS_BY_CLUSTER, header="DefaultCluster"),
        ).body
        brokers, clusters = world.ask(NS_ADDR, Command(RequestCode.GET_BROKER_CLUSTER_INFO)).body
        assert dict(brokers[BROKER].broker_addrs) == {0: ADDR}
        assert clusters == {"DefaultCluster": [BROKER]}
        topics, addr = world.ask(NS_ADDR, Command(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)).body
        assert (BROKER in topics, addr) == (True, ADDR)
        delete = Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, header=TopicRequestHeader("orders"))
        assert world.ask(NS_ADDR, delete).code == ResponseCode.SUCCESS
        assert world.views.routed(NS, "orders") == []


# Broker ---------------------------------------------------------------------------------------------------------------


def test_every_request_that_a_processor_serves_has_a_row() -> None:
    with World() as world:
        one_broker(world)
        served = {cast("MethodType", handler) for handler, _ in world.brokers[BROKER].processors.values()}
    assert len(served) == 37
    kinds = {AdminBrokerProcessor, ClientManageProcessor, ConsumerManageProcessor, ExaminationProcessor}
    served = {method for method in served if method.__self__.__class__ in kinds}
    assert len(served) == 27
    methods = {
        (kind, name) for kind in kinds for name, method in vars(kind).items()
        if not name.startswith("_") and list(signature(method).parameters) == ["self", "channel", "request"]
    }
    assert {(method.__self__.__class__, method.__name__) for method in served} == methods


def test_which_requests_share_a_pool() -> None:
    with World() as world:
        one_broker(world)
        pools: dict[str, set[int]] = {}
        for code, (_, pool) in world.brokers[BROKER].processors.items():
            pools.setdefault(pool, set()).add(code)
        assert pools == {
            "heartbeat": {34}, "client_manage": {35, 46}, "consumer_manage": {38, 14, 15},
            "admin": {17, 21, 29, 30, 31, 32, 41, 42, 43, 45, 200, 201, 202, 203, 204, 207, 208, 215, 222, 223, 300,
                      308, 316, 321},
            "send": {10, 36, 310, 320}, "pull": {11}, "reply": {324, 325}, "query": {12, 33}, "end_transaction": {37},
        }
        assert {name: tuple(size) for name, size in pool_sizes(8).items()} == {
            "heartbeat": (8, 50_000), "client_manage": (32, 1_000_000), "consumer_manage": (32, None),
            "admin": (16, None), "send": (4, 10_000), "pull": (32, 100_000), "reply": (32, 10_000),
            "query": (16, 20_000), "end_transaction": (24, 100_000),
        }
        assert world.ask(ADDR, Command(9_999)).code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def test_a_heartbeat_makes_member_group_and_retry_topic() -> None:
    with World() as world:
        one_broker(world)
        assert consumer_list(world, "G").code == ResponseCode.SYSTEM_ERROR
        assert world.ask(ADDR, heartbeat("c1", "G")).code == ResponseCode.SUCCESS
        assert consumer_list(world, "G").body == ["c1"]
        world.run(10)
        assert world.views.routed(NS, "%RETRY%G") == [BROKER]
        assert world.brokers[BROKER].subscription_group_manager.subscription_group_table.contains_key("G")
        assert world.brokers[BROKER].producer_manager.client_channel_table.contains_key("c1")


def test_one_heartbeat_makes_one_info_for_all_its_new_groups() -> None:
    with World() as world:
        one_broker(world)
        world.ask(ADDR, heartbeat("c1", "G", "H"))
        table = world.brokers[BROKER].consumer_manager.consumer_table
        infos = [info.channel_info_table.values() for _, info in table.entries()]
        assert infos[0][0] is infos[1][0]


def test_a_goodbye_counts_for_the_connection_that_it_comes_on() -> None:
    with World() as world:
        one_broker(world)
        world.ask(ADDR, heartbeat("c1", "G"))
        goodbye = Command(RequestCode.UNREGISTER_CLIENT, header=UnregisterClientRequestHeader("c1", "P", "G"))
        assert world.ask(ADDR, goodbye, tester="other").code == ResponseCode.SUCCESS
        assert consumer_list(world, "G").body == ["c1"]
        assert world.ask(ADDR, goodbye).code == ResponseCode.SUCCESS
        assert consumer_list(world, "G").code == ResponseCode.SYSTEM_ERROR


def test_a_heartbeat_without_a_body_is_a_system_error() -> None:
    with World() as world:
        one_broker(world)
        assert world.ask(ADDR, Command(RequestCode.HEART_BEAT)).code == ResponseCode.SYSTEM_ERROR


def test_a_client_that_falls_silent_expires() -> None:
    with World() as world:
        one_broker(world)
        world.ask(ADDR, heartbeat("c1", "G"))
        waited_ms = world.run_until(lambda: world.views.listed(BROKER, "G") == [], CHANNEL_EXPIRED_TIMEOUT_MS + 11_000)
        assert waited_ms >= CHANNEL_EXPIRED_TIMEOUT_MS - 10


def commit(offset: int, queue_id: int = 0) -> Command:
    return Command(
        RequestCode.UPDATE_CONSUMER_OFFSET, header=ConsumerOffsetRequestHeader("G", "orders", queue_id, offset),
    )


def query(queue_id: int = 0) -> Command:
    return Command(RequestCode.QUERY_CONSUMER_OFFSET, header=ConsumerOffsetRequestHeader("G", "orders", queue_id))


def test_offsets_are_on_the_disk_after_5_s_and_not_before() -> None:
    with World() as world:
        one_broker(world)
        world.run(10_000)
        world.ask(ADDR, commit(7))
        world.run(6_000)
        world.ask(ADDR, commit(9))
        assert world.ask(ADDR, query()).header.offset == 9
        world.restart(BROKER)
        world.run(100)
        assert world.ask(ADDR, query()).header.offset == 7
        assert '{"orders@G":{0:7}}' in (file_to_string(world.simulation.nodes[BROKER].disk, CONSUMER_OFFSET_PATH) or "")


def test_an_offset_may_go_down() -> None:
    with World() as world:
        one_broker(world)
        for offset in (9, 4):
            assert world.ask(ADDR, commit(offset)).code == ResponseCode.SUCCESS
        assert world.ask(ADDR, query()).header.offset == 4


def test_an_unknown_offset_is_0_in_a_young_queue_and_not_found_in_an_old_one() -> None:
    with World() as world:
        world.store_config = FORGETFUL
        one_broker(world)
        fill(world, MessageQueue("orders", BROKER, 1), 200)
        least = expire(world, MessageQueue("orders", BROKER, 1))
        fill(world, MessageQueue("orders", BROKER, 2), 200)
        assert world.ask(ADDR, query(0)).header.offset == 0
        assert world.ask(ADDR, query(1)).code == ResponseCode.QUERY_NOT_FOUND
        assert world.ask(ADDR, query(2)).code == ResponseCode.QUERY_NOT_FOUND
        header = QueueOffsetRequestHeader("orders", 1, 0)
        search = Command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header=header)
        assert world.ask(ADDR, Command(RequestCode.GET_MAX_OFFSET, header=header)).header.offset == 200
        assert world.ask(ADDR, Command(RequestCode.GET_MIN_OFFSET, header=header)).header.offset == least
        assert world.ask(ADDR, search).header.offset == least


def test_a_lock_belongs_to_one_client_until_it_is_given_back_or_60_s_old() -> None:
    with World() as world:
        one_broker(world)
        mq = MessageQueue("orders", BROKER, 0)

        def lock(client_id: str, code: RequestCode = RequestCode.LOCK_BATCH_MQ) -> Command:
            return world.ask(ADDR, Command(code, body=LockBatchRequestBody("G", client_id, (mq,))))

        assert lock("c1").body == (mq,)
        assert lock("c2").body == ()
        lock("c2", RequestCode.UNLOCK_BATCH_MQ)
        assert lock("c2").body == ()
        lock("c1", RequestCode.UNLOCK_BATCH_MQ)
        assert lock("c2").body == (mq,)
        world.run(60_001)
        assert lock("c1").body == (mq,)


def test_topics_and_groups_of_a_broker_outlive_its_process() -> None:
    with World() as world:
        one_broker(world)
        world.create_topic(BROKER, "invoices", 3)
        world.ask(ADDR, heartbeat("c1", "G"))
        before = world.brokers[BROKER]
        world.restart(BROKER)
        after = world.brokers[BROKER]
        assert after is not before
        assert after.topic_config_manager.data_version == before.topic_config_manager.data_version
        config = after.topic_config_manager.select_topic_config("invoices")
        assert config is not None
        assert config.read_queue_nums == 3
        assert after.subscription_group_manager.subscription_group_table.contains_key("G")


def test_a_group_is_deleted_with_or_without_its_offsets() -> None:
    with World() as world:
        one_broker(world)
        offsets = world.brokers[BROKER].consumer_offset_manager
        for topic in ("orders", "invoices"):
            offsets.offset_table.put(f"{topic}@G", ConcurrentHashMap(32, [(0, 5)]))
        who = Command(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, header=TopicRequestHeader("orders"))
        for remove_offset, left, groups in ((False, 5, ("G",)), (True, -1, ())):
            header = DeleteSubscriptionGroupRequestHeader("G", remove_offset=remove_offset)
            assert world.ask(ADDR, Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, header=header)).code == 0
            assert {offsets.query_offset("G", topic, 0) for topic in ("orders", "invoices")} == {left}
            assert world.ask(ADDR, who).body == groups


def test_system_topics_and_illegal_names_are_refused() -> None:
    with World() as world:
        one_broker(world)
        for topic in ("TBW102", "a b"):
            create = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header=CreateTopicRequestHeader(topic, 1, 1, 6))
            assert world.ask(ADDR, create).code == ResponseCode.SYSTEM_ERROR
        delete = Command(RequestCode.DELETE_TOPIC_IN_BROKER, header=TopicRequestHeader("orders"))
        assert world.ask(ADDR, delete).code == ResponseCode.SUCCESS
        assert world.brokers[BROKER].topic_config_manager.select_topic_config("orders") is None
        assert world.views.routed(NS, "orders") == [BROKER]


@pytest.mark.parametrize(("enabled", "text", "code"), [
    (False, "a > 1", ResponseCode.SYSTEM_ERROR),
    (True, "a > 1", ResponseCode.SUCCESS),
    (True, "a >", ResponseCode.SUBSCRIPTION_PARSE_FAILED),
])
def test_an_expression_is_checked(enabled: bool, text: str, code: ResponseCode) -> None:
    with World() as world:
        one_broker(world, enable_property_filter=enabled)
        body = CheckClientRequestBody("c1", "G", SubscriptionData("orders", text, expression_type=SQL92))
        assert world.ask(ADDR, Command(RequestCode.CHECK_CLIENT_CONFIG, body=body)).code == code
        body = CheckClientRequestBody("c1", "G", SubscriptionData("orders", "a || b"))
        assert world.ask(ADDR, Command(RequestCode.CHECK_CLIENT_CONFIG, body=body)).code == ResponseCode.SUCCESS


def test_a_broker_without_permissions_registers_its_topics_so() -> None:
    with World() as world:
        one_broker(world, broker_permission=4)
        assert {data.perm for data in route(world, "orders").body.queue_datas} == {4}
