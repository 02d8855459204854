"""The table of the README that says which promises to users are kept: it is derived from what is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateful_tests.worlds.subjects import DECLARED, subject_named

USERS = {
    "What is acknowledged is delivered": "acknowledged_is_delivered",
    "What is acknowledged survives a crash of its broker": "acknowledged_survives_crash",
    "Nothing is delivered that nobody has sent": "delivered_was_sent",
    "Nothing is skipped when a queue changes hands": "nothing_is_skipped",
    "What is settled does not come again to who keeps the queue": "settled_is_over",
    "Who commits goes forward": "committed_offset_never_goes_back",
    "A queue has one owner": "one_owner_per_queue",
    "Ordered queues have one listener at a time": "listeners_do_not_overlap",
    "A broadcasting member goes on where it ended": "broadcaster_goes_on_where_it_ended",
    "Filters are one's own": "pull_is_filtered_by_own_expression",
    "A delayed message waits": "retry_waits_its_delay",
}
"""What users rely on, and the property that says it."""


def said(subject: str, name: str) -> str:
    """What is expected of a property of a subject."""
    hazards = subject_named(subject).hazards(name)
    return f"violated: {', '.join(hazards)}" if hazards else "holds"


@pytest.mark.parametrize(("promise", "name"), USERS.items(), ids=USERS.values())
def test_the_front_page_says_what_is_declared(promise: str, name: str) -> None:
    row = f"| {promise} | {name} | {said('shipped', name)} | {said('repaired', name)} |"
    assert row in Path("README.md").read_text(encoding="utf-8").splitlines(), row
    assert name in DECLARED
