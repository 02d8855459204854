"""The judge `machine` for decisions: Hypothesis draws the arguments, and shrinks what falsifies a claim."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings, strategies as st

from invariants.allocation.shipped import SHIPPED
from invariants.claim import Claim, Finding, chosen, counterexample, judged
from invariants.domains import Domain, Integers, Members
from invariants.verdict import Outcome, Verdict
from stateful_tests.decisions.exhaust import falsified, shipped
from stateful_tests.decisions.strategies import RANDOM_MEMBERS, RANDOM_QUEUES, unbroken

EXAMPLES = 100
PATIENCE = 30  # times as many for a claim that is known to be violated: the search ends at the first violation
STRATEGY_EXAMPLES = 60
_NEAR = 6  # how far from 0, or from the lower bound, the small ones of the drawn integers lie


def explore_decisions(names: Sequence[str] | None = None, *, seed: int = 0, examples: int = EXAMPLES,
                      out: Path | None = None) -> Iterator[Verdict]:
    """One verdict per claim about a decision function, in the order of the catalogue.

    names -- claims or properties; None: all. Raises BadInputError for an unknown one. examples -- drawn per claim, more
    if it is known to be violated.
    """
    for claim in chosen(names):
        yield explore_claim(claim, seed, examples).saved(out)


def explore_claim(claim: Claim, seed: int = 0, examples: int = EXAMPLES) -> Finding:
    """Judge one claim on random arguments; a violation is the smallest that Hypothesis shrinks to."""
    start, tried, last = time.process_time(), 0, list[dict[str, Any]]()
    patience = PATIENCE if claim.expected.outcome == Outcome.VIOLATED else 1

    @hypothesis.seed(seed)
    @settings(max_examples=examples * patience, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=(Phase.generate, Phase.shrink))
    @hypothesis.given(st.one_of(_each(claim, small), _each(claim, drawn)))
    def attempt(arguments: dict[str, Any]) -> None:
        nonlocal tried
        tries = ((falsified(claim, one), one) for one in exchanged(claim, arguments))
        outcome, spoken = next((pair for pair in tries if pair[0] is not None), (None, arguments))
        tried += outcome is not None
        if outcome:
            last[:] = [spoken]
            raise AssertionError

    with contextlib.suppress(AssertionError):
        attempt()
    cost = {"examples": float(tried), "seconds": round(time.process_time() - start, 4)}
    if last:
        return counterexample(claim, "machine", last[0], seed=seed, cost=cost)
    if not tried:
        note = "no random input is one that the claim speaks about"
        return judged(claim, "machine", Outcome.UNKNOWN, note, seed=seed, cost=cost)
    return judged(claim, "machine", Outcome.HOLDS, f"for {tried} random inputs", seed=seed, cost=cost)


def _each(claim: Claim, values: Callable[[Domain], st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: values(domain) for name, domain in claim.domains.items()})


def small(domain: Domain) -> st.SearchStrategy[Any]:
    """Values near 0, or near the lower bound. Most bugs need all arguments small at once."""
    if isinstance(domain, Members):
        return st.sampled_from(domain.values)
    least = -_NEAR if domain.low is None else max(domain.low, -_NEAR)
    most = max(least, 0) + _NEAR
    return st.integers(least, most if domain.high is None else min(most, domain.high))


def drawn(domain: Domain) -> st.SearchStrategy[Any]:
    """Values of a domain: small ones, those of the exhaustive search, those next to a bound, and any."""
    if isinstance(domain, Members):
        return st.sampled_from(domain.values)
    low, high = domain.low, domain.high
    parts = [small(domain), st.sampled_from(domain.smallest()), st.integers(low, high)]
    parts += [] if low is None or low + 3 > (high or low + 3) else [st.integers(low, low + 3)]
    parts += [] if high is None or high - 3 < (low or high - 3) else [st.integers(high - 3, high)]
    return st.one_of(parts)


def exchanged(claim: Claim, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments, and then the same with their integers exchanged among each other, within their domains.

    A claim assumes orders, as i < j < m; of random numbers few are in the right one, but some exchange of them is.
    """
    names = [name for name, domain in claim.domains.items() if isinstance(domain, Integers)]
    for values in itertools.permutations([arguments[name] for name in names]):
        if all(claim.domains[name].contains(value) for name, value in zip(names, values, strict=True)):
            yield {**arguments, **dict(zip(names, values, strict=True))}


def explore_allocation(names: Sequence[str] | None = None, *, seed: int = 0, examples: int = STRATEGY_EXAMPLES,
                       out: Path | None = None) -> Iterator[Verdict]:
    """One verdict per shipped strategy, family of inputs and property: random cases, larger than exhaustive ones."""
    for one in SHIPPED:
        candidate, row, judging = shipped(one, "machine", names, seed)
        for broken in judging.explore(examples, seed) if judging.left else ():
            yield row.violated(broken, judging.cost()).saved(out)
        size = f"{RANDOM_QUEUES} queues and {RANDOM_MEMBERS} members"
        scope = f"for random cases of up to {size}: {candidate.inputs.sentence}"
        yield from (finding.saved(out) for finding in unbroken(judging, row, scope))
