"""Rules of listeners and of those who call them: one at a time in order, and what comes of what they answer."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from impl import events
from impl.decisions.names import DLQ_GROUP_TOPIC_PREFIX, RMQ_SYS_SCHEDULE_TOPIC
from invariants.rules import deadlines
from invariants.rules.answers import NEVER, has_failed
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.weather import clock_was_set

ROW_MS, REST_MS = 60_000, 10
"""ConsumeMessageOrderlyService: MAX_TIME_CONSUME_CONTINUOUSLY, and for how long its end is put off then."""
_UNREGISTERED = Match(events.ConsumerRemoved, of="client=connection.machine client_id group",
                      having=lambda one: one.why == "unregistered")
_TAKEN = Match(events.QueueTaken, of="at group mq")


class queue_has_one_thread(Rule):
    """A process has one thread at a time at work on a queue that is read in order, whatever has become of the queue."""

    cite = "MessageQueueLock, ConsumeMessageOrderlyService.ConsumeRequest#run: synchronized (objLock)"
    about = "at client_id group mq"

    @on(events.ListenerStarted)
    def begins(self, _: int, at: str, event: events.ListenerStarted) -> Iterator[Told]:
        since_ms = self.facts.busy.get((at, *event))
        if since_ms is not None:
            yield self.told(f"a second listener of {at} begins with {queue_text(event.mq)}", at, *event,
                            since_ms=since_ms)


class given_up_is_not_settled(Rule):
    """What listeners beside each other answer of a queue that was given up before is not looked at.

    Whoever has the queue is given it again. A batch that is worked on in order may be settled while its lock is kept.
    """

    cite = "ConsumeMessageConcurrentlyService.ConsumeRequest#run: isDropped, #processConsumeResult"
    about = "at group mq offset"

    dropped_ms = Kept("at group mq", begins=(events.QueueDropped,), ends=(events.QueueTaken,))
    answered_ms = Kept("at group mq offset")

    @on(events.MessagesAnswered)
    def answers(self, ms: int, at: str, event: events.MessagesAnswered) -> None:
        self.answered_ms.update({(at, event.group, event.mq, offset): ms for offset in event.offsets})

    @on(events.MessagesSettled)
    def settles(self, _: int, at: str, event: events.MessagesSettled) -> Iterator[Told]:
        dropped_ms = self.dropped_ms.get((at, event.group, event.mq))
        in_order = self.facts.is_orderly(at, event.group)
        for offset in event.offsets if dropped_ms is not None and not in_order else ():
            key = at, event.group, event.mq, offset
            if self.answered_ms.get(key, -1) > dropped_ms:
                yield self.told(f"{at} has settled {offset} of {queue_text(event.mq)}, which it had given up when its "
                                "listener ended", *key, since_ms=dropped_ms)


class attempts_count_up(Rule):
    """Who is given a message again where it is, after a listener has failed with it, is told of one attempt more."""

    shipped = "violated: X26 a batch is suspended with a dead letter in it"
    cite = "ConsumeMessageConcurrentlyService#processConsumeResult, ConsumeMessageOrderlyService#checkReconsumeTimes"
    about = "at group mq offset"
    excuses = (cause("X26", "its last attempt had failed, and another one of its batch was to come again",
                     when=lambda rule, told: told.about in rule.last),)

    # What listeners have failed with, and at which attempt; where it was the last one.
    given = Kept("at group mq offset", ends=(_TAKEN,))
    failed = Kept("at group mq offset", ends=(_TAKEN,))
    last = Kept("at group mq offset", ends=(_TAKEN,))

    @on(events.MessagesAnswered)
    def answers(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        for offset, answer in zip(event.offsets, event.answers, strict=True):
            key = at, event.group, event.mq, offset
            if has_failed(answer) and key in self.given:
                self.failed[key] = self.given[key]

    @on(events.MessagesGiven)
    def gives(self, ms: int, at: str, event: events.MessagesGiven) -> Iterator[Told]:
        for offset, attempt in zip(event.offsets, event.attempts, strict=True):
            key = at, event.group, event.mq, offset
            failed = self.failed.pop(key, -1)
            if attempt <= failed:
                if attempt >= event.most:
                    self.last[key] = ms
                yield self.told(f"{at} is given {offset} of {queue_text(event.mq)} at attempt {attempt + 1} again, "
                                "with which a listener has failed", *key)
            self.given[key] = attempt


class failed_is_settled_when_it_is_kept(Rule):
    """A message with which a listener has failed is settled only when some broker has stored it again since.

    Who broadcasts fails once and for all.
    """

    cite = ("ConsumeMessageConcurrentlyService#processConsumeResult: msgBackFailed, "
            "ConsumeMessageOrderlyService#checkReconsumeTimes")
    about = "at group mq offset"

    # When a listener has failed with a message, and its key; when a broker has stored that as delayed, or as dead.
    failed = Kept("at group mq offset", ends=(_TAKEN,))
    stored_ms = Kept("key", survives="all")

    @on(events.MessagesAnswered)
    def answers(self, ms: int, at: str, event: events.MessagesAnswered) -> None:
        for key, offset, answer in zip(event.keys, event.offsets, event.answers, strict=True):
            if key and has_failed(answer):
                self.failed[at, event.group, event.mq, offset] = ms, key

    @on(events.MessagesGiven)
    def gives(self, _: int, at: str, event: events.MessagesGiven) -> None:
        for offset in event.offsets:
            self.failed.pop((at, event.group, event.mq, offset), None)

    @on(events.MessageAppended)
    def stores(self, ms: int, at: str, event: events.MessageAppended) -> None:
        del at
        if event.key is not None and event.topic.startswith((RMQ_SYS_SCHEDULE_TOPIC, DLQ_GROUP_TOPIC_PREFIX)):
            self.stored_ms[event.key,] = ms

    @on(events.MessagesSettled)
    def settles(self, _: int, at: str, event: events.MessagesSettled) -> Iterator[Told]:
        for offset in event.offsets:
            about = at, event.group, event.mq, offset
            failed_ms, key = self.failed.pop(about, (-1, ""))
            if self.stored_ms.get((key,), -1) < failed_ms and not self.facts.broadcasts(at, event.group):
                yield self.told(f"{at} has settled {offset} of {queue_text(event.mq)}, with which a listener has "
                                "failed, and which no broker has stored again", *about, since_ms=failed_ms)


class broadcast_is_over_when_it_is_answered(Duty):
    """What a listener of a broadcasting member has answered is settled, whatever it says: nothing comes again."""

    cite = "ConsumeMessageConcurrentlyService#processConsumeResult: BROADCASTING, drop it"
    about = "at group mq"
    within_ms = deadlines.updated
    paid_by = (events.QueueTaken, events.QueueDropped, events.OffsetReset)
    excuses = (Excuse("its consumer shuts down", by=(events.ConsumerStopping, events.ConsumerShutDown)),)
    late = "{at} has not settled {what} of queue {mq.queue_id} of {mq.topic} at {mq.broker_name} in {waited_ms} ms"

    taken = Kept("at group mq", begins=(events.QueueTaken,), ends=(events.QueueDropped, events.OffsetReset))

    @on(events.MessagesAnswered)
    def answers(self, ms: int, at: str, event: events.MessagesAnswered) -> None:
        key = at, event.group, event.mq
        if key in self.taken and NEVER not in event.answers and self.facts.broadcasts(at, event.group):
            self.owe(key, ms, event.offsets[0])

    @on(events.MessagesSettled)
    def settles(self, _: int, at: str, event: events.MessagesSettled) -> None:
        key = at, event.group, event.mq
        if key in self.owed and self.owed[key][2] in event.offsets:
            self.pay(key)


class expired_was_had_too_long(Rule):
    """A message is sent back from under a listener only if that has had it for the time that its user allows.

    What is on its way back when its queue is lost may come to its end when the queue was taken anew, and the message is
    with another listener, too. Then the former one has had it for so long before.
    """

    cite = "ProcessQueue#cleanExpiredMsg: consumeTimeout"
    about = "at group mq offset"
    excuses = (clock_was_set("at"),)

    # Since when listeners have had it that have not answered; and since when its client has the queue.
    since_ms = Kept("at group mq offset")
    taken_ms = Kept("at group mq", begins=(events.QueueTaken,))

    @on(events.MessagesGiven)
    def gives(self, ms: int, at: str, event: events.MessagesGiven) -> None:
        for offset in event.offsets:
            key = at, event.group, event.mq, offset
            self.since_ms[key] = *self.since_ms.get(key, ()), ms

    @on(events.MessagesAnswered)
    def is_answered(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        for offset, answer in zip(event.offsets, event.answers, strict=True):
            key = at, event.group, event.mq, offset
            if answer != NEVER:
                self.since_ms[key] = self.since_ms.get(key, ())[1:]

    @on(events.MessagesExpired)
    def expires(self, ms: int, at: str, event: events.MessagesExpired) -> Iterator[Told]:
        timeout_ms = self.views.consume_timeout_ms(at, event.group) or 0
        for offset in event.offsets:
            key = at, event.group, event.mq, offset
            taken_ms, given = self.taken_ms.get(key[:3], 0), self.since_ms.get(key, ())
            had_ms = max(((taken_ms if since_ms < taken_ms else ms) - since_ms for since_ms in given), default=0)
            self.since_ms[key] = given[1:]
            if had_ms < timeout_ms:
                yield self.told(f"{at} sends {offset} of {queue_text(event.mq)} back, which a listener has had for "
                                f"{had_ms} ms, and may have for {timeout_ms} ms", *key)


class leaver_commits_before_it_leaves(Rule):
    """Where nothing fails who shuts down has committed when it says goodbye: others take its queues at once.

    What a broker takes of a client behind its goodbye counts from the first broker on that takes the goodbye. A timer
    that was under way may send once more what was sent before.
    """

    cite = "DefaultMQPushConsumerImpl#shutdown: persistConsumerOffset, unregisterConsumer"
    about = "at group mq"
    calm = True
    excuses = (Excuse("its client resets queues, which commits them at the end", by=Match(
        events.ResetReceived, of="at group"), lasts=deadlines.reset),)

    gone_ms = Kept("client client_id group", survives="all", begins=(_UNREGISTERED,),
                   ends=(Match(events.ConsumerStarted, of="client=at client_id group"),))
    sent = Kept("at group mq")  # the greatest before

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        since_ms, before = self.gone_ms.get((at, event.client_id, event.group)), self.sent.get(key, -1)
        if since_ms is None:
            self.sent[key] = max(before, event.offset)
        elif event.offset > before:
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)} behind its goodbye", *key,
                            since_ms=since_ms)


class ordered_queue_rests_after_a_minute(Rule):
    """Who works on a queue in order begins no batch after a minute without rest: others get the thread for 10 ms.

    Looked at where nothing fails, and as long as the queue has messages.
    """

    cite = "ConsumeMessageOrderlyService.ConsumeRequest#run: MAX_TIME_CONSUME_CONTINUOUSLY"
    about = "at client_id group mq"
    calm = True

    # When a row of batches has begun, and its last one ended.
    begun_ms = Kept("at client_id group mq", ends=(events.QueueDropped,))
    ended_ms = Kept("at client_id group mq", ends=(events.QueueDropped,), begins=(events.ListenerEnded,))

    @on(events.MessagesFound)
    def finds(self, _: int, at: str, event: events.MessagesFound) -> None:
        # A queue that nobody works on may have been empty until now.
        if (at, *event[:3]) not in self.facts.busy:
            self.ended_ms.pop((at, *event[:3]), None)

    @on(events.ListenerStarted)
    def begins(self, ms: int, at: str, event: events.ListenerStarted) -> Iterator[Told]:
        key = at, *event
        if ms - self.ended_ms.get(key, -inf) >= REST_MS:
            self.begun_ms[key] = ms
        since_ms = self.begun_ms.get(key, ms)
        if ms - since_ms > ROW_MS:
            self.begun_ms[key] = ms
            yield self.told(f"{at} has worked on {queue_text(event.mq)} for {ms - since_ms} ms, and begins again", *key,
                            since_ms=since_ms)
