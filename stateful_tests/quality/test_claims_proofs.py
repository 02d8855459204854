"""How good the judges of decisions are: stable proofs, few surviving mutants, violations found from every seed."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

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

LIMIT_S = 1.0
"""CPU seconds that all inputs of one claim may take with one mutant. No mutant that ends takes a tenth of it."""

SURVIVORS = {
    # function: mutants that no holding claim notices, because they answer the same for all inputs that can occur
    "FaultItem.compare_to": 2,  # `<` and `<=` where equal was excluded
    "MQFaultStrategy.select_one_position": 3,  # the last resort, which two brokers never reach
    "absolute32": 2,  # 0 is its own negative
    "averagely_range": 6,  # n = m, and a remainder of 0
    "bounds_decision": 4,  # the case was taken by a branch before; a truth value for an offset compared with 0
    "compute_not_available_duration": 7,  # one table is as long as the other
    "correct_delay_offset": 1,  # an offset at the end of its queue is the end
    "cut_product": 1,  # a product of 54 bits that ends with a 0 has no rest
    "first_file_of_abnormal_recovery": 1,  # the first file is the answer whether or not it matches
    "first_file_of_normal_recovery": 1,  # of three files the third from the end is the first
    "first_transfer_offset": 5,  # the end of a log is not negative; 0 is 0 either way
    "hash_position": 2,  # 0 is its own negative
    "is_file_time_matched": 4,  # a range that begins or ends with the file's has that time in common with it
    "is_report_accepted": 3,  # who compares a connection's first report, too, mends V11
    "least_percent": 2,  # no disk is used to 100 times its size
    "pick_one_at_least": 3,  # a half of 0 is a list of one
    "place_of_unit": 1,  # `<` and `<=` where equal was excluded
    "position": 2,  # as hash_position
    "positive_hash": 3,  # 0 is 0 either way, and the one negative number is the least int
    "previous_entry": 1,  # 0 is the entry that stands for none
    "quotient": 8,  # a quotient of 0 has no sign
    "record_length": 4,  # a length of 0 adds nothing
    "remainder": 5,  # a remainder of 0 has no sign
    "reset_delay_offset": 1,  # an offset at the begin of its queue is the begin
    "reput_from_offset": 1,  # of two equal offsets either is the greater
    "smaller": 1,  # of two equal numbers either is the smaller
    "stored_delay_level": 3,  # 0 is no level either way
    "time_diff_seconds": 3,  # 0 and 2³¹ − 1 seconds are their own bounds
    "wrap32": 1,  # 2³¹ more or less is the same modulo 2³²
}
"""Pinned: a claim that became weaker, or code that changed, shows here first."""

ENDLESS = {
    # function: mutants that do not end for some input, and count as noticed
    "cut_product": 3,  # the unit of the last bit does not grow, or grows without bound
}


class EndlessError(BaseException):
    """Time is up. No judge takes it for an error of the code, for it is no Exception."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise EndlessError in the block after so many CPU seconds."""
    def ring(*_: object) -> None:
        raise EndlessError

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def holding_claims() -> dict[FunctionType, list[Claim]]:
    """The claims that hold, by the functions that they are about."""
    found: dict[FunctionType, list[Claim]] = defaultdict(list)
    for claim in CLAIMS.values():
        if claim.expected.outcome == "holds":
            for function in claim.subjects:
                found[function].append(claim)
    return found


@cache
def counted() -> tuple[list[Mutant], list[Mutant]]:
    """The mutants that no holding claim about the function notices on its small inputs, and those that do not end."""
    inputs = {name: list(itertools.islice(claim.small_inputs(), TRIED)) for name, claim in CLAIMS.items()}
    alive, endless = list[Mutant](), list[Mutant]()
    for function, claims in holding_claims().items():
        for mutant in mutants(function):
            try:
                if not any(noticed(mutant, claim, inputs[claim.name]) for claim in claims):
                    alive.append(mutant)
            except EndlessError:
                endless.append(mutant)
    return alive, endless


def noticed(mutant: Mutant, claim: Claim, inputs: Sequence[Mapping[str, Any]], limit_s: float = LIMIT_S) -> bool:
    """Whether the claim is false of some input when the mutant answers; raises EndlessError when it does not."""
    with limited(limit_s), mutant.active():
        return any(falsified(claim, one) for one in inputs)


def by_function(found: Iterable[Mutant]) -> dict[str, int]:
    return dict(sorted(Counter(mutant.function.__qualname__ for mutant in found).items()))


def test_mutants_survive_only_where_they_answer_the_same() -> None:
    alive, _ = counted()
    assert by_function(alive) == SURVIVORS, "\n".join(f"{m.function.__qualname__} {m.change}" for m in alive)
    assert sum(1 for function in holding_claims() for _ in mutants(function)) > 1_300


def test_mutants_that_do_not_end_are_named() -> None:
    _, endless = counted()
    assert by_function(endless) == ENDLESS, "\n".join(f"{m.function.__qualname__} {m.change}" for m in endless)


def test_a_mutant_that_does_not_end_is_given_up() -> None:
    claim = CLAIMS["product_is_rounded_to_the_nearest_double"]
    never = counted()[1][0]
    with pytest.raises(EndlessError):
        noticed(never, claim, [{"number": 2**53}], limit_s=0.1)
    assert claim.judge({"number": 2**53})
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_the_prover_finds_no_more_alive_than_the_small_inputs_say() -> None:
    """A survivor of the small inputs survives the proof as well: it is equivalent, not merely unlucky."""
    claims = holding_claims()
    limits = Limits(paths=300, depth=200)
    killed = [f"{mutant.function.__qualname__} {mutant.change} {claim.name}"
              for mutant in counted()[0] for claim in claims[mutant.function] if kill(claim, mutant, limits)]
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
from invariants.allocation.answers import observe
from invariants.allocation.shipped import SHIPPED
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
