"""What is promised of order locks: one holder, one believer, one listener, and a free lock is found."""

from __future__ import annotations

from model.language import Bool, Rank, Steps, every, exists, forall, helps, ite, ranking, tight
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma_given, never, premise, sometimes
from model.order_lock import (
    Abandoned,
    Client,
    Ms,
    OrderLock,
    answer,
    answers_come_in_time,
    attempt,
    batches_end_in_time,
    contender_tries_in_time,
    elapse,
    grant,
    live,
    pass_by,
    work,
)

one_step_fast_path = never("fast_read", name="one_step_fast_path",
                           because="The fast path compares client id and time in one step.")
table_survives = never("restart", name="table_survives",
                       because="The broker keeps its lock table.")
unlocks_at_once = never("drop_later", name="unlocks_at_once",
                        because="No unlock comes after its owner locked anew.")


@premise
def leases_fit(s: OrderLock) -> Bool:
    """The client's lease ends before the broker's, the way of the answer included: 30 s + delay <= 60 s."""
    return s.client_live + s.rpc_max <= s.broker_live


@premise
def batches_fit(s: OrderLock) -> Bool:
    """A batch that starts when the client's lease ends is over before the broker's: 30 s + delay + batch <= 60 s."""
    return s.client_live + s.rpc_max + s.batch_max <= s.broker_live


def entry_of(s: OrderLock, c: Client, age: Ms) -> Bool:
    """The broker still has the client with a stamp at least as new, or that stamp is too old to count."""
    return (s.held & (s.holder == c) & (s.age <= age)) | (s.broker_live < age)


@lemma_given(answers_come_in_time)
def answers_are_in_time(s: OrderLock) -> Bool:
    """Ways keep their bound, and so do beliefs while they last."""
    return forall(s.granted[c].implies(s.wait[c] <= s.rpc_max)
                  & (s.locked[c] & (s.since[c] <= s.client_live)).implies(s.belief_age[c] <= s.since[c] + s.rpc_max)
                  & s.working[c].implies(s.batch_age[c] <= s.client_live + s.rpc_max + s.worked[c])
                  for c in every(Client))


@lemma_given(batches_end_in_time)
def batches_are_in_time(s: OrderLock) -> Bool:
    """Batches keep their bound."""
    return forall(s.working[c].implies(s.worked[c] <= s.batch_max) for c in every(Client))


@lemma_given(one_step_fast_path, excludes=("fast_grant", "fast_miss"))
def no_fast_path(s: OrderLock) -> Bool:
    """No thread stands in the fast path, and a fresh lease is the entry's."""
    return forall(~s.seen[c] & s.lease[c].implies(entry_of(s, c, s.lease_age[c])) for c in every(Client))


@lemma_given(one_step_fast_path, table_survives, unlocks_at_once, excludes=("fast_grant", "fast_miss", "unlock_late"))
def grants_are_remembered(s: OrderLock) -> Bool:
    """Behind every answer, belief and batch stands the broker's entry, or it has run out."""
    return forall(~s.unlocking[c] & ~s.seen[c]
                  & s.granted[c].implies(entry_of(s, c, s.wait[c]))
                  & s.locked[c].implies(entry_of(s, c, s.belief_age[c]))
                  & s.working[c].implies(entry_of(s, c, s.batch_age[c]))
                  for c in every(Client))


@always(shipped="violated: B-22a the fast path holds no lock", given=(one_step_fast_path,),
        excludes=("fast_grant", "fast_miss"), broken_by=(drop_guard("grant", 1), drop_assignment("unlock", "lease")))
def one_lock_holder(s: OrderLock) -> Bool:
    """The broker grants a queue lock to one client id at a time."""
    return forall((s.lease[a] & s.lease[b] & (s.lease_age[a] <= s.broker_live) & (s.lease_age[b] <= s.broker_live))
                  .implies(a == b) for a, b in every(Client, Client))


@always(shipped="violated: D8 the lock table is lost, D9 delayed unlock, B-22a the fast path holds no lock",
        given=(leases_fit, answers_come_in_time, one_step_fast_path, table_survives, unlocks_at_once),
        excludes=("fast_grant", "fast_miss", "unlock_late"),
        broken_by=(drop_guard("elapse", 1), drop_guard("grant", 1)))
