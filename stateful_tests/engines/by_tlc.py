"""Random concepts in TLC, many in one run: a module that is each of them, one after the other.

A run of TLC takes longer to begin than to search a random concept. The module has a variable that says which scope it
is, and instances of the exported modules over the same variables. TLC prints the name of a property where it is first
false, and goes on. What it counts is compared with the sum; if that differs, halves are run until the scope is found.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from model.explorer import Exploration
from model.language.properties import ALWAYS, LEADS_TO, LEMMA, STEP
from model.tla.configuration import Configuration
from model.tla.module import Module, definition, text_of
from model.tla.names import PROPERTY, VARIABLE
from model.tla.terms import NotExpressibleError
from stateful_tests.conformance.tlc.compare import compared_scope
from stateful_tests.conformance.tlc.run import Answer, run

STATES = 5000  # a larger scope is left out: it would hold up all others
LASTING = 10  # of so many concepts with leads_to properties TLC judges these of one: each takes runs of its own
TIMEOUT_S = 300.0
_TELL = r"""Tell(register, name, holds) ==
    holds \/ TLCGet(register) \/ (TLCSet(register, TRUE) /\ PrintT(<<"refuted", name>>))"""


@dataclass(frozen=True)
class Searched:
    """A scope that the explorer has searched.

    name -- its own among all that are put to TLC. claimed -- the properties that `prove` calls true.
    """

    name: str
    found: Exploration
    claimed: frozenset[str] = frozenset()

    @cached_property
    def configuration(self) -> Configuration:
        """As TLA+, in a module that is called as this is; raises NotExpressibleError."""
        module = Module(self.found.scope.concept)
        module.name = f"Random{self.name.partition('.')[0]}"
        return Configuration(self.found.scope, module)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Initial states, states, transitions."""
        return len(next(iter(self.found.levels))[0]), self.found.states, self.found.transitions


def contradictions(searched: Sequence[Searched], tally: Counter[str]) -> Iterator[str]:
    """Where TLC counts or judges otherwise than the explorer, a line each; counts what it did into the tally."""
    able = [one for one in searched if _able(one, tally)]
    if able:
        yield from _compared(able, tally)
    lasting = [one for one in able if any(p.kind == LEADS_TO for p in one.found.properties)]
    for one in [*{one.configuration.module.name: one for one in lasting}.values()][::LASTING]:
        yield from _lasting(one, tally)


def _able(one: Searched, tally: Counter[str]) -> bool:
    if one.found.unknown or one.found.states > STATES:
        tally["tlc: too large"] += 1
        return False
    try:
        return bool(one.configuration)
    except NotExpressibleError:
        tally["tlc: not expressible"] += 1
        return False


def _compared(searched: Sequence[Searched], tally: Counter[str]) -> Iterator[str]:
    answer = _answer(searched)
    total = tuple(map(sum, zip(*(one.counts for one in searched), strict=True)))
    if answer.complete and total == (answer.initial, answer.states, answer.transitions):
        refuted = set(re.findall(r'<<"refuted", "([^"]*)">>', answer.output))
        tally["tlc: counted"] += len(searched)
        for one in searched:
            yield from _judged(one, refuted, tally)
    elif len(searched) > 1:
        middle = len(searched) // 2
        yield from _compared(searched[:middle], tally)
        yield from _compared(searched[middle:], tally)
    elif answer.complete:
        counted = (answer.initial, answer.states, answer.transitions)
        yield f"{searched[0].name}: TLC counts {counted} initial states, states, transitions; explore {total}"
    else:
        yield f"{searched[0].name}: {answer.problem or f'TLC refutes {answer.refuted}'}"


def _judged(one: Searched, refuted: set[str], tally: Counter[str]) -> Iterator[str]:
    if f"{one.name} TypeOK" in refuted:
        yield f"{one.name}: a variable leaves its type in TLC"
    for declared in (p for p in one.found.properties if p.kind != LEADS_TO):
        outcome = one.found.outcome(declared.name)
        theirs = "violated" if f"{one.name} {declared.name}" in refuted else "holds"
        if outcome != "unknown":
            tally[f"tlc: {theirs}"] += 1
            if outcome != theirs:
                yield f"{one.name}: explore says {declared.name} {outcome}, TLC {theirs}"
            if theirs == "violated" and declared.name in one.claimed:
                yield f"{one.name}: prove says {declared.name} true, TLC refutes it"


def _lasting(one: Searched, tally: Counter[str]) -> Iterator[str]:
    """What TLC says of leads_to properties, under the same fairness.

    TLA+ has no names of steps: that an action ceases forbids steps of others that do the same. TLC may so miss a run.
    """
    declared = {p.name: p for p in one.found.properties if p.kind == LEADS_TO}
    comparison = compared_scope(one.found.scope, [*declared.values()])
    for judged in comparison.judged:
        ceasing = judged.name in declared and declared[judged.name].until_quiet
        missed = not judged.agrees and judged.checked == "holds" and bool(ceasing)
        if judged.name in declared:
            tally[f"tlc: leads_to {'run without names' if missed else judged.checked}"] += 1
        if judged.known and not judged.agrees and not missed:
            yield f"{one.name}: explore says {judged.name} {judged.explored}, TLC {judged.checked}"
    if comparison.unknown and not one.found.why(""):
        yield f"{one.name}: {comparison.unknown}"


