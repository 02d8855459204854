"""Whether a function that takes the place of another can be called at all: what stands above it may leave it out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dis import get_instructions
from functools import lru_cache, partial
from inspect import isfunction
from types import CodeType, FunctionType, ModuleType
from typing import Any


def has_hold_of(function: Callable[..., Any], wanted: Callable[..., Any]) -> bool:
    """Whether a function can call another one that it was given: as a free variable, a default or a part of those."""
    known: list[object] = []
    todo: list[object] = [function]
    while todo:
        one = todo.pop()
        if one is wanted:
            return True
        if not any(one is other for other in known):
            known.append(one)
            todo += _held(one)
    return False


def _held(one: object) -> list[object]:
    match one:
        case partial():
            return [one.func, *one.args, *one.keywords.values()]
        case FunctionType():
            cells = [cell.cell_contents for cell in one.__closure__ or ()]
            return [*cells, *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
        case tuple() | list():
            return list(one)
    return []


def hidden_by(owner: type, attribute: str, standing: Callable[[type], object]) -> type | None:
    """The class that keeps a method of another one from being called; None if nothing keeps it.

    A method is hidden if no loaded function of the same package makes objects of its class, and every class that
    inherits from it has, on the way there, a method of that name that does not call it.
    standing -- what a class is going to have under this name, None for nothing.
    """
    hiding = [_hiding(heir, owner, attribute, standing) for heir in heirs(owner) if not heir.__subclasses__()]
    if not hiding or None in hiding or _is_made(owner):
        return None
    return hiding[0]


def heirs(owner: type) -> Iterator[type]:
    """All classes that inherit from it, those of its package alone: tests and users have their own."""
    direct: list[type] = owner.__subclasses__()
    for heir in direct:
        if _package(heir.__module__) == _package(owner.__module__):
            yield heir
            yield from heirs(heir)


def _hiding(heir: type, owner: type, attribute: str, standing: Callable[[type], object]) -> type | None:
    """The first class between an heir and the owner that does not call on."""
    for one in heir.__mro__[: heir.__mro__.index(owner)]:
        method = standing(one)
        if method is not None and not (isfunction(method) and _calls_on(method.__code__, owner, attribute)):
            return one
    return None


def _calls_on(code: CodeType, owner: type, attribute: str) -> bool:
    """Whether a method names `super` or the owner, and the attribute."""
    names = {name for part in _parts(code) for name in (*part.co_names, *part.co_freevars)}
    return attribute in names and bool({"super", owner.__name__} & names)


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


@lru_cache(maxsize=64)
def _is_made(owner: type) -> bool:
    """Whether some function of a loaded module of its package calls the class by its name."""
    modules = [module for name, module in list(sys.modules.items()) if _package(name) == _package(owner.__module__)]
    return any(owner.__name__ in _called(part) for module in modules
               if isinstance(module, ModuleType) and vars(module).get(owner.__name__) is owner
               for function in _functions(module) for part in _parts(function.__code__))


def callers(owner: ModuleType, name: str) -> list[str]:
    """The plain functions of loaded modules of its package that call a module's object by this name, sorted.

    Those of variants are left out.
    """
    modules = [module for known, module in list(sys.modules.items())
               if _package(known) == _package(owner.__name__) and not known.startswith(__package__)]
    using = [module for module in modules
             if isinstance(module, ModuleType) and vars(module).get(name) is vars(owner)[name]]
    return sorted({f"{function.__module__}.{function.__qualname__}" for module in using
                   for function in _functions(module) for part in _parts(function.__code__) if name in _called(part)})


def _called(code: CodeType) -> set[str]:
    """The global names that a function calls; the lowest bit of the argument tells a call from a mere mention."""
    return {str(one.argval) for one in get_instructions(code) if one.opname == "LOAD_GLOBAL" and (one.arg or 0) & 1}


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in list(vars(module).values()):
        if isfunction(value) and value.__module__ == module.__name__:
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield from filter(isfunction, vars(value).values())


def _package(module: str) -> str:
    return module.partition(".")[0]
