"""The judge `explore`: every property in every named scope, all reachable states, shortest traces as evidence.

One row per scope and property that can be judged there: a property that needs premises is judged where the scope keeps
them, a property that is violated as shipped is expected to fail in the scopes that show one of its hazards. Three rows
speak of the scope itself: `state_space_is_pinned` (the counts are those of model.scopes), `well_defined`, and
`never_stuck` (in every state something can happen).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.concepts import PROPERTIES
from invariants.verdict import BadInputError, Outcome, Subject, Verdict, nearest
from model.explorer.exploration import Exploration, Progress
from model.explorer.graph import graph
from model.explorer.search import explore
from model.explorer.storage import DiskError
from model.language import Misuse, Mutation, Property, walk
from model.language.actions import Action
from model.language.defined import defined, obligations
from model.language.nodes import SortInfo, Variable, quantified
from model.language.own import load
from model.language.properties import LEADS_TO, LEMMA, NEVER_STUCK, PINNED, SOMETIMES, STEP, WELL_DEFINED
from model.language.scope import Scope
from model.scopes import SCOPES, NamedScope

MEMORY_BYTES = 4 << 30
DRAWN = 60  # states of a graph that people can still read


@dataclass(frozen=True, slots=True)
class Room:
    """What a search may use: bytes of memory, threads, and a directory where each scope has one of its own."""

    memory_bytes: int = MEMORY_BYTES
    cores: int = 1
    disk: Path | None = None


def scopes(names: Sequence[str] = (), *, heavy: bool = False) -> list[NamedScope]:
    """Scopes by name or by the beginning of it; all that are not heavy without names.

    Raises BadInputError with the nearest names for one that names none.
    """
    if not names:
        return [named for named in SCOPES if heavy or not named.heavy]
    known = [named.name for named in SCOPES]
    for name in names:
        if not any(other.startswith(name) for other in known):
            hint = nearest(name, known).strip() or f"names begin with {', '.join(_beginnings())}"
            raise BadInputError(f"no scope is called {name!r}; {hint}")
    return [named for named in SCOPES if any(
        named.name == name or (name not in known and named.name.startswith(name)) for name in names)]


def _beginnings() -> list[str]:
    """What names of scopes begin with: all up to sizes, and up to what is special in a scope."""
    return list(dict.fromkeys(re.split(r",| [0-9]", named.name)[0] for named in SCOPES))


def judged_in(named: NamedScope, wanted: Sequence[str] = ()) -> list[Property]:
    """Properties that can be judged in a scope: all of its concept, lemmas only where their premises are kept."""
    return [p for p in named.scope.concept.properties.values()
            if (not wanted or p.name in wanted) and (p.kind != LEMMA or keeps(named.scope, p))]


def keeps(scope: Scope, declared: Property) -> bool:
    """Whether the scope keeps all premises of a property."""
    return all(
        set(premise.never) <= set(scope.forbid) and premise.name not in scope.breaks
        and walk.value(defined(premise.condition), scope, {}, {}) and walk.value(premise.condition, scope, {}, {})
        for premise in declared.given)


def explore_scopes(
    names: Sequence[str] = (), properties: Sequence[str] = (), *, room: Room | None = None,
    progress: Callable[[str, Progress], None] | None = None, out: Path | None = None, heavy: bool = False,
) -> Iterator[Verdict]:
    """Search the scopes of these names and judge the properties of these names (all, if none is given).

    room -- what a search may use. progress -- called with the scope's name after each level. out -- directory for
    evidence files.
    """
    yield from _searched(scopes(names, heavy=heavy), properties, room or Room(), progress, out)


def explore_own(
    scopes: Sequence[Scope], properties: Sequence[str] = (), *, file: Path, room: Room | None = None,
    progress: Callable[[str, Progress], None] | None = None, out: Path | None = None,
) -> Iterator[Verdict]:
    """Search scopes of a user's own, of this file; other arguments as for explore_scopes."""
    yield from _searched([own_scope(scope, file) for scope in scopes], properties, room or Room(), progress, out)


