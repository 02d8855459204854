"""A change as a commit writes it: methods, constants and fields of a class in the body of a class; knows no RocketMQ.

The body of the class below `patch` is what the commit writes into the class that it changes. What is there already
takes the place of what has its name; `new` says of anything else that it is added on purpose.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, FunctionType, ModuleType
from typing import Any, Final

from impl.variants.variant import Replacement, VariantError, place_name

_OF_EVERY_CLASS: Final = frozenset({
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__",
    "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__conditional_annotations__",
})


@dataclass(frozen=True)
class New:
    """Something that the class does not have yet."""

    value: Any


def new(value: Any) -> Any:
    """Say that a method, a property or a constant is added to the class, or stands over an inherited one."""
    return New(value)


class Field:
    """A field that each object of a class has besides its own; objects with slots have it too.

    What an object has is kept here until `forget`. A copy of an object begins with the first value again.
    """

    def __init__(self, first: Callable[[], Any]) -> None:
        """No object has a value yet; first -- makes the value that an object has before anything is assigned."""
        self._first = first
        self._values: dict[int, tuple[object, Any]] = {}  # with the object, so that its id stays its own

    def __get__(self, owner: object, _: type | None = None) -> Any:
        """The value that an object has; of the class the field itself."""
        if owner is None:
            return self
        if id(owner) not in self._values:
            self._values[id(owner)] = owner, self._first()
        return self._values[id(owner)][1]

    def __set__(self, owner: object, value: Any) -> None:
        """Assign a value."""
        self._values[id(owner)] = owner, value

    def forget(self) -> None:
        """Let go of all objects."""
        self._values.clear()


def field(first: Any = None, *, factory: Callable[[], Any] | None = None) -> Any:
    """Add a field to the objects of the class.

    first -- what it is before anything is assigned. factory -- makes that, one for each object: for lists and tables.
    """
    return New(Field(factory if factory is not None else lambda: first))


def constant(owner: type | ModuleType, attribute: str, value: Any) -> Replacement:
    """Give a constant of a class or a module another value, also where it was imported by its name.

    What other constants were computed from it when they were imported stays as it is: name those as well.
    """
    return Replacement(owner, attribute, value, where=_line_of(sys._getframe(1)))  # noqa: SLF001 - the only way


def patch(owner: type) -> Callable[[type], tuple[Replacement, ...]]:
    """Declare the class below: what stands in it is what a commit writes into the owner.

    `super()` and `self` in it are those of the owner. The name that the class is given stands for its replacements:
    give them to the variant with `replacements=NAME`, several as `replacements=(*NAME, *OTHER)`.
    """
    where = _line_of(sys._getframe(1))  # noqa: SLF001 - the only way

    def declared(body: type) -> tuple[Replacement, ...]:
        if body.__bases__ != (object,):
            raise VariantError(f"{where}: the class below `patch` has no base class: what the owner inherits it has")
        return tuple(_declared(owner, body, where))

    return declared


def _declared(owner: type, body: type, where: str) -> Iterator[Replacement]:
    for name in body.__annotations__:
        if name not in vars(body):
            raise VariantError(f"{where}: {name} has no first value: say {name} = field(VALUE)")
    for name, given in vars(body).items():
        if name in _OF_EVERY_CLASS or (name == "__hash__" and given is None):
            continue
        value = given.value if isinstance(given, New) else given
        functions = list(_functions(value))
        for function in functions:
            _belongs(function, owner)
        line = _line(functions[0]) if functions else where
        yield Replacement(owner, name, value, added=isinstance(given, New), where=line)


def _functions(value: object) -> Iterator[FunctionType]:
    """The functions of a method, a property, or a static or class method."""
    match value:
        case FunctionType():
            yield value
        case staticmethod() | classmethod():
            yield from _functions(value.__func__)
        case property():
            for part in (value.fget, value.fset, value.fdel):
                yield from _functions(part)


def _belongs(function: FunctionType, owner: type) -> None:
    """Make `super()` in a function that of another class."""
    cells: dict[str, CellType] = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if "__class__" in cells:
        cells["__class__"].cell_contents = owner
    function.__qualname__ = place_name(owner, function.__name__)


def _line(function: FunctionType) -> str:
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def _line_of(frame: Any) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
