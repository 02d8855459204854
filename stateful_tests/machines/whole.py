"""What programs say of a variant as a whole: whether something breaks that its base keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from invariants.runs import MACHINE, OF_KIND, outcome_of
from invariants.verdict import Outcome, Subject, Verdict
from stateful_tests.machines.machine import Found, Trial
from stateful_tests.machines.search import played
from stateful_tests.worlds.subjects import subject_named


def by_variant(found: Found) -> bool:
    """Whether it is the variant on top that breaks a property: the same program does not break it in its base."""
    known = subject_named(found.subject)
    if known.top is None or known.base is None:
        return False
    base = played(found.concept, known.base, found.program, to_the_end=found.at_the_end)
    return found.seen.property not in base.trial.found


@dataclass
class Whole:
    """The variant on top of a subject; rows -- of what it breaks."""

    concept: str
    subject: str
    rows: list[Verdict] = field(default_factory=list)

    @classmethod
    def of(cls, concept: str, subject: str) -> Self | None:
        """None for a subject without a variant on top; raises BadInputError for one that is none."""
        return None if subject_named(subject).top is None else cls(concept, subject)

    def takes(self, found: Found, row: Verdict) -> bool:
        """Count a row of a property that a program has broken; whether the variant breaks it."""
        if worse := by_variant(found):
            self.rows.append(row)
        return worse

    def verdict(self, trial: Trial, extent: str, command: str, missed: str = "") -> Verdict:
        """The row.

        trial -- of all programs. extent -- how many these are. command -- shows the same row again.
        missed -- what there was no time for.
        """
        known = subject_named(self.subject)
        kind, calls = str(known.kind), [f"{place} ({count:,} calls)" for place, count in trial.calls.items()]
        outcome = outcome_of(kind, broken=bool(self.rows))
        note = f"no property fails {extent} that holds of {known.base}"
        if self.rows:
            note = f"{', '.join(row.property for row in self.rows)}: {self.rows[0].note}"
            note += f"; the search was given up: {trial.unknown[-1]}" if trial.given_up else ""
            note += f"; {missed}" if missed else ""
        elif missed:
            outcome, note = Outcome.UNKNOWN, missed
        elif trial.unknown:
            outcome, note = Outcome.UNKNOWN, f"{len(trial.unknown)} programs could not be judged: {trial.unknown[0]}"
        elif not (trial.calls.total() or known.uncounted):
            outcome = Outcome.NEVER_EXECUTED
        first, replaced = self.rows[0] if self.rows else None, ", ".join([*calls, *known.uncounted])
        details = {"concept": self.concept, **({"file": known.file} if known.file else {})}
        return Verdict(
            OF_KIND[kind], MACHINE, Subject("variant", known.title, details), Outcome.HOLDS, outcome,
            first.replay if first else command, cost={"programs": trial.programs, "segments": trial.segments},
            evidence=first.evidence if first else None, note=f"{note}; replaced: {replaced or 'nothing'}")
