"""The judge `exhaust`: every claim on all small inputs, smallest first."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import invariants.decisions
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.allocation.shipped import SHIPPED, Shipped
from invariants.claim import CLAIMS, Claim, Finding, chosen, counterexample, judged
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.decisions.strategies import MEMBERS, QUEUES, Candidate, Judging, Row, unbroken

__all__ = ["CLAIMS", "exhaust_allocation", "exhaust_claim", "exhaust_decisions", "falsified", "invariants", "shipped"]


def exhaust_decisions(names: Sequence[str] | None = None, *, out: Path | None = None) -> Iterator[Verdict]:
    """One verdict per claim about a decision function, in the order of the catalogue.

    names -- claims or properties; None: all. Raises BadInputError for an unknown one. out -- folder for evidence.
    """
    for claim in chosen(names):
        yield exhaust_claim(claim).saved(out)


def exhaust_claim(claim: Claim) -> Finding:
    """Judge one claim on every combination of its domains' small values."""
    start, tried = time.process_time(), 0

    def cost() -> dict[str, float]:
        return {"inputs": float(tried), "seconds": round(time.process_time() - start, 4)}

    for arguments in claim.small_inputs():
        outcome = falsified(claim, arguments)
        tried += outcome is not None
        if outcome:
            return counterexample(claim, "exhaust", arguments, cost=cost())
    if not tried:
        return judged(claim, "exhaust", Outcome.UNKNOWN, "the claim speaks about none of the small inputs", cost=cost())
    return judged(claim, "exhaust", Outcome.HOLDS, f"for {tried} small inputs", cost=cost())


def falsified(claim: Claim, arguments: Mapping[str, Any]) -> bool | None:
    """Whether the claim is false of the arguments, or its code raises; None when it does not speak about them."""
    try:
        truth = claim.judge(arguments)
    except Exception:  # noqa: BLE001  # a claim whose code raises is not true; the evidence shows what it raised
        return True
    return None if truth is None else not truth


def exhaust_allocation(names: Sequence[str] | None = None, *, out: Path | None = None, queues: int = QUEUES,
                       members: int = MEMBERS) -> Iterator[Verdict]:
    """One verdict per shipped strategy, family of inputs and property that SHIPPED speaks about.

    names -- properties; None: all. Raises BadInputError for an unknown one. queues, members -- of the largest case.
    """
    for name in names or ():
        if name not in STRATEGY_CLAIMS:
            raise BadInputError(f"no property of strategies is called {name!r}; `rocketproof list` names them")
    for one in SHIPPED:
        candidate, row, judging = shipped(one, "exhaust", names)
        for broken in judging.exhaust(queues, members) if judging.left else ():
            yield row.violated(broken, judging.cost()).saved(out)
        scope = f"for all of up to {queues} queues and {members} members: {candidate.inputs.sentence}"
        yield from (finding.saved(out) for finding in unbroken(judging, row, scope))


def shipped(
    one: Shipped, judge: str, names: Sequence[str] | None, seed: int | None = None,
) -> tuple[Candidate, Row, Judging]:
    """What is needed to judge a shipped strategy."""
    subject = Subject("strategy", one.name, one.details())
    candidate = Candidate(subject, one.inputs, one.make)
    expected = {name: Outcome(wanted.outcome) for name, wanted in one.expected.items()}
    hazards = {name: wanted.hazards for name, wanted in one.expected.items()}
    command = "rocketproof verify" + "".join(f" --property {name}" for name in names or ())
    wanted_names = set(expected) if names is None else set(expected) & set(names)
    left = {name: claim for name, claim in STRATEGY_CLAIMS.items() if name in wanted_names}
    return candidate, Row(judge, subject, expected, hazards, command, seed), Judging(candidate, left)
