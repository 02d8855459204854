"""What a put is answered, how files end, and what a start refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_WAIT_STORE_MSG_OK
from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_PREPARED_TYPE
from impl.decisions.java_errors import JavaRuntimeError
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.pull_answer import GetMessageStatus
from impl.ports.disk import Disk, DiskError, DiskFullError, File
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_reads import CqExtUnit
from impl.store.message_store_config import BrokerRole, FlushDiskType
from impl.store.put_message_result import PutMessageFuture
from impl.store.put_message_status import AppendMessageStatus, PutMessageStatus
from stateful_tests.cover.store.brokers import BORN, SMALL, STORED, Broker

RECORD_BYTES = 91 + 1  # of an empty message to topic T


def status(future: PutMessageFuture) -> PutMessageStatus | None:
    result = future.result()
    return None if result is None else result.status


def appended(future: PutMessageFuture) -> tuple[int, int, int]:
    result = future.append_message_result
    assert result is not None
    return result.wrote_offset, result.wrote_bytes, result.logics_offset


# Appends --------------------------------------------------------------------------------------------------------------


def test_offsets_and_the_id_of_a_message() -> None:
    broker = Broker()
    assert appended(broker.put(b"")) == (0, RECORD_BYTES, 0)
    future = broker.put(b"", queue_id=1)
    assert appended(future) == (RECORD_BYTES, RECORD_BYTES, 0)
    assert appended(broker.put(b"x")) == (2 * RECORD_BYTES, RECORD_BYTES + 1, 1)
    assert future.append_message_result is not None
    assert future.append_message_result.get_msg_id() == f"7F00000100002A9F{RECORD_BYTES:016X}"


@pytest.mark.parametrize(("left", "offset"), [(8, 0), (7, 2_048), (0, 2_048)])
def test_a_record_needs_eight_bytes_more_than_it_has(left: int, offset: int) -> None:
    broker = Broker()
    used = 2_048 - RECORD_BYTES - left
    first, second = used // 2, used - used // 2
    for size in (first, second):
        broker.put(bytes(size - RECORD_BYTES))
    assert appended(broker.put(b""))[0] == (offset or used)
    if offset:
        blank = broker.disk.open("store/commitlog/00000000000000000000").read(used, 8)
        assert blank == (2_048 - used).to_bytes(4, "big") + bytes.fromhex("cbd43194")
    broker.dispatch()
    broker.kill()
    broker.restart()
    assert len(broker.messages()) == 3


def test_a_record_that_fits_into_no_file_is_ok_behind_two_blanks() -> None:
    broker = Broker(max_message_size=4_096)
    future = broker.put(bytes(2_000))
    assert (status(future), appended(future)[:2]) == (PutMessageStatus.PUT_OK, (2_048, 2_048))
    assert future.append_message_result is not None
    assert future.append_message_result.status is AppendMessageStatus.END_OF_FILE
    assert appended(broker.put(b""))[0] == 4_096


def test_a_batch_lies_in_one_file() -> None:
    broker = Broker()
    for _ in range(2):
        broker.put(bytes(800))
    future = broker.put_batch([b"a", b"b", b"c"])
    offset, length, first = appended(future)
    assert (offset, length, first) == (2_048, 3 * (RECORD_BYTES + 1), 2)
    assert future.append_message_result is not None
    assert future.append_message_result.msg_num == 3
    broker.dispatch()
    assert broker.bodies()[2:] == [b"a", b"b", b"c"]


def test_prepared_messages_are_in_no_queue_and_take_no_offset() -> None:
    broker = Broker()
    for sys_flag in (TRANSACTION_PREPARED_TYPE, TRANSACTION_COMMIT_TYPE):
        broker.store.async_put_message(MessageExtBrokerInner("T", b"x", BORN, STORED, sys_flag=sys_flag))
    broker.dispatch()
    assert [message.sys_flag for message in broker.messages()] == [TRANSACTION_COMMIT_TYPE]


def test_a_delayed_message_waits_in_the_queue_of_its_level() -> None:
    broker = Broker()
    broker.put(b"later", queue_id=3, properties={PROPERTY_DELAY_TIME_LEVEL: "99"})
    broker.dispatch()
    (message,) = broker.messages(RMQ_SYS_SCHEDULE_TOPIC, 17)
    assert message.properties == {"DELAY": "18", "REAL_TOPIC": "T", "REAL_QID": "3"}
    unit = broker.store.find_consume_queue(RMQ_SYS_SCHEDULE_TOPIC, 17).unit(0)
    assert unit is not None
    assert unit.tags_code == message.store_timestamp + 7_200_000


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("message", "expected"), [
    ({"topic": "t" * 128}, PutMessageStatus.MESSAGE_ILLEGAL),
    ({"properties": {"P": "p" * 32_767}}, PutMessageStatus.MESSAGE_ILLEGAL),
    ({"properties": {"P": "\u00e9" * 20_000}}, PutMessageStatus.PROPERTIES_SIZE_EXCEEDED),
    ({"body": bytes(1_024)}, PutMessageStatus.MESSAGE_ILLEGAL),
    ({"body": bytes(1_024 - RECORD_BYTES)}, PutMessageStatus.PUT_OK),
])
def test_limits(message: dict[str, Any], expected: PutMessageStatus) -> None:
    assert status(Broker().put(**message)) is expected


def test_a_batch_must_be_short_undelayed_and_without_a_transaction() -> None:
    broker = Broker()
    assert status(broker.put_batch([bytes(1_024)])) is PutMessageStatus.MESSAGE_ILLEGAL
    delayed = broker.put_batch([b""], properties={PROPERTY_DELAY_TIME_LEVEL: "1"})
    assert status(delayed) is PutMessageStatus.MESSAGE_ILLEGAL
    with pytest.raises(JavaRuntimeError, match="message size exceeded"):
        broker.put_batch([bytes(300)] * 3)
    assert broker.store.get_max_phy_offset() == 0


def test_a_store_that_is_not_writeable_refuses() -> None:
    broker = Broker()
    broker.store.running_flags = 16
    assert status(broker.put()) is PutMessageStatus.SERVICE_NOT_AVAILABLE
    broker.store.running_flags = 0
    broker.store.commit_log.begin_time_in_lock = broker.now - 1_001
    assert status(broker.put()) is PutMessageStatus.OS_PAGECACHE_BUSY
    broker.store.shutdown()
    assert status(broker.put()) is PutMessageStatus.SERVICE_NOT_AVAILABLE
    assert status(Broker(broker_role=BrokerRole.SLAVE).put()) is PutMessageStatus.SERVICE_NOT_AVAILABLE


def test_a_synchronous_master_without_a_slave() -> None:
    broker = Broker(broker_role=BrokerRole.SYNC_MASTER)
    assert status(broker.put()) is PutMessageStatus.SLAVE_NOT_AVAILABLE
    assert status(broker.put(properties={PROPERTY_WAIT_STORE_MSG_OK: "false"})) is PutMessageStatus.PUT_OK
    broker.dispatch()
    assert len(broker.messages()) == 2


def test_a_synchronous_flush_is_waited_for_and_ends_by_its_deadline() -> None:
    broker = Broker(flush_disk_type=FlushDiskType.SYNC_FLUSH)
    flushed, late = broker.put(), broker.put()
    assert (status(flushed), status(late)) == (None, None)
    assert status(broker.put(properties={PROPERTY_WAIT_STORE_MSG_OK: "false"})) is PutMessageStatus.PUT_OK
    told: list[PutMessageStatus] = []
    flushed.when_complete(lambda result: told.append(result.status))
    broker.flush()
    assert (status(flushed), told) == (PutMessageStatus.PUT_OK, [PutMessageStatus.PUT_OK])
    late = broker.put()
    broker.now += 5_001
    broker.store.commit_log.flush_disk_watcher.run_once()
    assert status(late) is PutMessageStatus.FLUSH_DISK_TIMEOUT


# A transient pool -----------------------------------------------------------------------------------------------------


def test_with_a_transient_pool_a_kill_costs_what_was_not_committed() -> None:
    broker = Broker(transient_store_pool_configured=True)
    broker.put(b"kept")
    broker.flush()
    broker.put(b"lost")
    broker.dispatch()
    assert broker.bodies() == [b"kept"]
    broker.kill()
    broker.restart()
    assert broker.bodies() == [b"kept"]
    assert broker.store.transient_store_pool.available_buffer_nums == 5


def test_a_buffer_is_given_back_when_its_file_is_full() -> None:
    broker = Broker(transient_store_pool_configured=True)
    pool = broker.store.transient_store_pool
    for _ in range(4):
        broker.put(bytes(700))
    assert pool.available_buffer_nums == 3
    for _ in range(4):
        broker.store.commit_log.mapped_file_queue.commit(0)
    assert pool.available_buffer_nums == 4


# Disks that refuse ----------------------------------------------------------------------------------------------------


class Refusing:
    """A disk that makes no more files, or files that are not forced."""

    def __init__(self, disk: Disk) -> None:
        self.disk, self.full = disk, False

    def open(self, path: str, length: int = 0) -> File:
        if self.full and self.disk.length(path) is None:
            raise DiskFullError
        return self.disk.open(path, length)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.disk, name)


def test_a_file_that_cannot_be_made() -> None:
    broker = Broker()
    refusing = Refusing(broker.disk)
    broker.store.shutdown()
    broker.disk = refusing  # type: ignore[assignment]  # all that a store asks of a disk
    broker.restart()
    refusing.full = True
    assert status(broker.put()) is PutMessageStatus.CREATE_MAPEDFILE_FAILED
    refusing.full = False
    assert status(broker.put()) is PutMessageStatus.CREATE_MAPEDFILE_FAILED
    broker.store.allocate_mapped_file_service.mmap_operation()
    assert status(broker.put()) is PutMessageStatus.PUT_OK


def test_a_file_for_the_second_attempt_that_cannot_be_made_leaves_the_blank() -> None:
    broker = Broker()
    broker.disk = Refusing(broker.disk)  # type: ignore[assignment]  # as above
    broker.store.shutdown()
    broker.restart()
    for _ in range(2):
        broker.put(bytes(900))
    broker.disk.full = True  # type: ignore[attr-defined]  # as above
    future = broker.put(bytes(900))
    assert (status(future), appended(future)[:2]) == (PutMessageStatus.CREATE_MAPEDFILE_FAILED, (1_984, 64))


def test_v6_an_error_of_the_force_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(flush_disk_type=FlushDiskType.SYNC_FLUSH)
    future = broker.put()

    def fail(*_: object) -> None:
        raise DiskError("Input/output error")

    monkeypatch.setattr(type(broker.disk.open("store/lock")), "force", fail)
    broker.store.commit_log.group_commit_service.run_once()
    assert status(future) is PutMessageStatus.PUT_OK


# Starts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [
    "store/commitlog/00000000000000002048", "store/commitlog/notes.txt", "store/consumequeue/T/0/00000000000000000200",
])
def test_a_file_of_another_length_lets_no_store_load(path: str) -> None:
    broker = Broker()
    broker.put()
    broker.dispatch()
    broker.store.shutdown()
    broker.disk.open(path, 1)
    assert not DefaultMessageStore(broker.disk, SMALL, broker.now_ms).load()


def test_folders_and_index_files_that_are_none_are_left_alone() -> None:
    broker = Broker()
    broker.store.shutdown()
    broker.disk.open("store/consumequeue/T/notes/00000000000000000000")
    broker.disk.open("store/index/notes.txt")
    broker.restart()
    assert (broker.messages(), broker.store.index_service.index_files) == ([], [])


def test_a_directory_that_a_running_store_holds_is_refused_after_it_was_recovered() -> None:
    broker = Broker()
    with pytest.raises(JavaRuntimeError, match="Lock failed,MQ already started"):
        broker.load().start()


def test_v22_a_gap_in_the_log_blocks_a_start_for_ever() -> None:
    broker = Broker()
    for _ in range(7):
        broker.put(bytes(800))
    broker.kill()
    for path in ("store/commitlog/00000000000000002048", "store/abort"):
        broker.disk.delete(path)
    store = broker.load()
    assert not store.start()
    assert not store.go_on_starting()
    assert store.dispatch_behind_bytes() > 0


# Reads ----------------------------------------------------------------------------------------------------------------


def test_a_search_by_time_is_exact_where_dispatch_is_prompt_and_misses_where_it_lags() -> None:
    for lag in (1, 12):
        broker = Broker()
        times = []
        for number in range(12):
            future = broker.put(b"")
            assert future.append_message_result is not None
            times.append(future.append_message_result.store_timestamp)
            if number % lag == lag - 1:
                broker.dispatch()
        found = [broker.store.get_offset_in_queue_by_time("T", 0, time_ms) for time_ms in times]
        assert found == (list(range(12)) if lag == 1 else [*range(10), 9, 9])


@pytest.mark.parametrize(("offset", "expected"), [
    (0, (GetMessageStatus.FOUND, 2)), (2, (GetMessageStatus.OFFSET_OVERFLOW_ONE, 2)),
    (3, (GetMessageStatus.OFFSET_OVERFLOW_BADLY, 0)), (-1, (GetMessageStatus.OFFSET_TOO_SMALL, 0)),
])
def test_a_pull(offset: int, expected: tuple[GetMessageStatus, int]) -> None:
    broker = Broker()
    broker.put()
    broker.put()
    broker.dispatch()
    result = broker.store.get_message("T", 0, offset, 32)
    assert result is not None
    assert (result.status, result.next_begin_offset) == expected


class Odd:
    """A filter that takes records with an odd code, or an odd last byte."""

    def is_matched_by_consume_queue(self, tags_code: int | None, cq_ext_unit: CqExtUnit | None = None) -> bool:
        assert cq_ext_unit is None
        return tags_code is None or tags_code != 0

    def is_matched_by_commit_log(self, record: bytes | None, properties: Mapping[str, str] | None = None) -> bool:
        assert properties is None
        return record is not None and record.endswith(b"\x01b")


def test_a_filter_is_asked_twice() -> None:
    broker = Broker()
    for tags in ("", "a", "b"):
        broker.put(properties={"TAGS": tags})
    broker.dispatch()
    result = broker.store.get_message("T", 0, 0, 32, Odd())
    assert result is not None
    assert (result.status, result.next_begin_offset, len(result.records)) == (GetMessageStatus.FOUND, 3, 1)


# Expiry ---------------------------------------------------------------------------------------------------------------


def test_old_files_go_with_their_units_and_keys() -> None:
    broker = Broker(delete_when="99")
    for number in range(40):
        broker.put(bytes(600), properties={"KEYS": f"k{number}"})
        broker.dispatch()
    store = broker.store
    store.clean_commit_log_service.run()
    assert store.get_min_phy_offset() == 0
    broker.now += 72 * 3_600_000
    store.clean_commit_log_service.execute_delete_files_manually()
    store.clean_commit_log_service.run()
    store.clean_consume_queue_service.run()
    assert store.get_min_phy_offset() == 10 * 2_048
    assert store.get_min_offset_in_queue("T", 0) == 20
    assert store.find_consume_queue("T", 0).mapped_file_queue.get_min_offset() == 400
    assert (broker.found("k0"), len(broker.found("k39"))) == ([], 1)
    assert len(broker.messages()) == 20


def test_v24_a_full_disk_refuses_puts_until_it_has_room() -> None:
    broker = Broker()
    store, free = broker.store, {"bytes": 5}
    broker.store.disk = type("Disk", (Refusing,), {
        "free_bytes": lambda _: free["bytes"], "total_bytes": lambda _: 100})(broker.disk)
    assert store.clean_commit_log_service.is_space_full()
    assert status(broker.put()) is PutMessageStatus.SERVICE_NOT_AVAILABLE
    free["bytes"] = 12
    store.clean_commit_log_service.run()
    assert status(broker.put()) is PutMessageStatus.SERVICE_NOT_AVAILABLE
    assert not store.clean_commit_log_service.is_space_full()
    assert status(broker.put()) is PutMessageStatus.PUT_OK
