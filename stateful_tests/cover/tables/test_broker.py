"""What the recordings of the broker's tables do not reach."""

from __future__ import annotations

import types
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from impl.broker.bloom_filter import BloomFilter
from impl.broker.broker_config import BrokerConfig
from impl.broker.client_channel_info import ClientChannelInfo
from impl.broker.consumer_filter_manager import ConsumerFilterManager
from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.broker.producer_manager import ProducerManager
from impl.broker.registration import Registration
from impl.broker.sql_filter import MQFilterError, compile_sql92
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError, IllegalArgumentError, NullPointerError
from impl.decisions.subscription import SQL92, SubscriptionData
from impl.ports.threads import UNINTERRUPTED, Uninterrupted, run_now
from stateful_tests.worlds.subjects import subject_named


@dataclass(eq=False)
class Connection:
    active: bool = True
    writable: bool = True

    def close(self) -> None:
        self.active = False

    def is_active(self) -> bool:
        return self.active

    def is_writable(self) -> bool:
        return self.writable


@dataclass
class Host:
    """A clock, and a counter of file writes."""

    time_ms: int = 1_000_000
    writes: int = field(default=0)

    def now_ms(self) -> int:
        return self.time_ms

    def persist(self) -> None:
        self.writes += 1


# Producers ------------------------------------------------------------------------------------------------------------


def producers(*connections: Connection) -> ProducerManager:
    manager = ProducerManager(lambda: 0)
    for number, connection in enumerate(connections):
        manager.register_producer("P", ClientChannelInfo(connection, f"c{number}", "JAVA", 399, 0))
    return manager


def test_transaction_checks_go_round_the_connections() -> None:
    a, b, c = Connection(), Connection(), Connection()
    manager = producers(a, b, c)
    assert [manager.get_available_channel("P") for _ in range(4)] == [b, c, a, b]
    assert manager.get_available_channel("Q") is None
    assert manager.get_available_channel(None) is None


def test_a_transaction_check_looks_three_times_and_then_takes_the_last_active_one() -> None:
    slow = [Connection(writable=False) for _ in range(4)]
    manager = producers(*slow)
    assert manager.get_available_channel("P") is slow[3]
    one_good = [Connection(), Connection(active=False), Connection(active=False), Connection(active=False)]
    assert producers(*one_good).get_available_channel("P") is None


def test_the_round_robin_counter_wraps_to_zero() -> None:
    a, b = Connection(), Connection()
    manager = producers(a, b)
    manager.positive_atomic_counter = 2**31 - 1
    assert manager.get_available_channel("P") is a
    assert manager.positive_atomic_counter == -(2**31)


def test_b23_the_reply_channel_is_lost_for_good() -> None:
    old, new = Connection(), Connection()
    manager = producers(old)
    info = ClientChannelInfo(new, "c0", "JAVA", 399, 0)
    manager.register_producer("P", info)
    assert manager.find_channel("c0") is new
    manager.do_channel_close_event(old)
    manager.register_producer("P", info)
    assert manager.find_channel("c0") is None


def test_a_producer_without_a_client_id_is_entered_before_java_fails() -> None:
    manager = producers()
    with pytest.raises(NullPointerError):
        manager.register_producer("P", ClientChannelInfo(Connection(), None, "JAVA", 399, 0))
    channel_table = manager.group_channel_table.get("P")
    assert channel_table is not None
    assert len(channel_table) == 1


# Subscription groups --------------------------------------------------------------------------------------------------


def test_asking_for_a_group_makes_and_persists_it() -> None:
    host = Host()
    groups = SubscriptionGroupManager(host.now_ms, host.persist)
    assert len(groups.subscription_group_table) == 7
    assert groups.find_subscription_group_config("G") == SubscriptionGroupConfig("G")
    assert groups.find_subscription_group_config("TOOLS_CONSUMER") is not None
    assert (groups.data_version.counter, host.writes) == (1, 1)


def test_without_auto_creation_only_system_groups_are_made() -> None:
    host = Host()
    groups = SubscriptionGroupManager(host.now_ms, host.persist, auto_create_subscription_group=False)
    assert groups.find_subscription_group_config("G") is None
    assert groups.find_subscription_group_config("CID_RMQ_SYS_X") is not None


