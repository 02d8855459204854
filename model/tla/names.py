"""Names: identifiers of TLA+ for what a concept declares, and for its bound variables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from model.language.nodes import FREE, NAT
from model.language.state import Concept

SORT, GREATEST, ANY, VARIABLE, ACTION, PROPERTY, NEVER, PREMISE = (
    "sort", "greatest", "any", "variable", "action", "property", "never", "premise")

_TAKEN = """
ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE ENABLED EXCEPT
EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION
PROVE QED RECURSIVE STATE STEP SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WITH
WITNESS TRUE FALSE BOOLEAN STRING
Nat Int Real Infinity Cardinality IsFiniteSet Print PrintT Assert JavaTime TLCGet TLCSet Permutations SortSeq
RandomElement Any ToString TLCEval
Init Next Spec TypeOK vars None Monus At Capped Holds Promised Broken NextHere SpecHere before
"""
RESERVED = frozenset(_TAKEN.split())
"""What TLA+, its standard modules and every exported module use themselves."""


STANDARD = frozenset(("Naturals", "Integers", "Reals", "Sequences", "FiniteSets", "Bags", "TLC", "Randomization"))


def module_name(concept: str) -> str:
    """The name of a concept's module: none of the standard ones."""
    return f"{concept}Concept" if concept in STANDARD else legal(concept)


def legal(name: str) -> str:
    """An identifier of TLA+ that is the Python name, or looks like it."""
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in name)
    return text if any(c.isalpha() for c in text) and not text.startswith(("WF_", "SF_")) else f"x_{text}"


class Names:
    """The names of one module.

    What is declared keeps its name, unless TLA+ or something declared before has it; then it gets a number.
    """

    def __init__(self, concept: Concept) -> None:
        """Name everything that the concept declares."""
        self._taken = {module_name(concept.name)}
        self._given: dict[tuple[str, str], str] = {}
        for kind, name, wanted in _declared(concept):
            self.add(kind, name, wanted)

    def add(self, kind: str, name: str, wanted: str = "") -> str:
        """Name one thing more, by its own name or the wanted one."""
        text = self.free(wanted or name)
        self._taken.add(text)
        self._given[kind, name] = text
        return text

    def of(self, kind: str, name: str) -> str:
        """The name of what was declared."""
        return self._given[kind, name]

    def free(self, wanted: str, *others: str) -> str:
        """The wanted name, numbered if it is taken: by the module, or by one of the others."""
        own = legal(wanted)
        candidates = chain((own,), (f"{own}_{number}" for number in count(2)))
        return next(name for name in candidates
                    if name not in RESERVED and name not in self._taken and name not in others)


def _declared(concept: Concept) -> Iterator[tuple[str, str, str]]:
    """What is declared: its kind, its name, the identifier that it should have."""
    for name, sort in concept.sorts.items():
        yield SORT, name, name
        if sort.kind == NAT:
            yield GREATEST, name, f"Max{name}"
        if sort.kind == FREE:
            yield ANY, name, f"Any{name}"
    for name in concept.variables:
        yield VARIABLE, name, name
    for name in concept.actions:
        yield ACTION, name, name
    for name, declared in concept.properties.items():
        yield PROPERTY, name, name
        if declared.kind == "sometimes":
            yield NEVER, name, f"never_{name}"
    premises = {one.name: one for declared in concept.properties.values() for one in declared.given}
    for name in premises:
        yield PREMISE, name, name
