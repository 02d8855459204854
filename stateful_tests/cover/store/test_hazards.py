"""The hazards of the store, as they were seen in the real 4.9.3: the same steps, the same damage."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_KEYS, PROPERTY_TAGS
from impl.decisions.java_arithmetic import INT_MAX, string_hash
from impl.decisions.java_errors import JavaError, JavaRuntimeError, MappingFaultError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.running_flags import make_logics_queue_error
from impl.store.consume_queue import PRE_BLANK, Unit, units_of
from impl.store.index_service import IllegalMonitorStateError
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from impl.store.put_message_status import PutMessageStatus
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from impl.variants.variant import Variant
from stateful_tests.cover.store.brokers import Broker

CONFIG = MessageStoreConfig(
    mapped_file_size_commit_log=8_192, configured_file_size_consume_queue=20_000, max_hash_slot_num=101,
    max_index_num=2_000, flush_disk_type=FlushDiskType.SYNC_FLUSH,
)
LOG, SECOND_LOG = (f"store/commitlog/{offset:020}" for offset in (0, 8_192))


def fresh(**changes: Any) -> Broker:
    return Broker(CONFIG, **changes)


def queue_file(topic: str, queue_id: int = 0) -> str:
    return f"store/consumequeue/{topic}/{queue_id}/00000000000000000000"


def units(broker: Broker, topic: str, queue_id: int = 0) -> list[Unit]:
    result = broker.store.find_consume_queue(topic, queue_id).get_index_buffer(0)
    if result is None:
        return []
    found = list(units_of(result.read()))
    result.release()
    return found


def ok(broker: Broker, body: bytes = b"body", topic: str = "A", **properties: str) -> int:
    """Put a message that is flushed, and dispatch it; its queue offset."""
    future = broker.put(body, topic, properties=properties)
    broker.store.commit_log.group_commit_service.run_once()
    broker.dispatch()
    result = future.result()
    assert result is not None
    assert result.status is PutMessageStatus.PUT_OK
    assert result.append_message_result is not None
    return result.append_message_result.logics_offset


def test_v1_a_batch_whose_properties_add_up_poisons_the_log() -> None:
    broker = fresh(mapped_file_size_commit_log=4 << 20)
    ok(broker)
    batch = broker.put_batch([b"a", b"b"], "A", each={"P": "p" * 20_000}, properties={"Q": "q" * 20_000})
    assert batch.append_message_result is not None
    begin = batch.append_message_result.wrote_offset
    for _ in range(400):
        broker.put(b"normal", "A")
    broker.store.commit_log.group_commit_service.run_once()
    result = batch.result()
    assert result is not None
    assert result.status is PutMessageStatus.PUT_OK
    broker.dispatch()
    assert broker.store.get_max_offset_in_queue("A", 0) == 1
    assert broker.store.dispatch_behind_bytes() < 0
    broker.store.shutdown()
    assert not broker.store.shut_down_normal
    broker.restart()
    assert broker.store.get_max_phy_offset() == begin


def test_v2_one_bad_record_takes_all_that_follows_with_it() -> None:
    broker = fresh()
    for _ in range(300):
        ok(broker, bytes(100))
    broker.store.shutdown()
    files = broker.disk.list("store/commitlog")
    third_last = f"store/commitlog/{files[-3]}"
    broker.write(third_last, 5 * 192 + 100, b"\xff")
    broker.restart()
    assert broker.disk.list("store/commitlog") == files[:-2]
    assert broker.store.get_max_phy_offset() == int(files[-3]) + 5 * 192
    assert len(broker.messages("A")) == broker.store.get_max_offset_in_queue("A", 0) == 5 * 42 + 5


def test_v3_an_empty_queue_file_becomes_a_phantom() -> None:
    broker = fresh()
    for _ in range(5):
        ok(broker)
    (last,) = broker.messages("A")[-1:]
    broker.kill()
    broker.disk.open(queue_file("B"), 20_000)
    broker.write(LOG, last.commit_log_offset, bytes(last.store_size))
    broker.restart()
    assert units(broker, "B") == [Unit(0, 0, 0)]
    assert ok(broker, b"first", "B") == 1
    broker.kill()
    broker.restart()
    (message,) = [message for message in broker.messages("B") if message.body == b"first"]
    place = [unit.offset for unit in units(broker, "B")].index(message.commit_log_offset)
    assert (message.queue_offset, place) == (1, 0)


def test_v4_records_that_were_cut_off_come_back() -> None:
    broker = fresh()
    for number in range(10):
        ok(broker, b"%d" % number)
    fifth = broker.messages("A")[5]
    broker.kill()
    broker.write(LOG, fifth.commit_log_offset, bytes(fifth.store_size))
    broker.write(queue_file("A"), 5 * 20, bytes(5 * 20))
    broker.restart()
    assert broker.store.get_max_phy_offset() == fifth.commit_log_offset
    ok(broker, b"x")
    assert broker.bodies("A") == [b"0", b"1", b"2", b"3", b"4", b"x"]
    broker.kill()
    broker.restart()
    assert broker.bodies("A") == [b"0", b"1", b"2", b"3", b"4", b"x", b"6", b"7", b"8", b"9"]


@pytest.mark.parametrize(("repairs", "is_there"), [((), True), ((REPAIRS["tail_is_zeroed"],), False)])
def test_v4_a_file_that_a_start_has_deleted_comes_back_with_a_loss_of_power(
    repairs: tuple[Variant, ...], *, is_there: bool,
) -> None:
    with active(repairs):
        broker = fresh()
        while broker.disk.length(SECOND_LOG) is None:
            ok(broker, bytes(1_000))
        before = broker.disk.open(SECOND_LOG).read(0, 1_000)
        broker.write(LOG, 0, bytes(8))
        broker.kill()
        broker.restart()
        assert broker.disk.length(SECOND_LOG) is None
        broker.machine.change(SECOND_LOG, broker.machine.names[SECOND_LOG].before)
        after = broker.disk.open(SECOND_LOG).read(0, 1_000)
        assert any(before)
        assert (after == before) is any(after) is is_there


def test_v5_a_delayed_message_that_recovery_dispatches_is_due_at_once() -> None:
    broker = fresh()
    ok(broker, b"later", "A", **{PROPERTY_DELAY_TIME_LEVEL: "18", PROPERTY_TAGS: "tag"})
    (unit,) = units(broker, RMQ_SYS_SCHEDULE_TOPIC, 17)
    assert unit.tags_code > broker.now
    broker.kill()
    broker.disk.delete(queue_file(RMQ_SYS_SCHEDULE_TOPIC, 17))
    broker.restart()
    (unit,) = units(broker, RMQ_SYS_SCHEDULE_TOPIC, 17)
    assert unit.tags_code == string_hash("tag")


def test_v7_only_the_body_is_checked() -> None:
    broker = fresh()
    for _ in range(3):
        ok(broker, b"body", "A", **{PROPERTY_TAGS: "0123456789"})
    first, _, last = broker.messages("A")
    broker.kill()
    broker.disk.delete(queue_file("A"))
    broker.write(LOG, last.commit_log_offset + last.store_size - 15, bytes(15))
    broker.write(LOG, first.commit_log_offset + 12, (7).to_bytes(4, "big"))
    broker.restart()
    assert [unit.tags_code for unit in units(broker, "A", 7)] == [string_hash("0123456789")]
    later = [unit for unit in units(broker, "A") if unit != PRE_BLANK]
    assert [unit.tags_code for unit in later] == [string_hash("0123456789"), 0]
    assert [broker.store.look_message_by_offset(unit.offset) for unit in later if unit.tags_code == 0] != [None]


def test_v8_a_unit_that_two_pages_share_loses_its_tags() -> None:
    broker = fresh()
    for _ in range(420):
        ok(broker, b"", "A", **{PROPERTY_TAGS: "tag"})
    broker.kill()
    broker.write(queue_file("A"), 2 * 4_096, bytes(420 * 20 - 2 * 4_096))
    broker.restart()
    codes = [unit.tags_code for unit in units(broker, "A")]
    assert [number for number, code in enumerate(codes) if code != string_hash("tag")] == [409]
    assert (codes[409], len(codes)) == (0, 420)


def test_v9_pre_blanks_that_survive_alone_stop_all_dispatch() -> None:
    broker = fresh()
    ok(broker)
    broker.kill()
    broker.disk.open(queue_file("B"), 20_000)
    for number in range(10):
        broker.write(queue_file("B"), number * 20, INT_MAX.to_bytes(12, "big") + bytes(8))
    broker.store = broker.load()
    assert broker.store.start()
    assert broker.store.dispatch_behind_bytes() < -(2**31) + 1_000
    ok(broker)
    assert broker.store.get_max_offset_in_queue("A", 0) == 1


def test_v10_an_index_that_rolls_over_vouches_for_queues_that_were_not_flushed() -> None:
    broker = fresh(max_index_num=200)
    for number in range(420):
        ok(broker, bytes(60), "A", **{PROPERTY_KEYS: f"k{number}"})
        if number == 99:
            broker.store.flush_consume_queue_service.do_flush()
        if number % 100 == 99:
            broker.now += 6_000
    broker.kill()
    broker.write(queue_file("A"), 100 * 20, bytes(320 * 20))
    broker.restart()
    found = units(broker, "A")
    assert 100 < len(found) < 420
    assert found[100].offset > found[99].offset + 8_192
    assert broker.store.commit_log.topic_queue_table["A-0"] == len(found)


def test_v12_a_second_process_recovers_the_directory_before_it_asks_for_the_lock() -> None:
    broker = fresh()
    for _ in range(60):
        ok(broker, bytes(100), "A", **{PROPERTY_KEYS: "k"})
    broker.store.allocate_mapped_file_service.mmap_operation()
    prepared, index = broker.disk.list("store/commitlog")[-1], broker.disk.list("store/index")
    with pytest.raises(JavaRuntimeError, match="Lock failed"):
        broker.load().start()
    assert prepared not in broker.disk.list("store/commitlog")
    assert broker.disk.list("store/index") != index
    for _ in range(60):
        ok(broker, bytes(100))
        broker.store.allocate_mapped_file_service.mmap_operation()
    assert len(broker.messages("A")) == 120
    broker.kill()
    store = broker.load()
    assert not store.start()
    assert not store.go_on_starting()


@pytest.mark.parametrize("safe", [False, True])
def test_v13_a_crash_costs_the_index_unless_it_is_safe(*, safe: bool) -> None:
    broker = fresh(message_index_safe=safe)
    for number in range(420):
        ok(broker, bytes(20), "A", **{PROPERTY_KEYS: f"k{number}"})
        if number in (150, 300):
            broker.now += 6_000
            broker.store.flush_consume_queue_service._last_flush_ms = 0  # an interval of 500 ms
            broker.store.flush_consume_queue_service.do_flush()
    broker.kill()
    broker.restart()
    found = [number for number in range(420) if broker.found(f"k{number}", "A")]
    assert (len(found) == 420) is safe
    assert found == list(range(found[0], 420))


def test_v14_an_index_that_cannot_be_made_stops_dispatch_and_nobody_is_told() -> None:
    broker = fresh()
    broker.disk.open("store/index")
    for _ in range(3):
        with pytest.raises(IllegalMonitorStateError):
            ok(broker)
    future = broker.put(b"", "A")
    broker.store.commit_log.group_commit_service.run_once()
    result = future.result()
    assert result is not None
    assert (result.status, broker.store.running_flags) == (PutMessageStatus.PUT_OK, 0)
    assert broker.store.get_max_offset_in_queue("A", 0) == 1


@pytest.mark.parametrize(("repairs", "offsets"), [
    ((), [1, 2, 2]), ((REPAIRS["dispatch_goes_on_after_an_error"],), [1, 2, 3])])
def test_v40_an_index_without_a_page_ends_the_dispatch_for_good(
    repairs: tuple[Variant, ...], offsets: list[int],
) -> None:
    with active(repairs):
        broker = fresh(max_hash_slot_num=1 << 20)
        service = broker.store.reput_message_service
        found = []
        for percent in (0, 100, 0):
            broker.machine.fill(percent)
            assert broker.put(b"", "A", properties={PROPERTY_KEYS: f"k{percent}"}).append_message_result is not None
            with suppress(MappingFaultError):
                service.run_once()
            found.append(broker.store.get_max_offset_in_queue("A", 0))
        assert found == offsets
        broker.store.shutdown()
        assert broker.store.shut_down_normal is bool(repairs)


def test_an_exception_of_the_dispatcher_is_logged_and_the_record_comes_again() -> None:
    broker = fresh()
    broker.disk.open("store/index")
    assert broker.put(b"", "A").append_message_result is not None
    broker.store.reput_message_service.run_once()
    assert broker.store.dispatch_behind_bytes() > 0
    broker.disk.delete("store/index")
    broker.store.reput_message_service.run_once()
    assert broker.store.dispatch_behind_bytes() == 0


def test_an_error_ends_the_thread_that_flushes_the_queues_and_an_exception_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = fresh()
    service = broker.store.flush_consume_queue_service
    raised: list[JavaError] = [MappingFaultError(), JavaRuntimeError("force failed")]

    def fails() -> bool:
        raise raised[-1]

    with monkeypatch.context() as patched:
        patched.setattr(service, "do_flush", fails)
        assert not service.run_once()
        raised.pop()
        with pytest.raises(MappingFaultError):
            service.run_once()
    assert service.ended
    ok(broker)
    service.run_once()
    service.shutdown()
    assert service.do_flush()  # what was left


def expired(broker: Broker) -> None:
    """Delete the first file of the log, as if it were old, and what leads to it."""
    broker.store.commit_log.mapped_file_queue.delete_expired_file_by_time(0, 0, clean_immediately=True)
    broker.store.clean_consume_queue_service.run()


def test_v15_a_unit_is_left_out_where_a_queue_has_failed_before() -> None:
    broker = fresh()
    ok(broker)
    broker.store.running_flags = make_logics_queue_error(broker.store.running_flags)
    broker.store.append_to_commit_log(broker.store.get_max_phy_offset(), again(broker))
    broker.dispatch()
    assert broker.store.dispatch_behind_bytes() == 0
    assert broker.store.get_max_offset_in_queue("A", 0) == 1


def again(broker: Broker) -> bytes:
    """The log's bytes, as a master would send them once more."""
    data = broker.store.get_commit_log_data(0)
    assert data is not None
    found = data.read()
    data.release()
    return found


