"""Bugs of flush and clean-up, and of what brokers say of a flush."""

from __future__ import annotations

from collections.abc import Callable

from impl.broker import put_message_answer
from impl.common.headers import SendMessageResponseHeader
from impl.common.request_code import ResponseCode
from impl.decisions import disk_cleanup
from impl.decisions.disk_cleanup import is_file_deleted, may_delete_another
from impl.ports.remoting import Command
from impl.store.consume_queue import ConsumeQueue
from impl.store.default_message_store import DefaultMessageStore
from impl.store.flush_commit_log_service import FlushRealTimeService, GroupCommitService, _note_flushed
from impl.store.mapped_file import MappedFile
from impl.store.mapped_file_queue import MappedFileQueue
from impl.store.put_message_result import PutMessageResult
from impl.store.put_message_status import PutMessageStatus
from impl.store.store_tables import StoreTables
from impl.variants.variant import Replacement, Variant, around, replace


@replace(GroupCommitService, "do_commit")
def _ok_when_it_was_tried(self: GroupCommitService) -> None:
    """Whoever waits is woken, and takes that for success."""
    if not self._requests_read:
        self._queue.flush(0)
        return
    for request in self._requests_read:
        for _ in range(2):
            if self._queue.flushed_where < request.next_offset:
                self._queue.flush(0)
        request.wakeup_customer(PutMessageStatus.PUT_OK)
    _note_flushed(self._queue, self._checkpoint)
    self._requests_read = []


@around(DefaultMessageStore, "shutdown")
def _leave_the_mark(original: Callable[[DefaultMessageStore], None]) -> Callable[[DefaultMessageStore], None]:
    def shutdown(self: DefaultMessageStore) -> None:
        """The file stays that is there while a broker runs."""
        original(self)
        self.disk.open(self.config.abort_file).close()

    return shutdown


@replace(FlushRealTimeService, "flush")
def _count_what_is_written(self: FlushRealTimeService, least_pages: int) -> None:
    """What is written counts as flushed, and nothing is forced."""
    del least_pages
    self._decided = None
    self._queue.flushed_where = self._queue.get_max_offset()
    _note_flushed(self._queue, self._checkpoint)


@replace(GroupCommitService, "do_commit")
def _look_before_the_flush(self: GroupCommitService) -> None:
    """Whether a record is flushed is asked before each flush, and not behind the last."""
    if not self._requests_read:
        self._queue.flush(0)
        return
    for request in self._requests_read:
        flushed = False
        for _ in range(2):
            flushed = self._queue.flushed_where >= request.next_offset
            if not flushed:
                self._queue.flush(0)
        request.wakeup_customer(PutMessageStatus.PUT_OK if flushed else PutMessageStatus.FLUSH_DISK_TIMEOUT)
    _note_flushed(self._queue, self._checkpoint)
    self._requests_read = []


@around(GroupCommitService, "do_commit")
def _forget_who_came_meanwhile(original: Callable[[GroupCommitService], None]) -> Callable[[GroupCommitService], None]:
    def do_commit(self: GroupCommitService) -> None:
        """There is one list, which is empty when the force has ended."""
        original(self)
        self._requests_write = []

    return do_commit


@replace(MappedFileQueue, "delete_expired_file_by_time")
def _pass_over_the_young(
    self: MappedFileQueue, expired_ms: int, interval_forcibly_ms: int, clean_immediately: bool,
) -> int:
    """A file that is not expired is passed over, and those behind it are looked at."""
    removed: list[MappedFile] = []
    for place, mapped_file in enumerate(self.mapped_files):
        if not may_delete_another(place, len(self.mapped_files), len(removed)):
            break
        modified_ms = mapped_file.last_modified_timestamp()
        expired = is_file_deleted(self.now_ms(), modified_ms, expired_ms, clean_at_once=clean_immediately)
        if expired and mapped_file.destroy(interval_forcibly_ms):
            removed.append(mapped_file)
    self._remove(removed)
    return len(removed)


