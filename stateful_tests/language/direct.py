"""The direct reading: the text of a declaration, run as it stands by Python on the values of one state.

It shares nothing with the language: no terms, no tracing. Names of the language stand for functions of numbers: a set
is a bit set, a Maybe is 0 or element + 1, as in `model.language.nodes.const`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from model.language.nodes import CHOICE, MAYBE, NAT, SET, SortInfo
from model.language.tracing import VariableInfo
from model.language.walk import Cell, Sized, Values
from stateful_tests.language.random_declarations import SORTS, Declaration


class _Disabled(Exception):  # noqa: N818 - it is no error
    """A guard is false."""


class _Value:
    """A value in a state, with the operators of the language."""

    __slots__ = ("number",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: int) -> None:
        self.number = number

    def __and__(self, other: _Value) -> _Value:
        return _Value(self.number & other.number)

    def __or__(self, other: _Value) -> _Value:
        return _Value(self.number | other.number)

    def __invert__(self) -> _Value:
        return _Value(1 - self.number)

    def __eq__(self, other: object) -> _Value:  # type: ignore[override]
        return _Value(self.number == _number(other))

    def __ne__(self, other: object) -> _Value:  # type: ignore[override]
        return _Value(self.number != _number(other))

    def __lt__(self, other: _Value | int) -> _Value:
        return _Value(self.number < _number(other))

    def __le__(self, other: _Value | int) -> _Value:
        return _Value(self.number <= _number(other))

    def __gt__(self, other: _Value | int) -> _Value:
        return _Value(self.number > _number(other))

    def __ge__(self, other: _Value | int) -> _Value:
        return _Value(self.number >= _number(other))

    def __add__(self, other: _Value | int) -> _Value:
        return _Value(self.number + _number(other))

    def __sub__(self, other: _Value | int) -> _Value:
        return _Value(max(0, self.number - _number(other)))

    def implies(self, other: _Value) -> _Value:
        return _Value(not self.number or other.number)

    def iff(self, other: _Value) -> _Value:
        return _Value(self.number == other.number)

    def has(self, item: _Value) -> _Value:
        return _Value(self.number >> item.number & 1)

    def plus(self, item: _Value) -> _Value:
        return _Value(self.number | 1 << item.number)

    def minus(self, item: _Value) -> _Value:
        return _Value(self.number & ~(1 << item.number))

    def holds(self, item: _Value) -> _Value:
        return _Value(self.number == item.number + 1)

    @property
    def absent(self) -> _Value:
        return _Value(self.number == 0)


def _number(value: object) -> int:
    return value.number if isinstance(value, _Value) else int(value)  # type: ignore[call-overload]


class _Table:
    """A table of a state: reads see the state before, writes go to the state after."""

    def __init__(self, state: _State, info: VariableInfo) -> None:
        self._state, self._info = state, info

    def __getitem__(self, key: Any) -> _Value:
        return self._state.read(self._info, _keys(key))

    def __setitem__(self, key: Any, value: _Value) -> None:
        self._state.write(self._info, _keys(key), value.number)

    def forget(self, key: Any) -> None:
        self._state.write(self._info, _keys(key), 0)


def _keys(key: Any) -> tuple[int, ...]:
    return tuple(part.number for part in (key if isinstance(key, tuple) else (key,)))


class _State:
    """One state, and what an action has made of it so far."""

    def __init__(self, variables: Mapping[str, VariableInfo], scope: Sized, before: Values) -> None:
        vars(self).update(variables=variables, scope=scope, before=before, after=dict(before), cut=False)

    def __getattr__(self, name: str) -> Any:
        info = self.variables[name]
        return _Table(self, info) if info.keys else self.read(info, ())

    def __setattr__(self, name: str, value: _Value) -> None:
        self.write(self.variables[name], (), value.number)

    def read(self, info: VariableInfo, keys: tuple[int, ...]) -> _Value:
        if info.rigid:
            return _Value(self.scope.rigid(info.name, keys))
        return _Value(self.before.get((info.name, *keys), 0))

    def write(self, info: VariableInfo, keys: tuple[int, ...], number: int) -> None:
        place: Cell = (info.name, *keys)
        beyond = info.value.kind == NAT and number >= self.scope.size(info.value)
        if place not in self.after or (beyond and not info.value.saturates):
            vars(self)["cut"] = True
        elif beyond:
            self.after[place] = self.scope.size(info.value) - 1
        else:
            self.after[place] = number


class Direct:
    """Runs the text of a random declaration; formulas and actions go by name."""

    def __init__(self, declared: Declaration, variables: Mapping[str, VariableInfo], scope: Sized) -> None:
        """Read the text with the names of the language bound to functions of numbers."""
        self._variables, self._scope = variables, scope
        self._bodies = _space(scope)
        exec(declared.code(), self._bodies)  # noqa: S102 - the text was written by random_declarations

    def formula(self, name: str, *states: Values) -> int:
        """Truth of a property in a state, or in the states before and after a step."""
        read = [_State(self._variables, self._scope, state) for state in states]
        return int(self._bodies[name](*read).number)

    def step(self, name: str, arguments: Iterable[int], state: Values) -> dict[Cell, int] | str | None:
        """The state after an action; "cut" when that is none of the scope, None when the action is not enabled."""
        working = _State(self._variables, self._scope, state)
        try:
            self._bodies[name](working, *map(_Value, arguments))
        except _Disabled:
            return None
        after: dict[Cell, int] = working.after
        return "cut" if working.cut else after


def _space(scope: Sized) -> dict[str, Any]:
    """What the names in a declaration mean on numbers."""
    def every(*sorts: Any) -> Iterator[Any]:
        for numbers in product(*(range(_span(sort, scope)) for sort in sorts)):
            values = tuple(map(_Value, numbers))
            yield values if len(values) > 1 else values[0]

    def setof(sort: Any, condition: Callable[[_Value], _Value]) -> _Value:
        return _Value(sum(condition(_Value(i)).number << i for i in range(_span(sort, scope))))

    def require(*conditions: _Value) -> None:
        if not all(condition.number for condition in conditions):
            raise _Disabled

    def decorator(*_: object) -> Callable[[Any], Any]:
        return lambda body: body

    return {
        "every": every, "setof": setof, "require": require, "search_only": require, "action": decorator,
        "always": decorator, "step": decorator, "State": object, "TRUE": _Value(1), "FALSE": _Value(0),
        "forall": lambda formulas: _Value(all(formula.number for formula in formulas)),
        "exists": lambda formulas: _Value(any(formula.number for formula in formulas)),
        "ite": lambda condition, then, otherwise: then if condition.number else otherwise,
        "empty": lambda _: _Value(0), "none": lambda _: _Value(0), "some": lambda item: _Value(item.number + 1),
        "Set": _Set, "Maybe": _Maybe, "Bool": _Sort(None), **{name: _Sort(sort.info) for name, sort in SORTS.items()},
    }


class _Sort:
    """A sort in a text: what it is, its literals and its elements."""

    def __init__(self, info: SortInfo | None) -> None:
        self.info = info
        for number, name in enumerate(info.members if info and info.kind == CHOICE else ()):
            setattr(self, name, _Value(number))

    of = staticmethod(_Value)


class _Set:
    def __class_getitem__(cls, element: _Sort) -> SortInfo:
        return SortInfo(SET, "", element.info)


class _Maybe:
    def __class_getitem__(cls, element: _Sort) -> SortInfo:
        return SortInfo(MAYBE, "", element.info)


def _span(sort: Any, scope: Sized) -> int:
    info = sort.info if isinstance(sort, _Sort) else sort
    if info is None:
        return 2
    if info.element is not None:
        return 1 << scope.size(info.element) if info.kind == SET else scope.size(info.element) + 1
    return scope.size(info)
