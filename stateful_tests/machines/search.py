"""Let Hypothesis write programs for a machine, and shrink those that break something."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import cast

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

from invariants.concepts import PROGRAMMED
from invariants.verdict import BadInputError
from stateful_tests.machines.machine import Drawn, Found, TimeOverError, Trial, ViolatedError, WorldMachine
from stateful_tests.machines.program import Line, Program
from stateful_tests.machines.shortening import shortened
from stateful_tests.seeded import SEEDED
from stateful_tests.worlds.subjects import subject_named

_MODULES = [import_module(f"stateful_tests.machines.{name}")
            for name in (*(concept.name for concept in PROGRAMMED), "running_group")]
MACHINES: dict[str, type[WorldMachine]] = {
    value.concept: value for module in _MODULES for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, WorldMachine) and value.__module__ == module.__name__
}
"""By concept."""

PART = 25


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried: the same effort gives the same programs.

    examples -- programs; deeds -- lines of a program at most; seconds -- of wall time, after which it is given up.
    """

    seed: int = 0
    examples: int = 100
    deeds: int = 12
    seconds: float = math.inf

    def parts(self) -> Iterator[Effort]:
        """The same effort in parts of PART programs, each with a seed of its own."""
        for number, first in enumerate(range(0, self.examples, PART)):
            yield Effort(self.seed * 1_000 + number, min(PART, self.examples - first), self.deeds)

    def __str__(self) -> str:
        """For people."""
        return f"{self.examples:,} programs of at most {self.deeds} deeds"


def machine_named(concept: str) -> type[WorldMachine]:
    """A machine of the table; raises BadInputError for another name."""
    if concept not in MACHINES:
        raise BadInputError(f"no machine for {concept!r}; there are {', '.join(MACHINES)}")
    return MACHINES[concept]


def search(
    concept: str, trial: Trial, effort: Effort = Effort(), *, shrink: bool = True, quiet: bool = False,
) -> None:
    """Write programs until one fails, and shrink it; see Trial for what is a failure and what is kept.

    Raises ViolatedError with the shrunk program; Hypothesis prints it, unless it is to be quiet.
    """
    factory = hypothesis.seed(effort.seed)(partial(machine_named(concept), trial))
    asked = settings(
        max_examples=effort.examples, stateful_step_count=effort.deeds, database=None, deadline=None, print_blob=True,
        suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet if quiet else Verbosity.normal,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,), backend=SEEDED,
    )
    with subject_named(trial.subject).telling_mistakes():
        run_state_machine_as_test(cast("type[WorldMachine]", factory), settings=asked)


def survey(concept: str, trial: Trial, effort: Effort = Effort()) -> None:
    """Write all programs of an effort, whatever they break; the trial keeps it."""
    assert trial.wanted == (), "a survey ends at no failure"
    search(concept, trial, effort, shrink=False)


def shortest(
    found: Found, effort: Effort = Effort(), is_late: Callable[[], bool] = bool, is_over: Callable[[], bool] = bool,
) -> Found:
    """A program that breaks the same property of the same subject, as short as can be found.

    found -- of a survey of the same effort. is_late -- whether Hypothesis, which begins with the programs of the
    survey, has had its time: then lines are left out of the shortest program so far. is_over -- whether that has, too.
    """
    name = found.seen.property
    trial = Trial(found.subject, (name,), to_the_end=found.at_the_end, is_over=is_late)
    try:
        search(found.concept, trial, effort, quiet=True)
    except ViolatedError:
        found = trial.last[name]
    except (TimeOverError, HypothesisException):  # which complains if a program ends before it did so last time
        if not is_late():
            raise
        found = min(found, trial.found.get(name, found), key=lambda one: len(one.program))
    return simplest(found, is_over)


def simplest(found: Found, is_over: Callable[[], bool] = bool) -> Found:
    """The same violation by a program from which no line can be left out, unless time is over; some seconds."""
    kept = [found]

    def breaks(program: Program) -> bool:
        again = None if is_over() else _again(found, program)
        if again is not None:
            kept.append(again)
        return again is not None

    shortened(found.program, breaks)
    return kept[-1]


def _again(found: Found, program: Program) -> Found | None:
    """What a program has broken, if that is what was found, and not later than that."""
    try:
        played_one = played(found.concept, found.subject, program, to_the_end=found.at_the_end)
    except BadInputError:  # a number that no line takes
        return None
    again = played_one.trial.found.get(found.seen.property)
    return again if again is not None and again.program == program else None


def played(
    concept: str, subject: str, program: Program, *, telling: bool = False, to_the_end: bool = True,
) -> WorldMachine:
    """Do what a program says, and end it; the world is closed then, and can still be looked at.

    telling -- keep what people want to read about it. to_the_end -- heal, and judge the promises.
    Raises BadInputError for a line that is none of the machine's.
    """
    with subject_named(subject).telling_mistakes():
        machine = machine_named(concept)(Trial(subject, (), to_the_end=to_the_end), telling=telling)
        try:
            for line in program:
                _rule(machine, line)(machine, **dict(line.arguments))
        finally:
            machine.teardown()
    return machine


def _rule(machine: WorldMachine, line: Line) -> Callable[..., None]:
    """The rule of a line whose arguments could be drawn, but for numbers, which may be any between the drawn ones."""
    rules = {one.function.__name__: one.function for one in machine.rules}
    if line.rule not in rules:
        raise BadInputError(f"{machine.concept} has no rule {line.rule!r}; it has {', '.join(sorted(rules))}")
    drawn: dict[str, Drawn] = vars(rules[line.rule])["drawn"]
    if {name for name, _ in line.arguments} != {*drawn}:
        raise BadInputError(f"{line}: {line.rule} takes {', '.join(drawn) or 'no arguments'}")
    for name, value in line.arguments:
        takes = _refused(machine, drawn[name], value)
        if takes:
            raise BadInputError(f"{line}: {name} is {takes}, not {value!r}")
    return cast("Callable[..., None]", rules[line.rule])


def _refused(machine: WorldMachine, drawn: Drawn, value: object) -> str:
    """What an argument may be; empty if the value is that."""
    if isinstance(drawn, SearchStrategy):
        numbers = isinstance(value, list) and all(isinstance(one, int) for one in value)
        return "" if numbers else "a list of numbers"
    if callable(drawn) or isinstance(drawn[0], str):
        texts = [*machine.world.simulation.boots] if callable(drawn) else [*drawn]
        return "" if value in texts else f"one of {', '.join(map(repr, texts))}"
    allowed = range(min(map(int, drawn)), max(map(int, drawn)) + 1)
    return "" if value in allowed else f"a number from {allowed[0]} to {allowed[-1]}"
