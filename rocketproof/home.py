"""Where the rooms of the project lie, and how they and a user's modules of the same names keep out of each other's way.

In the repository the rooms lie beside this package; where the wheel is installed they lie in its folder `rooms`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

ROOMS = ("model", "invariants", "impl", "stateful_tests", "proofs", "spark_fuzz")
"""The packages that the project imports by these names."""

_HERE = Path(__file__).resolve().parent
HOME = _HERE / "rooms" if (_HERE / "rooms").is_dir() else _HERE.parent
"""The folder that the rooms lie in."""

_kept: dict[str, ModuleType] = {}
"""What was imported of rooms that do not stay where everybody finds them."""


def enter() -> None:
    """Let the names of the rooms mean the rooms in this process, before everything else that is called so."""
    sys.path.insert(0, str(HOME))


@contextmanager
def at_home() -> Iterator[None]:
    """In the block, and in what it imports, the names of the rooms mean the rooms.

    Outside they mean what they meant before: a user's own package `model` stays what it is.
    """
    strangers = [room for room in ROOMS if not _known(room)]
    theirs = _taken(strangers)
    sys.modules.update(_kept)
    enter()
    try:
        yield
    finally:
        sys.path.remove(str(HOME))
        _kept.update(_taken(strangers))
        sys.modules.update(theirs)


def step_aside(folder: str, wanted: str) -> None:
    """Let imports find what a user's folder has; what this process has imported of the rooms stays where it can.

    A room goes if a module or a package of the user's has its name. A mere folder counts only for the module that is
    wanted: many projects have a folder `model` or `proofs` without any Python in it.
    """
    sys.path[:] = [folder, *(entry for entry in sys.path if entry not in {folder, str(HOME)})]
    _taken([room for room in ROOMS if _is_theirs(room, wanted)])


def _known(room: str) -> bool:
    """Whether everybody in this process finds the room by its name."""
    if room in sys.modules:
        return _lies_here(sys.modules[room].__file__)
    found = PathFinder.find_spec(room)
    return found is not None and _lies_here(found.origin)


def _is_theirs(room: str, wanted: str) -> bool:
    found = PathFinder.find_spec(room)
    if found is None or _lies_here(found.origin):
        return False
    return found.origin is not None or wanted.partition(".")[0] == room


def _lies_here(file: str | None) -> bool:
    return file is not None and Path(file).resolve().is_relative_to(HOME)


def _taken(rooms: list[str]) -> dict[str, ModuleType]:
    """What is imported of these names; it is taken out of the table of modules."""
    names = [name for name in sys.modules if name.partition(".")[0] in rooms]
    return {name: sys.modules.pop(name) for name in names}
