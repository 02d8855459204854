"""When what has failed comes again, and when it is given up: never sooner than a listener's user may count on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from impl import events
from impl.decisions.names import (
    CLIENT_INNER_PRODUCER_GROUP,
    DLQ_GROUP_TOPIC_PREFIX,
    RETRY_GROUP_TOPIC_PREFIX,
    RMQ_SYS_SCHEDULE_TOPIC,
)
from impl.events import MessageAppended, MessagesAnswered, MessagesGiven
from invariants.rules import deadlines
from invariants.rules.answers import ROLLBACK, has_failed, is_put_back
from invariants.rules.delays import was_recovered
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.sending import SENT_ANEW
from invariants.rules.weather import a_broker_was_away, clock_was_set

_EXPIRED_LEVEL = 3


class given_up_after_all_attempts(Rule):
    """A message is a dead letter of a group only if a listener was given it at its last attempt."""

    judges = "dead_letter_comes_after_all_attempts"
    shipped = "violated: X5 a copy that a consumer sends itself"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, #handleRetryAndDLQ"
    about = "group key"
    excuses = (
        Excuse("a listener has asked for it at once", when=lambda rule, told: told.about in rule.asked),
        cause("X5", "a client has sent it itself, which counts as one attempt more",
              when=lambda rule, told: told.about[1:] in rule.anew),
    )

    anew = Kept("key", survives="all", begins=(SENT_ANEW,))
    asked = Kept("group key", survives="all")
    # How often each message was tried before a listener was given it last, and how often its group tries again.
    tried = Kept("group key", survives="all")
    most = Kept("group", survives="all")

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> None:
        del at
        self.most[event.group,] = event.most
        for key, attempt in zip(event.keys, event.attempts, strict=True):
            self.tried[event.group, key] = max(attempt, self.tried.get((event.group, key), 0))

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        del at
        for key, answer in zip(event.keys, event.answers, strict=True):
            if event.level < 0 and has_failed(answer):
                self.asked[event.group, key] = ms

    @on(MessageAppended)
    def appended(self, _: int, at: str, event: MessageAppended) -> Iterator[Told]:
        group = event.topic.removeprefix(DLQ_GROUP_TOPIC_PREFIX)
        if event.key is None or group == event.topic or (group,) not in self.most:
            return
        tried, most = self.tried.get((group, event.key), -1), self.most[group,]
        if tried < most:
            yield self.told(f"{at} makes {event.key} a dead letter of {group} after {tried + 1} of {most + 1} attempts",
                            group, event.key)


class retries_wait_longer_each_time(Rule):
    """Who has failed with a message for the nth time is not given it before the delay of level n + 2 is over.

    A listener may ask for another level; a copy that its client sends itself does not have that.
    A message that a listener has had for too long is sent back with the first of these levels, whichever attempt it is.
    """

    shipped = "violated: V5 what recovery dispatches is due at once"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack: 3 + getReconsumeTimes, MessageStoreConfig.messageDelayLevel"
    about = "group key"
    excuses = (
        Excuse("the clock of a machine was set or drifts: a broker counts by its own",
               when=lambda rule, _: bool(rule.past.of(events.ClockJumped, events.ClockDrifts))),
        cause("V5", "its broker has recovered it from a crash while it was to wait",
              when=lambda rule, told: was_recovered(rule, told.about[1])),
    )

    # Since when a listener has it, and at which attempt; where and when listeners have failed with it at an attempt:
    # several, where several have had it. Each has put it off, and what the first one has put off comes first. Who
    # cannot send it back tries it again where it is, and counts that; its broker counts from what is stored, `first`.
    since_ms = Kept("at mq offset")
    first = Kept("mq offset key", survives="all")
    failed = Kept("group key attempt", survives="all")
    anew = Kept("key", survives="all", begins=(SENT_ANEW,))

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        for key, offset, answer in zip(event.keys, event.offsets, event.answers, strict=True):
            began_ms, attempt = self.since_ms.pop((at, event.mq, offset), (ms, 0))
            if has_failed(answer) and ms - began_ms < deadlines.LISTENER_EXPIRY_MS:
                for counted in sorted({attempt, self.first.get((event.mq, offset, key), attempt)}):
                    failed = self.failed.setdefault((event.group, key, counted), {})
                    failed.setdefault((event.mq, offset), []).append((ms, event.level))

    @on(MessagesGiven)
    def gives(self, ms: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        for key, offset, attempt in zip(event.keys, event.offsets, event.attempts, strict=True):
            self.since_ms[at, event.mq, offset] = ms, attempt
            self.first.setdefault((event.mq, offset, key), attempt)
            is_retry = event.mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX) and attempt <= len(deadlines.RETRY_DELAYS_MS)
            failures = self.failed.get((event.group, key, attempt - 1)) if is_retry else None
            if not failures or (event.mq, offset) in failures:
                continue
            left_ms, failed_ms = min((self._delay_ms(key, attempt, level) - (ms - failed_ms), failed_ms)
                                     for failed_ms, level in chain(*failures.values()))
            if left_ms > 0:
                waited_ms = ms - failed_ms
                yield self.told(f"{at} is given {key} again {waited_ms} ms after attempt {attempt} has failed, and "
                                f"it is to wait {waited_ms + left_ms} ms", event.group, key)

    def _delay_ms(self, key: str, attempt: int, level: int) -> int:
        """How long a message waits at least that has failed at this attempt, for whom a level was asked."""
        as_it_is = deadlines.RETRY_DELAYS_MS[attempt - 1]
        asked_ms = deadlines.LEVELS_MS[level - 1] if level > 0 else as_it_is
        return min(asked_ms, as_it_is) if (key,) in self.anew else asked_ms


class expired_message_is_put_off(Rule):
    """What a listener has had for too long is sent back with the third level.

    A copy that its client sends itself has one level more for each attempt.
    """

    cite = "ProcessQueue#cleanExpiredMsg: sendMessageBack(msg, 3), DefaultMQPushConsumerImpl#sendMessageBack"
    about = "at group key"

    given = Kept("at group mq offset")
    put_off = Kept("key", survives="all")

    @on(MessagesGiven)
    def gives(self, ms: int, at: str, event: MessagesGiven) -> None:
        for offset, *given in zip(event.offsets, event.keys, event.attempts, strict=True):
            self.given[at, event.group, event.mq, offset] = ms, *given

    @on(MessageAppended)
    def appended(self, ms: int, _: str, event: MessageAppended) -> None:
        if event.topic == RMQ_SYS_SCHEDULE_TOPIC:
            self.put_off.setdefault((event.key,), []).append((ms, event.queue_id + 1))

    @on(events.MessagesExpired)
    def expires(self, _: int, at: str, event: events.MessagesExpired) -> Iterator[Told]:
        for offset in event.offsets:
            given_ms, key, attempt = self.given.get((at, event.group, event.mq, offset), (0, None, 0))
            levels = {level for ms, level in self.put_off.get((key,), ()) if ms >= given_ms}
            if levels and not levels & {_EXPIRED_LEVEL, _EXPIRED_LEVEL + attempt}:
                yield self.told(f"{key} has expired at {at}, and is put off with level {min(levels)}", at, event.group,
                                key)


def rest_of(asked_ms: int) -> int:
    """How long a queue rests for which so much was asked."""
    return min(max(asked_ms, deadlines.LEAST_REST_MS), deadlines.GREATEST_REST_MS)


class sent_back_is_taken(Rule):
    """Where nothing fails a broker takes what is sent back to it: no consumer has to send a message itself.

    Who reads in order sends what it gives up itself.
    """

    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, DefaultMQPushConsumerImpl#sendMessageBack"
    about = "at key"
    calm = True

    @on(events.SendAttempted)
    def sends(self, _: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        group = event.mq.topic.removeprefix(RETRY_GROUP_TOPIC_PREFIX)
        is_anew = event.group == CLIENT_INNER_PRODUCER_GROUP and group != event.mq.topic
        if is_anew and not self.facts.is_orderly(at, group):
            yield self.told(f"{at} sends {event.key} to {event.mq.topic} itself: no broker has taken it back", at,
                            event.key)


class suspended_queue_rests(Rule):
    """A queue whose listener works in order and has failed rests before the same message is given to it again.

    So it does when that has rolled back. The listener may say how long; it is 10 ms to 30 s. A queue that is given up
    and taken again begins anew.
    """

    cite = ("ConsumeMessageOrderlyService#submitConsumeRequestLater: suspendCurrentQueueTimeMillis, "
            "ConsumeOrderlyContext#setSuspendCurrentQueueTimeMillis")
    about = "at group mq"
    excuses = (clock_was_set("at"),)

    failed = Kept("at group mq offset", ends=(Match(events.QueueTaken, of="at group mq"),))

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        for offset, answer in zip(event.offsets, event.answers, strict=True):
            if has_failed(answer) or answer == ROLLBACK:
                self.failed[at, event.group, event.mq, offset] = ms, event.rest_ms

    @on(MessagesGiven)
    def gives(self, ms: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        first = next(iter(event.offsets), None)
        failed_ms, asked_ms = self.failed.pop((at, event.group, event.mq, first), (None, -1))
        rest_ms = rest_of(event.rest_ms if asked_ms < 0 else asked_ms)
        if event.orderly and failed_ms is not None and ms - failed_ms < rest_ms:
            yield self.told(f"{at} is given {first} of {queue_text(event.mq)} again {ms - failed_ms} ms "
                            f"after it has failed, and the queue is to rest {rest_ms} ms",
                            at, event.group, event.mq)


class rested_queue_goes_on(Duty):
    """Where nothing fails a queue that rests is given to its listener again when that is over.

    It is given up before, or its consumer ends.
    """

    cite = "ConsumeMessageOrderlyService#submitConsumeRequestLater"
    about = "at group mq"
    calm = True
    within_ms = deadlines.rested
    paid_by = (events.QueueDropped, events.QueueTaken)
    excuses = (Excuse("a broker was away, and locks may be out of reach", when=a_broker_was_away),
               Excuse("its consumer shuts down", by=(events.ConsumerStopping, events.ConsumerShutDown)))
    late = "{at} is to be given queue {mq.queue_id} of {mq.topic} at {mq.broker_name} again since {waited_ms} ms"

    given = Kept("at group mq", ends=(events.QueueDropped, events.QueueTaken), begins=(MessagesGiven,),
                 value=lambda _, event: event)

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        key = at, event.group, event.mq
        given = self.given.get(key)
        if given is not None and given.orderly and (ROLLBACK in event.answers or is_put_back(event, given)):
            self.owe(key, ms + rest_of(given.rest_ms if event.rest_ms < 0 else event.rest_ms))

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> None:
        self.pay((at, event.group, event.mq))


class batch_is_no_larger_than_wished(Rule):
    """A listener is given at least one message, and no more at once than its consumer is configured to give it."""

    cite = "DefaultMQPushConsumer.consumeMessageBatchMaxSize, ConsumeMessageConcurrentlyService#submitConsumeRequest"
    about = "at group"

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        if not 0 < len(event.offsets) <= event.most_at_once:
            yield self.told(f"{at} is given {len(event.offsets)} messages of {queue_text(event.mq)} at once, and wants "
                            f"{event.most_at_once}", at, event.group)
