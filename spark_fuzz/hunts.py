"""Work of the kill matrix: how long each judge takes to see that something is wrong with a subject.

A *hunt* is a small campaign of its own: a seed draws worlds, one after another, which are lived through until each
judge has seen something, or some have passed: WORLDS in all, or MORE since the first judge saw something. What a judge
saw is played again, twice, up to the moment when it was seen; that also tells the segments up to it. The claims about
decisions are judged once for each subject, by all small inputs, smallest first.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from itertools import count, islice

import invariants.decisions  # noqa: F401 - declares the claims
from impl.hosts.simulation.tape import QuietTape
from invariants.allocation.answers import observe
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.allocation.shipped import SHIPPED
from invariants.claim import CLAIMS, Claim
from invariants.runs import OF_RUNS
from spark_fuzz import runs
from spark_fuzz.effect import called_rows, fingerprint
from spark_fuzz.runs import Key, failure_row, looked_again
from spark_fuzz.work import Row, Unit
from stateful_tests.worlds.healing import is_promise
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, run
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS

WORLDS = len(WORKLOADS)
"""Worlds of a hunt, at most: each workload once."""
MORE = 5
"""Worlds in which the other judges may still see something."""
SEEDS = 1_000
"""Each hunt has so many seeds of its own."""

REFINEMENT, PROPERTIES, PROMISES, DECISIONS = "refinement", "properties", "promises", "decisions"
JUDGES = (REFINEMENT, PROPERTIES, PROMISES, DECISIONS)
"""Columns of the matrix: what the monitors say of each step as such; of the declared properties; what must come true
once a world has healed; the claims about decisions and strategies."""

COLUMNS = {**runs.COLUMNS, "judge": "string", "steps": "long", "number": "long", "fingerprints": "binary"}
"""Rows of a hunt name its number, and

kill     a judge: property, signature, steps (segments) and time_ms of all worlds of the hunt up to the kill, and what
         is needed to see it again, as in a row `failure` of the campaign
hunted   what passed without any end: runs, segments, time_ms of all worlds; unknown runs; the fingerprints
         of the runs that were followed, in their order, to be compared with those of the base in the same worlds
called   as in the campaign
asked    the judge `decisions`: property that is falsified, and the inputs tried as steps; property is None if none is

and `again`, as in the campaign.
"""

_QUEUES, _MEMBERS, _CASES = 5, 3, 400


def work(unit: Unit) -> Iterator[Row]:
    """The rows of a unit: a hunt, the decisions of a subject, or a look at a kill."""
    if "choices" in unit.body:
        yield from looked_again(Plan(**unit.body["plan"]), unit.body)
    elif "hunt" in unit.body:
        yield from _hunted(unit.body["subject"], unit.body["hunt"], unit.body["worlds"])
    else:
        yield _asked(unit.body["subject"])


# Worlds ---------------------------------------------------------------------------------------------------------------


def worlds(subject: str, number: int) -> Iterator[tuple[Plan, int]]:
    """The worlds of a hunt, with their seeds, without end; the same for all subjects."""
    draw = random.Random(f"hunt {number}")  # noqa: S311 - a test's dice
    seeds = count(number * SEEDS)
    while True:
        for workload in draw.sample(list(WORKLOADS), len(WORKLOADS)):
            yield Plan(subject, workload, draw.choice(list(PROFILES)), draw.choice(list(STRATEGIES))), next(seeds)


def judge_of(key: Key) -> str:
    """Which judge says so."""
    if key[0] in OF_RUNS:
        return REFINEMENT
    return PROMISES if is_promise(key) else PROPERTIES


@lru_cache
def counts(key: Key) -> bool:
    """Whether a failure tells of a bug: no hazard that has no repair explains it."""
    return not subject_named("repaired").explains(key)


def _hunted(subject: str, number: int, most: int) -> Iterator[Row]:
    killed: set[str] = set()
    lived = unknown = steps = time_ms = 0
    last = most
    fingerprints, calls = b"", list[Mapping[str, int]]()
    for plan, seed in islice(worlds(subject, number), most):
        judged = not killed >= {REFINEMENT, PROPERTIES}
        record = run(plan, STRATEGIES[plan.strategy](seed), judged=judged)
        for judge, row in _kills(plan, record, killed).items():
            killed.add(judge)
            before = {"steps": steps + row["segments"], "time_ms": time_ms + row["time_ms"]}
            yield {**row, **before, "judge": judge, "number": number, "seed": seed}
        lived, unknown = lived + 1, unknown + bool(record.unknown)
        fingerprints += fingerprint(record) if judged else b""
        calls.append(record.calls)
        steps, time_ms = steps + record.segments, time_ms + record.ms
        last = min(last, lived + MORE) if killed else most
        if lived == last or killed >= {REFINEMENT, PROPERTIES, PROMISES}:
            break
    yield {"kind": "hunted", "subject": subject, "number": number, "runs": lived, "unknown": unknown, "segments": steps,
           "time_ms": time_ms, "fingerprints": fingerprints}
    yield from ({**row, "number": number} for row in called_rows(calls))


def _kills(plan: Plan, record: RunRecord, killed: set[str]) -> dict[str, Row]:
    """What each judge that has not yet done so saw first, if the same is seen when it is played again."""
    found: dict[str, Row] = {}
    for seen in record.seen:
        key = seen.key
        judge = judge_of(key)
        if judge in killed or judge in found or not counts(key):
            continue
        again = [run(plan, QuietTape(record.choices), until=key) for _ in range(2)]
        same = again[0].digest == again[1].digest and key in again[0].signatures()
        row = failure_row(key, record, seen)
        found[judge] = {**row, **asdict(plan), "kind": "kill", "segments": again[0].segments, "unknown": int(not same)}
    return found


# Decisions ------------------------------------------------------------------------------------------------------------


def _asked(subject: str) -> Row:
    """The first claim that is falsified under the subject's variants though it holds of RocketMQ as shipped."""
    with subject_named(subject).running():
        tried = 0
        for name, falsified in answers():
            tried += 1
            if falsified:
                return {"kind": "asked", "subject": subject, "judge": DECISIONS, "property": name, "steps": tried}
    return {"kind": "asked", "subject": subject, "judge": DECISIONS, "property": None, "steps": tried}


def answers() -> Iterator[tuple[str, bool]]:
    """For every claim and small input: the property, and whether it is falsified."""
    for claim in CLAIMS.values():
        if claim.expected.outcome == "holds":
            for arguments in claim.small_inputs():
                yield claim.promises, _falsified(claim, arguments)
    for row in SHIPPED:
        for joins in (False, True):
            holding = [name for name, expected in row.expected.items()
                       if expected.outcome == "holds" and STRATEGY_CLAIMS[name].joins == joins]
            for case in islice(row.inputs.up_to(_QUEUES, _MEMBERS, joins=joins), _CASES if holding else 0):
                seen = observe(row.make(case), case)
                for name in holding:
                    yield name, STRATEGY_CLAIMS[name].wrong(seen) is not None


def _falsified(claim: Claim, arguments: dict[str, object]) -> bool:
    try:
        return claim.judge(arguments) is False
    except Exception:  # noqa: BLE001 - a claim whose code raises is not true
        return True
