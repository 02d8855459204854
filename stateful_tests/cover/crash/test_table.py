"""The table in docs of what finds each hazard of the store is the one that is derived."""

from __future__ import annotations

from pathlib import Path

from stateful_tests.crash.table import rows

PAGE = Path(__file__).parents[3] / "docs" / "crash.md"


def test_the_table_in_docs_is_the_one_that_is_derived() -> None:
    assert "\n".join(rows()) in PAGE.read_text("utf-8")
