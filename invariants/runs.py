"""What is said of runs as a whole: each step is a step of a model; runs, and who judges them, can be trusted.

No formula declares these properties, so they are listed here.
"""

from __future__ import annotations

from typing import NamedTuple

from invariants.concepts import CONCEPTS, NamedConcept

MACHINE, CAMPAIGN, KILL_MATRIX = "machine", "campaign", "kill-matrix"
SAME_RUN, WITHIN = "same_tape_same_run", "visited_states_are_reachable"
NOTICED, SILENT = "planted_bug_is_noticed", "control_is_silent"
CHANGED = "variant_changes_runs"


class OfRuns(NamedTuple):
    """A property of runs: what it says, who judges it, and the hazards of RocketMQ as shipped that break it."""

    sentence: str
    judges: tuple[str, ...]
    hazards: tuple[str, ...] = ()


def _refined(concept: NamedConcept) -> OfRuns:
    sentence = f"Each step of the implementation is one that the models of {concept.title} allow."
    return OfRuns(sentence, (MACHINE, CAMPAIGN), concept.hazards)


OF_RUNS: dict[str, OfRuns] = {
    **{concept.refines: _refined(concept) for concept in CONCEPTS},
    SAME_RUN: OfRuns("A run is nothing but its tape: played again, it has the same digest.", (CAMPAIGN,)),
    WITHIN: OfRuns("No run visits a state that the explorer does not reach in the same scope.", (CAMPAIGN,)),
    NOTICED: OfRuns("Some judge notices the bug that is planted.", (CAMPAIGN, KILL_MATRIX)),
    CHANGED: OfRuns("What a variant replaces is called, and its runs are not those of its base.", (CAMPAIGN,)),
    SILENT: OfRuns("Nothing is seen of the repaired control but what has no repair.", (KILL_MATRIX,)),
}
"""By name."""
