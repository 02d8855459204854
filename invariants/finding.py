"""What goes wrong in a run, as every judge of runs tells it."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that went wrong.

    property -- its name. event -- what showed it; None: time has passed, or tables differ. sentence -- what people
    read. signature -- the same for all runs that go wrong in the same way: no names of elements, no numbers.
    causes -- the hazards whose own cause was seen in the run; the signature names them too. time_ms -- of the world;
    -1: it is not known yet.
    about -- whom it concerns: names of fields, as events have them, with their values. earlier -- the record (time in
    ms, machine, event) that it contradicts, if the judge knows. differs -- where tables differ from a model: variable,
    elements, value in the tables, value in the model. machine -- whose step showed it. position -- how many
    records the world had then; -1: it is not known yet.
    """

    property: str
    event: Any
    sentence: str
    signature: tuple[str, ...]
    causes: tuple[str, ...] = ()
    time_ms: int = -1
    about: tuple[tuple[str, Any], ...] = ()
    earlier: tuple[int, str, Any] | None = field(default=None, compare=False)  # known on replay only
    differs: tuple[tuple[str, tuple[Any, ...], Any, Any], ...] = ()
    machine: str = ""
    position: int = -1

    @builtins.property
    def key(self) -> tuple[str, ...]:
        """Property and signature."""
        return self.property, *self.signature


_CAUSE = "put down to "


def put_down_to(hazard: str) -> str:
    """What the signature of a finding says of a hazard whose cause was seen."""
    return f"{_CAUSE}{hazard}"


def causes_in(signature: Sequence[str]) -> tuple[str, ...]:
    """The hazards whose cause was seen, from the signature of a finding."""
    return tuple(part.removeprefix(_CAUSE) for part in signature if part.startswith(_CAUSE))
