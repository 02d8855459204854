"""What is promised of replication: slaves have the master's log, and what was acknowledged is on one of them."""

from __future__ import annotations

from model.language import Bool, Rank, every, exists, forall, helps, ite, ranking
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma, lemma_given, never, sometimes
from model.replication import Message, Position, Replicas, Slave, has_copy, stands, transfer

sent_is_forced = never("lose_sent", name="sent_is_forced",
                       because="What a slave has was forced at the master, or survives there.")
slaves_keep_their_logs = never("lose_copy", name="slaves_keep_their_logs",
                               because="A slave loses nothing of what it has reported.")
slaves_begin_in_time = never("ask_late", name="slaves_begin_in_time",
                             because="An empty slave connects while the master has one file.")
files_wait_for_slaves = never("expire_unsent", name="files_wait_for_slaves",
                              because="No file is deleted that some slave does not have.")
empty_files_fit = never("transfer_shifted", name="empty_files_fit",
                        because="A slave with an empty first file is sent its master's first file.")


@lemma
def logs_have_ends(s: Replicas) -> Bool:
    """Positions come in their order, at the master and at each slave."""
    return ((s.first <= s.end) & (s.flushed <= s.end)
            & forall((s.begin[x] <= s.copied[x]) & (~s.filed[x]).implies(s.copied[x] == 0) for x in every(Slave)))


@lemma
def a_place_has_its_message(s: Replicas) -> Bool:
    """A message of the log lies where it was put; who waits is still there, and who was asked is connected."""
    return (forall(((s.first <= p) & (p < s.end)).implies(s.put[s.log[p]] & (s.place[s.log[p]] == p))
                   for p in every(Position))
            & forall(s.asked[x].implies(s.connected[x]) for x in every(Slave))
            & forall(s.waiting[m].implies(s.put[m] & (s.place[m] < s.end)) for m in every(Message)))


@lemma_given(sent_is_forced, excludes=("refuse",))
def slaves_stay_behind(s: Replicas) -> Bool:
    """No slave is beyond its master's end, nor is sent what lies there."""
    return forall((s.copied[x] <= s.end) & s.asked[x].implies(s.next[x] <= s.end) for x in every(Slave))


@lemma_given(empty_files_fit, excludes=("leave",))
def frames_fit(s: Replicas) -> Bool:
    """A slave that has something is sent what comes next."""
    return forall((s.asked[x] & (s.copied[x] > 0)).implies(s.next[x] == s.copied[x]) for x in every(Slave))


def agree(s: Replicas, x: Slave, p: Position) -> Bool:
    """A slave and its master have the same at a position, or one of them has nothing there."""
    both = (s.begin[x] <= p) & (p < s.copied[x]) & (s.first <= p) & (p < s.end)
    return both.implies(s.copy[x, p] == s.log[p])


@lemma_given(sent_is_forced, empty_files_fit, excludes=("refuse", "leave"))
def copies_are_exact(s: Replicas) -> Bool:
    """What a slave has is what its master has sent, and still has."""
    return forall(agree(s, x, p) for x, p in every(Slave, Position))


@lemma_given(slaves_begin_in_time)
def slaves_begin_with_the_log(s: Replicas) -> Bool:
    """No slave begins behind the master's first record."""
    return forall((s.begin[x] <= s.first) & (s.asked[x] & ~s.filed[x]).implies(s.next[x] <= s.first)
                  for x in every(Slave))


@lemma_given(sent_is_forced, slaves_keep_their_logs, slaves_begin_in_time, excludes=("refuse",))
def reports_are_true(s: Replicas) -> Bool:
    """The slave that counts has what it has reported, and so has each that a message was acknowledged for."""
    return (((s.push2slave == 0) | (s.push2slave <= s.copied[s.reporter]))
            & forall(s.acked[m].implies(s.put[m] & (s.place[m] < s.copied[s.vouched[m]])) for m in every(Message)))


