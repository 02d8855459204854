"""`Store`: log and consume queues, counted in records and units (V2, V3, V4, V6, V7, V10, V26, V35, V36).

A record that clean-up has deleted keeps its cells, and no step reads them.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Ghost,
    Nat,
    Sort,
    State,
    Table,
    action,
    assume,
    every,
    exists,
    forall,
    initially,
    ite,
    promise,
    require,
)


class Queue(Sort):
    """A topic and a queue id of this broker."""


class Position(Nat):
    """A place in the log, counted in records."""


class QueueOffset(Nat):
    """A place in a queue, counted in units."""


class Phase(Choice):
    """How far a process of the store is."""

    DOWN: Phase          # there is none, or it has not read the log yet
    FOUND: Phase         # recovery has found the end of the log
    DISPATCHING: Phase   # … and where dispatch begins
    UP: Phase            # puts are accepted


class Store(State):
    """A log and its consume queues; a unit at or after the end of its queue means nothing."""

    phase: Phase
    dark: Bool                                        # the machine has lost its power since
    clean: Bool                                       # there is no file abort
    first: Position                                   # CommitLog#getMinOffset
    end: Position                                     # CommitLog#getMaxOffset
    flushed: Position                                 # MappedFileQueue#flushedWhere
    waits: Position                                   # GroupCommitRequest#nextOffset of the last put; 0 without one
    dispatched: Position                              # ReputMessageService#reputFromOffset
    durable: Table[Position, Bool]                    # the disk has the record
    readable: Table[Position, Bool]                   # CommitLog#checkMessageAndReturnSize
    queue_of: Table[Position, Queue]
    offset_of: Table[Position, QueueOffset]           # QUEUEOFFSET of the record
    next_offset: Table[Queue, QueueOffset]            # CommitLog#topicQueueTable
    least: Table[Queue, QueueOffset]                  # ConsumeQueue#getMinOffsetInQueue, before anything is deleted
    units: Table[Queue, QueueOffset]                  # ConsumeQueue#getMaxOffsetInQueue
    forced: Table[Queue, QueueOffset]                 # … of which the disk has so many
    unit: Table[tuple[Queue, QueueOffset], Position]  # the record that it names
    zeros: Table[Queue, Bool]                         # there is a file, and no unit in it
    ahead: Bool                                       # recovery has found a queue that ends with the log or behind it
    acked: Ghost[Position]                            # PUT_OK for all before, under SYNC_FLUSH
    kept: Ghost[Position]                             # no recovery has cut off what lies before
    torn: Ghost[Table[Position, Bool]]                # the record does not say what was put
    place: Ghost[Table[tuple[Queue, QueueOffset], Position]]  # where the record of this queue offset was put last


@initially
def blank(s: Store) -> Bool:
    """Nothing is stored, and the store is up."""
    return ((s.phase == Phase.UP) & ~s.dark & ~s.clean & (s.first == 0) & (s.end == 0) & (s.flushed == 0)
            & (s.waits == 0) & (s.dispatched == 0) & (s.acked == 0) & (s.kept == 0)
            & forall(~s.readable[p] for p in every(Position))
            & forall((s.next_offset[q] == 0) & (s.least[q] == 0) & (s.units[q] == 0) & (s.forced[q] == 0) & ~s.zeros[q]
                     for q in every(Queue)))


def has_unit(s: Store, p: Position) -> Bool:
    """The queue of a record is long enough to have its unit."""
    return s.offset_of[p] < s.units[s.queue_of[p]]


def unit_is_forced(s: Store, p: Position) -> Bool:
    """The unit of a record is on the disk."""
    return s.offset_of[p] < s.forced[s.queue_of[p]]


def lacks_a_unit(s: Store, p: Position) -> Bool:
    """A record was not dispatched, or its unit is not on the disk."""
    return (s.dispatched <= p) | ~unit_is_forced(s, p)


def stands(s: Store, q: Queue, i: QueueOffset) -> Bool:
    """The record of a queue offset is in the log, or was deleted by clean-up."""
    return (s.place[q, i] < s.end) & (s.queue_of[s.place[q, i]] == q) & (s.offset_of[s.place[q, i]] == i)


def is_cut_off(s: Store, q: Queue, i: QueueOffset) -> Bool:
    """A unit names what is behind the end of the log."""
    return (i < s.units[q]) & (s.end <= s.unit[q, i])


# A broker that runs ---------------------------------------------------------------------------------------------------


@action("CommitLog#asyncPutMessage", atomic_by="putMessageLock")
def append(s: Store, q: Queue) -> None:
    """A record is appended with the next offset of its queue, and its put waits for the flush."""
    require(s.phase == Phase.UP, by="DefaultMessageStore#checkStoreStatus")
    s.durable[s.end] = FALSE
    s.readable[s.end] = TRUE
    s.torn[s.end] = FALSE
    s.queue_of[s.end] = q
    s.offset_of[s.end] = s.next_offset[q]
    s.place[q, s.next_offset[q]] = s.end
    s.next_offset[q] = s.next_offset[q] + 1
    s.kept = s.end + 1
    s.waits = s.end + 1
    s.end = s.end + 1


@action("ReputMessageService#doReput, ConsumeQueue#putMessagePositionInfo")
def dispatch(s: Store) -> None:
    """The next record gets a unit at the end of its queue, unless it has one; a queue without a file begins with it."""
    require((s.phase == Phase.UP) | (s.phase == Phase.DISPATCHING), by="DefaultMessageStore#start")
    require(s.first <= s.dispatched, s.dispatched < s.end, by="ReputMessageService#isCommitLogAvailable")
    q = s.queue_of[s.dispatched]
    behind = (s.units[q] > 0) & (s.dispatched <= s.unit[q, s.units[q] - 1])
    new = ~behind & (~has_unit(s, s.dispatched) | (s.offset_of[s.dispatched] == 0))
    begins = (s.units[q] == 0) & ~s.zeros[q]
    at = ite(begins, s.offset_of[s.dispatched], s.units[q])
    s.unit[q, at] = ite(new, s.dispatched, s.unit[q, at])
    s.least[q] = ite(begins, at, s.least[q])
    s.units[q] = ite(new, at + 1, s.units[q])
    s.zeros[q] = s.zeros[q] & ~new
    s.dispatched = s.dispatched + 1


def force_from(s: Store, start: Position) -> None:
    """The log is forced from here on."""
    s.flushed = s.end
    for p in every(Position):
        s.durable[p] = s.durable[p] | ((start <= p) & (p < s.end))


@action("MappedFileQueue#flush")
def flush(s: Store) -> None:
    """The log is forced."""
    require(s.phase == Phase.UP, s.flushed < s.end, by="MappedFile#isAbleToFlush")
    force_from(s, Position.of(0))


@action("MappedFileQueue#flush: from the file of flushedWhere on")
def flush_newer(s: Store) -> None:
    """What was there at the start counts as flushed; older files of it that nobody has forced are not forced (V36)."""
    require(s.phase == Phase.UP, s.flushed < s.end, by="MappedFile#isAbleToFlush")
    require(s.flushed > 0, by="MappedFileQueue#findMappedFileByOffset")
    force_from(s, s.flushed - 1)


@action("MappedFile#flush: force throws")
def flush_in_vain(s: Store) -> None:
    """The force fails; it is logged, and the log counts as flushed (V6)."""
    require(s.phase == Phase.UP, s.flushed < s.end, by="MappedFile#isAbleToFlush")
    s.flushed = s.end


@action("GroupCommitService#doCommit")
def acknowledge(s: Store) -> None:
    """Who waits for the flush gets PUT_OK."""
    require(s.phase == Phase.UP, s.waits > 0, s.waits <= s.flushed, by="GroupCommitService#doCommit")
    s.acked = s.waits
    s.waits = Position.of(0)


@action("FlushConsumeQueueService#doFlush")
def flush_queue(s: Store, q: Queue) -> None:
    """A consume queue is forced."""
    require(s.phase == Phase.UP, s.forced[q] < s.units[q], by="MappedFile#isAbleToFlush")
    s.forced[q] = s.units[q]


@action("MappedFileQueue#deleteExpiredFileByTime")
def expire(s: Store) -> None:
    """The oldest record is deleted, when its unit is on the disk."""
    require(s.phase == Phase.UP, s.first + 1 < s.end, by="MappedFileQueue#deleteExpiredFileByTime")
    require(~lacks_a_unit(s, s.first))
    s.first = s.first + 1


@action("MappedFileQueue#deleteExpiredFileByTime")
def expire_early(s: Store) -> None:
    """The oldest record is deleted, though it was not dispatched, or its unit is not on the disk (V35)."""
    require(s.phase == Phase.UP, s.first + 1 < s.end, by="MappedFileQueue#deleteExpiredFileByTime")
    require(lacks_a_unit(s, s.first))
    s.first = s.first + 1


@action("ReputMessageService#doReput: reputFromOffset is smaller than the log's minimum")
def pass_over(s: Store) -> None:
    """Dispatch goes on with the first record that there still is."""
    require(s.phase == Phase.UP, s.dispatched < s.first, by="ReputMessageService#doReput")
    s.dispatched = s.first


@action("DefaultMessageStore#shutdown")
def stop(s: Store) -> None:
    """An orderly stop flushes everything, and deletes the file abort."""
    require(s.phase == Phase.UP, s.dispatched == s.end, by="DefaultMessageStore#shutdown")
    s.phase = Phase.DOWN
    s.clean = TRUE
    s.waits = Position.of(0)
    force_from(s, Position.of(0))
    for q in every(Queue):
        s.forced[q] = s.units[q]


# What happens to it ---------------------------------------------------------------------------------------------------


@action("kill -9", environment=True)
def kill(s: Store) -> None:
    """The process ends; what it has written stays."""
    require(s.phase != Phase.DOWN, by="kill(2)")
    s.phase = Phase.DOWN
    s.waits = Position.of(0)


@action("power loss", environment=True)
def lose_power(s: Store) -> None:
    """The machine is off; what was not forced may be gone."""
    require(~s.dark, by="fsync(2)")
    s.phase = Phase.DOWN
    s.dark = TRUE
    s.waits = Position.of(0)


@action("power loss", environment=True)
def lose_record(s: Store, p: Position) -> None:
    """A record was not forced, and is gone; what lies behind it may be there."""
    require(s.dark, p < s.end, ~s.durable[p], by="fsync(2)")
    s.readable[p] = FALSE


@action("power loss: a page of a record is left", environment=True)
def tear(s: Store, p: Position) -> None:
    """Of a record that was not forced its body is there, and what stands beside it is not (V7)."""
    require(s.dark, p < s.end, ~s.durable[p], by="fsync(2)")
    s.torn[p] = TRUE


@action("power loss", environment=True)
def lose_unit(s: Store, q: Queue) -> None:
    """The last unit of a queue was not forced, and is gone; more are lost in more such steps."""
    require(s.dark, s.forced[q] < s.units[q], by="fsync(2)")
    require(s.units[q] > s.least[q] + 1, by="fsync(2)")
    s.units[q] = s.units[q] - 1


@action("power loss", environment=True)
def lose_only_unit(s: Store, q: Queue) -> None:
    """The only unit of a queue was not forced, and is gone; its file has zeros."""
    require(s.dark, s.forced[q] < s.units[q], s.units[q] == s.least[q] + 1, by="fsync(2)")
    s.zeros[q] = TRUE
    s.units[q] = s.least[q]


@action("power loss: the name of the file abort", environment=True)
def lose_abort(s: Store) -> None:
    """The file abort is never forced, and gone: the last stop looks like an orderly one (V26)."""
    require(s.dark, ~s.clean, by="fsync(2)")
    s.clean = TRUE


@action("a bit that turns on the disk", environment=True)
def rot(s: Store, p: Position) -> None:
    """A record that was forced cannot be read any more (V2)."""
    require(s.phase == Phase.DOWN, s.first <= p, p < s.end, s.durable[p], by="read(2)")
    s.readable[p] = FALSE


# Start ----------------------------------------------------------------------------------------------------------------


def ends_at(s: Store, p: Position) -> Bool:
    """Recovery reads the log up to here."""
    return (s.first <= p) & ~s.readable[p] & forall(((s.first <= x) & (x < p)).implies(s.readable[x])
                                                    for x in every(Position))


def cut(s: Store, p: Position) -> None:
    """CommitLog#recoverNormally, #recoverAbnormally: the log ends here, and counts as flushed."""
    s.phase = Phase.FOUND
    s.dark = FALSE
    s.flushed = p
    s.ahead = exists((i < s.units[q]) & (p <= s.unit[q, i] + 1) for q, i in every(Queue, QueueOffset))
    s.kept = ite(p <= s.end, p, s.kept)
    s.end = p


