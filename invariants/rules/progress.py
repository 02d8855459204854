"""Rules of what clients commit: all that they have settled, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerShutDown,
    MessagesSettled,
    OffsetAnswered,
    OffsetCorrected,
    OffsetReset,
    OffsetSent,
    OffsetUpdated,
    QueueDropped,
    QueueTaken,
    RouteUpdated,
)
from invariants.rules import deadlines
from invariants.rules.facts import queue_text
from invariants.rules.match import machine_of
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on
from invariants.rules.watch import Run

Key = tuple[str, str, MessageQueue]  # machine, group, queue


class only_the_settled_is_committed(Rule):
    """A client commits no more of a queue than it began with, was told by the broker, was reset to, or has settled.

    What was found and settled counts, whatever the process queue says.
    """

    shipped = ("violated: L8 a pull that was held, X21 a pull of a queue that was reset, L14 a commit that waited, "
               "X18 a listener that saw no drop, X23 a read that came late")
    cite = "RemoteBrokerOffsetStore#updateOffset, ProcessQueue#removeMessage"
    about = "at group mq"

    @on(OffsetSent)
    def sends(self, _: int, at: str, event: OffsetSent) -> list[Told]:
        """It may commit so much."""
        key = at, event.group, event.mq
        progress = self.facts.progress.get(key)
        if progress is None or event.offset <= progress.told or event.offset <= progress.all_below:
            return []
        most = f"it may commit {max(progress.told, progress.all_below)}"
        return [self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, of which {most}", *key)]


class commits_of_a_holding_go_forward(Rule):
    """While a client holds a queue, and is not reset, its commits go back only to what another one has committed.

    An orderly consumer reads again what is committed when it has the lock; that may be less, if another one committed
    it since (B-19).
    """

    shipped = "violated: X10 a failed read is taken for -1, X23 a read comes late"
    cite = "RemoteBrokerOffsetStore#updateOffset: increaseOnly"
    about = "at group mq"

    def __init__(self, run: Run) -> None:
        """Nothing is held."""
        super().__init__(run)
        self.last = Kept("at group mq", ends=(QueueDropped, OffsetReset))
        self.lower = Kept("at group mq", ends=(QueueDropped, OffsetReset, QueueTaken))

    @on(QueueTaken)
    def begins(self, _: int, at: str, event: QueueTaken) -> None:
        """It is so far."""
        self.last[at, event.group, event.mq] = event.offset

    @on(OffsetAnswered)
    def is_told(self, _: int, at: str, event: OffsetAnswered) -> None:
        """Another one has committed less."""
        key = machine_of(event.connection), event.group, self.facts.queue(at, event.topic, event.queue_id)
        if event.offset < self.last.get(key, -1):
            self.lower.setdefault(key, set()).add(event.offset)

    @on(OffsetSent)
    def sends(self, _: int, at: str, event: OffsetSent) -> list[Told]:
        """It goes on from where it was."""
        key = at, event.group, event.mq
        last = self.last.get(key)
        if last is None or last == event.offset:
            return []
        self.last[key] = event.offset
        if event.offset > last or event.offset in self.lower.get(key, ()):
            return []
        return [self.told(f"{at} commits {event.offset} of {queue_text(event.mq)} after {last}", *key)]


class settled_is_committed(Duty):
    """What a client has settled it commits: soon, and before it gives the queue up or ends in order.

    What a listener ends while its consumer stops, or while its queue is given up, counts only if it came into memory;
    so does nothing that has left the route: nobody has an address for it.
    """

    shipped = "violated: X21 a queue that was reset is worked on and in no table, X12 a topic that is left"
    cite = "MQClientInstance#startScheduledTask: persistAllConsumerOffset, RebalanceImpl#removeUnnecessaryMessageQueue"
    about = "at group mq"
    within_ms = deadlines.sent
    paid_by = (OffsetReset, OffsetCorrected)

    def __init__(self, run: Run) -> None:
        """Nothing is settled."""
        super().__init__(run)
        self.memory = Kept("at group mq", ends=(QueueTaken, OffsetReset, OffsetCorrected))

    @after(MessagesSettled)
    def settles(self, ms: int, at: str, event: MessagesSettled) -> None:
        """What is settled of a queue that is held is to be committed."""
        if self.facts.holds(event.client_id, event.group, event.mq):
            self._is_to_commit((at, event.group, event.mq), ms, event.client_id)

    @after(OffsetUpdated)
    def remembers(self, ms: int, at: str, event: OffsetUpdated) -> None:
        """What is in memory is to be committed, whoever holds the queue."""
        self.memory[at, event.group, event.mq] = event.offset
        self._is_to_commit((at, event.group, event.mq), ms, event.client_id)

    def _is_to_commit(self, key: Key, ms: int, client_id: str) -> None:
        if self.facts.clusters(*key[:2]) and not self.facts.stops_now(client_id, key[1]) and self._is_routed(key):
            held = self.facts.holds(client_id, *key[1:]) and key in self.facts.progress
            self.owe(key, ms, self.facts.progress[key].all_below if held else self.memory[key])

    @on(OffsetSent)
    def sends(self, ms: int, at: str, event: OffsetSent) -> None:
        """What is not in this commit is to be in the next one."""
        key = at, event.group, event.mq
        if key in self.owed and event.offset >= self.owed[key][2]:
            self.pay(key)
            if self.memory.get(key, event.offset) > event.offset:
                self.owe(key, ms, self.memory[key])

    @on(QueueDropped)
    def gives_up(self, _: int, at: str, event: QueueDropped) -> None:
        """Only what is in memory, and has an address, can still be committed."""
        key = at, event.group, event.mq
        if key in self.owed and not (self._is_in_memory(key) and self._is_routed(key)):
            self.pay(key)

    @on(RouteUpdated)
    def is_routed(self, _: int, at: str, event: RouteUpdated) -> None:
        """What has left the route has no address."""
        self.owed.drop(lambda key: key[:2] == (at, event.group) and key[2].topic == event.topic
                       and key[2] not in event.mqs)

    @on(ConsumerShutDown)
    def ends(self, _: int, at: str, event: ConsumerShutDown) -> Iterator[Told]:
        """All that was in memory is committed now."""
        for key in [key for key in self.owed if key[:2] == (at, event.group)]:
            since_ms, _counted_ms, offset = self.owed[key]
            if self._is_in_memory(key):
                sentence = f"{at} stops and has not committed {offset} of {queue_text(key[2])}"
                yield self.told(sentence, *key, since_ms=since_ms)
            self.pay(key)

    def _is_in_memory(self, key: Key) -> bool:
        return bool(self.memory.get(key, -1) >= self.owed[key][2])

    def _is_routed(self, key: Key) -> bool:
        return key[2] in self.facts.routes.get((key[0], key[1], key[2].topic), ())

    def broken(self, key: Any, what: Any, waited_ms: int) -> str:
        """See Duty."""
        return f"{key[0]} has not committed {what} of {queue_text(key[2])} in {waited_ms} ms"
