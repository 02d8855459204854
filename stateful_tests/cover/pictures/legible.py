"""What a picture must be so that a stranger can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from invariants.pictures.marks import EARLIER, FINDING, GAP
from invariants.pictures.picture import Picture
from invariants.pictures.text import LONGEST, WIDEST
from stateful_tests.cover.pictures.told import KINDS
from stateful_tests.stories.pictures import written

FEWEST = 3
"""So many rows has the story of a cause at least."""
BEFORE = 4
"""So many rows stand before what began it, at most."""
_RAW = re.compile(r"[\[\]{}]|\bthe model\b|\b1645\d{6,}|MessageQueue|frozenset|\bNone\b|\bTrue\b|\b\d{4,} ?ms\b|"
                  r"\(\d+(, \d+)+\)|:\d{4,5}\b|%RETRY%")
"""What only programs say: brackets, epochs in ms, long times in ms, tuples, ports, generated topics."""


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
    said = [drawn.claim, *(row.text for row in told)]
    yield from (f"raw: {one}" for one in said if _RAW.search(one) or any(kind.__name__ in one for kind in KINDS))
