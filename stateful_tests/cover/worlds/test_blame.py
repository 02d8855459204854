"""Whom a row blames for a finding of a variant: its base, if that shows it on the same tape, and the variant if not."""

from __future__ import annotations

from pathlib import Path

import pytest

from impl.hosts.simulation.tape import RandomTape
from invariants.verdict import Outcome
from stateful_tests.machines.judge import document, replay_program, replayed
from stateful_tests.machines.program import Program, parsed
from stateful_tests.machines.search import played
from stateful_tests.worlds.evidence import documents, replay_run, verdict_of
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import subject_on

NAME = "pull_finds_its_subscription"
TEXT = """
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace

ORIGINAL = ConsumerGroupInfo.remove_subscriptions_missing_in


@replace(ConsumerGroupInfo, "remove_subscriptions_missing_in")
async def remove(self, sub_list, threads):
    return await ORIGINAL(self, SUBSCRIPTIONS, threads)


VARIANT = Variant("remove", "change", "Heartbeats remove.", replacements=(remove,))
"""
DIFFERENT_TOPICS = parsed("subscribe(who='consumer1', topic='invoices', expression='*'); start(who='consumer2')")
ONE_TOPIC = parsed("start(who='consumer2'); pass_time(s=30)")


def on_shipped(folder: Path, subscriptions: str) -> str:
    """A change of 4.9.3: what a heartbeat says that its sender subscribes."""
    file = folder / "change.py"
    file.write_text(TEXT.replace("SUBSCRIPTIONS", subscriptions), "utf-8")
    return subject_on("shipped", str(file))


CASES = pytest.mark.parametrize(("subscriptions", "program", "hazards", "expected"), [
    ("sub_list", DIFFERENT_TOPICS, ("B-1",), Outcome.VIOLATED),
    ("()", ONE_TOPIC, (), Outcome.HOLDS),
])


@CASES
def test_the_row_of_a_program(
    tmp_path: Path, subscriptions: str, program: Program, hazards: tuple[str, ...], expected: Outcome,
) -> None:
    subject = on_shipped(tmp_path, subscriptions)
    row = next(one for one in replayed("subscription", subject, program) if one.property == NAME)
    found = played("subscription", subject, program).trial.found[NAME]
    again = replay_program(document(found, row))
    assert [(one.hazard, one.expected, one.outcome) for one in (row, again)] == [
        (hazards, expected, Outcome.VIOLATED)] * 2


def test_the_row_of_a_tape_that_only_the_change_breaks(tmp_path: Path) -> None:
    plan = Plan(on_shipped(tmp_path, "()"), "smallest", "calm")
    record = run(plan, RandomTape(0))
    key = next(one.key for one in record.seen if one.property == NAME)
    row = verdict_of(plan, "campaign", NAME, Outcome.VIOLATED, replay="rocketproof replay F")
    (kept,) = documents(plan, record.choices, [(row, key)])
    assert kept is not None
    again = replay_run(kept)
    assert (again.hazard, again.expected, again.outcome) == ((), Outcome.HOLDS, Outcome.VIOLATED)
    assert again.note.endswith("shipped does not show it on this tape")


def test_the_row_of_a_tape_that_the_base_breaks_too(tmp_path: Path) -> None:
    plan = Plan(on_shipped(tmp_path, "sub_list"), "subscriptions", "calm")
    seed, key = next((seed, one.key) for seed in range(20) for one in run(plan, RandomTape(seed)).seen
                     if one.property == NAME)
    row = verdict_of(plan, "campaign", NAME, Outcome.VIOLATED, key=key, choices=run(plan, RandomTape(seed)).choices)
    assert (row.hazard, row.expected) == (("B-1",), Outcome.VIOLATED)
