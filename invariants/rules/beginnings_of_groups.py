"""Rules of where the members of a group begin its queues: beyond nothing that nobody has read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from invariants.rules import deadlines
from invariants.rules.causes_of_filters import was_left_out
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import machine_of
from invariants.rules.offset_facts import Place, put_last
from invariants.rules.rule import Kept, Rule, Told, on


class Read:
    """What a group has read of a queue. below -- all before this offset; beyond -- what is settled of the rest."""

    __slots__ = ("below", "beyond")

    def __init__(self, below: int) -> None:
        """Begin there."""
        self.below = below
        self.beyond: set[int] = set()

    def settle(self, offsets: Iterable[int]) -> None:
        """These are read."""
        self.beyond.update(offset for offset in offsets if offset >= self.below)
        self.go_on_from(self.below)

    def go_on_from(self, offset: int) -> None:
        """All before this is read, or given up."""
        self.below = self.settled_from(offset)
        self.beyond.difference_update(range(offset, self.below))

    def settled_from(self, offset: int) -> int:
        """All from this offset on is settled below the one that is returned."""
        while offset in self.beyond:
            offset += 1
        return offset


class Beginnings(Rule):
    """What rules share that look where the members of a group begin.

    A reset, a seek, or the correction of an illegal offset, may go anywhere, and whoever has not heard of it may undo
    it. After it the group is where its one owner commits, when nobody else has been heard of for as long as a reset
    takes.

    read -- what is read of a queue since it is known where the group is, or since somebody took it. known_ms --
    since when a broker has an offset of it. lost_ms -- when it may have lost that. anew -- the offset that a broker had
    first since then, or at which somebody has begun who was told before that there is none, or which somebody has
    committed who holds the queue all the while. moved_ms -- of a queue that was reset or corrected: when somebody was
    last heard of. filtered_counts -- what was filtered away counts as read.
    """

    filtered_counts: ClassVar[bool] = True

    read = Kept("group mq", survives="all")
    known_ms = Kept("group mq", survives="all")
    lost_ms = Kept("group mq", survives="all")
    anew = Kept("group mq", survives="all")
    moved_ms = Kept("group mq", survives="all")

    @on(events.OffsetCommitted, events.OffsetAnswered)
    def is_known(self, ms: int, at: str, event: events.OffsetCommitted | events.OffsetAnswered) -> None:
        for place in self.facts.places(at, event):
            self._is_known_at(place, ms, event)

    def _is_known_at(self, place: Place, ms: int, event: events.OffsetCommitted | events.OffsetAnswered) -> None:
        if self.moved_ms and place in self.moved_ms:
            if isinstance(event, events.OffsetCommitted):
                self._goes_on(ms, place, machine_of(event.connection), event.offset)
        elif event.offset != NO_OFFSET:
            is_known = place in self.known_ms
            if self.lost_ms and place in self.lost_ms and (not is_known or self._is_of_a_holder(place, event)):
                self.goes_on_anew(place, event.offset)
            if not is_known:
                self.known_ms[place] = ms
            if place not in self.read:
                self.read[place] = Read(event.offset)

    def _is_of_a_holder(self, place: Place, event: events.OffsetCommitted | events.OffsetAnswered) -> bool:
        """Whether somebody who holds the queue since before the loss commits what it has settled from its beginning."""
        if not isinstance(event, events.OffsetCommitted):
            return False
        sender = machine_of(event.connection)
        progress, lost_ms = self.facts.progress.get((sender, *place)), self.lost_ms[place]
        return progress is not None and event.offset <= progress.all_below and any(
            key[0] == sender and self.facts.holdings[key] <= lost_ms for key in self.facts.holders(*place))

    def _goes_on(self, ms: int, place: Place, sender: str, offset: int) -> None:
        """A queue that was moved is committed, and perhaps by its one owner, whom nobody has disturbed for long."""
        if {key[0] for key in self.facts.holders(*place)} != {sender}:
            self.moved_ms[place] = ms
        elif ms - self.moved_ms[place] > deadlines.reset(self.bounds):
            del self.moved_ms[place]
            self.known_ms[place], self.read[place] = ms, Read(offset)
            self.read[place].settle(self.facts.progress[sender, *place].settled_ms)

    @on(events.OffsetReset, events.OffsetCorrected, events.QueueSought)
    def is_moved(
        self, ms: int, at: str, event: events.OffsetReset | events.OffsetCorrected | events.QueueSought,
    ) -> None:
        if not self.facts.broadcasts(at, event.group):
            place = event.group, event.mq
            self.moved_ms[place] = ms
            for table in (self.read, self.known_ms, self.lost_ms, self.anew):
                table.pop(place, None)

    @on(events.QueueDropped, events.QueueTaken)
    def changes_hands(self, ms: int, _: str, event: events.QueueDropped | events.QueueTaken) -> None:
        if (event.group, event.mq) in self.moved_ms:
            self.moved_ms[event.group, event.mq] = ms

    @on(events.PullAnswered, events.MessagesFound, events.PullSuspended)
    def passes_over(
        self, _: int, at: str, event: events.PullAnswered | events.MessagesFound | events.PullSuspended,
    ) -> None:
        read = self.read.get((event.group, event.mq)) if self.filtered_counts else None
        if read is not None and not self.facts.broadcasts(at, event.group):
            read.settle(self.facts.passed_over(at, event))

    @on(events.MessagesSettled, events.MessagesExpired)
    def settles(self, _: int, at: str, event: events.MessagesSettled | events.MessagesExpired) -> None:
        read = self.read.get((event.group, event.mq))
        if read is not None and not self.facts.broadcasts(at, event.group):
            read.settle(event.offsets)

    def begins(self, at: str, event: events.QueueTaken) -> int:
        """A member begins a queue; returns the offset below which its group has read all."""
        place = event.group, event.mq
        if self.facts.broadcasts(at, event.group) or self.facts.stops_now(event.client_id, event.group):
            return event.offset  # who takes a queue while it shuts down may have committed for the last time
        read = self.read.setdefault(place, Read(event.offset))
        below = int(read.below)
        if not self.is_held(*place):
            read.go_on_from(max(event.offset, below))
        return below

    def is_held(self, group: str, mq: MessageQueue) -> bool:
        """Whether somebody holds the queue, and reads what lies between."""
        return bool(self.facts.holders(group, mq))

    @on(events.GroupOffsetsRemoved)
    def is_deleted(self, ms: int, at: str, event: events.GroupOffsetsRemoved) -> None:
        self._forget(ms, [place for place in self._of(at) if place[0] == event.group])

    @on(events.ProcessKilled)
    def loses(self, ms: int, at: str, event: events.ProcessKilled) -> None:
        # What was not in its file yet is lost; with its power the broker may have lost the file.
        self._forget(ms, self._of(at) if event.power_loss else self._unwritten(ms, at))

    def _forget(self, ms: int, lost: list[Place]) -> None:
        for place in lost:
            self.lost_ms[place] = ms
            del self.known_ms[place]
            self.anew.pop(place, None)

    def goes_on_anew(self, place: Place, offset: int) -> None:
        """A group goes on there since a broker may have lost its offset."""
        self.anew[place] = max(offset, self.anew.get(place, offset))

    @on(events.ProcessPaused)
    def writes_later(self, ms: int, at: str, event: events.ProcessPaused) -> None:
        for place in self._unwritten(ms, at):
            self.known_ms[place] = max(ms + event.ms, self.known_ms[place])

    def _unwritten(self, ms: int, at: str) -> list[Place]:
        """What brokers of the name of this one may not have in their files yet."""
        return [place for place in self._of(at) if ms - self.known_ms[place] < deadlines.written(self.bounds)]

    def _of(self, at: str) -> list[Place]:
        """What brokers of the name of this one have."""
        name = self.facts.broker_name(at)
        return [place for place in self.known_ms if place[1].broker_name == name]


def _was_lost_lately(rule: Beginnings, told: Told) -> bool:
    """Whether a broker may have lost the offset when somebody still waited for an answer, or had one."""
    lost_ms, since_ms = rule.lost_ms.get(told.about[1:3]), told.since_ms or 0
    return lost_ms is not None and since_ms - lost_ms < deadlines.begun(rule.bounds)


LOST = Excuse("its broker may have lost the offset when somebody may still have waited for an answer",
              when=_was_lost_lately)


def _was_deleted(rule: no_beginning_skips, told: Told) -> bool:
    """Whether the file of the log with the last message that is passed over was deleted before one behind it was found.

    The files of a log are deleted in their order, and so are the messages of a queue.
    """
    _, group, mq = told.about
    behind = next((one for one in rule.past.of(events.MessagesFound, group=group, mq=mq)
                   if one.event.offsets[-1] > rule.passed), None)
    put = put_last(rule, mq, rule.passed)
    return behind is not None and put is not None and any(
        gone.place < behind.place and gone.event.min_offset > put.event.commit_log_offset
        for gone in rule.past.of(events.LogExpired, since=put.place, at=put.at))


class no_beginning_skips(Beginnings):
    """Once a group has committed an offset of a queue, no member begins it beyond what the group has settled.

    That is said from the first commit on, as long as the broker cannot have lost it. When a broker that may have lost
    it has an offset again, the group begins anew there: what was not settled before is lost with the former one. So it
    does where somebody begins who was told meanwhile that there is none.
    """

    judges = "nothing_is_skipped"
    shipped = "violated: L2 a failed read is taken for no offset, L3 a filter of another member"
    cite = "RebalancePushImpl#computePullFromWhereWithException, RemoteBrokerOffsetStore#readOffset"
    about = "at group mq"
    excuses = (
        LOST,
        Excuse("its broker had deleted what is passed over when a member found what comes next", when=_was_deleted),
        cause("L3", "a broker has left out what is not settled, and another member subscribes other tags",
              when=lambda rule, told: was_left_out(rule, told.about[1], told.about[2], rule.below)),
    )

    # Of the beginning that it tells of: what is settled ends there, and the last offset that nobody has settled.
    below, passed = 0, 0

    @on(events.QueueTaken)
    def takes(self, ms: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        place = event.group, event.mq
        beyond = set(self.read[place].beyond) if place in self.read else set()
        below = self.begins(at, event)
        if self._was_told_of_none(at, place):
            self.goes_on_anew(place, event.offset)
        if place in self.anew:
            below = max(below, self.read[place].settled_from(self.anew[place]))
        self.below = below
        if event.offset > below and place in self.known_ms:
            self.passed = max({*range(below, event.offset)} - beyond)
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset}, and what is settled ends at {below}"
            yield self.told(sentence, at, *place, since_ms=ms)

    def _was_told_of_none(self, at: str, place: Place) -> bool:
        """Whether a client's last answer is that there is no offset, from when a broker had lost it."""
        lost_ms = self.lost_ms.get(place)
        answers = [] if lost_ms is None else self.facts.recent_answers(at, *place, lost_ms)
        none = answers[-1:] if answers and answers[-1].offset == NO_OFFSET else []
        return any(one.ms <= self.known_ms.get(place, one.ms) for one in none)


class first_beginning_is_kept(Beginnings):
    """Before its first commit of a queue a group begins it nowhere beyond where it was begun first, or is settled.

    Nothing is said while somebody holds the queue who began it before: that one reads what lies between.
    """

    shipped = "violated: L1 nobody commits where it begins, X3 such a commit is lost"
    cite = "RebalancePushImpl#computePullFromWhereWithException, CONSUME_FROM_LAST_OFFSET"
    about = "at group mq"
    excuses = (
        Excuse("the queue was reset or corrected, and nobody alone has committed it since",
               when=lambda rule, told: told.about[1:] in rule.moved_ms),
        cause("X3", "a member has committed the queue, and no broker has heard of that",
              when=lambda rule, told: told.about[1:] in rule.facts.sent),
    )

    @on(events.QueueTaken)
    def takes(self, _: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        place = event.group, event.mq
        below = self.begins(at, event)
        was_known = place in self.known_ms or place in self.lost_ms
        if event.offset > below and not was_known and not self.is_held(*place):
            yield self.told(f"{at} begins {queue_text(event.mq)} at {event.offset}, and {below} is not settled", at,
                            *place)
