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
    return next((frame.lineno or 1 for frame in reversed(frames) if Path(frame.filename) == path.resolve()), 1)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"


SKELETON = '''"""A lease: at most one client believes that it has it.

    rocketproof prove {file}       for any number of clients and any periods
    rocketproof explore {file}     all states of the scopes below
"""

from __future__ import annotations

from model.language import (FALSE, TRUE, Bool, Constant, Nat, Sort, State, Table, action, always, drop_guard, every,
                            exists, forall, initially, lemma, require, sometimes)
from model.language.scope import Scope


class Client(Sort):
    """Who wants the lease."""


class Ms(Nat, saturates=True):
    """Time since something, or a period."""


class Lease(State):
    """One lease, granted by a server for a period."""

    granted: Bool
    holder: Client
    age: Ms                        # since it was granted
    believes: Table[Client, Bool]
    since: Table[Client, Ms]       # since the client's belief began
    period: Constant[Ms]           # anything in a proof, given by a scope


@initially
def free(s: Lease) -> Bool:
    """Nobody has it."""
    return ~s.granted & forall(~s.believes[c] for c in every(Client))


@action("Server#grant")
def grant(s: Lease, c: Client) -> None:
    """The server grants the lease, if it is free or has run out."""
    require(~s.granted | (s.period < s.age))
    s.granted = TRUE
    s.holder = c
    s.age = Ms.of(0)
    s.believes[c] = TRUE
    s.since[c] = Ms.of(0)


@action("Client#forget")
def forget(s: Lease, c: Client) -> None:
    """A client drops its belief."""
    require(s.believes[c])
    s.believes[c] = FALSE


@action("time", environment=True)
def elapse(s: Lease, by: Ms) -> None:
    """Time passes."""
    require(by > 0)
    s.age = s.age + by
    for c in every(Client):
        s.since[c] = s.since[c] + by


def live(s: Lease, c: Client) -> Bool:
    """The client relies on the lease."""
    return s.believes[c] & (s.since[c] <= s.period)


@lemma
def beliefs_are_granted(s: Lease) -> Bool:
    """Behind a live belief stands the grant, at most as old."""
    return forall(live(s, c).implies(s.granted & (s.holder == c) & (s.age <= s.since[c])) for c in every(Client))


@always(shipped="holds", broken_by=(drop_guard("grant", 0),))
def one_live_client(s: Lease) -> Bool:
    """No two clients rely on the lease at once."""
    return forall((live(s, a) & live(s, b)).implies(a == b) for a, b in every(Client, Client))


@sometimes
def it_changes_hands(s: Lease) -> Bool:
    """Two clients believe, one of them too late."""
    return exists(~(a == b) & live(s, a) & s.believes[b] for a, b in every(Client, Client))


scopes = [Scope(Lease, {{Client: 2, Ms: 4}}, {{"period": 1}}, name="two clients")]
'''


def write(path: Path) -> None:
    """Write a concept that runs, to begin with; raises Misuse where a file stands already."""
    if path.suffix != ".py":
        raise Misuse(f"{path}: no Python file; call it {path.with_suffix('.py')}")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(SKELETON.format(file=path))
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}; give a file that can be written and is not there yet") from None
