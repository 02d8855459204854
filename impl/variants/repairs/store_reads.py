"""Repairs of what a store takes, of what it answers, and of what it sends to a slave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from impl.common.message_batch import SHORT_MAX
from impl.decisions import replication
from impl.decisions.java_errors import JavaRuntimeError
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE
from impl.ports.byte_stream import ByteStream
from impl.store import message_ext_encoder
from impl.store.commit_log import CommitLog
from impl.store.consume_queue import ConsumeQueue
from impl.store.default_message_store import DefaultMessageStore
from impl.store.ha.ha_client import HAClient
from impl.store.ha.ha_connection import WriteSocketService
from impl.store.mapped_file import SelectMappedBufferResult
from impl.variants.variant import Variant, around, replace


@around(message_ext_encoder, "_batch_record")
def _sum_is_looked_at(original: Callable[..., bytes]) -> Callable[..., bytes]:
    def _batch_record(
        batch: Any, entry: Any, topic: bytes, batch_properties: bytes, message_length: int, properties_length: int,
    ) -> bytes:
        """The properties of a batch and of a message together have the limit of those of a message."""
        if properties_length > SHORT_MAX:
            raise JavaRuntimeError("Properties size of messageExtBatch exceeded!")
        return original(batch, entry, topic, batch_properties, message_length, properties_length)

    return _batch_record


@around(ConsumeQueue, "correct_min_offset")
def _nothing_is_left(original: Callable[..., None]) -> Callable[..., None]:
    def correct_min_offset(self: ConsumeQueue, phy_min_offset: int) -> None:
        """A queue of which all records have expired begins at its end."""
        original(self, phy_min_offset)
        last = self.get_max_offset_in_queue() - 1
        unit = self.unit(last) if last >= self.get_min_offset_in_queue() else None
        if unit is not None and unit.offset < phy_min_offset:
            self.min_logic_offset = (last + 1) * CQ_STORE_UNIT_SIZE

    return correct_min_offset


@around(CommitLog, "get_message")
def _gone_is_gone(original: Callable[..., SelectMappedBufferResult | None],
                  ) -> Callable[..., SelectMappedBufferResult | None]:
    def get_message(self: CommitLog, offset: int, size: int) -> SelectMappedBufferResult | None:
        """What lies before the log's first file is not there, offset 0 neither."""
        return None if offset < self.get_min_offset() else original(self, offset, size)

    return get_message


@around(CommitLog, "get_data")
def _gone_is_not_sent(original: Callable[..., SelectMappedBufferResult | None],
                      ) -> Callable[..., SelectMappedBufferResult | None]:
    def get_data(
        self: CommitLog, offset: int, return_first_on_not_found: bool | None = None,
    ) -> SelectMappedBufferResult | None:
        """A slave that asks for offset 0 is not sent what the first file has."""
        return None if offset < self.get_min_offset() else original(self, offset, return_first_on_not_found)

    return get_data


@replace(ConsumeQueue, "get_offset_in_queue_by_time")
def _first_not_before(self: ConsumeQueue, timestamp: int) -> int:
    """The first message that was stored then or later; one past the last if there is none."""
    low, high = self.get_min_offset_in_queue(), self.get_max_offset_in_queue()
    while low < high:
        middle = (low + high) // 2
        unit = self.unit(middle)
        readable = unit is not None and unit.is_valid() and unit.offset >= self._store.get_min_phy_offset()
        stored_ms = self._store.pickup_store_timestamp(unit.offset, unit.size) if unit is not None and readable else -1
        low, high = (middle + 1, high) if stored_ms < timestamp else (low, middle)
    return low


@replace(replication, "is_report_accepted")
def _first_report_is_compared(slave_request_offset: int, slave_ack_offset: int, max_phy_offset: int) -> bool:
    """Whoever has more than its master is no slave of it."""
    del slave_request_offset
    return slave_ack_offset <= max_phy_offset


@around(DefaultMessageStore, "get_commit_log_data")
def _forced_is_sent(original: Callable[..., SelectMappedBufferResult | None],
                    ) -> Callable[..., SelectMappedBufferResult | None]:
    def get_commit_log_data(self: DefaultMessageStore, offset: int) -> SelectMappedBufferResult | None:
        """A slave gets nothing that its master may lose."""
        files = self.commit_log.mapped_file_queue
        while files.flushed_where < self.get_max_phy_offset() and not files.flush(0):
            pass
        result = original(self, offset)
        if result is not None:
            result.size = min(result.size, files.flushed_where - result.start_offset)
            if result.size <= 0:
                result.release()
                return None
        return result

    return get_commit_log_data


@around(WriteSocketService, "run_once")
def _from_the_first_file(original: Callable[..., bool]) -> Callable[..., bool]:
    def run_once(self: WriteSocketService) -> bool:
        """An empty slave gets all that its master has."""
        if self.next_transfer_from_where < 0 and self._owner.slave_request_offset == 0:
            self.next_transfer_from_where = max(cast("DefaultMessageStore", self._store).get_min_phy_offset(), 0)
        return original(self)

    return run_once


@around(HAClient, "_dispatch_read_request")
def _something_was_read(original: Callable[..., bool]) -> Callable[..., bool]:
    def _dispatch_read_request(self: HAClient, connection: ByteStream) -> bool:
        """Remember on which connection something came last, and when."""
        vars(self)["last_read"] = connection, self._store.now_ms()
        return original(self, connection)

    return _dispatch_read_request


@around(HAClient, "_process_read_event")
def _silence_ends_it(original: Callable[..., bool]) -> Callable[..., bool]:
    def _process_read_event(self: HAClient, connection: ByteStream) -> bool:
        """A connection on which nothing has come for the time of the housekeeping is over."""
        known, _ = vars(self).get("last_read", (None, 0))
        if known is not connection:
            vars(self)["last_read"] = connection, self._store.now_ms()
        goes_on = original(self, connection)
        silent_ms = self._store.now_ms() - vars(self)["last_read"][1]
        return goes_on and silent_ms <= self._store.config.ha_housekeeping_interval_ms

    return _process_read_event


REPAIRS = (
    Variant("batch_properties_have_a_limit", "repair", "The properties of a batch and of its message count together.",
            "CommitLog.MessageExtEncoder#encode has it for one message", ("V1",), (_sum_is_looked_at,)),
    Variant("expired_queue_is_empty", "repair", "A queue of which all records have expired begins at its end.",
            "apache/rocketmq #3707", ("V18",), (_nothing_is_left,)),
    Variant("offset_0_is_looked_at", "repair", "Offset 0 is not there once its file is gone.",
            "CommitLog#getMessage asks for the first file instead", ("V25",), (_gone_is_gone, _gone_is_not_sent)),
    Variant("time_finds_the_first", "repair", "A search by time leads to the first message that is not earlier.",
            "apache/rocketmq #6429", ("V28",), (_first_not_before,)),
    Variant("forced_is_sent", "repair", "A master sends what it has forced, and accepts no slave that has more.",
            "apache/rocketmq #3016 compares the later reports; nobody forces before", ("V11",),
            (_first_report_is_compared, _forced_is_sent)),
    Variant("empty_slave_gets_all", "repair", "An empty slave is sent the log from its first file on.",
            "apache/rocketmq #3661", ("V29",), (_from_the_first_file,)),
    Variant("silence_ends_a_connection", "repair", "A slave that has heard nothing of its master connects again.",
            "DefaultHAClient#run of 5.0, by lastReadTimestamp", ("V37",),
            (_something_was_read, _silence_ends_it)),
)
