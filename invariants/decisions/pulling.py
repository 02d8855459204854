"""What is promised of pulls: where a consumer starts, what it is answered, and which broker it reads from."""

from __future__ import annotations

from impl.decisions import (
    pull_answer,
    start_offset,
    suggestion,
)
from impl.decisions.pull_answer import GetMessageStatus, PullCode
from impl.decisions.start_offset import ConsumeFromWhere, Source
from invariants.claim import assume, decision
from invariants.domains import INT_MAX, LONG_MAX, Count, Int32, Long, NotNegativeLong, Positive

# Where a consumer starts ----------------------------------------------------------------------------------------------


_FIRST, _TIMESTAMP = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ConsumeFromWhere.CONSUME_FROM_TIMESTAMP
_LAST_MODES = tuple(mode for mode in ConsumeFromWhere if mode not in (_FIRST, _TIMESTAMP))
START_TABLE = (
    # modes, retry topic (None: either), without an offset the start comes from
    (_LAST_MODES, False, Source.MAX_OFFSET),
    (_LAST_MODES, True, Source.ZERO),
    ((_FIRST,), None, Source.ZERO),
    ((_TIMESTAMP,), False, Source.SEARCH_OFFSET),
    ((_TIMESTAMP,), True, Source.MAX_OFFSET),
)
"""Where a queue without a committed offset starts: the documented table."""


@decision(of=start_offset.start_offset_source, promises="start_offset_follows_the_table",
          few={"stored": (-3, -2, -1, 0, 1)})
def start_offset_follows_the_table(mode: ConsumeFromWhere, stored: Long, retry_topic: bool) -> bool:
    """A committed offset is the start; else exactly one row of the table names it; a failed read names none."""
    source = start_offset.start_offset_source(mode, stored, retry_topic=retry_topic)
    if stored >= 0:
        return source == Source.STORED
    if stored != start_offset.NO_OFFSET:
        return source == Source.NONE
    rows = [row for row in START_TABLE if mode in row[0] and row[1] in (None, retry_topic)]
    return len(rows) == 1 and source == rows[0][2]


@decision(of=start_offset.start_offset_source, promises="start_offset_follows_the_table", shipped="violated: L2")
def failed_question_moves_nobody(mode: ConsumeFromWhere, retry_topic: bool) -> bool:
    """A consumer whose broker failed to say where the group stands starts nowhere until it says so.

    RemoteBrokerOffsetStore#readOffset answers NO_OFFSET for every error of the broker, as if the group had none.
    """
    return start_offset.start_offset_source(mode, start_offset.NO_OFFSET, retry_topic=retry_topic) == Source.NONE


@decision(of=start_offset.start_offset, promises="start_offset_follows_the_table")
def start_offset_is_what_the_row_says(source: Source, stored: Long, end: Long, searched: Long) -> bool:
    """The start is the number that the row names; only a row without one answers -1 by itself."""
    answer = start_offset.start_offset(source, stored, end, searched)
    named = {Source.STORED: stored, Source.ZERO: 0, Source.MAX_OFFSET: end, Source.SEARCH_OFFSET: searched}
    return answer == named.get(source, -1)


# What a pull is answered ----------------------------------------------------------------------------------------------


_EMPTY = GetMessageStatus.NO_MESSAGE_IN_QUEUE, GetMessageStatus.NO_MATCHED_LOGIC_QUEUE
_OUTSIDE = GetMessageStatus.OFFSET_OVERFLOW_BADLY, GetMessageStatus.OFFSET_TOO_SMALL
_FILTERED = GetMessageStatus.NO_MATCHED_MESSAGE, GetMessageStatus.MESSAGE_WAS_REMOVING
_AT_THE_END = GetMessageStatus.OFFSET_FOUND_NULL, GetMessageStatus.OFFSET_OVERFLOW_ONE
ANSWER_TABLE = (
    # statuses, asked offset is 0 (None: either), the queue's bounds are corrected (None: either), code
    ((GetMessageStatus.FOUND,), None, None, PullCode.SUCCESS),
    (_FILTERED, None, None, PullCode.PULL_RETRY_IMMEDIATELY),
    (_AT_THE_END, None, None, PullCode.PULL_NOT_FOUND),
    (_EMPTY, True, None, PullCode.PULL_NOT_FOUND),
    (_EMPTY, False, True, PullCode.PULL_OFFSET_MOVED),
    (_EMPTY, False, False, PullCode.PULL_RETRY_IMMEDIATELY),
    (_OUTSIDE, None, True, PullCode.PULL_OFFSET_MOVED),
    (_OUTSIDE, None, False, PullCode.PULL_RETRY_IMMEDIATELY),
)
"""Status to response code; bounds are corrected by every broker but a slave without offsetCheckInSlave."""


