"""Replay of a stored counterexample of any judge of decisions: the same arguments, the same claim, judged again."""

from __future__ import annotations

from typing import Any

import invariants.decisions
from invariants.allocation.answers import Observed, observe
from invariants.allocation.cases import Case
from invariants.allocation.claims import STRATEGY_CLAIMS, StrategyClaim
from invariants.allocation.shipped import SHIPPED, Shipped
from invariants.claim import CLAIMS, Claim, counterexample, judged
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.decisions.check import STOPS, candidate_of
from stateful_tests.decisions.exhaust import falsified

__all__ = ["invariants", "observed", "replay_counterexample"]


def replay_counterexample(evidence: dict[str, Any]) -> Verdict:
    """Judge the arguments of an evidence object of kind "counterexample" again; nothing is written.

    The verdict has the judge and the property of the evidence. Its outcome is violated if the counterexample still is
    one, holds if the code has changed so that it no longer is.

    Raises BadInputError when the evidence names no claim, strategy or arguments that can be run here.
    """
    try:
        subject = Subject(**evidence["subject"])
        if subject.kind == "decision":
            return _decision(CLAIMS[evidence["claim"]], evidence)
        return _strategy(STRATEGY_CLAIMS[evidence["property"]], subject, evidence)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(
            f"not a counterexample that can be replayed ({type(error).__name__}: {error}); give what a verdict names",
        ) from error


def _decision(claim: Claim, evidence: dict[str, Any]) -> Verdict:
    arguments = {name: domain.from_json(evidence["arguments"][name]) for name, domain in claim.domains.items()}
    outcome = falsified(claim, arguments)
    if outcome is None:
        raise BadInputError(f"claim {claim.name} does not speak about these arguments; the file is of another version")
    if outcome:
        return counterexample(claim, evidence["judge"], arguments).verdict
    return judged(claim, evidence["judge"], Outcome.HOLDS, "the counterexample no longer is one").verdict


def _strategy(claim: StrategyClaim, subject: Subject, evidence: dict[str, Any]) -> Verdict:
    case = Case.from_json(evidence["arguments"])
    expected, hazards = _expected(subject, claim.name)
    try:
        sentence = claim.wrong(observed(subject, case))
    except STOPS as error:
        sentence = str(error)
    outcome = Outcome.HOLDS if sentence is None else Outcome.VIOLATED
    return Verdict(
        claim.name, evidence["judge"], subject, expected or outcome, outcome, str(evidence["replay"]),
        hazard=hazards if sentence else (), note=sentence or "the counterexample no longer is one",
    )


def observed(subject: Subject, case: Case) -> Observed:
    """What a shipped strategy, or the user's class, answers in a case now."""
    if subject.kind == "strategy":
        return observe(_shipped(subject).make(case), case)
    with candidate_of(subject) as candidate:
        return candidate.observed(case)


def _shipped(subject: Subject) -> Shipped:
    found = [one for one in SHIPPED if one.name == subject.name and one.details() == dict(subject.details)]
    if not found:
        raise BadInputError(f"no strategy {subject.name} {dict(subject.details)} here; the file is of another version")
    return found[0]


def _expected(subject: Subject, name: str) -> tuple[Outcome | None, tuple[str, ...]]:
    """What is expected of the subject; None for what is told for information only."""
    if subject.kind == "strategy":
        wanted = _shipped(subject).expected[name]
        return Outcome(wanted.outcome), wanted.hazards
    return (Outcome.HOLDS if STRATEGY_CLAIMS[name].demanded else None), ()