def _answer(searched: Sequence[Searched]) -> Answer:
    with tempfile.TemporaryDirectory(prefix="tla-") as name:
        folder = Path(name)
        for one in searched:
            module = one.configuration.module
            (folder / f"{module.name}.tla").write_text(module.text(), encoding="utf-8")
            (folder / f"Seen{module.name}.tla").write_text(_seen(module), encoding="utf-8")
        batch = _Batch(searched)
        (folder / "Batch.tla").write_text(batch.text(), encoding="utf-8")
        return run(folder, "Batch", batch.configuration(), timeout_s=TIMEOUT_S, quick=True)


def _seen(module: Module) -> str:
    """The module with a predicate of a step for each step property: TLA+ does not see a step that changes nothing."""
    lines = [f"---- MODULE Seen{module.name} ----", f"EXTENDS {module.name}"]
    for declared in module.concept.properties.values():
        if declared.kind == STEP:
            lines += definition(_step(declared.name), module.terms.block(declared.condition))
    return text_of([*lines, "===="])


def _step(name: str) -> str:
    return f"step_of_{name}"


class _Batch:
    """One module for many scopes."""

    def __init__(self, searched: Sequence[Searched]) -> None:
        self.searched = searched
        self.most = max(len(one.configuration.module.state) for one in searched)
        self.registers = 0

    def configuration(self) -> str:
        """The configuration for TLC."""
        values = "\n".join(f"    {name} = {name}" for name in ("None", *self._elements()))
        return f"INIT Init\nNEXT Next\nINVARIANT Seen\nACTION_CONSTRAINT SeenSteps\nCONSTANTS\n{values}\n"

    def _elements(self) -> list[str]:
        return sorted({name for one in self.searched for name in one.configuration.elements})

    def text(self) -> str:
        """The module."""
        parts = [part for number, one in enumerate(self.searched, 1) for part in self._instance(number, one)]
        states = [self._seen(number, one, (ALWAYS, LEMMA)) for number, one in enumerate(self.searched, 1)]
        steps = [self._seen(number, one, (STEP,)) for number, one in enumerate(self.searched, 1)]
        own = ", ".join(f"x{place}" for place in range(1, self.most + 1))
        return text_of([
            "---- MODULE Batch ----", "EXTENDS Naturals, TLC", f"CONSTANTS {', '.join(('None', *self._elements()))}",
            f"VARIABLES which, {own}", *parts, _TELL, *self._disjunction("Init"), *self._disjunction("Next"),
            *_conjunction("Seen", states), *_conjunction("SeenSteps", steps),
            rf"ASSUME \A register \in 1 .. {self.registers} : TLCSet(register, FALSE)", "===="])

    def _instance(self, number: int, one: Searched) -> Iterator[str]:
        """`I3 == INSTANCE … WITH …`, its constants defined before it, so that TLC computes them once."""
        configuration = one.configuration
        module, given = configuration.module, configuration.constants()
        yield from (f"I{number}_{name} == {value}" for name, value in given.items())
        renamed = [f"{name} <- I{number}_{name}" for name in given]
        renamed += [f"{module.names.of(VARIABLE, info.name)} <- x{place}" for place, info in enumerate(module.state, 1)]
        yield f"I{number} == INSTANCE Seen{module.name} WITH {', '.join(renamed)}"

    def _disjunction(self, name: str) -> list[str]:
        lines = [f"{name} =="]
        for number, one in enumerate(self.searched, 1):
            rest = [f"x{place}" for place in range(len(one.configuration.module.state) + 1, self.most + 1)]
            same = [f"{variable} = 0" for variable in rest] if name == "Init" else [
                f"UNCHANGED <<{', '.join(('which', *rest))}>>"]
            parts = (f"which = {number}", f"I{number}!{name}", *same)
            lines.append("    \\/ (" + " /\\ ".join(parts) + ")")
        return lines

    def _seen(self, number: int, one: Searched, kinds: Sequence[str]) -> str:
        """Tells of each property of these kinds that is false."""
        names = one.configuration.module.names
        asked = [("TypeOK", "TypeOK")] if STEP not in kinds else []
        asked += [(p.name, _step(p.name) if p.kind == STEP else names.of(PROPERTY, p.name))
                  for p in one.found.properties if p.kind in kinds]
        told = []
        for name, formula in asked:
            self.registers += 1
            told.append(f'Tell({self.registers}, "{one.name} {name}", I{number}!{formula})')
        return f"(which = {number} => (" + (" /\\ ".join(told) or "TRUE") + "))"


def _conjunction(name: str, parts: Sequence[str]) -> list[str]:
    return [f"{name} ==", *(f"    /\\ {part}" for part in parts)]
