"""Rules of listeners that commit themselves: what they hold back is not committed before they say so, or comes again.

What listeners were given of a holding that has ended does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules import deadlines
from invariants.rules.answers import HELD, ROLLBACK, SUCCESS
from invariants.rules.facts import queue_text
from invariants.rules.rule import Duty, Kept, Rule, Told, on

_QUEUE = "at group mq"
_MOVED = events.QueueTaken, events.OffsetReset, events.OffsetCorrected


class held_back_is_not_committed(Rule):
    """A client whose listener commits itself commits no message that this listener holds back."""

    cite = "ConsumeOrderlyContext#setAutoCommit, ConsumeMessageOrderlyService#processConsumeResult"
    about = _QUEUE

    # The last message that a listener was given since its client has the queue; the first one that it holds back.
    given = Kept(_QUEUE, ends=_MOVED, begins=(events.MessagesGiven,), value=lambda _, event: event.offsets[-1:])
    held = Kept(_QUEUE, ends=_MOVED)

    @on(events.MessagesAnswered)
    def answers(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        key = at, event.group, event.mq
        if HELD in event.answers and self.given.get(key) == event.offsets[-1:]:
            self.held.setdefault(key, event.offsets[0])
        elif {SUCCESS, ROLLBACK}.issuperset(event.answers):
            self.held.pop(key, None)

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        held = self.held.get(key, event.offset)
        if event.offset > held:
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, and its listener holds {held} "
                            "back", *key)


class committed_by_hand_is_remembered(Duty):
    """What a listener commits that it has held back is in the memory of its client at once: from there it is sent."""

    cite = "ConsumeMessageOrderlyService#processConsumeResult: COMMIT"
    about = _QUEUE
    within_ms = deadlines.updated
    paid_by = (*_MOVED, events.QueueDropped)
    late = ("{at} does not remember {what} of queue {mq.queue_id} of {mq.topic} at {mq.broker_name}, which its "
            "listener has committed")

    held = Kept(_QUEUE, ends=(*_MOVED, events.QueueDropped))
    taken = Kept(_QUEUE, begins=(events.QueueTaken,), ends=(events.QueueDropped,))

    @on(events.MessagesAnswered)
    def answers(self, ms: int, at: str, event: events.MessagesAnswered) -> None:
        key = at, event.group, event.mq
        if HELD in event.answers and key in self.taken:
            self.held[key] = event.offsets[0]
        elif SUCCESS in event.answers and self.held.pop(key, -1) in event.offsets:
            self.owe(key, ms, event.offsets[-1] + 1)

    @on(events.OffsetUpdated)
    def remembers(self, _: int, at: str, event: events.OffsetUpdated) -> None:
        key = at, event.group, event.mq
        if key in self.owed and event.offset >= self.owed[key][2]:
            self.pay(key)


class rolled_back_comes_first(Rule):
    """What a listener has rolled back it is given next of the queue, from the first message that it had held back."""

    cite = "ConsumeMessageOrderlyService#processConsumeResult: ROLLBACK, ProcessQueue#rollback"
    about = _QUEUE

    given = Kept(_QUEUE, ends=_MOVED)
    rolled_back = Kept(_QUEUE, ends=_MOVED)

    @on(events.MessagesAnswered)
    def answers(self, _: int, at: str, event: events.MessagesAnswered) -> None:
        key = at, event.group, event.mq
        if ROLLBACK in event.answers and self.given.get(key) == event.offsets[-1:]:
            self.rolled_back[key] = event.offsets[0]

    @on(events.MessagesGiven)
    def gives(self, _: int, at: str, event: events.MessagesGiven) -> Iterator[Told]:
        key = at, event.group, event.mq
        self.given[key] = event.offsets[-1:]
        first, given = self.rolled_back.pop(key, None), min(event.offsets, default=0)
        if first is not None and given > first:
            yield self.told(f"{at} is given {given} of {queue_text(event.mq)}, and has rolled back what it "
                            f"was given from {first} on", *key)