def _searched(
    chosen: Sequence[NamedScope], properties: Sequence[str], room: Room,
    progress: Callable[[str, Progress], None] | None, out: Path | None,
) -> Iterator[Verdict]:
    for named in chosen:
        wanted = judged_in(named, properties)
        if properties and not wanted:
            continue
        report = None if progress is None else lambda level, named=named: progress(named.name, level)
        found = _explored(named, wanted, room, report)
        yield from _rows(named, found, _cost(found), out, whole=not properties)
        if found.unknown == "interrupted":
            raise KeyboardInterrupt


def _explored(
    named: NamedScope, wanted: Sequence[Property], room: Room, progress: Callable[[Progress], None] | None,
) -> Exploration:
    disk = room.disk and room.disk / _plain(named.name)
    return _search(named.scope, wanted, memory_bytes=room.memory_bytes, cores=room.cores, disk=disk, progress=progress)


def _search(scope: Scope, properties: Sequence[Property], **options: Any) -> Exploration:
    """As `explore`; what cannot be searched is bad input."""
    try:
        return explore(scope, properties, **options)
    except (DiskError, ValueError) as error:
        raise BadInputError(str(error)) from error


def own_scope(scope: Scope, file: Path) -> NamedScope:
    """A scope of a user's own: what is declared as violated fails there, unless its premises are kept."""
    failing = {p.name: p.expected.hazards for p in scope.concept.properties.values()
               if p.expected.outcome == "violated" and not (p.given and keeps(scope, p))}
    return NamedScope(scope, 0, 0, 0, failing, file=str(file))


def _cost(found: Exploration) -> dict[str, float]:
    return {"states": found.states, "transitions": found.transitions, "depth": found.depth,
            "cut": sum(found.cut.values()), "cpu_seconds": round(found.cpu_seconds, 3)}


def _rows(named: NamedScope, found: Exploration, cost: Mapping[str, float], out: Path | None, *, whole: bool,
          ) -> Iterator[Verdict]:
    if whole:
        if named.states:
            yield _pinned(named, found, cost, out)
        yield _well_defined(named, found, cost, out)
        yield _never_stuck(named, found, cost, out)
    for declared in found.properties:
        hazards = named.violated.get(declared.name, ())
        expected = Outcome.VIOLATED if hazards or declared.name in named.unreached else Outcome.HOLDS
        outcome = Outcome(found.outcome(declared.name))
        note = found.why(declared.name)
        if outcome is Outcome.HOLDS and found.takes_undefined_steps:
            outcome, note = Outcome.UNKNOWN, "runs take steps that are not well defined"
        if outcome is Outcome.HOLDS and not found.reached.get(declared.name):
            note = note or _within(found)
        row = _verdict(declared.name, named, expected, outcome, cost, hazards, note)
        yield _with_trace(row, found.violations.get(declared.name), declared.sentence, out)


def _within(found: Exploration) -> str:
    """What a row must say of a property that holds, because more may happen than the search has seen; or ""."""
    if any(found.cut.values()) or not found.beyond:
        return ""
    return f"within the scope: {', '.join(found.beyond)} may happen with a number beyond it"


def _verdict(  # noqa: PLR0913, PLR0917 - the columns of a row
    name: str, named: NamedScope, expected: Outcome, outcome: Outcome, cost: Mapping[str, float],
    hazards: tuple[str, ...] = (), note: str = "", mutation: Mutation | None = None,
) -> Verdict:
    declared = named.scope.concept.properties.get(name)
    details: dict[str, Any] = {"concept": named.scope.concept.name, "kind": declared.kind if declared else "scope"}
    if mutation is not None:
        details["mutation"] = str(mutation)
    if named.file:
        details["file"] = named.file
    words = [named.file, named.name] if named.file else [named.name]
    words = [*map(repr, words)] if mutation is None else [*([repr(named.file)] if named.file else []), "--twins"]
    replay = f"rocketproof explore {' '.join(words)} --property {name}"
    if outcome is Outcome.HOLDS and cost.get("cut"):
        note = note or "within the scope: steps that leave it were cut"
    actions, forbidden = named.scope.concept.actions.values(), named.scope.forbid
    pruned = [action.name for action in actions if action.search_only and action.name not in forbidden]
    if outcome is Outcome.HOLDS and pruned:
        note = note or f"as far as it was searched: {', '.join(pruned)} was pruned (search_only)"
    return Verdict(name, "explore", Subject("model", named.name, details), expected, outcome,
                   replay, hazards, cost, note=note)


