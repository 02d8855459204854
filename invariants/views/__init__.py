"""Views: the one reader of the implementation's tables, for rules, promises, followers and stories.

A view shows what lives: a machine whose process has ended is an empty table. Answers are plain values, made when they
are asked for; ConsumerTables and RouteTables can be kept, and are asked again. Machines are called as in the world that
is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar, cast

from impl.decisions.message_queue import MessageQueue
from invariants.views.brokers import BrokerViews
from invariants.views.consumers import ConsumerTables, ConsumerViews
from invariants.views.delays import DelayViews
from invariants.views.living import Living, Machines
from invariants.views.namesrvs import NamesrvViews, RouteTables
from invariants.views.values import (
    Broker,
    Cache,
    Consumer,
    DelayLevel,
    Dispatched,
    Filter,
    HeldQueue,
    Limits,
    QueueLock,
    QueueRange,
    Registration,
    Replicated,
    StoredRecord,
    Subscription,
    Written,
)

__all__ = [
    "Broker", "Cache", "Consumer", "ConsumerTables", "DelayLevel", "Dispatched", "Filter", "HeldQueue", "Limits",
    "Machines", "QueueLock", "QueueRange", "Registration", "Replicated", "RouteTables", "StoredRecord", "Subscription",
    "Views", "Written",
]

_T = TypeVar("_T")
_OFTEN = ("brokers", "topics", "queues", "namesrvs", "queue_datas", "routed", "addresses", "consumers", "in_service",
          "process_queues", "subscribed", "subscribe_info")
"""Views that several rules ask at once."""


class Views(NamesrvViews, BrokerViews, ConsumerViews, DelayViews):
    """The tables of machines, and what only several of them say together."""

    def __init__(self, machines: Machines) -> None:
        """Look at these."""
        self.living = Living(machines)
        self._often: dict[str, Any] = {}
        self._made: dict[str, Any] | None = None

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Nothing runs in the block: what many ask is read once."""
        own, self._made = vars(self), {}
        self._often = self._often or {name: cache(getattr(self, name)) for name in _OFTEN}
        own.update(self._often)
        try:
            yield
        finally:
            self._made = None
            for name, read in self._often.items():
                del own[name]
                read.cache_clear()

    def once(self, what: str, make: Callable[[], _T]) -> _T:
        """What several rules make of tables; where nothing runs it is made once for all who ask for it by this name."""
        if self._made is None:
            return make()
        if what not in self._made:
            self._made[what] = make()
        return cast("_T", self._made[what])

    def calm(self) -> bool:
        """Whether nothing fails in this world but what people do."""
        return self.living.machines.calm

    def holders(self, group: str, topic: str) -> dict[MessageQueue, list[str]]:
        """Every queue of the topic at a living broker, and the machines of the consumers that hold it now."""
        holders: dict[MessageQueue, list[str]] = {mq: [] for mq in self.queues(topic)}
        for machine in self.living.machines.consumers:
            for held in self.process_queues(machine):
                if held.group == group and held.mq.topic == topic and not held.dropped:
                    holders.setdefault(held.mq, []).append(machine)
        return holders

    def one_owner_each(self, group: str, topic: str) -> bool:
        """Whether every queue of the topic has exactly one holder."""
        return all(len(machines) == 1 for machines in self.holders(group, topic).values())

    def two_owners(self, group: str, topic: str) -> list[MessageQueue]:
        """The queues that more than one consumer holds now."""
        return sorted(mq for mq, machines in self.holders(group, topic).items() if len(machines) > 1)

    def no_owner(self, group: str, topic: str) -> list[MessageQueue]:
        """The queues that nobody holds now."""
        return sorted(mq for mq, machines in self.holders(group, topic).items() if not machines)

    def dead_addresses(self, machine: str) -> set[str]:
        """The addresses that the clients of a machine know of brokers, and where none lives."""
        return {*self.known_addresses(machine).values()}.difference(broker.broker_addr for broker in self.brokers())
