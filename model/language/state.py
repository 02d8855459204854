"""States and their variables: a concept is a subclass of State with annotated variables."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from model.language import nodes, tracing
from model.language.misuse import Misuse, misuse
from model.language.nodes import CHOICE, FREE, Node, SortInfo
from model.language.tracing import VariableInfo
from model.language.values import Bool, Maybe, Set, Term, maybe_of, set_of, typed

if TYPE_CHECKING:
    from model.language.actions import Action
    from model.language.properties import Property
    from model.language.runs import Run

K = TypeVar("K")
V = TypeVar("V", bound=Term)
A = TypeVar("A")
S = TypeVar("S", bound="State")

GHOST, CONSTANT = "ghost", "constant"
Ghost = Annotated[A, GHOST]        # read by properties and other ghosts only, never by a guard
Constant = Annotated[A, CONSTANT]  # assigned by no action; symbolic in a proof, supplied by a scope


@dataclass(slots=True)
class Concept:
    """All that was declared of one State class.

    variables -- state variables, constants and rigid functions, by name, in order of declaration.
    classes -- the Python classes of the sorts that occur, by sort name.
    actions, properties, runs -- by name, in order of declaration. initial -- the initial condition.
    """

    name: str
    sentence: str
    module: str
    variables: dict[str, VariableInfo] = field(default_factory=dict)
    classes: dict[str, type[Term]] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    properties: dict[str, Property] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    initial: Node = nodes.TRUE

    @property
    def sorts(self) -> dict[str, SortInfo]:
        """Free sorts, choices and naturals that occur, by name, sorted."""
        return {name: owner.info for name, owner in sorted(self.classes.items()) if name != "Bool"}


class Table(Generic[K, V]):
    """A total function of the state: `table[key]` reads, `table[key] = value` assigns one cell."""

    def __init__(self, state: State, info: VariableInfo) -> None:
        """Bind the table to a state; only the language does this."""
        self._state, self._info = state, info

    def __getitem__(self, key: K) -> V:
        """Read a cell as it is before the step."""
        return _value(self._state, self._info, key)  # type: ignore[return-value]

    def __setitem__(self, key: K, value: V) -> None:
        """Assign a cell."""
        tracing.assign(self._info, key, value)

    def forget(self, key: K) -> None:
        """Let the cell mean nothing any more: in a search it returns to one fixed value, in a proof it is arbitrary."""
        tracing.forget(self._info, key)

    if not TYPE_CHECKING:  # mypy refuses these by itself

        def _refuse(self, *_: object) -> None:
            raise misuse("a table is not a Python container", "read a cell: table[key]; range over every(Sort)",
                         f"s.{self._info.name}")

        __iter__ = __contains__ = __len__ = __bool__ = _refuse


class Rigid(Generic[K, V]):
    """A function that no action assigns: uninterpreted in a proof, supplied by the scope in a search."""

    def __init__(self, state: State, info: VariableInfo) -> None:
        """Bind the function to a state; only the language does this."""
        self._state, self._info = state, info

    def __getitem__(self, key: K) -> V:
        """Apply the function."""
        return _value(self._state, self._info, key)  # type: ignore[return-value]

    if not TYPE_CHECKING:  # mypy refuses this by itself

        def __setitem__(self, key: object, value: object) -> None:
            """Refuse: nothing assigns a rigid function."""
            raise misuse("a rigid function is never assigned", "declare a Table", f"s.{self._info.name}")


class State:
    """Base class of concepts: annotate the variables, then write actions and properties over it.

    `class Product(A, B, without=("apply",))` is the product of two concepts, less some of their actions.
    """

    if TYPE_CHECKING:
        concept: Concept

    def __init_subclass__(cls, *, without: tuple[str, ...] = ()) -> None:
        """Read the annotations; actions and initial condition of the bases are inherited."""
        super().__init_subclass__()
        cls.concept = _declare(cls, without, sys._getframe(1).f_locals)  # noqa: SLF001 - resolves local sorts

    def __init__(self, phase: str = "now") -> None:
        """Make a handle for tracing; phase is "now", or "before" and "after" for the two states of a step."""
        object.__setattr__(self, "_phase", phase)

    if not TYPE_CHECKING:  # mypy knows the variables by their annotations

        def __getattr__(self, name: str) -> Any:
            """Read a scalar, or give a table."""
            info = _info(self, name)
            if not info.keys:
                return _value(self, info, ())
            return (Rigid if info.rigid else Table)(self, info)

        def __setattr__(self, name: str, value: Any) -> None:
            """Assign a scalar."""
            info = _info(self, name)
            if info.keys:
                raise misuse("a table is assigned cell by cell", f"for x in every(...): s.{name}[x] = ...", f"s.{name}")
            tracing.assign(info, (), value)


def _info(state: State, name: str) -> VariableInfo:
    concept = type(state).concept
    if name not in concept.variables:
        raise misuse(f"{concept.name} has no variable {name}", "declare it in the class", f"s.{name}")
    return concept.variables[name]


def _value(state: State, info: VariableInfo, key: Any) -> Term:
    node = tracing.read(info, key, state.__dict__["_phase"])
    return typed(info.value, type(state).concept.classes, node)


def signature(body: Callable[..., Any], states: int = 1) -> tuple[type[State], list[str], list[type[Term]]]:
    """State class, names and sorts of the parameters of a declared function whose first `states` are states."""
    local = sys._getframe(2).f_locals  # noqa: SLF001 - resolves sorts that were declared inside a function
    hints = get_type_hints(body, localns=local)
    names = list(body.__code__.co_varnames[: body.__code__.co_argcount])
    owners = [hints.get(name) for name in names[:states]]
    owner = owners[0] if len(owners) == states and len(set(owners)) == 1 else None
    if not (isinstance(owner, type) and issubclass(owner, State)) or owner is State:
        wanted = "(s: Group)" if states == 1 else "(before: Group, after: Group)"
        raise Misuse(f"{body.__name__}: annotate the first parameter with the concept: {wanted}")
    sorts = [_parameter(body, owner, name, hints.get(name)) for name in names[states:]]
    return owner, names[states:], sorts


def _parameter(body: Callable[..., Any], owner: type[State], name: str, sort: Any) -> type[Term]:
    if not (isinstance(sort, type) and issubclass(sort, Term) and hasattr(sort, "info")):
        raise Misuse(f"{body.__name__}: annotate {name} with a sort: a parameter is one element, not a set or a table")
    owner.concept.classes.setdefault(sort.info.name, sort)
    return sort


def _declare(cls: type[State], without: tuple[str, ...], local: dict[str, Any]) -> Concept:
    parents = [base.concept for base in cls.__bases__ if issubclass(base, State) and base is not State]
    concept = Concept(cls.__name__, " ".join((cls.__doc__ or "").split()), cls.__module__, classes={"Bool": Bool})
    for parent in parents:
        concept.variables |= parent.variables
        concept.classes |= parent.classes
        concept.initial = nodes.conjunction(concept.initial, parent.initial)
        concept.actions |= {name: traced for name, traced in parent.actions.items() if name not in without}
    known = sorted({name for parent in parents for name in parent.actions})
    for name in without:
        if name not in known:
            raise Misuse(f"{cls.__name__}: without={name!r}, but no base has that action; they have {', '.join(known)}")
    hints = get_type_hints(cls, localns={**local, cls.__name__: cls}, include_extras=True)
    for name in inspect.get_annotations(cls):
        concept.variables[name] = _variable(cls, name, hints[name], concept.classes)
    return concept


def _variable(cls: type[State], name: str, hint: Any, classes: dict[str, type[Term]]) -> VariableInfo:
    roles: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        roles = tuple(rest)
    origin, arguments = get_origin(hint), get_args(hint)
    keys: tuple[SortInfo, ...] = ()
    value = hint
    if origin in (Table, Rigid):
        key, value = arguments
        parts = get_args(key) if get_origin(key) is tuple else (key,)
        keys = tuple(_sort(cls, name, part, classes) for part in parts)
    rigid = origin is Rigid or CONSTANT in roles
    return VariableInfo(name, keys, _sort(cls, name, value, classes), ghost=GHOST in roles, rigid=rigid)


def _sort(cls: type[State], name: str, hint: Any, classes: dict[str, type[Term]]) -> SortInfo:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Set, Maybe) and len(arguments) == 1:
        inner = _sort(cls, name, arguments[0], classes)
        if inner.kind not in (FREE, CHOICE):
            raise Misuse(f"{cls.__name__}.{name}: {origin.__name__} of {inner.name}; give a free sort or a choice")
        return (set_of if origin is Set else maybe_of)(inner)
    if not (isinstance(hint, type) and issubclass(hint, Term) and hasattr(hint, "info")):
        raise Misuse(f"{cls.__name__}.{name}: {hint!r} is no sort; use Bool, Sort, Nat, Choice, Set, Maybe, Table")
    if classes.setdefault(hint.info.name, hint) is not hint:
        raise Misuse(f"{cls.__name__}.{name}: two sorts are called {hint.info.name}; rename one")
    return hint.info