def test_a_group_is_disabled_in_place_and_written_later() -> None:
    host = Host()
    groups = SubscriptionGroupManager(host.now_ms, host.persist)
    config = SubscriptionGroupConfig("G")
    groups.update_subscription_group_config(config)
    host.time_ms += 5
    groups.disable_consume("G")
    assert not config.consume_enable
    assert (groups.data_version.timestamp, groups.data_version.counter, host.writes) == (host.time_ms, 2, 1)
    groups.delete_subscription_group_config("G")
    groups.delete_subscription_group_config("G")
    assert (groups.data_version.counter, host.writes) == (3, 2)


# Topics ---------------------------------------------------------------------------------------------------------------


def topics(host: Host, **settings: Any) -> TopicConfigManager:
    return TopicConfigManager(BrokerConfig("broker-a", (), **settings), host.now_ms, host.persist)


def test_the_broker_starts_with_its_system_topics() -> None:
    table = topics(Host(), trace_topic_enable=True, cluster_topic_enable=False).topic_config_table
    found = {topic: (one.read_queue_nums, one.write_queue_nums, one.perm) for topic, one in table.entries()}
    assert found == {
        "SELF_TEST_TOPIC": (1, 1, 6),
        "TBW102": (8, 8, 7),
        "BenchmarkTest": (1024, 1024, 6),
        "DefaultCluster": (16, 16, 1),
        "broker-a": (1, 1, 7),
        "OFFSET_MOVED_EVENT": (1, 1, 6),
        "SCHEDULE_TOPIC_XXXX": (18, 18, 6),
        "RMQ_SYS_TRACE_TOPIC": (1, 1, 6),
        "DefaultCluster_REPLY_TOPIC": (1, 1, 6),
    }


@pytest.mark.parametrize(("wished", "made"), [(4, 4), (16, 8), (-1, 0)])
def test_a_send_makes_a_topic_after_the_one_that_the_client_names(wished: int, made: int) -> None:
    host = Host()
    manager = topics(host)
    config, is_new = run_now(manager.create_topic_in_send_message("T", "TBW102", wished, 1, UNINTERRUPTED))
    assert is_new
    assert config == TopicConfig("T", made, made, 6, topic_sys_flag=1)
    assert run_now(manager.create_topic_in_send_message("T", "TBW102", 2, 0, UNINTERRUPTED)) == (config, False)
    assert (manager.data_version.counter, host.writes) == (1, 1)


def test_without_auto_creation_the_cluster_name_still_makes_topics() -> None:
    manager = topics(Host(), auto_create_topic_enable=False)
    manager.update_topic_config(TopicConfig("TBW102", 8, 8, 7))
    assert run_now(manager.create_topic_in_send_message("T", "TBW102", 4, 0, UNINTERRUPTED)) == (None, False)
    base = manager.select_topic_config("TBW102")
    assert base is not None
    assert base.perm == 6
    assert run_now(manager.create_topic_in_send_message("T", "unknown", 4, 0, UNINTERRUPTED)) == (None, False)
    made, is_new = run_now(manager.create_topic_in_send_message("T", "DefaultCluster", 4, 0, UNINTERRUPTED))
    assert made is not None
    assert is_new


def test_a_topic_is_given_up_when_the_lock_cannot_be_had() -> None:
    manager = topics(Host())
    manager.topic_config_table_lock.held = True
    assert run_now(manager.create_topic_in_send_message_back("%RETRY%G", 1, 6, 0, UNINTERRUPTED)) == (None, False)
    assert run_now(manager.create_topic_in_send_message("T", "TBW102", 4, 0, UNINTERRUPTED)) == (None, False)
    manager.topic_config_table_lock.held = False
    made, is_new = run_now(manager.create_topic_in_send_message_back("%RETRY%G", 1, 6, 0, UNINTERRUPTED))
    assert made == TopicConfig("%RETRY%G", 1, 1, 6)
    assert is_new
    assert not manager.topic_config_table_lock.held


