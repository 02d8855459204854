"""A finding as a picture: a lane for each client, and operations in an order that each client's own allows."""

from __future__ import annotations

import textwrap

from invariants.histories.checks import CHECKS, CLOCKS, Finding
from invariants.histories.operations import Operation
from invariants.pictures.marks import EARLIER, FINDING
from invariants.pictures.text import SIGNS, WIDEST

_PITCH = 3
_DETAILS = ("message", "group", "queue", "offset", "tag", "key", "tags", "attempt", "max_attempts", "delay_ms",
            "time_ms")


def lines(finding: Finding) -> list[str]:
    """The lines of the picture, none wider than WIDEST."""
    lanes = list(dict.fromkeys(one.process for one in finding.operations))
    drawn = [f"  {('│' + ' ' * (_PITCH - 1)) * at}{name}"[:WIDEST] for at, name in enumerate(lanes)]
    last = finding.operations[-1]
    for one in finding.operations:
        mark = FINDING if one is last else EARLIER
        cells = "".join((SIGNS[mark] if name == one.process else "│") + " " * (_PITCH - 1) for name in lanes)
        empty = ("│" + " " * (_PITCH - 1)) * len(lanes)
        told = textwrap.wrap(said(one), WIDEST - 2 - len(cells)) or [""]
        drawn += [f"  {cells}{told[0]}", *(f"  {empty}{more}" for more in told[1:])]
    by = "by the times that clients noted" if CHECKS[finding.check].by == CLOCKS else "by each client's own order alone"
    return [*textwrap.wrap(finding.sentence, WIDEST), *drawn, f"  {SIGNS[FINDING]} the promise breaks; judged {by}"]


def said(one: Operation) -> str:
    """An operation in words."""
    given = one._asdict()
    details = ", ".join(f"{name} {given[name]}" for name in _DETAILS if given[name] is not None)
    return f"#{one.seq} {one.kind.replace('_', ' ')}: {details}"
