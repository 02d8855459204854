"""Rules of the messages of a queue that is held: pulls leave none out, and listeners are given all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.start_offset import NO_OFFSET
from impl.events import (
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    MessageAppended,
    MessagesAnswered,
    MessagesFound,
    MessagesSettled,
    PullAnswered,
    PullFailed,
    PullSuspended,
    QueueDropped,
    QueueTaken,
)
from invariants.rules import deadlines
from invariants.rules.answers import SUCCESS
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.past import place_of
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.weather import a_broker_was_away


class pulls_follow_one_another(Rule):
    """A consumer pulls a queue from where it begins it, and then from behind the messages that it has found.

    An orderly consumer reads its offset again when it has the lock: its first pull may begin elsewhere, and so may a
    pull that was about to be made when the queue was taken away and taken again.
    """

    shipped = "violated: X21 a queue that was reset and taken again is pulled by two"
    cite = "PullCallback#onSuccess: setNextOffset, DefaultMQPushConsumerImpl#pullMessage"
    about = "at client_id group mq"

    # Where the next pull is to begin.
    next_offset = Kept("at client_id group mq", ends=(QueueDropped, ConsumerShutDown), begins=(QueueTaken,),
                       value=lambda _, event: event.offset)
    # How far the broker has looked that has answered the last pull.
    looked_to = Kept("at client_id group mq", ends=(QueueDropped, ConsumerShutDown))
    # Where pulls have begun, those of former holdings too: a broker answers them late.
    begun = Kept("at client_id group mq", ends=(ConsumerShutDown,))

    @on(MessagesFound)
    def finds(self, _: int, at: str, event: MessagesFound) -> None:
        key = at, *event[:3]
        if key in self.next_offset:
            self.next_offset[key] = event.offsets[-1] + 1

    @on(PullAnswered)
    def is_answered(self, _: int, at: str, event: PullAnswered) -> None:
        """The broker has looked further than to the last message, where the consumer has not subscribed the rest.

        A pull that finds nothing where it began has not led further.
        """
        key, there = (at, *event[:3]), event.next_begin_offset
        in_vain = event.code == PullCode.PULL_NOT_FOUND and there in self.begun.get(key, ())
        if there > self.next_offset.get(key, there) and not in_vain:
            self.looked_to[key] = there

    @on(PullSuspended)
    def pulls(self, ms: int, at: str, event: PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        self.begun.setdefault(key, set()).add(event.offset)
        offset = self.next_offset.get(key, event.offset)
        looked_to = self.looked_to.pop(key, offset)
        if event.offset == offset:
            return
        self.next_offset[key] = event.offset
        if event.offset == looked_to:
            return
        if not (self.facts.is_orderly(at, event.group) and self._was_answered(ms, at, event)):
            sentence = f"{at} pulls {queue_text(event.mq)} from {event.offset}, and is at {offset}"
            yield self.told(sentence, *key)

    def _was_answered(self, ms: int, at: str, event: PullSuspended) -> bool:
        """Whether a broker has just answered this offset, or that there is none."""
        answers = self.facts.recent_answers(at, event.group, event.mq, ms - deadlines.begun(self.bounds))
        return any(one.offset in {event.offset, NO_OFFSET} for one in answers)


class pull_goes_on_where_it_is_told(Rule):
    """Where nothing fails a push consumer pulls a queue next from where the broker has said that the next pull begins.

    What it looks for may lie far behind what it has found. Answers to pulls of former holdings say nothing.
    """

    cite = "PullCallback#onSuccess: pullRequest.setNextOffset(pullResult.getNextBeginOffset())"
    about = "at client_id group mq"
    calm = True

    pushed = Kept("at client_id group", begins=(ConsumerStarted,), ends=(ConsumerShutDown,))
    # Pulls that are not answered; which holding is judged, and where its next pull begins.
    asked = Kept(about, ends=(ConsumerShutDown,))
    next_offset = Kept(about, ends=(QueueDropped, QueueTaken, ConsumerShutDown))
    unsure = Kept(about, ends=(ConsumerShutDown,))

    @on(QueueTaken)
    def takes(self, _: int, at: str, event: QueueTaken) -> None:
        key = at, *event[:3]
        self.unsure[key] = bool(self.asked.get(key))

    @on(PullSuspended)
    def pulls(self, _: int, at: str, event: PullSuspended) -> Iterator[Told]:
        key = at, *event[:3]
        self.asked[key] = self.asked.get(key, 0) + 1
        offset = self.next_offset.pop(key, event.offset)
        if event.offset != offset and key[:3] in self.pushed:
            yield self.told(f"{at} pulls {queue_text(event.mq)} from {event.offset}, and was told to go on at {offset}",
                            *key)

    @on(PullAnswered, PullFailed)
    def ends(self, _: int, at: str, event: PullAnswered | PullFailed) -> None:
        key = at, *event[:3]
        left = self.asked[key] = max(self.asked.get(key, 0) - 1, 0)
        if not left and not self.unsure.get(key, True) and isinstance(event, PullAnswered):
            self.next_offset[key] = event.next_begin_offset
        self.unsure[key] = self.unsure.get(key, True) and left > 0


class cache_is_counted(Rule):
    """A process queue that is held counts as many messages, and as many bytes, as it has.

    Who counts more pulls no more at some time, though nothing waits.
    """

    cite = "ProcessQueue#putMessage, #removeMessage: msgCount, msgSize"
    about = "at client_id group mq"
    excuses = (Excuse("it has found two messages of one number: of these it keeps the second, and counts the first",
                      when=lambda rule, told: rule.has_two_of_one_number(*told.about)),)

    _looked_ms = 0

    def has_two_of_one_number(self, at: str, client_id: str, group: str, mq: MessageQueue) -> bool:
        """Whether an offset was found twice since the consumer has taken the queue, and was that of two messages."""
        queue: dict[str, Any] = {"at": at, "client_id": client_id, "group": group, "mq": mq}
        since = place_of(self.past.last(QueueTaken, **queue))
        found = [offset for one in self.past.of(MessagesFound, since=since, **queue) for offset in one.event.offsets]
        return any(found.count(offset) > 1 and len(self._keys(mq, offset)) > 1 for offset in {*found})

    def _keys(self, mq: MessageQueue, queue_offset: int) -> set[str]:
        """The messages that a broker of this name has put there, one after the other."""
        put = self.past.of(MessageAppended, topic=mq.topic, queue_id=mq.queue_id, queue_offset=queue_offset)
        return {one.event.key for one in put if self.facts.broker_name(one.at) == mq.broker_name}

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at the tables once in a while."""
        if now_ms - self._looked_ms < deadlines.PERSIST_MS:
            return
        self._looked_ms = now_ms
        for one in self.views.caches():
            if (one.msg_count, one.msg_size_bytes) != (one.messages, one.size_bytes):
                yield self.told(f"{one.machine} counts {one.msg_count} messages of {one.msg_size_bytes} bytes of "
                                f"{queue_text(one.mq)}, and has {one.messages} of {one.size_bytes}", *one[:4])