def _pinned(named: NamedScope, found: Exploration, cost: Mapping[str, float], out: Path | None) -> Verdict:
    counts = (found.states, found.transitions, found.depth)
    pinned = (named.states, named.transitions, named.depth)
    outcome = Outcome.UNKNOWN if found.unknown else Outcome.HOLDS if counts == pinned else Outcome.VIOLATED
    note = found.unknown or ("" if counts == pinned else f"states, transitions, depth are {counts}, pinned {pinned}")
    row = _verdict(PINNED, named, Outcome.HOLDS, outcome, cost, note=note)
    if out is None or found.unknown or found.states > DRAWN:
        return row
    drawing = evidence.document(row, "graph", f"All states of {named.name}.", **graph(found, DRAWN))
    return evidence.saved(row, drawing, out, _slug(row))


def _well_defined(named: NamedScope, found: Exploration, cost: Mapping[str, float], out: Path | None) -> Verdict:
    row = _verdict(WELL_DEFINED, named, Outcome.HOLDS, Outcome(found.outcome(WELL_DEFINED)), cost,
                   note=found.why(WELL_DEFINED))
    return _with_trace(row, found.violations.get(WELL_DEFINED),
                       "A subtraction goes below 0, or an index leaves its table.", out)


def _never_stuck(named: NamedScope, found: Exploration, cost: Mapping[str, float], out: Path | None) -> Verdict:
    expected = Outcome.VIOLATED if named.stuck else Outcome.HOLDS
    note = found.why(NEVER_STUCK)
    outcome = Outcome.UNKNOWN if note else Outcome.HOLDS
    if found.deadlock is not None and not found.blurred:
        outcome, note = Outcome.VIOLATED, note or f"states in which nothing can happen: {found.deadlocks}"
    row = _verdict(NEVER_STUCK, named, expected, outcome, cost, note=note)
    return _with_trace(row, found.deadlock, "In every state something can happen.", out)


def _with_trace(row: Verdict, trace: Mapping[str, Any] | None, sentence: str, out: Path | None) -> Verdict:
    if trace is None or out is None or row.outcome is not Outcome.VIOLATED:
        return row
    return evidence.saved(row, evidence.document(row, "trace", f"Violated: {sentence}", **trace), out, _slug(row))


def _slug(row: Verdict) -> str:
    named = f"{row.judge} {row.subject.name} {row.property} {row.subject.details.get('mutation', '')}"
    return _plain(named)


def _plain(name: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in name).split())


def explore_twins(properties: Sequence[str] = (), *, out: Path | None = None) -> Iterator[Verdict]:
    """Apply each mutation that a property names, in the smallest scope that notices it: the judge is not blind.

    The row is expected to be violated; it holds if no scope that keeps the property's premises notices.
    """
    by_size = sorted(scopes(), key=lambda named: named.states)
    wanted = [p for p in PROPERTIES.values() if not properties or p.name in properties]
    yield from _twins(wanted, by_size, "model/scopes.py", out)


def explore_own_twins(
    scopes: Sequence[Scope], properties: Sequence[str] = (), *, file: Path, out: Path | None = None,
) -> Iterator[Verdict]:
    """Do the same with scopes of a user's own, of this file; raises BadInputError when no mutation is named there."""
    named = [own_scope(scope, file) for scope in scopes]
    concepts = {id(scope.concept): scope.concept for scope in scopes}
    wanted = [p for concept in concepts.values() for p in concept.properties.values()
              if p.broken_by and (not properties or p.name in properties)]
    if not wanted:
        raise BadInputError(f'{file}: no mutation is named; write broken_by=(drop_guard("action", 0),)')
    yield from _twins(wanted, named, str(file), out)


