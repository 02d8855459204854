"""Work on a unit: what runs on a Spark worker, on the driver, or in a plain process, with the same rows each time.

A unit is a name and a body of plain JSON values; a work function turns it into rows. The rows depend on nothing but
the unit: no clock, no process, no order of a set. What a unit cost and whether it failed is added here.
"""

from __future__ import annotations

import marshal
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from invariants.verdict import BadInputError
from stateful_tests.worlds.limit import OverTimeError, limited

Row = dict[str, Any]
Work = Callable[["Unit"], Iterable[Row]]

ADDED = {"unit": "string", "cpu_us": "long", "error": "string"}
"""Columns that every row has besides those of its work: the unit's id, the CPU time of the whole unit in
microseconds, and why the unit failed (None when it did not). cpu_us differs from run to run; nothing else may."""

CPU_LIMIT_S = 120
"""A unit is made for 1 to 5 seconds; one that takes this much hangs, and ends as failed."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work that is done as a whole or not at all.

    id -- names the unit within its campaign; equal ids mean equal rows.
    body -- whatever the work function needs, as plain JSON values.
    weight -- how much work it is, beside other units of the campaign.
    """

    id: str
    body: Mapping[str, Any] = field(default_factory=dict)
    weight: int = 1


def attempt(work: Work, unit: Unit, cpu_limit_s: float = CPU_LIMIT_S) -> list[Row]:
    """The unit's rows with the added columns; one row that holds only the error when the work raised.

    cpu_limit_s -- CPU seconds after which the unit is given up (only in a process's main thread).
    """
    began = time.process_time_ns()
    try:
        with limited(cpu_limit_s, timer=signal.ITIMER_PROF):
            rows = list(work(unit))
        error = None
    except (Exception, OverTimeError) as failure:  # noqa: BLE001 - any failure of a unit is a result: unknown
        rows, error = [{}], f"{type(failure).__name__}: {failure}"
    spent_us = (time.process_time_ns() - began) // 1000
    return [{**row, "unit": unit.id, "cpu_us": spent_us, "error": error} for row in rows]


class MistakeError(BadInputError):
    """Every unit fails, for there is a mistake in a file of one's own: nothing else is worth telling."""


def refuse_mistake(row: Row) -> None:
    """Raise MistakeError if a unit has failed because of bad input: each other unit would fail as well."""
    kind, _, told = (row["error"] or "").partition(": ")
    if kind == BadInputError.__name__:
        raise MistakeError(told)


def feed(digest: blake2b, events: Any) -> None:
    """Add events (nested lists and tuples of integers, strings, None) to a digest.

    Version 2 of marshal exactly: later versions write back-references, so that equal values give different bytes.
    """
    digest.update(marshal.dumps(events, 2))
