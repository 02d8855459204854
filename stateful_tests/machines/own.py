"""A machine for a test file of a user's own: of one subject, and with the user's strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import new_class
from typing import Any, cast

from hypothesis import Phase, settings

from stateful_tests.machines.judge import chosen
from stateful_tests.machines.machine import Trial, ViolatedError, WorldMachine
from stateful_tests.machines.search import Effort, machine_named
from stateful_tests.machines.whole import by_variant
from stateful_tests.worlds.subjects import subject_named

PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
"""A program explains itself: which lines of Python ran is not looked for."""

Home = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class OwnStrategy:
    """A strategy of a user's own as clients use it: what has no name is called by its class."""

    own: Any

    @property
    def name(self) -> str:
        """As the start of a consumer tells it."""
        return str(getattr(self.own, "name", type(self.own).__name__))

    def allocate(self, *asked: Any) -> Any:
        """What it answers."""
        return self.own.allocate(*asked)


class UnjudgedError(AssertionError):
    """A program that could not be judged to its end: unknown is no success."""


def own_machine(
    concept: str, subject: str, strategy: Any, properties: Sequence[str], home: Home,
) -> type[WorldMachine]:
    """The machine of a concept, made without arguments, as Hypothesis and pytest do.

    subject -- see `worlds.subjects`. strategy -- an object with `allocate`, that all members use; None: RocketMQ's.
    properties -- whose violation is a failure; none: all that the subject is expected to keep. A variant on top fails
    by what the same program does not break in its base. home -- the block in which the rooms have their names: variants
    are put in place there. Raises BadInputError for names that are none.

    A program that breaks something raises ViolatedError, one of which nothing can be said UnjudgedError.
    """
    machine, laid = machine_named(concept), subject_named(subject).top is not None
    used = None if strategy is None else OwnStrategy(strategy)
    wanted = tuple(chosen(machine, properties)) if properties else None

    def ended(trial: Trial) -> None:
        """Judge what is judged at the end: the variant is not in place any more, so that its base can live."""
        if trial.unknown:
            raise UnjudgedError(trial.unknown[0])
        for found in trial.found.values() if laid else ():
            with home():
                if (wanted is None or found.seen.property in wanted) and by_variant(found):
                    raise ViolatedError(str(found))

    def begin(self: WorldMachine) -> None:
        with home():
            machine.__init__(self, Trial(subject, () if laid else wanted, on_program=ended, strategy=used))

    made = cast("type[WorldMachine]", new_class(
        f"{machine.__name__}[{subject}]", (machine,), exec_body=lambda body: body.update(__init__=begin)))
    made.TestCase.settings = settings(made.TestCase.settings, stateful_step_count=Effort().deeds, phases=PHASES)
    return made
