"""Evidence of a run that has reached a wanted state, and its replay.

A document of kind "counterexample" that adds to `invariants.evidence`

    plan        {subject, workload, profile, strategy}
    choices     the tape up to the state, a list of small integers
    wanted      the state, as `model.language.open.nearness` writes it
    outcome     "holds": it was reached
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from impl.hosts.simulation.tape import QuietTape
from invariants import evidence
from invariants.runs import REACHED
from invariants.verdict import Outcome, Subject, Verdict
from model.language.open.nearness import Wanted, wanted
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.steering import Nearest, played


def document(verdict: Verdict, goal: Wanted, plan: Plan, nearest: Nearest) -> dict[str, Any]:
    """The evidence of a state that a run of a plan has reached."""
    rows = [[str(number), name, ", ".join(map(str, arguments))]
            for number, (name, arguments) in enumerate(nearest.trail.steps, 1)]
    cells = {f"{name}[{', '.join(map(str, keys))}]" if keys else name: value for (name, *keys), value in goal.cells}
    return evidence.document(
        verdict, "counterexample", f"A run comes to a state after which {goal.after} breaks {goal.property}.",
        arguments=cells, table={"columns": ["step", "action", "elements"], "rows": rows}, plan=asdict(plan),
        choices=list(nearest.choices), wanted=goal.text(), outcome=str(verdict.outcome))


def replay_reached(stored: Mapping[str, Any]) -> Verdict:
    """Play the tape of a document again: it holds if the run, and the model alone, come to the state again.

    Raises ValueError, KeyError or BadInputError for a document that has another shape, or names what is not there.
    """
    goal, plan = wanted(stored["wanted"]), Plan(**stored["plan"])
    nearest = played([goal], plan, QuietTape(stored["choices"]), "the same run").nearest.get(0)
    reached = nearest is not None and nearest.confirmed
    note = f"in {len(nearest.trail.steps)} steps" if nearest is not None and reached else "the run does not come there"
    return Verdict(REACHED, "campaign", Subject(**stored["subject"]), Outcome.HOLDS,
                   Outcome.HOLDS if reached else Outcome.UNKNOWN, stored["replay"], note=note)
