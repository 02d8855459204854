"""What is promised of consumption: nothing is passed that is not settled, offsets go on, order is kept."""

from __future__ import annotations

from model.language import Bool, Rank, every, exists, forall, helps, ite, ranking
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma, lemma_given, never, sometimes, step
from model.process_queue.concurrent import (
    Member,
    ProcessQueues,
    caches,
    hand_overs_wait_for_commits,
    pass_over,
    pull,
    resets_meet_no_commits,
    resets_meet_no_results,
)
from model.process_queue.ordered import OrderedQueue
from model.process_queue.queue import QueueOffset

groups_begin_at_the_first = never("take_last", name="groups_begin_at_the_first",
                                  because="A group without an offset begins a queue at its first message.")
reads_do_not_fail = never("take_despite", name="reads_do_not_fail",
                          because="No error is taken for the answer that nothing is committed.")
resets_meet_no_pulls = never("reset_beside_a_pull", name="resets_meet_no_pulls",
                             because="No pull is held at the broker while the group is reset.")
results_are_noted_at_once = never("go_on_slowly", name="results_are_noted_at_once",
                                  because="A listener's result is noted before its queue can be dropped.")
one_chain_of_pulls = never("pull_again", name="one_chain_of_pulls",
                           because="A process queue has one chain of pulls.")


def done(s: ProcessQueues, o: QueueOffset) -> Bool:
    """Nothing is left to do with a message: it is settled, nobody wants it, or the group has begun behind it."""
    return (s.begin <= o).implies(s.wanted[o].implies(s.settled[o]))


@lemma_given(groups_begin_at_the_first, reads_do_not_fail, resets_meet_no_commits, resets_meet_no_results,
             resets_meet_no_pulls)
def offsets_are_behind_what_is_done(s: ProcessQueues) -> Bool:
    """Whatever offset is committed, on its way or remembered, everything before it is done."""
    return forall((s.known & (x < s.committed)).implies(done(s, x)) for x in every(QueueOffset)) & forall(
        (s.sends[m] & (x < s.sent[m])).implies(done(s, x))
        & (s.remembers[m] & (x < s.memory[m])).implies(done(s, x))
        & (s.late[m] & (x < s.later[m])).implies(done(s, x)) for m, x in every(Member, QueueOffset))


@lemma_given(groups_begin_at_the_first, reads_do_not_fail, resets_meet_no_commits, resets_meet_no_results,
             resets_meet_no_pulls)
def what_is_not_done_is_cached(s: ProcessQueues) -> Bool:
    """What a member has pulled is done or cached."""
    return forall((s.owns[m] & (x < s.next[m])).implies(done(s, x) | caches(s, m, x))
                  for m, x in every(Member, QueueOffset))


@lemma
def caches_end_before_the_next_pull(s: ProcessQueues) -> Bool:
    """What a member has cached lies before its next pull."""
    return forall(s.owns[m].implies((s.first[m] <= s.behind[m]) & (s.behind[m] <= s.next[m])) for m in every(Member))


@always(shipped="violated: L1 the next owner begins behind, L2 a failed read, L8 a held pull after a reset, "
                "L14 a commit beside a reset, X18 a result beside a reset",
        given=(groups_begin_at_the_first, reads_do_not_fail, resets_meet_no_commits, resets_meet_no_results,
               resets_meet_no_pulls),
        broken_by=(drop_guard("go_on", 2), drop_guard("correct_offset", 1), drop_assignment("pull", "cached")))
def nothing_is_skipped(s: ProcessQueues) -> Bool:
    """Every message before the committed offset was settled, or nobody wants it; said from where the group began."""
    return forall((s.known & s.begun & (s.begin <= o) & (o < s.committed)).implies(s.wanted[o].implies(s.settled[o]))
                  for o in every(QueueOffset))


@lemma_given(results_are_noted_at_once, resets_meet_no_pulls, excludes=("raise_late",))
def nobody_is_late(s: ProcessQueues) -> Bool:
    """No thread raises what is remembered after it has looked whether it may."""
    return forall(~s.late[m] for m in every(Member))


@always(shipped="violated: X18 a late result, L8 a held pull after a reset",
        given=(results_are_noted_at_once, resets_meet_no_pulls), excludes=("raise_late",),
        broken_by=(drop_guard("go_on", 1), drop_guard("correct_offset", 1)))
def memory_offset_is_least_unsettled(s: ProcessQueues) -> Bool:
    """What a member is about to commit is not beyond any message that it has cached, nor beyond its next pull."""
    return forall((s.owns[m] & s.remembers[m]).implies(
        (s.memory[m] <= s.next[m]) & ((s.memory[m] <= s.first[m]) | (s.first[m] == s.behind[m])))
        for m in every(Member))


@lemma_given(hand_overs_wait_for_commits)
def one_member_has_the_queue(s: ProcessQueues) -> Bool:
    """No two members have the queue."""
    return forall((s.owns[a] & s.owns[b]).implies(a == b) for a, b in every(Member, Member))


