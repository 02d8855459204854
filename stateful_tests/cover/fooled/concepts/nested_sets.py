"""A set that is described by sets, and a variable that is bound twice under one name."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    setof,
)
from model.language.scope import Scope

PROVE = {
    "inside_is_inside": "holds",
    "the_inner_name_is_meant": "holds",
    "the_outer_name_is_meant": "violated: false at first",
}
EXPLORE = {
    "inside_is_inside": "holds",
    "the_inner_name_is_meant": "holds",
    "the_outer_name_is_meant": "violated",
}


class Node(Sort):
    """A node."""


class Graph(State):
    """Edges, which only come."""

    edge: Table[tuple[Node, Node], Bool]


@initially
def loops(s: Graph) -> Bool:
    """Each node has an edge to itself."""
    return forall(s.edge[a, b].iff(a == b) for a, b in every(Node, Node))


@action("nothing")
def join(s: Graph, a: Node, b: Node) -> None:
    """An edge is drawn."""
    s.edge[a, b] = TRUE


@always(shipped="holds")
def inside_is_inside(s: Graph) -> Bool:
    """True: the set of the nodes in whose set of successors they are themselves is that of all nodes."""
    return forall(setof(Node, lambda x: setof(Node, lambda y: s.edge[x, y]).has(x)).has(a) for a in every(Node))


@always(shipped="holds")
def the_inner_name_is_meant(s: Graph) -> Bool:
    """True: the inner x hides the outer one, each node has a loop."""
    return forall(setof(Node, lambda x: setof(Node, lambda x: s.edge[x, x]).has(x)).has(a) for a in every(Node))


@always(shipped="holds")
def the_outer_name_is_meant(s: Graph) -> Bool:
    """False: no node but itself need be a successor."""
    return forall(setof(Node, lambda x: setof(Node, lambda y: s.edge[y, x]).has(b)).has(a)
                  for a, b in every(Node, Node))


scopes = [Scope(Graph, {Node: 2}, name="two nodes")]
