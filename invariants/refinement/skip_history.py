"""Judges of histories (`invariants.history`): how far a group is in its queues, whoever of its members was that far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from impl.events import (
    BrokerStarted,
    ConsumerStarted,
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
from invariants.refinement.follower import Living
from invariants.refinement.judge import Broadcasters, Hearing, Judge, Names, queue_text

WRITTEN_MS = 60_000
"""What was committed is in the broker's file by then."""
READ_MS = 120_000
"""Reads that were on their way when an offset was lost have been answered by then."""

Place = tuple[str, MessageQueue]  # group and queue


class _Read:
    """What a group has read of a queue. below -- all before this offset; beyond -- what is settled of the rest."""

    __slots__ = ("below", "beyond")

    def __init__(self, below: int) -> None:
        self.below = below
        self.beyond: set[int] = set()

    def settle(self, offsets: tuple[int, ...]) -> None:
        self.beyond.update(offset for offset in offsets if offset >= self.below)
        self.go_on_from(self.below)

    def go_on_from(self, offset: int) -> None:
        self.below = offset
        while self.below in self.beyond:
            self.beyond.remove(self.below)
            self.below += 1


class _Begins(Judge):
    """Looks where members begin: from the first commit on, as long as the broker cannot have lost that.

    A reset, and the correction of an illegal offset, may go where they like; whoever has not heard of it may undo it.

    read -- what was read of a queue since it was known where the group is. begun -- what somebody has begun. since_ms
    -- when a queue's broker was first seen to have an offset. told -- broker, group, topic and queue id of these.
    quiet_ms -- until when nothing is said of a queue.
    """

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()
        self.broadcasting = Broadcasters()
        self.read: dict[Place, _Read] = {}
        self.begun: set[Place] = set()
        self.since_ms: dict[Place, int] = {}
        self.told: set[tuple[Any, ...]] = set()
        self.quiet_ms: dict[Place, float] = {}

    def hears(self) -> Hearing:
        return {BrokerStarted: self.names.started, ConsumerStarted: self.broadcasting.started,
                OffsetCommitted: self.known, OffsetAnswered: self.known, GroupOffsetsRemoved: self.removed,
                QueueTaken: self.taken, MessagesSettled: self.settled, OffsetReset: self.moved,
                OffsetCorrected: self.moved, tuple: self.host}

    def known(self, ms: int, machine: str, event: OffsetCommitted | OffsetAnswered) -> None:
        if event[:4] in self.told or event.offset == NO_OFFSET:
            return
        self.told.add(event[:4])
        place = event.group, self.names.queue(machine, event.topic, event.queue_id)
        self.since_ms.setdefault(place, ms)
        if place not in self.begun:
            self.read.setdefault(place, _Read(event.offset))

    def taken(self, ms: int, machine: str, event: QueueTaken) -> Iterator[str]:
        if (machine, event.group) in self.broadcasting:
            return
        place = event.group, event.mq
        self.begun.add(place)
        read = self.read.setdefault(place, _Read(event.offset))
        below = read.below
        if event.offset > below:
            read.go_on_from(event.offset)
        is_known = place in self.since_ms and ms >= self.quiet_ms.get(place, 0)
        if is_known and self.is_wrong(event.offset, below):
            yield f"{machine} begins {queue_text(event.mq)} at {event.offset}, and what is settled ends at {below}"

    def is_wrong(self, offset: int, below: int) -> bool:
        """Whether nobody may begin at an offset when all below another one is settled."""
        raise NotImplementedError

    def settled(self, _: int, machine: str, event: MessagesSettled) -> None:
        read = self.read.get((event.group, event.mq))
        if read is not None and (machine, event.group) not in self.broadcasting:
            read.settle(event.offsets)

    def moved(self, _: int, __: str, event: OffsetReset | OffsetCorrected) -> None:
        self.quiet_ms[event.group, event.mq] = inf

    def removed(self, ms: int, machine: str, event: GroupOffsetsRemoved) -> None:
        self._forget(ms, machine, lambda place: place[0] == event.group)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            loses_files = event.power_loss
            self._forget(ms, machine, lambda place: loses_files or ms - self.since_ms[place] < WRITTEN_MS)
        elif event.__class__ is ProcessPaused:  # and writes nothing meanwhile
            for place in self._at(machine):
                if ms - self.since_ms[place] < WRITTEN_MS:
                    self.since_ms[place] = ms + event.ms

    def _forget(self, ms: int, machine: str, lost: Callable[[Place], bool]) -> None:
        """A broker may have lost what was committed; reads that have found nothing are on their way."""
        self.told.clear()
        for place in filter(lost, self._at(machine)):
            del self.since_ms[place]
            self.quiet_ms[place] = max(self.quiet_ms.get(place, 0), ms + READ_MS)

    def _at(self, machine: str) -> list[Place]:
        """What is known at a broker, or at another one of its name."""
        broker_name = self.names.queue(machine, "", 0).broker_name
        return [place for place in self.since_ms if place[1].broker_name == broker_name]


class _NothingIsSkipped(_Begins):
    """Of nothing_is_skipped."""

    name = "nothing_is_skipped"

    def is_wrong(self, offset: int, below: int) -> bool:
        return offset > below


class _SettledIsNotBegunAgain(_Begins):
    """Of settled_is_not_begun_again."""

    name = "settled_is_not_begun_again"

    def is_wrong(self, offset: int, below: int) -> bool:
        return offset < below


JUDGES: tuple[type[Judge], ...] = (_NothingIsSkipped, _SettledIsNotBegunAgain)
