"""Judges that crash, Ctrl-C, and packages that are missing: what is kept, and what is said."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invariants import exploring
from invariants.front_desk import interrupt
from invariants.front_desk.desk import CRASHED, Desk
from invariants.report import page
from invariants.verdict import Outcome, Verdict
from stateful_tests.cover.front_desk.commands import one_line, rows, run


def test_a_judge_that_crashes_is_unknown_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any, **__: Any) -> Iterator[Verdict]:
        raise ZeroDivisionError("by accident")

    monkeypatch.setattr(exploring, "explore_scopes", broken)
    monkeypatch.setattr(sys, "argv", ["rocketproof", "verify", "abandoned_lock_is_freed"])
    result = run("verify", "abandoned_lock_is_freed", "--out", tmp_path)
    found = rows((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert result.exit_code == 3
    assert (found[0].property, found[0].outcome) == (CRASHED, Outcome.UNKNOWN)
    assert "ZeroDivisionError: by accident" in found[0].note
    assert found[0].replay == "rocketproof verify abandoned_lock_is_freed"
    assert {row.judge for row in found[1:]} == {"explore", "prove"}


def test_a_report_that_crashes_takes_no_verdict_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> Path:
        raise ZeroDivisionError

    monkeypatch.setattr(page, "write_report", broken)
    result = run("verify", "it_took_the_whole_lease", "--out", tmp_path)
    assert result.exit_code == 3
    assert "it_took_the_whole_lease" in result.stdout


def swallowing(row: Verdict) -> Iterator[Verdict]:
    """A judge that does not let Ctrl-C through."""
    yield row
    with contextlib.suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    yield row
    raise AssertionError("it goes on after Ctrl-C")


def test_ctrl_c_that_a_judge_swallows_is_heard(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (row,) = exploring.explore_scopes(["abandoned lock"], ["it_took_the_whole_lease"])
    desk = Desk(str(tmp_path / "rows.jsonl"))
    with pytest.raises(BaseException) as ended, desk:  # noqa: PT011 - the status is looked at
        desk.judge("swallowing", swallowing(row))
    assert getattr(ended.value, "exit_code", None) == 3
    assert len(rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))) == 2
    assert "interrupted: 2 verdicts kept; no count has what was still to be judged" in one_line(capsys.readouterr().err)


def test_ctrl_c_before_the_first_row_says_that_nothing_was_judged(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BaseException), Desk():  # noqa: B017, PT011 - whatever it leaves with
        raise KeyboardInterrupt
    assert one_line(capsys.readouterr().err).endswith("interrupted before anything was judged")


def test_ctrl_c_between_two_judges_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    def after_ctrl_c() -> None:
        raise SystemExit(interrupt.TYPER_INTERRUPTED)

    monkeypatch.setattr(interrupt.INTERRUPT, "listen", lambda: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # start replaces it
    with pytest.raises(SystemExit) as ended:
        interrupt.start(after_ctrl_c)
    assert ended.value.code == 3
    assert "interrupted" in one_line(capsys.readouterr().err)


def test_ctrl_c_in_a_destructor_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))
    dying = Dying()
    del dying
    assert reported == [KeyboardInterrupt]
    interrupt.quiet()
    dying = Dying()
    del dying
    assert reported == [KeyboardInterrupt]


@pytest.mark.parametrize("pressed", [False, True])
def test_a_destructor_that_misses_an_attribute_is_reported_unless_ctrl_c_was_pressed(
    pressed: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    class HalfMade:
        def __del__(self) -> None:
            raise AttributeError

    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))
    monkeypatch.setattr(interrupt.INTERRUPT, "pressed", pressed)
    interrupt.quiet()
    half_made = HalfMade()
    del half_made
    assert bool(reported) is not pressed


def test_a_package_that_is_missing_is_named_with_its_cure(capsys: pytest.CaptureFixture[str]) -> None:
    def judge() -> Iterator[Verdict]:
        yield from ()
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark.sql")

    with pytest.raises(BaseException) as ended, Desk() as desk:  # noqa: PT011 - the status is looked at
        desk.judge("campaign", judge())
    assert getattr(ended.value, "exit_code", None) == 2
    assert "pip install 'rocketproof[spark]'" in one_line(capsys.readouterr().err)


def test_a_judge_ends_with_the_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    def judge() -> Iterator[Verdict]:
        try:
            yield row
        finally:
            ended.append(True)

    def interrupted(_: Verdict) -> None:
        raise KeyboardInterrupt

    (row,) = exploring.explore_scopes(["abandoned lock"], ["it_took_the_whole_lease"])
    desk = Desk()
    monkeypatch.setattr(desk, "take", interrupted)
    with pytest.raises(BaseException), desk:  # noqa: B017, PT011 - whatever it leaves with
        desk.judge("short", judge())
    assert ended == [True]
