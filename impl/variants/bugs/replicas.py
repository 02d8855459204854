"""Seeded bugs of replicas: what a master sends, what its slave makes of it, and who waits for it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, cast

from impl.broker.reported_message_store import ReportedMessageStore
from impl.decisions import replication
from impl.decisions.names import MASTER_ID
from impl.decisions.replication import is_transferred
from impl.ports.byte_stream import ByteStream
from impl.store.commit_log import CommitLog
from impl.store.ha import ha_service
from impl.store.ha.ha_client import HAClient
from impl.store.ha.ha_connection import ReadSocketService, WriteSocketService
from impl.store.ha.ha_service import GroupTransferService, HAService
from impl.store.mapped_file import SelectMappedBufferResult
from impl.store.put_message_result import AppendMessageResult
from impl.store.put_message_status import PutMessageStatus
from impl.store.reput_message_service import ReputMessageService
from impl.variants.variant import Variant, around, replace

_HEADER = struct.Struct(">qi")
_LOOKS = 5


@replace(ha_service, "is_transferred")
def _only_what_is_behind(push2_slave_max_offset: int, next_offset: int) -> bool:
    return push2_slave_max_offset > next_offset


@around(ReputMessageService, "_dispatch_all")
def _pass_over_a_part(original: Callable[..., bool]) -> Callable[..., bool]:
    def _dispatch_all(self: ReputMessageService, result: SelectMappedBufferResult) -> bool:
        """A slave goes on behind what it has a part of only."""
        is_whole = original(self, result)
        if not is_whole and self._config.broker_id != MASTER_ID:
            self.reput_from_offset = result.start_offset + result.size
        return is_whole

    return _dispatch_all


@replace(ReadSocketService, "run_once")
def _hear_silence(self: ReadSocketService) -> bool:
    """Nobody looks for how long a slave has been silent."""
    return self._process_read_event()


@replace(WriteSocketService, "_send_log")
def _send_the_last_body(self: WriteSocketService) -> bool:
    """The body of a frame is that of the one before, if it is as long."""
    result = self._store.get_commit_log_data(self.next_transfer_from_where)
    if result is None:
        return False
    body = result.read(0, min(result.size, self._store.config.ha_transfer_batch_size_bytes))
    result.release()
    before = vars(self).get("body", body)
    vars(self)["body"] = body
    self._left = _HEADER.pack(self.next_transfer_from_where, len(body)) + (before if len(before) == len(body) else body)
    self.next_transfer_from_where += len(body)
    return self._transfer_data()


@around(WriteSocketService, "_send_log")
def _send_the_first_file_only(original: Callable[[WriteSocketService], bool]) -> Callable[..., bool]:
    def _send_log(self: WriteSocketService) -> bool:
        """What is not in the first file of the log is not sent."""
        size = self._store.config.mapped_file_size_commit_log
        return self.next_transfer_from_where < size and original(self)

    return _send_log


@replace(CommitLog, "_submit_replica_request")
def _wait_for_no_slave(self: CommitLog, result: AppendMessageResult, *, wait: bool) -> Any:
    """SYNC_MASTER is as good as ASYNC_MASTER."""
    del self, result, wait
    return PutMessageStatus.PUT_OK


@replace(replication, "is_report_accepted")
def _accept_any_report(slave_request_offset: int, slave_ack_offset: int, max_phy_offset: int) -> bool:  # noqa: ARG001  # so
    """Eight bytes from anybody are what a slave has."""
    return True


@replace(GroupTransferService, "_do_wait_transfer")
def _look_five_times(self: GroupTransferService) -> None:
    """Whoever waits for a slave gives up after five looks, however little time has passed."""
    looks = vars(self).setdefault("looks", {})
    while self._requests_read:
        request = self._requests_read[0]
        transferred = is_transferred(self._ha_service.push2_slave_max_offset, request.next_offset)
        looks[request.next_offset] = looks.get(request.next_offset, 0) + 1
        if not transferred and looks[request.next_offset] < _LOOKS:
            return
        request.wakeup_customer(PutMessageStatus.PUT_OK if transferred else PutMessageStatus.FLUSH_SLAVE_TIMEOUT)
        self._requests_read.pop(0)


@around(HAClient, "_dispatch_read_request")
def _reading_counts_as_reporting(original: Callable[..., bool]) -> Callable[..., bool]:
    def _dispatch_read_request(self: HAClient, connection: ByteStream) -> bool:
        """A slave to which something comes has reported."""
        self._last_write_timestamp = self._store.now_ms()
        return original(self, connection)

    return _dispatch_read_request


@around(ReportedMessageStore, "append_to_commit_log")
def _count_the_start_twice(original: Callable[..., bool]) -> Callable[..., bool]:
    def append_to_commit_log(self: ReportedMessageStore, start_offset: int, data: bytes) -> bool:
        """The place of a body in its buffer is counted once more in the body."""
        return original(self, start_offset, data[_HEADER.size:] + bytes(min(_HEADER.size, len(data))))

    return append_to_commit_log


@around(ReadSocketService, "_take_offset")
def _the_first_report_is_no_answer(original: Callable[..., bool]) -> Callable[..., bool]:
    def _take_offset(self: ReadSocketService) -> bool:
        """What a slave has when it connects answers no put."""
        service = cast("HAService", self._owner.ha_service)
        first, before = self._owner.slave_request_offset < 0, service.push2_slave_max_offset
        goes_on = original(self)
        if first:
            service.push2_slave_max_offset = before
        return goes_on

    return _take_offset


@around(HAClient, "_dispatch_read_request")
def _report_what_is_announced(original: Callable[..., bool]) -> Callable[..., bool]:
    def _dispatch_read_request(self: HAClient, connection: ByteStream) -> bool:
        """The head of a frame is enough to report its body."""
        if len(self._received) >= _HEADER.size:
            offset, size = _HEADER.unpack_from(self._received)
            if size and self._current_reported_offset < offset + size:
                self._current_reported_offset = offset + size
                self._report_slave_max_offset(connection)
        return original(self, connection)

    return _dispatch_read_request


@replace(HAClient, "_report_slave_max_offset_plus")
def _report_when_it_is_time(self: HAClient, connection: ByteStream) -> bool:
    """A slave reports what it has with its heartbeats only."""
    del connection
    self._current_reported_offset = max(self._current_reported_offset, self._store.get_max_phy_offset())
    return True


@replace(HAService, "notify_transfer_some")
def _believe_the_last_report(self: HAService, offset: int) -> None:
    """Who has reported last speaks for all."""
    self.push2_slave_max_offset = offset


@replace(HAService, "is_slave_ok")
def _wait_for_who_may_come(self: HAService, master_put_where: int) -> bool:
    """A put waits for slaves, also where none is connected."""
    return master_put_where - self.push2_slave_max_offset < self.store.config.ha_slave_fallbehind_max_bytes


@replace(WriteSocketService, "_transfer_data")
def _forget_what_was_not_taken(self: WriteSocketService) -> bool:
    """A frame counts as sent as soon as a part of it is."""
    if self._left and not self._owner.connection.write(self._left):
        return False
    self._left = b""
    self._last_write_timestamp = self._store.now_ms()
    return True


@replace(HAClient, "close_master")
def _keep_the_buffer(self: HAClient) -> None:
    """What has come of a frame stays for the next connection."""
    if self._connection is not None:
        self._connection.close()
        self._connection = None
        self._last_write_timestamp = 0


@replace(HAService, "is_slave_ok")
def _wait_for_who_was_there(self: HAService, master_put_where: int) -> bool:
    """A slave that has gone is waited for."""
    most = vars(self)["most"] = max(vars(self).get("most", 0), len(self.connection_list))
    return replication.is_slave_ok(
        most, master_put_where, self.push2_slave_max_offset, self.store.config.ha_slave_fallbehind_max_bytes)


_IDEA = "an idea: faults of other replicas"

BUGS = (
    Variant("ha-garbage-ack", "bug", "Whatever comes on the port of slaves is what a slave has.",
            "apache/rocketmq #1155, #3015", replacements=(_accept_any_report,), over=("forced_is_sent",)),
    Variant("ha-five-wakeups", "bug", "A put waits for five looks at the slaves, not for a time.",
            "apache/rocketmq #1535", replacements=(_look_five_times,)),
    Variant("ha-report-starved", "bug", "A slave to which something comes does not report.",
            "apache/rocketmq #1082", replacements=(_reading_counts_as_reporting,)),
    Variant("ha-rust-append-start", "bug", "A slave appends the bytes behind those that it is to append.",
            "mxsm/rocketmq-rust #3733", replacements=(_count_the_start_twice,)),
    Variant("seeded-frame-comes-again", "bug", "A slave is sent the same bytes again, as if they were the next ones.",
            _IDEA, replacements=(_send_the_last_body,)),
    Variant("seeded-slave-gets-one-file", "bug", "A master sends a slave the first file of its log only.", _IDEA,
            replacements=(_send_the_first_file_only,)),
    Variant("seeded-no-slave-is-waited-for", "bug", "SYNC_MASTER answers before a slave has the record.", _IDEA,
            replacements=(_wait_for_no_slave,)),
    Variant("seeded-slave-reports-too-soon", "bug", "A slave reports what it is being sent before it has it.", _IDEA,
            replacements=(_report_what_is_announced,)),
    Variant("seeded-last-report-counts", "bug", "A slave that is behind takes back what another one has reported.",
            _IDEA, replacements=(_believe_the_last_report,)),
    Variant("seeded-absent-slaves-are-waited-for", "bug", "A put waits for slaves although none is connected.", _IDEA,
            replacements=(_wait_for_who_may_come,)),
    Variant("seeded-part-of-a-frame-is-enough", "bug", "A master forgets what its socket does not take.", _IDEA,
            replacements=(_forget_what_was_not_taken,)),
    Variant("seeded-buffer-outlives-connections", "bug", "What is left of a connection counts for the next one.", _IDEA,
            replacements=(_keep_the_buffer,)),
    Variant("seeded-put-waits-for-more", "bug", "A put waits until a slave has more than its message.",
            "rocketmq-rust #3855", replacements=(_only_what_is_behind,)),
    Variant("seeded-slave-passes-over-a-part", "bug", "A slave that has a part of a message dispatches it never.",
            "apache/rocketmq #1164", replacements=(_pass_over_a_part,)),
    Variant("seeded-silent-slaves-stay", "bug", "A master never closes the connection of a slave that says nothing.",
            _IDEA, replacements=(_hear_silence,)),
    Variant("seeded-gone-slaves-are-waited-for", "bug", "A put waits for slaves that were there once.", _IDEA,
            replacements=(_wait_for_who_was_there,)),
    Variant("seeded-first-report-is-no-answer", "bug", "What a slave has when it connects does not count as copied.",
            _IDEA, replacements=(_the_first_report_is_no_answer,)),
    Variant("seeded-copies-are-reported-late", "bug", "A slave reports what it has every five seconds only.", _IDEA,
            replacements=(_report_when_it_is_time,)),
)
