"""Sorts and typed values: what people write in a declaration, and what mypy checks of it."""

from __future__ import annotations

import re
from types import GeneratorType
from typing import TYPE_CHECKING, ClassVar, Generic, NoReturn, Self, TypeVar

from model.language import nodes
from model.language.misuse import misuse, truth_value
from model.language.nodes import BOOLEAN, CHOICE, FREE, MAYBE, NAT, SET, Node, SortInfo, make


class Term:
    """A value of a declaration. It stands for a value in every state and so has none itself."""

    __slots__ = ("node",)
    info: ClassVar[SortInfo]

    def __init__(self, node: Node) -> None:
        """Wrap a node; only the language does this."""
        self.node = node

    def __bool__(self) -> bool:
        """Refuse: a term has no truth value."""
        raise truth_value()

    def __hash__(self) -> int:
        """Refuse: a term is no key."""
        raise misuse("a term cannot be a key or an element of a Python set", "use a Table or a Set[...]")

    def __index__(self) -> NoReturn:
        """Refuse: a term is no number."""
        raise misuse("a term is not a number", "compare it with <, <=, ==")

    __int__ = __float__ = __index__

    def __str__(self) -> str:
        """Refuse: a term has no text while it is traced."""
        raise misuse("a term cannot be formatted", "declarations have no text; see model.language.text")

    def __repr__(self) -> str:
        """Give the sort and the shape, for people who debug the language."""
        return f"<{self.node.sort.name}: {self.node!r}>"

    def __iter__(self) -> NoReturn:
        """Refuse: sets are not iterated."""
        raise misuse("a term cannot be iterated", "write for x in every(Sort)")

    def __len__(self) -> NoReturn:
        """Refuse: there is no cardinality."""
        raise misuse("a term has no length", "the language has no cardinality; count with a ghost variable")

    def __contains__(self, item: object) -> NoReturn:
        """Refuse: membership is a formula."""
        raise misuse("`in` asks for a truth value", "write set.has(element)")

    def _same(self, other: object, op: str) -> Node:
        """Take the other operand's node, or say why it does not fit."""
        if isinstance(other, Term) and other.node.sort == self.node.sort:
            return other.node
        problem = f"{op} between {describe(self)} and {describe(other)}"
        if op != "ite" and (isinstance(other, Bool) or isinstance(self, Bool)):
            raise misuse(problem, "& and | bind tighter than == and <: write (a == b) & (c)")
        raise misuse(problem, "both branches need the same sort" if op == "ite" else "both sides need the same sort")

    def _refuse_connective(self, other: object) -> NoReturn:
        cure = "connectives join formulas, and bind tighter than ==: write (a == b) & (c == d)"
        raise misuse(f"& or | between {describe(self)} and {describe(other)}",
                     "write TRUE or FALSE" if isinstance(other, bool) else cure)

    def _refuse_order(self, other: object) -> NoReturn:
        raise misuse(f"< between {describe(self)} and {describe(other)}", "only Nat sorts are ordered")

    def _refuse_arithmetic(self, *other: object) -> NoReturn:
        operands = " and ".join(map(describe, (self, *other)))
        raise misuse(f"arithmetic {'between' if other else 'on'} {operands}",
                     "there are only + and - of one Nat sort, a literal standing last: s.end + 1")

    def _refuse_key(self, *_: object) -> NoReturn:
        raise misuse(f"{describe(self)} has no cells", "only a Table or a Rigid has keys: table[key]")

    if not TYPE_CHECKING:  # mypy shall say "unsupported operand", people who do without it get the cure
        __and__ = __or__ = __rand__ = __ror__ = _refuse_connective
        __lt__ = __le__ = __gt__ = __ge__ = _refuse_order
        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __divmod__ = _refuse_arithmetic
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _refuse_arithmetic
        __rdivmod__ = __lshift__ = __rshift__ = __neg__ = __pos__ = __abs__ = __round__ = _refuse_arithmetic
        __getitem__ = __setitem__ = __delitem__ = __call__ = _refuse_key

        def __xor__(self, other: object) -> NoReturn:
            """Refuse: exclusive or is not among the connectives."""
            raise misuse(f"^ between {describe(self)} and {describe(other)}", "write ~a.iff(b)")

        def __invert__(self) -> Bool:
            """Refuse: only formulas are negated."""
            raise misuse(f"~ of {describe(self)}", "only formulas are negated, and ~ binds first: write ~(a == b)")

    def __eq__(self, other: Self) -> Bool:  # type: ignore[override]
        """Equality of two values of one sort, as a formula."""
        right = self._same(other, "==")
        if self.node is right:
            return TRUE
        return Bool(make("eq", BOOLEAN, self.node, right))

    def __ne__(self, other: Self) -> Bool:  # type: ignore[override]
        """Difference of two values of one sort, as a formula."""
        return Bool(nodes.negation((self == other).node))


