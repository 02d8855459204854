"""Bugs of the commit log, its dispatch, its queues and its index, each of which somebody has made."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from typing import Any

from impl.broker.send_message_processor import SendMessageProcessor
from impl.broker.store_threads import REPUT_INTERVAL_MS, StoreThreads
from impl.decisions import index_slots
from impl.decisions.consume_queue_units import expect_logic_offset, unit_end
from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_NOT_TYPE, get_transaction_value
from impl.decisions.flush_rules import mapped_file_index
from impl.decisions.java_arithmetic import wrap32
from impl.store.commit_log import CommitLog
from impl.store.consume_queue import ConsumeQueue
from impl.store.default_message_store import DefaultMessageStore
from impl.store.index_file import IndexFile
from impl.store.mapped_file import MappedFile, SelectMappedBufferResult
from impl.store.mapped_file_queue import MappedFileQueue
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import AppendMessageResult, PutMessageFuture
from impl.store.record_reader import RecordReader
from impl.store.reput_message_service import ReputMessageService
from impl.variants.variant import Variant, around, replace

_COUNTED_TYPES = (TRANSACTION_NOT_TYPE, TRANSACTION_COMMIT_TYPE)
_UNIT = struct.Struct(">qiq")


# The log --------------------------------------------------------------------------------------------------------------


@around(CommitLog, "async_put_message")
def _count_before_encoding(original: Callable[..., PutMessageFuture]) -> Callable[..., PutMessageFuture]:
    def async_put_message(self: CommitLog, message: MessageExtBrokerInner) -> PutMessageFuture:
        """A message that is refused has taken its queue offset."""
        future = original(self, message)
        if future.append_message_result is None and get_transaction_value(message.sys_flag) in _COUNTED_TYPES:
            key = f"{message.topic}-{message.queue_id}"
            self.topic_queue_table[key] = self.topic_queue_table.get(key, 0) + 1
        return future

    return async_put_message


@around(CommitLog, "_append")
def _count_under_another_name(original: Callable[..., AppendMessageResult]) -> Callable[..., AppendMessageResult]:
    def _append(
        self: CommitLog, mapped_file: MappedFile, message: MessageExtBrokerInner, record: bytearray,
    ) -> AppendMessageResult:
        """The next queue offset is kept where nobody looks for it."""
        result = original(self, mapped_file, message, record)
        self.topic_queue_table[f"{message.topic}_{message.queue_id}"] = self.topic_queue_table.pop(
            f"{message.topic}-{message.queue_id}")
        return result

    return _append


@around(SendMessageProcessor, "_send_message")
def _take_the_offset_before_the_lock(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def _send_message(self: SendMessageProcessor, channel: Any, request: Any, topic_config: Any) -> Any:
        """Two threads append in another order than that in which they took their offsets."""
        table, key = self.store.commit_log.topic_queue_table, f"{request.header.topic}-{request.header.queue_id}"
        mine = table.get(key, 0)
        table[key] = mine + 1
        await self.node.interleave("CommitLog#asyncPutMessage: the offset is taken, and the lock is not")
        following, table[key] = table[key], mine
        answer = await original(self, channel, request, topic_config)
        table[key] = max(following, mine + 1)
        return answer

    return _send_message


@replace(MappedFileQueue, "find_mapped_file_by_offset")
def _believe_the_first_file_of_before(
    self: MappedFileQueue, offset: int, return_first_on_not_found: bool = False,
) -> MappedFile | None:
    """The place in the list is counted from a first file that may be gone, and nobody looks at what stands there."""
    first, last = self.first_mapped_file(), self.last_mapped_file()
    if first is None or last is None:
        return None
    before = vars(self).get("before", first)
    vars(self)["before"] = first
    if first.file_from_offset <= offset < last.file_from_offset + self.mapped_file_size:
        index = mapped_file_index(offset, before.file_from_offset, self.mapped_file_size)
        if 0 <= index < len(self.mapped_files):
            return self.mapped_files[index]
    return first if return_first_on_not_found else None


# Dispatch -------------------------------------------------------------------------------------------------------------


@around(DefaultMessageStore, "go_on_starting")
def _from_the_end(original: Callable[..., bool]) -> Callable[..., bool]:
    def go_on_starting(self: DefaultMessageStore) -> bool:
        """Dispatching begins behind all that the log has."""
        self.reput_message_service.reput_from_offset = self.get_max_phy_offset()
        return original(self)

    return go_on_starting


@around(ReputMessageService, "_dispatch_all")
def _go_on_from_the_begin(original: Callable[..., bool]) -> Callable[..., bool]:
    def _dispatch_all(self: ReputMessageService, result: SelectMappedBufferResult) -> bool:
        """The position is the begin of what was read and the last record, whatever lay before that."""
        start, size, last = result.start_offset, result.size, 0
        reader = RecordReader(result.mapped_file.mapped_byte_buffer, result.position, result.position + size,
                              check_crc=False, read_body=False, delay_levels=self._log.delay_levels)
        go_on = original(self, result)
        read = 0
        while read < result.size and (request := reader.next()).success and request.msg_size > 0:
            read, last = read + request.msg_size, request.msg_size
        if self.reput_from_offset == start + read:
            self.reput_from_offset = start + last
        return go_on

    return _dispatch_all


@replace(StoreThreads, "_reput")
async def _end_at_an_error(self: StoreThreads) -> None:
    """The thread ends when something is raised."""
    store = self.store
    while not store.stopped:
        if store.dispatch_behind_bytes() <= 0:
            await self.node.wait(self._dispatch, 60_000)
        await self.node.sleep(REPUT_INTERVAL_MS)
        store.reput_message_service.do_reput()


@replace(ConsumeQueue, "put_message_position_info")
def _append_what_is_there(self: ConsumeQueue, offset: int, size: int, tags_code: int, cq_offset: int) -> bool:
    """A unit that the queue has is logged, and appended."""
    mapped_file = self.mapped_file_queue.get_last_mapped_file(expect_logic_offset(cq_offset))
    if mapped_file is None:
        return False
    self.max_physic_offset = unit_end(offset, size)
    return mapped_file.append_message(_UNIT.pack(offset, size, tags_code))


# Index ----------------------------------------------------------------------------------------------------------------


@replace(index_slots, "time_diff_seconds")
def _milliseconds(store_timestamp_ms: int, begin_timestamp_ms: int) -> int:
    """The distance is of 31 bits, in ms, and its seconds are taken afterwards."""
    return (store_timestamp_ms - begin_timestamp_ms & 0x7FFFFFFF) // 1_000 if begin_timestamp_ms > 0 else 0


@around(IndexFile, "put_key")
def _count_each_entry(original: Callable[..., bool]) -> Callable[..., bool]:
    def put_key(self: IndexFile, key: str, phy_offset: int, store_timestamp: int) -> bool:
        """The slots in use are counted for each key."""
        before = self.header.hash_slot_count
        done = original(self, key, phy_offset, store_timestamp)
        if done:
            self.header.set("hash_slot_count", wrap32(before + 1))
        return done

    return put_key


BUGS = (
    Variant("st-cq-duplicate-dispatch", "bug", "A message that is dispatched again gets a second unit.",
            "ROCKETMQ-265", replacements=(_append_what_is_there,), undoes=("queues_are_built_anew",)),
    Variant("st-cq-gap-on-failed-append", "bug", "A message that is refused takes a queue offset.",
            "apache/rocketmq #6570", replacements=(_count_before_encoding,)),
    Variant("st-offset-table-key", "bug", "The table of queue offsets is written under another key than it is read.",
            "mxsm/rocketmq-rust #423", replacements=(_count_under_another_name,)),
    Variant("st-offset-lock-granularity", "bug", "Queue offsets are given before the lock of the append is taken.",
            "apache/rocketmq #7511", replacements=(_take_the_offset_before_the_lock,)),
    Variant("st-find-file-race", "bug", "A file is looked for by a first file that is gone.", "ROCKETMQ-332",
            replacements=(_believe_the_first_file_of_before,)),
    Variant("st-initial-reput", "bug", "A start dispatches from the end of the log.", "apache/rocketmq e1494951e9",
            replacements=(_from_the_end,)),
    Variant("st-reput-wrong-increment", "bug", "The dispatcher goes on behind one record of those that it has read.",
            "RocketMQ 3.2, 148861502f", replacements=(_go_on_from_the_begin,)),
    Variant("st-reput-thread-dies", "bug", "The dispatcher ends at the first error.", "apache/rocketmq #7902",
            replacements=(_end_at_an_error,)),
    Variant("st-truncation-not-crash-safe", "bug", "A log that is cut keeps the bytes behind its end.",
            "apache/rocketmq #10666", undoes=("tail_is_zeroed",)),
    Variant("st-index-time-overflow", "bug", "The index keeps times as milliseconds of 31 bits.",
            "alibaba/RocketMQ #322",
            replacements=(_milliseconds,)),
    Variant("st-index-slot-count", "bug", "An index file counts its entries as slots in use.", "apache/rocketmq #1919",
            replacements=(_count_each_entry,)),
)
