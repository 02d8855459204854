"""What is expected of RocketMQ as shipped, written beside the property that promises more."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HAZARD = re.compile(r"[A-Z]+-?\d+[a-z]?")


@dataclass(frozen=True, slots=True)
class Expectation:
    """The outcome expected on the code as shipped.

    outcome -- "holds" or "violated".
    hazards -- ids of the hazards that break the property ("D1", "B-7", "V11"); empty if and only if it holds.
    remark -- what was said behind "holds", for people.
    """

    outcome: str
    hazards: tuple[str, ...] = ()
    remark: str = ""


def expectation(text: str) -> Expectation:
    """Read "holds", "holds …remark…" or "violated: D1 join, D2" (each hazard an id, and words for people behind it).

    Raises ValueError for any other text: a violation without a named hazard is not an expectation.
    """
    outcome, _, rest = text.strip().partition(" ")
    if outcome == "holds":
        return Expectation("holds", remark=rest.strip())
    hazards = tuple(part.split()[0] for part in rest.split(",") if part.strip())
    if outcome != "violated:" or not hazards or not all(_HAZARD.fullmatch(hazard) for hazard in hazards):
        raise ValueError(f'expected "holds" or "violated: D1, B-7" (ids of hazards), not {text!r}')
    return Expectation("violated", hazards)
