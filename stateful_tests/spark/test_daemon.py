from __future__ import annotations

import gc

import pyspark.daemon
import pytest

from spark_fuzz.daemon import TASKS, Collector


def test_a_worker_collects_after_some_tasks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: done.append("collect"))
    monkeypatch.setattr(gc, "freeze", lambda: done.append("freeze"))
    collector = Collector()
    for _ in range(2 * TASKS - 1):
        collector.collect()
    assert done == ["collect", "freeze"]


def test_pyspark_still_collects_by_the_name_that_is_replaced() -> None:
    assert vars(pyspark.daemon)["gc"] is gc
    assert "collect" in pyspark.daemon.manager.__code__.co_names
