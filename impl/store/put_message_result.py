"""What a put gives: the result of the append at once, the status when disk and slave have answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_id import create_message_id
from impl.store.put_message_status import AppendMessageStatus, PutMessageStatus


@dataclass(frozen=True, slots=True)
class AppendMessageResult:
    """`store.AppendMessageResult`.

    wrote_offset -- where the bytes begin in the log, wrote_bytes -- how many; a blank counts to the end of its file.
    store_timestamp -- in ms. logics_offset -- the queue offset, of a batch the first one. phy_offsets -- of the
    records. store_host -- with these it makes the ids.
    """

    status: AppendMessageStatus
    wrote_offset: int = 0
    wrote_bytes: int = 0
    store_timestamp: int = 0
    logics_offset: int = 0
    msg_num: int = 1
    phy_offsets: tuple[int, ...] = ()
    store_host: InetSocketAddress | None = None

    def get_msg_id(self) -> str | None:
        """AppendMessageResult#getMsgId: the offset ids of the records, with commas between; None without a record."""
        if self.store_host is None:
            return None
        return ",".join(create_message_id(self.store_host, offset) for offset in self.phy_offsets)


class GroupCommitRequest:
    """`CommitLog.GroupCommitRequest`: who waits until the log is safe up to an offset.

    next_offset -- the end of the record. deadline_ms -- by the clock of the machine; Java uses System#nanoTime.
    status -- the answer, None as long as there is none.
    """

    def __init__(self, next_offset: int, deadline_ms: int) -> None:
        """Wait."""
        self.next_offset, self.deadline_ms = next_offset, deadline_ms
        self.status: PutMessageStatus | None = None
        self.watchers: list[Callable[[], None]] = []

    def wakeup_customer(self, status: PutMessageStatus) -> None:
        """GroupCommitRequest#wakeupCustomer: give the answer, unless there is one; tell the watchers."""
        if self.status is None:
            self.status = status
            for watcher in self.watchers:
                watcher()


@dataclass(frozen=True, slots=True)
class PutMessageResult:
    """`store.PutMessageResult`. append_message_result -- None if nothing was appended."""

    status: PutMessageStatus
    append_message_result: AppendMessageResult | None = None

    def is_ok(self) -> bool:
        """PutMessageResult#isOk: whether the append went well, whatever became of flush and slave."""
        result = self.append_message_result
        return result is not None and result.status is AppendMessageStatus.PUT_OK


@dataclass(frozen=True, slots=True)
class PutMessageFuture:
    """The CompletableFuture of a put: the append, and the answers of disk and slave that it waits for.

    flush, replica -- a request, or the status where nobody is asked.
    """

    append_message_result: AppendMessageResult | None
    flush: GroupCommitRequest | PutMessageStatus
    replica: GroupCommitRequest | PutMessageStatus = PutMessageStatus.PUT_OK

    def result(self) -> PutMessageResult | None:
        """The result; None as long as an answer is missing. The slave's goes before that of the disk."""
        flush, replica = _answer(self.flush), _answer(self.replica)
        if flush is None or replica is None:
            return None
        status = flush if replica is PutMessageStatus.PUT_OK else replica
        return PutMessageResult(status, self.append_message_result)

    def when_complete(self, action: Callable[[PutMessageResult], None]) -> None:
        """CompletableFuture#thenAccept: call with the result, now or when the last answer comes; once."""

        def look() -> None:
            result = self.result()
            if result is not None and waiting:
                waiting.clear()
                action(result)

        waiting = [True]
        for request in (self.flush, self.replica):
            if isinstance(request, GroupCommitRequest) and request.status is None:
                request.watchers.append(look)
        look()


def _answer(request: GroupCommitRequest | PutMessageStatus) -> PutMessageStatus | None:
    return request.status if isinstance(request, GroupCommitRequest) else request


def refused(status: PutMessageStatus, result: AppendMessageResult | None = None) -> PutMessageFuture:
    """A put that ends at once."""
    return PutMessageFuture(result, status)
