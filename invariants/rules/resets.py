"""Rules of resets: where they go, that they are done, and that they take effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from impl.events import (
    ConsumerStopping,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetReset,
    OffsetSent,
    OffsetsReset,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    ResetReceived,
)
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.rule import Duty, Kept, Rule, Told, on
from invariants.rules.watch import Run


class reset_is_done(Duty):
    """A client that is told to reset queues resets those that it holds.

    A rebalance that is under way may take queues away meanwhile, also those that the reset has dropped already.
    """

    cite = "ClientRemotingProcessor#resetOffset, MQClientInstance#resetOffset"
    about = "at client_id group"
    within_ms = deadlines.reset
    excuses = (Excuse("the consumer shuts down", by=ConsumerStopping),)

    @on(ResetReceived)
    def is_told(self, ms: int, at: str, event: ResetReceived) -> None:
        """It is to reset what it holds."""
        held = {mq for mq, _ in event.offsets} & set(self.facts.held_at(at, event.client_id, event.group))
        if held:
            self.owe((at, event.client_id, event.group), ms, set(held))

    @on(OffsetReset)
    def resets(self, _: int, at: str, event: OffsetReset) -> None:
        """One is done."""
        self._keeps(at, event, lambda mq: mq != event.mq)

    @on(QueueDropped)
    def gives_up(self, _: int, at: str, event: QueueDropped) -> None:
        """A queue went in a rebalance."""
        if event.by_rebalance:
            self._keeps(at, event, lambda mq: mq != event.mq)

    @on(QueueTaken)
    def takes(self, _: int, at: str, event: QueueTaken) -> None:
        """A queue that is taken again had left the table, whether anybody dropped it or not (X22)."""
        self._keeps(at, event, lambda mq: mq != event.mq)

    @on(QueuesAssigned)
    def has(self, _: int, at: str, event: QueuesAssigned) -> None:
        """A rebalance that was under way has ended; what the reset has dropped may still be in the table."""
        if not self.owed:
            return
        table = {held.mq for held in self.views.process_queues(at) if held[1:3] == event[:2]}
        self._keeps(at, event, lambda mq: mq.topic != event.topic or mq in table)

    def _keeps(self, at: str, event: OffsetReset | QueueDropped | QueueTaken | QueuesAssigned, kept: Any) -> None:
        key = at, event.client_id, event.group
        if key in self.owed:
            mqs = self.owed[key][2]
            mqs.intersection_update([mq for mq in mqs if kept(mq)])
            if not mqs:
                self.pay(key)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str:
        """See Duty."""
        mqs = ", ".join(map(queue_text, sorted(what)))
        return f"{key[0]} was told {waited_ms} ms ago to reset queues of {key[2]}, and has not reset {mqs}"


class reset_goes_where_it_is_told(Rule):
    """A client that resets a queue sets it to an offset that it was told to set it to."""

    cite = "MQClientInstance#resetOffset: offsetTable"
    about = "at client_id group mq"

    def __init__(self, run: Run) -> None:
        """Nobody is told anything; told_to -- the offsets that brokers have said of a queue."""
        super().__init__(run)
        self.told_to = Kept("at client_id group mq")

    @on(ResetReceived)
    def is_told(self, _: int, at: str, event: ResetReceived) -> None:
        """A broker says where its queues go."""
        for mq, offset in event.offsets:
            self.told_to.setdefault((at, event.client_id, event.group, mq), set()).add(offset)

    @on(OffsetReset)
    def resets(self, _: int, at: str, event: OffsetReset) -> Iterator[Told]:
        """It goes there."""
        key = at, event.client_id, event.group, event.mq
        if event.offset not in self.told_to.get(key, ()):
            yield self.told(f"{at} resets {queue_text(event.mq)} to {event.offset}, which nobody has told it", *key)


class reset_takes_effect(Rule):
    """Once the offset of a reset is committed, its client commits no greater one before it has settled messages.

    The reset is over where a broker shows that another client has committed more meanwhile, or has lost its files.
    """

    shipped = ("violated: L8 a pull that was held, X21 a pull of a queue that was reset, L14 a commit that waited, "
               "X18 a listener that saw no drop, X23 a read that came late")
    cite = "MQClientInstance#resetOffset"
    about = "at group mq"

    def __init__(self, run: Run) -> None:
        """Nothing is reset."""
        super().__init__(run)
        self.reset = Kept("at group mq", ends=(MessagesSettled,))

    @on(OffsetReset)
    def resets(self, _: int, at: str, event: OffsetReset) -> None:
        """It begins again there."""
        self.reset[at, event.group, event.mq] = event.offset

    @on(OffsetCommitted, OffsetAnswered)
    def is_over(self, _: int, at: str, event: OffsetCommitted | OffsetAnswered) -> None:
        """A broker says where the group is."""
        mq = self.facts.queue(at, event.topic, event.queue_id) if self.reset else None
        for key, offset in [*self.reset.items()] if self.reset else ():
            if key[1:] == (event.group, mq) and (event.offset > offset or event.offset == NO_OFFSET):
                del self.reset[key]

    @on(OffsetSent)
    def sends(self, _: int, at: str, event: OffsetSent) -> list[Told]:
        """It commits no more than that."""
        key = at, event.group, event.mq
        offset = self.reset.get(key, event.offset)
        if event.offset <= offset:
            return []
        return [self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, which was reset to {offset}", *key)]


class reset_goes_to_its_time(Rule):
    """A reset to a time goes to the first message that was stored then or later, or to less if less is committed.

    What is committed may have moved since the broker looked: all that members have ever sent counts.
    """

    cite = "Broker2Client#resetOffset, DefaultMessageStore#getOffsetInQueueByTime"
    about = "broker group mq"

    @on(OffsetsReset)
    def answers(self, _: int, __: str, event: OffsetsReset) -> Iterator[Told]:
        """The broker says where its queues go."""
        for queue_id, offset in event.offsets:
            stored = self.views.stored_at(event.broker, event.topic, queue_id)
            if stored is None:  # it has ended since
                return
            first = next((one for ms, one in stored.stored if ms >= event.timestamp), stored.max_offset)
            mq = self.facts.queue(event.broker, event.topic, queue_id)
            if offset > first or (offset < first and not self._was_sent(event.group, mq, offset)):
                yield self.told(f"{queue_text(mq)} goes to {offset}, where {first} was stored", event.broker,
                                event.group, mq)

    def _was_sent(self, group: str, mq: MessageQueue, offset: int) -> bool:
        return any(one.offset == offset for one in self.facts.sent.get((group, mq), ()))
