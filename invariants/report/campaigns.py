"""What campaigns over simulated worlds leave besides rows: how coverage grew, and which judge saw which planted bug.

    coverage.json      {subject: {runs, states, curve: [[runs, states], …], arms: [{workload, profile, strategy, runs,
                       new_states}, …], scopes: [{scope, states, steps, moments, outside: {reason: moments}}, …]}}; of a
                       scope states and steps are [visited, reachable, visited ones that are not reachable]
    kill-matrix.json   {judges: [judge, …], rows: [{subject, sentence, cells: {judge: {property, killed, of,
                       time_ms: [quartile, median, quartile], steps, limit_ms, limit_steps}}, effect}, …]}; effect is
                       null for the control, else {calls: {function: calls}, reached: runs with a call, runs, compared:
                       runs played with the control as well, different, outcome}

Files that anybody may have written: what is not as above raises BadInputError, and the page shows that line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from invariants.report.words import number
from invariants.verdict import BadInputError

T = TypeVar("T")
COVERAGE, MATRIX = "coverage.json", "kill-matrix.json"
_BARE = {COVERAGE: "subjects", MATRIX: "judges and rows"}


@dataclass(frozen=True, slots=True)
class Arm:
    """One way in which worlds were lived through; share -- of all its runs' new states in per cent of the best arm."""

    words: str
    runs: str
    new_states: str
    percent: float


@dataclass(frozen=True, slots=True)
class Share:
    """What was visited of what a model reaches in one scope: "12 of 40", and the same in per cent.

    beyond -- visited states and steps that are not reachable. outside -- when and why runs were outside the scope.
    """

    scope: str
    states: str
    states_percent: float
    steps: str
    steps_percent: float
    beyond: int
    outside: str


@dataclass(frozen=True, slots=True)
class Growth:
    """How coverage of one subject grew: SVG points in a 100 × 100 box (y downwards), ends of the axes, its arms.

    scopes -- those that can be enumerated.
    """

    subject: str
    points: str
    runs: str
    states: str
    last: str
    arms: tuple[Arm, ...]
    scopes: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class Kill:
    """One cell: who saw the bug (empty: nobody), in how many hunts, and after how long: median and quartiles."""

    property: str
    killed: int
    of: int
    time: str
    steps: str


@dataclass(frozen=True, slots=True)
class Bug:
    """One row of the matrix; seen -- by any judge.

    effect -- what the bug has done to runs, in words. idle -- whether it has changed none.
    """

    name: str
    sentence: str
    kills: tuple[Kill, ...]
    effect: str = ""
    idle: bool = False

    @property
    def seen(self) -> bool:
        """Whether any judge saw it."""
        return any(kill.killed for kill in self.kills)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Judges against planted bugs."""

    judges: tuple[str, ...]
    bugs: tuple[Bug, ...]


def growth(document: Mapping[str, Any]) -> list[Growth]:
    """The curves of a coverage file."""
    return _read(COVERAGE, lambda: [_growth(subject, body) for subject, body in sorted(document.items())])


def matrix(document: Mapping[str, Any]) -> Matrix:
    """The rows of a kill matrix file."""

    def read() -> Matrix:
        judges = tuple(str(judge) for judge in document["judges"])
        return Matrix(judges, tuple(_bug(row, judges) for row in document["rows"]))

    return _read(MATRIX, read)


def _read(name: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise BadInputError(f"{name}: cannot be drawn ({type(error).__name__}: {error}); it has no "
                            f"{_BARE[name]} as a campaign writes them") from error


def _growth(subject: str, body: Mapping[str, Any]) -> Growth:
    curve = [(0, 0), *((int(runs), int(states)) for runs, states in body["curve"])]
    width, height = max(1, curve[-1][0]), max(1, *(states for _, states in curve))
    drawn = " ".join(f"{round(100 * x / width, 2):g},{round(100 - 100 * y / height, 2):g}" for x, y in curve)
    tail = [point for point in curve if point[0] <= width * 3 // 4][-1]
    fresh = (curve[-1][1] - tail[1]) / max(1, curve[-1][0] - tail[0])
    arms = sorted(body["arms"], key=lambda arm: -arm["new_states"] / max(1, arm["runs"]))
    best = max((arm["new_states"] / max(1, arm["runs"]) for arm in arms), default=0) or 1
    return Growth(subject, drawn, number(curve[-1][0]), number(curve[-1][1]), f"{fresh:,.1f}",
                  tuple(_arm(arm, best) for arm in arms), tuple(_share(scope) for scope in body.get("scopes", ())))


def _share(scope: Mapping[str, Any]) -> Share:
    (states, every, odd), (steps, every_step, odd_step) = scope["states"], scope["steps"]
    outside = {str(reason): int(moments) for reason, moments in scope["outside"].items()}
    reasons = ", ".join(f"{reason} ({number(moments)})" for reason, moments in outside.items())
    told = f"{number(sum(outside.values()))} of {number(int(scope['moments']))} moments"
    return Share(
        str(scope["scope"]), f"{number(states)} of {number(every)}", round(100 * states / every, 1),
        f"{number(steps)} of {number(every_step)}", round(100 * steps / every_step, 1), odd + odd_step,
        f"{told}: {reasons}" if reasons else told,
    )


def _arm(arm: Mapping[str, Any], best: float) -> Arm:
    rate = arm["new_states"] / max(1, arm["runs"])
    words = f"{arm['workload']}, {arm['profile']}, {arm['strategy']}"
    return Arm(words, number(int(arm["runs"])), f"{rate:,.1f}", round(100 * rate / best, 2))


def _bug(row: Mapping[str, Any], judges: Sequence[str]) -> Bug:
    name = str(row["subject"]).removeprefix("repaired+")
    effect = row.get("effect")
    return Bug(name, str(row["sentence"]), tuple(_kill(row["cells"][judge]) for judge in judges), _effect(effect),
               effect is not None and effect["outcome"] != "holds")


def _effect(effect: Mapping[str, Any] | None) -> str:
    """What was replaced, how often it was called, and how many runs are others than those of the control."""
    if effect is None:
        return ""
    calls = ", ".join(f"{place} ({number(int(count))} calls)" for place, count in effect["calls"].items())
    reached, runs, different, compared = (number(int(effect[name]))
                                          for name in ("reached", "runs", "different", "compared"))
    said = "" if effect["outcome"] == "holds" else f"{effect['outcome']}: "
    return f"{said}called in {reached} of {runs} runs, {different} of {compared} differ: {calls}"


def _kill(cell: Mapping[str, Any]) -> Kill:
    return Kill(
        str(cell["property"] or ""), int(cell["killed"]), int(cell["of"]),
        _spread(cell["time_ms"], cell["limit_ms"], 1_000, " s") if cell["limit_ms"] else "",
        _spread(cell["steps"], cell["limit_steps"], 1, ""),
    )


def _spread(values: Sequence[float | None], limit: float, per: float, unit: str) -> str:
    """Median and quartiles; what no hunt reached is longer than the limit."""
    low, middle, high = (f"> {number(round(limit / per, 1))}" if value is None else number(round(value / per, 1))
                         for value in values)
    return f"{middle}{unit} ({low} … {high})"