@action("CommitLog#recoverAbnormally, #recoverNormally, MappedFileQueue#truncateDirtyFiles")
def recover(s: Store, p: Position) -> None:
    """The log ends before the first record that cannot be read; the bytes of those behind it stay."""
    require(s.phase == Phase.DOWN, ends_at(s, p), by="CommitLog#checkMessageAndReturnSize")
    require(p <= s.end)
    cut(s, p)


@action("CommitLog#recoverAbnormally, #recoverNormally, MappedFileQueue#truncateDirtyFiles")
def recover_more(s: Store, p: Position) -> None:
    """Records behind the last end can be read, which an earlier recovery has cut off (V4)."""
    require(s.phase == Phase.DOWN, ends_at(s, p), by="CommitLog#checkMessageAndReturnSize")
    require(~(p <= s.end))
    cut(s, p)


@promise
def checkpoint_is_true(s: Store, start: Position) -> Bool:
    """What was put before the checkpoint's time has its units on the disk."""
    return forall(((s.first <= p) & (p < start)).implies(has_unit(s, p)) for p in every(Position))


@action("CommitLog#recoverAbnormally")
def dispatch_again(s: Store, start: Position) -> None:
    """After a crash recovery dispatches what was put since the checkpoint; a file of the log is where it begins."""
    require(s.phase == Phase.FOUND, ~s.clean, by="DefaultMessageStore#isTempFileExist")
    require((s.first <= start) & (start < s.end) | (start == s.first), by="CommitLog#isMappedFileMatchedRecover")
    require((start <= s.dispatched) | (start <= s.first),
            by="DefaultMessageStore#doDispatch, StoreCheckpoint#getMinTimestamp")
    assume(checkpoint_is_true, s, start)
    s.phase = Phase.DISPATCHING
    s.dispatched = start


