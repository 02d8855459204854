"""Rules of where the members of a group begin its queues: beyond nothing that nobody has read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from impl.events import (
    GroupOffsetsRemoved,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetCorrected,
    OffsetReset,
    ProcessKilled,
    ProcessPaused,
    QueueTaken,
)
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.rules.watch import Run

Place = tuple[str, MessageQueue]  # group and queue


class Read:
    """What a group has read of a queue. below -- all before this offset; beyond -- what is settled of the rest."""

    __slots__ = ("below", "beyond")

    def __init__(self, below: int) -> None:
        """Begin there."""
        self.below = below
        self.beyond: set[int] = set()

    def settle(self, offsets: tuple[int, ...]) -> None:
        """These are read."""
        self.beyond.update(offset for offset in offsets if offset >= self.below)
        self.go_on_from(self.below)

    def go_on_from(self, offset: int) -> None:
        """All before this is read, or given up."""
        self.below = offset
        while self.below in self.beyond:
            self.beyond.remove(self.below)
            self.below += 1


class Beginnings(Rule):
    """What rules share that look where the members of a group begin.

    read -- what is read of a queue since it is known where the group is, or since somebody took it. known_ms --
    since when a broker has an offset of it. lost_ms -- when it may have lost that.
    """

    def __init__(self, run: Run) -> None:
        """Nothing is known."""
        super().__init__(run)
        self.read = Kept("group mq", survives="all")
        self.known_ms = Kept("group mq", survives="all")
        self.lost_ms = Kept("group mq", survives="all")
        self._written_ms = deadlines.written(run.bounds)

    @on(OffsetCommitted, OffsetAnswered)
    def is_known(self, ms: int, at: str, event: OffsetCommitted | OffsetAnswered) -> None:
        """A broker has an offset of the group."""
        place = event.group, self.facts.queue(at, event.topic, event.queue_id)
        if event.offset != NO_OFFSET and place not in self.known_ms:
            self.known_ms[place] = ms
            self.read.setdefault(place, Read(event.offset))

    @on(MessagesSettled)
    def settles(self, _: int, at: str, event: MessagesSettled) -> None:
        """A member has read messages."""
        read = self.read.get((event.group, event.mq))
        if read is not None and not self.facts.broadcasts(at, event.group):
            read.settle(event.offsets)

    def begins(self, at: str, event: QueueTaken) -> int:
        """A member begins a queue; returns the offset below which its group has read all."""
        place = event.group, event.mq
        if self.facts.broadcasts(at, event.group):
            return event.offset
        read = self.read.setdefault(place, Read(event.offset))
        below = int(read.below)
        if not self.is_held(*place):
            read.go_on_from(max(event.offset, below))
        return below

    def is_held(self, group: str, mq: MessageQueue) -> bool:
        """Whether somebody holds the queue, and reads what lies between."""
        return any(key[2:] == (group, mq) for key in self.facts.holdings)

    @on(GroupOffsetsRemoved)
    def is_deleted(self, ms: int, at: str, event: GroupOffsetsRemoved) -> None:
        """A broker has no offset of the group any more."""
        self._forget(ms, [place for place in self._of(at, lambda _: True) if place[0] == event.group])

    @on(ProcessKilled)
    def loses(self, ms: int, at: str, event: ProcessKilled) -> None:
        """A broker may have lost what was not in its file yet; with its power it may have lost the file."""
        self._forget(ms, self._of(at, lambda since_ms: event.power_loss or ms - since_ms < self._written_ms))

    def _forget(self, ms: int, lost: list[Place]) -> None:
        for place in lost:
            self.lost_ms[place] = ms
            del self.known_ms[place]

    @on(ProcessPaused)
    def writes_later(self, ms: int, at: str, event: ProcessPaused) -> None:
        """What is not in the file yet comes into it later."""
        for place in self._of(at, lambda since_ms: ms - since_ms < self._written_ms):
            self.known_ms[place] = ms + event.ms

    def _of(self, at: str, chosen: Callable[[int], bool]) -> list[Place]:
        """What brokers of the name of this one have."""
        name = self.facts.broker_name(at)
        return [place for place, since_ms in self.known_ms.items() if place[1].broker_name == name and chosen(since_ms)]


def _was_lost_lately(rule: Beginnings, told: Told) -> bool:
    """Whether a broker may have lost the offset when somebody still waited for an answer, or had one."""
    lost_ms, since_ms = rule.lost_ms.get(told.about[1:3]), told.since_ms or 0
    return lost_ms is not None and since_ms - lost_ms < deadlines.begun(rule.bounds)


MOVED = (
    Excuse("the queue was reset, which may go anywhere, and whoever has not heard of it may undo it",
           by=Match(OffsetReset, of="group mq"), lasts=FOR_EVER),
    Excuse("an illegal offset of the queue was corrected, whoever had it by then",
           by=Match(OffsetCorrected, of="group mq"), lasts=FOR_EVER),
)
LOST = Excuse("its broker may have lost the offset when somebody may still have waited for an answer",
              when=_was_lost_lately)


class nothing_is_skipped(Beginnings):
    """Once a group has committed an offset of a queue, no member begins it beyond what the group has settled.

    That is said from the first commit on, as long as the broker cannot have lost it. When a broker that may have lost
    it has an offset again, the group begins anew there: what was not settled before is lost with the former one.
    """

    shipped = "violated: L2 a failed read is taken for no offset"
    cite = "RebalancePushImpl#computePullFromWhereWithException, RemoteBrokerOffsetStore#readOffset"
    about = "at group mq"
    excuses = (*MOVED, LOST)

    def __init__(self, run: Run) -> None:
        """Nothing is known; anew -- the offset that a broker had first since it may have lost the former one."""
        super().__init__(run)
        self.anew = Kept("group mq", survives="all")

    @on(OffsetCommitted, OffsetAnswered)
    def is_known(self, ms: int, at: str, event: OffsetCommitted | OffsetAnswered) -> None:
        """A broker has an offset of the group, perhaps after it has lost another one."""
        place = event.group, self.facts.queue(at, event.topic, event.queue_id)
        if event.offset != NO_OFFSET and place not in self.known_ms:
            if place in self.lost_ms:
                self.anew[place] = event.offset
            super().is_known(ms, at, event)

    @on(QueueTaken)
    def takes(self, ms: int, at: str, event: QueueTaken) -> Iterator[Told]:
        """A member begins nowhere beyond that."""
        below = max(self.begins(at, event), self.anew.get((event.group, event.mq), NO_OFFSET))
        if event.offset > below and (event.group, event.mq) in self.known_ms:
            sentence = f"{at} begins {queue_text(event.mq)} at {event.offset}, and what is settled ends at {below}"
            yield self.told(sentence, at, event.group, event.mq, since_ms=ms)


class first_beginning_is_kept(Beginnings):
    """Before its first commit of a queue a group begins it nowhere beyond where it was begun first, or is settled.

    Nothing is said while somebody holds the queue who began it before: that one reads what lies between.
    """

    shipped = "violated: L1 nobody commits where it begins"
    cite = "RebalancePushImpl#computePullFromWhereWithException, CONSUME_FROM_LAST_OFFSET"
    about = "at group mq"
    excuses = MOVED

    @on(QueueTaken)
    def takes(self, _: int, at: str, event: QueueTaken) -> Iterator[Told]:
        """A member begins nowhere beyond that."""
        place = event.group, event.mq
        below = self.begins(at, event)
        was_known = place in self.known_ms or place in self.lost_ms
        if event.offset > below and not was_known and not self.is_held(*place):
            yield self.told(f"{at} begins {queue_text(event.mq)} at {event.offset}, and {below} is not settled", at,
                            *place)
