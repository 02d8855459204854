"""Random terms and formulas as people write them.

Every choice is `pick(n) -> 0 … n-1`, and 0 is the boring one: a tape of zeros is the smallest text, and a failing tape
shrinks to a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

Pick = Callable[[int], int]

MODES = ("LOW", "HIGH", "OFF")
ELEMENTS = ("Mode", "Red", "Blue")
NATURALS = ("Count", "Age")
PLAIN = ("Bool", *ELEMENTS, *NATURALS)
VALUES = ("Bool", *PLAIN, *(f"Set[{element}]" for element in ELEMENTS), *(f"Maybe[{element}]" for element in ELEMENTS))
RANGED = (*PLAIN, "Set[Blue]", "Maybe[Red]")
ELEMENTARY = ("Bool", *ELEMENTS)
CONSTANTS = {"Red": "red", "Blue": "blue", "Mode": "mode", "Count": "limit", "Age": "span"}
_HEAVY = 40
_NAMES = ("x", "y", "z", "u", "v", "w", *(f"x{number}" for number in range(30)))


@dataclass(frozen=True, slots=True)
class StateVariable:
    """A variable of a random declaration; sorts are written as in an annotation."""

    name: str
    keys: tuple[str, ...]
    value: str
    ghost: bool = False
    rigid: bool = False


@dataclass
class TermWriter:
    """Writes terms.

    pick -- where choices come from. sizes -- elements per sort. ranged -- sorts of keys, parameters and bound
    variables. variables -- of the concept. macros -- names of plain
    functions of a state and an element, and that element's sort. bound -- names and sorts of the elements that are
    visible. states -- names of the states that may be read. ghosts -- whether ghosts may be read. assigned -- names
    that may not be read any more. spoken -- names of bound variables that were used so far. taken -- names that no
    other bound variable may have.
    """

    pick: Pick
    sizes: dict[str, int]
    ranged: tuple[str, ...] = RANGED
    variables: list[StateVariable] = field(default_factory=list)
    macros: list[tuple[str, str]] = field(default_factory=list)
    bound: list[tuple[str, str]] = field(default_factory=list)
    states: tuple[str, ...] = ("s",)
    ghosts: bool = False
    assigned: set[str] = field(default_factory=set)
    spoken: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    def one(self, choices: Sequence[Any]) -> Any:
        """One of them; the first is boring."""
        return choices[self.pick(len(choices))]

    def seldom(self) -> bool:
        """Once in eight times."""
        return self.pick(8) == 7  # noqa: PLR2004 - the boring choice is 0

    def plain(self) -> str:
        """A sort of parameters: one that has elements."""
        return str(self.one([sort for sort in self.ranged if sort in PLAIN]))

    def name(self) -> str:
        """A name for a bound variable that nothing visible has; it is visible from now on under no sort yet."""
        used = self.taken.union(name for name, _ in self.bound)
        found = next(name for name in _NAMES if name not in used)
        self.spoken.add(found)
        return found

    def span(self, sort: str) -> int:
        """Number of values of a sort."""
        if sort.startswith("Set"):
            return 1 << self.span(sort[4:-1])
        return self.span(sort[6:-1]) + 1 if sort.startswith("Maybe") else {"Bool": 2, "Mode": 3, **self.sizes}[sort]

    def heavy(self, *more: str) -> bool:
        """Whether a body under these binders and more would be evaluated very often."""
        return prod(self.span(sort) for sort in (*(sort for _, sort in self.bound), *more)) > _HEAVY

    def bind(self, sorts: Sequence[str]) -> list[tuple[str, str]]:
        """Make elements visible, one per sort."""
        fresh = len(self.bound)
        for sort in sorts:
            self.bound.append((self.name(), sort))
        return self.bound[fresh:]

    def release(self, count: int) -> None:
        """Make the last elements invisible."""
        del self.bound[len(self.bound) - count:]

    def term(self, sort: str, depth: int) -> str:
        """A term of a sort, nested at most so deep."""
        if sort == "Bool":
            return self.formula(depth)
        match self.pick(9) if depth > 0 else self.pick(5):
            case 0:
                return self.atom(sort)
            case 1 | 2 | 3 | 4:
                return self.read(sort, depth) or (self.built(sort, depth - 1) if depth > 0 else self.atom(sort))
            case 5:
                condition, then = self.formula(depth - 1), self.term(sort, depth - 1)
                return f"ite({condition}, {then}, {self.term(sort, depth - 1)})"
        return self.built(sort, depth - 1)

    def atom(self, sort: str) -> str:
        """An element that is visible, or a constant."""
        visible = [name for name, bound in self.bound if bound == sort]
        if visible and self.pick(4):
            return str(self.one(visible))
        if sort in NATURALS and self.pick(3):
            return f"{sort}.of({self.pick(self.sizes[sort] + 1)})"
        if sort.startswith("Set"):
            return f"empty({sort[4:-1]})"
        if sort.startswith("Maybe"):
            return f"none({sort[6:-1]})"
        if sort == "Mode" and self.pick(3):
            return f"Mode.{self.one(MODES)}"
        return self.one(("FALSE", "TRUE")) if sort == "Bool" else f"{self.states[0]}.{CONSTANTS[sort]}"

    def read(self, sort: str, depth: int) -> str:
        """A cell, or nothing when no variable that may be read has values of the sort."""
        fitting = [variable for variable in self._readable() if variable.value == sort]
        if not fitting:
            return ""
        variable: StateVariable = self.one(fitting)
        keys = [self.term(key, min(depth - 1, 1)) if depth > 0 else self.atom(key) for key in variable.keys]
        return f"{self.one(self.states)}.{cell(variable, keys)}"

    def _readable(self) -> list[StateVariable]:
        return [variable for variable in self.variables
                if variable.name not in self.assigned and (self.ghosts or not variable.ghost)]

    def built(self, sort: str, depth: int) -> str:
        """A term with an operator of its sort at the top."""
        if sort in NATURALS:
            right = str(self.pick(3)) if self.pick(2) else self.term(sort, depth)
            return f"({self.term(sort, depth)} {self.one('+-')} {right})"
        if sort.startswith("Maybe"):
            return f"some({self.term(sort[6:-1], depth)})"
        if not sort.startswith("Set"):
            return self.atom(sort)
        element = sort[4:-1]
        if self.pick(2) and not self.heavy(element):
            (name, _), = self.bind([element])
            body = self.formula(depth)
            self.release(1)
            return f"setof({element}, lambda {name}: {body})"
        return f"{self.term(sort, depth)}.{self.one(('plus', 'minus'))}({self.term(element, depth)})"

    def formula(self, depth: int) -> str:  # noqa: PLR0911 - one case per operator
        """A formula, nested at most so deep."""
        inner = depth - 1
        match self.pick(16) and 1 + self.pick(15 if depth > 0 else 4):
            case 0:
                return self.atom("Bool")
            case 1 | 2:
                return self.read("Bool", depth) or self.compare(max(inner, 0))
            case 3 | 4 | 5:
                return self.compare(max(inner, 0))
            case 6:
                return f"~{self.formula(inner)}"
            case 7 | 8:
                return f"({self.formula(inner)} {self.one('&|')} {self.formula(inner)})"
            case 9 | 10:
                return f"{self.formula(inner)}.{self.one(('implies', 'iff'))}({self.formula(inner)})"
            case 11 if self.macros and not self.assigned:
                name, sort = self.one(self.macros)
                return f"{name}({self.one(self.states)}, {self.term(sort, inner)})"
        return self.quantifier(inner)

    def compare(self, depth: int) -> str:
        """A formula about two terms; mostly about something that varies."""
        subjects = [*self.bound, *((variable.name, variable.value) for variable in self._readable())]
        if not subjects or not self.pick(8):
            sort = self.one(VALUES)
            return self._about(self.term(sort, depth), sort, depth)
        name, sort = self.one(subjects)
        if (name, sort) in self.bound:
            return self._about(name, sort, depth)
        return self._about(self.read(sort, depth), sort, depth)

    def _about(self, subject: str, sort: str, depth: int) -> str:
        """A formula about a term of a sort."""
        if sort in NATURALS and self.pick(4):
            right = str(self.pick(4)) if self.pick(2) else self.term(sort, depth)
            return f"({subject} {self.one(('<', '<=', '>', '>='))} {right})"
        if sort in ELEMENTS and self.pick(4) == 3:  # noqa: PLR2004 - one in four
            return f"{self.term(f'Set[{sort}]', depth)}.has({subject})"
        if sort.startswith("Set") and self.pick(4):
            return f"{subject}.has({self.term(sort[4:-1], depth)})"
        if sort.startswith("Maybe") and self.pick(4):
            return f"{subject}.holds({self.term(sort[6:-1], depth)})" if self.pick(3) else f"{subject}.absent"
        return f"({subject} {self.one(('==', '!='))} {self.term(sort, depth)})"

    def quantifier(self, depth: int) -> str:
        """Forall or exists over one sort or two, in one comprehension of either form."""
        which, sorts = self.one(("forall", "exists")), [self.one(self.ranged) for _ in range(1 + self.pick(2))]
        if self.heavy(*sorts):
            return self.compare(depth)
        bound = self.bind(sorts)
        body = self.formula(depth)
        self.release(len(bound))
        ranges = [f"for {', '.join(name for name, _ in bound)} in every({', '.join(sort for _, sort in bound)})"]
        if self.pick(2):
            ranges = [f"for {name} in every({sort})" for name, sort in bound]
        return f"{which}({body} {' '.join(ranges)})"


def cell(variable: StateVariable, keys: Sequence[str]) -> str:
    """A cell of a variable, without the state."""
    return f"{variable.name}[{', '.join(keys)}]" if keys else variable.name
