"""Cuts properties into parts and instances, and finds the instances that a change of a cell can have made false."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from model.language.nodes import FREE, Node, Variable, conjunction, implication, make
from model.language.open.reading import compiled
from model.language.open.text import Names, Writer, conjuncts, filters, unset
from model.language.properties import Property
from model.language.state import Concept
from model.language.tracing import free_variables, names_read, sorts_bound

Code = Callable[..., Any]

ROSE, FELL, ANY = "new > old", "new < old", ""
"""When a change can make a property false, as text; of truth values, true is greater."""
_OPPOSITE = {ROSE: FELL, FELL: ROSE, ANY: ANY}


class _Read(NamedTuple):
    """A read in the body of a quantifier.

    harm -- when a change of the cell can make the body false. below -- a variable of which `variable < read` is a
    premise, and 1 if it is `<=`.
    """

    node: Node
    harm: str
    below: tuple[Variable, int] | None = None


def _reads(  # noqa: C901 - one case per operator
    node: Node, harm: str, variables: frozenset[Variable],
) -> Iterator[_Read]:
    """All reads of a formula or a term; harm -- when a change of its value is one."""
    opposite = _OPPOSITE[harm]
    match node.op, node.args:
        case "read", keys:
            yield _Read(node, harm)
            for key in keys:
                yield from _reads(key, ANY, variables)
        case "not", (inner,):
            yield from _reads(inner, opposite, variables)
        case "and" | "or" | "forall" | "exists" | "add", parts:
            for part in parts:
                yield from _reads(part, harm, variables)
        case "implies" | "sub", (first, second):
            backwards = node.op == "implies"
            yield from _reads(first, opposite if backwards else harm, variables)
            yield from _reads(second, harm if backwards else opposite, variables)
        case "lt" | "le", (less, more):
            yield from _reads(less, opposite, variables)
            for one in _reads(more, harm, variables):
                bounds = one.node is more and harm == ROSE and less.op == "var" and less.payload in variables
                yield one._replace(below=(less.payload, int(node.op == "le"))) if bounds else one
        case "ite", (condition, first, second):
            yield from _reads(condition, ANY, variables)
            yield from _reads(first, harm, variables)
            yield from _reads(second, harm, variables)
        case _, parts:
            for part in parts:
                yield from _reads(part, ANY, variables)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a property: all parts must be true.

    number -- of its property. reads -- names of variables. sorts -- names of the free sorts that it ranges over.
    every -- collects all false instances. still -- whether an instance is true. near -- by variable: what collects the
    instances that a change of one of its cells can have made false; empty if the part is not cut. given -- the part
    need be true only where this is; it is looked at when an instance is false.
    """

    number: int
    reads: frozenset[str]
    sorts: frozenset[str]
    every: Code
    still: Code
    near: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)
    given: Node | None = None


class _Cutter:
    """Makes the parts of a property; indexed -- names of variables that must be found by their values."""

    def __init__(self, concept: Concept, *, stepping: bool) -> None:
        self.concept = concept
        self._also = "h, " if stepping else ""
        self.stepping = stepping
        self.indexed: set[str] = set()

    def parts(self, number: int, condition: Node) -> Iterator[Part]:
        """The parts of a condition."""
        for variables, body, given in _clauses(condition, (), ()):
            sorts = frozenset(name for name in (*sorts_bound(body), *(v.sort.name for v in variables))
                              if name in self.concept.sorts and self.concept.sorts[name].kind == FREE)
            near = self._near(variables, body) if variables else {}
            every, still = self._every(variables, body), self._still(variables, body)
            yield Part(number, names_read(body), sorts, every, still, near, conjunction(*given) if given else None)

    def _near(self, variables: Sequence[Variable], body: Node) -> dict[str, tuple[Code, ...]]:
        found: dict[str, dict[str, Code]] = {}
        for one in dict.fromkeys(_reads(body, FELL, frozenset(variables))):
            if self.stepping and one.node.payload[0] != "after":
                continue
            source = self._source(variables, body, one)
            of = found.setdefault(one.node.payload[1], {})
            if source not in of:
                of[source] = compiled(source)
        return {name: tuple(of.values()) for name, of in found.items()}

    def _still(self, variables: Sequence[Variable], body: Node) -> Code:
        names: dict[Variable | Node, str] = {v: f"b{i}" for i, v in enumerate(variables)}
        head = f"def function({', '.join(['g', 'u', *(['h'] if self.stepping else []), *names.values()])}):"
        return compiled(f"{head}\n return {Writer(self.concept).text(body, names)}")

    def _every(self, variables: Sequence[Variable], body: Node) -> Code:
        lines = _Lines(self.concept, f"def function(g, u, {self._also}out):")
        lines.suppose(body)
        lines.judge(variables, body)
        return compiled(lines.source)

    def _source(self, variables: Sequence[Variable], body: Node, read: _Read) -> str:
        """The text of what collects the false instances that read a cell; k -- the cell, x -- cells by their values."""
        lines = _Lines(self.concept, f"def function(g, u, {self._also}x, k, old, new, out):")
        if read.harm:
            lines.add(f"if not {read.harm}: return")
        lines.suppose(body)
        later = []
        for place, key in enumerate(read.node.args, 1):
            if key.op == "var" and key.payload in variables:
                lines.bind(key.payload, f"k[{place}]")
            elif not free_variables(key):
                lines.add(f"if k[{place}] != {lines.text(key)}: return")
            elif key.op == "read" and all(inner.op == "var" and inner.payload in variables for inner in key.args):
                later.append((place, key))
        for place, key in later:
            if not self.stepping and not all(inner.payload in lines.names for inner in key.args):
                self.indexed.add(key.payload[1])
                lines.find(key, place, variables, body)
        if read.below is not None and read.below[0] not in lines.names:
            variable, more = read.below
            lines.loop(variable, f"range(old + {more}, new + {more})")
        lines.judge(variables, body)
        return lines.source


