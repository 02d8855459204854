"""States and their variables: a concept is a subclass of State with annotated variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from model.language import nodes, tracing
from model.language.misuse import author, misannotated, misdeclared, misuse, refuse_identity
from model.language.nodes import CHOICE, FREE, Node, SortInfo
from model.language.tracing import VariableInfo
from model.language.values import Bool, Maybe, Set, Term, maybe_of, set_of, spelled, typed

if TYPE_CHECKING:
    from model.language.actions import Action
    from model.language.properties import Premise, Property
    from model.language.rankings import Ranking
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
    actions, properties, runs -- by name, in order of declaration. rankings -- by the property that they are about.
    promises -- those that its actions assume, by name. initial -- the initial condition. heirs -- the classes that have
    taken over what was declared of it by then.
    """

    name: str
    sentence: str
    module: str
    variables: dict[str, VariableInfo] = field(default_factory=dict)
    classes: dict[str, type[Term]] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    properties: dict[str, Property] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    rankings: dict[str, Ranking] = field(default_factory=dict)
    promises: dict[str, Premise] = field(default_factory=dict)
    initial: Node = nodes.TRUE
    heirs: list[str] = field(default_factory=list)

    @property
    def home(self) -> str:
        """The name of the file that declares it; of one in a folder of this package, that of the folder."""
        room, *inside = self.module.split(".")
        return inside[0] if inside and room == __name__.partition(".")[0] else self.module.rpartition(".")[2]

    @property
    def sorts(self) -> dict[str, SortInfo]:
        """Free sorts, choices and naturals that occur, by name, sorted."""
        return {name: owner.info for name, owner in sorted(self.classes.items()) if name != "Bool"}


def _refuse(table: Table[Any, Any] | Rigid[Any, Any], *_: object) -> None:
    """Refuse: a table is not what one of its cells is."""
    raise misuse("a table is neither a term nor a Python container",
                 f"read a cell: s.{table._info.name}[key]; range over every(Sort)")  # noqa: SLF001 - a method of both


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
        __iter__ = __contains__ = __len__ = __bool__ = __call__ = __eq__ = __ne__ = __hash__ = _refuse

        def __delitem__(self, key: object) -> None:
            """Refuse: a table is total."""
            raise misuse("a cell cannot be deleted", f"let it mean nothing: s.{self._info.name}.forget(key)")

        def __repr__(self) -> str:
            """Name the table, for error messages."""
            return f"table {self._info.name}"


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
            raise misuse("a rigid function is never assigned", "declare a Table")

        def forget(self, key: object) -> None:
            """Refuse: nothing assigns a rigid function."""
            self[key] = None

        def __repr__(self) -> str:
            """Name the function, for error messages."""
            return f"rigid function {self._info.name}"

        __iter__ = __contains__ = __len__ = __bool__ = __call__ = __eq__ = __ne__ = __hash__ = _refuse


class State:
    """Base class of concepts: annotate the variables, then write actions and properties over it.

    `class Product(A, B, without=("apply",))` is the product of two concepts, less some of their actions.
    """

    if TYPE_CHECKING:
        concept: Concept

    def __init_subclass__(cls, *, without: tuple[str, ...] = ()) -> None:
        """Read the annotations; actions and initial condition of the bases are inherited."""
        super().__init_subclass__()
        cls.concept = _declare(cls, without)

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
                raise misuse("a table is assigned cell by cell", f"for x in every(...): s.{name}[x] = ...")
            tracing.assign(info, (), value)

        def __delattr__(self, name: str) -> None:
            """Refuse: a state has all its variables."""
            raise misuse("a variable cannot be deleted", "let a cell mean nothing: s.table.forget(key)")


def _info(state: State, name: str) -> VariableInfo:
    concept = type(state).concept
    if name not in concept.variables:
        raise misuse(f"{concept.name} has no variable {name}", "declare it in the class", f"s.{name}")
    return concept.variables[name]


def _value(state: State, info: VariableInfo, key: Any) -> Term:
    node = tracing.read(info, key, state.__dict__["_phase"])
    return typed(info.value, type(state).concept.classes, node)


def refuse_heirs(body: Callable[..., Any], concept: Concept) -> None:
    """Refuse an action, or an initial condition, that a class would lack which was made of the concept before."""
    if concept.heirs:
        heir = concept.heirs[0]
        raise misdeclared(body, f"{heir} was made of {concept.name} before, and would lack it",
                          f"declare it above class {heir}", f"def {body.__name__}")


def signature(body: Callable[..., Any], states: int = 1) -> tuple[type[State], list[str], list[type[Term]]]:
    """State class, names and sorts of the parameters of a declared function whose first `states` are states."""
    try:
        hints = get_type_hints(body, localns=author().f_locals)  # sorts may be declared inside a function
    except NameError as error:
        raise misdeclared(body, str(error), "declare or import the sort before it is used") from None
    names = list(body.__code__.co_varnames[: body.__code__.co_argcount])
    plain = inspect.signature(body).parameters.values()
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD or p.default is not p.empty for p in plain):
        raise misdeclared(body, "a parameter is an element that is chosen", "write (s: Concept, m: Sort): no defaults, "
                          "no *, no keyword-only parameters")
    owners = [hints.get(name) for name in names[:states]]
    owner = owners[0] if len(owners) == states and len(set(owners)) == 1 else None
    if not (isinstance(owner, type) and issubclass(owner, State)) or owner is State:
        wanted = "(s: Group)" if states == 1 else "(before: Group, after: Group)"
        raise misdeclared(body, "the first parameter is not the concept", f"write {wanted}", *names[:1])
    refuse_identity(body)
    sorts = [_parameter(body, owner, name, hints.get(name)) for name in names[states:]]
    return owner, names[states:], sorts


