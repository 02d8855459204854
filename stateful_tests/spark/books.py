"""Books of campaigns without Spark: aims, the units of a plan, and what comes of them, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from spark_fuzz import runs, simulation
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import Aim, is_again
from spark_fuzz.work import Row, Unit, attempt

FEW = ("broadcasting",), ("calm",), ("uniform",)


def aim_of(*subjects: str, **more: Any) -> Aim:
    """Of these subjects in the world that costs least."""
    return Aim(subjects, *FEW, **more).checked()


def short(unit: Unit, count: int) -> Unit:
    """The unit with fewer seeds."""
    first = unit.body["seeds"][0]
    return Unit(unit.id, {**unit.body, "seeds": (first, first + count)})


def done(book: Sightings, aim: Aim) -> list[Row]:
    """The rows of a campaign's units, of one seed each, and of what they call for, taken as the engine takes them."""
    rows: list[Row] = []

    def do(unit: Unit) -> None:
        new = attempt(runs.work, unit if is_again(unit.id) else short(unit, 1))
        book.add(new)
        rows.extend(new)

    for unit in islice(planned(simulation.units(aim, book.flat, book.found, book.near)), 8):
        do(unit)
        for question in list(book.questions()):
            do(question)
        settle(book)
    while wished := list(book.wishes()):
        do(wished[0])
        settle(book)
    return rows


def settle(book: Sightings) -> None:
    """Do what this process must do before what was found is believed."""
    while book.settle():
        pass


def planned(units: Iterator[Unit | int]) -> Iterator[Unit]:
    """The units of a plan."""
    return (unit for unit in units if isinstance(unit, Unit))
