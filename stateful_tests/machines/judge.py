"""The judge `machine` for protocols: verdict rows from programs, their evidence, and its replay."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.finding import Finding
from invariants.rules.declared import BY_NAME
from invariants.rules.observed import Observed
from invariants.rules.telling_apart import perhaps, shown
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.machines.machine import Found, TimeOverError, Trial, WorldMachine, replay_of
from stateful_tests.machines.program import Program, parsed
from stateful_tests.machines.search import Effort, machine_named, played, shortest, survey
from stateful_tests.machines.whole import Whole, by_variant
from stateful_tests.worlds.evidence import pictured
from stateful_tests.worlds.healing import promised
from stateful_tests.worlds.subjects import subject_named

JUDGE = "machine"
SHRINKS_S, SHORTENS_S = 15.0, 10.0
"""CPU time for making the program that breaks a property shorter: for Hypothesis, and then for leaving lines out."""
_RULES = tuple(name for name, rule in BY_NAME.items() if not issubclass(rule, Observed))
"""The rules that judge programs."""
Tell = Callable[[str], object]
Draw = Callable[[Verdict, Mapping[str, Any]], object]
"""Is given a row and its evidence, where no file keeps that."""


def judged(
    concept: str, subject: str, effort: Effort, names: Sequence[str] = (), *, out: Path | None = None,
    draw: Draw | None = None, tell: Tell = bool,
) -> Iterator[Verdict]:
    """A verdict for each property that the machine of a concept can break: violated by a shrunk program, or not.

    Of a rule that no program has broken there is a row only if it is named. A variant has one row as a whole; besides
    it there are rows of what it breaks, and of what is named.

    names -- only these; empty: all. out -- folder for evidence. tell -- is told what is done at the moment. When
    the time of the effort is over what was found is told as it is, and of the rest nothing is known. Raises
    BadInputError for a name that is none.
    """
    machine, started, whole = machine_named(concept), time.process_time(), Whole.of(concept, subject)
    left, rules = chosen(machine, names), [*(() if names else _RULES)]
    healed = {rule.name for rule in promised()}
    until_s = time.monotonic() + effort.seconds
    trial = Trial(subject, (), to_the_end=any(name in healed for name in left), on_deed=lambda one: tell(
        f"{one.programs:,} of {effort.examples:,} programs, {one.deeds:,} deeds, {len(one.found)} properties broken"),
        is_over=lambda: time.monotonic() > until_s)
    for part in effort.parts():
        if trial.given_up or trial.is_over():
            break
        trial.on_deed(trial)
        with suppress(TimeOverError):
            survey(concept, trial, part)
        for name in _shortest_first([name for name in (*left, *rules) if name in trial.found], trial):
            if whole is not None and name not in names and not by_variant(trial.found[name]):
                del trial.found[name]  # another program may show more
                continue
            (left if name in left else rules).remove(name)
            tell(f"shrinking a program that breaks {name}")
            found, why = _shrunk(trial, name, part)
            if whole is not None and name not in names and not by_variant(found):
                found, why = trial.found[name], "; shorter ones break it in the base as well"
            cost = {**_cost(trial), "cpu_seconds": round(time.process_time() - started, 1)}
            row = broken(found, out, cost, part.seed, why)
            if whole is None or whole.takes(found, row) or name in names:
                yield _drawn(found, row, draw)
    for name in left if whole is None else [name for name in left if name in names]:
        yield unbroken(concept, name, trial, effort, _cost(trial))
    if whole is not None:
        missed = _time_over(trial, effort) if trial.is_over() else ""
        yield whole.verdict(trial, f"in {effort}", _asked(concept, subject, effort, names), missed)


def _shortest_first(names: Sequence[str], trial: Trial) -> list[str]:
    """Properties that were broken, those first whose programs are soonest made as short as can be."""
    return sorted(names, key=lambda name: len(trial.found[name].program))


def _shrunk(trial: Trial, name: str, effort: Effort) -> tuple[Found, str]:
    """A shorter program that breaks a property, if there is one; why it is no shorter if shrinking was not to its end.

    effort -- that has found it.
    """
    found, late_s = trial.found[name], time.process_time() + SHRINKS_S
    if trial.given_up:
        return found, "; it is not shrunk: deeds do not end"

    def is_late() -> bool:
        return trial.is_over() or time.process_time() > late_s

    def is_over() -> bool:
        return trial.is_over() or time.process_time() > late_s + SHORTENS_S

    try:
        found = shortest(found, effort, is_late, is_over)
    except Exception as error:  # noqa: BLE001 - the program that was found breaks the property all the same
        return found, f"; it is not shrunk: {type(error).__name__}: {error}"
    return found, "; shorter programs may do, for which there was no time" if is_late() else ""


def _time_over(trial: Trial, effort: Effort) -> str:
    return f"time was over after {trial.programs:,} of {effort.examples:,} programs; more with --minutes"


def _cost(trial: Trial) -> dict[str, float]:
    return {"programs": trial.programs, "segments": trial.segments}


def chosen(machine: type[WorldMachine], names: Sequence[str]) -> list[str]:
    """The properties of these names, or all of the machine; raises BadInputError for one that it does not judge."""
    unknown = next((name for name in names if name not in machine.judged and name not in _RULES), None)
    if unknown is not None:
        raise BadInputError(f"{machine.concept} does not judge {unknown}; it judges {', '.join(machine.judged)}, "
                            "and every property of kind rule, but for those of histories: nobody sends in its world")
    return [*(names or machine.judged)]


def unbroken(concept: str, name: str, trial: Trial, effort: Effort, cost: Mapping[str, float]) -> Verdict:
    """The row of a property that no program has broken: it holds, unless it should not."""
    outcome, note = Outcome.HOLDS, f"in {effort}"
    if trial.unknown:
        outcome, note = Outcome.UNKNOWN, f"{len(trial.unknown)} programs could not be judged: {trial.unknown[0]}"
    elif trial.is_over():
        outcome, note = Outcome.UNKNOWN, _time_over(trial, effort)
    elif machine_named(concept).expected(trial.subject, name) is Outcome.VIOLATED:
        outcome, note = Outcome.UNKNOWN, f"not broken in {effort}; more with --examples"
    command = _asked(concept, trial.subject, effort, [name])
    return _row(concept, trial.subject, name, outcome, note, replay=command, cost=cost, seed=effort.seed)


def _asked(concept: str, subject: str, effort: Effort, names: Sequence[str]) -> str:
    """The command that tries the same again."""
    only = "".join(f" --property {name}" for name in names)
    return (f"rocketproof machine {concept} --subject {shlex.quote(subject)}{only} --seed {effort.seed} "
            f"--examples {effort.examples} --deeds {effort.deeds}")


def unplayed(concept: str, name: str, trial: Trial, replay: str, cost: Mapping[str, float]) -> Verdict:
    """The row of a property that a known program does not break; trial -- of that program."""
    outcome, note = Outcome.HOLDS, "the known program does not break it"
    if trial.unknown:
        outcome, note = Outcome.UNKNOWN, trial.unknown[0]
    return _row(concept, trial.subject, name, outcome, note, replay=replay, cost=cost)


def broken(
    found: Found, out: Path | None, cost: Mapping[str, float], seed: int | None = None, remark: str = "",
) -> Verdict:
    """The row of a property that a program has broken; its evidence is written below out. remark -- ends its note."""
    name, deeds = found.seen.property, len(found.program)
    note = f"{deeds} deed{'s' * (deeds != 1)}: {found.seen.sentence}{remark}"
    stem = f"machine-{found.concept}-{subject_named(found.subject).title}-{name}"
    file = f"evidence/{''.join(c if c.isalnum() or c in '._-' else '_' for c in stem)[:180]}.json"
    replay = found.replay if out is None else evidence.replayed(out / file)
    verdict = _row(found.concept, found.subject, name, Outcome.VIOLATED, note, replay=replay, cost=cost, seed=seed,
                   evidence=None if out is None else file, key=found.seen.key)
    verdict = _put_down(verdict, found)
    if out is not None:
        evidence.write(out / file, document(found, verdict))
    return verdict


def _put_down(row: Verdict, found: Found) -> Verdict:
    """The row of a finding; what the variant on top has done is no hazard of its base."""
    if not by_variant(found):
        return row
    wanted = Outcome.VIOLATED if subject_named(found.subject).kind == "bug" else Outcome.HOLDS
    return replace(row, expected=wanted, hazard=())


def _drawn(found: Found, row: Verdict, draw: Draw | None) -> Verdict:
    """The row itself; its evidence is handed on if no file has it."""
    if draw is not None and row.evidence is None:
        draw(row, document(found, row))
    return row


def _row(
    concept: str, subject: str, name: str, outcome: Outcome, note: str, *, key: Sequence[str] = (), **row: Any,
) -> Verdict:
    machine = machine_named(concept)
    hazards = machine.hazards(subject, name) if outcome is Outcome.VIOLATED else ()
    if key:
        hazards, note = shown(hazards, key), note + perhaps(hazards, key)
    known = subject_named(subject)
    details = {"concept": concept, **({"file": known.file} if known.file else {})}
    return Verdict(name, JUDGE, Subject("variant", known.title, details), machine.expected(subject, name), outcome,
                   row.pop("replay"), hazard=hazards, note=note, **row)


def document(found: Found, verdict: Verdict) -> dict[str, Any]:
    """The evidence of a program, of kind "run" as `worlds.evidence` says; it adds the program, a line each.

    The program is played again for it. Raises ValueError if it does not break the property then.
    """
    machine = played(found.concept, found.subject, found.program, telling=True)
    seen = _seen(machine, found.seen)
    if seen is None:
        raise ValueError(f"the program does not break {found.seen.property} again: it is not deterministic")
    return evidence.document(
        verdict, "run", seen.sentence, program=[str(line) for line in found.program], choices=machine.tape.choices,
        plan={"subject": found.subject, "workload": found.concept, "profile": "the program", "strategy": JUDGE},
        digest=machine.world.simulation.digest(), signature=[seen.property, *seen.signature], time_ms=seen.time_ms,
        told=_told(machine, seen.time_ms), picture=pictured(machine.world, seen, found.subject))


def _told(machine: WorldMachine, until_ms: int) -> list[dict[str, Any]]:
    """What was done, and what chance made of it, in order of time."""
    told = [(ms, who, sentence) for ms, who, sentence in machine.said]
    told += [(one.time_ms, one.who, one.sentence) for one in machine.tape.told]
    return [{"time_ms": ms, "who": who, "sentence": sentence}
            for ms, who, sentence in sorted(told, key=lambda one: one[0]) if ms <= until_ms]


def _seen(machine: WorldMachine, wanted: Finding) -> Finding | None:
    return next((one for one in machine.seen
                 if (one.property, one.signature) == (wanted.property, wanted.signature)), None)


def replay_program(stored: Mapping[str, Any]) -> Verdict:
    """Play the program of a document twice: both must have its digest, and break the property as it says.

    The outcome is violated if they do, holds if they agree on another digest (the code has changed) and nothing is
    broken, unknown if they do not agree. Raises BadInputError for names that are none.
    """
    program = parsed("\n".join(stored["program"]))
    plan, (name, *signature) = stored["plan"], stored["signature"]
    concept, subject = str(plan["workload"]), str(plan["subject"])
    first, second = (played(concept, subject, program) for _ in range(2))
    digests = [machine.world.simulation.digest() for machine in (first, second)]
    again = {"replay": str(stored["replay"])}
    if digests[0] != digests[1]:
        note = "two replays differ: the run is not deterministic"
        return _row(concept, subject, name, Outcome.UNKNOWN, note, **again)
    seen = _seen(first, Finding(name, None, "", tuple(signature)))
    if seen is None:
        return _row(concept, subject, name, Outcome.HOLDS, "the program does not break it any more", **again)
    same = "digest as stored" if digests[0] == stored["digest"] else "another digest: the code has changed"
    row = _row(concept, subject, name, Outcome.VIOLATED, f"{seen.sentence} ({same})", key=seen.key, **again)
    return _put_down(row, Found(concept, subject, seen, program, at_the_end=True))


def replayed(
    concept: str, subject: str, program: Program, out: Path | None = None, draw: Draw | None = None,
) -> Iterator[Verdict]:
    """A verdict for each property that a program breaks, and one for a variant as a whole."""
    started, whole = time.process_time(), Whole.of(concept, subject)
    machine = played(concept, subject, program)
    if machine.trial.unknown:
        raise BadInputError(f"nothing can be said of the whole program: {machine.trial.unknown[0]}")
    cost = {"segments": machine.world.simulation.kernel.segments,
            "cpu_seconds": round(time.process_time() - started, 1)}
    for found in machine.trial.found.values():
        row = broken(found, out, cost)
        if whole is not None:
            whole.takes(found, row)
        yield _drawn(found, row, draw)
    if whole is not None:
        yield whole.verdict(machine.trial, "by this program", replay_of(concept, subject, program))
