"""Delayed messages: when they are delivered, what is delivered, and where a restart goes on."""

from __future__ import annotations

from typing import Any

import pytest

from impl.common.config_manager import file_to_string, string_to_file_not_safe
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
    PROPERTY_TAGS,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.message_properties import message_properties2_string
from impl.decisions.java_errors import NullPointerError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from impl.decisions.running_flags import make_logics_queue_error
from impl.store.message_store_config import BrokerRole, FlushDiskType, MessageStoreConfig
from impl.store.schedule_message_service import (
    DELAY_FOR_A_PERIOD_MS,
    DELAY_FOR_A_WHILE_MS,
    message_timeup,
)
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from impl.variants.variant import Variant
from stateful_tests.cover.store.brokers import BORN, STORED, Broker
from stateful_tests.cover.store.delays import DelayBroker

FILE = "store/config/delayOffset.json"


# When -----------------------------------------------------------------------------------------------------------------


def test_a_message_is_delivered_when_its_delay_is_over_and_not_before() -> None:
    broker = DelayBroker()
    broker.delayed(b"late")
    unit = broker.store.schedule_message_service.queue(1).unit(0)
    assert unit is not None
    broker.now = unit.tags_code - 2
    assert broker.look() == []
    assert broker.look() == [b"late"]
    assert broker.look(10_000) == [b"late"]


def test_levels_do_not_wait_for_each_other() -> None:
    broker = DelayBroker()
    for level in (3, 1, 18):
        broker.delayed(b"%d" % level, level)
    assert broker.look(1_000) == [b"1"]
    assert broker.look(9_000) == [b"1", b"3"]
    assert broker.offsets() == {1: 1, 3: 1}


def test_a_level_above_the_greatest_is_the_greatest() -> None:
    broker = DelayBroker(message_delay_level="1s 2s")
    broker.delayed(b"late", 7)
    assert broker.look(1_900) == []
    assert broker.look(100) == [b"late"]


def test_a_message_due_later_than_its_delay_allows_is_delivered_at_once() -> None:
    broker = DelayBroker()
    broker.delayed(b"late")
    broker.now -= 3_600_000  # the clock of the machine is set back
    assert broker.look() == [b"late"]


def test_the_first_that_is_not_due_ends_the_look() -> None:
    broker = DelayBroker()
    broker.delayed(b"first")
    broker.now += 900
    broker.delayed(b"second")
    assert broker.look(100) == [b"first"]
    assert (broker.task().offset, broker.offsets()) == (1, {1: 1})
    assert broker.look(1_000) == [b"first", b"second"]


def test_a_code_of_an_extension_file_that_is_not_there_is_read_from_the_record() -> None:
    broker = DelayBroker()
    broker.delayed(b"late")
    broker.unit(-(2**40))
    assert broker.look() == []
    assert broker.look(1_000) == [b"late"]


def test_a_torn_unit_is_due_at_once() -> None:
    """V8: a code that lost its lower bytes."""
    broker = DelayBroker()
    broker.delayed(b"late", 18)
    broker.unit(0, level=18)
    assert broker.look() == [b"late"]


def test_recovery_after_a_kill_forgets_the_delay() -> None:
    """V5: the levels are not known yet while recovery dispatches."""
    broker = DelayBroker(flush_disk_type=FlushDiskType.SYNC_FLUSH)
    broker.put(b"late", queue_id=2, properties={PROPERTY_DELAY_TIME_LEVEL: "18", PROPERTY_TAGS: "t"})
    broker.kill()
    broker.restart()
    assert broker.look() == [b"late"]


# What -----------------------------------------------------------------------------------------------------------------


def test_what_is_delivered_is_the_message_with_its_old_properties() -> None:
    broker = DelayBroker()
    broker.delayed(b"late", properties={PROPERTY_TAGS: "t", PROPERTY_WAIT_STORE_MSG_OK: "true"})
    waiting = broker.messages(RMQ_SYS_SCHEDULE_TOPIC)[0]
    broker.look(1_000)
    found = broker.messages(queue_id=2)[0]
    assert dict(found.properties or {}) == {
        PROPERTY_TAGS: "t", PROPERTY_WAIT_STORE_MSG_OK: "true", PROPERTY_DELAY_TIME_LEVEL: "1",
        PROPERTY_REAL_TOPIC: "T", PROPERTY_REAL_QUEUE_ID: "2"}
    assert (found.body, found.store_host) == (waiting.body, waiting.store_host)


def test_what_the_sender_has_said_stays() -> None:
    said: dict[str, Any] = {
        "body": b"late", "flag": 7, "sys_flag": 3, "born_timestamp": 5, "born_host": BORN, "store_host": STORED,
        "reconsume_times": 2}
    inner = message_timeup(MessageExt(0, properties={PROPERTY_REAL_TOPIC: "T", PROPERTY_REAL_QUEUE_ID: "2"}, **said))
    assert {name: getattr(inner, name) for name in said} == said
    assert (inner.topic, inner.queue_id, inner.prepared_transaction_offset) == ("T", 2, 0)


