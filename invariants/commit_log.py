"""What is promised of a broker's store: what was acknowledged survives, queues and index lead to what the log has."""

from __future__ import annotations

from model.commit_log.index import Index
from model.commit_log.store import (
    Phase,
    Position,
    Queue,
    QueueOffset,
    Store,
    checkpoint_is_true,
    has_unit,
    stands,
    unit_is_forced,
)
from model.language import Bool, every, exists, forall
from model.language.mutations import drop_assignment, drop_condition, drop_guard
from model.language.properties import always, lemma, lemma_given, never, sometimes

killed_files_are_forced = never("flush_newer", name="killed_files_are_forced",
                                because="What a killed process had not forced is forced by the next one.")
forces_are_true = never("flush_in_vain", name="forces_are_true", because="A force that fails does not count.")
records_stay_readable = never("rot", name="records_stay_readable", because="What was forced can be read for ever.")
cut_off_records_are_gone = never("recover_more", name="cut_off_records_are_gone",
                                 because="Of what a recovery has cut off nothing can be read again.")
records_are_whole = never("tear", name="records_are_whole",
                          because="A record of which a page is lost cannot be read.")
abort_is_forced = never("lose_abort", name="abort_is_forced", because="The file abort survives a loss of power.")
zeros_are_no_units = never("keep_zeros", name="zeros_are_no_units", because="A file of zeros has no unit.")
clean_up_waits = never("expire_early", name="clean_up_waits",
                       because="No record is deleted before its unit is on the disk.")
index_starts_in_time = never("load_late", name="index_starts_in_time",
                             because="With messageIndexSafe recovery begins before what the index has lost.")
stopped_index_is_forced = never("darken_stopped", name="stopped_index_is_forced",
                                because="What an orderly stop leaves of the index is on the disk.")


# The log --------------------------------------------------------------------------------------------------------------


@lemma
def positions_are_in_order(s: Store) -> Bool:
    """Nothing behind the end of the log was flushed, forced or dispatched; nobody waits for a store that is not up."""
    return ((s.first <= s.end) & (s.flushed <= s.end) & (s.waits <= s.end)
            & ((s.phase == Phase.UP) | (s.waits == 0)) & s.dark.implies(s.phase == Phase.DOWN)
            & ((s.phase == Phase.UP) | (s.phase == Phase.DISPATCHING)).implies(s.dispatched <= s.end)
            & forall(s.forced[q] <= s.units[q] for q in every(Queue)))


@lemma_given(cut_off_records_are_gone)
def cut_off_records_are_unreadable(s: Store) -> Bool:
    """No recovery has cut off a record of the log."""
    return s.end <= s.kept


@lemma_given(forces_are_true, killed_files_are_forced)
def flushed_records_are_on_the_disk(s: Store) -> Bool:
    """What a put waits for is on the disk when it counts as flushed."""
    return (s.waits <= s.flushed).implies(forall((p < s.waits).implies(s.durable[p]) for p in every(Position)))


@lemma_given(forces_are_true, killed_files_are_forced, records_stay_readable)
def acknowledged_records_are_on_the_disk(s: Store) -> Bool:
    """The disk has what was acknowledged; what it has can be read."""
    return (s.acked <= s.end) & forall(
        (p < s.acked).implies(s.durable[p])
        & ((s.first <= p) & (p < s.end) & (s.durable[p] | (s.phase != Phase.DOWN))).implies(s.readable[p])
        for p in every(Position))


@always(shipped="violated: V2 one bad record, V6 a force has failed, V36 a start forces nothing",
        given=(forces_are_true, killed_files_are_forced, records_stay_readable),
        broken_by=(drop_assignment("flush", "durable"), drop_guard("acknowledge", 2)))
def acknowledged_survives_crash(s: Store) -> Bool:
    """No recovery cuts off a record that was acknowledged under SYNC_FLUSH."""
    return s.acked <= s.end


@always(shipped="violated: V4 the bytes behind the end stay, V7 only bodies are checked",
        given=(cut_off_records_are_gone, records_are_whole),
        broken_by=(drop_assignment("recover", "end"),))
def recovery_is_a_prefix(s: Store) -> Bool:
    """The log has records as they were put, and none that a recovery has cut off."""
    return (s.end <= s.kept) & forall(((s.first <= p) & (p < s.end)).implies(~s.torn[p]) for p in every(Position))


# The queues -----------------------------------------------------------------------------------------------------------


def dispatches(s: Store) -> Bool:
    """There is a place where dispatch goes on."""
    return (s.phase == Phase.UP) | (s.phase == Phase.DISPATCHING)


def deleted_was_dispatched(s: Store) -> Bool:
    """Dispatch is not behind the first record that there still is."""
    return dispatches(s).implies(s.first <= s.dispatched)


@always(shipped="violated: V35 clean-up of a full disk", given=(clean_up_waits,), excludes=("pass_over",),
        broken_by=(drop_guard("expire", 2), drop_guard("dispatch_again", 2)))
def cleanup_stays_behind_dispatch(s: Store) -> Bool:
    """Nothing is deleted that was not dispatched."""
    return deleted_was_dispatched(s)


