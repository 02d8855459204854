"""Work on simulated worlds: from seeds to what was seen, and from a failing tape to the same failure, shorter.

A unit of the search is a plan and a range of seeds. A unit that looks again has a failing tape in its body, and the
ways in which it fails: the tape is played again, and all digests must be that of the search. If hazards explain all of
the ways, it is played until they were seen. If not, it is played twice to its end, and its evidence is drawn. If it is
to be made simpler, which goes on over several units, what is left is played twice.
"""

from __future__ import annotations

import gc
import json
import random
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from hashlib import blake2b
from typing import Any

from impl.hosts.simulation.tape import QuietTape, ReplayTape
from invariants.finding import Finding
from invariants.refinement.coverage import Visited
from invariants.rules.rule import Ascription
from invariants.runs import SAME_RUN
from model.language.open.nearness import Wanted, wanted
from spark_fuzz.effect import COLUMNS as EFFECT_COLUMNS, called_rows, fingerprint
from spark_fuzz.simulation import KNOWN_LOOKS
from spark_fuzz.work import Row, Unit
from stateful_tests.worlds.evidence import exhibit
from stateful_tests.worlds.healing import applying
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, lived, run
from stateful_tests.worlds.shrinking import Simplest
from stateful_tests.worlds.steering import Begun, Led, watched
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World

COLUMNS = {
    "kind": "string", "subject": "string", "workload": "string", "profile": "string", "strategy": "string",
    "turn": "long", "property": "string", "runs": "long", "violated": "long", "unknown": "long", "segments": "long",
    "seed": "long", "signature": "string", "choices": "binary", "time_ms": "long", "sentence": "string",
    "states": "binary", "digest": "binary", "scope": "string", "moves": "binary", "moments": "long",
    "outside": "string", "rest": "string", "shown": "string", "records": "long", "beginning": "binary",
    **EFFECT_COLUMNS,
}
"""Rows of the search, which also name subject, workload, profile, strategy and turn:

judged   a property: runs that judged it, violated and unknown ones, their segments, the digest of their digests
states   fingerprints of the model states that the runs visited, sorted, 8 bytes each
scope    an enumerable scope: what was visited of it (`invariants.refinement.coverage`): forms as states, 8 bytes each,
         steps as moves, 16 bytes each; moments, and those outside as JSON, {reason: moments}
failure  for each property and signature the simplest run that showed it: seed, choices (a byte each), time, digest;
         violated says in how many runs it was shown; beginning is the digest of the records that there were when it was
         seen, and of a few more: so many, 0 is all of the run
unknown  the first run of which nothing can be said: seed, and why as the sentence; violated is 1 if it did not end
trails   where states are wanted: steps of all models in the first run, as a JSON list of lines
         (`model.language.open.trails`)
near     a state that is wanted, its number as the property: violated is 1 if a run has reached it, rest says as JSON
         where the runs were nearest
called   of a variant: a function that it replaces, or whose repair it leaves out; calls, and in how many runs (reached)
compared of a variant: the first run in which such a function is called, or the first run, played again with the base;
         violated is 1 if it is another run, or its judges saw something else

Rows of units that look again:

again    for each property and signature: violated is 1 if it was seen again; choices, time, sentence and digest
         of that; unknown is 1 if equal choices gave different digests; runs that it took; rest says as JSON where the
         next unit goes on to make the tape simpler, null if it is as simple as can be; shown is what its evidence
         shows, as JSON (`stateful_tests.worlds.evidence.exhibit`). Of a tape that is asked for its digest only time,
         sentence and shown are null
"""

_BITS = (1 << 64) - 1

Key = tuple[str, ...]
"""A property and a signature: names, the same for all runs that fail in the same way."""


@cache
def judged(workload: str) -> tuple[str, ...]:
    """Names of the properties that a run of a workload is judged by."""
    known = WORKLOADS[workload]
    names = [name for one in known.followers(World()) for name in one.properties]
    rules = [one for one in applying(known.promises, known.observed) if not issubclass(one, Ascription)]
    return tuple(dict.fromkeys([*names, *(one.name for one in rules)]))


def covering(workloads: Sequence[str]) -> tuple[str, ...]:
    """Some of these workloads, which judge each property and visit each scope that any does; the most telling first."""
    about = {one: {*judged(one), *WORKLOADS[one].scopes} for one in workloads}
    left, chosen = set[str]().union(*about.values()), list[str]()
    while left:
        chosen.append(max(workloads, key=lambda one: len(left & about[one])))
        left -= about[chosen[-1]]
    return tuple(chosen)


def warm_up() -> None:
    """Make a process that has nothing else to do ready for runs, or for being forked.

    It lives once through the worlds that need all of the models, so that their code is there; see `collect_seldom`.
    """
    for workload in ("orderly", "subscriptions"):
        run(Plan("repaired", workload, "calm"), ReplayTape([]))
    collect_seldom()


