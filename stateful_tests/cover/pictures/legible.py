"""What a picture must be so that a stranger can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from invariants.pictures.marks import EARLIER, FINDING, GAP, SEEN
from invariants.pictures.picture import Picture
from invariants.pictures.rows import Row
from invariants.pictures.text import LONGEST, WIDEST
from stateful_tests.cover.pictures.told import KINDS
from stateful_tests.stories.pictures import written

FEWEST = 3
"""So many rows has the story of a cause at least."""
BEFORE = 4
"""So many rows stand before what began it, at most."""
_RAW = re.compile(r"[\[\]{}]|\bthe model\b|\b1645\d{6,}|\bMessageQueue|frozenset|\bNone\b|\bTrue\b|\b\d{4,} ?ms\b|"
                  r"\(\d+(, \d+)+\)|:\d{4,5}\b|%RETRY%")
"""What only programs say: brackets, epochs in ms, long times in ms, tuples, ports, generated topics."""


_DURATION = re.compile(r"\b(\d[\d,.]*|a|an|one|two|half a) (ms|s|min|seconds|minutes?|hours?)\b")
_MS = {"ms": 1, "s": 1_000, "second": 1_000, "min": 60_000, "minute": 60_000, "hour": 3_600_000}
_UNITS = {"seconds": "second", "minutes": "minute", "hours": "hour"}
_WORDS = {"a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "half a": 0.5}
_ROUGHLY = 0.05
"""Durations are said without the digits that nobody reads."""


def unfounded(seen: Row, rows: Sequence[Row]) -> Iterator[str]:
    """The durations that a row names and that are neither in another row nor between two of them."""
    others = [row for row in rows if row is not seen]
    known = [ms for row in others for _, ms in durations(row.text)]
    known += [abs(one.time_ms - other.time_ms) for one, other in combinations(others, 2)]
    for text, ms in durations(seen.text):
        if not any(abs(one - ms) <= _ROUGHLY * ms for one in known):
            yield text


def durations(text: str) -> list[tuple[str, float]]:
    """Each duration that a text names, and how long it is, in ms."""
    return [(found[0], (_WORDS.get(found[1]) or float(found[1].replace(",", ""))) * _MS[_UNITS.get(found[2], found[2])])
            for found in _DURATION.finditer(text)]


def flaws(drawn: Picture) -> Iterator[str]:
    """What is wrong with a picture; nothing if it can be read."""
    shown = written(drawn)
    if len(shown) > LONGEST:
        yield f"{len(shown)} lines"
    yield from (f"{len(line)} columns: {line}" for line in shown if len(line) > WIDEST)
    told = [row for row in drawn.rows if row.kind != GAP]
    if len(told) < FEWEST:
        yield f"{len(told)} rows"
    if sum(row.mark == FINDING for row in told) != 1:
        yield "no row shows the finding"
    first = next((at for at, row in enumerate(told) if row.began), None)
    if first is None:
        yield "nothing began it"
    elif sum(row.mark != EARLIER for row in told[:first]) > BEFORE:
        yield f"{first} rows before what began it"
    yield from (f"no {one} in the picture: ⇒" for row in told if row.mark == SEEN for one in unfounded(row, told))
    said = [drawn.claim, *(row.text for row in told)]
    yield from (f"raw: {one}" for one in said if _RAW.search(one) or any(kind.__name__ in one for kind in KINDS))
