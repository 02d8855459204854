"""What is promised of transactional messages: one end, one delivery, and no committed one is forgotten."""

from __future__ import annotations

from model.language import Bool, Rank, helps, ranking
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma_given, never, sometimes
from model.transaction import (
    Outcome,
    Transaction,
    answer_commit,
    check,
    checks_come_after_the_transaction,
    checks_meet_no_answer,
    commit_checked,
    commit_first,
)

listeners_know_their_transactions = never(
    "answer_early", name="listeners_know_their_transactions",
    because="A producer that is asked about a transaction that runs says that it does not know.")
checks_go_on = never("give_up", "halt", name="checks_go_on",
                     because="A check neither gives a message up nor stands still.")


@lemma_given(listeners_know_their_transactions)
def answers_are_true(s: Transaction) -> Bool:
    """What the producer says has become of the local transaction, and so is what the broker has done."""
    return ((s.answered & s.commits).implies(s.outcome == Outcome.COMMITTED)
            & (s.answered & ~s.commits).implies(s.outcome == Outcome.ROLLED_BACK)
            & s.told.implies(s.outcome != Outcome.OPEN)
            & s.delivered.implies(s.outcome == Outcome.COMMITTED) & s.undone.implies(s.outcome == Outcome.ROLLED_BACK)
            & s.ended.implies(s.delivered | s.undone) & s.waiting.implies(s.prepared))


@always(shipped="violated: T2 a check is answered while the transaction runs",
        given=(listeners_know_their_transactions,), broken_by=(drop_guard("commit_locally", 1),))
def half_message_ends_one_way(s: Transaction) -> Bool:
    """No message is delivered whose rollback the broker has taken."""
    return ~(s.delivered & s.undone)


@lemma_given(checks_meet_no_answer, checks_come_after_the_transaction,
             excludes=("answer_unknown", "answer_early", "commit_late", "commit_checked_late"))
def what_is_on_its_way_ends_it(s: Transaction) -> Bool:
    """One thing at most is on its way, about the half message before the check, and only while that has not ended."""
    return (s.told.implies(~s.asked & ~s.answered & s.waiting.implies(~s.told_passed & ~s.ended))
            & s.asked.implies(~s.answered & (s.outcome != Outcome.OPEN) & s.waiting.implies(~s.asked_passed & ~s.ended))
            & s.answered.implies(s.waiting.implies(~s.answered_passed & ~s.ended))
            & (~s.prepared).implies((s.outcome == Outcome.OPEN) & ~s.waiting)
            & (s.outcome == Outcome.OPEN).implies(
                ~s.told & ~s.asked & ~s.answered & ~s.checked & ~s.ended & ~s.delivered & ~s.told_passed
                & s.waiting.iff(s.prepared))
            & s.delivered.implies(~s.told & ~s.asked & ~s.answered & (~s.waiting | s.ended)))


@always(shipped="violated: P12 a half message may end twice",
        given=(checks_meet_no_answer, checks_come_after_the_transaction),
        excludes=("answer_unknown", "answer_early", "commit_late", "commit_checked_late"),
        broken_by=(drop_assignment("commit_first", "ended"), drop_assignment("commit_checked", "answered")))
def transaction_is_delivered_once(s: Transaction) -> Bool:
    """No committed message is delivered twice."""
    return ~s.twice


@lemma_given(checks_go_on, listeners_know_their_transactions)
def undelivered_message_is_before_the_check(s: Transaction) -> Bool:
    """A message that has not ended has a half message to which the check will come."""
    return (s.prepared & ~s.delivered & ~s.undone).implies(s.waiting) & ~s.halted


@leads_to(shipped="violated: T2 a check is answered while the transaction runs, T3 a check gives up, T4 a check stands "
                  "still",
          fair=("check", "answer_commit", "commit_first", "commit_checked"), until_quiet=("lose_end", "lose_check"),
          given=(checks_go_on, listeners_know_their_transactions),
          broken_by=(drop_assignment("answer_commit", "answered"),))
def committed_message_is_delivered_at_last(s: Transaction) -> tuple[Bool, Bool]:
    """The message of a transaction that is committed is delivered at last, whatever was lost before."""
    return s.prepared & (s.outcome == Outcome.COMMITTED), s.delivered


@ranking("committed_message_is_delivered_at_last")
def steps_to_the_commit(s: Transaction) -> Rank:
    """A commit is on its way, or a question, or the next check asks."""
    on_its_way = s.told | s.answered
    committed = s.prepared & (s.outcome == Outcome.COMMITTED)
    return Rank(measure=(~on_its_way, ~on_its_way & ~s.asked), pending=committed, helpers=(
        helps(s.told, commit_first), helps(~s.told & s.answered, commit_checked),
        helps(~on_its_way & s.asked, answer_commit), helps(~on_its_way & ~s.asked, check)))


@sometimes
def a_check_has_ended_it(s: Transaction) -> Bool:
    """A message whose producer was not heard is delivered after a check."""
    return s.delivered & s.checked & ~s.waiting & ~s.twice
