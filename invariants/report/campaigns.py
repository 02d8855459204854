"""What campaigns over simulated worlds leave besides rows: how coverage grew, and which judge saw which planted bug.

`coverage.json` has a Coverage for each subject, `kill-matrix.json` is a Matrix. Anybody may have written these files:
what has not this shape raises BadInputError, and the page shows that line.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, PositiveInt, model_validator

from invariants.report.shapes import Shape, Words, read
from invariants.report.words import number

COVERAGE, MATRIX = "coverage.json", "kill-matrix.json"


class Line(NamedTuple):
    """A rising line: SVG points in a 100 × 100 box (y downwards), and where both axes end."""

    points: str
    runs: int
    states: int


class Arm(Shape):
    """One way in which worlds were lived through, and what it brought."""

    workload: Words
    profile: Words
    strategy: Words
    runs: int
    new_states: int

    @property
    def rate(self) -> float:
        """New states a run."""
        return self.new_states / max(1, self.runs)


class Share(Shape):
    """What was visited of what a model reaches in one scope.

    states, steps -- how many were visited, how many are reachable, how many were visited that are not reachable.
    moments -- of the runs. outside -- at how many of them, and why, runs were outside the scope.
    """

    scope: Words
    states: tuple[int, PositiveInt, int]
    steps: tuple[int, PositiveInt, int]
    moments: int
    outside: dict[Words, int]

    def __str__(self) -> str:
        """When and why runs were outside the scope."""
        reasons = ", ".join(f"{reason} ({number(moments)})" for reason, moments in self.outside.items())
        told = f"{number(sum(self.outside.values()))} of {number(self.moments)} moments"
        return f"{told}: {reasons}" if reasons else told


class Coverage(Shape):
    """How coverage of one subject grew: states by runs; arms, the best one first; scopes that can be enumerated."""

    curve: Annotated[tuple[tuple[int, int], ...], Field(min_length=1)]
    arms: tuple[Arm, ...]
    scopes: tuple[Share, ...] = ()

    @property
    def drawn(self) -> Line:
        """The line from no run to the last."""
        points = [(0, 0), *self.curve]
        width, height = max(1, points[-1][0]), max(1, *(states for _, states in points))
        drawn = (f"{round(100 * x / width, 2):g},{round(100 - 100 * y / height, 2):g}" for x, y in points)
        return Line(" ".join(drawn), *points[-1])

    @property
    def last(self) -> float:
        """New states a run in the last quarter of the runs."""
        points = [(0, 0), *self.curve]
        runs, states = points[-1]
        before = [point for point in points if point[0] <= runs * 3 // 4][-1]
        return (states - before[1]) / max(1, runs - before[0])

    @property
    def best(self) -> list[Arm]:
        """The arms, best first."""
        return sorted(self.arms, key=lambda arm: -arm.rate)


class Kill(Shape):
    """One cell: who saw the bug (None: nobody), in how many of how many hunts, and after how long.

    time_ms, steps -- lower quartile, median, upper quartile; None: longer than the limit.
    """

    property: Words | None
    killed: int
    of: int
    time_ms: tuple[float | None, float | None, float | None]
    steps: tuple[float | None, float | None, float | None]
    limit_ms: float
    limit_steps: float

    @builtins.property
    def seconds(self) -> str:
        """Seconds to it: the median (the quartiles); empty where there is no limit."""
        times_s = [None if ms is None else ms / 1_000 for ms in self.time_ms]
        return _spread(times_s, self.limit_ms / 1_000, " s") if self.limit_ms else ""

    @builtins.property
    def took(self) -> str:
        """Steps to it, likewise."""
        return _spread(self.steps, self.limit_steps, "")


class Effect(Shape):
    """What a bug has done to runs.

    calls -- of each function that is replaced. reached -- runs with a call, of all runs. compared -- runs that were
    played with the control as well. different -- those that were not the same.
    """

    calls: dict[Words, int]
    reached: int
    runs: int
    compared: int
    different: int
    outcome: Words

    @property
    def idle(self) -> bool:
        """Whether the bug has changed no run."""
        return self.outcome != "holds"

    def __str__(self) -> str:
        """What was replaced, how often it was called, and how many runs are others than those of the control."""
        calls = ", ".join(f"{place} ({number(count)} calls)" for place, count in self.calls.items())
        said = f"{self.outcome}: " if self.idle else ""
        return (f"{said}called in {number(self.reached)} of {number(self.runs)} runs, "
                f"{number(self.different)} of {number(self.compared)} differ: {calls}")


class Bug(Shape):
    """One row of the matrix; effect -- None for the control."""

    subject: Words
    sentence: Words
    cells: dict[Words, Kill]
    effect: Effect | None = None

    @property
    def seen(self) -> bool:
        """Whether any judge saw it."""
        return any(kill.killed for kill in self.cells.values())


class Matrix(Shape):
    """Judges against planted bugs."""

    judges: tuple[Words, ...]
    rows: tuple[Bug, ...]

    @model_validator(mode="after")
    def _has_every_cell(self) -> Self:
        if lacking := [judge for judge in self.judges for bug in self.rows if judge not in bug.cells]:
            raise ValueError(f"a row has no cell for {lacking[0]}")
        return self


class _Growths(Shape):
    subjects: dict[Words, Coverage]


def growths(document: Any) -> list[tuple[str, Coverage]]:
    """The subjects of a coverage file, by name."""
    return sorted(read(_Growths, {"subjects": document}).subjects.items())


def _spread(values: Sequence[float | None], limit: float, unit: str) -> str:
    """Median and quartiles; what no hunt reached is longer than the limit."""
    low, middle, high = (f"> {number(round(limit, 1))}" if value is None else number(round(value, 1))
                         for value in values)
    return f"{middle}{unit} ({low} … {high})"