@types.coroutine
def suspended() -> Generator[None, None, None]:
    yield


class Suspending(Uninterrupted):
    async def interleave(self, where: str) -> None:
        del where
        await suspended()


def test_a_new_topic_is_in_the_table_before_its_version_is() -> None:
    manager = topics(Host())
    creation = manager.create_topic_in_send_message("T", "TBW102", 4, 0, Suspending())
    creation.send(None)
    wrapper = manager.build_topic_config_serialize_wrapper()
    assert wrapper.topic_config_table is not None
    assert "T" in wrapper.topic_config_table
    assert (wrapper.data_version.counter, manager.topic_config_table_lock.held) == (0, True)
    with pytest.raises(StopIteration):
        creation.send(None)
    assert (wrapper.data_version.counter, manager.topic_config_table_lock.held) == (1, False)


def test_a_registration_has_table_and_version_of_the_moment_in_which_it_is_encoded() -> None:
    manager = topics(Host())
    wrapper = manager.build_topic_config_serialize_wrapper()
    manager.update_topic_config(TopicConfig("T", 3, 3))
    assert wrapper.topic_config_table is not None
    assert wrapper.topic_config_table["T"].read_queue_nums == 3
    assert [*wrapper.topic_config_table] == [*manager.topic_config_table.key_set()]
    assert len(wrapper.topic_config_table) == len(manager.topic_config_table)
    assert "unknown" not in wrapper.topic_config_table
    assert wrapper.data_version.counter == 1


@pytest.mark.parametrize(("subject", "version"), [("shipped", 1), ("repaired", 0)])
def test_a_table_that_a_restricted_broker_has_copied_may_be_older_than_its_version(subject: str, version: int) -> None:
    manager = topics(Host())
    config = BrokerConfig("broker-a", (), broker_permission=PERM_READ)
    broker = cast("Registration", types.SimpleNamespace(config=config))
    with subject_named(subject).running():
        wrapper = Registration._with_permission(broker, manager.build_topic_config_serialize_wrapper())
    manager.update_topic_config(TopicConfig("T", 3, 3))
    assert "T" not in (wrapper.topic_config_table or ())
    assert wrapper.data_version.counter == version


def test_unit_and_order_flags() -> None:
    host = Host()
    manager = topics(host)
    assert manager.update_topic_unit_flag("TBW102", unit=True)
    assert manager.update_topic_unit_sub_flag("TBW102", has_unit_sub=True)
    assert not manager.update_topic_unit_flag("unknown", unit=True)
    config = manager.select_topic_config("TBW102")
    assert config is not None
    assert config.topic_sys_flag == 3
    manager.update_topic_unit_flag("TBW102", unit=False)
    manager.update_topic_unit_sub_flag("TBW102", has_unit_sub=False)
    assert config.topic_sys_flag == 0
    manager.update_order_topic_config({"TBW102": "broker-a:8"})
    assert manager.is_order_topic("TBW102")
    writes = host.writes
    manager.update_order_topic_config(None)
    manager.update_order_topic_config(["TBW102", "unknown"])
    assert host.writes == writes
    manager.update_order_topic_config([])
    assert not manager.is_order_topic("TBW102")
    manager.delete_topic_config("TBW102")
    assert not manager.is_order_topic("TBW102")


# Offsets --------------------------------------------------------------------------------------------------------------


def test_a_key_without_a_group_stops_the_deletion() -> None:
    offsets = ConsumerOffsetManager(lambda _topic, _queue_id: 0)
    run_now(offsets.commit_offset("", "T", 0, 1, UNINTERRUPTED))
    with pytest.raises(ArrayIndexOutOfBoundsError, match="Index 1 out of bounds for length 1"):
        offsets.query_min_offset_in_all_group("T", "G")


def test_offsets_survive_their_own_text() -> None:
    offsets = ConsumerOffsetManager(lambda _topic, _queue_id: 0)
    for queue_id, offset in ((3, 7), (0, -1), (1, 2**63 - 1)):
        run_now(offsets.commit_offset("G", "%RETRY%G", queue_id, offset, UNINTERRUPTED))
    text = offsets.encode()
    assert text == '{"offsetTable":{"%RETRY%G@G":{0:-1,1:9223372036854775807,3:7}}}'
    again = ConsumerOffsetManager(lambda _topic, _queue_id: 0)
    again.decode(None)
    assert again.offset_table.is_empty()
    again.decode(text)
    assert again.offset_table == offsets.offset_table


