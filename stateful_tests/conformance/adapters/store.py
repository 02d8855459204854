"""Recordings of the store's decisions: delay levels, small rules, running flags, index keys, bloom filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from impl.broker.bloom_filter import BloomFilter
from impl.decisions import running_flags as flags
from impl.decisions.disk_cleanup import disk_max_used_space_ratio
from impl.decisions.pull_answer import is_the_batch_full, next_offset_correction
from impl.decisions.retry_level import (
    compute_deliver_timestamp,
    correct_deliver_timestamp,
    delay_level_to_queue_id,
    delay_time_level,
    parse_delay_level,
    queue_id_to_delay_level,
)
from impl.decisions.store_rules import (
    cal_msg_length,
    checkpoint_min_timestamp,
    checkpoint_min_timestamp_index,
    index_key_hash,
    is_transient_store_pool_enable,
    is_wait_store_msg_ok,
    mapped_file_size_consume_queue,
)
from impl.decisions.suggestion import accessible_memory_bytes, behind_memory
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.replay import Adapter, Row

RECORDED_MEMORY_BYTES = 16 << 30  # the physical memory was fixed while recording


def delay_levels(row: Row) -> str | None:
    """The table of a text, delivery times, levels and queues."""
    arguments = row["a"]
    match sorted(arguments):
        case ["text"]:
            return compare(row, lambda: _delay_table(arguments["text"]))
        case ["level", "storeTimestamp"]:
            return compare(row, lambda: compute_deliver_timestamp(arguments["level"], arguments["storeTimestamp"]))
        case ["deliver", "level", "now"]:
            level, now_ms, deliver_ms = arguments["level"], arguments["now"], arguments["deliver"]
            return compare(row, lambda: correct_deliver_timestamp(level, now_ms, deliver_ms))
        case ["delayLevel2QueueId"]:
            return compare(row, lambda: delay_level_to_queue_id(arguments["delayLevel2QueueId"]))
        case ["queueId2DelayLevel"]:
            return compare(row, lambda: queue_id_to_delay_level(arguments["queueId2DelayLevel"]))
        case keys:
            raise ValueError(f"no function with arguments {keys}")


def _delay_table(text: str | None) -> list[Any]:
    ok, table, greatest = parse_delay_level(text)
    return [ok, {str(level): table[level] for level in table}, greatest]


def _checkpoint(physic: int, logics: int, index: int) -> list[int]:
    return [checkpoint_min_timestamp(physic, logics), checkpoint_min_timestamp_index(physic, logics, index)]


_RULES: Mapping[str, Callable[..., Any]] = {
    "calMsgLength": cal_msg_length,
    "mappedFileSizeConsumeQueue": mapped_file_size_consume_queue,
    "diskMaxUsedSpaceRatio": disk_max_used_space_ratio,
    "isWaitStoreMsgOK": is_wait_store_msg_ok,
    "getDelayTimeLevel": delay_time_level,
    "checkInDiskByCommitOffset": lambda ratio, offsetPy, maxOffsetPy: behind_memory(  # noqa: N803  the row's names
        maxOffsetPy, offsetPy, accessible_memory_bytes(RECORDED_MEMORY_BYTES, ratio)),
    "nextOffsetCorrection": lambda role, offsetCheckInSlave, old, new: next_offset_correction(  # noqa: N803
        old, new, slave=role == "SLAVE", offset_check_in_slave=offsetCheckInSlave),
    "isTheBatchFull": lambda size, maxMsgNums, bufferTotal, messageTotal, inDisk: is_the_batch_full(  # noqa: N803
        size, maxMsgNums, bufferTotal, messageTotal, is_in_disk=inDisk),
    "isTransientStorePoolEnable": lambda flush, role, flag: is_transient_store_pool_enable(
        flag, flush == "ASYNC_FLUSH", role == "SLAVE"),
    "StoreCheckpoint": _checkpoint,
}


def store_rules(row: Row) -> str | None:
    """A function by name, with arguments in order or by name."""
    arguments = row["a"]
    if isinstance(arguments, dict):
        named = dict(arguments)
        rule = _RULES[named.pop("f")]
        return compare(row, lambda: rule(**named))
    name, *values = arguments
    rule = _RULES[name]
    return compare(row, lambda: rule(*values))


_CHANGES: Mapping[str, Callable[[int], tuple[bool | None, int]]] = {
    "getAndMakeReadable": flags.get_and_make_readable,
    "getAndMakeNotReadable": flags.get_and_make_not_readable,
    "getAndMakeWriteable": flags.get_and_make_writeable,
    "getAndMakeNotWriteable": flags.get_and_make_not_writeable,
    "getAndMakeDiskFull": flags.get_and_make_disk_full,
    "getAndMakeDiskOK": flags.get_and_make_disk_ok,
    "makeLogicsQueueError": lambda bits: (None, flags.make_logics_queue_error(bits)),
    "makeIndexFileError": lambda bits: (None, flags.make_index_file_error(bits)),
}
_LOOKS = (
    flags.is_readable, flags.is_writeable, flags.is_cq_writeable,
    flags.is_logics_queue_error, flags.is_index_file_error,
)


def running_flags(row: Row) -> str | None:
    """A run of changes, with the bits and five looks at them after each."""
    bits = 0
    for number, (operation, *recorded) in enumerate(row["steps"]):
        answer, bits = _CHANGES[operation](bits)
        found = difference(recorded, [answer, bits, [look(bits) for look in _LOOKS]], f"step {number} {operation}")
        if found is not None:
            return found
    return None


def bloom(row: Row) -> str | None:
    """A filter's geometry, the bits of a key, and whether a key hits among others."""
    return compare(row, lambda: _bloom(**row["a"]))


def _bloom(f: int, n: int, key: str | None = None, keys: Sequence[str] = (), probe: str | None = None) -> Any:
    bloom_filter = BloomFilter(f, n)
    if key is not None:
        data = bloom_filter.generate(key)
        return {"bitPos": data.bit_pos, "bitNum": data.bit_num}
    if probe is None:
        return [bloom_filter.k, bloom_filter.m]
    bits = bloom_filter.empty_bits()
    for one in keys:
        bloom_filter.hash_to(one, bits)
    return [bits.hex(), bloom_filter.is_hit(probe, bits)]


def key_hash(row: Row) -> str | None:
    """The hash of a key."""
    return compare(row, lambda: index_key_hash(row["a"]))


ADAPTERS: dict[str, Adapter] = {
    "bloom": bloom,
    "delay-levels": delay_levels,
    "index-key-hash": key_hash,
    "running-flags": running_flags,
    "store-rules": store_rules,
}