@lemma
def offsets_end_with_the_queue(s: ProcessQueues) -> Bool:
    """No offset is beyond the end of the queue."""
    return s.known.implies(s.committed <= s.stored) & forall(
        s.sends[m].implies(s.sent[m] <= s.stored) & s.owns[m].implies(s.next[m] <= s.stored)
        & s.remembers[m].implies(s.memory[m] <= s.stored) & s.late[m].implies(s.later[m] <= s.stored)
        for m in every(Member))


@lemma_given(hand_overs_wait_for_commits, results_are_noted_at_once, resets_meet_no_commits, resets_meet_no_pulls,
             excludes=("raise_late",))
def nothing_old_is_on_its_way(s: ProcessQueues) -> Bool:
    """What is on its way, remembered or cached, is not before what is committed, nor what is remembered before that."""
    return forall(
        ~s.late[m] & s.remembers[m].implies(s.owns[m])
        & (s.sends[m] & s.known).implies(s.committed <= s.sent[m])
        & (s.owns[m] & s.known).implies(
            (s.committed <= s.next[m]) & ((s.committed <= s.first[m]) | (s.first[m] == s.behind[m])))
        & (s.owns[m] & s.remembers[m]).implies(
            (s.memory[m] <= s.next[m]) & ((s.memory[m] <= s.first[m]) | (s.first[m] == s.behind[m])))
        & (s.owns[m] & s.remembers[m] & s.known).implies(s.committed <= s.memory[m])
        for m in every(Member)) & forall(
        (s.owns[m] & s.sends[x]).implies((x == m) & s.remembers[m] & (s.sent[x] <= s.memory[m]))
        & (s.sends[m] & s.sends[x]).implies(m == x) for m, x in every(Member, Member))


@step(shipped="violated: X4 a late commit of a former owner, L14 a commit beside a reset, X18 a late result",
      given=(hand_overs_wait_for_commits, results_are_noted_at_once, resets_meet_no_commits, resets_meet_no_pulls),
      excludes=("raise_late",), broken_by=(drop_guard("arrive", 0),))
def committed_offset_never_regresses(before: ProcessQueues, after: ProcessQueues) -> Bool:
    """The committed offset does not go back, unless somebody resets it."""
    return (before.known & before.turned.iff(after.turned)).implies(after.known & (before.committed <= after.committed))


@leads_to(shipped="holds", fair=("pull", "pass_over"), broken_by=(drop_assignment("pass_over", "next"),))
def stored_message_is_looked_at(s: ProcessQueues, m: Member, o: QueueOffset) -> tuple[Bool, Bool]:
    """A member that keeps the queue comes at last to each message that is stored."""
    return s.owns[m] & (s.next[m] <= o) & (o < s.stored), ~s.owns[m] | (o < s.next[m])


@ranking("stored_message_is_looked_at")
def messages_before_it(s: ProcessQueues, m: Member, o: QueueOffset) -> Rank:
    """Each pull leaves less."""
    ahead = s.owns[m] & (s.next[m] <= o) & (o < s.stored)
    return Rank(measure=(ite(ahead, o + 1 - s.next[m], QueueOffset.of(0)),), pending=ahead,
                helpers=(helps(ahead & s.wanted[s.next[m]], pull, m),
                         helps(ahead & ~s.wanted[s.next[m]], pass_over, m)))


@sometimes
def a_message_is_delivered_again(s: ProcessQueues) -> Bool:
    """A member has a message that another one has settled."""
    return exists(s.settled[o] & caches(s, m, o) & s.known for m, o in every(Member, QueueOffset))


# Ordered --------------------------------------------------------------------------------------------------------------


@lemma_given(one_chain_of_pulls, excludes=("take_stray", "commit_stray"))
def ordered_messages_are_in_line(s: OrderedQueue) -> Bool:
    """What is done comes before what is taken, and that before what waits; no message is astray."""
    return ((s.done <= s.turn) & (s.turn <= s.next) & (s.begun | (s.next == 0)) & ~s.stray & ~s.strayed
            & forall(s.settled[o].iff(o < s.done) & (o < s.turn).implies(s.given[o]) for o in every(QueueOffset)))


@always(shipped="violated: X14 two chains of pulls", given=(one_chain_of_pulls,),
        excludes=("pull_again", "take_stray", "commit_stray"),
        broken_by=(drop_guard("suspend", 0), drop_assignment("commit", "done")))
def ordered_message_waits_for_the_earlier(s: OrderedQueue) -> Bool:
    """A listener is given a message when it has been given all earlier ones, and not again when it was done."""
    return ~s.disordered


@always(shipped="violated: X14 two chains of pulls", given=(one_chain_of_pulls,),
        excludes=("pull_again", "take_stray", "commit_stray"), broken_by=(drop_assignment("commit", "memory"),))
def ordered_commit_is_what_is_settled(s: OrderedQueue) -> Bool:
    """What an ordered consumer is about to commit is the number of messages that are done."""
    return s.remembers.implies(s.memory == s.done)


@sometimes
def a_message_is_tried_again(s: OrderedQueue) -> Bool:
    """A message that the listener was given waits."""
    return exists(s.given[o] & (s.turn <= o) & ~s.settled[o] & (s.done > 0) for o in every(QueueOffset))
