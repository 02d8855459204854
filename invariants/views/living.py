"""What views look at: the machines of a world, and which of them live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from impl.broker.controller import BrokerController
from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.namesrv.server import NamesrvController


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

    @property
    def senders(self) -> Mapping[str, DefaultMQProducerImpl]:
        """The producer of each machine that has one."""
        ...

    def is_forced(self, machine: str, path: str, offset: int, length: int) -> bool:
        """Whether a loss of power cannot cost the machine these bytes of a file."""
        ...

    @property
    def pollers(self) -> Mapping[str, DefaultLitePullConsumerImpl]:
        """The lite pull consumer of each machine that has one."""
        ...

    @property
    def calm(self) -> bool:
        """Whether nothing may fail in this world but what people do: no thread is paused, no message lost.

        A world that is not calm never is again.
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

    def senders(self) -> list[DefaultMQProducerImpl]:
        """The producers that run, by their machines."""
        return [one for _, one in sorted(self.machines.senders.items()) if lives(one.node)]

    def pollers(self) -> list[DefaultLitePullConsumerImpl]:
        """The lite pull consumers that run, by their machines."""
        return [one for _, one in sorted(self.machines.pollers.items()) if lives(one.node)]


def lives(node: object) -> bool:
    """Whether the process of these ports has not been killed; a host whose processes are never killed need not say."""
    return bool(getattr(node, "alive", True))
