"""States that runs have visited: what a solver need not be asked, because a run was there already.

The states are met anew by going their trails in the very concept that the property is of, step by step, so that what
they refute is false of a reachable state, whatever wrote the trails down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError
from model.language import Property
from model.language.defined import defined
from model.language.nodes import conjunction, negation
from model.language.open.reading import UnboundedError
from model.language.open.states import Cell
from model.language.open.trails import VISITED, Going, Trail, trail
from model.language.properties import ALWAYS, LEMMA, STEP


@dataclass(frozen=True, slots=True)
class Asked:
    """What the states say of a property.

    states -- how many were asked. steps -- after how many steps of `of` it is false; -1 if it is true of all.
    """

    states: int = 0
    steps: int = -1
    of: str = ""


class Visited:
    """Trails of a folder."""

    def __init__(self, trails: Sequence[Trail] = ()) -> None:
        """Keep them."""
        self.trails = trails

    def ask(self, declared: Property) -> Asked:
        """Ask all states, or steps, that keep the premises of a property of a state or a step."""
        asked = 0
        for one in self.trails if declared.kind in (ALWAYS, LEMMA, STEP) else ():
            if not one.fits(declared.concept):
                continue
            try:
                for steps, false in _judged(declared, one):
                    asked += 1
                    if false:
                        return Asked(asked, steps, one.of)
            except (UnboundedError, ValueError):  # the states cannot tell, or the trail is of other sorts
                continue
        return Asked(asked)


def _judged(declared: Property, one: Trail) -> Iterator[tuple[int, bool]]:
    """After how many steps the property is judged, and whether it is false there, where it means something."""
    going = Going(declared.concept, one)
    if not all(going.holds(premise.condition, {}) for premise in declared.given):
        return
    false = conjunction(defined(declared.condition), negation(declared.condition))
    before: dict[Cell, Any] | None = None
    for steps, state in enumerate(going.states([name for premise in declared.given for name in premise.never])):
        if declared.kind != STEP:
            yield steps, going.holds(false, state)
        elif before is not None:
            yield steps, going.holds(false, before, state)
        before = state


def visited(folder: Path) -> Visited:
    """The trails of a folder, none if it has no file of them; raises BadInputError for a line that is no trail."""
    file = folder / VISITED
    if not file.exists():
        return Visited()
    try:
        return Visited([trail(line) for line in file.read_text("utf-8").splitlines() if line])
    except (OSError, ValueError) as error:
        raise BadInputError(f"{file}: {error}; let `rocketproof steer` write it anew") from error
