from __future__ import annotations

import gc

import pyspark.daemon
import pytest

from spark_fuzz.daemon import TASKS, Seldom


def test_garbage_is_collected_after_a_number_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", lambda: 7)
    monkeypatch.setattr(Seldom, "tasks", 0)
    assert [Seldom.collect() for _ in range(2 * TASKS)] == 2 * [*(TASKS - 1) * [0], 7]


def test_pyspark_still_collects_by_the_name_that_is_replaced() -> None:
    assert vars(pyspark.daemon)["gc"] is gc
    assert "collect" in pyspark.daemon.manager.__code__.co_names
