"""What a pull is answered: status and next offset by the store, response code by the processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from impl.decisions.java_arithmetic import greater, remainder, wrap32, wrap64
from impl.decisions.suggestion import moved_suggestion, suggest_which_broker_id

CQ_STORE_UNIT_SIZE = 20  # ConsumeQueue
MAX_FILTER_BYTES = 16000  # DefaultMessageStore#getMessage calls it a message count
MAX_TRANSFER_BYTES_ON_MESSAGE_IN_DISK = 65536  # MessageStoreConfig
MAX_TRANSFER_COUNT_ON_MESSAGE_IN_DISK = 8
MAX_TRANSFER_BYTES_ON_MESSAGE_IN_MEMORY = 262144
MAX_TRANSFER_COUNT_ON_MESSAGE_IN_MEMORY = 32


class GetMessageStatus(StrEnum):
    """`store.GetMessageStatus`."""

    FOUND = "FOUND"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"
    MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
    OFFSET_FOUND_NULL = "OFFSET_FOUND_NULL"
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    NO_MATCHED_LOGIC_QUEUE = "NO_MATCHED_LOGIC_QUEUE"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"


class PullStatus(StrEnum):
    """`client.consumer.PullStatus`."""

    FOUND = "FOUND"
    NO_NEW_MSG = "NO_NEW_MSG"
    NO_MATCHED_MSG = "NO_MATCHED_MSG"
    OFFSET_ILLEGAL = "OFFSET_ILLEGAL"


class PullCode(IntEnum):
    """The response codes of a pull whose request was legal (common.protocol.ResponseCode)."""

    SUCCESS = 0
    PULL_NOT_FOUND = 19
    PULL_RETRY_IMMEDIATELY = 20
    PULL_OFFSET_MOVED = 21


def next_offset_correction(old_offset: int, new_offset: int, *, slave: bool, offset_check_in_slave: bool) -> int:
    """DefaultMessageStore#nextOffsetCorrection: a slave that does not check offsets sends the asked one back."""
    if not slave or offset_check_in_slave:
        return new_offset
    return old_offset


@dataclass(frozen=True, slots=True)
class Bounds:
    """The decision before the scan. status is None when the queue has to be scanned from the asked offset."""

    status: GetMessageStatus | None
    next_begin_offset: int


def bounds_decision(
    offset: int, min_offset: int, max_offset: int, *, slave: bool, offset_check_in_slave: bool,
) -> Bounds:
    """Status and next offset for an offset that no scan is needed for; DefaultMessageStore#getMessage.

    min_offset, max_offset -- of the consume queue: the first entry, one past the last.
    """
    if max_offset == 0:
        status, new_offset = GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0
    elif offset < min_offset:
        status, new_offset = GetMessageStatus.OFFSET_TOO_SMALL, min_offset
    elif offset == max_offset:
        status, new_offset = GetMessageStatus.OFFSET_OVERFLOW_ONE, offset
    elif offset > max_offset:
        status = GetMessageStatus.OFFSET_OVERFLOW_BADLY
        new_offset = min_offset if min_offset == 0 else max_offset
    else:
        return Bounds(None, offset)
    corrected = next_offset_correction(offset, new_offset, slave=slave, offset_check_in_slave=offset_check_in_slave)
    return Bounds(status, corrected)


def max_filter_bytes(max_msg_nums: int) -> int:
    """Bytes of consume queue that one pull examines at most; DefaultMessageStore#getMessage, a count in name only."""
    return greater(MAX_FILTER_BYTES, wrap32(max_msg_nums * CQ_STORE_UNIT_SIZE))


def next_offset_after_scan(offset: int, units: int) -> int:
    """The next offset after a scan that consumed a number of units; DefaultMessageStore#getMessage."""
    return wrap64(offset + units)


def roll_next_file(index: int, mapped_file_size_bytes: int) -> int:
    """ConsumeQueue#rollNextFile: the first index of the file after the one that index lies in.

    Domain: a file size that is a positive multiple of a unit.
    """
    units = mapped_file_size_bytes // CQ_STORE_UNIT_SIZE
    return index + units - remainder(index, units)


