"""Evaluates a concept's declarations on sparse states.

A truth value is a bool, a natural an int, a choice the name of its element, a set a frozenset, a Maybe None or what it
holds. An element of a free sort is any hashable object; one is named by being an argument of an action.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, combinations
from typing import Any

from model.language.actions import Action
from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SET, Node, SortInfo, Variable
from model.language.open.states import Cell, State, Writes
from model.language.open.text import Writer
from model.language.properties import Property
from model.language.scalar import LeavesScope
from model.language.scope import Scope
from model.language.state import Concept
from model.language.tracing import free_variables

NOBODY: tuple[()] = ()
"""The element of a free sort that a cell has which was never written."""
Code = Callable[..., Any]


class UnboundedError(ValueError):
    """A quantifier ranges over all naturals, and nothing bounds it."""


class Given:
    """What the text of terms finds besides states; see `model.language.open.text`.

    named -- by sort: its elements, in the order in which they were named. grown -- sorts in which some were named that
    nobody has looked at yet.
    """

    def __init__(self, concept: Concept) -> None:
        """No element has a name, naturals have no end."""
        self.sizes: Mapping[str, int] = {}
        self.named: dict[str, dict[Any, None]] = {}
        self.grown: set[str] = set()
        for name, sort in concept.sorts.items():
            if sort.kind == FREE:
                self.name(sort, ())
                setattr(self, f"F_{name}", NOBODY)
            elif sort.kind == NAT:
                setattr(self, f"N_{name}", sys.maxsize)
                setattr(self, f"one_{name}", partial(_below, sys.maxsize))

    def name(self, sort: SortInfo, elements: Iterable[Any]) -> None:
        """From now on the sort has these elements."""
        self.named[sort.name] = of = dict.fromkeys(elements)
        setattr(self, f"U_{sort.name}", of)
        setattr(self, f"one_{sort.name}", lambda element: (element,) if element in of else ())
        setattr(self, f"some_{sort.name}", lambda elements: [element for element in elements if element in of])

    def add(self, sort: str, element: Any) -> None:
        """Name one more element of a sort."""
        self.named[sort][element] = None
        self.grown.add(sort)

    def within(self, sort: SortInfo, size: int) -> None:
        """From now on a sort of naturals has so many."""
        self.sizes = {**self.sizes, sort.name: size}
        setattr(self, f"N_{sort.name}", size)
        setattr(self, f"one_{sort.name}", partial(_below, size))
        self._saturates = {**getattr(self, "_saturates", {}), sort.name: sort.saturates}

    def naturals(self, sort: str) -> range:
        """All naturals of a sort; raises UnboundedError outside a scope."""
        if sort not in self.sizes:
            raise UnboundedError(f"a quantifier ranges over all of {sort}; bound it: (i < s.end).implies(…)")
        return range(self.sizes[sort])

    def inside(self, sort: str, key: int) -> int:
        """A key that is assigned; raises LeavesScope."""
        if key >= self.sizes[sort]:
            raise LeavesScope(f"{key} is no {sort} of the scope")
        return key

    def fitting(self, sort: str, value: int) -> int:
        """What is assigned for this value; raises LeavesScope."""
        return min(value, self.sizes[sort] - 1) if self._saturates[sort] else self.inside(sort, value)


def _below(end: int, number: int) -> Collection[int]:
    return (number,) if number < end else ()


def subsets(elements: Iterable[Any]) -> Iterator[frozenset[Any]]:
    """All sets of some elements."""
    given = tuple(elements)
    return map(frozenset, chain.from_iterable(combinations(given, size) for size in range(len(given) + 1)))


class OpenReading:
    """The open reading of a concept; its code is shared by all readings of the concept.

    rigid -- each constant and rigid function by name: a value, or a function. given -- what terms find beside states.
    defaults -- by variable: the value of a cell that was never written.
    """

    def __init__(self, concept: Concept, rigid: Mapping[str, Any] | None = None) -> None:
        """Read a concept; raises ValueError when it is not said what a constant or a rigid function is."""
        self.concept, self.given = concept, Given(concept)
        self.code = _code_of(concept, within=False)
        self.steps = self.code.steps
        for name in (info.name for info in concept.variables.values() if info.rigid):
            if name not in (rigid or {}):
                raise ValueError(f"{concept.name}: it is not said what {name} is; give rigid={{{name!r}: …}}")
        for name, meaning in (rigid or {}).items():
            setattr(self.given, f"R_{name}", meaning)
        self.defaults = {name: _unset(info.value, self.given) for name, info in concept.variables.items()}

    def step(self, action: str, arguments: tuple[Any, ...], state: State) -> Writes | None:
        """What an action assigns, or None when it is not enabled; LeavesScope is raised only within a scope."""
        code = self.steps.get(action) or self.code.step(action)
        writes: Writes | None = code(state.get, self.given, *arguments)
        return writes

    def holds(self, formula: Property | Node, state: State, after: State | None = None) -> bool:
        """Tell whether a property (its condition) or a formula holds; after -- the second state of a step property."""
        return bool(self.value(formula.condition if isinstance(formula, Property) else formula, state, after))

    def value(self, node: Node, state: State, after: State | None = None,
              env: Mapping[Variable, Any] | None = None) -> Any:
        """The value of a term whose free variables are given."""
        code, free = self.code.term(node)
        values = ((env or {})[variable] for variable in free)
        return code(state.get, self.given, (state if after is None else after).get, *values)

    def first_false_conjunct(self, action: str, arguments: tuple[Any, ...], state: State) -> Node | None:
        """The first guard that is false, as it was declared; None when the action is enabled."""
        declared = self.code.action(action)
        env = dict(zip(declared.parameters, arguments, strict=True))
        return next((guard for guard in declared.guards if not self.value(guard, state, env=env)), None)

    def elements_of(self, cell: Cell, value: Any) -> Iterator[tuple[SortInfo, Any]]:
        """The elements of free sorts that a cell with this value speaks of."""
        info = self.concept.variables[cell[0]]
        for sort, key in zip((*info.keys, info.value), (*cell[1:], value), strict=True):
            if sort.kind == FREE:
                yield sort, key
            elif sort.element is not None and sort.element.kind == FREE:
                for one in key if sort.kind == SET else () if key is None else (key,):
                    yield sort.element, one


class ScopedReading(OpenReading):
    """The open reading within a scope: it has the scope's elements and naturals, and no others."""

    def __init__(self, scope: Scope, *, pruned: bool = True) -> None:
        """Read a scope; pruned -- as in StepReading."""
        self.scope = scope
        super().__init__(scope.concept, {name: self._rigid(name) for name in scope.tables})
        self.code = _code_of(scope.concept, within=True, pruned=pruned, breaks=scope.breaks)
        self.steps = self.code.steps
        for name, sort in scope.concept.sorts.items():
            if sort.kind == FREE:
                self.given.name(sort, scope.elements[name])
                setattr(self.given, f"F_{name}", scope.elements[name][0])
            elif sort.kind == NAT:
                self.given.within(sort, scope.size(sort))
        self.defaults = {name: _unset(info.value, self.given) for name, info in scope.concept.variables.items()}

    def _rigid(self, name: str) -> Any:
        info, tables = self.scope.concept.variables[name], self.scope.tables
        if not info.keys:
            return self.decoded(info.value, tables[name][0])

        def function(*keys: Any) -> Any:
            numbers = tuple(self.encoded(sort, key) for sort, key in zip(info.keys, keys, strict=True))
            return self.decoded(info.value, self.scope.rigid(name, numbers))

        return function

    def decoded(self, sort: SortInfo, number: int) -> Any:
        """A value by its number; see `nodes.const`."""
        match sort.kind:
            case "bool":
                return bool(number)
            case "choice":
                return sort.members[number]
            case "free":
                return self.scope.elements[sort.name][number]
            case "maybe":
                return None if number == 0 else self.decoded(_inner(sort), number - 1)
            case "set":
                return frozenset(self.decoded(_inner(sort), i) for i in range(number.bit_length()) if number >> i & 1)
        return number

    def encoded(self, sort: SortInfo, value: Any) -> int:
        """The number of a value."""
        match sort.kind:
            case "choice":
                return sort.members.index(value)
            case "free":
                return self.scope.elements[sort.name].index(value)
            case "maybe":
                return 0 if value is None else self.encoded(_inner(sort), value) + 1
            case "set":
                return sum(1 << self.encoded(_inner(sort), one) for one in value)
        return int(value)


