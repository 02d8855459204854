"""Rigid functions that a scope does not tabulate, but asks for: who the elements are changes while a world goes on.

A search needs the whole table of a rigid function before it begins. A follower lends the elements of a small scope to
identities that come and go, and needs few entries of a table that is large and true for a while only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from math import prod
from typing import Any, cast

from invariants.refinement.monitor import Reading
from model.language import Property
from model.language.ground import Ground, Terms
from model.language.instantiate import Instantiation
from model.language.scalar import compiled
from model.language.scope import RigidFunction, Scope
from model.language.state import State
from model.language.tracing import VariableInfo
from model.language.values import Term

Ask = Callable[..., int]
"""From the encoded keys of a rigid function to its encoded value."""
Code = Callable[[int, int], object]
REMEMBERED = 10_000
"""How many values of parts of formulas a reading keeps."""


class Asked(dict[int, int]):
    """The table of a rigid function: the entry at a place is asked for when it is first read, until `clear`."""

    __slots__ = ("ask", "bound", "sizes")

    def __init__(self) -> None:
        """Nobody answers yet."""
        super().__init__()
        self.sizes: tuple[int, ...] = ()
        self.bound = 0
        self.ask: Ask | None = None

    def __missing__(self, place: int) -> int:
        """Ask; raises TypeError when there is nobody to ask."""
        keys, rest = [], place
        for size in reversed(self.sizes):
            rest, key = divmod(rest, size)
            keys.append(key)
        value = self[place] = self.ask(*reversed(keys))  # type: ignore[misc]  # None: its TypeError says it all
        return value

    def __len__(self) -> int:
        """How many entries there could be."""
        return prod(self.sizes)

    def __eq__(self, other: object) -> bool:
        """A table is itself alone: terms are made once for each."""
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has none


class AskedScope(Scope):
    """A scope; a rigid function that is given as Asked is not tabulated."""

    def _table(self, info: VariableInfo, function: RigidFunction) -> tuple[int, ...]:
        if not isinstance(function, Asked):
            return super()._table(info, function)
        function.sizes = tuple(self.size(sort) for sort in info.keys)
        function.bound = self.size(info.value) - 1
        return cast("tuple[int, ...]", function)


class _Terms(Terms):
    """Terms in which what is asked for is no constant."""

    def lookup(self, values: tuple[int, ...], index: Ground, *, boolean: bool = False) -> Ground:
        """The entry of a table."""
        asked: object = values
        if isinstance(asked, Asked):
            return self.make("lookup", (index,), asked, asked.bound, boolean=boolean)
        return super().lookup(values, index, boolean=boolean)


    def conjoin(self, parts: Iterable[Ground]) -> Ground:
        """Conjunction; of two bits in one order only, for what is said of all pairs is often said twice."""
        given = tuple(parts)
        if len(given) == 2 and given[0].op == given[1].op == "bits":  # noqa: PLR2004  # a pair
            given = tuple(sorted(given, key=lambda part: part.support))
        return super().conjoin(given)


class _Instantiation(Instantiation):
    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.terms = _Terms(self.layout.words)
        self._cells = {phase: [self._cell(cell, phase) for cell in self.layout.cells] for phase in self._cells}


def _asks(term: Ground) -> bool:
    """Whether an answer depends on more than who the elements are."""
    own = isinstance(term.data, Asked) and term.args[0].op != "const"
    return own or any(map(_asks, term.args))


class AskedReading(Reading):
    """A reading of a scope in which some rigid functions are asked for; followers of like scopes take turns with it."""

    def __init__(
        self, concept: type[State], sizes: Mapping[type[Term] | str, int], asked: tuple[str, ...],
        rigid: Mapping[str, RigidFunction] | None = None,
    ) -> None:
        """Read a concept; sizes, rigid -- as in Scope; asked -- names of the functions that are asked for."""
        self.asked = {name: Asked() for name in asked}
        super().__init__(AskedScope(concept, sizes, {**(rigid or {}), **cast("dict[str, Any]", self.asked)}))
        self.ground = _Instantiation(self.ground.scope)
        self._owner: object = None
        self._parts: dict[Ground, Code] = {}
        self._known: dict[tuple[int, int], object] = {}
        self._numbers = count()

    def condition(self, declared: Property) -> tuple[Code, int]:
        """See Reading; a state property asks no more than it must, and what it asks nothing of is remembered."""
        term = self.ground.term(declared.condition)
        return self._part(term), term.support

    def _part(self, term: Ground) -> Code:
        found = self._parts.get(term)
        if found is None:
            found = self._parts[term] = self._lazily(term)
        return found

    def _lazily(self, term: Ground) -> Code:
        if not _asks(term):
            return self._remembering(compiled(term), term.support)
        if term.op not in ("and", "or", "not"):
            return compiled(term)
        if term.op == "not":
            part = self._part(term.args[0])
            return lambda before, after: not part(before, after)
        terms = self.ground.terms
        join = terms.conjoin if term.op == "and" else terms.disjoin
        parts = [self._part(join(arg for arg in term.args if not _asks(arg))),
                 *(self._lazily(arg) for arg in term.args if _asks(arg))]
        if term.op == "and":
            return lambda before, after: all(part(before, after) for part in parts)
        return lambda before, after: any(part(before, after) for part in parts)

    def _remembering(self, code: Code, support: int) -> Code:
        """A part that depends on these bits; groups come back to the same states again and again."""
        known, number = self._known, next(self._numbers)
        if support >> 64 * self.layout.words:
            return code

        def value(before: int, after: int) -> object:
            key = number, before & support
            found = known.get(key)
            if found is None:
                if len(known) >= REMEMBERED:
                    known.clear()
                found = known[key] = code(before, after)
            return found

        return value

    def belong(self, owner: object, answers: Callable[[], Mapping[str, Ask]]) -> None:
        """From now on the owner answers; what others have answered is forgotten."""
        if self._owner is not owner:
            self._owner, given = owner, answers()
            for name, asked in self.asked.items():
                asked.ask = given[name]
            self.forget()

    def forget(self) -> None:
        """Ask anew: something that the answers depend on has changed."""
        for asked in self.asked.values():
            asked.clear()
        self._known.clear()