def collect_seldom() -> None:
    """Garbage is not looked for in what there is by now, and less often in what is new: worlds are short."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """The same for the time of a block."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def work(unit: Unit) -> Iterator[Row]:
    """The rows of a unit, of either kind."""
    plan = Plan(**unit.body["plan"])
    if "choices" in unit.body:
        yield from looked_again(plan, unit.body)
        return
    goals = [wanted(text) for text in unit.body["wanted"]]
    begun = Begun(plan, bytes.fromhex(unit.body["given"]))
    led = {seed: _lived(begun, seed, goals) for seed in range(*unit.body["seeds"])}
    records = {seed: one.record for seed, one in led.items()}
    same = {"turn": unit.body["turn"], **asdict(plan)}
    yield from ({**row, **same} for row in _searched(plan, records))
    if goals:
        yield from ({**row, **same} for row in _near(list(led.values())))
    first = next(iter(records.values()))
    if unit.body["replayed"] and not first.endless:  # which would cost the same seconds again
        yield {**_replayed(plan, first), **same}
    if subject_named(plan.subject).base is not None:
        yield from ({**row, **same} for row in _effect(plan, list(records.values())))


# Search ---------------------------------------------------------------------------------------------------------------


def _lived(begun: Begun, seed: int, goals: Sequence[Wanted]) -> Led:
    """A run, watched for the states that are wanted if there are any."""
    plan, given = begun.before(random.Random(seed))  # noqa: S311 - repeatable
    return watched(goals, plan, seed, given) if goals else Led(run(plan, STRATEGIES[plan.strategy](seed)))


def _searched(plan: Plan, records: Mapping[int, RunRecord]) -> Iterator[Row]:
    runs = list(records.values())
    together = {
        "runs": len(runs), "unknown": sum(bool(one.unknown) for one in runs),
        "segments": sum(one.segments for one in runs), "digest": _digest([one.digest for one in runs]),
    }
    seen = [{found.property for found in one.seen} for one in runs]
    for name in dict.fromkeys([*judged(plan.workload), *sorted(set().union(*seen))]):
        yield {"kind": "judged", "property": name, "violated": sum(name in one for one in seen), **together}
    yield {"kind": "states", "states": packed(set().union(*(one.states for one in runs))), **together}
    for name in WORKLOADS[plan.workload].scopes:
        yield {**scope_row(name, (one for record in runs for one in record.visited)), "runs": len(runs)}
    of_way = Counter(key for one in runs for key in one.signatures())
    for key, (seed, found) in sorted(_simplest(records).items()):
        yield {**failure_row(key, records[seed], found), "seed": seed, "violated": of_way[key]}
    for seed, one in records.items():
        if one.unknown:
            yield {"kind": "unknown", "seed": seed, "sentence": one.unknown, "violated": int(one.endless)}
            return


def _simplest(records: Mapping[int, RunRecord]) -> dict[Key, tuple[int, Finding]]:
    """For each way to fail the run with the simplest tape, and what was seen of it."""
    best: dict[Key, tuple[int, Finding]] = {}
    for seed in sorted(records, key=lambda seed: (*simplicity(records[seed].choices), seed)):
        for found in records[seed].seen:
            best.setdefault(found.key, (seed, found))
    return best


def simplicity(choices: Sequence[int]) -> tuple[int, int, int]:
    """Orders tapes as the shrinker does, simpler ones first: choices that are not 0, length, sum."""
    return len(choices) - choices.count(0), len(choices), sum(choices)


def packed(states: Iterable[int]) -> bytes:
    """Fingerprints as they are stored; negative ones by their 64 bits."""
    ordered = sorted(state & _BITS for state in states)
    return struct.pack(f"<{len(ordered)}Q", *ordered)


def scope_row(name: str, found: Iterable[Visited]) -> Row:
    """What several runs have visited of a scope."""
    visited = Visited(name)
    for one in found:
        if one.scope == name:
            visited.join(one)
    moves = sorted(visited.steps)
    return {"kind": "scope", "scope": name, "states": packed(visited.states), "moments": visited.moments,
            "moves": struct.pack(f"<{2 * len(moves)}Q", *(form for move in moves for form in move)),
            "outside": json.dumps(visited.outside, sort_keys=True)}


def visited_of(row: Row) -> Visited:
    """What such a row says."""
    states = {form for form, in struct.iter_unpack("<Q", row["states"])}
    steps = {(before, after) for before, after in struct.iter_unpack("<QQ", row["moves"])}
    return Visited(row["scope"], states, steps, row["moments"], Counter(json.loads(row["outside"])))