IN_ORDER = (cut_off_records_are_gone, zeros_are_no_units, abort_is_forced, checkpoint_is_true, clean_up_waits)
_EXCLUDED = ("pass_over",)


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def records_have_a_place(s: Store) -> Bool:
    """No queue offset has two records."""
    return forall((p < s.end).implies(s.place[s.queue_of[p], s.offset_of[p]] == p) for p in every(Position))


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def records_follow_one_another(s: Store) -> Bool:
    """Of a queue's records the smaller queue offsets are there, too, and lie before."""
    return forall(((p < s.end) & (i < s.offset_of[p])).implies(
        stands(s, s.queue_of[p], i) & (s.place[s.queue_of[p], i] < p)) for p, i in every(Position, QueueOffset))


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def units_name_places(s: Store) -> Bool:
    """A unit names the place where the record of its queue offset was put, unless that is cut off."""
    return forall((i < s.units[q]).implies(
        (s.unit[q, i] == s.place[q, i])
        & ((s.unit[q, i] < s.end) | (s.phase == Phase.UP)).implies(stands(s, q, i)))
        for q, i in every(Queue, QueueOffset))


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def queues_begin_at_0(s: Store) -> Bool:
    """Each queue has its first unit at 0."""
    return forall(s.least[q] == 0 for q in every(Queue))


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def next_offset_is_behind_the_units(s: Store) -> Bool:
    """The next record of a queue comes behind its units, and all records but it stand before."""
    return (s.phase == Phase.UP).implies(forall(
        (s.units[q] <= s.next_offset[q]) & ~stands(s, q, s.next_offset[q])
        & forall((i < s.next_offset[q]).implies(stands(s, q, i)) for i in every(QueueOffset)) for q in every(Queue)))


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def the_first_missing_unit_is_ahead(s: Store) -> Bool:
    """The first record of a queue without a unit is not dispatched yet."""
    return dispatches(s).implies(forall(
        stands(s, q, s.units[q]).implies(s.dispatched <= s.place[q, s.units[q]]) for q in every(Queue)))


@lemma_given(*IN_ORDER, excludes=_EXCLUDED)
def dispatched_records_have_units(s: Store) -> Bool:
    """What was dispatched, and what was deleted, has a unit; after an orderly stop all has one, on the disk."""
    return (deleted_was_dispatched(s)
            & forall((p < s.first).implies(unit_is_forced(s, p)) for p in every(Position))
            & dispatches(s).implies(forall((p < s.dispatched).implies(has_unit(s, p)) for p in every(Position)))
            & (s.phase == Phase.UP).implies(~s.clean)
            & s.clean.implies(forall((p < s.end).implies(has_unit(s, p)) for p in every(Position))
                              & forall(s.forced[q] == s.units[q] for q in every(Queue))))


@always(shipped="violated: V3 zeros, V4 old bytes, V10 the checkpoint, V35 clean-up", given=IN_ORDER,
        excludes=_EXCLUDED, broken_by=(drop_assignment("dispatch", "unit"), drop_condition("dispatch", "units")))
def unit_names_its_record(s: Store) -> Bool:
    """Each unit of a queue that leads into the log leads to the record of that queue with this queue offset."""
    return forall(((s.phase == Phase.UP) & (s.least[q] <= i) & (i < s.units[q]) & (s.first <= s.unit[q, i])).implies(
        (s.unit[q, i] < s.end) & (s.queue_of[s.unit[q, i]] == q) & (s.offset_of[s.unit[q, i]] == i))
        for q, i in every(Queue, QueueOffset))


@always(shipped="violated: V3 zeros, V4 old bytes, V10 the checkpoint, V26 the file abort, V35 clean-up",
        given=IN_ORDER, excludes=_EXCLUDED,
        broken_by=(drop_assignment("dispatch", "units"),))
def no_record_is_missed(s: Store) -> Bool:
    """Each record of the log that was dispatched has its unit."""
    return forall(((s.phase == Phase.UP) & (s.first <= p) & (p < s.dispatched)).implies(
        has_unit(s, p) & (s.unit[s.queue_of[p], s.offset_of[p]] == p)) for p in every(Position))


@always(shipped="violated: V3 zeros, V4 old bytes, V10 the checkpoint, V26 the file abort, V35 clean-up",
        given=IN_ORDER, excludes=_EXCLUDED,
        broken_by=(drop_assignment("append", "next_offset"), drop_guard("resume", 1)))
def queue_offsets_are_consecutive(s: Store) -> Bool:
    """Each queue offset before the next one was given to one record that stands, and no other one was given."""
    return (s.phase == Phase.UP).implies(forall(
        (i < s.next_offset[q]) == stands(s, q, i) for q, i in every(Queue, QueueOffset)))


@sometimes
def a_start_finds_what_was_not_forced(s: Store) -> Bool:
    """A store is up after a kill, and counts as flushed what is not on the disk."""
    return (s.phase == Phase.UP) & exists((p < s.flushed) & ~s.durable[p] for p in every(Position))


# The index ------------------------------------------------------------------------------------------------------------


@lemma_given(index_starts_in_time, stopped_index_is_forced)
def safe_entries_stay(s: Index) -> Bool:
    """What lies in full files has its entries; the rest has, too, unless the machine is off."""
    return ((s.safe <= s.end) & (s.built <= s.end) & s.clean.implies(~s.up) & s.dark.implies(~s.up & ~s.clean)
            & forall(((p < s.safe) | ((p < s.built) & (s.up | s.clean))).implies(s.entry[p]) for p in every(Position)))


@always(shipped="violated: V13 the index begins anew too late, V27 a stop forces nothing",
        given=(index_starts_in_time, stopped_index_is_forced), broken_by=(drop_assignment("build", "entry"),))
def key_is_found(s: Index) -> Bool:
    """The index has the keys of each record that was dispatched."""
    return s.up.implies(forall((p < s.built).implies(s.entry[p]) for p in every(Position)))


@sometimes
def an_index_has_a_full_file(s: Index) -> Bool:
    """An index has a file that is full, and one that is not."""
    return s.up & (s.safe > 0) & (s.safe < s.built) & exists(s.entry[p] & (s.safe <= p) for p in every(Position))
