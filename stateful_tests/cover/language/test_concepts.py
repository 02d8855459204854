"""Five concepts as people write them: how they read, what a search of them counts, and that all readings agree."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from model.explorer import explore
from model.language import Concept, State, text
from model.language.scope import RigidFunction, Scope
from stateful_tests.language.agreement import Case, by_batch, by_sparse_states, by_steps, by_strictness, differences
from stateful_tests.language.concepts import commit_log, composition, consumer_group, order_lock, process_queue
from stateful_tests.language.random_declarations import Declaration, states
from stateful_tests.language.z3_reader import by_z3

SPOKEN = Path(consumer_group.__file__).with_name("spoken.txt")


def shares(view: frozenset[int], queue: int) -> int | None:
    """The members take turns."""
    return sorted(view)[queue % len(view)] if view else None


def scope(concept: Concept, sizes: str, **rigid: RigidFunction) -> Scope:
    """A scope from "2 Member, 3 Queue"."""
    numbers = [part.split() for part in sizes.split(",")]
    return Scope(concept, {sort: int(number) for number, sort in numbers}, rigid)


SCOPES = [
    scope(consumer_group.Group.concept, "1 Broker, 2 Member, 2 Queue", share=shares),
    scope(order_lock.Lock.concept, "2 Client, 6 Ms", client_live=1, broker_live=3, rpc_max=1),
    scope(commit_log.Store.concept, "2 Queue, 4 LogPosition, 4 QueueOffset"),
    scope(process_queue.Delivery.concept, "2 Member, 3 QueueOffset"),
    scope(composition.Orderly.concept, "1 Broker, 2 Member, 2 Queue", share=shares),
]
by_name = pytest.mark.parametrize("sized", SCOPES, ids=lambda sized: sized.concept.name)


def spoken(concept: Concept) -> str:
    """All that the text reading says of a concept."""
    lines = [f"{one.name}: {text.claim(one)}" for one in concept.properties.values()]
    lines += [f"  given {given.name}: {text.assumption(given)}" for one in concept.properties.values()
              for given in one.given]
    return "\n".join([text.concept(concept), "", *lines, ""])


def test_concepts_read_as_people_write_them() -> None:
    assert "\n\n".join(spoken(sized.concept) for sized in SCOPES) == SPOKEN.read_text("utf-8")


@pytest.mark.parametrize(("concept", "name", "said"), [
    (consumer_group.Group, "one_owner_per_queue", "∀ a, b: Member, q: Queue · holds[a, q] ∧ holds[b, q] ⇒ a = b"),
    (commit_log.Store, "acknowledged_survives", "acked ≤ end"),
    (process_queue.Delivery, "committed_offset_never_regresses", "known ⇒ known′ ∧ committed ≤ committed′"),
])
def test_a_property_keeps_the_names_of_its_author(concept: type[State], name: str, said: str) -> None:
    assert text.claim(concept.concept.properties[name]) == said


COUNTS = {  # states, transitions, depth, steps that leave the scope, shortest violations
    "Group": (1444, 11742, 14, 0, {"one_owner_per_queue": 8}),
    "Lock": (492, 1918, 15, 0, {}),
    "Store": (10775, 36315, 14, 1920, {}),
    "Delivery": (3831, 38525, 23, 3754, {"committed_offset_never_regresses": 11}),
    "Orderly": (8388, 89590, 14, 0, {"one_owner_even_in_motion": 8}),
}


@by_name
def test_a_search_counts_the_same_states_as_ever(sized: Scope) -> None:
    found = explore(sized, list(sized.concept.properties.values()))
    violated = {name: len(trace["steps"]) for name, trace in found.violations.items()}
    counted = (found.states, found.transitions, found.depth, sum(found.cut.values()), violated)
    assert counted == COUNTS[sized.concept.name]


@by_name
def test_all_readings_agree_on_any_state(sized: Scope) -> None:
    chance, concept = Random(1), sized.concept  # noqa: S311 - a test's choices
    arguments = {name: [tuple(chance.randrange(sized.size(v.sort)) for v in declared.parameters)]
                 for name, declared in concept.actions.items()}
    declared = Declaration(concept.name, "", {}, frozenset())
    many = Case(declared, concept, sized, states(concept, sized, chance.randrange, 60), arguments)
    few = Case(declared, concept, sized, many.states[:4], arguments)
    assert differences(many, [by_batch, by_steps, by_sparse_states, by_strictness]) == []
    assert differences(few, [by_z3]) == []
