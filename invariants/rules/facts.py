"""What is so in a run, folded once from what was reported, for all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerStarted,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    GroupRemoved,
    ListenerEnded,
    ListenerStarted,
    LockGranted,
    LockReleased,
    QueueDropped,
    QueueTaken,
    RouteUpdated,
)
from invariants.rules.match import Match
from invariants.rules.rule import Hears, Kept, on


class Facts(Hears):
    """Tables by machine ("at") unless said otherwise.

    holdings -- client id, group, queue: when it was taken, ms. busy -- client id, group, queue: when its listener
    began. ended_ms -- the same: when its last listener ended. consumers -- group: the start of its consumer. stopping
    -- client id, group: when the shutdown began. routes -- group, topic: the queues that its client knows.
    listed -- at a broker: group, connection: the last heartbeat on it. locks -- at a broker: group, queue: when and for
    whom it was granted. brokers -- the start of the broker that runs, or ran last.
    """

    def __init__(self) -> None:
        """Nothing has happened."""
        self.holdings = Kept("at client_id group mq", ends=(QueueDropped, ConsumerShutDown))
        self.busy = Kept("at client_id group mq", ends=(ListenerEnded,))
        self.ended_ms = Kept("at client_id group mq")
        self.consumers = Kept("at group")
        self.stopping = Kept("at client_id group", ends=(ConsumerStarted,))
        self.routes = Kept("at group topic")
        self.listed = Kept("at group connection", ends=(
            Match(ConsumerRemoved, having=lambda event: event.attached), GroupRemoved))
        self.locks = Kept("at group mq", ends=(LockReleased,))
        self.brokers = Kept("at", survives="all")
        self._queues: dict[tuple[str, str, int], MessageQueue] = {}

    @on(QueueTaken)
    def taken(self, ms: int, at: str, event: QueueTaken) -> None:
        """A client holds a queue."""
        self.holdings[at, event.client_id, event.group, event.mq] = ms

    @on(ListenerStarted)
    def listens(self, ms: int, at: str, event: ListenerStarted) -> None:
        """A listener is at work."""
        self.busy[at, event.client_id, event.group, event.mq] = ms

    @on(ListenerEnded)
    def has_listened(self, ms: int, at: str, event: ListenerEnded) -> None:
        """A listener has ended."""
        self.ended_ms[at, event.client_id, event.group, event.mq] = ms

    @on(ConsumerStarted)
    def started(self, _: int, at: str, event: ConsumerStarted) -> None:
        """A consumer runs."""
        self.consumers[at, event.group] = event

    @on(ConsumerStopping)
    def stops(self, ms: int, at: str, event: ConsumerStopping) -> None:
        """A consumer shuts down."""
        self.stopping[at, event.client_id, event.group] = ms

    @on(RouteUpdated)
    def routed(self, _: int, at: str, event: RouteUpdated) -> None:
        """A client knows other queues."""
        self.routes[at, event.group, event.topic] = event.mqs

    @on(ConsumerRegistered)
    def entered(self, _: int, at: str, event: ConsumerRegistered) -> None:
        """A broker lists a connection."""
        if event.attached:
            self.listed[at, event.group, event.connection] = event

    @on(LockGranted)
    def granted(self, ms: int, at: str, event: LockGranted) -> None:
        """A broker has a queue locked for somebody."""
        self.locks[at, event.group, event.mq] = ms, event.holder

    @on(BrokerStarted)
    def broker_started(self, _: int, at: str, event: BrokerStarted) -> None:
        """A broker runs."""
        self.brokers[at,] = event
        self._queues.clear()

    # Questions --------------------------------------------------------------------------------------------------------

    def holds(self, client_id: str | None, group: str, mq: MessageQueue) -> bool:
        """Whether a client of this id holds a queue."""
        return any(key[1:] == (client_id, group, mq) for key in self.holdings)

    def held_at(self, at: str, client_id: str, group: str) -> Iterator[MessageQueue]:
        """The queues that a client holds."""
        return (key[3] for key in self.holdings if key[:3] == (at, client_id, group))

    def works(self, client_id: str | None, group: str, mq: MessageQueue) -> str | None:
        """The machine of a client of this id whose listener works on a queue."""
        return next((key[0] for key in self.busy if key[1:] == (client_id, group, mq)), None)

    def broadcasts(self, at: str, group: str) -> bool:
        """Whether the consumer of a group broadcasts; one that nobody saw start does not."""
        started = self.consumers.get((at, group))
        return started is not None and started.message_model == "BROADCASTING"

    def clusters(self, at: str, group: str) -> bool:
        """Whether the consumer of a group was seen to start, in clustering."""
        started = self.consumers.get((at, group))
        return started is not None and started.message_model == "CLUSTERING"

    def is_orderly(self, at: str, group: str) -> bool:
        """Whether the consumer of a group was seen to start, in clustering, and listens in order."""
        return self.clusters(at, group) and bool(self.consumers[at, group].orderly)

    def stops_now(self, client_id: str | None, group: str) -> bool:
        """Whether a client of this id has begun to shut its consumer down, and not started it again."""
        return any(key[1:] == (client_id, group) for key in self.stopping)

    def is_master(self, at: str) -> bool:
        """Whether the broker that runs there, or ran there last, is a master."""
        started = self.brokers.get((at,))
        return started is not None and started.broker_id == MASTER_ID

    def broker_name(self, at: str) -> str:
        """The name of the broker; that of its machine if nobody saw it start."""
        started = self.brokers.get((at,))
        return at if started is None else str(started.broker_name)

    def queue(self, at: str, topic: str, queue_id: int) -> MessageQueue:
        """The queue that a broker speaks of."""
        found = self._queues.get((at, topic, queue_id))
        if found is None:
            found = self._queues[at, topic, queue_id] = MessageQueue(topic, self.broker_name(at), queue_id)
        return found

    def connections(self, at: str, group: str) -> dict[str, Any]:
        """The connections that a broker lists in a group, with the last heartbeat on each."""
        return {key[2]: heartbeat for key, heartbeat in self.listed.items() if key[:2] == (at, group)}


def queue_text(mq: MessageQueue) -> str:
    """As people say it."""
    return f"queue {mq.queue_id} of {mq.topic} at {mq.broker_name}"


