"""What became of one recorded frame, answer, report or case; and a file of them, counted."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from impl.decisions.java_errors import JavaError
from stateful_tests.conformance.replay import VERSION, FileResult
from stateful_tests.conformance.wire.recorded import Scenario

_NOT_UNDERSTOOD = (AssertionError, AttributeError, LookupError, TypeError, ValueError, JavaError)
"""What a recording that is not as we expect makes of us: the scenario is then unknown."""


class Row(NamedTuple):
    """One thing of a file that was compared, or was not.

    line -- where it stands; what -- what it is; recorded -- how the file names it. sentence -- what differs, None:
    nothing. excuse -- the listed reason for which it differs. aside -- the reason for which it is not compared; then
    the rest says nothing.
    """

    line: int
    what: object
    sentence: str | None = None
    excuse: str | None = None
    aside: str = ""
    recorded: object = None


def judged(scenario: Scenario, what: str, java: str, rows: Iterable[Row]) -> FileResult:
    """All rows of a file; raises BadInputError.

    what, java -- what the file holds, and which Java it is about.
    """
    begin = time.perf_counter()
    header = {"what": what, "java": java, "version": VERSION}
    result = FileResult(scenario.path, header, compared=True, label=f"wire/{scenario.name}")
    try:
        for row in rows:
            if row.aside:
                result.set_aside(row.aside)
            else:
                result.count(row.line, {"a": row.what, "r": row.recorded}, row.sentence, row.excuse)
    except _NOT_UNDERSTOOD as error:
        sentence = f"not lived through ({type(error).__name__}: {error})"
        result.not_compared(1, {"a": scenario.name, "r": None}, sentence)
    result.seconds = time.perf_counter() - begin
    return result