# Filters --------------------------------------------------------------------------------------------------------------


def sql(text: str, version: int) -> SubscriptionData:
    return SubscriptionData("T", text, sub_version=version, expression_type=SQL92)


def test_b26_an_invalid_expression_removes_the_filter() -> None:
    host = Host()
    filters = ConsumerFilterManager(BloomFilter(20, 32), host.now_ms)
    run_now(filters.register("G", [sql("a > 1", 100)], UNINTERRUPTED))
    run_now(filters.register("G", [sql("a >", 300)], UNINTERRUPTED))
    assert filters.get("T", "G") is None
    run_now(filters.register("G", [sql("a > 1", 100)], UNINTERRUPTED))
    found = filters.get("T", "G")
    assert found is not None
    assert found.client_version == 100


def test_another_filter_geometry_discards_the_file() -> None:
    host = Host()
    filters = ConsumerFilterManager(BloomFilter(20, 32), host.now_ms)
    run_now(filters.register("G", [sql("a > 1", 100)], UNINTERRUPTED))
    text = filters.encode()
    same, other = (ConsumerFilterManager(BloomFilter(20, n), host.now_ms) for n in (32, 64))
    same.decode(text)
    other.decode(text)
    found = same.get("T", "G")
    assert found is not None
    assert found.is_dead()
    assert other.filter_data_by_topic.is_empty()


def test_bits_and_geometry_of_the_bloom_filter() -> None:
    bloom = BloomFilter(20, 32)
    assert (bloom.k, bloom.m) == (3, 112)
    assert bloom.calc_bit_positions("CG#T") == (0, 73, 34)
    assert len(bloom.calc_bit_positions("a group with a name of more than sixteen bytes#and a long topic")) == 3
    for f, n in ((0, 1), (100, 1), (20, 0)):
        with pytest.raises(IllegalArgumentError):
            BloomFilter(f, n)


@pytest.mark.parametrize("text", [
    "a > 1 garbage", "a LIKE 'x%'", "a = 0x1", "a = 00", "a", "TRUE", "NULL", "NOT a", "a IS NOT NULL", "a = b",
    "a BETWEEN 1 AND 5", "a NOT BETWEEN 5 AND 1", "a IN ('x', 'it''s')", "a NOT IN ('x')", "-a > +1", "(a)",
    "a > 1.5e3 AND b <> 'x' OR c <= 9223372036854775807", "a = 1 -- a comment\nAND b", "a /* one */ = 1", "a = TRUE",
    "a between 1 and 1.5", "'x' = 'x'", "1 = TRUE",
])  # fmt: skip
def test_expressions_that_compile(text: str) -> None:
    compile_sql92(text)


@pytest.mark.parametrize("text", [
    "", " ", "a >", "> 1", "AND a", "a > 1 AND", "(a > 1", "a IN (1)", "a IN ()", "'x' IN ('x')", "a = NULL",
    "NULL <> a", "NOT a > 1", "a > 'x'", "TRUE > a", "a = 9223372036854775808", "a = 1" + "0" * 5000, "a > 1E400",
    "a = 0.0", "a == 1", "a != 1", "a > 1 ;", "a > 1 /* open", "a.b = 'x'", "1a = 'x'", "a = 'x", "a NOT NULL",
    "a IS 1", "TRUE = 1", "a BETWEEN 5 AND 1", "a BETWEEN NULL AND 5", "1", "'x'", "-a", "a > 1 > 0", "(" * 20_000,
])  # fmt: skip
def test_expressions_that_do_not_compile(text: str) -> None:
    with pytest.raises(MQFilterError) as refused:
        compile_sql92(text)
    assert refused.value.error_message == "Invalid MessageSelector. "


def test_a_null_expression_is_a_null_pointer() -> None:
    with pytest.raises(NullPointerError):
        compile_sql92(None)
