"""Judges of histories (`invariants.history`): how far clients are in their queues, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    MessagesFound,
    MessagesSettled,
    OffsetAnswered,
    OffsetCorrected,
    OffsetReset,
    OffsetSent,
    OffsetUpdated,
    ProcessKilled,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    ResetReceived,
    RouteUpdated,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import Broadcasters, Hearing, Holdings, Judge, Key, Names, machine_of, queue_text

SENT_MS = 220_000
"""What is settled is sent by then, five seconds being the rule: a process and a thread of it may stand still."""

UPDATED_MS = 45_000
"""The offset of what was settled is in memory by then: a thread stands still for 40 s at most."""

RESET_MS = 60_000
"""A rebalance that gives queues up while a reset comes has ended by then."""


class _Settled:
    """Up to where a client has settled a queue since it began it.

    end -- the offset behind all that was found. open -- what was found and is not settled. told -- the greatest offset
    that the broker has answered since.
    """

    __slots__ = ("end", "open", "told")

    def __init__(self, offset: int) -> None:
        self.end = self.told = offset
        self.open: set[int] = set()

    @property
    def all_below(self) -> int:
        """All below this offset is settled."""
        return min(self.open) if self.open else self.end


class _Progress(Judge):
    """What judges share that follow how far clients are. queues -- machine, group and queue to progress."""

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.queues: dict[Key, _Settled] = {}

    def hears(self) -> Hearing:
        return {QueueTaken: self.begins, OffsetReset: self.begins, OffsetCorrected: self.begins,
                MessagesFound: self.found, MessagesSettled: self.settled}

    def begins(self, _: int, machine: str, event: QueueTaken | OffsetReset | OffsetCorrected) -> Iterator[str] | None:
        self.queues[machine, event.group, event.mq] = _Settled(event.offset)
        return None

    def found(self, _: int, machine: str, event: MessagesFound) -> None:
        queue = self.queues.get((machine, event.group, event.mq))
        if queue is not None:
            queue.open.update(event.offsets)
            queue.end = event.offsets[-1] + 1

    def settled(self, _: int, machine: str, event: MessagesSettled) -> None:
        queue = self.queues.get((machine, event.group, event.mq))
        if queue is not None:
            queue.open.difference_update(event.offsets)


class _OnlyTheSettledIsCommitted(_Progress):
    """Of only_the_settled_is_committed: by what was found and settled, whatever the process queue says."""

    name = "only_the_settled_is_committed"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.names = Names()

    def hears(self) -> Hearing:
        return {**super().hears(), BrokerStarted: self.names.started, OffsetAnswered: self.answered,
                OffsetSent: self.sent}

    def answered(self, _: int, machine: str, event: OffsetAnswered) -> None:
        mq = self.names.queue(machine, event.topic, event.queue_id)
        queue = self.queues.get((machine_of(event.connection), event.group, mq))
        if queue is not None:
            queue.told = max(queue.told, event.offset)

    def sent(self, _: int, machine: str, event: OffsetSent) -> Iterator[str] | None:
        queue = self.queues.get((machine, event.group, event.mq))
        if queue is None or event.offset <= (most := max(queue.told, queue.all_below)):
            return None
        return iter((f"{machine} commits {event.offset} of {queue_text(event.mq)}, of which it may commit {most}",))


class _SettledIsCommitted(_Progress):
    """Of settled_is_committed: while the queue is held, at the end of a shutdown, and when the queue is given up.

    What a listener ends while its consumer stops, or while its queue is given up, may stay uncommitted, unless it was
    put into the store; so may what nobody has an address for, because a broker is dead, or its queue is not in the
    route any more.

    wanted -- offsets that are to be sent, with the time since when. memory -- the offset in the store. over -- queues
    that were given up. given_up -- what was in the store then, and when.
    """

    name = "settled_is_committed"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.wanted: dict[Key, list[tuple[int, int]]] = {}
        self.memory: dict[Key, int] = {}
        self.over: set[Key] = set()
        self.given_up: dict[Key, tuple[int, int]] = {}
        self.stopping: set[tuple[str, str]] = set()
        self.clustering: set[tuple[str, str]] = set()
        self.routes: dict[tuple[str, str, str], frozenset[MessageQueue]] = {}
        self.names = Names()

    def hears(self) -> Hearing:
        return {**super().hears(), BrokerStarted: self.names.started, OffsetUpdated: self.updated,
                OffsetSent: self.sent, QueueDropped: self.dropped, ConsumerStarted: self.started,
                ConsumerStopping: self.stops, ConsumerShutDown: self.stopped, RouteUpdated: self.routed,
                tuple: self.host}

    def started(self, _: int, machine: str, event: ConsumerStarted) -> None:
        key = machine, event.group
        self.stopping.discard(key)
        (self.clustering.add if event.message_model == "CLUSTERING" else self.clustering.discard)(key)

    def begins(self, ms: int, machine: str, event: QueueTaken | OffsetReset | OffsetCorrected) -> None:
        super().begins(ms, machine, event)
        key = machine, event.group, event.mq
        self.wanted.pop(key, None)
        self.memory.pop(key, None)
        if event.__class__ is QueueTaken:
            self.over.discard(key)
        elif event.__class__ is OffsetReset:  # which has the last word
            self.given_up.pop(key, None)

    def settled(self, ms: int, machine: str, event: MessagesSettled) -> None:
        super().settled(ms, machine, event)
        key = machine, event.group, event.mq
        queue = self.queues.get(key)
        if queue is not None and key[:2] in self.clustering - self.stopping and key not in self.over:
            self.wanted.setdefault(key, []).append((queue.all_below, ms))

    def updated(self, ms: int, machine: str, event: OffsetUpdated) -> None:
        key = machine, event.group, event.mq
        self.memory[key] = event.offset
        if key in self.over and key[:2] in self.clustering - self.stopping and self._is_routed(key):
            self.given_up[key] = event.offset, ms

    def _is_routed(self, key: Key) -> bool:
        return key[2] in self.routes.get((key[0], key[1], key[2].topic), ())

    def sent(self, _: int, machine: str, event: OffsetSent) -> None:
        if not self.wanted and not self.given_up:
            return
        key = machine, event.group, event.mq
        left = [one for one in self.wanted.pop(key, ()) if one[0] > event.offset]
        if left:
            self.wanted[key] = left
        if key in self.given_up and self.given_up[key][0] <= event.offset:
            del self.given_up[key]

    def dropped(self, ms: int, machine: str, event: QueueDropped) -> None:
        key = machine, event.group, event.mq
        wanted, memory = self.wanted.pop(key, None), self.memory.pop(key, None)
        self.over.add(key)
        if wanted is not None and memory is not None and self._is_routed(key) and key[:2] not in self.stopping:
            in_memory = [offset for offset, _ in wanted if offset <= memory]
            if in_memory:
                self.given_up[key] = max(in_memory), ms

    def stops(self, _: int, machine: str, event: ConsumerStopping) -> None:
        self.stopping.add((machine, event.group))

    def stopped(self, _: int, machine: str, event: ConsumerShutDown) -> Iterator[str]:
        for key in [key for key in self.wanted if key[:2] == (machine, event.group)]:
            offset, __ = self.wanted.pop(key)[-1]
            if offset <= self.memory.get(key, -1):
                yield f"{machine} stops and has not committed {offset} of {queue_text(key[2])}"

    def routed(self, _: int, machine: str, event: RouteUpdated) -> None:
        mine = machine, event.group
        self.routes[machine, event.group, event.topic] = event.mqs
        self._forget(lambda key: key[:2] == mine and key[2].topic == event.topic and key[2] not in event.mqs)

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            broker_name = self.names.queue(machine, "", 0).broker_name
            self._forget(lambda key: key[0] == machine or key[2].broker_name == broker_name)
            self.over = {key for key in self.over if key[0] != machine}

    def _forget(self, theirs: Callable[[Key], bool]) -> None:
        tables: tuple[dict[Key, Any], ...] = self.wanted, self.given_up
        for table in tables:
            for key in [key for key in table if theirs(key)]:
                del table[key]

    def due(self, now_ms: int) -> Iterator[str]:
        for key, wanted in [*self.wanted.items()]:
            if now_ms - wanted[0][1] > SENT_MS:
                del self.wanted[key]
                yield f"{key[0]} has not committed {wanted[0][0]} of {queue_text(key[2])} yet"
        for key, (offset, since_ms) in [*self.given_up.items()]:
            if now_ms - since_ms > SENT_MS:
                del self.given_up[key]
                yield f"{key[0]} gave {queue_text(key[2])} up and has not committed {offset}"


class _ResetIsDone(Judge):
    """Of reset_is_done: of one queue at least that was held when the reset was received, and not given up just before.

    Resets of one client wait for each other, ten seconds each; what a rebalance gives up meanwhile is not reset.

    dropped_ms -- machine and group to the last time when a queue was given up. due_ms -- to when one must be reset.
    held -- to the queues of which it must be one.
    """

    name = "reset_is_done"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.holdings = Holdings()
        self.dropped_ms: dict[tuple[str, str], int] = {}
        self.due_ms: dict[tuple[str, str], int] = {}
        self.held: dict[tuple[str, str], set[MessageQueue]] = {}

    def hears(self) -> Hearing:
        return {**self.holdings.hears(), QueueTaken: self.holdings.taken, QueueDropped: self.dropped,
                QueuesAssigned: self.assigned, ResetReceived: self.received, OffsetReset: self.was_reset,
                ConsumerStopping: self.stops, tuple: self.host}

    def assigned(self, _: int, machine: str, event: QueuesAssigned) -> None:
        """A run that was under way has taken the others out of the table, dropped as they were."""
        key = machine, event.group
        if key in self.held:
            self.held[key] = {mq for mq in self.held[key] if mq in event.mqs or mq.topic != event.topic}

    def dropped(self, ms: int, machine: str, event: QueueDropped) -> None:
        self.holdings.dropped(ms, machine, event)
        key = machine, event.group
        self.dropped_ms[key] = ms
        if event.by_rebalance and key in self.held:
            self.held[key].discard(event.mq)

    def received(self, ms: int, machine: str, event: ResetReceived) -> None:
        key = machine, event.group
        held = {mine[3] for mine in self.holdings.queues if mine[:3] == (machine, event.client_id, event.group)}
        if held & event.mqs and key not in self.due_ms and ms - self.dropped_ms.get(key, -RESET_MS) > RESET_MS:
            self.due_ms[key], self.held[key] = ms + SENT_MS, held & event.mqs

    def was_reset(self, _: int, machine: str, event: OffsetReset) -> None:
        self._forget((machine, event.group))

    def stops(self, _: int, machine: str, event: ConsumerStopping) -> None:
        self._forget((machine, event.group))

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        self.holdings.host(ms, machine, event)
        if event.__class__ is ProcessKilled:
            for key in [key for key in self.due_ms if key[0] == machine]:
                self._forget(key)

    def _forget(self, key: tuple[str, str]) -> bool:
        """Nothing is due any more; whether it still could have been done."""
        self.due_ms.pop(key, None)
        return bool(self.held.pop(key, None))

    def due(self, now_ms: int) -> Iterator[str]:
        for key, due_ms in [*self.due_ms.items()]:
            if now_ms > due_ms and self._forget(key):
                yield f"{key[0]} has reset nothing of {key[1]}"


class _BroadcasterGoesOn(_Progress):
    """Of broadcaster_goes_on_where_it_ended: after a shutdown in order, and after the correction of an offset.

    Who loses power may lose the file. lately -- what was settled, and when; the thread that has settled it may stand
    still before it updates the offset.
    """

    name = "broadcaster_goes_on_where_it_ended"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.broadcasting = Broadcasters()
        self.least: dict[Key, int] = {}
        self.lately: dict[Key, list[tuple[int, tuple[int, ...]]]] = {}

    def hears(self) -> Hearing:
        return {**super().hears(), ConsumerStarted: self.broadcasting.started, ConsumerStopping: self.stops,
                OffsetCorrected: self.corrected, tuple: self.host}

    def settled(self, ms: int, machine: str, event: MessagesSettled) -> None:
        super().settled(ms, machine, event)
        self.lately.setdefault((machine, event.group, event.mq), []).append((ms, event.offsets))

    def stops(self, ms: int, machine: str, event: ConsumerStopping) -> None:
        since_ms = ms - (0 if self.living.machines.calm else UPDATED_MS)
        for key, queue in self.queues.items():
            if key[:2] == (machine, event.group) and key[:2] in self.broadcasting:
                late = [offset for at, offsets in self.lately.pop(key, ()) if at > since_ms for offset in offsets]
                self.least[key] = min([queue.all_below, *late])

    def corrected(self, ms: int, machine: str, event: OffsetCorrected) -> None:
        self.begins(ms, machine, event)
        if (machine, event.group) in self.broadcasting:
            self.least[machine, event.group, event.mq] = event.offset

    def begins(self, ms: int, machine: str, event: QueueTaken | OffsetReset | OffsetCorrected) -> Iterator[str]:
        super().begins(ms, machine, event)
        least = self.least.get((machine, event.group, event.mq), event.offset)
        if event.offset < least:
            yield f"{machine} begins {queue_text(event.mq)} at {event.offset}, where it was at {least}"

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            for table in (self.queues, self.lately, self.least if event.power_loss else {}):
                for key in [key for key in table if key[0] == machine]:
                    table.pop(key)


JUDGES: tuple[type[Judge], ...] = (
    _OnlyTheSettledIsCommitted, _SettledIsCommitted, _ResetIsDone, _BroadcasterGoesOn,
)
