from __future__ import annotations

from itertools import product

import pytest

from impl.decisions import running_flags
from impl.decisions.disk_cleanup import (
    SpaceDecision,
    cleans_at_once,
    is_file_deleted,
    is_space_full,
    is_space_to_delete,
    least_percent,
    space_used_percent,
    starts_pass,
)
from impl.decisions.fault_strategy import FaultItem, LatencyFaultTolerance, MQFaultStrategy, pick_one_at_least
from impl.decisions.java_arithmetic import INT_MAX, INT_MIN
from impl.decisions.java_errors import DivisionByZeroError, IndexOutOfBoundsError, MQClientError, NullPointerError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import (
    BrokerSide,
    GetMessageStatus,
    PullAnswer,
    PullCode,
    bounds_decision,
    is_suspended,
    is_the_batch_full,
    pull_answer,
    queried_offset,
    roll_next_file,
)
from impl.decisions.queue_selection import (
    ThreadLocalIndex,
    TopicPublishInfo,
    avoiding_position,
    first_index,
    position,
    write_queue_id,
)
from impl.decisions.retry_level import (
    goes_to_dead_letters,
    max_reconsume_times,
    parse_delay_level,
    send_back_delay_level,
    stored_delay_level,
)
from impl.decisions.start_offset import ConsumeFromWhere, Source, compute_pull_from_where, start_offset_source
from impl.decisions.suggestion import accessible_memory_bytes, behind_memory, suggest_which_broker_id


def test_the_counter_walks_backwards_after_its_wrap() -> None:
    counter = ThreadLocalIndex(INT_MAX - 1)
    answers = [counter.increment_and_get() for _ in range(4)]
    assert answers == [INT_MAX, INT_MIN, INT_MAX, INT_MAX - 1]
    assert position(INT_MIN, 3) == 0
    assert (first_index(INT_MIN), first_index(-5)) == (INT_MIN, 5)
    with pytest.raises(DivisionByZeroError):
        position(1, 0)


def test_avoidance_misses_a_healthy_position_at_the_wrap() -> None:
    _, place = avoiding_position(INT_MAX - 1, 3, lambda place: place != 2)
    assert place != 2
    _, place = avoiding_position(0, 3, lambda place: place != 2)
    assert place == 2


def test_the_latency_strategy_can_write_a_negative_queue_id() -> None:
    assert write_queue_id(INT_MIN, 3) == -2
    assert write_queue_id(INT_MIN, 4) == 0


def test_with_all_brokers_shunned_the_shared_list_degenerates() -> None:
    start = [MessageQueue("T", broker, queue_id) for broker in "AB" for queue_id in range(2)]
    info = TopicPublishInfo(list(start), ThreadLocalIndex(0), [("A", 2), ("B", 2)])
    strategy = MQFaultStrategy(LatencyFaultTolerance(ThreadLocalIndex(0)), send_latency_fault_enable=True)
    strategy.update_fault_item("A", 500, isolation=True, now_ms=0)
    strategy.update_fault_item("B", 9000, isolation=True, now_ms=0)
    for _ in range(8):
        place = strategy.select_one_position(info, None, now_ms=1)
        assert info.message_queue_list[place].broker_name == "A"
    assert {mq.broker_name for mq in info.message_queue_list} == {"A"}
    assert strategy.select_one_position(info, None, now_ms=600_000) in range(4)


def test_a_fault_item_of_a_broker_without_the_topic_is_forgotten() -> None:
    info = TopicPublishInfo([MessageQueue("T", "A", 0)], ThreadLocalIndex(0), [("A", 1)])
    strategy = MQFaultStrategy(LatencyFaultTolerance(ThreadLocalIndex(0)), send_latency_fault_enable=True)
    strategy.update_fault_item("A", 9000, isolation=False, now_ms=0)
    strategy.update_fault_item("other", 10, isolation=False, now_ms=0)
    assert strategy.select_one_position(info, None, now_ms=1) == 0
    assert sorted(strategy.latency_fault_tolerance.fault_item_table) == ["A"]


def test_the_better_half_is_taken_in_turn_and_the_least_int_has_no_place() -> None:
    items = [FaultItem(name, latency, 0) for name, latency in (("d", 4), ("a", 1), ("c", 3), ("b", 2))]
    counter = ThreadLocalIndex(0)
    assert [pick_one_at_least(items, 0, counter) for _ in range(3)] == ["b", "a", "b"]
    assert pick_one_at_least([], 0, counter) is None
    assert pick_one_at_least(items[:1], 0, counter) == "d"
    six = [FaultItem(str(number), number, 0) for number in range(6)]
    with pytest.raises(IndexOutOfBoundsError):
        pick_one_at_least(six, 0, ThreadLocalIndex(INT_MAX))
    with pytest.raises(NullPointerError):
        LatencyFaultTolerance(counter).is_available(None, 0)


