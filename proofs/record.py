"""What became of the obligations of one property, and what its row says of that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from invariants.verdict import Outcome
from model.language import Property
from proofs.obligations import Obligation
from proofs.ranking import MEANING
from proofs.solve import Answer, Solved
from proofs.solvers import Asker
from proofs.visited import Asked


@dataclass(slots=True)
class Record:
    """What became of the obligations of one property: the first that failed, and the cost.

    nothing -- why the property may speak of no run at all. false_at_first -- whether an initial state breaks it.
    vacuous -- what the proof may be empty of. blind -- a mutation that does not spoil it. asked -- what states say that
    runs have visited. false -- the property, or a lemma that it stands on, that one of them breaks.
    """

    obligations: int = 0
    seconds: float = 0.0
    failed: tuple[Obligation, Solved] | None = None
    nothing: str = ""
    false_at_first: bool = False
    vacuous: str = ""
    blind: str = ""
    proved: list[dict[str, Any]] = field(default_factory=list)
    asked: Asked = field(default_factory=Asked)
    false: str = ""

    def include(self, other: Record) -> None:
        """Take over what another record says."""
        self.obligations += other.obligations
        self.seconds += other.seconds
        self.failed = self.failed or other.failed
        self.proved += other.proved

    def work(self, questions: Asker, obligations: Iterable[Obligation]) -> None:
        """Prove obligations up to the first that cannot be."""
        for obligation in obligations:
            if not self.add(obligation, questions.asked(obligation)):
                return

    def add(self, obligation: Obligation, solved: Solved) -> bool:
        """Note an answer; tell whether it is a proof."""
        self.obligations += 1
        self.seconds += solved.seconds
        self.proved.append({"obligation": str(obligation), "answer": solved.answer.value,
                            "seconds": round(solved.seconds, 4)})
        if solved.answer is not Answer.PROVED and self.failed is None:
            self.failed = (obligation, solved)
        return solved.answer is Answer.PROVED


def outcome_of(record: Record, declared: Property) -> tuple[Outcome, str]:
    """The outcome of a property, and why it is not proved."""
    if record.nothing:
        return Outcome.UNKNOWN, f"about nothing: {record.nothing}"
    if record.false:
        return _refuted(record, declared)
    if record.false_at_first:
        return Outcome.VIOLATED, f"false at first: {declared.name}"
    if record.failed is not None:
        return Outcome.UNKNOWN, _failure(record.failed, declared)
    if record.vacuous or record.blind:
        but = f"perhaps of nothing: {record.vacuous}" if record.vacuous else f"also with {record.blind}"
        return Outcome.UNKNOWN, f"proved, but {but}"
    return Outcome.HOLDS, ""


def _refuted(record: Record, declared: Property) -> tuple[Outcome, str]:
    """What a visited state breaks: the property, or a lemma that it stands on."""
    why = f"a state that is reached in {record.asked.steps} steps: {record.asked.of}; no solver was asked"
    if record.false == declared.name:
        return Outcome.VIOLATED, f"false of {why}"
    return Outcome.UNKNOWN, f"it leans on the lemma {record.false}, which is false of {why}"


def _failure(failed: tuple[Obligation, Solved], declared: Property) -> str:
    obligation, solved = failed
    if solved.answer is not Answer.REFUTED:
        return f"{obligation} is not decided ({solved.reason})"
    if obligation.part == "initially" and obligation.invariant != declared.name:
        return f"it leans on the lemma {obligation.invariant}, which is false at first"
    why = {"initially": "is false where it may not be well defined", "defined": "is not proved",
           "excludes": "is not proved"}.get(obligation.part, "is not inductive")
    if obligation.part in MEANING:
        why = f"is not proved: {MEANING[obligation.part]}"
    return f"{obligation} {why}"
