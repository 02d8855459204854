from __future__ import annotations

import gc
import os
import signal
from types import SimpleNamespace

import pyspark.daemon
import pytest

from spark_fuzz.daemon import TASKS, Seldom
from spark_fuzz.deaths import Deaths, reaping


def test_garbage_is_collected_after_a_number_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", lambda: 7)
    monkeypatch.setattr(Seldom, "tasks", 0)
    assert [Seldom.collect() for _ in range(2 * TASKS)] == 2 * [*(TASKS - 1) * [0], 7]


def test_how_children_end_is_noted_by_the_unit_that_they_began() -> None:
    notes = Deaths()
    assert notes.of("a") == []
    notes.keep()
    for how in ("signal", "status", "well"):
        child = os.fork()
        if not child:
            notes.began("b" if how == "well" else "a")
            if how == "signal":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(3)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        notes.reap()
    assert notes.of("a") == ["signal 9 (SIGKILL)", "exit status 3"]
    assert (notes.of("b"), notes.of("c")) == (["exit status 3"], [])


def test_a_worker_that_has_begun_another_unit_has_finished_the_first() -> None:
    notes = Deaths()
    notes.keep()
    child = os.fork()
    if not child:
        notes.began("a")
        notes.began("b")
        os._exit(1)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    notes.reap()
    assert (notes.of("a"), notes.of("b")) == ([], ["exit status 1"])


def test_pyspark_still_ignores_how_children_end_by_the_name_that_is_replaced() -> None:
    set_handlers: dict[int, object] = {}
    notes = Deaths()
    replaced = reaping(SimpleNamespace(**{**vars(signal), "signal": set_handlers.__setitem__}), notes)
    replaced.signal(signal.SIGCHLD, signal.SIG_IGN)
    replaced.signal(signal.SIGHUP, signal.SIG_IGN)
    assert set_handlers == {signal.SIGCHLD: notes.reap, signal.SIGHUP: signal.SIG_IGN}
    assert vars(pyspark.daemon)["signal"] is signal
    assert "signal" in pyspark.daemon.manager.__code__.co_names


def test_pyspark_still_collects_by_the_name_that_is_replaced() -> None:
    assert vars(pyspark.daemon)["gc"] is gc
    assert "collect" in pyspark.daemon.manager.__code__.co_names
