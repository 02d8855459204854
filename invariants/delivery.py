"""What is promised of a message that fails: it is kept, tried so often and no more, and then a dead letter."""

from __future__ import annotations

from model.delivery import Delivery, Record
from model.language import Bool, every, exists, forall
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, lemma, lemma_given, never, sometimes

groups_have_retry_queues = never("swallow", name="groups_have_retry_queues",
                                 because="The retry topic of a group has queues (retryQueueNums).")
send_backs_are_answered = never("send_back_twice", "bury_copy", "bury_early", name="send_backs_are_answered",
                                because="The answer to a message that is sent back arrives.")
copies_keep_their_count = never("begin_anew", name="copies_keep_their_count",
                                because="A copy that a consumer sends itself is stored at the first attempt.")
send_backs_are_committed = never("deliver_again", name="send_backs_are_committed",
                                 because="What was sent back is committed before its consumer ends.")
listeners_end_in_time = never("send_back_at_work", name="listeners_end_in_time",
                              because="A listener takes no more than consumeTimeout, 15 minutes.")


@lemma
def records_that_are_open_are_stored(s: Delivery) -> Bool:
    """The group has nothing before it that is not stored."""
    return (s.next > 0) & forall(s.open[r].implies(r < s.next) for r in every(Record))


@lemma_given(groups_have_retry_queues)
def something_is_left_or_settled(s: Delivery) -> Bool:
    """The last record that was stored is open, or the message is done or dead."""
    return s.done | s.dead | s.open[s.next - 1] | ~(s.next > 0)


@always(shipped="violated: M2 a group without retry queues", given=(groups_have_retry_queues,),
        broken_by=(drop_assignment("bury", "dead"),))
def send_back_keeps_the_message(s: Delivery) -> Bool:
    """A message that fails is still before its group, until it is done or a dead letter."""
    return s.done | s.dead | exists(s.open[r] for r in every(Record))


@lemma
def records_count_no_more_than_was_tried(s: Delivery) -> Bool:
    """No record counts more attempts than there were."""
    return (s.next > 0) & forall((r < s.next).implies(s.reconsumed[r] <= s.tried) for r in every(Record)) & forall(
        s.open[r].implies(r < s.next) for r in every(Record))


@always(shipped="violated: X5 a copy that a consumer sends itself", given=(send_backs_are_answered,),
        broken_by=(drop_guard("bury", 1),))
def dead_letter_comes_after_all_attempts(s: Delivery) -> Bool:
    """A message is a dead letter only after it was tried maxReconsumeTimes times, and once before."""
    return s.dead.implies(s.most + 1 <= s.tried)


@lemma_given(send_backs_are_answered, send_backs_are_committed)
def one_record_is_open(s: Delivery) -> Bool:
    """The group has one record before it at most: the last one."""
    return (s.next > 0) & forall(s.open[r].implies(r + 1 == s.next) for r in every(Record))


@lemma_given(send_backs_are_answered, copies_keep_their_count, send_backs_are_committed)
def the_record_counts_all(s: Delivery) -> Bool:
    """The record that is open counts every attempt."""
    return (s.tried <= s.most + 1) & forall(
        s.open[r].implies((s.reconsumed[r] == s.tried) & (s.tried <= s.most)) for r in every(Record))


@always(shipped="violated: X5 a lost answer, X6 a consumer that ends, X20 a copy without its count",
        given=(send_backs_are_answered, copies_keep_their_count, send_backs_are_committed),
        broken_by=(drop_guard("send_back", 1), drop_assignment("bury", "open")))
def attempts_are_bounded(s: Delivery) -> Bool:
    """A listener is given a message maxReconsumeTimes times, and once before, and no more."""
    return s.tried <= s.most + 1


@always(shipped="violated: X5 a lost answer, X6 a consumer that ends, X7 a slow listener",
        given=(send_backs_are_answered, send_backs_are_committed, listeners_end_in_time),
        broken_by=(drop_assignment("succeed", "open"),))
def done_message_comes_no_more(s: Delivery) -> Bool:
    """A message that a listener has done is not before the group any more."""
    return s.done.implies(forall(~s.open[r] for r in every(Record)))


@sometimes
def a_message_is_dead(s: Delivery) -> Bool:
    """A message is a dead letter, and was never done."""
    return s.dead & ~s.done
