"""Judges of histories, and what several of them have to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    BrokerStarted,
    ConsumerShutDown,
    ConsumerStarted,
    ListenerEnded,
    ListenerStarted,
    ProcessKilled,
    QueueDropped,
    QueueTaken,
    WorldHealed,
)
from invariants.refinement.follower import Living

HANDLED_MS = 80_000
"""A request or event that has arrived is handled by then, a thread that stands still for 40 s on its way included."""
KNOWN_MS = 180_000
"""After a healing every client has spoken to every broker for so long that the dead are forgotten, too."""

Key = tuple[str, str, MessageQueue]  # machine or client id, group, queue
Hear = Callable[[int, str, Any], Iterable[str] | None]
"""Is given true time in ms, machine and event; gives what is wrong, as the ends of sentences."""
Hearing = dict[type, Hear]


class Judge:
    """Judges one property, the one that has its name."""

    name = ""

    def __init__(self, living: Living) -> None:
        """Nothing has happened."""
        self.living = living

    def hears(self) -> Hearing:
        """Class of event to who hears it; `tuple` stands for the words of the host."""
        raise NotImplementedError

    def due(self, now_ms: int) -> Iterator[str]:
        """What has not happened in time."""
        del now_ms
        return iter(())


class AfterHealing(Judge):
    """Looks once in a run, so long after the healing. after_ms -- how long."""

    after_ms = 0

    def __init__(self, living: Living) -> None:
        """The world has not healed yet."""
        super().__init__(living)
        self.healed_ms: int | None = None

    def hears(self) -> Hearing:
        """See Judge."""
        return {tuple: self._host}

    def _host(self, ms: int, _: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is WorldHealed:
            self.healed_ms = ms

    def due(self, now_ms: int) -> Iterator[str]:
        """See Judge."""
        if self.healed_ms is not None and now_ms - self.healed_ms >= self.after_ms:
            self.healed_ms = None
            yield from self.look()

    def look(self) -> Iterator[str]:
        """What is still wrong."""
        raise NotImplementedError


class Holdings:
    """Which client holds which queue: a part of judges.

    queues -- client's machine, id, group and queue to the time at which it was taken.
    """

    def __init__(self) -> None:
        """Nobody holds anything."""
        self.queues: dict[tuple[str, str, str, MessageQueue], int] = {}

    def hears(self) -> Hearing:
        """What changes it; ends are heard here, whoever listens to takings must call `taken`."""
        return {QueueDropped: self.dropped, ConsumerShutDown: self.ended, tuple: self.host}

    def taken(self, ms: int, machine: str, event: QueueTaken) -> None:
        """A queue is taken."""
        self.queues[machine, event.client_id, event.group, event.mq] = ms

    def dropped(self, _: int, machine: str, event: QueueDropped) -> None:
        """A queue is given up."""
        self.queues.pop((machine, event.client_id, event.group, event.mq), None)

    def ended(self, _: int, machine: str, event: ConsumerShutDown) -> None:
        """A consumer has ended."""
        for key in [key for key in self.queues if key[:3] == (machine, event.client_id, event.group)]:
            del self.queues[key]

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process has ended."""
        if event.__class__ is ProcessKilled:
            for key in [key for key in self.queues if key[0] == machine]:
                del self.queues[key]

    def held(self, client_id: str, group: str, mq: MessageQueue) -> bool:
        """Whether a client of this id holds it."""
        return any(key[1:] == (client_id, group, mq) for key in self.queues)


class Broadcasters:
    """Which groups of which machines broadcast: a part of judges, which must call `started`."""

    def __init__(self) -> None:
        """Nobody has started."""
        self._keys: set[tuple[str, str]] = set()

    def started(self, _: int, machine: str, event: ConsumerStarted) -> None:
        """A consumer starts."""
        key = machine, event.group
        (self._keys.add if event.message_model == "BROADCASTING" else self._keys.discard)(key)

    def __contains__(self, key: tuple[str, str]) -> bool:
        """Whether a group of a machine broadcasts."""
        return key in self._keys


class Listeners:
    """Which listeners are at work: a part of judges. busy -- client id, group and queue to machine."""

    def __init__(self) -> None:
        """Nobody works."""
        self.busy: dict[Key, str] = {}
        self.ended_ms: dict[Key, int] = {}

    def hears(self) -> Hearing:
        """What changes it."""
        return {ListenerStarted: self.starts, ListenerEnded: self.ends, tuple: self.host}

    def starts(self, _: int, machine: str, event: ListenerStarted) -> None:
        """A listener begins."""
        self.busy[event.client_id, event.group, event.mq] = machine

    def ends(self, ms: int, _: str, event: ListenerEnded) -> None:
        """A listener has ended."""
        self.busy.pop((event.client_id, event.group, event.mq), None)
        self.ended_ms[event.client_id, event.group, event.mq] = ms

    def host(self, _: int, machine: str, event: tuple[Any, ...]) -> None:
        """A process has ended."""
        if event.__class__ is ProcessKilled:
            for key in [key for key, where in self.busy.items() if where == machine]:
                del self.busy[key]


class Names:
    """The names of brokers, and which of them are masters, by their machines."""

    def __init__(self) -> None:
        """Nobody has started."""
        self.brokers: dict[str, BrokerStarted] = {}
        self._queues: dict[tuple[str, str, int], MessageQueue] = {}

    def started(self, _: int, machine: str, event: BrokerStarted) -> None:
        """A broker starts."""
        self.brokers[machine] = event
        self._queues.clear()

    def queue(self, machine: str, topic: str, queue_id: int) -> MessageQueue:
        """The queue that a broker speaks of."""
        found = self._queues.get((machine, topic, queue_id))
        if found is None:
            started = self.brokers.get(machine)
            found = MessageQueue(topic, started.broker_name if started else machine, queue_id)
            self._queues[machine, topic, queue_id] = found
        return found


def machine_of(connection: str) -> str:
    """The machine at the other end; connections are called after it ("machine:port")."""
    return connection.rpartition(":")[0]


def queue_text(mq: MessageQueue) -> str:
    """As people say it."""
    return f"queue {mq.queue_id} of {mq.topic} at {mq.broker_name}"
