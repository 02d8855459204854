"""What producers make of what their listeners say of transactions, and when they ask them."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import (
    RMQ_SYS_SCHEDULE_TOPIC,
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
)
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.sending import OWN_TOPICS

_NOBODY_KNOWS, _ROLLBACK = "UNKNOW", "ROLLBACK_MESSAGE"
_SAYS_NOTHING = frozenset({"NULL", "EXCEPTION"})
"""Answers of listeners that count as UNKNOW."""
_OK, _SEND_OK = 0, "SEND_OK"


def _answers(rule: transaction_ends_as_its_listener_says, event: events.EndTransactionTaken) -> frozenset[str]:
    """What a listener has answered of a half message, as a broker may hear it."""
    answers = rule.answers.get((event.key, event.from_check), ())
    return frozenset(_NOBODY_KNOWS if one in _SAYS_NOTHING else one for one in answers)


class transaction_ends_as_its_listener_says(Rule):
    """A broker is told of a transaction what the listener has answered; who throws or answers null does not know.

    It is told whether it has asked, and which half message it is. What is not safe at its broker is rolled back.
    """

    cite = "DefaultMQProducerImpl#endTransaction, #checkTransactionState"
    about = "group key"

    # What listeners have answered, when they were asked to do the transaction, or what became of it; whose message is
    # safe; and where brokers have put the half messages.
    answers = Kept("key checked", survives="all")
    safe = Kept("key", survives="all", begins=(Match(events.SendAnswered, having=lambda one: one.code == _OK),))
    halves = Kept("key", survives="all")

    @on(events.TransactionAnswered)
    def answered(self, _: int, at: str, event: events.TransactionAnswered) -> None:
        del at
        self.answers.setdefault((event.key, event.checked), set()).add(event.answer)

    @on(events.MessageAppended)
    def appends(self, _: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            self.halves.setdefault((event.key,), set()).add((at, event.queue_offset, event.commit_log_offset))

    @on(events.EndTransactionTaken)
    def ends(self, _: int, at: str, event: events.EndTransactionTaken) -> Iterator[Told]:
        said = _answers(self, event)
        if not said and not event.from_check and (event.key,) not in self.safe:
            said = frozenset({_ROLLBACK})
        if event.state not in said:
            yield self.told(f"{at} is told {event.state} of {event.key}, and the listener says "
                            f"{' or '.join(sorted(said)) or 'nothing'}", event.group, event.key)
        halves = self.halves.get((event.key,), ())
        here = {place[0] for place in halves}
        if at in here and (at, event.queue_offset, event.commit_log_offset) not in halves:
            yield self.told(f"{at} is told that {event.key} is its half message {event.queue_offset}, at "
                            f"{event.commit_log_offset} of the log, and it is not", event.group, event.key)


class transaction_result_says_what_became_of_it(Rule):
    """The result of a send in a transaction says what the listener has answered.

    Who throws or answers null does not know. Of a half message that is not safe at its broker the result says that the
    transaction is rolled back.
    """

    cite = "DefaultMQProducerImpl#sendMessageInTransaction: setLocalTransactionState"
    about = "at group key"

    answers = Kept("at group key", value=lambda _, event: event.answer, begins=(
        Match(events.TransactionAnswered, of="at group key", having=lambda one: not one.checked),))

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        key = at, event.group, event.key
        said = self.answers.pop(key, event.transaction) if event.status == _SEND_OK else _ROLLBACK
        state = _NOBODY_KNOWS if said in _SAYS_NOTHING else said
        if event.transaction not in ("", state):
            yield self.told(f"{at} is told {event.transaction} of the transaction of {event.key}, which is {state}",
                            *key)


class transaction_has_the_id_of_its_message(Rule):
    """Who is to do a transaction, or is asked about it, is given a message whose transactionId is its unique id."""

    cite = ("DefaultMQProducerImpl#sendMessageInTransaction: setTransactionId, "
            "ClientRemotingProcessor#checkTransactionState: setTransactionId")
    about = "at group key"

    @on(events.TransactionAsked)
    def asked(self, _: int, at: str, event: events.TransactionAsked) -> Iterator[Told]:
        if event.transaction_id not in (None, event.key):
            yield self.told(f"{at} is given {event.key} for its transaction, and told that this is "
                            f"{event.transaction_id or 'null'}", at, event.group, event.key)


class transaction_is_run_when_its_message_is_safe(Rule):
    """A transaction is done if its half message was answered SEND_OK, and at no other time."""

    cite = "DefaultMQProducerImpl#sendMessageInTransaction: switch (sendResult.getSendStatus())"
    about = "group key"

    codes = Kept("at key", begins=(events.SendAnswered,), value=lambda _, event: event.code)

    @on(events.TransactionAsked)
    def asked(self, _: int, at: str, event: events.TransactionAsked) -> Iterator[Told]:
        code = self.codes.get((at, event.key))
        if not event.checked and code != _OK:
            yield self.told(f"{at} does the transaction of {event.key}, whose send was answered {code}", event.group,
                            event.key)


class producer_is_asked_of_its_own(Rule):
    """Who is asked about a half message is a producer of the group that has sent it, namespace and all."""

    cite = "DefaultMQProducerImpl#sendMessageInTransaction: MessageConst.PROPERTY_PRODUCER_GROUP"
    about = "at group key"

    senders = Kept("key", survives="all", value=lambda _, event: event.group, begins=(
        Match(events.SendAsked, having=lambda one: one.half),))

    @on(events.TransactionAsked)
    def asked(self, _: int, at: str, event: events.TransactionAsked) -> Iterator[Told]:
        sender = self.senders.get((event.key,), event.group)
        if event.group != sender:
            yield self.told(f"{at} is asked about {event.key} as one of {event.group}, and {sender} has sent it", at,
                            event.group, event.key)


class half_message_is_not_delayed(Rule):
    """A half message is put at once, and into its topic when its transaction is committed, whatever delay it has."""

    cite = "DefaultMQProducerImpl#sendMessageInTransaction: ignore DelayTimeLevel parameter"
    about = "at key"

    # Half messages that are not in their topics yet: later their consumers may want them again.
    halves = Kept("key", survives="all", begins=(Match(events.SendAsked, having=lambda one: one.half),), ends=(
        Match(events.MessageAppended, of="key", having=lambda one: not one.topic.startswith(OWN_TOPICS)),))

    @on(events.MessageAppended)
    def appends(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if event.topic == RMQ_SYS_SCHEDULE_TOPIC and (event.key,) in self.halves:
            yield self.told(f"{at} delays {event.key}", at, event.key)


class given_up_can_be_found(Duty):
    """Where nothing fails a half message that its broker has asked about for the last time is put where people look.

    It is given up in the round behind the last question, unless that is answered.
    """

    cite = "DefaultTransactionalMessageCheckListener#resolveDiscardMsg"
    about = "broker key"
    calm = True
    within_ms = deadlines.given_up_at_last
    late = "{broker} has asked {what} times about {key}, and has put it nowhere in {waited_ms} ms"

    # How often a broker has put each half message: before the first question, and with each one.
    put = Kept("at key")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC:
            times = self.put[at, event.key] = self.put.get((at, event.key), 0) + 1
            most = self.views.transaction_check_max(at)
            if most is not None and times == most + 1:
                self.owe((at, event.key), ms, most)
        elif event.topic == RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC:
            self.pay((at, event.key))

    @on(events.EndTransactionTaken)
    def ends(self, _: int, at: str, event: events.EndTransactionTaken) -> None:
        if event.state != _NOBODY_KNOWS:
            self.pay((at, event.key))


class end_of_transaction_reaches_its_broker(Duty):
    """Where nothing fails a broker that has a half message hears at once what its producer says of the transaction."""

    cite = "DefaultMQProducerImpl#endTransaction, #checkTransactionState: endTransactionOneway"
    calm = True
    about = "at key"
    within_ms = deadlines.soon
    paid_by = (Match(events.BrokerStopping, of=""),)
    excuses = (Excuse("what was sent on a connection that has ended is lost", by=Match(events.ConnectionMade, of="at"),
                      lasts=deadlines.soon),)
    late = "{at} has said what became of {key}, and no broker that has it has heard that for {waited_ms} ms"

    # Who has which half message since he runs: clients are not connected yet to a broker that has just started.
    holds = Kept("broker key", machine="broker", ends=(Match(events.BrokerStopping, of="broker"),), begins=(
        Match(events.MessageAppended, having=lambda one: one.topic == RMQ_SYS_TRANS_HALF_TOPIC),))

    @on(events.HalfMessageEnded)
    def ends(self, ms: int, at: str, event: events.HalfMessageEnded) -> None:
        if any(key == event.key for _, key in self.holds):
            self.owe((at, event.key), ms)

    @on(events.EndTransactionTaken)
    def is_heard(self, _: int, at: str, event: events.EndTransactionTaken) -> None:
        for key in [key for key in self.owed if key[1] == event.key and (at, event.key) in self.holds]:
            self.pay(key)
