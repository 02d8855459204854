"""The services that flush the commit log: group commit, real time, and the commit of write buffers.

Java runs each in a thread of its own. Here each has steps, which the host calls when the thread would run, and
`shutdown`, which does what the thread does after it has been told to stop.
"""

from __future__ import annotations

from collections.abc import Callable

from impl.decisions.flush_rules import flush_least_pages, is_thorough_flush
from impl.store.mapped_file_queue import MappedFileQueue
from impl.store.message_store_config import MessageStoreConfig
from impl.store.put_message_result import GroupCommitRequest
from impl.store.put_message_status import PutMessageStatus
from impl.store.store_checkpoint import StoreCheckpoint

RETRY_TIMES_OVER = 10  # FlushCommitLogService
_FLUSHES_OF_A_REQUEST = 2  # the record may be in the next file

Checkpoint = Callable[[], StoreCheckpoint]
"""The store has a checkpoint once it is loaded."""


def _note_flushed(queue: MappedFileQueue, checkpoint: Checkpoint) -> None:
    if queue.store_timestamp > 0:
        checkpoint().physic_msg_timestamp = queue.store_timestamp


def passed_over(last_thorough_ms: int, now_ms: int, interval_ms: int) -> int:
    """When the last thorough round was of a service that had nothing to flush since, but went on."""
    return last_thorough_ms + max(now_ms - last_thorough_ms, 0) // interval_ms * interval_ms


class FlushDiskWatcher:
    """`store.FlushDiskWatcher`: ends what waits too long for the disk. requests -- in the order of their arrival."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Watch nothing."""
        self._now_ms = now_ms
        self.requests: list[GroupCommitRequest] = []

    def run_once(self) -> None:
        """FlushDiskWatcher#run: every 10 ms at most. Only the oldest request is looked at, until it is done."""
        while self.requests:
            request = self.requests[0]
            if request.status is None and self._now_ms() < request.deadline_ms:
                return
            request.wakeup_customer(PutMessageStatus.FLUSH_DISK_TIMEOUT)
            self.requests.pop(0)


class GroupCommitService:
    """`CommitLog.GroupCommitService` (SYNC_FLUSH): step `run_once`, after 10 ms or as soon as there is a request."""

    def __init__(self, queue: MappedFileQueue, checkpoint: Checkpoint) -> None:
        """Have no requests."""
        self._queue, self._checkpoint = queue, checkpoint
        self._requests_write: list[GroupCommitRequest] = []
        self._requests_read: list[GroupCommitRequest] = []

    def put_request(self, request: GroupCommitRequest) -> None:
        """GroupCommitService#putRequest."""
        self._requests_write.append(request)

    def run_once(self) -> None:
        """GroupCommitService#run, one round: #onWaitEnd and #doCommit."""
        self.swap_requests()
        self.do_commit()

    def swap_requests(self) -> None:
        """GroupCommitService#swapRequests."""
        self._requests_write, self._requests_read = self._requests_read, self._requests_write

    def do_commit(self) -> None:
        """GroupCommitService#doCommit: flush for each request, at most twice, and answer it."""
        if not self._requests_read:
            self._queue.flush(0)
            return
        for request in self._requests_read:
            for _ in range(_FLUSHES_OF_A_REQUEST):
                if self._queue.flushed_where < request.next_offset:
                    self._queue.flush(0)
            flushed = self._queue.flushed_where >= request.next_offset
            request.wakeup_customer(PutMessageStatus.PUT_OK if flushed else PutMessageStatus.FLUSH_DISK_TIMEOUT)
        _note_flushed(self._queue, self._checkpoint)
        self._requests_read = []

    def shutdown(self) -> None:
        """GroupCommitService#run after the stop: the round that was waited for, and one more 10 ms later."""
        self.run_once()
        self.run_once()


class FlushRealTimeService:
    """`CommitLog.FlushRealTimeService` (ASYNC_FLUSH): step `least_pages`, a sleep of 500 ms, step `flush`.

    flushCommitLogTimed is true: no put wakes the sleeper.
    """

    def __init__(
        self, queue: MappedFileQueue, checkpoint: Checkpoint, config: MessageStoreConfig, now_ms: Callable[[], int],
    ) -> None:
        """Begin with a thorough flush."""
        self._queue, self._checkpoint, self._config, self._now_ms = queue, checkpoint, config, now_ms
        self._last_flush_ms = 0
        self._decided: int | None = None

    def least_pages(self) -> int:
        """FlushRealTimeService#run before it sleeps: how many pages make a flush worth it; 0 every 10 s."""
        now_ms = self._now_ms()
        thorough = is_thorough_flush(now_ms, self._last_flush_ms, self._config.flush_commit_log_thorough_interval_ms)
        if thorough:
            self._last_flush_ms = now_ms
        self._decided = flush_least_pages(self._config.flush_commit_log_least_pages, thorough=thorough)
        return self._decided

    def pass_over(self) -> None:
        """Rounds were left out in which there was nothing to flush."""
        self._last_flush_ms = passed_over(
            self._last_flush_ms, self._now_ms(), self._config.flush_commit_log_thorough_interval_ms)

    def flush(self, least_pages: int) -> None:
        """FlushRealTimeService#run after it slept."""
        self._decided = None
        self._queue.flush(least_pages)
        _note_flushed(self._queue, self._checkpoint)

    def shutdown(self) -> None:
        """FlushRealTimeService#run after the stop: the flush that was slept before, and until nothing is left.

        Ten times at most.
        """
        if self._decided is not None:
            self.flush(self._decided)
        _until_unchanged(self._queue.flush)


class CommitRealTimeService:
    """`CommitLog.CommitRealTimeService` (transient pool): step `run_once`, after 200 ms or a put."""

    def __init__(self, queue: MappedFileQueue, config: MessageStoreConfig, now_ms: Callable[[], int]) -> None:
        """Begin with a thorough commit."""
        self._queue, self._config, self._now_ms = queue, config, now_ms
        self._last_commit_ms = 0

    def run_once(self) -> bool:
        """CommitRealTimeService#run, one round; True if something was committed: the flush service is woken then."""
        least_pages, begin_ms = self._config.commit_commit_log_least_pages, self._now_ms()
        if is_thorough_flush(begin_ms, self._last_commit_ms, self._config.commit_commit_log_thorough_interval_ms):
            self._last_commit_ms, least_pages = begin_ms, 0
        committed = not self._queue.commit(least_pages)
        if committed:
            self._last_commit_ms = self._now_ms()
        return committed

    def shutdown(self) -> None:
        """CommitRealTimeService#run after the stop: commit until nothing is left, ten times at most."""
        _until_unchanged(self._queue.commit)


def _until_unchanged(work: Callable[[int], bool]) -> None:
    for _ in range(RETRY_TIMES_OVER):
        if work(0):
            return
