"""What is said of runs as a whole: each step is a step of a model; runs, and who judges them, can be trusted.

No formula declares these properties, so they are listed here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from invariants.concepts import FOLLOWED, NamedConcept
from invariants.histories.checks import PROMISES
from invariants.verdict import Outcome

MACHINE, CAMPAIGN, KILL_MATRIX, STORY = "machine", "campaign", "kill-matrix", "story"
SAME_RUN, WITHIN = "same_tape_same_run", "visited_states_are_reachable"
REACHED = "wanted_state_is_reached"
NOTICED, SILENT = "planted_bug_is_noticed", "control_is_silent"
HARMLESS, MENDED = "change_breaks_nothing", "repair_mends_its_hazards"
CHANGED = "variant_changes_runs"
COMPARE, WORSE = "compare", "change_makes_nothing_worse"
CONFORM = "conform"
OF_KIND: Mapping[str, str] = {"bug": NOTICED, "change": HARMLESS, "repair": MENDED}
"""Kind of a variant to the property that says whether what is expected of it is so."""


class OfRuns(NamedTuple):
    """A property of runs: what it says, who judges it, and the hazards of RocketMQ as shipped that break it."""

    sentence: str
    judges: tuple[str, ...]
    hazards: tuple[str, ...] = ()


def _refined(concept: NamedConcept) -> OfRuns:
    sentence = f"Each step of the implementation is one that the models of {concept.title} allow."
    return OfRuns(sentence, (MACHINE, CAMPAIGN) if concept.in_machines else (CAMPAIGN,), concept.hazards)


OF_RUNS: dict[str, OfRuns] = {
    **{concept.refines: _refined(concept) for concept in FOLLOWED},
    SAME_RUN: OfRuns("A run is nothing but its tape: played again, it has the same digest.", (CAMPAIGN,)),
    WITHIN: OfRuns("No run visits a state that the explorer does not reach in the same scope.", (CAMPAIGN,)),
    REACHED: OfRuns("A run comes to a state that a proof could not rule out.", (CAMPAIGN,)),
    NOTICED: OfRuns("Some judge notices the bug that is planted.", (MACHINE, CAMPAIGN, CONFORM, KILL_MATRIX)),
    HARMLESS: OfRuns("What holds of the base of a change holds with the change.", (MACHINE, CAMPAIGN, CONFORM)),
    MENDED: OfRuns("With a repair nothing breaks but by hazards that it does not repair.", (MACHINE, CAMPAIGN)),
    CHANGED: OfRuns("What a variant replaces is called, and its runs are not those of its base.", (CAMPAIGN,)),
    WORSE: OfRuns("With a change no property is broken more often or longer than on its base.", (COMPARE,)),
    SILENT: OfRuns("Nothing is seen of the repaired control but what has no repair.", (KILL_MATRIX,)),
}
"""By name."""


def outcome_of(kind: str, *, broken: bool) -> Outcome:
    """Of the property of this kind of variant; broken -- whether something fails that its base keeps.

    A bug is there to be noticed: that something fails is what is promised of it.
    """
    return Outcome.HOLDS if broken == (kind == "bug") else Outcome.VIOLATED


_NOBODY_SENDS = ("nobody sends messages in the worlds of machines; in campaigns refines_retry follows each level, "
                 "and of the implementation's decisions claims say it")
NO_MACHINE: dict[str, tuple[str, str]] = {
    "leaving_member_stays_gone": (
        "goodbye_is_final", "its model knows one connection; of the implementation the rule says the same"),
    "live_member_is_never_forgotten": (
        "connections_of_members_last", "its model knows no faults that excuse it; of the implementation the rule does"),
    "subscription_version_never_goes_back": (
        "refines_subscription", "a step that its model allows is one step, so that the implementation differs from it"),
    "newer_subscription_is_taken": (
        "refines_subscription", "a step that its model allows is one step, so that the implementation differs from it"),
    "bad_expression_is_refused": (
        "filter_is_as_new_as_its_subscription", "no member of a machine writes an expression that does not compile"),
    "contender_gets_the_lock": (
        "abandoned_lock_is_freed", "a run has an end: what must come true is promised within a time"),
    "ownership_converges_at_last": (
        "queue_is_not_left_alone", "a run has an end: what must come true is promised within a time"),
    "dead_broker_is_dropped_at_last": (
        "dead_broker_is_dropped", "a run has an end: what must come true is promised within a time"),
    "listeners_do_not_overlap": (
        "listeners_do_not_overlap", "no listener of a machine works longer than a lease; those of campaigns do"),
    "retry_waits_its_delay": (
        "delayed_message_waits", _NOBODY_SENDS),
    "retry_is_delivered_once": (
        "delivery_is_noted", _NOBODY_SENDS),
}
"""Properties of models that hazards break and that no machine judges: what is said instead, of runs or of decisions."""


def further(name: str) -> str:
    """The end of a note: who has not been asked about a property of runs, and how to ask."""
    judges = judges_of(name)
    verb = "search" if len(judges) > 1 else "searches"
    return f"; {' and '.join(judges)} {verb} further: rocketproof {searched_by(name, judges)}"


def judges_of(name: str) -> tuple[str, ...]:
    """Who judges a property of runs: nobody sends in the worlds of machines."""
    if name in OF_RUNS:
        return OF_RUNS[name].judges
    return (CAMPAIGN,) if name in PROMISES else (MACHINE, CAMPAIGN)


def searched_by(name: str, judges: Collection[str]) -> str:
    """The command of these judges that searches for runs which break a property."""
    if CAMPAIGN in judges:
        return f"campaign --property {name}"
    return f"{COMPARE} FILE" if COMPARE in judges else KILL_MATRIX