@replace(disk_cleanup, "least_percent")
def _least_of_nothing(percents: list[int]) -> int:
    """The least is looked for from an impossible value on."""
    return min([-1, *percents])


@around(MappedFileQueue, "delete_expired_file_by_offset")
def _look_at_the_first_unit(original: Callable[..., int]) -> Callable[..., int]:
    def delete_expired_file_by_offset(self: MappedFileQueue, offset: int, unit_size: int) -> int:
        """A file counts as expired when its first unit has."""
        del unit_size
        return original(self, offset, self.mapped_file_size)

    return delete_expired_file_by_offset


def _says_success_of(status: PutMessageStatus) -> Replacement:
    @around(put_message_answer, "put_message_answer")
    def _says_success(original: Callable[..., Command]) -> Callable[..., Command]:
        def put_message_answer(
            result: PutMessageResult, header: SendMessageResponseHeader, queue_id: int, store: StoreTables,
        ) -> Command:
            """A put whose time is over has been made all the same."""
            answer = original(result, header, queue_id, store)
            return answer._replace(code=ResponseCode.SUCCESS) if result.status is status else answer

        return put_message_answer

    return _says_success


@replace(ConsumeQueue, "correct_min_offset")
def _begin_with_the_file(self: ConsumeQueue, phy_min_offset: int) -> None:
    """A queue begins where its first file begins."""
    del phy_min_offset
    first = self.mapped_file_queue.first_mapped_file()
    if first is not None:
        self.min_logic_offset = first.file_from_offset


_IDEA = "an idea: faults of other stores"

BUGS = (
    Variant("fl-timeout-is-ok", "bug", "Whoever waits for the disk takes any answer for success.",
            "RocketMQ 3.2, aa530b4886", replacements=(_ok_when_it_was_tried,)),
    Variant("fl-error-swallowed", "bug", "What a force has failed to write counts as flushed.",
            "apache/rocketmq #2706", undoes=("failed_force_is_no_flush",)),
    Variant("fl-second-flush-unchecked", "bug", "What the second of two flushes has done is not looked at.",
            "apache/rocketmq #3408", replacements=(_look_before_the_flush,)),
    Variant("cl-delete-middle", "bug", "Clean-up passes over a file that is too young, and deletes those behind it.",
            "ROCKETMQ-321", replacements=(_pass_over_the_young,)),
    Variant("cl-multipath-ratio", "bug", "The least usage of several disks is that of none.",
            "apache/rocketmq 9b0e31e469", replacements=(_least_of_nothing,)),
    Variant("seeded-written-is-flushed", "bug", "ASYNC_FLUSH takes what is written for flushed, and forces nothing.",
            "an idea: a port that leaves it to the operating system", replacements=(_count_what_is_written,)),
    Variant("seeded-every-end-is-a-crash", "bug", "What shows that a broker runs stays when it is shut down.", _IDEA,
            replacements=(_leave_the_mark,)),
    Variant("seeded-queue-files-expire-early", "bug", "A file of a queue goes when its first record has gone.", _IDEA,
            replacements=(_look_at_the_first_unit,)),
    Variant("seeded-queues-begin-with-their-file", "bug", "A queue begins with its first file, whatever the log has "
            "lost of that.", _IDEA, replacements=(_begin_with_the_file,)),
    Variant("seeded-commit-forgets-newcomers", "bug", "Who puts while the log is forced is not answered.", _IDEA,
            replacements=(_forget_who_came_meanwhile,)),
    Variant("seeded-disk-time-out-is-success", "bug", "A put that waits for the disk in vain is answered SUCCESS.",
            _IDEA, replacements=(_says_success_of(PutMessageStatus.FLUSH_DISK_TIMEOUT),)),
    Variant("seeded-slave-time-out-is-success", "bug", "A put that waits for slaves in vain is answered SUCCESS.",
            _IDEA, replacements=(_says_success_of(PutMessageStatus.FLUSH_SLAVE_TIMEOUT),)),
)