class found_is_settled(Duty):
    """A consumer whose listener always succeeds settles all that it has found, one batch after another.

    It does so as long as it holds the queues: whoever gives one up need not settle what is left of it.
    """

    cite = "ConsumeMessageService#submitConsumeRequest, ConsumeMessageOrderlyService.ConsumeRequest#run"
    about = "at client_id group"
    within_ms = deadlines.settled
    excuses = (
        Excuse("its consumer shuts down", by=ConsumerStopping),
        Excuse("it listens in order, and something has failed, or a broker was away: its locks may be out of reach",
               when=lambda rule, told: rule.facts.is_orderly(told.about[0], told.about[2]) and (
                   not rule.views.calm() or a_broker_was_away(rule, told))),
        Excuse("a listener of the group has not succeeded there",
               when=lambda rule, told: (told.about[0], told.about[2]) in rule.failed),
    )

    failed = Kept("at group")

    late = ("{at} has found message {what[0]} of queue {what[1].queue_id} of {what[1].topic} at {what[1].broker_name} "
            "in group {group}, and has settled nothing for {waited_ms} ms")

    @on(MessagesAnswered)
    def answers(self, ms: int, at: str, event: MessagesAnswered) -> None:
        if any(answer != SUCCESS for answer in event.answers):
            self.failed.setdefault((at, event.group), ms)

    @on(MessagesSettled)
    def settles(self, _: int, at: str, event: MessagesSettled) -> None:
        self.pay((at, event.client_id, event.group))

    @after(MessagesFound, MessagesSettled, QueueDropped)
    def is_to_settle(self, ms: int, at: str, event: Any) -> None:
        key = at, event.client_id, event.group
        least = self._least_open(*key)
        if least is None or key in self.facts.stopping:
            self.pay(key)
        else:
            self.owe(key, ms, least)

    def _least_open(self, at: str, client_id: str, group: str) -> tuple[int, MessageQueue] | None:
        """A message that was found in a queue that is held, and not settled."""
        for *_, mq in self.facts.held_at(at, client_id, group):
            progress = self.facts.progress.get((at, group, mq))
            if progress is not None and progress.open:
                return min(progress.open), mq
        return None