def test_v16_the_offset_of_a_lost_message_goes_to_another_one() -> None:
    broker = fresh(flush_disk_type=FlushDiskType.ASYNC_FLUSH)
    broker.put(b"seen", "A")
    broker.dispatch()
    (seen,) = broker.messages("A")
    broker.kill()
    broker.write(LOG, seen.commit_log_offset, bytes(seen.store_size))
    broker.disk.delete(queue_file("A"))
    broker.restart()
    broker.put(b"never seen", "A")
    broker.dispatch()
    assert [(message.queue_offset, message.body) for message in broker.messages("A")] == [(0, b"never seen")]


def test_v18_a_queue_of_which_all_records_have_expired_keeps_its_minimum() -> None:
    broker = fresh()
    ok(broker, bytes(100), "B")
    for _ in range(100):
        ok(broker, bytes(100))
    expired(broker)
    broker.store.shutdown()
    broker.restart()
    assert broker.store.get_min_phy_offset() > 0
    assert (broker.store.get_min_offset_in_queue("B", 0), broker.store.get_max_offset_in_queue("B", 0)) == (0, 1)


def test_v21_of_a_batch_that_was_not_acknowledged_the_first_messages_stay() -> None:
    broker = fresh()
    broker.put_batch([b"one", b"two"], "A")
    broker.dispatch()
    _, second = broker.messages("A")
    broker.kill()
    broker.write(LOG, second.commit_log_offset, bytes(second.store_size))
    broker.restart()
    assert broker.bodies("A") == [b"one"]


