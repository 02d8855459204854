"""Where something stands: in a class or a module, in every module that has imported it by its name, and in tables."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache
from inspect import getsource, isfunction
from types import ModuleType
from typing import Any

from impl.variants.fitting import ABSENT


def put(owner: type | ModuleType, attribute: str, before: Any, after: Any) -> None:
    """Change one place.

    Of a module's function or constant, every module is changed that has imported it by its name, and of a function
    every table at the top of a module that holds it. before -- what stands there. after -- what is to stand there;
    ABSENT for nothing.
    """
    for table, key in list(_tabled(owner, before)) if after is not ABSENT else ():
        table[key] = after
    for holder, name in [(owner, attribute), *_imported(owner, attribute, before)]:
        if after is ABSENT:
            delattr(holder, name)
        else:
            setattr(holder, name, after)


def _imported(owner: type | ModuleType, attribute: str, standing: Any) -> Iterator[tuple[ModuleType, str]]:
    """The modules that have something from a module, and under which name.

    A function is known by what it is; an equal number may be another constant, so that the source is read.
    """
    if not isinstance(owner, ModuleType) or standing is ABSENT:
        return
    having = _having(attribute, len(sys.modules))
    if isfunction(standing):
        yield from ((module, attribute) for module in having if vars(module).get(attribute) is standing)
        return
    package = owner.__name__.partition(".")[0]
    for module in _modules():
        if module is not owner and module.__name__.partition(".")[0] == package:
            yield from ((module, name) for name in _names(module.__name__, owner.__name__, attribute)
                        if vars(module).get(name, ABSENT) is standing)


def _modules() -> Iterator[ModuleType]:
    """All that are loaded."""
    return (module for module in list(sys.modules.values()) if isinstance(module, ModuleType))


@lru_cache(maxsize=4096)
def _having(attribute: str, loaded: int) -> list[ModuleType]:
    """The modules that have a name; loaded -- how many modules there are."""
    del loaded
    return [module for module in _modules() if attribute in vars(module)]


def _tabled(owner: type | ModuleType, standing: Any) -> Iterator[tuple[dict[Any, Any], Any]]:
    """The tables that hold a module's function, each with its key."""
    if isinstance(owner, ModuleType) and isfunction(standing):
        for table in _tables(owner.__name__.partition(".")[0], len(sys.modules)):
            yield from ((table, key) for key, one in table.items() if one is standing)


@lru_cache(maxsize=4)
def _tables(package: str, loaded: int) -> list[dict[Any, Any]]:
    """All tables at the tops of modules that hold functions of a package; loaded -- how many modules there are."""
    del loaded
    tables = [value for module in _modules() for name, value in list(vars(module).items())
              if type(value) is dict and not name.startswith("__")]
    return [table for table in tables if any(
        isfunction(one) and one.__module__.partition(".")[0] == package for one in table.values())]


@lru_cache(maxsize=4096)
def _names(module: str, owner: str, attribute: str) -> tuple[str, ...]:
    """The names under which a module has imported something from another one at its top."""
    try:
        source = getsource(sys.modules[module])
    except (OSError, TypeError):  # an empty package, or one without source
        return ()
    if attribute not in source:
        return ()
    return tuple(alias.asname or alias.name for statement in ast.parse(source).body
                 if isinstance(statement, ast.ImportFrom) and statement.module == owner
                 for alias in statement.names if alias.name == attribute)
