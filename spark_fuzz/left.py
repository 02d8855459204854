"""What a comparison had no time for; what nobody has looked at is not said to be unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Self

from spark_fuzz import touched
from spark_fuzz.pairing import Comparison
from spark_fuzz.runs import judged
from spark_fuzz.simulation import BETWEEN


@dataclass(frozen=True)
class Left:
    """What was not looked at.

    workloads -- no pair of them was judged. of -- how many there are. properties -- only these workloads are judged by
    them. questions -- to other judges.
    """

    workloads: tuple[str, ...]
    of: int
    properties: tuple[str, ...]
    questions: tuple[str, ...]

    @classmethod
    def by(cls, aim: Comparison, lived: Collection[str], known: Collection[str], answered: Collection[str]) -> Self:
        """What is left of a comparison; lived -- workloads. known -- properties. answered -- units of other judges."""
        all_workloads = aim.worlds.workloads
        left = tuple(one for one in all_workloads if one not in lived)
        names = dict.fromkeys(name for name in chain.from_iterable(map(judged, left)) if name not in known)
        asked = (unit.id for unit in touched.units(aim.base, aim.changed) if unit.id not in answered)
        return cls(left, len(all_workloads), tuple(names), tuple(one.rpartition(BETWEEN)[2] for one in asked))

    def sentences(self) -> Iterator[str]:
        """As people read it, a line for each kind."""
        if self.workloads:
            yield f"not looked at: {len(self.workloads)} of {self.of} workloads ({', '.join(self.workloads)})"
        if self.properties:
            yield f"not looked at: {len(self.properties)} properties, which only those are judged by"
        if self.questions:
            yield f"not looked at: {', '.join(self.questions)}"
