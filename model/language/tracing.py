"""What a body says while it is traced: guards and assignments of actions, reads of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from model.language import binders
from model.language.binders import Loops
from model.language.misuse import misdeclared, misuse
from model.language.nodes import BOOL, NAT, Node, SortInfo, Variable, make
from model.language.values import Bool, Term, describe, one

if TYPE_CHECKING:
    from model.language.properties import Premise
    from model.language.state import Concept


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


TESTED, PROMISED, PRUNING = "tested", "promised", "pruning"


@dataclass(frozen=True, slots=True)
class Ground:
    """Why an action happens only where a guard is true.

    kind -- TESTED: the code that the action stands for goes this way only there. PROMISED: whoever runs the system sees
    to it. PRUNING: nobody does; only a search is kept small. by -- of TESTED the method (or the call of the operating
    system) that tests it, "" where that is not said; of PROMISED the name of the premise.
    """

    kind: str
    by: str = ""


@dataclass(slots=True)
class Trace:
    """What one body has said so far.

    concept, parameters -- of the action. written -- what was assigned. loops -- those that are open now.
    """

    concept: Concept
    parameters: tuple[Variable, ...]
    loops: Loops
    guards: list[Node] = field(default_factory=list)
    grounds: list[Ground] = field(default_factory=list)
    search_only: list[Node] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    written: set[str] = field(default_factory=set)


_open: list[Trace] = []


def begin(concept: Concept, parameters: tuple[Variable, ...]) -> Trace:
    """Start to trace an action of a concept."""
    binders.actions.append(Loops())
    _open.append(Trace(concept, parameters, binders.actions[-1]))
    return _open[-1]


def end() -> None:
    """Stop tracing the action."""
    _open.pop()
    binders.actions.pop()


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
        raise misuse("a constant is never assigned", "declare a variable without Constant")
    if not isinstance(value, Term) or value.node.sort != info.value:
        cure = f"give a term of sort {info.value.name}"
        if isinstance(value, bool):
            cure = f"write {str(value).upper()}" if info.value.kind == BOOL else cure
        elif isinstance(value, int) and info.value.kind == NAT:
            cure = f"write {info.value.name}.of({value})"
        raise misuse(f"{info.name} takes {one(info.value)}, not {describe(value)}", cure)
    _record(info, key, value.node)


def forget(info: VariableInfo, key: Any) -> None:
    """Record that a cell means nothing any more."""
    _record(info, key, None)


def _record(info: VariableInfo, key: Any, value: Node | None) -> None:
    if not _open:
        raise misuse("only an action assigns", "properties and macros read")
    trace, keys = _open[-1], _keys(info, key)
    for node in (*keys, *(() if value is None else (value,))):
        _check_variables(trace, node, *trace.parameters, *trace.loops.variables)
        if not info.ghost:
            _check_ghosts(trace, node, f"{info.name} depends on the ghost", "only ghosts depend on ghosts")
    for variable in trace.loops.variables:
        if not any(node.op == "var" and node.payload is variable for node in keys):
            raise misuse(f"{info.name} is assigned in a loop over {variable.sort.name} that is no key of it",
                         "one step assigns a cell once: use the loop's variable as a key")
    trace.assignments.append(Assignment(info.name, keys, value, tuple(trace.loops.variables)))
    trace.written.add(info.name)


def _check_variables(trace: Trace, node: Node, *visible: Variable) -> None:
    for problem, cure in _misbound(trace.concept, node, visible):
        raise misuse(problem, cure)


def _misbound(concept: Concept, node: Node, visible: tuple[Variable, ...] = ()) -> Iterator[tuple[str, str]]:
    """A variable outside what binds it, or of a sort that the concept does not have: the problem, and the cure."""
    for variable in free_variables(node).difference(visible):
        yield (f"{variable.name or one(variable.sort)} is used outside the loop or the quantifier that binds it",
               "bind it: forall(... for x in every(Sort)), or make it a parameter")
    for name in sorted(sorts_bound(node).difference(concept.classes)):
        yield f"{concept.name} has no sort {name}", "range over sorts of its variables and parameters"


def _check_ghosts(trace: Trace, node: Node, problem: str, cure: str) -> None:
    for name in sorted(names_read(node)):
        if trace.concept.variables[name].ghost:
            raise misuse(f"{problem} {name}", cure)


def _keys(info: VariableInfo, key: Any) -> tuple[Node, ...]:
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) != len(info.keys):
        raise misuse(f"{len(parts)} given where {info.name} has {len(info.keys)} keys", "give one term per key")
    for part, sort in zip(parts, info.keys, strict=True):
        if not isinstance(part, Term) or part.node.sort != sort:
            raise misuse(f"a key of {info.name} is {one(sort)}, not {describe(part)}", "give a term of that sort")
    return tuple(part.node for part in parts)


def require(*conditions: Bool, by: str = "") -> None:
    """State what RocketMQ tests before it does the step; by -- the method that tests it, "Class#method"."""
    trace = _traced("require", conditions)
    for node in _conjuncts(trace, conditions):
        trace.guards.append(node)
        trace.grounds.append(Ground(TESTED, by))


def promised(premise: Premise, condition: Bool) -> None:
    """Record a guard that is this premise; a concept knows one promise of each name."""
    trace = _traced("assume", (condition,))
    if trace.concept.promises.setdefault(premise.name, premise) is not premise:
        raise misuse(f"{trace.concept.name} has two promises {premise.name}", "rename one", "assume", premise.name)
    for node in _conjuncts(trace, (condition,)):
        trace.guards.append(node)
        trace.grounds.append(Ground(PROMISED, premise.name))


def search_only(*conditions: Bool) -> None:
    """State what only keeps a search small; monitors of an implementation drop it."""
    trace = _traced("search_only", conditions)
    trace.search_only.extend(_conjuncts(trace, conditions))


def _traced(name: str, conditions: tuple[Bool, ...]) -> Trace:
    if not _open:
        raise misuse(f"{name} outside an action", "only actions have guards", name)
    if _open[-1].loops.variables:
        raise misuse(f"{name} inside a loop", f"write {name}(forall(... for x in every(Sort)))", name)
    if not conditions:
        raise misuse(f"{name} without a condition", "give a formula", name)
    for condition in conditions:
        if not isinstance(condition, Bool):
            raise misuse(f"{name} of {describe(condition)}", "give a formula")
    return _open[-1]


def _conjuncts(trace: Trace, conditions: tuple[Bool, ...]) -> Iterator[Node]:
    for condition in conditions:
        _check_variables(trace, condition.node, *trace.parameters)
        _check_ghosts(trace, condition.node, "the guard reads the ghost", "a ghost must not decide what happens")
        node = condition.node
        yield from node.args if node.op == "and" else (node,)


def formula(value: object, body: Callable[..., Any], concept: Concept, parameters: tuple[Variable, ...] = ()) -> Node:
    """Take the node of a traced condition; raise Misuse when it is no formula about the concept and the parameters."""
    if not isinstance(value, Bool):
        raise misdeclared(body, f"{describe(value)} is returned, not a formula",
                          "return a & b, forall(...), a.implies(b)")
    return term(value.node, body, concept, parameters)


def term(node: Node, body: Callable[..., Any], concept: Concept, parameters: Iterable[Variable] = ()) -> Node:
    """Give a term back; raise Misuse when it is none about the concept and the parameters."""
    for problem, cure in _misbound(concept, node, tuple(parameters)):
        raise misdeclared(body, problem, cure)
    return node


@cache
def names_read(node: Node) -> frozenset[str]:
    """Names of the state variables that a node reads."""
    own = {node.payload[1]} if node.op == "read" else set[str]()
    return frozenset(own.union(*map(names_read, node.args)))


@cache
def free_variables(node: Node) -> frozenset[Variable]:
    """Variables that a node depends on and does not bind."""
    if node.op == "var":
        return frozenset((node.payload,))
    bound = node.payload if node.op in ("forall", "exists") else (node.payload,) if node.op == "setof" else ()
    return frozenset().union(*map(free_variables, node.args)).difference(bound)


@cache
def sorts_bound(node: Node) -> frozenset[str]:
    """Names of the sorts that the quantifiers of a node range over; of sets, the sort of the elements."""
    bound = node.payload if node.op in ("forall", "exists") else (node.payload,) if node.op == "setof" else ()
    own = {(variable.sort.element or variable.sort).name for variable in bound}
    return frozenset(own.union(*map(sorts_bound, node.args)))
