"""Random declarations: concepts as people write them, as source text, with a scope and states that fit.

The text is read twice: traced by the language, and run as it stands on the values of one state
(`stateful_tests.language.direct`), so that tracing is under test as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import model.language
from model.language import Choice, Concept, Nat, Sort
from model.language.nodes import MAYBE, SET
from model.language.scope import Scope
from model.language.walk import Cell, cells
from stateful_tests.language.random_terms import (
    CONSTANTS,
    ELEMENTARY,
    RANGED,
    VALUES,
    Pick,
    StateVariable,
    TermWriter,
    cell,
)


class Red(Sort):
    """Elements."""


class Blue(Sort):
    """Other elements."""


class Count(Nat):
    """Numbers that leave the scope."""


class Age(Nat, saturates=True):
    """Numbers that saturate."""


class Mode(Choice):
    """Names."""

    LOW: Mode
    HIGH: Mode
    OFF: Mode


SORTS = {sort.__name__: sort for sort in (Red, Blue, Count, Age, Mode)}
_MOST_CELLS = 18
_HEAD = 'class {name}(State):\n    """Nothing."""\n\n' + "".join(
    f"    {name}: Constant[{sort}]\n" for sort, name in CONSTANTS.items())


@dataclass(frozen=True, slots=True)
class Declaration:
    """A random declaration: the text of a concept, elements per sort, the names of bound variables in the text."""

    name: str
    source: str
    sizes: dict[str, int]
    spoken: frozenset[str]

    def traced(self) -> Concept:
        """The concept, as the language reads the text."""
        space: dict[str, Any] = {**vars(model.language), **SORTS, "__name__": __name__}
        exec(self.code(), space)  # noqa: S102 - the text was written by this module
        concept: Concept = space[self.name].concept
        return concept

    def code(self) -> Any:
        """The text, compiled."""
        return compile("from __future__ import annotations\n" + self.source, f"<{self.name}>", "exec")


def tape(choices: Sequence[int]) -> Pick:
    """Choices from a list of integers; each is taken modulo n, and past the end it is 0."""
    left = iter(choices)
    return lambda n: next(left, 0) % n


def drawn(seed: int) -> Pick:
    """Choices drawn by a seed."""
    return Random(seed).randrange  # noqa: S311 - a test's choices, no secret


def declaration(pick: Pick, name: str = "Random", *, elementary: bool = False) -> Declaration:
    """A concept with a few variables, a macro, actions and properties of a state and of a step.

    elementary -- keys, parameters and bound variables are elements, never naturals, sets or Maybes.
    """
    sizes = {"Red": 1 + pick(3), "Blue": 1 + pick(3), "Count": 1 + pick(4), "Age": 1 + pick(4)}
    writer = _Writer(pick, sizes, ELEMENTARY if elementary else RANGED)
    writer.concept = name
    parts = [_HEAD.format(name=name) + "".join(writer.declare())]
    parts += [writer.macro(f"m{number}") for number in range(pick(2))]
    parts += [writer.action(f"a{number}") for number in range(1 + pick(3))]
    parts += [writer.condition("p0", "s"), writer.condition("q0", "before", "after")]
    return Declaration(name, "\n\n".join(parts), writer.sizes, frozenset(writer.spoken))


class _Writer(TermWriter):
    """Writes the parts of a declaration."""

    concept: str
    actions: dict[str, tuple[str, ...]]

    def declare(self) -> Iterator[str]:
        """Lines for some variables."""
        self.actions = {}
        for number in range(1 + self.pick(7)):
            keys = tuple(self.one(self.ranged) for _ in range(self.one((0, 1, 1, 2))))
            while prod(map(self.span, keys)) > _MOST_CELLS:
                keys = keys[:-1]
            rigid, value = number > 0 and self.seldom(), self.one(VALUES)
            self.variables.append(StateVariable(f"v{number}", keys, value, self.seldom() and not rigid, rigid))
            yield f"    v{number}: {_annotation(self.variables[-1])}\n"

    def macro(self, name: str) -> str:
        """A plain function of a state and an element."""
        sort = self.plain()
        self.bound, self.states, self.ghosts = [("e", sort)], ("s",), False
        text = f"def {name}(s: {self.concept}, e: {sort}) -> Bool:\n    return {self.formula(2)}\n"
        self.macros.append((name, sort))
        return text

    def condition(self, name: str, *states: str) -> str:
        """A property of one state, or of two."""
        self.bound, self.states, self.ghosts, self.assigned = [], states, True, set()
        parameters = ", ".join(f"{state}: {self.concept}" for state in states)
        kind = "always" if len(states) == 1 else "step"
        return f'@{kind}("holds")\ndef {name}({parameters}) -> Bool:\n    return {self.formula(1 + self.pick(3))}\n'

    def action(self, name: str) -> str:
        """An action: guards, what is computed beforehand, the call of an earlier action, overlapping assignments."""
        self.bound = [(f"p{number}", self.plain()) for number in range(self.one((0, 1, 1, 2)))]
        self.states, self.ghosts, self.assigned, self.taken = ("s",), False, set(), set()
        sorts = tuple(sort for _, sort in self.bound)
        head = "".join(f", {parameter}: {sort}" for parameter, sort in self.bound)
        lines = [f"require({self.formula(self.pick(3))})" for _ in range(self.one((0, 0, 1, 2)))]
        if self.seldom():
            lines.append(f"search_only({self.formula(1)})")
        chosen = [self.one([v for v in self.variables if not v.rigid]) for _ in range(1 + self.pick(4))]
        looping = [bool(variable.keys) and self.pick(3) > 0 for variable in chosen]
        computed = [[] if loops else self._computed(variable, place)
                    for place, (variable, loops) in enumerate(zip(chosen, looping, strict=True))]
        lines += [line for part in computed for line in part]
        lines += self._call()
        for place, (variable, loops) in enumerate(zip(chosen, looping, strict=True)):
            lines += self._loop(variable) if loops else self._assignment(variable, place)
            self.assigned.add(variable.name)
        self.actions[name] = sorts
        body = "\n    ".join(lines)
        return f'@action("Nobody#nothing")\ndef {name}(s: {self.concept}{head}) -> None:\n    {body}\n'

    def _call(self) -> list[str]:
        if not self.actions or not self.seldom():
            return []
        called = self.one(list(self.actions))
        self.ghosts = False
        arguments = ", ".join(["s", *(self.term(sort, 1) for sort in self.actions[called])])
        self.assigned = {variable.name for variable in self.variables}
        return [f"{called}({arguments})"]

    def _computed(self, variable: StateVariable, place: int) -> list[str]:
        """Keys and value of an assignment, before anything is assigned."""
        self.ghosts = variable.ghost
        sorts = (*variable.keys, variable.value)
        return [f"n{place}_{number} = {self.term(sort, 2)}" for number, sort in enumerate(sorts)]

    def _assignment(self, variable: StateVariable, place: int) -> list[str]:
        keys = [f"n{place}_{number}" for number in range(len(variable.keys))]
        return [self._assign(variable, keys, f"n{place}_{len(keys)}")]

    def _loop(self, variable: StateVariable) -> list[str]:
        """Assign all cells whose first keys are anything; the other keys may be any term."""
        self.ghosts = variable.ghost
        bound = self.bind(variable.keys[:1 + self.pick(len(variable.keys))])
        keys = [name for name, _ in bound]
        keys += [self.term(sort, 1) for sort in variable.keys[len(bound):]]
        assignment = self._assign(variable, keys, self.term(variable.value, 2))
        self.release(len(bound))
        self.taken |= {name for name, _ in bound}  # a second loop over another sort would redefine it, says mypy
        lines = [f"for {', '.join(name for name, _ in bound)} in every({', '.join(sort for _, sort in bound)}):"]
        if self.pick(2):
            lines = [f"for {name} in every({sort}):" for name, sort in bound]
        return ["    " * depth + line for depth, line in enumerate((*lines, assignment))]

    def _assign(self, variable: StateVariable, keys: list[str], value: str) -> str:
        if keys and self.seldom():
            key = ", ".join(keys)
            return f"s.{variable.name}.forget({key if len(keys) == 1 else f'({key})'})"
        return f"s.{cell(variable, keys)} = {value}"


def _annotation(variable: StateVariable) -> str:
    keys = variable.keys[0] if len(variable.keys) == 1 else f"tuple[{', '.join(variable.keys)}]"
    if variable.rigid:
        return f"Rigid[{keys}, {variable.value}]" if variable.keys else f"Constant[{variable.value}]"
    text = f"Table[{keys}, {variable.value}]" if variable.keys else variable.value
    return f"Ghost[{text}]" if variable.ghost else text


def scope(declared: Declaration, concept: Concept, pick: Pick) -> Scope:
    """A scope for a random concept; constants of naturals sometimes lie beyond it."""
    sorts = {name: info.value for name, info in concept.variables.items() if info.rigid}
    zero: dict[str, Any] = {name: frozenset() if sort.kind == SET else None if sort.kind == MAYBE else 0
                            for name, sort in sorts.items()}
    made = Scope(concept, {SORTS[sort]: size for sort, size in declared.sizes.items()}, zero, name=declared.name)
    made.tables = {name: tuple(pick(made.size(sorts[name]) + (sorts[name].kind == "nat")) for _ in table)
                   for name, table in made.tables.items()}
    return made


def states(concept: Concept, sized: Scope, pick: Pick, count: int) -> list[dict[Cell, int]]:
    """States with any value in any cell, forgotten ones and others alike."""
    spans = [(place, sized.size(sort)) for place, sort in cells(concept, sized)]
    return [{place: pick(span) for place, span in spans} for _ in range(count)]
