"""Evidence as typed values: what the page and the terminal draw, checked once at the border.

Evidence comes from files that anybody may have written, so each reader here raises BadInputError with one line that
says which part is wrong; whoever draws shows that line instead of the picture.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from invariants.verdict import BadInputError


@dataclass(frozen=True, slots=True)
class Change:
    """One cell of the state that a step wrote; before and after are the values as people read them."""

    cell: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace.

    action -- what happened, in RocketMQ's or the model's words.
    arguments -- (name, element) pairs in the order of the declaration.
    cite -- RocketMQ class and method that the step stands for; may be empty.
    flow -- (from, to) when something goes from one lifeline to another, else None.
    environment -- the world did it: a crash, a loss, an expiry.
    changes -- the cells it wrote.
    """

    action: str
    arguments: tuple[tuple[str, str], ...]
    cite: str
    flow: tuple[str, str] | None
    environment: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Evidence of kind "trace": the first state (cell, value), the steps, and the lifelines in drawing order."""

    initial: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    lifelines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Evidence of kind "counterexample"; columns and rows are empty when it brings no table."""

    arguments: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A state of a small scope: name in this file, description, whether a run may start here, whether it is bad."""

    name: str
    label: str
    initial: bool
    violating: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """Evidence of kind "graph": the reachable states and (from, to, label) transitions of a small scope."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str, str], ...]


def text(value: object) -> str:
    """A value as people read it: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def trace(evidence: Mapping[str, Any]) -> Trace:
    """Read evidence of kind "trace"; an element of a flow that has no lifeline gets one at the end."""
    steps = tuple(_step(item, f"steps[{at}]") for at, item in enumerate(_list(evidence, "steps", "evidence")))
    if not steps:
        raise BadInputError("evidence: steps is empty; a trace needs at least one step")
    lifelines = [text(name) for name in _list(evidence, "lifelines", "evidence")]
    ends = [end for step in steps if step.flow for end in step.flow]
    return Trace(_pairs(evidence, "initial", "evidence"), steps, tuple(dict.fromkeys([*lifelines, *ends])))


def counterexample(evidence: Mapping[str, Any]) -> Counterexample:
    """Read evidence of kind "counterexample"; rows of the table must be as wide as its columns."""
    table = evidence.get("table") or {"columns": [], "rows": []}
    _mapping(table, "table")
    columns = tuple(text(name) for name in _list(table, "columns", "table"))
    rows = tuple(tuple(text(cell) for cell in _sequence(row, "table.rows")) for row in _list(table, "rows", "table"))
    if any(len(row) != len(columns) for row in rows):
        raise BadInputError(f"table.rows: each row needs {len(columns)} cells, one per column")
    arguments, results = (_pairs(evidence, key, "evidence") for key in ("arguments", "results"))
    return Counterexample(arguments, results, columns, rows)


def graph(evidence: Mapping[str, Any]) -> Graph:
    """Read evidence of kind "graph"; every edge must join two nodes of the file."""
    nodes = tuple(_node(item) for item in _list(evidence, "nodes", "evidence"))
    names = {node.name for node in nodes}
    if not nodes or len(names) != len(nodes):
        raise BadInputError("nodes: a graph needs at least one node, and ids that differ")
    edges = tuple(_edge(item, names) for item in _list(evidence, "edges", "evidence"))
    return Graph(nodes, edges)


def _step(item: object, where: str) -> Step:
    step = _mapping(item, where)
    action = text(_value(step, "action", where))
    flow = step.get("flow")
    ends = None if flow is None else tuple(text(end) for end in _sequence(flow, f"{where}.flow"))
    if ends is not None and len(ends) != 2:  # noqa: PLR2004 - [from, to]
        raise BadInputError(f"{where}.flow: expected [from, to] or null, not {len(ends)} elements")
    changes = tuple(_change(change, f"{where}.changes") for change in _list(step, "changes", where))
    return Step(
        action=action, arguments=_pairs(step, "arguments", where),
        cite=text(step.get("cite") or ""), flow=None if ends is None else (ends[0], ends[1]),
        environment=step.get("environment") is True, changes=changes,
    )


def _change(item: object, where: str) -> Change:
    change = _mapping(item, where)
    cell, before, after = (text(_value(change, key, where)) for key in ("cell", "before", "after"))
    return Change(cell, before, after)


def _node(item: object) -> Node:
    node = _mapping(item, "nodes")
    name = text(_value(node, "id", "nodes"))
    return Node(name, text(node.get("label", name)), node.get("initial") is True, node.get("violating") is True)


def _edge(item: object, names: set[str]) -> tuple[str, str, str]:
    edge = _mapping(item, "edges")
    source, target = text(_value(edge, "from", "edges")), text(_value(edge, "to", "edges"))
    if source not in names or target not in names:
        raise BadInputError(f"edges: {source!r} -> {target!r} joins no two nodes of this graph")
    return source, target, text(edge.get("label", ""))


def _value(item: Mapping[str, Any], key: str, where: str) -> object:
    if key not in item:
        raise BadInputError(f"{where}: {key} is missing")
    return item[key]


def _mapping(item: object, where: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise BadInputError(f"{where}: expected an object, not {text(item)[:60]}")
    return item


def _sequence(item: object, where: str) -> Sequence[object]:
    if not isinstance(item, list | tuple):
        raise BadInputError(f"{where}: expected a list, not {text(item)[:60]}")
    return item


def _list(item: Mapping[str, Any], key: str, where: str) -> Sequence[object]:
    return _sequence(_value(item, key, where), f"{where}.{key}")


def _pairs(item: Mapping[str, Any], key: str, where: str) -> tuple[tuple[str, str], ...]:
    values = _mapping(item.get(key) or {}, f"{where}.{key}")
    return tuple((text(name), text(value)) for name, value in values.items())
