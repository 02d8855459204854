"""When what has failed comes again, and when it is given up: never sooner than a listener's user may count on."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import DLQ_GROUP_TOPIC_PREFIX, RETRY_GROUP_TOPIC_PREFIX
from impl.events import MessageAppended, MessagesAnswered, MessagesGiven
from invariants.rules import deadlines
from invariants.rules.delays import was_recovered
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.rules.sending import SENT_ANEW
from invariants.rules.weather import clock_was_set

SUCCESS = "SUCCESS"


class given_up_after_all_attempts(Rule):
    """A message is a dead letter of a group only if a listener was given it at its last attempt."""

    judges = "dead_letter_comes_after_all_attempts"
    shipped = "violated: X5 a copy that a consumer sends itself"
    cite = "SendMessageProcessor#asyncConsumerSendMsgBack, #handleRetryAndDLQ"
    about = "group key"
    excuses = (cause("X5", "a client has sent it itself, which counts as one attempt more",
                     when=lambda rule, told: told.about[1:] in rule.anew),)

    anew = Kept("key", survives="all", begins=(SENT_ANEW,))
    # How often each message was tried before a listener was given it last, and how often its group tries again.
    tried = Kept("group key", survives="all")
    most = Kept("group", survives="all")

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> None:
        del at
        self.most[event.group,] = event.most
        for key, attempt in zip(event.keys, event.attempts, strict=True):
            self.tried[event.group, key] = max(attempt, self.tried.get((event.group, key), 0))

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
    # cannot send it back tries it again where it is.
    since_ms = Kept("at mq offset")
    failed = Kept("group key attempt", survives="all")

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        for key, offset, answer in zip(event.keys, event.offsets, event.answers, strict=True):
            began_ms, attempt = self.since_ms.pop((at, event.mq, offset), (ms, 0))
            if answer != SUCCESS and ms - began_ms < deadlines.LISTENER_EXPIRY_MS:
                self.failed.setdefault((event.group, key, attempt), {}).setdefault((event.mq, offset), ms)

    @on(MessagesGiven)
    def gives(self, ms: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        for key, offset, attempt in zip(event.keys, event.offsets, event.attempts, strict=True):
            self.since_ms[at, event.mq, offset] = ms, attempt
            is_retry = event.mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX) and attempt <= len(deadlines.RETRY_DELAYS_MS)
            failures = self.failed.get((event.group, key, attempt - 1)) if is_retry else None
            if not failures or (event.mq, offset) in failures:
                continue
            waited_ms = ms - next(iter(failures.values()))
            if waited_ms < deadlines.RETRY_DELAYS_MS[attempt - 1]:
                yield self.told(f"{at} is given {key} again {waited_ms} ms after attempt {attempt} has failed, and "
                                f"it is to wait {deadlines.RETRY_DELAYS_MS[attempt - 1]} ms", event.group, key)


class suspended_queue_rests(Rule):
    """A queue whose listener works in order and has failed rests before the same message is given to it again.

    A queue that is given up and taken again begins anew.
    """

    cite = "ConsumeMessageOrderlyService#submitConsumeRequestLater: suspendCurrentQueueTimeMillis"
    about = "at group mq"
    excuses = (clock_was_set("at"),)

    failed = Kept("at group mq offset", ends=(Match(events.QueueTaken, of="at group mq"),))

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        for offset, answer in zip(event.offsets, event.answers, strict=True):
            if answer != SUCCESS:
                self.failed[at, event.group, event.mq, offset] = ms

    @on(MessagesGiven)
    def gives(self, ms: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        failed_ms = self.failed.pop((at, event.group, event.mq, event.offsets[0]), None)
        if event.orderly and failed_ms is not None and ms - failed_ms < event.rest_ms:
            yield self.told(f"{at} is given {event.offsets[0]} of {queue_text(event.mq)} again {ms - failed_ms} ms "
                            f"after it has failed, and the queue is to rest {event.rest_ms} ms",
                            at, event.group, event.mq)


class batch_is_no_larger_than_wished(Rule):
    """A listener is given no more messages at once than its consumer is configured to give it."""

    cite = "DefaultMQPushConsumer.consumeMessageBatchMaxSize, ConsumeMessageConcurrentlyService#submitConsumeRequest"
    about = "at group"

    @on(MessagesGiven)
    def gives(self, _: int, at: str, event: MessagesGiven) -> Iterator[Told]:
        if len(event.offsets) > event.most_at_once:
            yield self.told(f"{at} is given {len(event.offsets)} messages of {queue_text(event.mq)} at once, and wants "
                            f"{event.most_at_once}", at, event.group)