class _Lines:
    """Lines of a function, indented; names -- of the variables that are bound so far."""

    def __init__(self, concept: Concept, head: str) -> None:
        self.writer = Writer(concept)
        self.names: dict[Variable | Node, str] = {}
        self._lines, self._indent, self._looping = [head], " ", False

    @property
    def source(self) -> str:
        return "\n".join(self._lines)

    def text(self, node: Node) -> str:
        return self.writer.text(node, self.names)

    def add(self, line: str) -> None:
        self._lines.append(self._indent + line)

    def suppose(self, body: Node) -> None:
        """Stop where a premise that is the same for all instances is false."""
        for premise in filters("forall", body):
            if not free_variables(premise) and not _quantifies(premise):
                self.add(f"if not {self.text(premise)}: return")

    def bind(self, variable: Variable, value: str) -> None:
        """Give a variable a value, or go on only if it has this one."""
        if variable in self.names:
            self.add(f"if {self.names[variable]} != {value}: {'continue' if self._looping else 'return'}")
            return
        self.names[variable] = name = f"b{len(self.names)}"
        self.add(f"{name} = {value}")
        if variable.sort.kind == FREE:
            self.add(f"if {name} not in u.U_{variable.sort.name}: {'continue' if self._looping else 'return'}")

    def loop(self, variable: Variable, values: str) -> None:
        self.names[variable] = f"b{len(self.names)}"
        self._for(self.names[variable], values)

    def _for(self, name: str, values: str) -> None:
        self.add(f"for {name} in {values}:")
        self._indent, self._looping = self._indent + " ", True

    def find(self, key: Node, place: int, variables: Sequence[Variable], body: Node) -> None:
        """Go through the cells that have the value at a place of the changed cell; unwritten ones are not found so."""
        other = _Lines(self.writer.concept, "")
        other.names, other._indent = dict(self.names), self._indent + " "
        self.add(f"if k[{place}] == {unset(key.sort)}:")
        other.judge(variables, body)
        self._lines += [*other._lines[1:], f"{self._indent} {'continue' if self._looping else 'return'}"]
        name = f"c{place}"
        self._for(name, f"tuple(x[{key.payload[1]!r}].get(k[{place}], ()))")
        for number, inner in enumerate(key.args, 1):
            self.bind(inner.payload, f"{name}[{number}]")

    def judge(self, variables: Sequence[Variable], body: Node) -> None:
        """Go through all values of what is not bound, and collect where the body is false."""
        left = [variable for variable in variables if variable not in self.names]
        names, loops = self.writer.loops("forall", left, body, self.names) if left else (self.names, [])
        bound = {name for variable, name in names.items() if variable not in left}
        for name, values in loops:
            self._for(name, values)
            bound.add(name)
            for premise in _decided(body, bound, names, name) if name != loops[-1][0] else ():
                self.add(f"if not {self.writer.text(premise, names)}: continue")
        self.add(f"if not {self.writer.text(body, names)}: out[{_tuple([names[v] for v in variables])}] = None")


