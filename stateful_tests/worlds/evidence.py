"""Evidence of a run: its plan and its tape, and what people want to see of it; and its replay.

A document of kind "run" adds to `invariants.evidence`

    plan        {subject, workload, profile, strategy}
    choices     the tape, a list of small integers
    digest      of the run, 32 hexadecimal digits
    signature   what names the failure: property, and names that no seed decides
    time_ms     when it was seen
    told        [{time_ms, who, sentence}]: the choices that were not boring
    picture     what led to the failure: {lifelines: [machine, …] in drawing order, claim: the sentence below it,
                left_out: how many steps of the causal past it does not show,
                rows: [{time_ms, at: machine, source, target: ends of an arrow or empty, text, kind, mark, began}]};
                kind and mark as in `invariants.pictures.marks`; began: it is what began the failure

A run that was recorded, and not played again since, has neither told nor picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from impl.hosts.simulation.tape import QuietTape, ReplayTape
from invariants import evidence
from invariants.finding import Finding
from invariants.hazards import HAZARDS
from invariants.histories.checks import PROMISES
from invariants.pictures.lives import life
from invariants.pictures.picture import picture
from invariants.rules.telling_apart import perhaps, shown
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.worlds.run import Plan, RunRecord, lived, run
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World


def seen_as(record: RunRecord, signature: Sequence[str]) -> Finding | None:
    """The finding with this property and signature; None if the run has none."""
    return next((one for one in record.seen if one.key == tuple(signature)), None)


def verdict_of(
    plan: Plan, judge: str, name: str, outcome: Outcome, note: str = "", *, key: Sequence[str] = (),
    choices: Sequence[int] = (), **row: Any,
) -> Verdict:
    """The verdict row of a property of a plan; row -- other fields of the row.

    key, choices -- property and signature of the finding, and the tape that shows it: the row names the hazards that
    it shows, not all that can break it; what the variant on top has done is no hazard of its base.
    """
    subject = subject_named(plan.subject)
    details = {"workload": plan.workload, "profile": plan.profile, "strategy": plan.strategy}
    hazards = subject.hazards(name) if outcome is Outcome.VIOLATED else ()
    expected = subject.expected(name)
    if key and is_by_variant(plan, choices, key):
        hazards, expected = (), Outcome.VIOLATED if subject.kind == "bug" else Outcome.HOLDS
        note = f"{note}; {subject.base} does not show it on this tape"
    elif key:
        hazards, note = shown(hazards, key), note + perhaps(hazards, key)
    return Verdict(name, judge, Subject("variant", subject.title, details), expected, outcome, row.pop("replay", ""),
                   hazard=hazards, note=note, **row)


def is_by_variant(plan: Plan, choices: Sequence[int], key: Sequence[str]) -> bool:
    """Whether it is the variant on top that makes a tape fail so: with its base alone the same tape does not."""
    known = subject_named(plan.subject)
    if known.top is None or known.base is None:
        return False
    return not fails(replace(plan, subject=known.base), bytes(choices), tuple(key))


@lru_cache(maxsize=256)
def fails(plan: Plan, choices: bytes, key: tuple[str, ...]) -> bool:
    """Whether a run fails in a way: property and signature."""
    return key in run(plan, QuietTape(choices), until=key).signatures()


def documents(
    plan: Plan, choices: Sequence[int], asked: Sequence[tuple[Verdict, Sequence[str]]],
) -> list[dict[str, Any] | None]:
    """The evidence of each way in which a tape fails; the run is played once. None: it does not fail so.

    asked -- of each its verdict and its signature.
    """
    tape = ReplayTape(choices)
    with lived(plan, tape) as (world, record):
        shown = [(verdict, exhibit(plan, tape, world, record, signature)) for verdict, signature in asked]
    return [None if one is None else document(verdict, one) for verdict, one in shown]


def exhibit(
    plan: Plan, tape: ReplayTape, world: World, record: RunRecord, signature: Sequence[str],
) -> dict[str, Any] | None:
    """What the document of a way to fail holds besides its verdict, of a run that is looked at; None: it fails not so.

    tape -- that has been played in the world.
    """
    found = seen_as(record, signature)
    if found is None:
        return None
    return {
        "sentence": found.sentence, "plan": asdict(plan), "choices": list(record.choices), "digest": record.digest,
        "signature": list(signature), "time_ms": found.time_ms, "picture": pictured(world, found, plan.subject),
        "told": [{"time_ms": told.time_ms, "who": told.who, "sentence": told.sentence} for told in tape.told]}


def drawn(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document with its picture: the tape is played if it has none; unchanged if it does not fail any more."""
    if stored["kind"] != "run" or "picture" in stored:
        return stored
    plan, tape = Plan(**stored["plan"]), ReplayTape(stored["choices"])
    with lived(plan, tape) as (world, record):
        return {**stored, **(exhibit(plan, tape, world, record, stored["signature"]) or {})}


def document(verdict: Verdict, shown: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence of a verdict from what `exhibit` gave."""
    return evidence.document(verdict, "run", **shown)


def pictured(world: World, found: Finding, subject: str) -> dict[str, Any]:
    """The picture of a finding of a world that keeps a trail, and in which a subject has lived.

    Of what clients have observed of a message it is the life of the message.
    """
    kernel = world.simulation.kernel
    if found.property in PROMISES and dict(found.about).get("key") is not None:
        return life(kernel.records, world.notes.history(), found).document()
    if kernel.trail is None:
        raise ValueError("the world keeps no trail: its tape does not tell")
    return picture(kernel.records, kernel.trail, found, users_see(subject, found)).document()


def users_see(subject: str, found: Finding) -> str:
    """What users see of the one hazard that a finding of a subject shows; empty if it may be of several, or of none."""
    known = subject_named(subject)
    hazards = shown(known.hazards(found.property), found.key)
    if known.top is not None:
        hazards = tuple(hazard for hazard in hazards if hazard in found.causes)
    return HAZARDS[hazards[0]].seen if len(hazards) == 1 else ""


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
    replay = str(stored["replay"])
    judge, name = str(stored["judge"]), str(stored["property"])
    if first.digest != second.digest:
        note = "two replays differ: the run is not deterministic"
        return verdict_of(plan, judge, name, Outcome.UNKNOWN, note, replay=replay)
    found = seen_as(first, stored["signature"])
    if found is None:
        return verdict_of(plan, judge, name, Outcome.HOLDS, "the run does not fail any more", replay=replay)
    same = "digest as stored" if first.digest == stored["digest"] else "another digest: the code has changed"
    return verdict_of(plan, judge, name, Outcome.VIOLATED, f"{found.sentence} ({same})", key=found.key,
                      choices=choices, replay=replay)