def test_v23_the_put_of_a_delivery_waits_for_nobody() -> None:
    broker = DelayBroker(flush_disk_type=FlushDiskType.SYNC_FLUSH, broker_role=BrokerRole.SYNC_MASTER)
    broker.delayed(b"late")
    assert broker.look(1_000) == [b"late"]
    assert broker.offsets() == {1: 1}


def test_the_text_of_the_properties_is_that_of_the_record() -> None:
    broker = DelayBroker()
    broker.delayed(b"late", properties={f"name{number}": "x" for number in range(20)})
    waiting = broker.messages(RMQ_SYS_SCHEDULE_TOPIC)[0]
    inner = message_timeup(waiting)
    assert inner.properties_string == message_properties2_string((waiting.properties or {}).items())
    assert (inner.delay_time_level(), inner.is_wait_store_msg_ok()) == (0, False)


def test_half_messages_are_dropped() -> None:
    broker = DelayBroker()
    broker.put(b"half", topic=RMQ_SYS_TRANS_HALF_TOPIC, properties={PROPERTY_DELAY_TIME_LEVEL: "1"})
    broker.delayed(b"late")
    assert broker.look(1_000) == [b"late"]
    assert broker.bodies(RMQ_SYS_TRANS_HALF_TOPIC) == []


def test_a_message_that_cannot_be_read_is_passed_over() -> None:
    broker = DelayBroker()
    broker.delayed(b"gone")
    broker.delayed(b"late")
    broker.unit(0, offset=1 << 40)
    assert broker.look(1_000) == [b"late"]


@pytest.mark.parametrize("property_name", [PROPERTY_REAL_TOPIC, PROPERTY_REAL_QUEUE_ID])
def test_a_message_that_does_not_say_whither_blocks_its_level(property_name: str) -> None:
    broker = DelayBroker()
    whither = {PROPERTY_REAL_TOPIC: "T", PROPERTY_REAL_QUEUE_ID: "2"}
    del whither[property_name]
    broker.put(b"lost", topic=RMQ_SYS_SCHEDULE_TOPIC, queue_id=0, properties=whither)
    broker.delayed(b"late")
    assert broker.look(1_000) == []
    assert (broker.task().run(), broker.task().offset) == (DELAY_FOR_A_WHILE_MS, 0)


# Whether --------------------------------------------------------------------------------------------------------------


def test_a_delivery_that_fails_is_tried_again() -> None:
    """The message is not passed over, as later versions did."""
    broker = DelayBroker()
    for body in (b"a", b"b"):
        broker.delayed(body)
    writeable = broker.store.running_flags
    broker.store.running_flags = make_logics_queue_error(writeable)
    assert broker.look(1_000) == []
    assert (broker.task().offset, broker.offsets()) == (0, {})
    broker.store.running_flags = writeable
    assert broker.look() == [b"a", b"b"]


def test_a_delivery_that_grows_beyond_the_limit_blocks_its_level() -> None:
    """V19: the real topic is longer than that of the schedule."""
    broker = DelayBroker(max_message_size=400)
    broker.put(bytes(100), topic="T" * 100, properties={PROPERTY_DELAY_TIME_LEVEL: "1"})
    broker.delayed(b"late")
    assert broker.look(1_000) == []
    assert broker.task().offset == 0


def test_one_look_ends_with_its_file() -> None:
    broker = DelayBroker()
    for number in range(11):
        broker.delayed(b"%d" % number)
    assert len(broker.look(1_000)) == 10
    assert broker.task().offset == 10
    assert len(broker.look()) == 11


def test_a_task_outside_its_queue_goes_to_the_nearer_end() -> None:
    broker = DelayBroker()
    broker.delayed(b"late")
    broker.task().offset = 9
    broker.look(1_000)
    assert broker.task().offset == 1
    queue = broker.store.schedule_message_service.queue(1)
    queue.min_logic_offset = 20
    broker.task().offset = 0
    broker.look()
    assert broker.task().offset == 1
    broker.look()
    assert broker.task().offset == 1


def test_a_slave_delivers_nothing() -> None:
    broker = DelayBroker(broker_role=BrokerRole.SLAVE)
    assert broker.store.schedule_message_service.tasks == ()


def test_a_look_that_fails_outside_its_units_is_repeated_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise NullPointerError

    task = DelayBroker().task()
    assert task.run() == DELAY_FOR_A_WHILE_MS
    monkeypatch.setattr("impl.store.consume_queue.ConsumeQueue.get_min_offset_in_queue", lambda _: fail())
    assert (task.run(), task.offset) == (DELAY_FOR_A_PERIOD_MS, 0)


# After a restart ------------------------------------------------------------------------------------------------------


def test_v19_after_a_burst_all_but_the_first_are_delivered_again() -> None:
    """V19: the file gets the offset behind the first of a look."""
    broker = DelayBroker()
    for body in (b"a", b"b", b"c"):
        broker.delayed(body)
    assert broker.look(1_000) == [b"a", b"b", b"c"]
    assert broker.offsets() == {1: 1}
    broker.store.shutdown()
    assert file_to_string(broker.disk, FILE) == '{\n\t"offsetTable":{1:1\n\t}\n}'
    broker.restart()
    assert broker.look(1_000) == [b"a", b"b", b"c", b"b", b"c"]


