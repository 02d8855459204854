"""How good the judges of decisions are: stable proofs, few surviving mutants, violations found from every seed."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import FunctionType

import pytest

from invariants.claim import CLAIMS, Claim
from invariants.verdict import Outcome
from proofs.decisions import kill, prove_decisions
from proofs.mutants import Mutant, mutants
from proofs.paths import Limits
from stateful_tests.decisions.exhaust import falsified
from stateful_tests.decisions.machine import explore_allocation, explore_decisions

pytestmark = pytest.mark.quality
ROOT = Path(__file__).parents[2]
TRIED = 3_000  # small inputs for each mutant and claim

SURVIVORS = {
    # function: mutants that no holding claim notices, because they answer the same for all inputs that can occur
    "FaultItem.compare_to": 2,  # `<` and `<=` where equal was excluded
    "MQFaultStrategy.select_one_position": 3,  # the last resort, which two brokers never reach
    "absolute32": 2,  # 0 is its own negative
    "averagely_range": 6,  # n = m, and a remainder of 0
    "bounds_decision": 4,  # the case was taken by a branch before; a truth value for an offset compared with 0
    "compute_not_available_duration": 7,  # one table is as long as the other
    "hash_position": 2,  # 0 is its own negative
    "pick_one_at_least": 3,  # a half of 0 is a list of one
    "position": 2,  # as hash_position
    "quotient": 8,  # a quotient of 0 has no sign
    "remainder": 5,  # a remainder of 0 has no sign
    "stored_delay_level": 3,  # 0 is no level either way
    "wrap32": 1,  # 2³¹ more or less is the same modulo 2³²
}
"""Pinned: a claim that became weaker, or code that changed, shows here first."""


def holding_claims() -> dict[FunctionType, list[Claim]]:
    """By function; without the claims about the store, whose mutants are not counted yet (docs/decisions.md)."""
    found: dict[FunctionType, list[Claim]] = defaultdict(list)
    for claim in CLAIMS.values():
        if claim.expected.outcome == "holds" and claim.predicate.__module__ != "invariants.store_decisions":
            for function in claim.subjects:
                found[function].append(claim)
    return found


def survivors() -> list[Mutant]:
    """Mutants that no holding claim about the function notices on its small inputs."""
    inputs = {name: list(itertools.islice(claim.small_inputs(), TRIED)) for name, claim in CLAIMS.items()}
    alive = []
    for function, claims in holding_claims().items():
        for mutant in mutants(function):
            with mutant.active():
                if not any(falsified(claim, one) for claim in claims for one in inputs[claim.name]):
                    alive.append(mutant)
    return alive


def test_mutants_survive_only_where_they_answer_the_same() -> None:
    alive = survivors()
    found = Counter(mutant.function.__qualname__ for mutant in alive)
    assert dict(sorted(found.items())) == SURVIVORS, "\n".join(f"{m.function.__qualname__} {m.change}" for m in alive)
    assert sum(1 for function in holding_claims() for _ in mutants(function)) > 700


def test_the_prover_finds_no_more_alive_than_the_small_inputs_say() -> None:
    """A survivor of the small inputs survives the proof as well: it is equivalent, not merely unlucky."""
    by_function = holding_claims()
    limits = Limits(paths=300, depth=200)
    killed = [f"{mutant.function.__qualname__} {mutant.change} {claim.name}"
              for mutant in survivors() for claim in by_function[mutant.function] if kill(claim, mutant, limits)]
    assert killed == []


def test_five_solver_seeds_agree_and_none_is_unknown() -> None:
    assert [str(row) for row in prove_decisions(seeds=(0, 1, 2, 3, 4)) if not row.as_expected] == []


def test_another_first_seed_changes_no_verdict() -> None:
    assert [str(row) for row in prove_decisions(seeds=(17,)) if not row.as_expected] == []


def test_hypothesis_agrees_from_another_seed() -> None:
    rows = [*explore_decisions(seed=1), *explore_allocation(seed=1)]
    assert [str(row) for row in rows if not row.as_expected] == []
    assert sum(row.outcome is Outcome.VIOLATED for row in rows) > 40


SHIPPED_DIGEST = """
import hashlib
from invariants.allocation import SHIPPED, observe
digest = hashlib.sha256()
for one in SHIPPED:
    for joins in (False, True):
        for case in one.inputs.up_to(4, 3, joins=joins):
            seen = observe(one.make(case), case)
            digest.update(repr((seen.answers, seen.before)).encode())
print(digest.hexdigest())
"""


def test_the_shipped_strategies_answer_the_same_under_every_hash_seed() -> None:
    digests = set()
    for seed in ("1", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        digests.add(subprocess.run(  # noqa: S603  # our own code
            [sys.executable, "-c", SHIPPED_DIGEST], capture_output=True, check=True, cwd=ROOT, env=environment).stdout)
    assert len(digests) == 1