def is_the_batch_full(
    size_py: int, max_msg_nums: int, buffer_total: int, message_total: int, *, is_in_disk: bool,
) -> bool:
    """Whether a candidate of size_py bytes is left for the next pull; DefaultMessageStore#isTheBatchFull.

    buffer_total, message_total -- bytes and messages collected. The first message is always taken.
    """
    if buffer_total == 0 or message_total == 0:
        return False
    if max_msg_nums <= message_total:
        return True
    if is_in_disk:
        max_bytes, max_count = MAX_TRANSFER_BYTES_ON_MESSAGE_IN_DISK, MAX_TRANSFER_COUNT_ON_MESSAGE_IN_DISK
    else:
        max_bytes, max_count = MAX_TRANSFER_BYTES_ON_MESSAGE_IN_MEMORY, MAX_TRANSFER_COUNT_ON_MESSAGE_IN_MEMORY
    if wrap32(buffer_total + size_py) > max_bytes:
        return True
    return message_total > max_count - 1


_CODES: Mapping[GetMessageStatus, PullCode] = {
    GetMessageStatus.FOUND: PullCode.SUCCESS,
    GetMessageStatus.NO_MATCHED_MESSAGE: PullCode.PULL_RETRY_IMMEDIATELY,
    GetMessageStatus.MESSAGE_WAS_REMOVING: PullCode.PULL_RETRY_IMMEDIATELY,
    GetMessageStatus.OFFSET_FOUND_NULL: PullCode.PULL_NOT_FOUND,
    GetMessageStatus.OFFSET_OVERFLOW_ONE: PullCode.PULL_NOT_FOUND,
    GetMessageStatus.OFFSET_OVERFLOW_BADLY: PullCode.PULL_OFFSET_MOVED,
    GetMessageStatus.OFFSET_TOO_SMALL: PullCode.PULL_OFFSET_MOVED,
}


def pull_code(status: GetMessageStatus, requested_offset: int) -> PullCode:
    """The code that the status switch of PullMessageProcessor#processRequest sets."""
    code = _CODES.get(status)
    if code is not None:
        return code
    if requested_offset != 0:
        return PullCode.PULL_OFFSET_MOVED
    return PullCode.PULL_NOT_FOUND


@dataclass(frozen=True, slots=True)
class PullAnswer:
    """The head of an answer: code, suggested broker, and whether a message goes to OFFSET_MOVED_EVENT."""

    code: PullCode
    suggest_which_broker_id: int
    offset_moved_event: bool


@dataclass(frozen=True, slots=True)
class BrokerSide:
    """What the answer depends on besides the store: configuration of the broker and of the subscription group."""

    slave: bool = False
    slave_read_enable: bool = False
    offset_check_in_slave: bool = False
    broker_id: int = 0
    which_broker_when_consume_slowly: int = 1


def pull_answer(
    status: GetMessageStatus, requested_offset: int, side: BrokerSide, *, suggest_pulling_from_slave: bool,
) -> PullAnswer:
    """The answer to a legal pull; PullMessageProcessor#processRequest.

    The code that a slave without slaveReadEnable sets first is overwritten for every status, so it appears nowhere.
    """
    code = pull_code(status, requested_offset)
    suggested = suggest_which_broker_id(
        side.broker_id, side.which_broker_when_consume_slowly, slave_read_enable=side.slave_read_enable,
        suggest_pulling_from_slave=suggest_pulling_from_slave,
    )
    moved = code == PullCode.PULL_OFFSET_MOVED
    suggested = moved_suggestion(
        suggested, side.broker_id, slave=side.slave, offset_check_in_slave=side.offset_check_in_slave,
        offset_moved=moved,
    )
    corrects = not side.slave or side.offset_check_in_slave
    if moved and not corrects:
        code = PullCode.PULL_RETRY_IMMEDIATELY
    return PullAnswer(code, suggested, offset_moved_event=moved and corrects)


def is_suspended(code: PullCode, *, broker_allow_suspend: bool, suspend_flag: bool) -> bool:
    """Whether the request is parked instead of answered; PullMessageProcessor#processRequest."""
    return code == PullCode.PULL_NOT_FOUND and broker_allow_suspend and suspend_flag


def queried_offset(stored_offset: int, min_offset: int, *, first_in_disk: bool) -> int | None:
    """The answer to QUERY_CONSUMER_OFFSET, None for QUERY_NOT_FOUND; ConsumerManageProcessor#queryConsumerOffset.

    first_in_disk -- whether the entry at offset 0 lies behind the memory; False also when it cannot be read.
    """
    if stored_offset >= 0:
        return stored_offset
    if min_offset <= 0 and not first_in_disk:
        return 0
    return None
