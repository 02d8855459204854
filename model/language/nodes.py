"""The terms behind the typed values: immutable, interned, and all that the readings see.

A node has an operator, arguments, a sort and a payload:

    operator    arguments               payload             meaning
    const       –                       int                 an element number, a natural number, 0 or 1, a set as bits
    var         –                       Variable            a bound variable or a parameter
    read        one per key             (phase, name)       a state variable's cell; phase "now", "before" or "after"
    rigid       one per key             name                a constant or function that no action assigns
    not         a                       –
    and, or     a, b, …                 –                   n-ary, flattened
    implies     a, b                    –
    iff         a, b                    –
    eq          a, b                    –                   equality of two values of one sort
    lt, le      a, b                    –                   naturals only
    add         a, b                    –                   naturals; unbounded
    sub         a, b                    –                   naturals; 0 when b > a (and then an obligation is broken)
    ite         c, a, b                 –                   of any sort, Bool included
    forall      body                    (Variable, …)
    exists      body                    (Variable, …)
    setof       body                    Variable            all elements for which the body holds
    has         set, element            –
    plus, minus set, element            –
    some        a                       –                   a Maybe that holds a
    holds       maybe, a                –
    absent      maybe                   –                   the Maybe holds nothing
    inside      a                       –                   the natural is one of the scope's; true without a scope

Every operator is total, so that all readings agree on every state, garbage included; where a subtraction or an index
leaves its range, `model.language.defined` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BOOL, FREE, NAT, CHOICE, SET, MAYBE = "bool", "free", "nat", "choice", "set", "maybe"


@dataclass(frozen=True, slots=True)
class SortInfo:
    """What the readings need to know of a sort.

    kind -- bool, free (unstructured), nat, choice, set or maybe.
    name -- as people write it: "Member", "Set[Member]".
    element -- for set and maybe: the sort inside.
    members -- for choice: the names of its elements, in order.
    saturates -- for nat: in a scope, the greatest value stands for itself and everything above it.
    """

    kind: str
    name: str
    element: SortInfo | None = None
    members: tuple[str, ...] = ()
    saturates: bool = False


BOOLEAN = SortInfo(BOOL, "Bool")


class Variable:
    """A bound variable or a parameter; equal only to itself. Its name is found after the body was traced."""

    __slots__ = ("name", "sort")

    def __init__(self, sort: SortInfo, name: str = "") -> None:
        """Make a variable of a sort."""
        self.sort = sort
        self.name = name

    def __repr__(self) -> str:
        """Name and sort."""
        return f"{self.name or '_'}: {self.sort.name}"


class Node:
    """An interned term: two structurally equal nodes are the same object, so identity is equality."""

    __slots__ = ("__weakref__", "args", "op", "payload", "sort")

    op: str
    args: tuple[Node, ...]
    sort: SortInfo
    payload: Any

    def __repr__(self) -> str:
        """Shape, for people who debug the language."""
        inner = ", ".join([*([repr(self.payload)] if self.payload is not None else []), *map(repr, self.args)])
        return f"{self.op}({inner})"


_interned: dict[tuple[Any, ...], Node] = {}


def make(op: str, sort: SortInfo, *args: Node, payload: Any = None) -> Node:
    """The node of this shape (made once)."""
    key = (op, sort, payload, *map(id, args))
    node = _interned.get(key)
    if node is None:
        node = Node()
        node.op, node.args, node.sort, node.payload = op, args, sort, payload
        _interned[key] = node
    return node


def const(sort: SortInfo, value: int) -> Node:
    """An element by its number: 0 or 1 for Bool, a bit set for Set, 0 for none and k + 1 for some(k) of a Maybe."""
    return make("const", sort, payload=value)


TRUE, FALSE = const(BOOLEAN, 1), const(BOOLEAN, 0)


def conjunction(*parts: Node) -> Node:
    """Conjunction, flattened; constants fold."""
    return _junction("and", TRUE, FALSE, parts)


def disjunction(*parts: Node) -> Node:
    """Disjunction, flattened; constants fold."""
    return _junction("or", FALSE, TRUE, parts)


def _junction(op: str, neutral: Node, absorbing: Node, parts: tuple[Node, ...]) -> Node:
    flat: dict[Node, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.args if part.op == op else (part,)))
    flat.pop(neutral, None)
    if absorbing in flat:
        return absorbing
    if len(flat) < 2:  # noqa: PLR2004 - nothing, or one part alone
        return next(iter(flat), neutral)
    return make(op, BOOLEAN, *flat)


def negation(node: Node) -> Node:
    """Negation; double negation and constants fold."""
    if node.op == "not":
        return node.args[0]
    if node.op == "const":
        return FALSE if node is TRUE else TRUE
    return make("not", BOOLEAN, node)


def implication(premise: Node, conclusion: Node) -> Node:
    """Implication; constants fold."""
    if premise is TRUE or conclusion is TRUE:
        return conclusion
    if premise is FALSE:
        return TRUE
    return make("implies", BOOLEAN, premise, conclusion)


def quantified(op: str, variables: tuple[Variable, ...], body: Node) -> Node:
    """Forall or exists; a constant body needs no quantifier (no sort is empty)."""
    return body if body.op == "const" or not variables else make(op, BOOLEAN, body, payload=variables)


def substitute(node: Node, by: dict[Variable, Node], _memo: dict[Node, Node] | None = None) -> Node:
    """Replace free variables; bound variables are unique objects, so nothing is captured."""
    memo = {} if _memo is None else _memo
    found = memo.get(node)
    if found is None:
        if node.op == "var":
            found = by.get(node.payload, node)
        elif node.args:
            found = rebuild(node, *(substitute(arg, by, memo) for arg in node.args))
        else:
            found = node
        memo[node] = found
    return found


def rebuild(node: Node, *args: Node) -> Node:
    """The same operator over other arguments."""
    return node if args == node.args else make(node.op, node.sort, *args, payload=node.payload)