def _decided(body: Node, bound: AbstractSet[str], names: Names, last: str) -> Iterator[Node]:
    """What is true of all elements for which a body has to be looked at, and says something of the one bound last."""
    for premise in filters("forall", body):
        speaks_of = {names[variable] for variable in free_variables(premise)}
        if last in speaks_of and speaks_of <= bound and not _quantifies(premise):
            yield premise


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)},)" if names else "()"


_Clause = tuple[tuple[Variable, ...], Node, tuple[Node, ...]]


def _clauses(node: Node, premises: tuple[Node, ...], given: tuple[Node, ...]) -> Iterator[_Clause]:
    """Parts of a condition: variables, a body for all of them, and (last) without which it need not be true.

    premises -- those that become part of the body; given -- those that do not, for they quantify themselves.
    """
    if node.op == "and":
        for part in node.args:
            yield from _clauses(part, premises, given)
    elif node.op == "forall":
        inner = _clauses(node.args[0], (), ()) if node.args[0].op == "forall" else [((), node.args[0], ())]
        for variables, body, _ in inner:
            yield (*node.payload, *variables), implication(conjunction(*premises), body), given
    elif node.op == "implies":
        parts = conjuncts(node.args[0])
        plain = tuple(part for part in parts if not _quantifies(part))
        others = tuple(part for part in parts if _quantifies(part))
        yield from _clauses(node.args[1], (*premises, *plain), (*given, *others))
    else:
        yield (), implication(conjunction(*premises), node), given


def _quantifies(node: Node) -> bool:
    return node.op in ("forall", "exists", "setof") or any(map(_quantifies, node.args))


class Cut(NamedTuple):
    """always -- places of parts that are looked at in any case."""

    parts: tuple[Part, ...]
    near: Mapping[str, tuple[tuple[int, Code], ...]]
    whole: Mapping[str, tuple[int, ...]]
    indexed: frozenset[str]
    always: tuple[int, ...] = ()


def _stays_true(node: Node, premises: tuple[Node, ...] = ()) -> bool:
    """Whether a formula about a step is surely true of one that changes nothing."""
    if node.op == "and":
        return all(_stays_true(part, premises) for part in node.args)
    if node.op == "forall":
        return _stays_true(node.args[0], premises)
    if node.op == "implies":
        return _stays_true(node.args[1], (*premises, *map(_before, conjuncts(node.args[0]))))
    standing = _before(node)
    return standing in premises or (standing.op in ("eq", "iff", "le") and standing.args[0] is standing.args[1])


def _before(node: Node) -> Node:
    """The same of the state before."""
    args = tuple(map(_before, node.args))
    payload = ("before", node.payload[1]) if node.op == "read" else node.payload
    return make(node.op, node.sort, *args, payload=payload) if args != node.args or payload != node.payload else node


@lru_cache(maxsize=256)
def _cut(properties: tuple[_Identity, ...], *, stepping: bool = False) -> Cut:
    """The parts of properties, and by variable who is concerned by a change; stepping -- they are about steps."""
    if not properties:
        return Cut((), {}, {}, frozenset())
    cutter = _Cutter(properties[0].declared.concept, stepping=stepping)
    parts = tuple(part for number, one in enumerate(properties)
                  for part in cutter.parts(number, one.declared.condition))
    near: dict[str, list[tuple[int, Code]]] = {}
    whole: dict[str, list[int]] = {}
    always = []
    for place, part in enumerate(parts):
        cuts = bool(part.near) and (not stepping or (
            part.given is None and _stays_true(properties[part.number].declared.condition)))
        if not cuts:
            always.append(place)
        for name in sorted(part.reads):
            if cuts:
                near.setdefault(name, []).extend((place, code) for code in part.near.get(name, ()))
            else:
                whole.setdefault(name, []).append(place)
    return Cut(parts, {name: tuple(of) for name, of in near.items()},
                {name: tuple(of) for name, of in whole.items()}, frozenset(cutter.indexed), tuple(always))


class _Identity:
    """A property, equal to itself alone: a key that is quickly hashed."""

    __slots__ = ("declared",)

    def __init__(self, declared: Property) -> None:
        self.declared = declared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.declared is self.declared

    def __hash__(self) -> int:
        return id(self.declared)


def cut(properties: Sequence[Property], *, stepping: bool = False) -> Cut:
    """The parts of properties of one concept; stepping -- they are about steps. The same properties are cut once."""
    return _cut(tuple(map(_Identity, properties)), stepping=stepping)
