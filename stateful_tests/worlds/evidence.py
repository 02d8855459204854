"""Evidence of a run: its plan and its tape, and what people want to see of it; and its replay.

A document of kind "run" adds to `invariants.evidence`

    plan        {subject, workload, profile, strategy}
    choices     the tape, a list of small integers
    digest      of the run, 32 hexadecimal digits
    signature   what names the failure: property, and names that no seed decides
    time_ms     when it was seen
    lifelines   [machine, …] in drawing order
    told        [{time_ms, who, sentence}]: the choices that were not boring
    events      [{time_ms, machine, event, fields: {name: value}}]: what was reported soon after such a choice, and
                not long before the failure
    messages    [{from, to, sent_ms, received_ms | null, text}]: of the same times; null: it never arrived
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from impl.events import HOST_EVENTS
from impl.hosts.simulation.tape import ReplayTape
from invariants import evidence
from invariants.finding import Finding
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.worlds.run import Plan, RunRecord, lived, run
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

BEFORE_MS, AFTER_MS = 5_000, 2_000
"""How much of a run is kept before the failure, and after each choice that was not boring."""
MOST = 2_000
"""At most so many events, and messages: the last ones."""


def seen_as(record: RunRecord, signature: Sequence[str]) -> Finding | None:
    """The finding with this property and signature; None if the run has none."""
    return next((one for one in record.seen if one.key == tuple(signature)), None)


def verdict_of(plan: Plan, judge: str, name: str, outcome: Outcome, note: str = "", **row: Any) -> Verdict:
    """The verdict row of a property of a plan; row -- other fields of the row."""
    subject = subject_named(plan.subject)
    details = {"workload": plan.workload, "profile": plan.profile, "strategy": plan.strategy}
    hazards = subject.hazards(name) if outcome is Outcome.VIOLATED else ()
    return Verdict(name, judge, Subject("variant", subject.title, details), subject.expected(name), outcome,
                   row.pop("replay", ""), hazard=hazards, note=note, **row)


def documents(
    plan: Plan, choices: Sequence[int], asked: Sequence[tuple[Verdict, Sequence[str]]],
) -> list[dict[str, Any] | None]:
    """The evidence of each way in which a tape fails; the run is played once. None: it does not fail so.

    asked -- of each its verdict and its signature.
    """
    tape = ReplayTape(choices)
    with lived(plan, tape) as (world, record):
        return [_document(verdict, plan, tape, world, record, signature) for verdict, signature in asked]


def _document(
    verdict: Verdict, plan: Plan, tape: ReplayTape, world: World, record: RunRecord, signature: Sequence[str],
) -> dict[str, Any] | None:
    found = seen_as(record, signature)
    if found is None:
        return None
    return evidence.document(
        verdict, "run", found.sentence, plan=asdict(plan), choices=list(record.choices), digest=record.digest,
        signature=list(signature), time_ms=found.time_ms, **shown(world, _around(tape, found)),
        told=[{"time_ms": told.time_ms, "who": told.who, "sentence": told.sentence} for told in tape.told])


def _around(tape: ReplayTape, found: Finding) -> Callable[[int], bool]:
    """Whether a time of a run explains a failure."""
    spans = [(told.time_ms, told.time_ms + AFTER_MS) for told in tape.told]
    spans.append((found.time_ms - BEFORE_MS, found.time_ms))
    return lambda ms: ms <= found.time_ms and any(low <= ms <= high for low, high in spans)


def shown(world: World, kept: Callable[[int], bool]) -> dict[str, Any]:
    """The lifelines, and the last of what machines reported and sent at the times (ms) that are kept."""
    events = [{"time_ms": ms, "machine": machine, **_said(event)}
              for ms, machine, event in world.simulation.kernel.records if kept(ms)]
    messages = [{"from": flow.source, "to": flow.target, "sent_ms": flow.sent_ms, "received_ms": flow.received_ms,
                 "text": flow.text} for flow in world.simulation.network.flows if kept(flow.sent_ms)]
    return {"lifelines": list(world.simulation.boots), "events": events[-MOST:], "messages": messages[-MOST:]}


def _said(event: Any) -> dict[str, Any]:
    """An event as its name and its fields; where it happened is said beside it."""
    if not hasattr(event, "_fields"):
        return {"event": str(event[0]), "fields": {"with": ", ".join(map(str, event[1:]))} if event[1:] else {}}
    whose = 0 if event.__class__ in HOST_EVENTS else 1
    fields = zip(event._fields[whose:], event[whose:], strict=True)
    return {"event": type(event).__name__, "fields": {name: _short(value) for name, value in fields}}


def _short(value: Any) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_short, value))) + "}"
    return f"{value.broker_name}:{value.queue_id}" if hasattr(value, "queue_id") else str(value)


def replay_run(stored: Mapping[str, Any]) -> Verdict:
    """Play the tape of a document twice: both runs must have its digest, and fail as it says.

    The outcome is violated if they do, holds if they agree on another digest (the code has changed) and do not fail,
    unknown if they do not agree. Raises BadInputError when the plan names what is not there.
    """
    try:
        plan, choices = Plan(**stored["plan"]), [int(choice) for choice in stored["choices"]]
    except (TypeError, ValueError) as error:
        raise BadInputError(f"no run that can be replayed ({error}); give a file that a verdict names") from error
    first, second = (run(plan, ReplayTape(choices)) for _ in range(2))
    again = {"replay": str(stored["replay"])}
    judge, name = str(stored["judge"]), str(stored["property"])
    if first.digest != second.digest:
        note = "two replays differ: the run is not deterministic"
        return verdict_of(plan, judge, name, Outcome.UNKNOWN, note, **again)
    found = seen_as(first, stored["signature"])
    if found is None:
        return verdict_of(plan, judge, name, Outcome.HOLDS, "the run does not fail any more", **again)
    same = "digest as stored" if first.digest == stored["digest"] else "another digest: the code has changed"
    return verdict_of(plan, judge, name, Outcome.VIOLATED, f"{found.sentence} ({same})", **again)