def _digest(digests: Sequence[str]) -> bytes:
    return blake2b("".join(digests).encode(), digest_size=16).digest()


def failure_row(key: Key, record: RunRecord, found: Finding) -> Row:
    """What is needed to see a failure again."""
    records, beginning = record.beginning(key)
    return {
        "kind": "failure", "property": key[0], "signature": json.dumps(key[1:]), "choices": bytes(record.choices),
        "time_ms": found.time_ms, "sentence": found.sentence, "segments": record.segments,
        "digest": bytes.fromhex(record.digest), "records": records, "beginning": bytes.fromhex(beginning),
    }


def _near(led: Sequence[Led]) -> Iterator[Row]:
    """The trails of the first run, and how near the runs came to each state that is wanted."""
    yield {"kind": "trails", "runs": len(led), "rest": json.dumps([way.line() for way in led[0].trails])}
    for goal in sorted({goal for one in led for goal in one.nearest}):
        found = [one.nearest[goal] for one in led if goal in one.nearest]
        nearest = min(found, key=lambda one: one.order)
        yield {"kind": "near", "property": str(goal), "runs": len(found), "violated": int(nearest.confirmed),
               "rest": json.dumps(nearest.to_json())}


def _replayed(plan: Plan, record: RunRecord) -> Row:
    again = run(plan, QuietTape(record.choices))
    return {"kind": "judged", "property": SAME_RUN, "runs": 1, "violated": int(again.digest != record.digest),
            "unknown": 0, "segments": again.segments, "digest": bytes.fromhex(again.digest)}


def _effect(plan: Plan, records: Sequence[RunRecord]) -> Iterator[Row]:
    """What the variant has done in these runs."""
    yield from called_rows([record.calls for record in records])
    record = next((one for one in records if any(one.calls.values())), records[0])
    base = replace(plan, subject=subject_named(plan.subject).base or plan.subject)
    without = run(base, QuietTape(record.choices))
    yield {"kind": "compared", "runs": 1, "violated": int(fingerprint(without) != fingerprint(record)), "unknown": 0,
           "segments": without.segments, "digest": bytes.fromhex(without.digest)}


# Again ----------------------------------------------------------------------------------------------------------------


def looked_again(plan: Plan, body: Mapping[str, Any]) -> Iterator[Row]:
    """Play a tape, if wanted one that is made simpler from it; a row for each way to fail that is asked about.

    All plays must have the digest of the tape's run. Of several the first is judged, and shows how it fails.
    """
    if body["looks"] == KNOWN_LOOKS:
        yield from _repeated(plan, body)
        return
    tape, digest, made, rest = bytes.fromhex(body["choices"]), body["digest"], 0, None
    if body["runs"]:
        shorter = Simplest(plan, tape, body["keys"][0], body["runs"], body["at"])
        tape, digest, made, rest = bytes(shorter.choices), None, shorter.runs, shorter.at
    telling = ReplayTape(tape)
    with lived(plan, telling) as (world, record):
        shown = {key: exhibit(plan, telling, world, record, key) for key in map(tuple, body["keys"])}
    # Judges change no run, and are half of its cost; where they gave up, the run ended with them.
    again = bool(record.unknown) and not record.talks
    others = [run(plan, QuietTape(tape), judged=again) for _ in range(1, body["looks"])]
    differ = len({record.digest, *(other.digest for other in others), digest or record.digest}) > 1
    for key, found in shown.items():
        yield {
            "kind": "again", **asdict(plan), "property": key[0], "signature": json.dumps(key[1:]),
            "runs": made + body["looks"], "violated": int(found is not None and not differ), "unknown": int(differ),
            "choices": tape, "digest": bytes.fromhex(record.digest), "rest": json.dumps(rest),
            "time_ms": None if found is None else found["time_ms"],
            "sentence": None if found is None else found["sentence"],
            "shown": None if found is None else json.dumps(found, ensure_ascii=False),
        }


def _repeated(plan: Plan, body: Mapping[str, Any]) -> Iterator[Row]:
    """Play a tape for the digest of its run until all was seen: who judges the same run sees the same."""
    tape, records = bytes.fromhex(body["choices"]), body["records"]
    record = run(plan, QuietTape(tape), judged=False, records=records)
    if not records and record.digest != body["digest"]:  # where judges gave up, the run ended with them
        record = run(plan, QuietTape(tape))
    differs = body["digest"] not in (record.parts if records else [record.digest])
    for key in map(tuple, body["keys"]):
        yield {
            "kind": "again", **asdict(plan), "property": key[0], "signature": json.dumps(key[1:]),
            "runs": KNOWN_LOOKS, "violated": int(not differs), "unknown": int(differs), "choices": tape,
            "digest": bytes.fromhex(record.digest), "rest": "null",
        }
