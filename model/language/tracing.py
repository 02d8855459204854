"""What a body says while it is traced: guards and assignments of actions, reads of states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from model.language.binders import loops
from model.language.misuse import Misuse, misuse
from model.language.nodes import NAT, Node, SortInfo, Variable, make
from model.language.values import Bool, Term, describe


@dataclass(frozen=True, slots=True)
class VariableInfo:
    """One state variable: its name, the sorts of its keys (none for a scalar), its value's sort, its role."""

    name: str
    keys: tuple[SortInfo, ...]
    value: SortInfo
    ghost: bool = False
    rigid: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """`variable[keys] = value`, for all values of the loop variables; value None forgets the cell."""

    variable: str
    keys: tuple[Node, ...]
    value: Node | None
    loops: tuple[Variable, ...]


@dataclass(slots=True)
class Trace:
    """What one body has said so far."""

    guards: list[Node] = field(default_factory=list)
    search_only: list[Node] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    written: set[str] = field(default_factory=set)


_open: list[Trace] = []


def begin() -> Trace:
    """Start to trace an action."""
    _open.append(Trace())
    return _open[-1]


def end() -> None:
    """Stop tracing the action."""
    _open.pop()
    loops.clear()


def tracing() -> bool:
    """Tell whether an action is being traced."""
    return bool(_open)


def read(info: VariableInfo, key: Any, phase: str) -> Node:
    """Read a cell; phase is "now", "before" or "after"."""
    keys = _keys(info, key)
    if info.rigid:
        return make("rigid", info.value, *keys, payload=info.name)
    if _open and info.name in _open[-1].written:
        raise misuse(f"{info.name} is read after it was assigned", "a read means the state before the step: read first")
    return make("read", info.value, *keys, payload=(phase, info.name))


def assign(info: VariableInfo, key: Any, value: Any) -> None:
    """Record an assignment of a cell."""
    if info.rigid:
        raise misuse("a constant is never assigned", "declare a variable without Constant", f"s.{info.name}")
    if not isinstance(value, Term) or value.node.sort != info.value:
        number = isinstance(value, int) and info.value.kind == NAT
        cure = f"write {info.value.name}.of({value})" if number else f"give a term of sort {info.value.name}"
        raise misuse(f"{info.name} takes a {info.value.name}, not {describe(value)}", cure)
    _record(info, key, value.node)


def forget(info: VariableInfo, key: Any) -> None:
    """Record that a cell means nothing any more."""
    _record(info, key, None)


def _record(info: VariableInfo, key: Any, value: Node | None) -> None:
    if not _open:
        raise misuse("only an action assigns", "properties and macros read", f"s.{info.name}")
    keys = _keys(info, key)
    for variable in loops:
        if not any(node.op == "var" and node.payload is variable for node in keys):
            raise misuse(f"{info.name} is assigned in a loop over {variable.sort.name} that is no key of it",
                         "one step assigns a cell once: use the loop's variable as a key")
    _open[-1].assignments.append(Assignment(info.name, keys, value, tuple(loops)))
    _open[-1].written.add(info.name)


def _keys(info: VariableInfo, key: Any) -> tuple[Node, ...]:
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) != len(info.keys):
        raise misuse(f"{info.name} has {len(info.keys)} keys, not {len(parts)}", "give one term per key")
    for part, sort in zip(parts, info.keys, strict=True):
        if not isinstance(part, Term) or part.node.sort != sort:
            raise misuse(f"a key of {info.name} is a {sort.name}, not {describe(part)}", "give a term of that sort")
    return tuple(part.node for part in parts)


def require(*conditions: Bool) -> None:
    """State what RocketMQ tests before it does the step."""
    _require("require", conditions, lambda trace: trace.guards)


def search_only(*conditions: Bool) -> None:
    """State what only keeps a search small; monitors of an implementation drop it."""
    _require("search_only", conditions, lambda trace: trace.search_only)


def _require(name: str, conditions: tuple[Bool, ...], into: Any) -> None:
    if not _open:
        raise misuse(f"{name} outside an action", "only actions have guards", name)
    if loops:
        raise misuse(f"{name} inside a loop", "write require(forall(... for x in every(Sort)))", name)
    if not conditions:
        raise misuse(f"{name} without a condition", "give a formula", name)
    for condition in conditions:
        if not isinstance(condition, Bool):
            raise misuse(f"{name} of {describe(condition)}", "give a formula", name)
        node = condition.node
        into(_open[-1]).extend(node.args if node.op == "and" else (node,))


def formula(value: object, name: str) -> Node:
    """Take the node of a traced condition; raise Misuse when it is no formula."""
    if not isinstance(value, Bool):
        raise Misuse(f"{name}: returns {describe(value)}, not a formula; return a & b, forall(...), a.implies(b)")
    return value.node


def names_read(node: Node) -> set[str]:
    """Names of the state variables that a node reads."""
    own = {node.payload[1]} if node.op == "read" else set[str]()
    return own.union(*(names_read(arg) for arg in node.args))
