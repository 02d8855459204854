"""A command that works for some seconds says how far it is, also where nothing can move."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import typer

from invariants.front_desk import desk as desk_module, ticking
from invariants.front_desk.desk import Desk
from invariants.verdict import Outcome, Subject, Verdict

ROW = Verdict("one_owner", "explore", Subject("model", "group 1"), Outcome.HOLDS, Outcome.HOLDS, "rocketproof explore")


def lines(capsys: pytest.CaptureFixture[str], seconds: float) -> list[str]:
    """What stands on standard error of a command whose judge works for so long before its second row."""
    desk = Desk()

    def judge() -> Iterator[Verdict]:
        yield ROW
        desk.tell("3 of 20 programs")
        time.sleep(seconds)
        yield ROW

    with suppress(typer.Exit), desk:
        desk.judge("machine", judge())
    return capsys.readouterr().err.splitlines()


def test_who_works_for_long_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(desk_module, "TOLD_S", 0.05)
    monkeypatch.setattr(ticking, "EVERY_S", 0.05)
    told = lines(capsys, 0.3)
    assert len(told) > 2
    assert set(told) == {"machine: 0 s | 1 verdict | 3 of 20 programs"}


def test_who_is_soon_ready_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, 0.0) == []