def test_v25_a_unit_of_offset_0_is_answered_with_what_is_first_now() -> None:
    broker = fresh()
    ok(broker, b"old", "B")
    for _ in range(100):
        ok(broker, bytes(100))
    expired(broker)
    found = broker.store.get_message("B", 0, 0, 32)
    assert found is not None
    assert found.records
    assert b"old" not in found.records[0]


@pytest.mark.parametrize(("times", "searched", "found"), [
    ((10, 20, 20, 20, 20, 30), 20, 2), ((10, 20, 20, 20, 20, 30), 31, 5), ((10, 20), 20, 1)])
def test_v28_a_search_by_time_stops_at_any_message_of_that_time_and_behind_the_end_at_the_last(
    monkeypatch: pytest.MonkeyPatch, times: tuple[int, ...], searched: int, found: int,
) -> None:
    """The first message of 20 ms is message 1; behind the last one is 6."""
    broker = fresh()
    start = broker.now
    for time in times:
        monkeypatch.setattr(broker.store.commit_log, "now_ms", lambda time=time: start + time)
        ok(broker)
    assert broker.store.get_offset_in_queue_by_time("A", 0, start + searched) == found


def put_and_flush(broker: Broker, body: bytes) -> None:
    """Put a message that is flushed and not dispatched."""
    broker.put(body, "A")
    broker.store.commit_log.group_commit_service.run_once()


def test_v35_clean_up_of_a_full_disk_takes_what_was_not_dispatched_and_later_units_lie_too_early() -> None:
    broker = fresh()
    ok(broker)
    put_and_flush(broker, bytes(5_000))
    put_and_flush(broker, bytes(5_000))
    broker.machine.fill(86)
    broker.store.clean_commit_log_service.run()
    assert ok(broker) == 3
    assert [unit.offset for unit in units(broker, "A")][1:] == [8_192, 13_284]
    assert [message.queue_offset for message in broker.messages("A")] == [2, 3]
    assert broker.store.get_max_offset_in_queue("A", 0) == 3
    assert ok(broker) == 4