def _twins(
    wanted: Sequence[Property], by_size: Sequence[NamedScope], home: str, out: Path | None,
) -> Iterator[Verdict]:
    for declared in wanted:
        able = [named for named in by_size if named.scope.concept is declared.concept
                and keeps(named.scope, declared) and declared.name not in named.violated]
        if declared.broken_by and not able:
            raise BadInputError(f"{declared.name}: no scope keeps its premises; add one to {home}")
        for mutation in declared.broken_by:
            yield _twin(declared, mutation, able, out)


def _twin(declared: Property, mutation: Mutation, able: Sequence[NamedScope], out: Path | None) -> Verdict:
    for named in able:
        found = _search(named.scope, [declared], mutation=mutation, until_decided=True)
        outcome = Outcome(found.outcome(declared.name))
        if outcome is Outcome.VIOLATED or named is able[-1]:
            break
    cost = {"states": found.states, "transitions": found.transitions,
            "cpu_seconds": round(found.cpu_seconds, 3)}
    row = _verdict(declared.name, named, Outcome.VIOLATED, outcome, cost, (), f"planted: {mutation}", mutation)
    return _with_trace(row, found.violations.get(declared.name), f"{declared.sentence} (planted: {mutation})", out)


def replay_trace(stored: Mapping[str, Any]) -> Verdict:
    """Run a stored trace again, step by step, with the reference reading; the row says what the last state shows.

    Raises BadInputError when the evidence names a scope, an action, an element or a state that does not exist.
    """
    named = _stored(stored["subject"])
    mutation = _mutation(named, stored)
    name = stored["property"]
    if name not in named.scope.concept.properties and name not in (WELL_DEFINED, NEVER_STUCK):
        raise BadInputError(f"{named.scope.concept.name} has no property {name!r}; explore the scope again")
    run = _Replay(named.scope, mutation)
    run.start(stored["initial"])
    for step in stored["steps"]:
        run.step(step["action"], step["arguments"])
    outcome = Outcome.VIOLATED if run.breaks(name, stored) else Outcome.HOLDS
    cost = {"steps": len(stored["steps"])}
    return _verdict(name, named, Outcome.VIOLATED, outcome, cost, named.violated.get(name, ()), mutation=mutation)


def _stored(subject: Mapping[str, Any]) -> NamedScope:
    """The scope that evidence is about: a known one, or one of a user's file."""
    name, file = subject["name"], subject.get("details", {}).get("file")
    if file is None:
        return scopes([name])[0]
    try:
        own = [scope for scope in load(Path(file)).scopes if scope.name == name]
    except Misuse as error:
        raise BadInputError(str(error)) from error
    if not own:
        raise BadInputError(f"{file} has no scope {name!r} any more; explore it again")
    return own_scope(own[0], Path(file))


def _mutation(named: NamedScope, stored: Mapping[str, Any]) -> Mutation | None:
    wanted = stored["subject"].get("details", {}).get("mutation")
    known = {str(m): m for p in named.scope.concept.properties.values() for m in p.broken_by}
    if wanted is not None and wanted not in known:
        raise BadInputError(f"no property names the mutation {wanted!r} any more; run `rocketproof verify` again")
    return known.get(wanted)