@lemma_given(files_wait_for_slaves, slaves_keep_their_logs, slaves_begin_in_time,
             excludes=("transfer_first", "transfer_shifted", "leave"))
def slaves_reach_the_first_file(s: Replicas) -> Bool:
    """No slave has its end before the master's first record, and each is sent what comes next."""
    return forall((s.first <= s.copied[x]) & s.asked[x].implies(s.next[x] == s.copied[x]) for x in every(Slave))


@always(shipped="violated: V11 a slave beyond its master, V32 a slave with an empty file",
        given=(sent_is_forced, empty_files_fit), excludes=("refuse", "leave"),
        broken_by=(drop_guard("lose", 2), drop_assignment("transfer", "copy")))
def slave_log_is_a_prefix(s: Replicas) -> Bool:
    """Where a slave's log and its master's have a record, it is the same."""
    return forall(agree(s, x, p) for x, p in every(Slave, Position))


@always(shipped="violated: V25 offset 0 stands for the first file, V32 a slave with an empty file",
        given=(files_wait_for_slaves, slaves_keep_their_logs, slaves_begin_in_time),
        excludes=("transfer_first", "transfer_shifted", "leave"), broken_by=(drop_assignment("append", "place"),))
def copies_keep_their_place(s: Replicas) -> Bool:
    """A slave has each message at the position at which the master has put it."""
    return forall(((s.begin[x] <= p) & (p < s.copied[x])).implies(s.put[s.copy[x, p]] & (s.place[s.copy[x, p]] == p))
                  for x, p in every(Slave, Position))


@always(shipped="violated: V11 a slave beyond its master, V29 an empty slave, V34 a slave that loses its end",
        given=(sent_is_forced, slaves_keep_their_logs, slaves_begin_in_time, empty_files_fit),
        excludes=("refuse", "leave"),
        broken_by=(drop_guard("acknowledge", 1), drop_assignment("transfer", "copy")))
def acknowledged_message_is_on_the_slave(s: Replicas) -> Bool:
    """A message that was acknowledged under SYNC_MASTER, and is in the master's log, is in a slave's log, too."""
    return forall((s.acked[m] & stands(s, m)).implies(exists(has_copy(s, x, m) for x in every(Slave)))
                  for m in every(Message))


@leads_to(shipped="violated: V20 a slave behind the first file, V29 an empty slave gets the newest file only, "
                  "V37 its connection is dead",
          fair=("transfer", "leave"), until_quiet=("append",),
          given=(files_wait_for_slaves, slaves_keep_their_logs, slaves_begin_in_time),
          excludes=("transfer_first", "transfer_shifted", "leave"),
          broken_by=(drop_assignment("transfer", "copied"),))
def lagging_slave_catches_up(s: Replicas, x: Slave) -> tuple[Bool, Bool]:
    """A slave that stays connected has all of its master's log at last, when nothing more is put."""
    return s.asked[x] & (s.copied[x] < s.end), ~s.asked[x] | (s.end <= s.copied[x])


@ranking("lagging_slave_catches_up")
def records_ahead(s: Replicas, x: Slave) -> Rank:
    """Each frame leaves less to send."""
    behind = s.copied[x] < s.end
    return Rank(measure=(ite(behind, s.end - s.copied[x], Position.of(0)),), helpers=(helps(behind, transfer, x),))


@sometimes
def an_acknowledged_message_is_on_a_slave(s: Replicas) -> Bool:
    """A message is on its master and on a slave, and was acknowledged."""
    return exists(s.acked[m] & stands(s, m) & has_copy(s, x, m) for m, x in every(Message, Slave))


@sometimes
def the_log_goes_on_after_its_first_file(s: Replicas) -> Bool:
    """A slave has more than is left of the master's log."""
    return exists((s.begin[x] < s.first) & (s.first < s.copied[x]) for x in every(Slave))