@decision(of=pull_answer.pull_answer, promises="pull_answer_follows_the_table")
def pull_answer_follows_the_table(status: GetMessageStatus, asked: NotNegativeLong, slave: bool, check: bool,
                                  read: bool, slow: bool) -> bool:
    """Exactly one row of the table fits every pull, and its code is the answer."""
    side = pull_answer.BrokerSide(slave=slave, slave_read_enable=read, offset_check_in_slave=check)
    answer = pull_answer.pull_answer(status, asked, side, suggest_pulling_from_slave=slow)
    start, corrects = asked == 0, not slave or check
    rows = [code for statuses, at_zero, corrected, code in ANSWER_TABLE
            if status in statuses and at_zero in (None, start) and corrected in (None, corrects)]
    return rows == [answer.code]


@decision(of=pull_answer.bounds_decision, promises="pull_answer_follows_the_table")
def offset_is_judged_by_the_bounds(asked: Count, least: Count, end: Count, slave: bool, check: bool) -> bool:
    """A queue is scanned if and only if the asked offset lies within it; a slave without the check moves no offset."""
    assume(least <= end)
    answer = pull_answer.bounds_decision(asked, least, end, slave=slave, offset_check_in_slave=check)
    if (answer.status is None) != (least <= asked < end):
        return False
    return not slave or check or answer.next_begin_offset == asked


@decision(of=pull_answer.bounds_decision, promises="pull_answer_follows_the_table")
def bounds_follow_the_table(asked: Count, least: Count, end: Count) -> bool:
    """A master's status and next offset are those of the one row for where the asked offset lies."""
    assume(least <= end)
    answer = pull_answer.bounds_decision(asked, least, end, slave=False, offset_check_in_slave=False)
    rows = (
        (end == 0, GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0),
        (end > 0 and asked < least, GetMessageStatus.OFFSET_TOO_SMALL, least),
        (end > 0 and least <= asked < end, None, asked),
        (end > 0 and asked == end, GetMessageStatus.OFFSET_OVERFLOW_ONE, end),
        (0 == least < end < asked, GetMessageStatus.OFFSET_OVERFLOW_BADLY, 0),
        (0 < least <= end < asked, GetMessageStatus.OFFSET_OVERFLOW_BADLY, end),
    )
    fitting = [(status, offset) for fits, status, offset in rows if fits]
    return len(fitting) == 1 and answer == pull_answer.Bounds(*fitting[0])


@decision(of=pull_answer.bounds_decision, promises="next_offset_progresses")
def corrected_offset_is_in_the_queue(asked: Count, least: Count, end: Count) -> bool:
    """A master's next offset lies between the queue's first offset and its end, once the queue has an entry."""
    assume(least <= end, end > 0)
    answer = pull_answer.bounds_decision(asked, least, end, slave=False, offset_check_in_slave=False)
    return least <= answer.next_begin_offset <= end


@decision(of=pull_answer.bounds_decision, promises="redelivery_is_bounded", shipped="violated: X9")
def overflowed_offset_goes_to_the_end(asked: Count, least: Count, end: Count) -> bool:
    """A consumer beyond the end of a queue is sent to its end, not back to its beginning."""
    assume(least <= end, asked > end)
    answer = pull_answer.bounds_decision(asked, least, end, slave=False, offset_check_in_slave=False)
    return answer.next_begin_offset == end


@decision(of=pull_answer.next_offset_after_scan, promises="next_offset_progresses")
def scan_progresses(asked: NotNegativeLong, units: Count) -> bool:
    """A scan that consumed a unit moves on by exactly the units that it consumed."""
    assume(units > 0, asked + units <= LONG_MAX)
    return pull_answer.next_offset_after_scan(asked, units) == asked + units


@decision(of=pull_answer.is_the_batch_full, promises="next_offset_progresses")
def first_message_is_always_taken(size: Int32, most: Int32, on_disk: bool) -> bool:
    """However large it is, the first message fits, so a scan always moves on."""
    return not pull_answer.is_the_batch_full(size, most, 0, 0, is_in_disk=on_disk)


