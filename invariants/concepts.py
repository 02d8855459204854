"""The registry of the concepts of the protocols: whatever goes by concept is derived from it.

The name of a concept is that of its modules: `model.NAME` has its models, `invariants.NAME` declares what they promise,
`invariants.refinement.NAME` follows worlds with them, `stateful_tests.machines.NAME` writes programs against them.
`replication`, `process_queue`, `pull`, `retry` and `commit_log` are followed, and have no machine: nobody sends
messages in the worlds of machines. Nor does anybody follow what becomes of single messages: `delivery`,
`transaction`, `slave_read` and `fault_strategy` (docs/simulation.md says why of each); walks of `process_queue`,
`delivery` and `pull` are done with the implementation by `stateful_tests.played`. Which queue a producer picks is a
function, and so is for how long it shuns a broker: what is promised of them is claimed in
`invariants.decisions.sending`, for every value of the counter, and no model has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import NamedTuple

from invariants import (
    commit_log,
    consumer_group,
    delivery,
    fault_strategy,
    order_lock,
    process_queue,
    pull,
    registration,
    replication,
    retry,
    route_info,
    slave_read,
    subscription,
    transaction,
)
from model.language import Property
from model.scopes import SCOPES


class NamedConcept(NamedTuple):
    """A concept of the protocols.

    declared -- the module that declares its properties. title -- how sentences speak of it. hazards -- of RocketMQ as
    shipped: in each of them it takes a step that the models of the concept do not allow. in_worlds -- whether worlds
    are followed with it. in_machines -- whether Hypothesis writes programs against it, if they are.
    """

    declared: ModuleType
    title: str
    hazards: tuple[str, ...] = ()
    in_worlds: bool = True
    in_machines: bool = True

    @property
    def name(self) -> str:
        """The name of its modules."""
        return self.declared.__name__.rpartition(".")[2]

    @property
    def refines(self) -> str:
        """The property that every step of the implementation is one of its models."""
        return f"refines_{self.name}"


CONCEPTS = (
    NamedConcept(consumer_group, "the consumer group", ("B-7", "B-8", "X21")),
    NamedConcept(registration, "a client's registration"),
    NamedConcept(subscription, "the group's subscription", ("B-29",)),
    NamedConcept(order_lock, "the locks of ordered queues"),
    NamedConcept(route_info, "the name servers' tables"),
    NamedConcept(replication, "replication", ("V33",), in_machines=False),
    NamedConcept(retry, "delayed delivery", ("V3", "V26", "V33"), in_machines=False),
    NamedConcept(commit_log, "the commit log", ("V33",), in_machines=False),
    NamedConcept(process_queue, "consumption", ("X21", "X23", "X28", "X29"), in_machines=False),
    NamedConcept(delivery, "a message that fails", in_worlds=False),
    NamedConcept(transaction, "a transactional message", in_worlds=False),
    NamedConcept(pull, "a pull that waits", in_machines=False),
    NamedConcept(slave_read, "reading from a slave", in_worlds=False),
    NamedConcept(fault_strategy, "sends that fail", in_worlds=False),
)
FOLLOWED = tuple(concept for concept in CONCEPTS if concept.in_worlds)
PROGRAMMED = tuple(concept for concept in FOLLOWED if concept.in_machines)

PROPERTIES: Mapping[str, Property] = {
    name: declared for named in SCOPES for name, declared in named.scope.concept.properties.items()
}
"""Every property of the models by name, concept by concept."""
