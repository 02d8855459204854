"""What the events say, folded, beside what the tables say: nothing may move without being reported in its segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl.events import (
    ConsumerRegistered,
    ConsumerRemoved,
    GroupEntered,
    GroupRemoved,
    LockBelieved,
    LockGranted,
    LockReleased,
    ProcessKilled,
    ProcessStarted,
    QueueDropped,
    QueueTaken,
    SubscriptionRemoved,
    SubscriptionUpdated,
)
from impl.hosts.simulation.kernel import Record
from impl.hosts.simulation.process import Process
from invariants.views import Views
from stateful_tests.worlds.world import World

Fact = tuple[Any, ...]


class Reported:
    """A monitor of the kernel.

    world -- set it as soon as there is one. facts -- machine to what its events say of its tables. differences --
    (time in ms, machine, in the events only, in the tables only), the first few.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.world: World | None = None
        self.facts: dict[str, set[Fact]] = {}
        self.differences: list[tuple[int, str, list[Fact], list[Fact]]] = []
        self.compared = 0

    def __call__(self, process: Process, records: Sequence[Record], due: bool) -> None:  # noqa: ARG002  # see there
        """After each segment: fold its events, then compare."""
        for _, machine, event in records:
            if event.__class__ in (ProcessKilled, ProcessStarted):
                self.facts[machine] = set()
            else:
                fold(self.facts.setdefault(machine, set()), event)
        if self.world is None or not process.alive or process.name == "world":
            return
        said, is_so = self.facts.get(process.name, set()), tables(self.world.views, process.name)
        self.compared += 1
        if said != is_so and len(self.differences) < 10:  # noqa: PLR2004  # more tell nothing more
            self.differences.append((
                process.kernel.now_ms, process.name, sorted(said - is_so, key=str), sorted(is_so - said, key=str),
            ))


def fold(facts: set[Fact], event: Any) -> None:  # noqa: C901, PLR0912  # a table: one branch for each event
    """Change what is known of a machine by one event of it."""
    match event:
        case GroupEntered(_, group):
            facts.add(("group", group))
        case GroupRemoved(_, group):
            facts.difference_update({fact for fact in facts if fact[1:2] == (group,) and fact[0] != "lock"})
        case ConsumerRegistered(_, group, client_id, connection, True):
            facts.difference_update({fact for fact in facts if fact[:3] == ("member", group, connection)})
            facts.add(("member", group, connection, client_id))
        case ConsumerRemoved(_, group, client_id, connection, _, True):
            facts.discard(("member", group, connection, client_id))
        case SubscriptionUpdated(_, group, topic, sub_string, version, True):
            facts.difference_update({fact for fact in facts if fact[:3] == ("subscription", group, topic)})
            facts.add(("subscription", group, topic, sub_string, version))
        case SubscriptionRemoved(_, group, topic, True):
            facts.difference_update({fact for fact in facts if fact[:3] == ("subscription", group, topic)})
        case LockGranted(_, group, mq, _, holder):
            facts.difference_update({fact for fact in facts if fact[:3] == ("lock", group, mq)})
            facts.add(("lock", group, mq, holder))
        case LockReleased(_, group, mq, client_id):
            facts.discard(("lock", group, mq, client_id))
        case QueueTaken(_, group, mq):
            facts.add(("holds", group, mq))
        case QueueDropped(_, group, mq):
            facts.discard(("holds", group, mq))
            facts.discard(("locked", group, mq))
        case LockBelieved(_, group, mq, locked):
            if locked and ("holds", group, mq) in facts:
                facts.add(("locked", group, mq))
            else:
                facts.discard(("locked", group, mq))


def tables(views: Views, machine: str) -> set[Fact]:
    """The same facts, read from the tables of a machine."""
    return broker_tables(views, machine) | consumer_tables(views, machine)


def broker_tables(views: Views, broker: str) -> set[Fact]:
    """Groups with members and subscriptions, and locks."""
    facts: set[Fact] = set()
    for group in views.groups(broker):
        facts.add(("group", group))
        for connection, client_id in views.members(broker, group).items():
            facts.add(("member", group, connection, client_id))
        for topic, sub in views.subscriptions(broker, group).items():
            facts.add(("subscription", group, topic, sub.sub_string, sub.sub_version))
    facts.update(("lock", group, mq, lock.client_id) for (group, mq), lock in views.locks(broker).items())
    return facts


def consumer_tables(views: Views, machine: str) -> set[Fact]:
    """Queues that are held, and those whose lock is believed in."""
    facts: set[Fact] = set()
    for held in views.process_queues(machine):
        if not held.dropped:
            facts.add(("holds", held.group, held.mq))
            if held.locked:
                facts.add(("locked", held.group, held.mq))
    return facts
