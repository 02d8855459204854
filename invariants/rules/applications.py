"""What applications ask for and are told of their sends, and that consumers are given just what was sent.

Applications say so themselves: no rule here hears of a send from the producer that it judges, but for each attempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import hexdigits
from typing import Any, ClassVar

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import CLIENT_INNER_PRODUCER_GROUP, RETRY_GROUP_TOPIC_PREFIX
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.sending import EMPTIED, LATENCY_AWARE, LISTED
from invariants.rules.weather import clock_was_set

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
_STATUS = {0: "SEND_OK", 10: "FLUSH_DISK_TIMEOUT", 11: "SLAVE_NOT_AVAILABLE", 12: "FLUSH_SLAVE_TIMEOUT"}
"""What a broker answers, and the SendStatus that it stands for."""
TURNS = 25
"""So many messages for each queue of a list, and one that has none is passed over: by chance no queue is, once in ten
billion times."""


class message_comes_as_it_was_sent(Rule):
    """What a listener is given, or a poll, has the topic, the flag, the tags, the keys and the body that were sent.

    So it is at every attempt: what is retried comes back under the topic that it was sent to. So it is, too, for who is
    to do a transaction, or is asked what became of it.
    """

    shipped = "violated: T5 a half message that is put back loses its flag"
    cite = ("DefaultMQProducerImpl#sendKernelImpl, MessageDecoder#decode, #resetRetryAndNamespace, "
            "AbstractTransactionalMessageCheckListener#sendCheckMessage, ClientRemotingProcessor#checkTransactionState")
    about = "group key"
    excuses = (cause("T5", "its broker has put it back, to ask about it",
                     when=lambda rule, told: len(rule.halves.get(told.about[1:], ())) > 1),)

    sent = Kept("key", survives="all")
    # Where brokers have put half messages, again and again.
    halves = Kept("key", survives="all")

    @on(events.MessageAppended)
    def appends(self, _: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == HALF_TOPIC:
            self.halves.setdefault((event.key,), set()).add((at, event.commit_log_offset))

    @on(events.SendAsked)
    def asks(self, _: int, at: str, event: events.SendAsked) -> None:
        del at
        self.sent.update({(key,): content for key, content in zip(event.key.split(","), event.contents, strict=True)})

    @on(events.MessagesGiven, events.MessagesPolled)
    def gives(self, _: int, at: str, event: events.MessagesGiven | events.MessagesPolled) -> Iterator[Told]:
        for key, offset, content in zip(event.keys, event.offsets, event.contents, strict=False):
            if self.sent.get((key,), content) != content:
                yield self.told(f"{at} is given {key} at {offset} of {queue_text(event.mq)}, and it is not what was "
                                "sent", event.group, key)

    @on(events.TransactionAsked)
    def is_asked(self, _: int, at: str, event: events.TransactionAsked) -> Iterator[Told]:
        if event.content is not None and self.sent.get((event.key,), event.content) != event.content:
            yield self.told(f"{at} is asked for the transaction of {event.key}, and given what was not sent",
                            event.group, event.key)


class message_is_born_when_it_is_sent(Rule):
    """The time at which a message was born is that of its send, by the clock of its producer.

    It is not before the send, and not after the last request that has named it. So says a message that is given for the
    first time, and of its own topic; a copy that a consumer has sent has a time of its own.
    """

    cite = "DefaultMQProducerImpl#sendKernelImpl: setBornTimestamp, SendMessageProcessor#asyncSendMessage"
    about = "at key"
    excuses = (clock_was_set("at"),)

    # Who has sent a message, and when, by its clock and in true time; and when it was named in a request last.
    sent = Kept("key", survives="all")
    tried_ms = Kept("key", survives="all")

    @on(events.SendAsked)
    def asks(self, ms: int, at: str, event: events.SendAsked) -> None:
        if event.now_ms is not None:
            self.sent.update({(key,): (at, event.now_ms, ms) for key in event.key.split(",")})

    @on(events.SendAttempted)
    def tries(self, ms: int, _: str, event: events.SendAttempted) -> None:
        if event.group != CLIENT_INNER_PRODUCER_GROUP:
            self.tried_ms.update({(key,): ms for key in event.key.split(",")})

    @on(events.MessagesGiven)
    def gives(self, ms: int, __: str, event: events.MessagesGiven) -> Iterator[Told]:
        if event.mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
            return
        for key, attempts, born_ms in zip(event.keys, event.attempts, event.born_ms, strict=False):
            at, sent_ms, asked_ms = self.sent.get((key,), ("", 0, 0))
            last_ms = sent_ms + self.tried_ms.get((key,), ms) - asked_ms
            if at and not attempts and not sent_ms <= born_ms <= last_ms:
                yield self.told(f"{key} was born {born_ms - sent_ms} ms after it was sent, and was tried until "
                                f"{last_ms - sent_ms} ms after that", at, key)


class message_is_left_as_it_was(Rule):
    """A message that was sent has the topic, the properties and the body that its application has given it."""

    cite = "DefaultMQProducerImpl#sendKernelImpl: finally"
    about = "group key"

    asked = Kept("key", survives="all", begins=(events.SendAsked,), value=lambda _, event: event.contents)

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        if event.contents and self.asked.get((event.key,), event.contents) != event.contents:
            yield self.told(f"{at} has sent {event.key}, which is another message now", event.group, event.key)


class outcome_is_told_once(Rule):
    """An application is told once what has become of a send, or of a request."""

    shipped = "violated: P14 a request whose call has failed is waited for"
    cite = "MQClientAPIImpl#sendMessageAsync, RequestFutureHolder#scanExpiredRequest"
    about = "at key"
    excuses = (cause("P14", "it is a request, which came to nothing",
                     when=lambda rule, told: rule.is_told[told.about] == ""),)

    # What applications were told: the request that a reply belongs to; None: it was no request.
    is_told = Kept("at key", begins=(events.SendTold, events.RequestTold),
                   value=lambda _, event: getattr(event, "replied_to", None))

    @on(events.SendTold, events.RequestTold)
    def tells(self, _: int, at: str, event: events.SendTold | events.RequestTold) -> Iterator[Told]:
        if (at, event.key) in self.is_told:
            yield self.told(f"{at} is told once more of {event.key}", at, event.key)


class result_is_what_the_broker_says(Rule):
    """A SendResult has the status that the broker has answered, the id of the message, and the place where it is."""

    cite = "MQClientAPIImpl#processSendResponse"
    about = "group key"

    # The last answers to a send of a message; and where brokers have put it.
    answered = Kept("at key")
    appended = Kept("key", survives="all")

    @on(events.SendAnswered)
    def answers(self, _: int, at: str, event: events.SendAnswered) -> None:
        self.answered.setdefault((at, event.key), set()).add(_STATUS.get(event.code))

    @on(events.MessageAppended)
    def appends(self, _: int, at: str, event: events.MessageAppended) -> None:
        places = {(*mq, event.queue_offset) for mq in self.facts.queues(at, event.topic, event.queue_id)}
        self.appended.setdefault((event.key,), set()).update(places)

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        key = event.key.partition(",")[0]
        if event.mq is None:
            return
        if event.status not in self.answered.get((at, key), ()):
            yield self.told(f"{at} is told {event.status} of {key}, which no broker has answered", event.group, key)
        if event.msg_id != event.key:
            yield self.told(f"{at} is told of {event.msg_id}, and has sent {event.key}", event.group, key)
        elif not self._is_there(key, event.mq, event.queue_offset):
            yield self.told(f"{at} is told that {key} is at {event.queue_offset} of {queue_text(event.mq)}, and it is "
                            "not", event.group, key)

    def _is_there(self, key: str, mq: MessageQueue, queue_offset: int) -> bool:
        """Whether the broker has put it there; of what it puts elsewhere first (delayed, half) it tells that place.

        A reply need not be stored.
        """
        places = self.appended.get((key,), ())
        elsewhere = any(topic != mq.topic for topic, name, _, _ in places if name == mq.broker_name)
        return not places or elsewhere or (*mq, queue_offset) in places


def _log_offset(offset_msg_id: str) -> int:
    """Where the log has the message of an id, as the id says (MessageDecoder#createMessageId); -1: it is no such id."""
    digits = offset_msg_id[-16:]
    return int(digits, 16) if len(offset_msg_id) > len(digits) and not {*digits} - {*hexdigits} else -1


class result_names_each_place(Rule):
    """A SendResult has an offsetMsgId of each message, which says where the log of its broker has the message."""

    cite = "MQClientAPIImpl#processSendResponse: getMsgId, MessageDecoder#createMessageId"
    about = "group key"

    # Where brokers, by each name, have put a message.
    appended = Kept("key", survives="all")

    @on(events.MessageAppended)
    def appends(self, _: int, at: str, event: events.MessageAppended) -> None:
        names = [mq.broker_name for mq in self.facts.queues(at, event.topic, event.queue_id)]
        self.appended.setdefault((event.key,), set()).update((name, event.commit_log_offset) for name in names)

    @on(events.SendTold)
    def is_told(self, _: int, at: str, event: events.SendTold) -> Iterator[Told]:
        if event.mq is None or event.offset_msg_id is None:
            return
        keys, ids = event.key.split(","), event.offset_msg_id.split(",")
        if len(ids) != len(keys):
            yield self.told(f"{at} has sent {len(keys)} messages, and is told {len(ids)} ids", event.group, event.key)
            return
        for key, one in zip(keys, ids, strict=True):
            if (event.mq.broker_name, _log_offset(one)) not in self.appended.get((key,), ()):
                yield self.told(f"{at} is told that {event.mq.broker_name} has {key} at {one}, and it has not",
                                event.group, event.key)


class attempts_are_no_more_than_asked(Rule):
    """A message is sent no more often than its producer is configured to try, and one way once."""

    cite = "DefaultMQProducer.retryTimesWhenSendFailed, retryTimesWhenSendAsyncFailed"
    about = "client_id group"

    asked = Kept("key", survives="all", begins=(events.SendAsked,), value=lambda _, event: event.attempts)

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        most = self.asked.get((event.key,), event.attempt)
        if event.attempt > most:
            yield self.told(f"{at} sends {event.key} {event.attempt} times, and is to try {most} times",
                            event.client_id, event.group)


def _longer_ms(event: events.SendAsked) -> int:
    """How much longer than usual the producer waits."""
    return max(0, event.timeout_ms - deadlines.SEND_MS)


class SendOver(Duty):
    """What is common: who has no route of the topic asks for it first, and that takes another time.

    asynchronous -- of which sends.
    """

    about = "at group key"
    paid_by = (events.SendTold,)
    late = "{at} has not been told of its send of {key} for {waited_ms} ms"

    asynchronous: ClassVar[bool]
    listed = Kept("at group topic", begins=(LISTED,), ends=(EMPTIED,))

    @on(events.SendAsked)
    def begins(self, ms: int, at: str, event: events.SendAsked) -> None:
        if event.asynchronous is self.asynchronous and (at, event.group, event.topic) in self.listed:
            key = at, event.group, event.key
            self.owe(key, ms)
            self.count_from(key, ms + _longer_ms(event))


class send_is_over_in_its_time(SendOver):
    """A send returns when the time-out of all its attempts is over.

    An attempt that begins in time may wait for a connection besides.
    """

    cite = "DefaultMQProducer.sendMsgTimeout, DefaultMQProducerImpl#sendDefaultImpl: costTime"
    within_ms = deadlines.told_of_send
    asynchronous = False


class callback_comes_in_its_time(SendOver):
    """An asynchronous send calls back when the time-out of all its attempts is over.

    Each retry may wait for a connection besides. By its clock the producer sees that no answer comes any more.
    """

    cite = ("DefaultMQProducer.sendMsgTimeout, MQClientAPIImpl#sendMessageAsync, #onExceptionImpl; "
            "NettyRemotingAbstract#scanResponseTable")
    within_ms = deadlines.called_back
    by_clock = True
    asynchronous = True

    @after(events.SendAsked)
    def has_retries(self, ms: int, at: str, event: events.SendAsked) -> None:
        if (key := (at, event.group, event.key)) in self.owed:
            self.count_from(key, ms + _longer_ms(event) + (event.attempts - 1) * deadlines.CONNECT_MS)


class queues_take_turns(Rule):
    """Where a producer chooses among the queues of a topic, each of them gets messages.

    Counting begins anew where a message is tried again: a retry takes turns, too, and passes its broker's queues over.
    """

    cite = "TopicPublishInfo#selectOneMessageQueue: sendWhichQueue"
    about = "client_id group topic"
    excuses = (Excuse("its producer is aware of latency, and shuns brokers that were slow",
                      when=lambda rule, told: told.about[:1] in rule.aware),)

    aware = Kept("client_id", survives="all", begins=(LATENCY_AWARE,))
    # How many messages a producer has sent to each queue of the list that it chooses from.
    chosen = Kept("client_id group topic", survives="all")

    @on(events.SendAttempted)
    def attempts(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        key = event.client_id, event.group, event.mq.topic
        if event.attempt > 1:
            self.chosen.pop(key, None)
        if event.attempt > 1 or not event.listed or event.hashed is not None:
            return
        counts: dict[Any, int] = self.chosen.setdefault(key, {})
        if {*counts} != event.listed:
            counts = self.chosen[key] = dict.fromkeys(sorted(event.listed), 0)
        counts[event.mq] = counts.get(event.mq, 0) + 1
        if sum(counts.values()) >= TURNS * len(event.listed):
            passed_over = [mq for mq, count in counts.items() if not count]
            del self.chosen[key]
            for mq in passed_over[:1]:
                yield self.told(f"{at} has sent {sum(counts.values())} messages, and none to {queue_text(mq)}", *key)
