"""Judging states while a search goes on: the first state of the first level that breaks a check, reaches, is stuck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model.explorer.checks import Check
from model.explorer.expand import Expander
from model.language.batch import Batch, states
from model.language.ground import Ground
from model.language.properties import SOMETIMES, Property

Place = tuple[int, int]  # depth, state


@dataclass(frozen=True, slots=True)
class Findings:
    """What is found in one batch.

    false -- the first state that is false, by number of the check. stuck -- states without a step in the scope;
    first_stuck -- the first in which surely no step is possible, or None.
    """

    false: dict[int, int]
    stuck: int
    first_stuck: int | None


class Judge:
    """Keeps what was found first.

    broken, doubted -- the place by the number of the check. reached -- by the name of a `sometimes` property.
    """

    def __init__(
        self, checks: Sequence[Check], expander: Expander, properties: Sequence[Property], going_on: Ground,
    ) -> None:
        """Nothing was found; going_on -- where a step may be possible that the scope does not have."""
        self.checks, self._expander, self._going_on = checks, expander, going_on
        self.false: dict[int, Place] = {}
        self.reached = {p.name: False for p in properties if p.kind == SOMETIMES}
        self.deadlocks = 0
        self.first_deadlock: Place | None = None

    @property
    def broken(self) -> dict[str, tuple[Check, int, int]]:
        """Check, depth and state of what is violated, by name."""
        return {self.checks[i].name: (self.checks[i], *place) for i, place in self.false.items()
                if not (self.checks[i].doubt or self.checks[i].reach)}

    @property
    def doubted(self) -> dict[tuple[str, str], tuple[Check, int, int]]:
        """The same of what a property rests on, by name and doubt."""
        return {(self.checks[i].name, self.checks[i].doubt): (self.checks[i], *place)
                for i, place in self.false.items() if self.checks[i].doubt}

    def decided(self, name: str) -> bool:
        """Whether a property is violated, or reached."""
        return name in self.broken or self.reached.get(name, False)

    def look(self, batch: Batch) -> Findings:
        """Judge a batch; changes nothing, so that several threads may ask."""
        false = {}
        for number in self._open():
            good = batch.truth(self.checks[number].term)
            if not good.all():
                false[number] = _state(batch, int(good.argmin()))
        stuck = self._expander.stuck(batch)
        surely = stuck[~batch.truth(self._going_on)[stuck]] if len(stuck) else stuck
        return Findings(false, len(stuck), _state(batch, int(surely[0])) if len(surely) else None)

    def _open(self) -> list[int]:
        """Checks that may still find something."""
        return [number for number, check in enumerate(self.checks)
                if number not in self.false and not (self.reached.get(check.name) and not check.doubt)]

    def add(self, depth: int, findings: Findings) -> None:
        """Keep what is first; batches come in the order of their states."""
        for number, state in findings.false.items():
            if self.checks[number].reach:
                self.reached[self.checks[number].name] = True
            self.false.setdefault(number, (depth, state))
        self.deadlocks += findings.stuck
        if findings.first_stuck is not None and self.first_deadlock is None:
            self.first_deadlock = depth, findings.first_stuck

    def recorded(self) -> dict[str, Any]:
        """What `restore` needs."""
        return {"false": [[number, *place] for number, place in self.false.items()], "deadlocks": self.deadlocks,
                "reached": self.reached, "first_deadlock": self.first_deadlock}

    def restore(self, found: dict[str, Any]) -> None:
        """Go on where `recorded` was called."""
        self.false = {number: (depth, state) for number, depth, state in found["false"]}
        self.deadlocks, self.reached = found["deadlocks"], found["reached"]
        self.first_deadlock = tuple(found["first_deadlock"]) if found["first_deadlock"] else None


def _state(batch: Batch, row: int) -> int:
    return states([word[row:row + 1] for word in batch.words[0]])[0]