LAST, FIRST, TIMESTAMP = (
    ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    ConsumeFromWhere.CONSUME_FROM_TIMESTAMP,
)


@pytest.mark.parametrize(("mode", "retry_topic", "source"), [
    (LAST, False, Source.MAX_OFFSET), (LAST, True, Source.ZERO), (FIRST, False, Source.ZERO),
    (FIRST, True, Source.ZERO), (TIMESTAMP, False, Source.SEARCH_OFFSET), (TIMESTAMP, True, Source.MAX_OFFSET),
])
def test_the_start_offset_table(mode: ConsumeFromWhere, retry_topic: bool, source: Source) -> None:
    assert start_offset_source(mode, -1, retry_topic=retry_topic) == source
    assert start_offset_source(mode, 0, retry_topic=retry_topic) == Source.STORED
    assert start_offset_source(mode, -2, retry_topic=retry_topic) == Source.NONE


def test_deprecated_modes_are_last_offset_and_the_deprecated_method_swallows_the_error() -> None:
    others = set(ConsumeFromWhere) - {FIRST, TIMESTAMP}
    assert {start_offset_source(mode, -1, retry_topic=False) for mode in others} == {Source.MAX_OFFSET}

    def broken() -> int:
        raise MQClientError("no")

    assert compute_pull_from_where(LAST, "T", -1, broken, broken) == -1
    assert compute_pull_from_where(LAST, "%RETRY%G", -1, broken, broken) == 0


@pytest.mark.parametrize(("enabled", "suggest", "expected"), [
    (False, False, 0), (False, True, 0), (True, False, 7), (True, True, 9),
])
def test_the_suggestion_table(enabled: bool, suggest: bool, expected: int) -> None:
    assert suggest_which_broker_id(7, 9, slave_read_enable=enabled, suggest_pulling_from_slave=suggest) == expected


def test_forty_percent_of_the_memory() -> None:
    memory = accessible_memory_bytes(16 << 30)
    assert memory == 6871947673
    assert not behind_memory(memory, 0, memory)
    assert behind_memory(memory + 1, 0, memory)


@pytest.mark.parametrize(("offset", "status", "master", "slave"), [
    (4, GetMessageStatus.OFFSET_TOO_SMALL, 5, 4), (9, GetMessageStatus.OFFSET_OVERFLOW_ONE, 9, 9),
    (10, GetMessageStatus.OFFSET_OVERFLOW_BADLY, 9, 10), (5, None, 5, 5), (8, None, 8, 8),
])
def test_the_bounds_of_a_queue(offset: int, status: GetMessageStatus | None, master: int, slave: int) -> None:
    on_master = bounds_decision(offset, 5, 9, slave=False, offset_check_in_slave=False)
    on_slave = bounds_decision(offset, 5, 9, slave=True, offset_check_in_slave=False)
    checking = bounds_decision(offset, 5, 9, slave=True, offset_check_in_slave=True)
    assert (on_master.status, on_master.next_begin_offset, on_slave.next_begin_offset) == (status, master, slave)
    assert checking == on_master


def test_an_overflow_restarts_a_queue_that_still_begins_at_zero() -> None:
    decision = bounds_decision(10, 0, 9, slave=False, offset_check_in_slave=False)
    assert (decision.status, decision.next_begin_offset) == (GetMessageStatus.OFFSET_OVERFLOW_BADLY, 0)
    empty = bounds_decision(10, 0, 0, slave=False, offset_check_in_slave=False)
    assert (empty.status, empty.next_begin_offset) == (GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0)
    assert roll_next_file(7, 100) == 10


def test_every_status_has_one_answer_and_the_slave_code_is_overwritten() -> None:
    slave = BrokerSide(slave=True, broker_id=4)
    for status, offset, suggest in product(GetMessageStatus, (0, 3), (False, True)):
        on_master = pull_answer(status, offset, BrokerSide(), suggest_pulling_from_slave=suggest)
        on_slave = pull_answer(status, offset, slave, suggest_pulling_from_slave=suggest)
        moved = on_master.code == PullCode.PULL_OFFSET_MOVED
        assert on_master.offset_moved_event == moved
        expected = PullAnswer(PullCode.PULL_RETRY_IMMEDIATELY, 4, offset_moved_event=False) if moved else on_master
        assert on_slave == expected
    found = pull_answer(GetMessageStatus.FOUND, 3, slave, suggest_pulling_from_slave=True)
    assert (found.code, found.suggest_which_broker_id) == (PullCode.SUCCESS, 0)