def _inner(sort: SortInfo) -> SortInfo:
    assert sort.element is not None  # noqa: S101 - narrows for mypy
    return sort.element


def _unset(sort: SortInfo, given: Given) -> Any:
    if sort.kind == FREE:
        return getattr(given, f"F_{sort.name}")
    if sort.kind == CHOICE:
        return sort.members[0]
    return {BOOL: False, SET: frozenset(), NAT: 0, MAYBE: None}[sort.kind]


# Code -----------------------------------------------------------------------------------------------------------------


class Compiled:
    """The code of one concept's declarations, generated when it is first asked for."""

    def __init__(self, concept: Concept, *, within: bool, pruned: bool, breaks: tuple[str, ...]) -> None:
        """Nothing is compiled; within, pruned -- see Writer and StepReading; breaks -- see Scope."""
        self.concept, self.pruned, self.breaks = concept, pruned, breaks
        self.writer = Writer(concept, within=within)
        self.steps: dict[str, Code] = {}
        self._terms: dict[Node, tuple[Code, tuple[Variable, ...]]] = {}

    def action(self, name: str) -> Action:
        """An action, with the promises that are kept."""
        declared: Action = self.concept.actions[name]
        return declared.breaking(self.breaks) if self.pruned else declared.keeping()

    def step(self, name: str) -> Code:
        """The function of an action."""
        self.steps[name] = code = compiled(self.writer.action(self.action(name), pruned=self.pruned))
        return code

    def term(self, node: Node) -> tuple[Code, tuple[Variable, ...]]:
        """The function of a term, and the free variables that it takes."""
        found = self._terms.get(node)
        if found is None:
            free = tuple(sorted(free_variables(node), key=lambda variable: (variable.name, id(variable))))
            names: dict[Variable | Node, str] = {variable: f"a{i}" for i, variable in enumerate(free)}
            head = f"def function({', '.join(['g', 'u', 'h', *map(names.__getitem__, free)])}):"
            found = self._terms[node] = compiled(f"{head}\n return {self.writer.text(node, names)}"), free
        return found


_compiled: dict[tuple[int, bool, bool, tuple[str, ...]], tuple[Concept, Compiled]] = {}


def _code_of(concept: Concept, *, within: bool, pruned: bool = False, breaks: tuple[str, ...] = ()) -> Compiled:
    """The code of a concept; all its readings share it."""
    key = id(concept), within, pruned, breaks
    if key not in _compiled:
        _compiled[key] = concept, Compiled(concept, within=within, pruned=pruned, breaks=breaks)
    return _compiled[key][1]


def compiled(source: str) -> Code:
    """The function of this text."""
    space: dict[str, Any] = {"EMPTY": frozenset(), "subsets": subsets}
    exec(source + "\n", space)  # noqa: S102 - the source is generated here, from terms alone
    code: Code = space["function"]
    return code
