"""Numbers and outcomes in words, the same on the page and in the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from markupsafe import Markup, escape

from invariants.runs import HARMLESS, MENDED, NOTICED
from invariants.verdict import Outcome, Verdict

# One sign per outcome: told apart without colour, in print, and by people who see no red or green.
GLYPHS = {Outcome.HOLDS: "✓", Outcome.VIOLATED: "✗", Outcome.UNKNOWN: "?", Outcome.NOT_MET: "○",
          Outcome.NEVER_EXECUTED: "?", Outcome.NO_DIFFERENCE: "?"}

TRADE_OFF = "~"
"""The sign of what is given up, and is no error."""

_OF_VARIANTS: Mapping[str, tuple[str, str]] = {
    NOTICED: ("it was noticed", "it was not noticed"),
    HARMLESS: ("nothing got worse", "something got worse"),
    MENDED: ("what it repairs is fixed", "what it repairs is not fixed, or something else got worse"),
}
_FEW = 3  # variants that a title can name
_MINUTE_S = 60
_SAID_ELSEWHERE = {"concept", "kind", "given", "mutation"}  # details that have their own place
_SPENT_BY = {"cpu": "CPU"}
_FIRST = ("rows", "different", "states", "transitions", "depth", "cut", "obligations", "runs")  # times come last


def standing(row: Verdict) -> str:
    """Whether a row is "expected", "different" or "unknown"."""
    return row.standing


def standing_words(row: Verdict) -> str:
    """The same as people read it: "as expected", or what was expected instead."""
    return "as expected" if row.as_expected else f"expected {row.expected}"


def is_trade_off(row: Verdict) -> bool:
    """Whether a strategy of one's own gives up here what a group can do without: `check` expects no other violation."""
    return row.judge == "check" and row.outcome is Outcome.VIOLATED and row.as_expected


def outcome(row: Verdict) -> str:
    """The outcome behind its sign."""
    return f"{TRADE_OFF} trade-off" if is_trade_off(row) else f"{GLYPHS[row.outcome]} {row.outcome}"


def subject(row: Verdict) -> str:
    """What was judged, with what tells it from others of the same name: a claim, a family of inputs."""
    details = row.subject.details
    if row.subject.kind == "decision":
        return str(details.get("claim", row.subject.name))
    if row.subject.kind == "strategy":
        own = (str(value) for key, value in details.items() if key not in _SAID_ELSEWHERE)
        return ", ".join([row.subject.name, *own])
    return row.subject.name


def headline(row: Verdict) -> str:
    """What a row says of a variant as a whole, in the words of its kind; empty of any other row."""
    if row.property not in _OF_VARIANTS:
        return ""
    kept, broken = _OF_VARIANTS[row.property]
    if row.outcome.is_unknown:
        return f"{row.subject.name}: nobody can say whether {kept} ({row.outcome})"
    return f"{row.subject.name}: {kept if row.outcome is Outcome.HOLDS else broken}"


def headlines(rows: Iterable[Verdict]) -> list[str]:
    """What is said of a few variants as a whole; nothing where there are many."""
    told = [said for row in rows if (said := headline(row))]
    return told if len(told) <= _FEW else []


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number: rows that anybody may have written also have texts, and true."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: object) -> str:
    """12345.0 as "12,345", 0.04213 as "0.042"; whatever is no number as it is."""
    if not is_number(value):
        return str(value)
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.1f}"  # noqa: PLR2004 - three digits either way
    return f"{int(value):,}"


def seconds(value: object) -> str:
    """A duration in its own unit: "0.042 s", "3.1 s", "2 min 5 s"."""
    if not is_number(value) or not _MINUTE_S <= value < float("inf"):
        return f"{number(value)} s"
    minutes, rest = divmod(round(value), _MINUTE_S)
    return f"{minutes:,} min {rest} s" if rest else f"{minutes:,} min"


def cost(values: Mapping[str, object]) -> str:
    """A row's cost in one line, "19,683 states · depth 9 · CPU 0.42 s", to be broken after a dot only."""
    items = (_cost_item(key, values[key]).replace(" ", "\N{NO-BREAK SPACE}") for key in sorted(values, key=_cost_order))
    return "\N{NO-BREAK SPACE}· ".join(items)


def breakable(value: str) -> Markup:
    """A name that a page may break after a joint (underscore, dot, slash, hash), and only there."""
    return Markup(re.sub(r"([_./#@:])(?=.)", r"\1<wbr>", str(escape(value))))  # noqa: S704 - escaped before the breaks go in


def _cost_order(key: str) -> tuple[int, int, str]:
    return key.endswith("seconds"), _FIRST.index(key) if key in _FIRST else len(_FIRST), key


def _cost_item(key: str, value: object) -> str:
    if key.endswith("seconds"):  # of the whole, or of what it is named after: cpu_seconds, cvc5_seconds
        whose = key.removesuffix("seconds").removesuffix("_")
        return f"{_SPENT_BY.get(whose, whose)} {seconds(value)}".lstrip()
    if key in {"depth", "seed"}:
        return f"{key} {number(value)}"
    one = value == 1 and key.endswith("s") and "_" not in key
    return f"{number(value)} {key[:-1] if one else key.replace('_', ' ')}"


def one_line(value: str) -> str:
    """A string that cannot move a terminal's cursor or start a new line: control characters become spaces."""
    return "".join(sign if sign.isprintable() else " " for sign in value)