def test_codes_depend_on_the_requested_offset_only_for_an_empty_queue() -> None:
    answers = {
        (status, offset): pull_answer(status, offset, BrokerSide(), suggest_pulling_from_slave=False).code
        for status in GetMessageStatus for offset in (0, 1)
    }
    depends = {status for status in GetMessageStatus if answers[status, 0] != answers[status, 1]}
    assert depends == {GetMessageStatus.NO_MESSAGE_IN_QUEUE, GetMessageStatus.NO_MATCHED_LOGIC_QUEUE}
    assert is_suspended(PullCode.PULL_NOT_FOUND, broker_allow_suspend=True, suspend_flag=True)
    assert not is_suspended(PullCode.PULL_RETRY_IMMEDIATELY, broker_allow_suspend=True, suspend_flag=True)


def test_one_message_is_always_taken() -> None:
    assert not is_the_batch_full(10**9, 0, 0, 0, is_in_disk=True)
    assert is_the_batch_full(1, 32, 65536, 1, is_in_disk=True)
    assert not is_the_batch_full(1, 32, 65536, 1, is_in_disk=False)
    assert (queried_offset(5, 9, first_in_disk=True), queried_offset(-1, 0, first_in_disk=False)) == (5, 0)
    assert queried_offset(-1, 0, first_in_disk=True) is queried_offset(-1, 1, first_in_disk=False) is None


@pytest.mark.parametrize(("physic", "logics", "delete", "immediately", "full_after_full", "full_after_ok"), [
    (75, 75, False, False, False, False), (76, 0, True, False, False, False), (75, 76, True, False, False, False),
    (85, 0, True, False, False, False), (86, 0, True, True, True, False), (90, 0, True, True, True, False),
    (91, 0, True, True, True, True), (0, 86, True, True, False, False), (0, 91, True, True, True, True),
    (-1, 99, True, False, False, False), (0, -1, True, False, False, False),
])
def test_the_disk_table(
    physic: int, logics: int, delete: bool, immediately: bool, full_after_full: bool, full_after_ok: bool,
) -> None:
    was_full = is_space_to_delete(physic, logics, 75, disk_full=True)
    was_ok = is_space_to_delete(physic, logics, 75, disk_full=False)
    assert was_full == SpaceDecision(delete, immediately, full_after_full)
    assert was_ok == SpaceDecision(delete, immediately, full_after_ok)


def test_a_full_log_disk_is_marked_ok_by_the_queues_disk_when_the_limit_is_above_ninety() -> None:
    decision = is_space_to_delete(91, 0, 95, disk_full=False)
    assert decision == SpaceDecision(delete=False, clean_immediately=True, disk_full=False)
    assert not is_space_full(90)
    assert is_space_full(91)
    assert least_percent([80, 20, 90]) == 20


def test_usage_is_rounded_up_and_age_decides_unless_cleaned_at_once() -> None:
    assert space_used_percent(1000, 250, 250) == 75
    assert space_used_percent(1001, 250, 250) == 76
    assert space_used_percent(0, 0, 0) == -1
    assert is_file_deleted(10, 5, 5, clean_at_once=False)
    assert not is_file_deleted(9, 5, 5, clean_at_once=False)
    assert is_file_deleted(9, 5, 5, clean_at_once=True)
    assert starts_pass(time_up=False, space_full=True, manual_delete=False)
    assert not cleans_at_once(clean_file_forcibly_enable=False, clean_immediately=True)


def test_a_message_is_tried_seventeen_times_and_then_dead() -> None:
    levels = [stored_delay_level(send_back_delay_level(times, 0, 16), 18) for times in range(16)]
    assert levels == list(range(3, 19))
    assert goes_to_dead_letters(16, 0, 16)
    assert send_back_delay_level(16, 0, 16) == 0
    assert goes_to_dead_letters(0, -1, 16)
    assert stored_delay_level(send_back_delay_level(20, 0, 99), 18) == 18
    assert (max_reconsume_times(-1, orderly=False), max_reconsume_times(-1, orderly=True)) == (16, INT_MAX)


def test_a_broken_delay_level_keeps_what_was_read_before_it() -> None:
    assert parse_delay_level("1s 5q 3s") == (False, {1: 1000}, 2)
    assert parse_delay_level("1s  5s") == (False, {1: 1000}, 1)
    assert parse_delay_level("9223372036854775807s") == (True, {1: -1000}, 1)
    assert parse_delay_level(None) == (False, {}, 0)


def test_running_flags_keep_the_bits_that_others_set() -> None:
    _, bits = running_flags.get_and_make_disk_full(0)
    was_writeable, unchanged = running_flags.get_and_make_not_writeable(bits)
    assert not was_writeable
    assert unchanged == bits
    assert running_flags.is_cq_writeable(bits)
    assert not running_flags.is_writeable(bits)
    assert running_flags.get_and_make_disk_ok(bits) == (False, 0)