def _parameter(body: Callable[..., Any], owner: type[State], name: str, sort: Any) -> type[Term]:
    if not (isinstance(sort, type) and issubclass(sort, Term) and hasattr(sort, "info")):
        raise misdeclared(body, "a parameter is one element, not a set, a table or a number",
                          "annotate it with a sort", name)
    if owner.concept.classes.setdefault(sort.info.name, sort) is not sort:
        raise misdeclared(body, f"{owner.concept.name} has another sort {sort.info.name}", "rename one", name)
    return sort


def _declare(cls: type[State], without: tuple[str, ...]) -> Concept:
    parents = [base.concept for base in cls.__bases__ if issubclass(base, State) and base is not State]
    concept = Concept(cls.__name__, " ".join((cls.__doc__ or "").split()), cls.__module__, classes={"Bool": Bool})
    known = sorted({name for parent in parents for name in parent.actions})
    if not isinstance(without, tuple) or not set(without) <= set(known):
        raise misannotated(cls.__name__, "", f"without={without!r} does not name actions of the bases",
                           f'write without=("name",); they have {", ".join(known) or "none"}')
    for parent in parents:
        _inherit(cls, concept, parent, without)
    try:
        hints = get_type_hints(cls, localns={**author().f_locals, cls.__name__: cls}, include_extras=True)
    except NameError as error:
        raise misannotated(cls.__name__, "", str(error), "declare or import each sort before it is used") from None
    except TypeError:  # from typing, in words that depend on what else was imported
        raise misannotated(cls.__name__, "", "an annotation has too few parts, or too many",
                           "write Table[key, value], Table[tuple[key, key], value], Set[sort], Maybe[sort]") from None
    for name in inspect.get_annotations(cls):
        _check_name(cls, name)
        concept.variables[name] = _variable(cls, name, hints[name], concept.classes)
    return concept


def _inherit(cls: type[State], concept: Concept, parent: Concept, without: tuple[str, ...]) -> None:
    """Take over what a base declares; what two bases declare differently is refused."""
    parent.heirs.append(concept.name)
    for name, owner in parent.classes.items():
        if concept.classes.setdefault(name, owner) is not owner:
            raise misannotated(cls.__name__, "", f"its bases have two sorts {name}", "rename one")
    for name, traced in parent.actions.items():
        if name not in without and concept.actions.setdefault(name, traced) is not traced:
            raise misannotated(cls.__name__, "", f"two of its bases have an action {name}",
                               f'leave both out by without=("{name}",) and declare the joint action')
    for name, promised in parent.promises.items():
        if concept.promises.setdefault(name, promised) is not promised:
            raise misannotated(cls.__name__, "", f"its bases have two promises {name}", "rename one")
    for name in parent.variables:
        _check_name(cls, name)
    concept.variables |= parent.variables
    concept.initial = nodes.conjunction(concept.initial, parent.initial)


def _check_name(cls: type[State], name: str) -> None:
    """A variable has one declaration, no value and a name of its own."""
    if name.startswith("_") or hasattr(State, name) or name == "concept":
        raise misannotated(cls.__name__, name, "the name has a meaning of its own", "rename the variable")
    if name in vars(cls):
        raise misannotated(cls.__name__, name, "a variable has no value here", "say it in @initially")
    owners = [owner for owner in cls.__mro__ if name in inspect.get_annotations(owner)]
    if len(owners) > 1:
        names = " and ".join(owner.__name__ for owner in owners)
        raise misannotated(cls.__name__, name, f"{name} is declared by {names}",
                           "rename one, or declare it once in a common base")


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
    if rigid and (GHOST in roles or origin is Table):
        raise misannotated(cls.__name__, name, "what no action assigns is neither a ghost nor a table",
                           "write Rigid[key, value] or Constant[sort]")
    return VariableInfo(name, keys, _sort(cls, name, value, classes), ghost=GHOST in roles, rigid=rigid)


def _sort(cls: type[State], name: str, hint: Any, classes: dict[str, type[Term]]) -> SortInfo:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Set, Maybe) and len(arguments) == 1:
        inner = _sort(cls, name, arguments[0], classes)
        if inner.kind not in (FREE, CHOICE):
            raise misannotated(cls.__name__, name, f"{origin.__name__} of {inner.name}",
                               "give a free sort or a choice")
        return (set_of if origin is Set else maybe_of)(inner)
    if not (isinstance(hint, type) and issubclass(hint, Term) and hasattr(hint, "info")):
        raise misannotated(cls.__name__, name, f"{spelled(hint)} is no sort",
                           "use Bool, a subclass of Sort, Nat or Choice, Set, Maybe, Table")
    if classes.setdefault(hint.info.name, hint) is not hint:
        raise misannotated(cls.__name__, name, f"two sorts are called {hint.info.name}", "rename one")
    return hint.info
