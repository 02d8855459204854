"""What is promised of sends that fail: no broker is forgotten, and what a caller is told is true."""

from __future__ import annotations

from model.fault_strategy import Broker, Outcome, PublishList, Sending, Slot, some_broker_is_left
from model.language import Bool, every, exists, forall
from model.language.mutations import drop_guard
from model.language.properties import always, lemma, lemma_given, never, sometimes

answers_of_stores_arrive = never("attempt_again", "store_late", name="answers_of_stores_arrive",
                                 because="A broker that stores a message is heard.")


@lemma
def list_has_brokers_of_the_route(s: PublishList) -> Bool:
    """Each queue of the list is at a broker of the route."""
    return forall(exists(s.route[y] == s.at[x] for y in every(Slot)) for x in every(Slot))


@lemma_given(some_broker_is_left, excludes=("choose_in_need",))
def some_queue_can_be_chosen(s: PublishList) -> Bool:
    """Some queue of the list is at a broker that is not shunned."""
    return exists(~s.shunned[s.at[x]] for x in every(Slot))


@always(shipped="violated: P3 a list that is rewritten", given=(some_broker_is_left,), excludes=("choose_in_need",),
        broken_by=(drop_guard("choose_in_need", 0),))
def publish_list_keeps_its_queues(s: PublishList) -> Bool:
    """Each place of the list has the queue that the route put there, so that every broker has its turn."""
    return forall(s.at[x] == s.route[x] for x in every(Slot))


@sometimes
def a_shunned_broker_was_chosen(s: PublishList) -> Bool:
    """A broker that was chosen before is shunned, and another one was chosen."""
    return exists((a != b) & s.shunned[a] & s.chosen[a] & s.chosen[b] for a, b in every(Broker, Broker))


@lemma_given(answers_of_stores_arrive)
def stored_is_where_it_was_asked(s: Sending) -> Bool:
    """Only the broker of the last attempt may have the message."""
    return s.waits.implies(s.begun > 0) & forall(
        s.stored[b].implies((s.begun > 0) & (b == s.asked)) for b in every(Broker))


@always(shipped="holds", broken_by=(drop_guard("answer", 1),))
def told_as_sent_is_stored(s: Sending) -> Bool:
    """SEND_OK is told only if a broker has stored the message."""
    return (s.told == Outcome.SEND_OK).implies(exists(s.stored[b] for b in every(Broker)))


@always(shipped="violated: P6 another attempt after a lost answer", given=(answers_of_stores_arrive,),
        broken_by=(drop_guard("attempt", 0),))
def message_is_stored_once(s: Sending) -> Bool:
    """No call of send stores a message at two brokers."""
    return forall((s.stored[a] & s.stored[b]).implies(a == b) for a, b in every(Broker, Broker))


@sometimes
def a_stored_message_is_told_as_failed(s: Sending) -> Bool:
    """A caller is told of an exception, and a broker has the message: an exception says nothing of that."""
    return (s.told == Outcome.EXCEPTION) & exists(s.stored[b] for b in every(Broker))