class _Replay:
    """A trace in the reference reading: values by cell, names resolved as the scope shows them."""

    def __init__(self, scope: Scope, mutation: Mutation | None) -> None:
        self.scope, self.mutation = scope, mutation
        self.seen: list[dict[walk.Cell, int]] = []

    def start(self, shown: Mapping[str, str]) -> None:
        """Take the initial state; cells that are not shown have their first value."""
        state = {}
        for cell, sort in walk.cells(self.scope.concept, self.scope):
            info = self.scope.concept.variables[str(cell[0])]
            keys = ", ".join(self.scope.text(k, int(n)) for k, n in zip(info.keys, cell[1:], strict=True))
            text = shown.get(f"{cell[0]}[{keys}]" if keys else str(cell[0]))
            state[cell] = 0 if text is None else self._number(sort, text, str(cell[0]))
        if not walk.value(self.scope.concept.initial, self.scope, state, {}):
            raise BadInputError("the trace does not begin in an initial state; explore the scope again")
        self.seen = [state]

    def step(self, name: str, arguments: Mapping[str, str]) -> None:
        """Take one step; it must be enabled."""
        action = self.scope.concept.actions.get(name)
        if action is None or name in self.scope.forbid:
            raise BadInputError(f"the scope {self.scope.name} has no action {name!r}; explore it again")
        action = (action if self.mutation is None else self.mutation.applied(action)).breaking(self.scope.breaks)
        numbers = tuple(self._numbers(action, arguments).values())
        taken = walk.apply(action, numbers, self.scope, self.seen[-1])
        if taken is None:
            raise BadInputError(f"{name}({', '.join(arguments.values())}) is not enabled; explore the scope again")
        self.seen.append(dict(taken.values))

    def breaks(self, name: str, stored: Mapping[str, Any]) -> bool:
        """Whether the last state, the last step, or the part that repeats, breaks the property."""
        if name == WELL_DEFINED:
            return self._ill_defined(stored)
        if name == NEVER_STUCK:
            return not any(self._can_happen(action) for action in self.scope.concept.actions.values())
        declared = self.scope.concept.properties[name]
        if declared.kind == LEADS_TO:
            loop = stored.get("loop", len(self.seen) - 1)
            elements = self._values(declared.parameters, stored.get("elements", {}), name)
            return self.seen[-1] == self.seen[loop] and not any(
                walk.value(declared.condition, self.scope, state, elements) for state in self.seen[loop:])
        if declared.kind == STEP:
            return not walk.value(declared.condition, self.scope, self.seen[-2], {}, self.seen[-1])
        holds = bool(walk.value(declared.condition, self.scope, self.seen[-1], {}))
        return holds if declared.kind == SOMETIMES else not holds

    def _can_happen(self, action: Action) -> bool:
        choices = product(*(range(walk.span(v.sort, self.scope)) for v in action.parameters))
        return action.name not in self.scope.forbid and any(
            walk.apply(action.breaking(self.scope.breaks), numbers, self.scope, self.seen[-1]) is not None
            for numbers in choices)

    def _ill_defined(self, stored: Mapping[str, Any]) -> bool:
        broken = stored.get("broken_by", {})
        if broken.get("property") in self.scope.concept.properties:
            declared = self.scope.concept.properties[broken["property"]]
            nodes = (quantified("forall", declared.parameters, defined(node))
                     for node in (declared.when, declared.condition))
            before = self.seen[-2] if declared.kind == STEP else self.seen[-1]
            return not all(walk.value(node, self.scope, before, {}, self.seen[-1]) for node in nodes)
        action = self.scope.concept.actions.get(broken.get("action", ""))
        if action is None:
            raise BadInputError("the evidence does not say which action is ill defined; explore the scope again")
        env = self._numbers(action, broken.get("arguments", {}))
        return not walk.value(obligations(action), self.scope, self.seen[-1], env)

    def _numbers(self, action: Action, arguments: Mapping[str, str]) -> dict[Variable, int]:
        return self._values(action.parameters, arguments, action.name)

    def _values(self, variables: Sequence[Variable], spoken: Mapping[str, str], where: str) -> dict[Variable, int]:
        return {v: self._number(v.sort, spoken.get(v.name, ""), where) for v in variables}

    def _number(self, sort: SortInfo, text: str, where: str) -> int:
        values = {self.scope.text(sort, n): n for n in range(walk.span(sort, self.scope))}
        if text not in values:
            raise BadInputError(f"{where}: {text!r} is none of {', '.join(values)}; explore the scope again")
        return values[text]