def describe(value: object) -> str:
    """Name a value as error messages do."""
    if isinstance(value, Term):
        return "a formula" if isinstance(value, Bool) else one(value.node.sort)
    if isinstance(value, list | tuple):
        return f"a Python {type(value).__name__}"
    return "a Python generator" if isinstance(value, GeneratorType) else f"the Python value {value!r}"


def spelled(annotation: object) -> str:
    """Spell an annotation as people write it, without the modules of its names."""
    if isinstance(annotation, Term):
        return describe(annotation)
    return annotation.__name__ if isinstance(annotation, type) else re.sub(r"\b(\w+\.)+(?=\w)", "", str(annotation))


def one(sort: SortInfo) -> str:
    """Name a sort with its article."""
    return f"{'an' if sort.name[0] in 'AEIOU' else 'a'} {sort.name}"


class Bool(Term):
    """A formula: a truth value that depends on the state."""

    __slots__ = ()
    info = BOOLEAN

    def _formula(self, other: object, op: str) -> Node:
        if isinstance(other, Bool):
            return other.node
        cure = "write (a == b) & (c): & binds tighter than ==" if isinstance(other, Term) else "give a formula"
        cure = "write TRUE or FALSE" if isinstance(other, bool) else cure
        raise misuse(f"{op} between a formula and {describe(other)}", cure)

    def __and__(self, other: Bool) -> Bool:
        """Conjunction."""
        return Bool(nodes.conjunction(self.node, self._formula(other, "&")))

    def __or__(self, other: Bool) -> Bool:
        """Disjunction."""
        return Bool(nodes.disjunction(self.node, self._formula(other, "|")))

    def __invert__(self) -> Bool:
        """Negation."""
        return Bool(nodes.negation(self.node))

    def implies(self, other: Bool) -> Bool:
        """Implication."""
        return Bool(nodes.implication(self.node, self._formula(other, "implies")))

    def iff(self, other: Bool) -> Bool:
        """Equivalence."""
        return Bool(make("iff", BOOLEAN, self.node, self._formula(other, "iff")))

    def __eq__(self, other: Bool) -> Bool:  # type: ignore[override]
        """Equivalence, written as equality."""
        return Bool(make("iff", BOOLEAN, self.node, self._formula(other, "==")))

    __hash__ = Term.__hash__  # Python would derive None beside __eq__


TRUE, FALSE = Bool(nodes.TRUE), Bool(nodes.FALSE)


class Sort(Term):
    """An unstructured sort, declared by subclassing: unbounded in a proof, n elements in a scope."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Name the sort after its class."""
        super().__init_subclass__()
        cls.info = SortInfo(FREE, cls.__name__)


class Nat(Term):
    """Natural numbers, one subclass per meaning (offset, position, milliseconds).

    In a proof they are unbounded; a scope gives n values 0 … n-1. With `saturates=True` the greatest value of a scope
    stands for everything above it, which is right for ages that are only compared with smaller constants.
    """

    __slots__ = ()

    def __init_subclass__(cls, *, saturates: bool = False) -> None:
        """Name the sort after its class."""
        super().__init_subclass__()
        cls.info = SortInfo(NAT, cls.__name__, saturates=saturates)

    @classmethod
    def of(cls, value: int) -> Self:
        """Return a literal."""
        if cls is Nat:
            raise misuse("Nat itself has no values", "declare what they mean: class QueueOffset(Nat)")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise misuse(f"{value!r} is not a natural number", "naturals are 0, 1, 2, …")
        return cls(nodes.const(cls.info, value))

    def _number(self, other: object, op: str) -> Node:
        if isinstance(other, int) and not isinstance(other, bool):
            return type(self).of(other).node
        return self._same(other, op)

    def __eq__(self, other: Self | int) -> Bool:  # type: ignore[override]
        """Equality, as a formula."""
        right = self._number(other, "==")
        return TRUE if self.node is right else Bool(make("eq", BOOLEAN, self.node, right))

    def __ne__(self, other: Self | int) -> Bool:  # type: ignore[override]
        """Difference, as a formula."""
        return ~(self == other)

    __hash__ = Term.__hash__

    def __lt__(self, other: Self | int) -> Bool:
        """Less, as a formula."""
        return Bool(make("lt", BOOLEAN, self.node, self._number(other, "<")))

    def __le__(self, other: Self | int) -> Bool:
        """Less or equal, as a formula."""
        return Bool(make("le", BOOLEAN, self.node, self._number(other, "<=")))

    def __gt__(self, other: Self | int) -> Bool:
        """Greater, as a formula."""
        return Bool(make("lt", BOOLEAN, self._number(other, ">"), self.node))

    def __ge__(self, other: Self | int) -> Bool:
        """Greater or equal, as a formula."""
        return Bool(make("le", BOOLEAN, self._number(other, ">="), self.node))

    def __add__(self, other: Self | int) -> Self:
        """Sum."""
        return type(self)(make("add", self.info, self.node, self._number(other, "+")))

    def __sub__(self, other: Self | int) -> Self:
        """Difference; that it does not go below 0 is an obligation of the guard."""
        return type(self)(make("sub", self.info, self.node, self._number(other, "-")))


