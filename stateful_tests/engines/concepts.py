"""Random concepts with an initial condition and properties of which most are false, some by a hair.

The same seed gives the same concept. Nothing ranges over naturals, so that a search in a scope takes only steps that
are steps without bounds, too: whatever it refutes is false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from model.language import nodes
from model.language.actions import Action
from model.language.expectation import expectation
from model.language.nodes import BOOLEAN, CHOICE, FREE, MAYBE, NAT, Node, SortInfo, Variable, const, make
from model.language.properties import ALWAYS, LEADS_TO, LEMMA, STEP, Property
from model.language.rankings import Help, Measure, Ranking, Way
from model.language.scope import Scope
from model.language.tracing import Assignment, VariableInfo
from stateful_tests.language.random_declarations import Declaration, declaration, drawn, scope

WAITED_FOR = 3
TRIES = 4
CONSTANTS = {"Red": "red", "Blue": "blue"}
# Names that a solver could take for its own symbols: constants are renamed to them.
NASTY = ("now_v0", "now_v1", "p0_1", "p1_2", "x_1", "x_3", "forgotten_0_v0", "v0_now", "fresh_1", "rigid_v0")
RENAMED = ("limit", "span", "mode")


class Drawn:
    """A random concept with its properties, and its scopes, in which nothing is pruned."""

    def __init__(self, seed: int) -> None:
        """Draw everything from the seed."""
        self.chance = Random(seed)  # noqa: S311 - a test's choices, no secret
        self.declared = _renamed(declaration(drawn(seed), f"Random{seed}", elementary=True), self.chance)
        self.concept = self.declared.traced()
        self.first: dict[str, Node] = {}
        self.concept.initial = nodes.conjunction(*self._initial())
        self._declare()

    def scopes(self, count: int) -> Iterator[Scope]:
        """Scopes of some sizes, with random rigid functions."""
        free = replace(self.concept, actions={name: replace(action, search_only=())
                                              for name, action in self.concept.actions.items()})
        for number in range(count):
            sizes = {name: self.chance.randint(2, 3) for name in ("Red", "Blue")}
            sizes |= {name: self.chance.randint(2, 5) for name in ("Count", "Age")}
            sized = replace(self.declared, name=f"{self.declared.name}, {number}", sizes=sizes)
            yield scope(sized, free, self.chance.randrange)

    def _declare(self) -> None:
        for kind, condition in self._claims():
            name = f"{kind}{len(self.concept.properties)}"
            self.concept.properties[name] = Property(name, kind, self.concept, "", condition, expectation("holds"))

    def _changing(self) -> list[VariableInfo]:
        return [info for info in self.concept.variables.values() if not info.rigid]

    def _initial(self) -> Iterator[Node]:
        for info in self._changing():
            if self.chance.random() < 0.8:  # noqa: PLR2004 - mostly
                self.first[info.name] = self._value(info.value)
                yield self._is(info, self.first[info.name])

    def _claims(self) -> Iterator[tuple[str, Node]]:
        """Properties of states and steps: of one variable, of two, and what the declaration came with."""
        for info in self._changing():
            yield ALWAYS, self._about(info)
            yield self.chance.choice((ALWAYS, LEMMA)), self._either(self._about(info), self._any())
            yield STEP, self._step(info)

    def _any(self) -> Node:
        return self._about(self.chance.choice(self._changing()))

    def _either(self, first: Node, second: Node) -> Node:
        join = self.chance.choice((nodes.disjunction, nodes.implication, nodes.conjunction))
        return join(first, second)

    def _about(self, info: VariableInfo) -> Node:
        operators = ["eq", "ne", "or"] + (["le", "ge", "sub"] if info.value.kind == NAT else [])
        op, value = self.chance.choice(operators), self._value(info.value)
        keys = _keys(info)
        cell = _cell(info, keys, "now")
        made = {"eq": lambda: self._equal(cell, value), "ne": lambda: nodes.negation(self._equal(cell, value)),
                "or": lambda: nodes.disjunction(self._equal(cell, value), self._equal(cell, self._value(info.value))),
                "le": lambda: make("le", BOOLEAN, cell, value), "ge": lambda: make("le", BOOLEAN, value, cell),
                "sub": lambda: make("le", BOOLEAN, make("sub", info.value, cell, value), value)}[op]()
        return nodes.quantified("forall", keys, made)

    def _step(self, info: VariableInfo) -> Node:
        keys = _keys(info)
        before, after = (_cell(info, keys, phase) for phase in ("before", "after"))
        stays = self._equal(before, after)
        if info.value.kind == NAT and self.chance.random() < 0.5:  # noqa: PLR2004 - half of them
            stays = make("le", BOOLEAN, *self.chance.choice(((before, after), (after, before))))
        if self.chance.random() < 0.3:  # noqa: PLR2004 - some
            stays = nodes.disjunction(stays, self._equal(after, self._value(info.value)))
        return nodes.quantified("forall", keys, stays)

    def _is(self, info: VariableInfo, value: Node) -> Node:
        keys = _keys(info)
        return nodes.quantified("forall", keys, self._equal(_cell(info, keys, "now"), value))

    @staticmethod
    def _equal(left: Node, right: Node) -> Node:
        return make("iff" if left.sort == BOOLEAN else "eq", BOOLEAN, left, right)

    def _value(self, sort: SortInfo) -> Node:
        """A constant that has a meaning without bounds."""
        if sort.kind == FREE:
            return make("rigid", sort, payload=CONSTANTS[sort.name])
        if sort.kind == MAYBE and sort.element is not None and self.chance.random() < 0.5:  # noqa: PLR2004 - half of them
            return make("some", sort, self._value(sort.element))
        if sort.kind == NAT:
            return const(sort, self.chance.randrange(4))
        if sort.kind == CHOICE:
            return const(sort, self.chance.randrange(len(sort.members)))
        return const(sort, self.chance.randrange(2) if sort == BOOLEAN else 0)


class Waiting(Drawn):
    """A random concept with fair actions that settle something, and leads_to properties with rankings."""

    def _declare(self) -> None:
        for number in range(WAITED_FOR):
            self._wait(f"leads_to{number}")

    def _wait(self, name: str) -> None:
        """A fair action that settles a variable, cell by cell, what it leads to, and a ranking; all may be wrong."""
        able = [info for info in self._changing() if all(key.kind != NAT for key in info.keys)]
        if not able:
            return
        info = self.chance.choice(able)
        value = self._another(info)
        parameters = _keys(info)
        cell = _cell(info, parameters, "now")
        zero = const(info.value, 0) if info.value.kind == NAT and not info.value.saturates else None
        counts = zero is not None and self.first.get(info.name) is not zero and self.chance.random() < 0.5  # noqa: PLR2004 - half
        value = zero if zero is not None and counts else value
        settled = self._equal(cell, value)
        guards = [nodes.negation(settled)] if counts or self.chance.random() < 0.5 else []  # noqa: PLR2004 - half of them
        guards += [self._any()] if self.chance.random() < 0.2 else []  # noqa: PLR2004 - some
        new = make("sub", info.value, cell, const(info.value, 1)) if counts else value
        keys = tuple(make("var", v.sort, payload=v) for v in parameters)
        action = Action(f"settle_{name}", parameters, tuple(guards), (Assignment(info.name, keys, new, ()),), "nothing")
        others = [*self.concept.actions]
        self.concept.actions[action.name] = action
        quiet = tuple(one for one in others if self.chance.random() < 0.85)  # noqa: PLR2004 - most
        self._leads_to(name, action, cell, settled, quiet)

    def _another(self, info: VariableInfo) -> Node:
        """A value that is not the first one, if a few tries find one: so that something waits for it."""
        tried = [self._value(info.value) for _ in range(TRIES)]
        return next((value for value in tried if value is not self.first.get(info.name)), tried[0])

    def _leads_to(self, name: str, action: Action, cell: Node, settled: Node, quiet: tuple[str, ...]) -> None:
        """One cell is settled at last, whichever it is, or all of them are."""
        variables = action.parameters
        single = self.chance.random() < 0.5  # noqa: PLR2004 - half of them
        goal = settled if single else nodes.quantified("forall", variables, settled)
        when = self.chance.choice((nodes.TRUE, nodes.TRUE, nodes.negation(goal), self._any()))
        pending = self.chance.choice((nodes.TRUE,) * 3 + (self._any(),))
        self.concept.properties[name] = Property(
            name, LEADS_TO, self.concept, "", goal, expectation("holds"), when=when, until_quiet=quiet,
            parameters=variables if single else (), fair=(action.name,))
        counted = () if single else variables
        term = cell if cell.sort.kind == NAT else nodes.negation(settled)
        right = Measure(nodes.negation(settled) if self.chance.random() < 0.5 else term, counted)  # noqa: PLR2004 - half
        measure = self.chance.choice(((right,), (right,), (self._measure(), right), (right, self._measure()), ()))
        helps = self.chance.choice((nodes.negation(settled), nodes.negation(settled), nodes.TRUE, action.tested))
        arguments = tuple(make("var", v.sort, payload=v) for v in variables)
        self.concept.rankings[name] = Ranking(name, "", Way(
            measure, (Help(action.name, arguments, helps, counted),), pending))

    def _measure(self) -> Measure:
        """A formula, or a count or a sum of some variable."""
        info = self.chance.choice(self._changing())
        keys = _keys(info)
        cell = _cell(info, keys, "now")
        if any(key.sort.kind == NAT for key in keys) or self.chance.random() < 0.3:  # noqa: PLR2004 - some
            return Measure(nodes.negation(self._any()))
        return Measure(cell if info.value.kind == NAT else self._equal(cell, self._value(info.value)), keys)


def _keys(info: VariableInfo) -> tuple[Variable, ...]:
    return tuple(Variable(sort, "k") for sort in info.keys)


def _cell(info: VariableInfo, keys: tuple[Variable, ...], phase: str) -> Node:
    return make("read", info.value, *(make("var", key.sort, payload=key) for key in keys), payload=(phase, info.name))


def _renamed(made: Declaration, chance: Random) -> Declaration:
    """The declaration with nasty names for some constants."""
    source = made.source
    for old, new in zip(RENAMED, chance.sample(NASTY, len(RENAMED)), strict=True):
        source = re.sub(rf"(?<=\.){old}\b|(?<=^    ){old}(?=: Constant)", new, source, flags=re.MULTILINE)
    return replace(made, source=source)
