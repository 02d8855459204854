"""What is so of offsets in a run: a part of the facts that all rules share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.subscription import SUB_ALL
from invariants.rules.match import Match, machine_of
from invariants.rules.past import Past, Reported, place_of
from invariants.rules.rule import Hears, Kept, Rule, on

FULL_PERCENT = 100
CORRECTED = "its client had not been through with correcting the offset when it took the queue anew and settled it"
FORGOTTEN = "the timer that commits was at it from before the queue was taken until it was settled"
Place = tuple[str, MessageQueue]
"""Group and queue."""
Span = tuple[float, float]
"""From when until when."""


class Progress:
    """How far a client is in a queue since it began it.

    end -- the offset behind all that was found. passed -- the same, and behind what was filtered away. open
    -- what was found and is not settled. told -- the greatest offset that a broker has answered since, or at which an
    ordered queue was pulled first. settled_ms -- what was settled, and when.
    """

    __slots__ = ("end", "open", "passed", "settled_ms", "told")

    def __init__(self, offset: int) -> None:
        """Begin at an offset."""
        self.end = self.passed = self.told = offset
        self.open: set[int] = set()
        self.settled_ms: dict[int, int] = {}

    @property
    def all_below(self) -> int:
        """All below this offset is settled."""
        return min(self.open) if self.open else self.end

    @property
    def may_commit(self) -> int:
        """All below this offset is settled, or was filtered away."""
        return min(self.open) if self.open else self.passed


class At(NamedTuple):
    """An offset that was remembered, sent, committed or answered: when, at which machine; number -- of the event.

    connection -- on which a commit came to a broker.
    """

    ms: int
    at: str
    offset: int
    number: int = 0
    connection: str = ""


class OffsetFacts(Hears):
    """Tables by machine ("at") unless said otherwise.

    progress -- at a client: group, queue: its Progress. answers -- the same: the offsets that brokers have answered to
    it. remembered -- group, queue: what members have put into memory. sent, arrived -- the same: the commits that they
    have sent, and that came to brokers. Of equal ones in a row these three have the first. said -- at a client: where
    the last answer to a pull of a queue says that the next one is to begin. given -- the same of an answer with
    messages, as long as the client has found none of them. expressions -- name of a broker, group,
    topic: the last one that the broker was given. left_out -- group, queue: the offsets that answers to pulls have left
    out. pulls -- at a client: when pulls of a queue began that are on their way, also before it was given up; None:
    nobody knows which of several was answered. committed -- at a broker: group, topic: what was committed of each queue
    id since it started. still -- at a client: when its process stood still, and how long. standing_ms -- until when it
    does so. full -- from when until when a disk had no room. polls_from -- at a client: group: the queues that a
    consumer has which is polled.
    """

    progress = Kept("at group mq", begins=(events.QueueTaken, events.OffsetReset, events.OffsetCorrected),
                    value=lambda _, event: Progress(event.offset))
    answers = Kept("at group mq")
    remembered = Kept("group mq", survives="all")
    sent = Kept("group mq", survives="all")
    arrived = Kept("group mq", survives="all")
    said = Kept("at group mq")
    given = Kept("at group mq", begins=(Match(events.PullAnswered, having=lambda one: one.code == PullCode.SUCCESS),),
                 value=lambda _, event: event.next_begin_offset,
                 ends=(events.MessagesFound, events.QueueTaken, events.OffsetReset, events.OffsetCorrected))
    expressions = Kept("broker_name group topic", survives="all")
    left_out = Kept("group mq", survives="all")
    pulls = Kept("at client_id group mq")
    still = Kept("at")
    standing_ms = Kept("at")
    full = Kept("at", survives="all")
    polls_from = Kept("at group", begins=(events.QueuesHeld,), value=lambda _, event: event.mqs)
    committed = Kept("at group topic", ends=(events.GroupOffsetsRemoved, events.BrokerStarted))
    _events = 0

    @on(events.SubscriptionUpdated)
    def is_subscribed(self, _: int, at: str, event: events.SubscriptionUpdated) -> None:
        self.expressions[self.broker_name(at), event.group, event.topic] = event.sub_string

    @on(events.PullSuspended)
    def pulls_it(self, ms: int, at: str, event: events.PullSuspended) -> None:
        self.pulls[at, *event[:3]] = *self.pulls.get((at, *event[:3]), ()), ms
        if dropped := self.passed_over(at, event):
            progress = self.progress[at, event.group, event.mq]
            progress.passed = max(progress.passed, dropped[-1] + 1)

    @on(events.PullAnswered, events.PullFailed)
    def pull_is_over(self, _: int, at: str, event: events.PullAnswered | events.PullFailed) -> None:
        if left := self.pulls.pop((at, *event[:3]), ())[1:]:
            self.pulls[at, *event[:3]] = (None,) * len(left)

    @on(events.MessagesFound)
    def finds(self, _: int, at: str, event: events.MessagesFound) -> None:
        progress = self.progress.get((at, event.group, event.mq))
        self.left_out.setdefault((event.group, event.mq), set()).update(self._left_out(at, event))
        if progress is not None:
            filtered, last = self.passed_over(at, event), event.offsets[-1]
            progress.open.update(event.offsets)
            progress.passed = max(last, filtered[-1]) + 1 if filtered else last + 1
            progress.end = last + 1

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> None:
        self.said[at, event.group, event.mq] = event.next_begin_offset
        progress, filtered = self.progress.get((at, event.group, event.mq)), self.passed_over(at, event)
        self.left_out.setdefault((event.group, event.mq), set()).update(self._left_out(at, event))
        if progress is not None and filtered:
            progress.passed = filtered[-1] + 1

    @on(events.MessagesSettled, events.MessagesExpired)
    def settles(self, ms: int, at: str, event: events.MessagesSettled | events.MessagesExpired) -> None:
        progress = self.progress.get((at, event.group, event.mq))
        if progress is not None:
            progress.open.difference_update(event.offsets)
            progress.settled_ms.update(dict.fromkeys(event.offsets, ms))

    @on(events.DiskFilled)
    def fills(self, ms: int, at: str, event: events.DiskFilled) -> None:
        spans = self.full.setdefault((at,), [])
        if event.percent >= FULL_PERCENT:
            spans.append((ms, inf))
        elif spans:
            spans[-1] = spans[-1][0], min(ms, spans[-1][1])

    @on(events.ProcessPaused)
    def was_paused(self, ms: int, at: str, event: events.ProcessPaused) -> None:
        self.still.setdefault((at,), []).append((ms, event.ms))
        self.standing_ms[at,] = max(ms + event.ms, self.standing_ms.get((at,), 0))

    @on(events.OffsetAnswered)
    def was_answered(self, ms: int, at: str, event: events.OffsetAnswered) -> None:
        for place in self.places(at, event):
            key = machine_of(event.connection), *place
            self.answers.setdefault(key, []).append(self._at(ms, at, event.offset))
            progress = self.progress.get(key)
            if progress is not None:
                progress.told = max(progress.told, event.offset)

    @on(events.PullBegun)
    def is_pulled_first(self, _: int, at: str, event: events.PullBegun) -> None:
        progress = self.progress.get((at, event.group, event.mq))
        if progress is not None:
            progress.told = max(progress.told, event.offset)

    @on(events.OffsetUpdated)
    def remembers(self, ms: int, at: str, event: events.OffsetUpdated) -> None:
        self._note(self.remembered, (event.group, event.mq), ms, at, event.offset)

    @on(events.OffsetSent)
    def was_sent(self, ms: int, at: str, event: events.OffsetSent) -> None:
        self._note(self.sent, (event.group, event.mq), ms, at, event.offset)

    @on(events.OffsetCommitted)
    def has_arrived(self, ms: int, at: str, event: events.OffsetCommitted) -> None:
        for place in self.places(at, event):
            self._note(self.arrived, place, ms, at, event.offset, event.connection)
        self.committed.setdefault((at, event.group, event.topic), {})[event.queue_id] = event.offset

    def _at(self, ms: int, at: str, offset: int, connection: str = "") -> At:
        self._events += 1
        return At(ms, at, offset, self._events, connection)

    def _note(self, trail: Kept, place: Place, ms: int, at: str, offset: int, connection: str = "") -> None:
        noted = trail.setdefault(place, [])
        if not noted or noted[-1].offset != offset or noted[-1].at != at:
            noted.append(self._at(ms, at, offset, connection))

    # Questions --------------------------------------------------------------------------------------------------------

    def had_no_room(self, at: str, since_ms: float, until_ms: float) -> bool:
        """Whether the disk of a machine was full at some time in between."""
        return any(begin_ms <= until_ms and since_ms <= end_ms for begin_ms, end_ms in self.full.get((at,), ()))

    def pulled_ms(self, at: str, event: events.PullAnswered) -> int | None:
        """When the pull began that is answered; None where others of the queue are, or were, on their way with it."""
        began_ms: tuple[int | None, ...] = self.pulls.get((at, *event[:3]), ())
        return began_ms[0] if len(began_ms) == 1 else None

    def broker_name(self, at: str) -> str:
        """The name of the broker that runs there, or ran there last."""
        raise NotImplementedError

    def places(self, at: str, event: events.OffsetCommitted | events.OffsetAnswered) -> Sequence[Place]:
        """Group and queue of an offset that a broker speaks of, by each name that clients may still call its broker."""
        raise NotImplementedError

    def passed_over(
        self, at: str, event: events.MessagesFound | events.PullAnswered | events.PullSuspended,
    ) -> Sequence[int]:
        """What was filtered away: what an answer leaves out, if not all of the topic is subscribed.

        With the next pull also what was given, if the client has dropped all of it, as all had other tags.
        """
        place = event.mq.broker_name, event.group, event.mq.topic
        is_filtered = self.expressions.get(place, SUB_ALL) != SUB_ALL
        if isinstance(event, events.PullSuspended):
            return self._dropped(at, event) if is_filtered else ()
        looked_on = isinstance(event, events.MessagesFound) or event.code == PullCode.PULL_RETRY_IMMEDIATELY
        return self._left_out(at, event) if is_filtered and looked_on else ()

    def _dropped(self, at: str, event: events.PullSuspended) -> Sequence[int]:
        key = at, event.group, event.mq
        progress = self.progress.get(key)
        return () if progress is None else range(progress.end, self.given.get(key, 0))

    def _left_out(self, at: str, event: events.MessagesFound | events.PullAnswered) -> Sequence[int]:
        """The offsets behind all that a client has found so far, and before what the broker says is next.

        Of an answer that has no messages, or of the messages of an answer. A client goes on from there, and has
        dropped what is missing if the broker has not.
        """
        progress = self.progress.get((at, event.group, event.mq))
        if isinstance(event, events.PullAnswered):
            is_empty = event.code in (PullCode.PULL_RETRY_IMMEDIATELY, PullCode.PULL_NOT_FOUND)
            found, end = tuple[int, ...](), event.next_begin_offset if is_empty else 0
        else:
            found, end = event.offsets, max(event.offsets[-1] + 1, self.said.get((at, event.group, event.mq), 0))
        if progress is None:
            return ()
        return sorted({*range(progress.end, end)} - {*found})

    def recent_answers(self, at: str, group: str, mq: MessageQueue, since_ms: int) -> list[At]:
        """What a client has been told of a queue since then; time in which its process stood still does not count."""
        return [one for one in self.answers.get((at, group, mq), ())
                if one.ms + self.stood_still_ms(at, one.ms) >= since_ms]

    def stood_still_ms(self, at: str, since_ms: int) -> int:
        """For how long the process of a machine has stood still since then, or is to."""
        spans = [(ms, ms + still_ms) for ms, still_ms in self.still.get((at,), ())]
        until_ms = max((end_ms for _, end_ms in spans if end_ms > since_ms), default=since_ms)
        return until_ms - since_ms - int(time_outside(since_ms, until_ms, spans))


def time_outside(since_ms: float, until_ms: float, spans: Iterable[Span]) -> float:
    """So much of a time is in none of the spans, ms; all of a time that does not end."""
    left_ms = 0.0 if until_ms < inf else inf
    for begin_ms, end_ms in sorted(spans):
        left_ms += max(0, min(begin_ms, until_ms) - since_ms)
        since_ms = max(since_ms, end_ms)
    return left_ms + max(0, until_ms - since_ms)


def put_last(rule: Rule, mq: MessageQueue, queue_offset: int) -> Reported | None:
    """What brokers of its name have put last at an offset of a queue."""
    return max((one for one in rule.past.of(
        events.MessageAppended, topic=mq.topic, queue_id=mq.queue_id, queue_offset=queue_offset)
        if rule.facts.broker_name(one.at) == mq.broker_name), default=None)


def is_of_another(connection: str, other: str) -> bool:
    """Whether two commits came from two machines."""
    return bool(connection and other) and machine_of(connection) != machine_of(other)


def is_on_the_same(connection: str, other: str) -> bool:
    """Whether two commits came on one connection."""
    return bool(connection) and connection == other


def is_on_another(connection: str, other: str) -> bool:
    """Whether two commits came from one machine, and on two connections; an address without a port names none."""
    return connection != other and machine_of(connection) == machine_of(other) and not other.endswith(":")


def was_forgotten(past: Past, at: str, group: str, mq: MessageQueue) -> bool:
    """Whether the timer of a client that commits, which forgets what was not held when it began, may have forgotten it.

    It had begun before the client took the queue, and was not over when an offset of that came into memory last.
    """
    updated = past.last(events.OffsetUpdated, at=at, group=group, mq=mq)
    taken = max((one for one in past.of(events.QueueTaken, at=at, group=group, mq=mq) if one.place < place_of(updated)),
                default=None)
    if taken is None:
        return False
    began, ended = (past.of(kind, at=at, client_id=taken.event.client_id, job="persistAllConsumerOffset")
                    for kind in (events.TimerJobBegan, events.TimerJobEnded))
    ends = sum(one.place < place_of(updated) for one in ended)
    return len(began) > ends and began[ends].place < taken.place


def was_corrected(past: Past, at: str, group: str, mq: MessageQueue, *, within_ms: float) -> bool:
    """Whether the correction of an offset may have forgotten it: what has come into memory last, of a later holding.

    within_ms -- how long the task may take, which leaves the queue to be taken anew before it forgets its offset.
    """
    updated, taken, corrected = (past.last(kind, at=at, group=group, mq=mq) for kind in (
        events.OffsetUpdated, events.QueueTaken, events.OffsetCorrected))
    return (updated is not None and corrected is not None and corrected.place < place_of(taken)
            and updated.ms - corrected.ms <= within_ms)


READ_EARLY = "its client had more in its memory when it was sent: it was read before, and has waited for an address"
_REMEMBERED = (events.OffsetUpdated, events.OffsetCorrected, events.OffsetReset, events.OffsetLearntLate,
               events.QueueTaken)


def was_read_early(past: Past, group: str, mq: MessageQueue, offset: int) -> bool:
    """Whether a client has sent this offset when a greater one was in its memory, by a listener's success."""
    for one in past.of(events.OffsetSent, group=group, mq=mq, offset=offset):
        remembered = max((other for other in past.of(*_REMEMBERED, at=one.at, group=group, mq=mq)
                          if other.place < one.place), default=None)
        if remembered and isinstance(remembered.event, events.OffsetUpdated) and remembered.event.offset > offset:
            return True
    return False
