"""The initial condition as TLA+, so that TLC computes what it can and chooses the rest.

A cell that the condition does not mention holds what means nothing, as in the explorer.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.language.nodes import FALSE, NAT, TRUE, Node, Variable, const, make, quantified
from model.language.state import Concept
from model.language.tracing import VariableInfo, names_read
from model.tla.names import VARIABLE
from model.tla.terms import WIDTH, Block, Terms, branches, closed, fits, hang

Part = tuple[tuple[Variable, ...], Node]


def initial(concept: Concept, terms: Terms) -> Block:
    """`Init == …`."""
    lines = [line for part in _Initial(concept, terms).conjuncts() for line in hang("/\\ ", part)]
    return ["Init ==", *hang("    ", lines)]


def parts(node: Node, binders: tuple[Variable, ...] = ()) -> Iterator[Part]:
    """The conjuncts of a formula, each below its quantifiers."""
    if node.op == "and":
        for arg in node.args:
            yield from parts(arg, binders)
    elif node.op == "forall":
        yield from parts(node.args[0], (*binders, *node.payload))
    elif node is not TRUE:
        yield binders, node


class _Initial:
    """Puts the conjuncts into an order in which each variable has a value before it is read."""

    def __init__(self, concept: Concept, terms: Terms) -> None:
        self.terms = terms
        self.state = {info.name: info for info in concept.variables.values() if not info.rigid}
        self.open = list(parts(concept.initial))
        self.mentioned = {name for _, node in self.open for name in names_read(node)}
        self.values: dict[str, tuple[tuple[Variable, ...], Node, Part]] = {}  # keys, value, the conjunct that says it
        for part in self.open:
            for name, keys, value in _determined(part):
                self.values.setdefault(name, (keys, value, part))
        self.known: set[str] = set()

    def conjuncts(self) -> Iterator[Block]:
        """All conjuncts in order."""
        yield from self._decided()
        while waiting := [name for name in self.state if name not in self.known]:
            able = [name for name in waiting if self._computable(name)]
            chosen = [one for one in waiting if one not in self.values]
            name = [*able, *chosen, *waiting][0]
            self.known.add(name)
            yield from self._computed(name) if able else [self._chosen(name)]
            yield from self._decided()

    def _computable(self, name: str) -> bool:
        return name not in self.mentioned or (name in self.values and names_read(self.values[name][1]) <= self.known)

    def _chosen(self, name: str) -> Block:
        info = self.state[name]
        return [rf"{self.terms.names.of(VARIABLE, name)} \in {self.terms.type_of(info)}"]

    def _computed(self, name: str) -> Iterator[Block]:
        info = self.state[name]
        keys, value = tuple(Variable(sort, "k") for sort in info.keys), None
        if name in self.mentioned:
            keys, value, part = self.values[name]
            self.open.remove(part)
        with self.terms.binding(keys):
            bound = ", ".join(rf"{self.terms.bound(key)} \in {self.terms.domain(key.sort)}" for key in keys)
            text = self._value(info, value)
        head = f"{self.terms.names.of(VARIABLE, name)} = "
        yield closed(hang(f"{head}[{bound} |-> ", text), "]") if keys else hang(head, text)
        if value is not None and value.sort.kind == NAT and not fits(value):
            yield self._chosen(name)

    def _value(self, info: VariableInfo, value: Node | None) -> Block:
        if value is None:
            return [self.terms.zero(info.value)]
        return self.terms.block(value, WIDTH - 20) if info.keys else self.terms.operand(value)

    def _decided(self) -> Iterator[Block]:
        """Conjuncts about variables that have a value."""
        for part in [*self.open]:
            binders, node = part
            if names_read(node) <= self.known:
                self.open.remove(part)
                yield self.terms.guard(quantified("forall", binders, node))


def _determined(part: Part) -> Iterator[tuple[str, tuple[Variable, ...], Node]]:
    """The variable that a conjunct gives a value for all keys: its name, its keys, the value."""
    binders, node = part
    for cell, value in _equations(node):
        keys = tuple(arg.payload for arg in cell.args if arg.op == "var")
        name = cell.payload[1]
        whole = len(keys) == len(cell.args) and len(set(keys)) == len(keys) and set(keys) == set(binders)
        if whole and name not in names_read(value) and not branches(value):
            yield name, keys, value


def _equations(node: Node) -> Iterator[tuple[Node, Node]]:
    """A formula as `cell = value`, in each way that it can be read so."""
    args = node.args
    if node.op == "read":
        yield node, TRUE
    elif node.op == "not" and args[0].op == "read":
        yield args[0], FALSE
    elif node.op == "absent" and args[0].op == "read":
        yield args[0], const(args[0].sort, 0)
    elif node.op == "holds" and args[0].op == "read":
        yield args[0], make("some", args[0].sort, args[1])
    elif node.op in ("eq", "iff"):
        yield from ((one, other) for one, other in (args, args[::-1]) if one.op == "read")
