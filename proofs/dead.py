"""Actions that never happen, because what they need keeps its first value for ever.

A run for such an action would be looked for in vain, in scopes of any size. Which variables keep a first value is found
by taking it of all of them, and dropping what some step spoils, until nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from model.language import Action, Concept, Premise, Property
from model.language.expectation import expectation
from model.language.nodes import (
    BOOL,
    BOOLEAN,
    CHOICE,
    MAYBE,
    NAT,
    SET,
    Node,
    Variable,
    const,
    make,
    negation,
    quantified,
)
from model.language.properties import LEMMA
from model.language.tracing import VariableInfo
from proofs.obligations import Induction, Obligation
from proofs.solve import Answer, Questions
from proofs.unbounded import Unbounded

EFFORT = 100_000  # Z3's resource units for a question; what is not answered is not claimed


def dead(concept: Concept, given: Sequence[Premise], wanted: Mapping[str, Action], timeout_ms: int) -> set[str]:
    """Names of those actions that cannot happen under the premises, the lemmas being true of every reachable state."""
    induction = Induction(Unbounded(concept), given)
    questions = Questions((0,), timeout_ms, EFFORT)
    known = [*induction.lemmas, *_kept(induction, questions)]
    return {name for name, action in wanted.items()
            if questions.satisfiable(induction.states(known), induction.enabled(action)).answer is Answer.PROVED}


def _kept(induction: Induction, questions: Questions) -> list[Property]:
    """First values that every step keeps, all of them taken together."""
    def refuted(obligations: Iterable[Obligation]) -> set[str]:
        found: set[str] = set()
        for owed in obligations:
            if owed.invariant not in found \
                    and questions.prove(owed.assumed, owed.hypotheses, owed.goal).answer is not Answer.PROVED:
                found.add(owed.invariant)
        return found

    values = [*_first_values(induction.concept)]
    never = refuted(induction.at_first(values))
    kept = [one for one in values if one.name not in never]
    while spoilt := refuted(induction.keeping(kept, [*induction.lemmas, *kept])):
        kept = [one for one in kept if one.name not in spoilt]
    return kept


def _first_values(concept: Concept) -> Iterator[Property]:
    """Each value that all cells of a variable might have at first, and for ever."""
    for info in concept.variables.values():
        if not info.rigid:
            keys = tuple(Variable(sort, "k") for sort in info.keys)
            cell = make("read", info.value, *(make("var", key.sort, payload=key) for key in keys),
                        payload=("now", info.name))
            for number, value in enumerate(_values(info, cell)):
                yield Property(f"{info.name} {number}", LEMMA, concept, "", quantified("forall", keys, value),
                               expectation("holds"))


def _values(info: VariableInfo, cell: Node) -> Iterator[Node]:
    """Formulas that say of a cell that it has a value that may be its first."""
    sort = info.value
    if sort.kind == BOOL:
        yield from (cell, negation(cell))
    elif sort.kind in (NAT, CHOICE):
        yield from (make("eq", BOOLEAN, cell, const(sort, number)) for number in range(len(sort.members) or 1))
    elif sort.kind in (SET, MAYBE):
        yield make("eq", BOOLEAN, cell, const(sort, 0))