def one_live_believer(s: OrderLock) -> Bool:
    """Never do two clients believe to hold a queue's lock."""
    return forall((live(s, a) & live(s, b)).implies(a == b) for a, b in every(Client, Client))


@always(shipped="violated: D7 a batch outlasts the leases, D8 the lock table is lost, D9 delayed unlock, D13 a reset",
        given=(batches_fit, answers_come_in_time, batches_end_in_time, one_step_fast_path, table_survives,
               unlocks_at_once),
        excludes=("fast_grant", "fast_miss", "unlock_late"),
        broken_by=(drop_guard("elapse", 2), drop_guard("grant", 1)))
def listeners_do_not_overlap(s: OrderLock) -> Bool:
    """Never do two clients process messages of one ordered queue at the same time."""
    return forall((s.working[a] & s.working[b]).implies(a == b) for a, b in every(Client, Client))


@premise
def times_are_positive(s: OrderLock) -> Bool:
    """No constant is 0."""
    return (s.client_live > 0) & (s.rpc_max > 0) & (s.batch_max > 0)


@tight("one_live_believer", leases_fit, where=(times_are_positive,))
def the_answer_is_late(s: OrderLock, a: Client, b: Client) -> Steps:
    """For all constants beyond the bound: the answer takes its time, and the belief outlasts the broker's lease."""
    return ((grant, a), (elapse, s.rpc_max), (answer, a), (elapse, s.client_live), (grant, b), (answer, b))


@tight("listeners_do_not_overlap", batches_fit, where=(times_are_positive,))
def the_batch_is_long(s: OrderLock, a: Client, b: Client) -> Steps:
    """For all constants beyond the bound: a batch that starts at the last moment outlasts the broker's lease."""
    return ((grant, a), (elapse, s.rpc_max), (answer, a), (elapse, s.client_live), (work, a), (elapse, s.batch_max),
            (grant, b), (answer, b), (work, b))


@sometimes
def the_lock_changes_hands(s: OrderLock) -> Bool:
    """One client works under the lock after another gave it up."""
    return exists(~(a == b) & s.working[a] & live(s, a) & (s.holder == a) & ~s.locked[b] & (s.since[b] > 0)
                  for a, b in every(Client, Client))


owner_is_silent = never("renew", name="owner_is_silent",
                        because="Who has gone renews nothing.")


@lemma_given(owner_is_silent, contender_tries_in_time)
def the_entry_is_older_than_the_wait(s: Abandoned) -> Bool:
    """Nobody renews the entry, and the last attempt found it alive."""
    return (~s.taken).implies((s.waited <= s.age) & (s.tried <= s.retry) & (
        (s.age <= s.broker_live + s.tried) | (s.waited == s.tried)))


@always(shipped="violated: U6 a batch that never returns", given=(owner_is_silent, contender_tries_in_time),
        broken_by=(drop_guard("pass_by", 1), drop_assignment("attempt", "taken")))
def abandoned_lock_is_freed(s: Abandoned) -> Bool:
    """A contender has the lock of a gone owner within the broker's lease and one retry period."""
    return (~s.taken).implies(s.waited <= s.broker_live + s.retry)


@premise
def attempts_take_time(s: Abandoned) -> Bool:
    """The contender does not use up all time with attempts."""
    return s.retry > 0


@leads_to(shipped="violated: U6 a batch that never returns", fair=("attempt", "pass_by"),
          given=(owner_is_silent, contender_tries_in_time, attempts_take_time),
          broken_by=(drop_assignment("attempt", "taken"),))
def contender_gets_the_lock(s: Abandoned) -> tuple[Bool, Bool]:
    """A contender that tries again and again has the lock at last."""
    return ~s.taken, s.taken


@ranking("contender_gets_the_lock")
def the_lease_runs_out(s: Abandoned) -> Rank:
    """Time passes, or an attempt is due; once the lease has run out, the next attempt takes the lock."""
    runs = s.age <= s.broker_live
    due = s.tried == s.retry
    return Rank(measure=(ite(runs, s.broker_live + 1 - s.age, Ms.of(0)), runs & due),
                helpers=(helps(~runs | due, attempt), helps(runs & ~due, pass_by, Ms.of(1))))


@sometimes
def it_took_the_whole_lease(s: Abandoned) -> Bool:
    """The contender waits for longer than the lease."""
    return s.taken & (s.broker_live < s.waited)
