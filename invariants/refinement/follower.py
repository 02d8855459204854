"""Followers: one model beside one world, from the world's first segment on.

A follower is shown every segment of every process, folds what was reported over its model, and compares what is
visible of the model with the tables of the machine that ran. Comparing costs more than folding, so that it is done
when the visible part of the model has moved or should have, and at every ROUND-th segment of each machine: a write that
nobody reported is seen that much later, and then by a difference that no event explains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from impl.broker.controller import BrokerController
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.namesrv.server import NamesrvController
from invariants.refinement.monitor import Finding

ROUND = 64
"""At every so many segments of a machine its tables are compared, whatever was reported."""

Record = tuple[int, str, Any]
"""True time in ms, machine, and what it traced: an event of `impl.events`, or the host's own words.

The host's own words are tuples that begin with a text in lower case: ("started", n), ("killed", n, power_loss),
("clock jumped", ms), …
"""


class Machines(Protocol):
    """The machines of a world and what they run, by their names.

    What a process ran that is dead stays here until the next process of the machine has put its own in the place.
    """

    @property
    def namesrvs(self) -> Mapping[str, NamesrvController]:
        """The name server of each machine that is one."""
        ...

    @property
    def brokers(self) -> Mapping[str, BrokerController]:
        """The broker of each machine that is one."""
        ...

    @property
    def consumers(self) -> Mapping[str, Sequence[DefaultMQPushConsumerImpl]]:
        """The consumers of each machine that has some, in the order of their start.

        Those that shut down while the same process starts others need not be here any more.
        """
        ...

    def alive(self, machine: str) -> bool:
        """Whether the machine's process lives."""
        ...


class Follower(Protocol):
    """What follows a world; the name is that of its property, refines_<concept>."""

    @property
    def name(self) -> str:
        """The property that it judges besides those of the model."""
        ...

    def segment(self, machine: str, records: Sequence[Record]) -> list[Finding]:
        """Take what was traced, by any machine, since the last call; the segment that has ended is of this machine.

        Raises TooManyStatesError when nothing can be said of the rest of the run.
        """
        ...


class Living:
    """The machines as they are now: what a dead process has left behind is not shown."""

    def __init__(self, machines: Machines) -> None:
        """Look at these."""
        self.machines = machines

    def namesrv(self, machine: str) -> NamesrvController | None:
        """The name server that runs there."""
        found = self.machines.namesrvs.get(machine)
        return found if found is not None and lives(found.node) else None

    def broker(self, machine: str) -> BrokerController | None:
        """The broker that runs there."""
        found = self.machines.brokers.get(machine)
        return found if found is not None and lives(found.node) else None

    def consumers(self, machine: str) -> Sequence[DefaultMQPushConsumerImpl]:
        """The consumers that run there; none of them lives when the first does not."""
        found = self.machines.consumers.get(machine, ())
        return found if found and lives(found[0].node) else ()


def lives(node: object) -> bool:
    """Whether the process of these ports has not been killed; a host whose processes are never killed need not say."""
    return bool(getattr(node, "alive", True))
