"""One broker's log, its consume queues, flush, crash and recovery."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Ghost,
    Nat,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    ite,
    require,
)


class Queue(Sort):
    """A (topic, queue id) of this broker."""


class LogPosition(Nat):
    """A record's place in the log, counted in records."""


class QueueOffset(Nat):
    """A place in one queue, counted in units."""


class Store(State):
    """A log and its consume queues; a cell at or after an end means nothing."""

    up: Bool
    scanned: Bool                                         # recovery has chosen where dispatch starts again
    end: LogPosition                                      # wrote position
    flushed: LogPosition                                  # forced
    dispatched: LogPosition                               # reputFromOffset
    queue_of: Table[LogPosition, Queue]
    offset_of: Table[LogPosition, QueueOffset]            # QUEUEOFFSET field of the record
    next_offset: Table[Queue, QueueOffset]                # topicQueueTable; volatile
    units: Table[Queue, QueueOffset]                      # consume queue: max offset
    forced: Table[Queue, QueueOffset]
    unit: Table[tuple[Queue, QueueOffset], LogPosition]
    acked: LogPosition                                    # every record below was acknowledged under SYNC_FLUSH
    count: Ghost[Table[Queue, QueueOffset]]               # records of the queue in the log
    place: Ghost[Table[tuple[Queue, QueueOffset], LogPosition]]  # where the i-th record of a queue lies


@initially
def blank(s: Store) -> Bool:
    """Nothing is stored."""
    return (s.up & s.scanned & (s.end == 0) & (s.flushed == 0) & (s.dispatched == 0) & (s.acked == 0)
            & forall((s.next_offset[q] == 0) & (s.units[q] == 0) & (s.forced[q] == 0) & (s.count[q] == 0)
                     for q in every(Queue)))


@action("CommitLog#asyncPutMessage", atomic_by="putMessageLock")
def append(s: Store, q: Queue) -> None:
    """A record is appended with the next offset of its queue."""
    require(s.up)
    s.queue_of[s.end] = q
    s.offset_of[s.end] = s.next_offset[q]
    s.place[q, s.count[q]] = s.end
    s.count[q] = s.count[q] + 1
    s.next_offset[q] = s.next_offset[q] + 1
    s.end = s.end + 1


@action("ReputMessageService#doReput")
def dispatch(s: Store) -> None:
    """A record gets its unit; what is there already is skipped."""
    require(s.scanned, s.dispatched < s.end)
    q, offset = s.queue_of[s.dispatched], s.offset_of[s.dispatched]
    new = s.units[q] <= offset
    s.unit[q, s.units[q]] = ite(new, s.dispatched, s.unit[q, s.units[q]])
    s.units[q] = ite(new, s.units[q] + 1, s.units[q])
    s.dispatched = s.dispatched + 1


@action("MappedFile#flush")
def flush(s: Store) -> None:
    """The log is forced."""
    require(s.flushed < s.end)
    s.flushed = s.end


@action("GroupCommitService#doCommit")
def acknowledge(s: Store) -> None:
    """What is forced is acknowledged."""
    require(s.up, s.acked < s.flushed)
    s.acked = s.flushed


@action("ConsumeQueue#flush")
def flush_queue(s: Store, q: Queue) -> None:
    """A consume queue is forced."""
    require(s.forced[q] < s.units[q])
    s.forced[q] = s.units[q]


@action("power loss", environment=True)
def crash(s: Store) -> None:
    """The machine is off; now the page cache is lost, one record or unit at a time."""
    require(s.up)
    s.up = FALSE
    s.scanned = FALSE


@action("power loss", environment=True)
def lose_record(s: Store) -> None:
    """The last record was in the page cache only."""
    require(~s.up, ~s.scanned, s.flushed < s.end)
    last = s.end - 1
    q = s.queue_of[last]
    s.place.forget((q, s.count[q] - 1))
    s.count[q] = s.count[q] - 1
    s.queue_of.forget(last)
    s.offset_of.forget(last)
    s.end = last


@action("power loss", environment=True)
def lose_unit(s: Store, q: Queue) -> None:
    """The last unit was in the page cache only."""
    require(~s.up, ~s.scanned, s.forced[q] < s.units[q])
    s.unit.forget((q, s.units[q] - 1))
    s.units[q] = s.units[q] - 1


@action("ConsumeQueue#truncateDirtyLogicFiles")
def truncate_unit(s: Store, q: Queue) -> None:
    """A unit that names no record any more is cut off."""
    require(~s.up, ~s.scanned, s.units[q] > 0, s.end <= s.unit[q, s.units[q] - 1])
    last = s.units[q] - 1
    s.forced[q] = ite(s.forced[q] <= last, s.forced[q], last)
    s.unit.forget((q, last))
    s.units[q] = last


@action("CommitLog#recoverAbnormally")
def rescan(s: Store, start: LogPosition) -> None:
    """Dispatch starts again at a position before which no unit is missing (the checkpoint is assumed right)."""
    require(~s.up, ~s.scanned, start <= s.end)
    require(forall((i < s.units[q]).implies(s.unit[q, i] < s.end) for q, i in every(Queue, QueueOffset)))
    require(forall(((p < start) & (s.queue_of[p] == q)).implies(s.offset_of[p] < s.units[q])
                   for p, q in every(LogPosition, Queue)))
    s.dispatched = start
    s.scanned = TRUE


@action("DefaultMessageStore#start")
def resume(s: Store) -> None:
    """The broker is up again; the queue table is made from the consume queues."""
    require(~s.up, s.scanned, s.dispatched == s.end)
    s.up = TRUE
    for q in every(Queue):
        s.next_offset[q] = s.units[q]


@always(shipped="holds")
def unit_names_its_record(s: Store) -> Bool:
    """Unit i of a queue points at the record of that queue whose queue offset is i."""
    return forall((s.up & (i < s.units[q])).implies(
        (s.unit[q, i] < s.end) & (s.queue_of[s.unit[q, i]] == q) & (s.offset_of[s.unit[q, i]] == i))
        for q, i in every(Queue, QueueOffset))


@always(shipped="holds")
def no_record_is_missed(s: Store) -> Bool:
    """Every record below the dispatch position is in its consume queue."""
    return forall((s.up & (p < s.dispatched) & (s.queue_of[p] == q)).implies(
        (s.offset_of[p] < s.units[q]) & (s.unit[q, s.offset_of[p]] == p)) for p, q in every(LogPosition, Queue))


@always(shipped="violated: V6 force fails")
def acknowledged_survives(s: Store) -> Bool:
    """Under SYNC_FLUSH no acknowledged record is lost."""
    return s.acked <= s.end
