"""`Queue`: the messages of one queue at its broker, as far as consumers count them."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, initially


class QueueOffset(Nat):
    """A place in the queue."""


class Queue(State):
    """One queue of a topic."""

    stored: QueueOffset  # ConsumeQueue#getMaxOffsetInQueue


@initially
def nothing_is_stored(s: Queue) -> Bool:
    """The queue is new."""
    return s.stored == 0


@action("DefaultMessageStore#putMessage")
def append(s: Queue) -> None:
    """A message is stored."""
    s.stored = s.stored + 1
