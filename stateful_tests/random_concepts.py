"""Random concepts: small declarations that use every operator, for tests that compare readings and searches.

The same seed gives the same concept. Values, terms and actions are made as nodes; nothing is meant by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from random import Random

from model.language import nodes
from model.language.actions import Action
from model.language.expectation import expectation
from model.language.nodes import BOOL, BOOLEAN, CHOICE, MAYBE, NAT, SET, Node, SortInfo, Variable, const, make
from model.language.properties import Property
from model.language.scope import Scope
from model.language.state import Concept
from model.language.tracing import Assignment, VariableInfo
from model.language.values import Bool, Choice, Nat, Sort, Term, maybe_of, set_of


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


CLASSES = {"Bool": Bool, "Red": Red, "Blue": Blue, "Count": Count, "Age": Age, "Mode": Mode}
ELEMENTS = [Red.info, Blue.info, Mode.info]
KEYS = [BOOLEAN, Red.info, Blue.info, Count.info, Mode.info, set_of(Blue.info), maybe_of(Blue.info)]
PLAIN = [BOOLEAN, *ELEMENTS, Count.info, Age.info]
VALUES = [BOOLEAN, BOOLEAN, *PLAIN, *map(set_of, ELEMENTS), *map(maybe_of, ELEMENTS)]
SIZES = {"Red": 2, "Blue": 2, "Count": 3, "Age": 3}


@dataclass
class Author:
    """Writes random terms and actions over some variables.

    chance -- where all choices come from. variables -- what terms read. phases -- "now", or "before" and "after".
    guards -- how many guards an action may have.
    """

    chance: Random
    variables: Mapping[str, VariableInfo]
    phases: tuple[str, ...] = ("now",)
    guards: tuple[int, ...] = (0, 0, 1, 1, 2)
    bound: list[Variable] = field(default_factory=list)

    def term(self, sort: SortInfo, depth: int) -> Node:
        """A term of a sort, nested at most so deep."""
        if depth <= 0:
            return self._leaf(sort)
        choice = self.chance.randrange(8)
        if choice == 0:
            return self._leaf(sort)
        if choice == 1:
            return make("ite", sort, self.formula(depth - 1), self.term(sort, depth - 1), self.term(sort, depth - 1))
        if choice <= 3:  # noqa: PLR2004 - a quarter of the time
            return self._read(sort, depth - 1) or self._leaf(sort)
        return self._operator(sort, depth - 1)

    def _atom(self, sort: SortInfo) -> Node:
        variables = [v for v in self.bound if v.sort == sort]
        if variables and self.chance.random() < 0.7:  # noqa: PLR2004 - mostly
            return make("var", sort, payload=self.chance.choice(variables))
        return self.constant(sort)

    def _leaf(self, sort: SortInfo) -> Node:
        read = self._read(sort, -1) if self.chance.random() < 0.6 else None  # noqa: PLR2004 - often
        return read or self._atom(sort)

    def constant(self, sort: SortInfo) -> Node:
        """A constant; of a natural sometimes one beyond the scope."""
        beyond = 1 if sort.kind == NAT and self.chance.random() < 0.1 else 0  # noqa: PLR2004 - seldom
        return const(sort, self.chance.randrange(span(sort) + beyond))

    def _read(self, sort: SortInfo, depth: int) -> Node | None:
        fitting = [v for v in self.variables.values() if v.value == sort]
        if not fitting:
            return None
        info = self.chance.choice(fitting)
        keys = [self._atom(key) if depth < 0 else self.term(key, min(depth, 1)) for key in info.keys]
        if info.rigid:
            return make("rigid", sort, *keys, payload=info.name)
        return make("read", sort, *keys, payload=(self.chance.choice(self.phases), info.name))

    def _operator(self, sort: SortInfo, depth: int) -> Node:
        if sort.kind == BOOL:
            return self.formula(depth)
        if sort.kind == NAT:
            return make(self.chance.choice(("add", "sub")), sort, self.term(sort, depth), self.term(sort, depth))
        if sort.kind == SET and sort.element is not None:
            if self.chance.random() < 0.4:  # noqa: PLR2004 - often
                variable = Variable(sort.element, "x")
                return make("setof", sort, self._under([variable], depth), payload=variable)
            operator = self.chance.choice(("plus", "minus"))
            return make(operator, sort, self.term(sort, depth), self.term(sort.element, depth))
        if sort.kind == MAYBE and sort.element is not None:
            return make("some", sort, self.term(sort.element, depth))
        return self._leaf(sort)

    def formula(self, depth: int) -> Node:  # noqa: PLR0911 - one case per operator
        """A formula."""
        if depth <= 0:
            return self._leaf(BOOLEAN)
        inner = depth - 1
        match self.chance.randrange(9):
            case 0:
                return nodes.negation(self.formula(inner))
            case 1:
                return nodes.conjunction(*(self.formula(inner) for _ in range(self.chance.randint(2, 3))))
            case 2:
                return nodes.disjunction(*(self.formula(inner) for _ in range(self.chance.randint(2, 3))))
            case 3:
                return nodes.implication(self.formula(inner), self.formula(inner))
            case 4:
                return make("iff", BOOLEAN, self.formula(inner), self.formula(inner))
            case 5:
                sort = self.chance.choice(VALUES)
                return make("eq", BOOLEAN, self.term(sort, inner), self.term(sort, inner))
            case 6:
                sort = self.chance.choice((Count.info, Age.info))
                return make(self.chance.choice(("lt", "le")), BOOLEAN, self.term(sort, inner), self.term(sort, inner))
            case 7:
                element = self.chance.choice(ELEMENTS)
                operator = self.chance.choice(("has", "holds", "absent"))
                held = (set_of if operator == "has" else maybe_of)(element)
                rest = [] if operator == "absent" else [self.term(element, inner)]
                return make(operator, BOOLEAN, self.term(held, inner), *rest)
        variables = [Variable(self.chance.choice(PLAIN), "x") for _ in range(self.chance.randint(1, 2))]
        return nodes.quantified(self.chance.choice(("forall", "exists")), tuple(variables),
                                self._under(variables, inner))

    def _under(self, variables: list[Variable], depth: int) -> Node:
        self.bound += variables
        body = self.formula(depth)
        del self.bound[len(self.bound) - len(variables):]
        return body

    def action(self, name: str) -> Action:
        """An action with up to two parameters."""
        changing = [v for v in self.variables.values() if not v.rigid]
        used = [sort for v in changing for sort in (*v.keys, v.value, v.value.element or v.value) if sort in PLAIN]
        self.bound = [Variable(self.chance.choice(used or PLAIN), f"p{i}")
                      for i in range(self.chance.choice((0, 1, 1, 2)))]
        parameters = tuple(self.bound)
        guards = tuple(self.formula(self.chance.randint(0, 3)) for _ in range(self.chance.choice(self.guards)))
        pruned = (self.formula(1),) if self.chance.random() < 0.1 else ()  # noqa: PLR2004 - seldom
        assignments = tuple(self._assignment() for _ in range(self.chance.randint(1, 3)))
        self.bound = []
        return Action(name, parameters, guards, assignments, "Nobody#nothing", search_only=pruned)

    def _assignment(self) -> Assignment:
        info = self.chance.choice([v for v in self.variables.values() if not v.rigid])
        looping = self.chance.random() < 0.3  # noqa: PLR2004 - often
        loops = tuple(Variable(self.chance.choice(PLAIN), f"l{i}") for i in range(1)) if looping else ()
        self.bound += loops
        keys = tuple(self.term(key, self.chance.choice((0, 0, 1, 2))) for key in info.keys)
        value = None if self.chance.random() < 0.1 else self.term(info.value, self.chance.randint(0, 3))  # noqa: PLR2004 - seldom
        del self.bound[len(self.bound) - len(loops):]
        return Assignment(info.name, keys, value, loops)


def span(sort: SortInfo) -> int:
    """Number of values of a sort."""
    if sort.kind in (SET, MAYBE) and sort.element is not None:
        return 2 ** span(sort.element) if sort.kind == SET else span(sort.element) + 1
    return 2 if sort.kind == BOOL else len(sort.members) if sort.kind == CHOICE else SIZES[sort.name]


def bits(info: VariableInfo) -> int:
    """Bits of a variable."""
    cells = 1
    for key in info.keys:
        cells *= span(key)
    return 0 if info.rigid else cells * (span(info.value) - 1).bit_length()


def variables(chance: Random, most: int) -> dict[str, VariableInfo]:
    """Variables of at most so many bits together, and two rigid functions."""
    found: dict[str, VariableInfo] = {}
    left = most
    for _ in range(chance.randint(2, 6)):
        keys = tuple(chance.choice(KEYS) for _ in range(chance.choice((0, 0, 1, 1, 2))))
        info = VariableInfo(f"v{len(found)}", keys, chance.choice(VALUES))
        if 0 < bits(info) <= left:
            found[info.name] = info
            left -= bits(info)
    if not found:
        found["v0"] = VariableInfo("v0", (), BOOLEAN)
    for name in ("r0", "r1"):
        keys = tuple(chance.choice(KEYS) for _ in range(chance.choice((0, 1, 2))))
        found[name] = VariableInfo(name, keys, chance.choice(VALUES), rigid=True)
    return found


def concept(seed: int, most_bits: int = 12) -> Concept:
    """A random concept with an initial condition, actions, and a few properties of every kind of a state or a step."""
    chance = Random(seed)  # noqa: S311 - a test's choices, no secret
    declared = variables(chance, most_bits)
    author = Author(chance, declared, guards=chance.choice(((0, 0, 1, 1, 2), (1, 2))))
    made = Concept(f"Random{seed}", "Nothing.", __name__, declared, dict(CLASSES))
    made.initial = _initial(author)
    for i in range(chance.randint(3, 6)):
        made.actions[f"a{i}"] = author.action(f"a{i}")
    stepping = Author(chance, declared, ("before", "after"))
    for kind, count in (("always", 2), ("sometimes", 1), ("step", 2)):
        for i in range(count):
            condition = (stepping if kind == "step" else author).formula(chance.randint(1, 3))
            made.properties[f"{kind}{i}"] = Property(f"{kind}{i}", kind, made, "", condition, expectation("holds"))
    return made


def _initial(author: Author) -> Node:
    """Most cells have a value, some have one of two, some are not mentioned."""
    parts = []
    for info in author.variables.values():
        if not info.rigid:
            for keys in product(*(range(span(key)) for key in info.keys)):
                cell = make("read", info.value, *map(const, info.keys, keys), payload=("now", info.name))
                values = [make("eq", BOOLEAN, cell, const(info.value, author.chance.randrange(span(info.value))))
                          for _ in range(author.chance.choice((0, 1, 1, 1, 1, 1, 1, 2)))]
                parts.append(nodes.disjunction(*values) if values else nodes.TRUE)
    return nodes.conjunction(*parts)


def scope(made: Concept, seed: int) -> Scope:
    """A scope for a random concept, with random rigid functions."""
    chance = Random(seed)  # noqa: S311 - a test's choices, no secret
    sizes: dict[type[Term] | str, int] = {name: size for name, size in SIZES.items()}  # noqa: C416 - of a wider type
    rigid = {info.name: _zero(info.value) for info in made.variables.values() if info.rigid}
    found = Scope(made, sizes, rigid, name=f"seed {seed}")
    found.tables = {name: tuple(chance.randrange(span(made.variables[name].value)) for _ in table)
                    for name, table in found.tables.items()}
    return found


def _zero(sort: SortInfo) -> Callable[..., object]:
    value: object = frozenset() if sort.kind == SET else None if sort.kind == MAYBE else 0
    return lambda *_: value
