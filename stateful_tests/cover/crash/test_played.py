"""Traces of the model of the commit log run on the store, and it has then what the model has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app
from invariants.concepts import PROPERTIES
from model.commit_log.store import Store
from model.explorer import explore
from model.scopes import SCOPES
from stateful_tests.crash.played import Played, UnplayedError
from stateful_tests.worlds.subjects import subject_named

SHOWN = {named.name: named for named in SCOPES if named.scope.concept is Store.concept and named.violated}
NOT_PLAYED = "commit log, V7"


@cache
def traces(scope: str) -> Mapping[str, Any]:
    """Property to the shortest trace that breaks it."""
    named = SHOWN[scope]
    return explore(named.scope, [PROPERTIES[name] for name in named.violated]).violations


@pytest.mark.parametrize("scope", sorted(SHOWN.keys() - {NOT_PLAYED}))
def test_what_is_refuted_happens_on_the_store(scope: str) -> None:
    assert traces(scope).keys() == SHOWN[scope].violated.keys()
    for name, trace in traces(scope).items():
        assert Played(trace, {}).differences == [], name


def test_a_torn_record_is_not_played() -> None:
    with pytest.raises(UnplayedError, match="sync_torn"):
        Played(traces(NOT_PLAYED)["recovery_is_a_prefix"], {})


def test_a_store_that_forces_what_it_recovers_does_not_lose_it() -> None:
    trace = traces("commit log, V36")["acknowledged_survives_crash"]
    with subject_named("repaired").running(), pytest.raises(ValueError, match="is on the disk"):
        Played(trace, {})
    with subject_named("repaired-V36").running():
        assert Played(trace, {}).differences == []


def test_a_store_without_a_tail_has_something_else_than_the_model() -> None:
    with subject_named("repaired").running():
        trace = traces("commit log, V4")["recovery_is_a_prefix"]
        (difference,) = Played(trace, {}).differences
        assert difference == f"after step {len(trace['steps'])} end is 1, the model has 2"


def test_the_command_shows_the_files(tmp_path: Any) -> None:
    runner = CliRunner()
    runner.invoke(app, ["explore", "commit log, V35", "--property", "no_record_is_missed", "--out", str(tmp_path)])
    (file,) = (tmp_path / "evidence").iterdir()
    result = runner.invoke(app, ["replay", str(file)])
    assert result.exit_code == 0
    assert "expire_early()" in result.stdout
    assert "store/consumequeue/A/0/00000000000000000000" in result.stdout
    assert "it has what the model has" in result.stdout
