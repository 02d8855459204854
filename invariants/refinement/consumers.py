"""What maps of the queues of consumers have in common: who runs, and whose timer is at work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from impl import events
from invariants.finding import Finding
from invariants.refinement.maps import Map, hears
from invariants.views import ConsumerTables, Machines
from model.language import Property

NAME = "refines_process_queue"
PERSISTS = "persistAllConsumerOffset"


class ConsumerMap(Map):
    """A map of the queues of one topic at those consumers of a group that it follows, of which a machine has one.

    running -- they, by machine. persisting -- machines whose timer is at work. stopping -- machines whose consumer
    shuts down; it sends and forgets offsets as the timer does.
    """

    def __init__(
        self, machines: Machines, group: str, topic: str, judged: Iterable[Property], told: Iterable[type],
    ) -> None:
        """Watch from the first segment on; told -- classes of what a consumer says of a queue."""
        super().__init__(machines, NAME, judged)
        self.group, self.topic = group, topic
        self.running: dict[str, ConsumerTables] = {}
        self.persisting: set[str] = set()
        self.stopping: set[str] = set()
        self.takes.update({kind: partial(self._hear, self.takes[kind]) for kind in told})

    def follows(self, consumer: ConsumerTables) -> bool:
        """Whether the queues of a consumer are followed."""
        raise NotImplementedError

    def queue_of(self, machine: str, event: Any) -> Any:
        """Of what a consumer speaks; None: of nothing that is followed."""
        raise NotImplementedError

    def ended(self, machine: str, event: events.ProcessKilled | events.ConsumerShutDown) -> list[Finding]:
        """A consumer that was followed runs no more."""
        raise NotImplementedError

    def _hear(self, take: Callable[..., list[Finding]], machine: str, event: Any) -> list[Finding]:
        """Let a method take what a consumer that is followed says of a queue of the topic."""
        if event.group != self.group or event.mq.topic != self.topic or machine not in self.running:
            return []
        queue = self.queue_of(machine, event)
        return [] if queue is None else take(machine, queue, event)

    @hears(events.ConsumerStarted)
    def _start(self, machine: str, event: events.ConsumerStarted) -> list[Finding]:
        for consumer in self.views.tables_of(machine, self.group) if event.group == self.group else ():
            if consumer.client_id == event.client_id and consumer.clustering and self.follows(consumer):
                self.running[machine] = consumer
        return []

    @hears(events.ConsumerStopping)
    def _stops(self, machine: str, event: events.ConsumerStopping) -> list[Finding]:
        """DefaultMQPushConsumerImpl#persistConsumerOffset: a rebalance may still take a queue."""
        if event.group == self.group and machine in self.running:
            self.stopping.add(machine)
            self.forgets(machine)
        return []

    @hears(events.ConsumerShutDown)
    def _shut_down(self, machine: str, event: events.ConsumerShutDown) -> list[Finding]:
        followed = event.group == self.group and self.running.pop(machine, None) is not None
        self.stopping.difference_update({machine} if followed else ())
        return self.ended(machine, event) if followed else []

    @hears(events.ProcessKilled)
    def _killed(self, machine: str, event: events.ProcessKilled) -> list[Finding]:
        self.persisting.discard(machine)
        self.stopping.discard(machine)
        return self.ended(machine, event) if self.running.pop(machine, None) is not None else []

    @hears(events.TimerJobBegan, events.TimerJobEnded)
    def _timer(self, machine: str, event: events.TimerJobBegan | events.TimerJobEnded) -> list[Finding]:
        """MQClientInstance#persistAllConsumerOffset: what was read of a queue that is not held yet may be forgotten."""
        own = machine in self.running and event.client_id == self.running[machine].client_id
        if event.job == PERSISTS and own:
            begins = event.__class__ is events.TimerJobBegan
            (self.persisting.add if begins else self.persisting.discard)(machine)
            if begins or machine not in self.stopping:
                (self.forgets if begins else self.timer_ends)(machine)
        return []

    def may_forget(self, machine: str) -> bool:
        """Whether somebody forgets offsets at a machine: of queues that were not held when he began."""
        return machine in self.persisting or machine in self.stopping

    def forgets(self, machine: str) -> None:
        """The timer of a machine begins: the offset of a queue that is not held now may be forgotten."""

    def timer_ends(self, machine: str) -> None:
        """The timer of a machine has done its work."""


def machine_of(connection: str) -> str:
    """Whose connection it is, as brokers name it."""
    return connection.rpartition(":")[0]
