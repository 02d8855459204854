"""Concepts and scopes as TLA+ files: which of them, and what TLC is expected to refute there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from invariants.exploring import judged_in, own_scope, scopes
from invariants.verdict import BadInputError
from model.language import Concept, Misuse, Property
from model.language.own import load
from model.language.properties import SOMETIMES
from model.scopes import SCOPES, NamedScope
from model.tla.configuration import Configuration
from model.tla.module import Module
from model.tla.terms import NotExpressibleError


def export_named(names: Sequence[str], out: Path) -> Iterator[Path]:
    """Write the concepts and scopes of these names, all without names; gives the files.

    names -- of a State class, of the module of one, of a scope or its beginning. Raises BadInputError for a name that
    is none of them, and where the folder cannot be written.
    """
    concepts = {id(named.scope.concept): named.scope.concept for named in SCOPES}.values()
    for name in names:
        found = [one for one in concepts if name in (one.name, one.home)]
        yield from _written(found, [] if found else scopes([name]), out)
    if not names:
        yield from _written(concepts, SCOPES, out)


def export_file(path: Path, names: Sequence[str], out: Path) -> Iterator[Path]:
    """Write what a file of a user's own declares: its concepts, and its scopes of these names (all without names)."""
    try:
        own = load(path)
    except Misuse as error:
        raise BadInputError(str(error)) from error
    chosen = [own_scope(scope, path) for scope in own.scopes if not names or scope.name.startswith(tuple(names))]
    if names and not chosen:
        raise BadInputError(f"{path} has no scope {names[0]!r}; it has {', '.join(one.name for one in own.scopes)}")
    yield from _written([] if names else own.concepts, chosen, out)


def _written(concepts: Iterable[Concept], chosen: Iterable[NamedScope], out: Path) -> Iterator[Path]:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in _files(concepts, chosen):
            (out / name).write_text(text, encoding="utf-8")
            yield out / name
    except OSError as error:
        raise BadInputError(f"{out}: cannot be written ({error.strerror}); give a folder that can in --out") from error
    except NotExpressibleError as error:
        raise BadInputError(str(error)) from error


def _files(concepts: Iterable[Concept], chosen: Iterable[NamedScope]) -> Iterator[tuple[str, str]]:
    """Names and texts; the module of a scope's concept comes with it."""
    modules = {id(concept): Module(concept) for concept in concepts}
    for named in chosen:
        concept = named.scope.concept
        modules.setdefault(id(concept), Module(concept))
    for module in modules.values():
        yield f"{module.name}.tla", module.text()
    for named in chosen:
        configuration = Configuration(named.scope, modules[id(named.scope.concept)])
        wanted = judged_in(named)
        yield f"{configuration.name}.tla", configuration.text()
        yield f"{configuration.name}.cfg", configuration.configuration(wanted, refuted(named, wanted))


def refuted(named: NamedScope, properties: Sequence[Property]) -> Mapping[str, str]:
    """What TLC refutes in a scope, and why: what a hazard breaks, and that a reachable state is never reached."""
    reached = {one.name: "reached" for one in properties if one.kind == SOMETIMES and one.name not in named.unreached}
    return reached | {name: ", ".join(hazards) or "violated" for name, hazards in named.violated.items()}