def is_greatest(s: Store, m: Position) -> Bool:
    """DefaultMessageStore#start: some queue has what lies just before, or none has anything; none has more."""
    return (forall((i < s.units[q]).implies((s.unit[q, i] < m) | (s.end <= s.unit[q, i]))
                   for q, i in every(Queue, QueueOffset))
            & ((m == s.first)
               | exists((i < s.units[q]) & (s.unit[q, i] + 1 == m) for q, i in every(Queue, QueueOffset))))


@action("DefaultMessageStore#start")
def dispatch_on(s: Store, m: Position) -> None:
    """After an orderly stop dispatch goes on behind the greatest record that some queue has."""
    require(s.phase == Phase.FOUND, s.clean, by="DefaultMessageStore#isTempFileExist")
    require(s.first <= m, m <= s.end, is_greatest(s, m), by="DefaultMessageStore#start")
    s.phase = Phase.DISPATCHING
    s.dispatched = m


@action("ConsumeQueue#truncateDirtyLogicFiles")
def truncate_unit(s: Store, q: Queue) -> None:
    """A unit that names no record any more is cut off."""
    require(s.phase == Phase.DISPATCHING, s.units[q] > 0, is_cut_off(s, q, s.units[q] - 1),
            by="ConsumeQueue#truncateDirtyLogicFiles")
    s.forced[q] = ite(s.forced[q] < s.units[q], s.forced[q], s.units[q] - 1)
    s.units[q] = s.units[q] - 1


@action("ConsumeQueue#truncateDirtyLogicFiles: the first unit of a file")
def keep_zeros(s: Store, q: Queue) -> None:
    """When some queue has the end of the log, a queue whose file has zeros gets a unit that names no record (V3)."""
    require(s.phase == Phase.DISPATCHING, s.dispatched == s.end, ~s.clean, by="CommitLog#recoverAbnormally")
    require(s.zeros[q], s.units[q] == 0, s.ahead, by="ConsumeQueue#truncateDirtyLogicFiles")
    s.unit[q, s.units[q]] = Position.of(0)
    s.units[q] = s.units[q] + 1
    s.zeros[q] = FALSE


@action("DefaultMessageStore#start, #recoverTopicQueueTable, #createTempFile")
def resume(s: Store) -> None:
    """The broker is up again, and numbers its records by what its queues have."""
    require(s.phase == Phase.DISPATCHING, s.dispatched == s.end, by="DefaultMessageStore#start")
    require(forall(~is_cut_off(s, q, i) for q, i in every(Queue, QueueOffset)),
            by="ConsumeQueue#truncateDirtyLogicFiles")
    s.phase = Phase.UP
    s.clean = FALSE
    for q in every(Queue):
        s.next_offset[q] = s.units[q]
