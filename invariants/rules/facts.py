"""What is so in a run, folded once from what was reported, for all rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from invariants.rules.match import Match
from invariants.rules.offset_facts import OffsetFacts, Place
from invariants.rules.rule import Kept, on
from invariants.views import Views

Holding = tuple[str, str, str, MessageQueue]
"""Machine, client id, group, queue."""


def _event(_: int, event: Any) -> Any:
    return event


def _attached(event: Any) -> bool:
    return bool(event.attached)


class Facts(OffsetFacts):
    """Tables by machine ("at") unless said otherwise.

    holdings -- client id, group, queue: when it was taken, ms. busy -- client id, group, queue: when its listener
    began. ended_ms -- the same: when its last listener ended. consumers -- group: the start of its consumer. stopping
    -- client id, group: when the shutdown began. routes -- group, topic: the queues that its client knows.
    listed -- at a broker: group, connection: the last heartbeat on it. locks -- at a broker: group, queue: when and for
    whom it was granted. brokers -- the start of the broker that runs, or ran last. heartbeats_ms -- at a broker: group,
    connection: when the last heartbeat on it was entered, if it is still there. subscribed -- at a broker: group,
    topic: its version in the subscription table. broker_killed_ms -- since when no broker runs there, because its
    process was killed. powerless -- brokers whose machine has lost its power in this run. names -- those that a broker
    has had, the first one first. refused -- at a broker: group, client id: when it objected to a heartbeat, if it has
    entered none since.
    """

    holdings = Kept("at client_id group mq", ends=(events.QueueDropped, events.ConsumerShutDown),
                    begins=(events.QueueTaken,))
    busy = Kept("at client_id group mq", ends=(events.ListenerEnded,), begins=(events.ListenerStarted,))
    ended_ms = Kept("at client_id group mq", begins=(events.ListenerEnded,))
    consumers = Kept("at group", begins=(events.ConsumerStarted,), value=_event)
    stopping = Kept("at client_id group", ends=(events.ConsumerStarted,), begins=(events.ConsumerStopping,))
    routes = Kept("at group topic", begins=(events.RouteUpdated,), value=lambda _, event: event.mqs)
    listed = Kept("at group connection", ends=(Match(events.ConsumerRemoved, having=_attached), events.GroupRemoved),
                  begins=(Match(events.ConsumerRegistered, having=_attached),), value=_event)
    locks = Kept("at group mq", ends=(events.LockReleased,), begins=(events.LockGranted,),
                 value=lambda ms, event: (ms, event.holder))
    brokers = Kept("at", survives="all", begins=(events.BrokerStarted,), value=_event)
    refused = Kept("at group client_id", begins=(events.HeartbeatRefused,), ends=(events.ConsumerRegistered,))
    heartbeats_ms = Kept("at group connection", ends=(events.ConsumerRemoved,), begins=(events.ConsumerRegistered,))
    subscribed = Kept("at group topic", ends=(Match(events.SubscriptionRemoved, having=_attached), events.GroupRemoved),
                      begins=(Match(events.SubscriptionUpdated, having=_attached),),
                      value=lambda _, event: event.sub_version)
    broker_killed_ms = Kept("at", ends=(events.BrokerStarted,), survives="all")
    powerless = Kept("at", survives="all")
    names = Kept("at", survives="all")
    _places = Kept("at group topic queue_id", survives="all", ends=(Match(events.BrokerStarted, of=""),))

    def __init__(self) -> None:
        """Nothing has happened."""
        self._holders: dict[Place, tuple[Holding, ...]] = {}
        self._held: dict[tuple[str, str, str], tuple[Holding, ...]] = {}

    @on(events.QueueTaken, events.QueueDropped, events.ConsumerShutDown, events.ProcessKilled)
    def changes_hands(self, _: int, __: str, ___: Any) -> None:
        """Who holds what is looked for anew."""
        self._holders.clear()
        self._held.clear()

    @on(events.BrokerStarted)
    def named(self, _: int, at: str, event: events.BrokerStarted) -> None:
        self.names.setdefault((at,), {})[event.broker_name] = None

    @on(events.ProcessKilled)
    def killed(self, ms: int, at: str, event: events.ProcessKilled) -> None:
        """A broker runs no more; what is killed once more while it starts has not run since."""
        if (at,) in self.brokers:
            self.broker_killed_ms.setdefault((at,), ms)
            if event.power_loss:
                self.powerless[at,] = ms

    # Questions --------------------------------------------------------------------------------------------------------

    def holds(self, client_id: str | None, group: str, mq: MessageQueue) -> bool:
        """Whether a client of this id holds a queue."""
        return any(key[1] == client_id for key in self.holders(group, mq))

    def holders(self, group: str, mq: MessageQueue) -> tuple[Holding, ...]:
        """Who of a group holds a queue."""
        found = self._holders.get((group, mq))
        if found is None:
            place = group, mq
            found = self._holders[place] = tuple(key for key in self.holdings if key[2:] == place)
        return found

    def held_at(self, at: str, client_id: str, group: str) -> tuple[Holding, ...]:
        """What a client holds."""
        owner = at, client_id, group
        found = self._held.get(owner)
        if found is None:
            found = self._held[owner] = tuple(key for key in self.holdings if key[:3] == owner)
        return found

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

    def is_refused(self, group: str, client_id: str | None) -> bool:
        """Whether a broker objects to the heartbeats of a client: it is no member of the group there."""
        return any(key[1:] == (group, client_id) for key in self.refused)

    def is_master(self, at: str) -> bool:
        """Whether the broker that runs there, or ran there last, is a master."""
        started = self.brokers.get((at,))
        return started is not None and started.broker_id == MASTER_ID

    def broker_name(self, at: str) -> str:
        """The name of the broker; that of its machine if nobody saw it start."""
        started = self.brokers.get((at,))
        return at if started is None else str(started.broker_name)

    def queues(self, at: str, topic: str, queue_id: int) -> Sequence[MessageQueue]:
        """The queue that a broker speaks of, by each name that clients may still call its broker; today's comes first.

        Requests name topic and queue id, and go to an address: a broker that was renamed answers who asks for a queue
        at its former name.
        """
        names = {self.broker_name(at): None, **self.names.get((at,), {})}
        return tuple(MessageQueue(topic, name, queue_id) for name in names)

    def places(self, at: str, event: events.OffsetCommitted | events.OffsetAnswered) -> tuple[Place, ...]:
        """Group and queue of an offset that a broker speaks of, by each name; see `queues`."""
        key = at, event.group, event.topic, event.queue_id
        found: tuple[Place, ...] | None = self._places.get(key)
        if found is None:
            found = self._places[key] = tuple((event.group, mq) for mq in self.queues(at, event.topic, event.queue_id))
        return found

    def connections(self, at: str, group: str) -> dict[str, Any]:
        """The connections that a broker lists in a group, with the last heartbeat on each."""
        return {key[2]: heartbeat for key, heartbeat in self.listed.items() if key[:2] == (at, group)}

    def locked_for(self, group: str, mq: MessageQueue) -> str | None:
        """Who has the lock of a queue, as its broker has reported it; None: nobody, or the lease is over unseen."""
        return next((holder for key, (_, holder) in self.locks.items() if key[1:] == (group, mq)), None)

    def runs(self, client: str, client_id: str | None, group: str) -> bool:
        """Whether the machine has a consumer of this id and group that was started, and has not begun to stop."""
        started = self.consumers.get((client, group))
        here = started is not None and started.client_id == client_id
        return here and (client, client_id, group) not in self.stopping


def is_suspended(views: Views, machine: str, client_id: str, group: str) -> bool:
    """Whether the application of a push consumer has suspended it."""
    return any(one[:3] == (machine, client_id, group) and one.pause for one in views.consumers())


def queue_text(mq: MessageQueue) -> str:
    """As people say it."""
    return f"queue {mq.queue_id} of {mq.topic} at {mq.broker_name}"
