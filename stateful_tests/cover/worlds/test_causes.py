"""The count of how often findings name the right hazard, in its short form."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench import causes
from impl.variants.catalogue import NO_REPAIR
from invariants.finding import Finding, put_down_to


def told(name: str, *hazards: str) -> Finding:
    """A finding that is put down to these."""
    return Finding(name, None, "It is so.", tuple(map(put_down_to, hazards)), causes=hazards)


@pytest.mark.parametrize(("hazard", "found", "line"), [
    ("L8", [told("reset_takes_effect", "L8")], (1, 1, 0, 0)),
    ("L8", [told("reset_takes_effect", "X21"), told("reset_takes_effect", "L8", "X21")], (2, 0, 1, 1)),
    ("L8", [told("one_owner_per_queue", "D1")], (0, 0, 0, 0)),
    ("B-17", [told("connections_of_members_last")], (1, 1, 0, 0)),
    ("B-11", [told("connections_of_members_last")], (1, 0, 0, 1)),
])
def test_a_finding_is_counted_by_what_its_row_would_name(
    monkeypatch: pytest.MonkeyPatch, hazard: str, found: Sequence[Finding], line: tuple[int, ...],
) -> None:
    monkeypatch.setattr(causes, "lived_through", lambda *_: iter(found))
    counted = causes.counted(hazard, [*causes.named(hazard, 1, 0)])
    assert tuple(counted[name] for name in ("findings", "right", "among", "wrong")) == line
    assert sum(counted["as"].values()) == counted["among"] + counted["wrong"]


def test_hazards_count_that_are_repaired_and_break_what_others_break_too() -> None:
    hazards = causes.candidates()
    assert {"L8", "X21", "N-2", "B-17"} <= {*hazards}
    assert not {*hazards} & {*NO_REPAIR, "N-29"}


def test_no_hunt_finds_nothing() -> None:
    assert [*causes.lived_through("repaired-L8", 0, 0)] == []
