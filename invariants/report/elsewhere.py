"""Rows for other programs: JUnit's XML, and Markdown for the summary of a job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from markupsafe import escape

from invariants.report import grouping, words
from invariants.verdict import Outcome, Verdict

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold
_LONGEST = 300  # characters of a note in a table


def junit(rows: Sequence[Verdict]) -> str:
    """A test suite with a test case for each row, named by property and subject; the judge is its class.

    A row that differs from its expectation is a failure, one that is unknown an error; both say how to see it again. A
    violation that is expected passes, and its output tells of it.
    """
    standings = Counter(map(words.standing, rows))
    head = (f'<testsuite name="rocketproof" tests="{len(rows)}" failures="{standings["different"]}" '
            f'errors="{standings["unknown"]}" time="{sum(map(_seconds, rows)):.3f}">')
    cases = "".join(map(_case, rows))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{head}\n{cases}</testsuite>\n</testsuites>\n'


def _case(row: Verdict) -> str:
    name = f"{row.property} [{words.subject(row)}]"
    head = f'<testcase classname={_quoted(f"rocketproof.{row.judge}")} name={_quoted(name)} time="{_seconds(row):.3f}">'
    return f"{head}{''.join(_said(row))}</testcase>\n"


def _said(row: Verdict) -> Iterator[str]:
    standing = words.standing(row)
    text = _text("\n".join(filter(None, (row.note, f"see it again: {row.replay}"))))
    if standing != "expected":
        element = "failure" if standing == "different" else "error"
        message = _quoted(f"{row.outcome}, expected {row.expected}")
        yield f"<{element} type={_quoted(str(row.outcome))} message={message}>{text}</{element}>"
    elif row.outcome is Outcome.VIOLATED:
        by = f" ({_text(', '.join(row.hazard))})" if row.hazard else ""
        yield f"<system-out>violated, as expected{by}\n{text}</system-out>"


def summary(rows: Sequence[Verdict]) -> str:
    """A count, and a table of what differs or is unknown, in Markdown; each with the command that shows it again."""
    real, planted = grouping.split(rows)
    news = sorted((row for row in [*real, *planted] if words.standing(row) != "expected"),
                  key=lambda row: grouping.STANDINGS.index(words.standing(row)))
    kinds = Counter(row.outcome for row in real if row.as_expected)
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in kinds.items()) or "none"
    need = "needs" if len(news) == 1 else "need"
    count = f"{len(real):,} verdict{'s' * (len(real) != 1)}; as expected: {told}; {len(news):,} {need} a look."
    lines = ["### rocketproof", "", *(f"{_cell(said)}\n" for said in words.headlines(rows)), count]
    if planted:
        lines += ["", grouping.noticed(planted)]
    if news:
        lines += ["", "| property | judge | subject | expected | outcome | note |", "|---|---|---|---|---|---|"]
        lines += [f"| {' | '.join(map(_cell, _columns(row)))} |" for row in news]
        lines += ["", "```", *(words.one_line(row.replay) for row in news), "```"]
    return "\n".join([*lines, "", ""])


def _columns(row: Verdict) -> tuple[str, ...]:
    outcome = words.outcome(row)
    return row.property, row.judge, words.subject(row), row.expected, outcome, row.note[:_LONGEST]


def _cell(text: str) -> str:
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", words.one_line(text))


def _seconds(row: Verdict) -> float:
    return next((float(row.cost[name]) for name in ("seconds", "cpu_seconds") if name in row.cost), 0.0)


def _text(text: str) -> str:
    return str(escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)))


def _quoted(text: str) -> str:
    return f'"{_text(words.one_line(text))}"'
