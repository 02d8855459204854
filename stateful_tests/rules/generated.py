"""Histories that are generated from what rules declare: their excuses, causes, payments, and the ends of debtors.

A broken history of a rule is taken, an event that is declared to excuse is made from what the rule has told, and put
between the records. The rule must fall silent then. With one field of the event changed it must tell again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.events import ProcessKilled, ProcessPaused
from invariants.finding import Finding
from invariants.rules.delays import DISPATCHER
from invariants.rules.excuse import Excuse
from invariants.rules.match import AT, MACHINE, Match, matching
from invariants.rules.rule import RULES, Duty, Promise, Rule, Told
from invariants.rules.watch import Watched
from stateful_tests.rules.written import END_MS, Written, findings

ELSEWHERE = "elsewhere"
WORDS = ("expired", "closed", "unregistered", "destroyed", DISPATCHER)
_BY_TYPE: dict[str, tuple[Any, ...]] = {
    "bool": (True, False), "int": (0, 1, -1), "MessageQueue": (MessageQueue(ELSEWHERE, ELSEWHERE, 0),),
    "frozenset": (frozenset(),), "tuple": ((),),
}


@dataclass(frozen=True)
class Broken:
    """A written history that a rule tells of: what it told, and when."""

    history: Written
    told: Told
    told_ms: int

    @property
    def rule(self) -> type[Rule]:
        """The rule."""
        return RULES[self.history.rule]

    @property
    def about(self) -> dict[str, Any]:
        """What the rule told it about, by field."""
        return dict(zip(self.rule.about.split(), self.told.about, strict=True))

    @property
    def since_ms(self) -> int:
        """From when on it has been wrong."""
        return self.told_ms if self.told.since_ms is None else self.told.since_ms

    def with_record(self, place: int, at: str, event: Any, ms: int | None = None) -> list[Finding]:
        """What is found when a record is put before the one with this number; the only one stands at the end."""
        records = [*self.history.broken]
        when = [ms, *(one[0] for one in records)] if place == 0 and ms is not None else [one[0] for one in records]
        records.insert(place, ((when or [END_MS])[max(place - 1, 0)] if ms is None else ms, at, event))
        return findings(self.history, records)


@cache
def broken(history: Written) -> Broken:
    """Play it, and keep what was told first."""
    kept: list[tuple[Told, int]] = []
    original = Watched.findings

    def finding(self: Watched, told: Told, ms: int, event: Any, what: str = "") -> list[Finding]:
        found = original(self, told, ms, event, what)
        kept.extend((told, ms) for _ in found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watched, "findings", finding)
        findings(history, history.broken)
    return Broken(history, *kept[0])


# Events ---------------------------------------------------------------------------------------------------------------


def made(match: Match, kind: type, about: dict[str, Any], *, wrong: str = "", had: bool = True) -> tuple[str, Any]:
    """Machine and event that agree with what a rule told; wrong -- the field of the key in which it does not.

    had -- whether the event is one that the match wants to have. Raises LookupError if there is no such event.
    """
    at, fixed = ELSEWHERE, dict[str, Any]()
    for place, name in match.pairs(kind, [*about]):
        value = _other(about[[*about][place]]) if [*about][place] == wrong else about[[*about][place]]
        field = name.removesuffix(MACHINE)
        if name == AT:
            at = value
        else:
            fixed[field] = value if field == name else f"{value}:1"
    return at, _event(kind, fixed, lambda event: (match.having is None or match.having(event)) is had)


def _other(value: Any) -> Any:
    if isinstance(value, MessageQueue):
        return value._replace(topic=ELSEWHERE) if hasattr(value, "_replace") else MessageQueue(ELSEWHERE, ELSEWHERE, 9)
    return value + 1 if isinstance(value, int) else f"{ELSEWHERE}:9"


def _event(kind: type, fixed: dict[str, Any], wanted: Callable[[Any], bool]) -> Any:
    fields: Sequence[str] = getattr(kind, "_fields")  # noqa: B009  # a NamedTuple has it, its type does not say so
    choices = [(fixed[name],) if name in fixed else _values(kind.__annotations__[name]) for name in fields]
    for values in product(*choices):
        if wanted(event := kind(*values)):
            return event
    raise LookupError(f"no {kind.__name__} with {fixed} is wanted")


def _values(annotation: Any) -> tuple[Any, ...]:
    text = str(getattr(annotation, "__forward_arg__", annotation))
    for name, values in _BY_TYPE.items():
        if text.startswith(name):
            return (*values, None) if text.endswith("| None") else values
    return (f"{ELSEWHERE}:1", *WORDS)


# What is declared -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declared:
    """An event that a rule declares to excuse, to pay or to be a cause. excuse -- None: a payment."""

    rule: type[Rule]
    match: Match
    kind: type
    excuse: Excuse | None = None

    def __str__(self) -> str:
        """For the names of tests."""
        what = "paid by" if self.excuse is None else self.excuse.hazard or "excused by"
        return f"{self.rule.__name__}, {what} {self.kind.__name__}"

    def meant(self, found: Sequence[Finding]) -> bool:
        """Whether the findings are what the declaration says: none, or put down to the hazard."""
        if self.excuse is not None and self.excuse.hazard:
            return bool(found) and all(self.excuse.hazard in one.causes for one in found)
        return not found


def declared(rule: type[Rule]) -> Iterator[Declared]:
    """All that a rule declares about events."""
    for excuse in rule.excuses:
        if excuse.when is None:
            yield from (Declared(rule, excuse.match, kind, excuse) for kind in excuse.match.kinds)
    for one in rule.paid_by if issubclass(rule, Duty) else ():
        yield from (Declared(rule, matching(one), kind) for kind in matching(one).kinds)


def silenced(one: Declared, story: Broken) -> list[int]:
    """The places of a broken history at which the event makes the findings what they are meant to be."""
    at, event = made(one.match, one.kind, story.about)
    return [place for place in range(len(story.history.broken) + 1)
            if one.meant(story.with_record(place, at, event))]


def ends_of_debtors(story: Broken, machine: str) -> Iterator[tuple[str, list[Finding]]]:
    """What is found of a duty when the process of a machine is killed, or stands still, when it is owed."""
    last = len(story.history.broken)
    yield "killed", story.with_record(last, machine, ProcessKilled(1, power_loss=False))
    yield "paused", story.with_record(last, machine, ProcessPaused(2 * END_MS))


def is_duty(rule: type[Rule]) -> bool:
    """Whether somebody owes it."""
    return issubclass(rule, Duty) and not issubclass(rule, Promise)