def test_a_kill_delivers_again_what_was_delivered_since_the_file_was_written() -> None:
    broker = DelayBroker()
    broker.delayed(b"a")
    broker.look(1_000)
    broker.store.schedule_message_service.persist()
    broker.delayed(b"b")
    assert broker.look(1_000) == [b"a", b"b"]
    broker.kill()
    broker.restart()
    assert broker.look() == [b"a", b"b", b"b"]


def test_after_an_orderly_stop_single_messages_are_not_delivered_again() -> None:
    broker = DelayBroker()
    for body in (b"a", b"b"):
        broker.delayed(body)
        broker.look(1_000)
    broker.store.shutdown()
    broker.restart()
    assert broker.look(1_000) == [b"a", b"b"]


def test_offsets_outside_their_queues_are_moved_and_then_read_once_more() -> None:
    broker = DelayBroker()
    broker.delayed(b"a")
    broker.store.shutdown()
    string_to_file_not_safe(broker.disk, FILE, '{"offsetTable":{1:7,2:-3,40:5}}')
    broker.store = broker.load()
    assert broker.offsets() == {1: 1, 2: 0, 40: 5}
    assert broker.store.start()
    assert broker.offsets() == {1: 7, 2: -3, 40: 5}


@pytest.mark.parametrize(("repairs", "came"), [
    ((), [b"b"]), ((REPAIRS["levels_begin_in_their_queues"],), [b"a", b"b"])])
def test_v42_a_broker_that_dies_before_it_saves_a_new_offset_passes_over_what_waits(
    repairs: tuple[Variant, ...], came: list[bytes],
) -> None:
    with active(repairs):
        broker = DelayBroker()
        broker.kill()
        string_to_file_not_safe(broker.disk, FILE, '{"offsetTable":{1:7}}')
        broker.restart()
        assert broker.look() == []
        broker.delayed(b"a")
        broker.kill()
        broker.restart()
        broker.look()
        broker.delayed(b"b")
        assert broker.look(1_000) == came


def test_the_repair_of_v42_writes_nothing_before_the_start() -> None:
    """While the store is loaded its queues may still end elsewhere."""
    with active([REPAIRS["levels_before_recovery"], REPAIRS["levels_begin_in_their_queues"]]):
        broker = DelayBroker()
        broker.kill()
        string_to_file_not_safe(broker.disk, FILE, '{"offsetTable":{1:7}}')
        broker.store = broker.load()
        assert "1:7" in (file_to_string(broker.disk, FILE) or "")
        assert broker.store.start()
        assert "1:0" in (file_to_string(broker.disk, FILE) or "")


@pytest.mark.parametrize(("text", "backup", "offsets"), [
    ('{"offsetTable":{1:1}}', None, {1: 1}), ("", '{"offsetTable":{1:1}}', {1: 1}),
    ("{", '{"offsetTable":{1:1}}', {1: 1}), ("{", None, {}), ("{}", "{", {}), ("[1]", '{"offsetTable":{1:1}}', {1: 1}),
    ("{", "{", None),
])
def test_the_backup_stands_in_for_a_file_that_cannot_be_read(
    text: str, backup: str | None, offsets: dict[int, int] | None,
) -> None:
    broker = DelayBroker()
    broker.delayed(b"a")
    broker.kill()
    string_to_file_not_safe(broker.disk, FILE, text)
    if backup is not None:
        string_to_file_not_safe(broker.disk, FILE + ".bak", backup)
    if offsets is None:
        with pytest.raises(AssertionError):
            broker.load()
        return
    broker.restart()
    assert broker.offsets() == offsets


def test_a_wrong_level_in_the_configuration_refuses_the_start() -> None:
    with pytest.raises(AssertionError):
        Broker(MessageStoreConfig(message_delay_level="1s x"))


@pytest.mark.parametrize(("repairs", "ended"), [((), [1]), ((REPAIRS["level_goes_on_after_an_error"],), [])])
def test_v39_a_full_disk_ends_the_task_of_a_level_and_of_no_other(
    repairs: tuple[Variant, ...], ended: list[int],
) -> None:
    with active(repairs):
        broker = DelayBroker(max_message_size=4_096, mapped_file_size_commit_log=1 << 16)
        for level in (1, 2):
            broker.delayed(b"%d" % level * 1_500, level)
        broker.machine.fill(100)
        broker.now += 1_000
        service = broker.store.schedule_message_service
        assert service.run_once() == ended
        assert [task.level for task in service.tasks] == [level for level in range(1, 19) if level not in ended]
        broker.machine.fill(0)
        assert broker.look(4_000) == [b"%d" % level * 1_500 for level in (1, 2) if level not in ended]
        broker.kill()
        broker.restart()
        assert b"1" * 1_500 in broker.look(1_000)
