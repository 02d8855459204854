"""Small rules of the store: record length, index slot, checkpoint, configured sizes."""

from __future__ import annotations

from impl.decisions.flags import BORNHOST_V6_FLAG, STOREHOSTADDRESS_V6_FLAG, has_flag
from impl.decisions.index_slots import positive_hash
from impl.decisions.java_arithmetic import greater, smaller, string_hash, wrap32, wrap64
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import parse_boolean
from impl.decisions.log_append import record_length
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE

CHECKPOINT_MARGIN_MS = 3000  # StoreCheckpoint#getMinTimestamp


def cal_msg_length(sys_flag: int, body_length: int, topic_length: int, properties_length: int) -> int:
    """Bytes of a stored record; CommitLog#calMsgLength. Negative lengths of body and properties count as none."""
    return record_length(
        body_length, topic_length, properties_length,
        born_host_v6=has_flag(sys_flag, BORNHOST_V6_FLAG), store_host_v6=has_flag(sys_flag, STOREHOSTADDRESS_V6_FLAG),
    )


def index_key_hash(key: str | None) -> int:
    """IndexFile#indexKeyHashMethod: never negative; raises NullPointerError for null."""
    return positive_hash(string_hash(not_null(key)))


def checkpoint_min_timestamp(physic_msg_timestamp_ms: int, logics_msg_timestamp_ms: int) -> int:
    """StoreCheckpoint#getMinTimestamp: what is surely in the files, three seconds before the earlier stamp."""
    return greater(wrap64(smaller(physic_msg_timestamp_ms, logics_msg_timestamp_ms) - CHECKPOINT_MARGIN_MS), 0)


def checkpoint_min_timestamp_index(physic_ms: int, logics_ms: int, index_msg_timestamp_ms: int) -> int:
    """StoreCheckpoint#getMinTimestampIndex."""
    return smaller(checkpoint_min_timestamp(physic_ms, logics_ms), index_msg_timestamp_ms)


def mapped_file_size_consume_queue(configured_bytes: int) -> int:
    """MessageStoreConfig#getMappedFileSizeConsumeQueue: rounded up to whole units."""
    units = -(-configured_bytes // CQ_STORE_UNIT_SIZE)
    return wrap32(units * CQ_STORE_UNIT_SIZE)


def is_transient_store_pool_enable(configured: bool, async_flush: bool, slave: bool) -> bool:
    """MessageStoreConfig#isTransientStorePoolEnable: only with asynchronous flush, and not on a slave."""
    return configured and async_flush and not slave


def is_wait_store_msg_ok(text: str | None) -> bool:
    """Message#isWaitStoreMsgOK: property WAIT, true without it."""
    return text is None or parse_boolean(text)
