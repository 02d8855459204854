"""Runs of worlds in which the steps of one model are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from invariants.refinement.monitor import Monitor, Recorder, Step, recorded_by
from model.language.state import Concept
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run


class Counted(Recorder):
    """How often each step of a model was taken."""

    def __init__(self, concept: Concept) -> None:
        """None was."""
        self.concept, self.steps = concept, Counter[str]()

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """See Recorder."""
        if monitor.reading.concept is self.concept:
            self.steps.update(action for action, _ in steps)


def counted(
    concept: Concept, subject: str, workload: str, profile: str, seed: int, *, until: tuple[str, ...] = (),
) -> tuple[RunRecord, Counter[str]]:
    """A run, to its end or until something is seen, and the steps of the model in it."""
    steps = Counted(concept)
    with recorded_by(steps):
        return run(Plan(subject, workload, profile), STRATEGIES["uniform"](seed), until=until), steps.steps


def signatures(name: str, record: RunRecord) -> list[tuple[str, ...]]:
    """What a run has found of one property, in order."""
    return [one.signature for one in record.seen if one.property == name]
