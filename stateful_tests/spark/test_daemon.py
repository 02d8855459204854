from __future__ import annotations

import gc

import pyspark.daemon
import pytest

from spark_fuzz.daemon import AsItLikes


def test_a_task_ends_without_a_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", lambda: pytest.fail("collected"))
    assert AsItLikes.collect() == 0


def test_pyspark_still_collects_by_the_name_that_is_replaced() -> None:
    assert vars(pyspark.daemon)["gc"] is gc
    assert "collect" in pyspark.daemon.manager.__code__.co_names
