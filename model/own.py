"""Concepts of a user's own: a Python file with a State, actions and properties and, for searches, `scopes`."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from model.language.misuse import Misuse
from model.language.scope import Scope
from model.language.state import Concept, State


@dataclass(frozen=True, slots=True)
class OwnFile:
    """What a file declares.

    module -- the file, imported. concepts -- of its State classes, in order. scopes -- those of its variable `scopes`,
    in order.
    """

    module: ModuleType
    concepts: tuple[Concept, ...]
    scopes: tuple[Scope, ...]


def load(path: Path) -> OwnFile:
    """Import a file of concepts; raises Misuse, one line with place and cure, for one that declares none."""
    module = _imported(path)
    owners = [value for value in vars(module).values()
              if isinstance(value, type) and issubclass(value, State) and value.__module__ == module.__name__]
    concepts = {id(owner.concept): owner.concept for owner in owners}
    if not concepts:
        raise Misuse(f"{path.name}:1: no concept is declared; write `class NAME(State):`")
    scopes = getattr(module, "scopes", ())
    if not isinstance(scopes, list | tuple) or not all(isinstance(scope, Scope) for scope in scopes):
        raise Misuse(f"{path.name}: scopes: no list of scopes; write scopes = [Scope(NAME, {{Sort: 2}})]")
    for scope in scopes:
        if id(scope.concept) not in concepts:
            raise Misuse(f"{path.name}: scopes: {scope.concept.name} is a concept of another file; leave it out")
    return OwnFile(module, tuple(concepts.values()), tuple(scopes))


def _imported(path: Path) -> ModuleType:
    if not path.is_file():
        raise Misuse(f"{path}: no such file; `rocketproof new concept {path}` writes one that runs")
    name = f"a file of concepts.{path.stem}"  # no module of this name can be meant by an import
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Misuse(f"{path}: no Python file; call it {path.stem}.py")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Misuse:
        raise
    except SyntaxError as error:
        raise Misuse(f"{path.name}:{error.lineno}: {error.msg}; correct the line") from None
    except Exception as error:  # noqa: BLE001 - whatever a file raises is said in one line
        raise Misuse(f"{path.name}:{_line(error, path)}: {_one_line(error)}; correct the line") from None
    return module


def _line(error: Exception, path: Path) -> int:
    """The last line of the file that was at work."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if Path(frame.filename) == path), 1)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"