BATCH_LIMITS = {True: (65_536, 8), False: (262_144, 32)}
"""Bytes and messages of one answer, for messages on disk and in memory."""


@decision(of=pull_answer.is_the_batch_full, promises="answer_is_bounded",
          few={"size": (1, 2, 65_535, 65_536, 262_143), "taken_bytes": (0, 1, 2, 262_143),
               "taken": (0, 1, 2, 7, 8, 31, 32), "most": (-1, 0, 1, 2, 8, 9, 32, 33)})
def answer_is_bounded(size: Positive, most: Int32, taken_bytes: Count, taken: Count, on_disk: bool) -> bool:
    """A further message is taken exactly if number and bytes stay within the asked ones and within the limits."""
    assume(taken_bytes + size <= INT_MAX)
    limit_bytes, limit = BATCH_LIMITS[bool(on_disk)]
    fits = taken < most and taken < limit and taken_bytes + size <= limit_bytes
    full = pull_answer.is_the_batch_full(size, most, taken_bytes, taken, is_in_disk=on_disk)
    return not full if taken == 0 or taken_bytes == 0 else full != fits


@decision(of=pull_answer.roll_next_file, promises="next_offset_progresses", few={"file_units": range(1, 5)})
def missing_file_leads_to_the_next(asked: Count, file_units: Positive) -> bool:
    """After a missing queue file a pull goes on at the first unit of the file behind it."""
    following = pull_answer.roll_next_file(asked, 20 * file_units)
    return following % file_units == 0 and asked < following <= asked + file_units


@decision(of=pull_answer.roll_next_file, promises="next_offset_progresses", shipped="violated: L12",
          few={"file_units": range(1, 5)})
def missing_file_passes_over_nothing(asked: Count, file_units: Positive) -> bool:
    """A pull that finds no queue file at its offset passes over no unit that it has not looked at."""
    return pull_answer.roll_next_file(asked, 20 * file_units) == asked


# Which broker to read from --------------------------------------------------------------------------------------------


@decision(of=(pull_answer.pull_answer, suggestion.suggest_which_broker_id, suggestion.moved_suggestion),
          promises="suggestion_follows_the_table", shipped="violated: S-1")
def slave_is_suggested_for_a_reason(status: GetMessageStatus, slave: bool, read: bool, check: bool, slow: bool,
                                    group_broker: Count) -> bool:
    """A slave is suggested only if slaveReadEnable is on and the distance to the log's end exceeds the memory."""
    side = pull_answer.BrokerSide(slave, read, check, group_broker)
    answer = pull_answer.pull_answer(status, 1, side, suggest_pulling_from_slave=slow)
    return answer.suggest_which_broker_id == 0 or (read and slow)


@decision(of=(pull_answer.pull_answer, suggestion.suggest_which_broker_id, suggestion.moved_suggestion),
          promises="suggestion_follows_the_table", few={"group_broker": (0, 2), "slow_broker": (1, 3)})
def suggestion_is_the_documented_one(status: GetMessageStatus, slave: bool, read: bool, check: bool, slow: bool,
                                     group_broker: Count, slow_broker: Count) -> bool:
    """With slaveReadEnable the group's broker for slow readers or its other one is suggested, without it the master.

    The one exception is the answer of a slave that does not correct an offset: it names the group's own broker.
    """
    side = pull_answer.BrokerSide(slave, read, check, group_broker, slow_broker)
    answer = pull_answer.pull_answer(status, 1, side, suggest_pulling_from_slave=slow)
    uncorrected = slave and not check and pull_answer.pull_code(status, 1) == PullCode.PULL_OFFSET_MOVED
    if answer.offset_moved_event != (answer.code == PullCode.PULL_OFFSET_MOVED):
        return False
    if uncorrected or (read and not slow):
        return answer.suggest_which_broker_id == group_broker
    return answer.suggest_which_broker_id == (slow_broker if read else 0)


@decision(of=suggestion.behind_memory, promises="suggestion_follows_the_table")
def distance_is_measured_to_the_end(end: NotNegativeLong, examined: NotNegativeLong, memory: NotNegativeLong) -> bool:
    """A position is behind the memory if and only if its distance to the log's end exceeds it; equal is not behind."""
    assume(examined <= end)
    return suggestion.behind_memory(end, examined, memory) == (end - examined > memory)