class Choice(Term):
    """A closed enumeration: `class Role(Choice): MASTER: Role; SLAVE: Role` (each annotated name is an element)."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Make one constant per annotated name, in order."""
        super().__init_subclass__()
        members = tuple(name for name in cls.__annotations__ if not name.startswith("_"))
        if not members:
            raise misuse("a Choice without elements", "annotate each element: MASTER: Role", cls.__name__)
        cls.info = SortInfo(CHOICE, cls.__name__, members=members)
        for number, name in enumerate(members):
            setattr(cls, name, cls(nodes.const(cls.info, number)))


S = TypeVar("S", bound=Term)
T = TypeVar("T", bound=Term)


class Set(Term, Generic[S]):
    """A set of elements of a free sort or a choice."""

    __slots__ = ()

    def _element(self, item: object, op: str) -> Node:
        element = self.node.sort.element
        if isinstance(item, Term) and item.node.sort == element:
            return item.node
        raise misuse(f"{op} of {describe(item)} with {describe(self)}", "give an element of the set's sort")

    def has(self, item: S) -> Bool:
        """Tell whether the element is in the set."""
        return Bool(make("has", BOOLEAN, self.node, self._element(item, "has")))

    def plus(self, item: S) -> Set[S]:
        """Return the set with the element."""
        return Set(make("plus", self.node.sort, self.node, self._element(item, "plus")))

    def minus(self, item: S) -> Set[S]:
        """Return the set without the element."""
        return Set(make("minus", self.node.sort, self.node, self._element(item, "minus")))


class Maybe(Term, Generic[S]):
    """Nothing, or one element."""

    __slots__ = ()

    def holds(self, item: S) -> Bool:
        """Tell whether it is exactly this element."""
        if not isinstance(item, Term) or item.node.sort != self.node.sort.element:
            raise misuse(f"holds of {describe(item)} with {describe(self)}", "give an element of the Maybe's sort")
        return Bool(make("holds", BOOLEAN, self.node, item.node))

    @property
    def absent(self) -> Bool:
        """Tell whether it holds nothing."""
        return Bool(make("absent", BOOLEAN, self.node))


def set_of(element: SortInfo) -> SortInfo:
    """Return the sort of sets of an element sort."""
    return SortInfo(SET, f"Set[{element.name}]", element)


def maybe_of(element: SortInfo) -> SortInfo:
    """Return the sort of Maybes of an element sort."""
    return SortInfo(MAYBE, f"Maybe[{element.name}]", element)


def element_sort(sort: object, where: str) -> SortInfo:
    """Return the sort that sets and Maybes may hold; raises Misuse for anything else."""
    if not (isinstance(sort, type) and issubclass(sort, Term) and hasattr(sort, "info")
            and sort.info.kind in (FREE, CHOICE)):
        raise misuse(f"{where} of {spelled(sort)}", "give a free sort or a choice, by its class")
    return sort.info


def empty(sort: type[S]) -> Set[S]:
    """Return the empty set."""
    return Set(nodes.const(set_of(element_sort(sort, "empty")), 0))


def none(sort: type[S]) -> Maybe[S]:
    """Return the Maybe that holds nothing."""
    return Maybe(nodes.const(maybe_of(element_sort(sort, "none")), 0))


def some(item: S) -> Maybe[S]:
    """Return the Maybe that holds the element."""
    if not isinstance(item, Term) or item.node.sort.kind not in (FREE, CHOICE):
        raise misuse(f"some of {describe(item)}", "give an element of a free sort or of a choice")
    return Maybe(make("some", maybe_of(item.node.sort), item.node))


def ite(condition: Bool, then: T, otherwise: T) -> T:
    """Either of two values of one sort."""
    if not isinstance(condition, Bool):
        raise misuse(f"the condition of ite is {describe(condition)}", "give a formula")
    if not isinstance(then, Term):
        raise misuse(f"ite chooses {describe(then)}", "give a term, for example Sort.of(0)")
    right = then._number(otherwise, "ite") if isinstance(then, Nat) else then._same(otherwise, "ite")  # noqa: SLF001
    return type(then)(make("ite", then.node.sort, condition.node, then.node, right))


def typed(info: SortInfo, classes: dict[str, type[Term]], node: Node) -> Term:
    """Wrap a node in the class of its sort."""
    if info.kind == SET:
        return Set(node)
    if info.kind == MAYBE:
        return Maybe(node)
    return classes[info.name](node)
