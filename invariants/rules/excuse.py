"""When a rule says nothing, and what a finding is put down to: excuses and causes as values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

from impl.events import ProcessPaused
from invariants.rules.bounds import Bounds, Deadline
from invariants.rules.match import Match, matching

FOR_EVER = inf


@dataclass(frozen=True, slots=True)
class Excuse:
    """A reason to say nothing of what a rule is about.

    sentence -- "does not speak where …". by -- events that excuse those with whom they agree in all fields that both
    have. lasts -- how long the event excuses what goes wrong behind it, ms (a pause counts from its end); 0: only what
    was wrong when it happened. until -- events that end the excuse. when -- instead of an event: a predicate of the
    rule and of what it is about to tell.
    hazard -- what is found is told, and put down to this hazard of RocketMQ: the excuse is a cause.
    """

    sentence: str
    by: type | Match | tuple[type, ...] = ()
    lasts: float | Deadline = 0
    until: type | Match | tuple[type, ...] = ()
    when: Callable[[Any, Any], bool] | None = None
    hazard: str = ""

    def holds(self, rule: Any, told: Any) -> bool:
        """Whether its predicate is true of what a rule is about to tell."""
        return self.when is not None and self.when(rule, told)

    @property
    def match(self) -> Match:
        """The events that excuse."""
        return _match(self.by)

    @property
    def ends(self) -> Match:
        """The events that end it."""
        return _match(self.until)


def cause(hazard: str, sentence: str, **reason: Any) -> Excuse:
    """What is found when this has happened is put down to a hazard; reason -- by, lasts, until, when of an Excuse."""
    return Excuse(sentence, hazard=hazard, **reason)


class Sight:
    """What has been seen in a run of the events of one excuse."""

    def __init__(self, excuse: Excuse, about: tuple[str, ...], bounds: Bounds) -> None:
        """Nothing yet; about -- fields of what the rule tells."""
        self.excuse = excuse
        self._lasts_ms = excuse.lasts(bounds) if callable(excuse.lasts) else excuse.lasts
        self._by, self._ends = excuse.match.bound(about), excuse.ends.bound(about)
        self._last_ms: dict[type, dict[tuple[Any, ...], float]] = {kind: {} for kind in self._by.kinds}

    def hears(self) -> Iterator[tuple[type, Callable[[int, str, Any], None]]]:
        """What it remembers."""
        yield from ((kind, self._seen) for kind in self._by.kinds)
        yield from ((kind, self._over) for kind in self._ends.kinds)

    def _seen(self, ms: int, at: str, event: Any) -> None:
        values = self._by.of_event(at, event)
        if values is not None:
            known = self._last_ms[event.__class__]
            known[values] = max(ms + event.ms, known.get(values, -inf)) if event.__class__ is ProcessPaused else ms

    def _over(self, _: int, at: str, event: Any) -> None:
        # Both kinds of events have to agree with a key in the same fields, in the same order.
        values = self._ends.of_event(at, event)
        if values is not None:
            for known in self._last_ms.values():
                if known:
                    known.pop(values, None)

    def holds(self, about: Sequence[Any], since_ms: int) -> bool:
        """Whether it excuses what has gone wrong since then."""
        return any(
            known.get(self._by.of_key(kind, about), -inf) + self._lasts_ms >= since_ms
            for kind, known in self._last_ms.items() if known
        )


def _match(one: type | Match | tuple[type, ...]) -> Match:
    return _any_of(one) if isinstance(one, tuple) else matching(one)


@cache
def _any_of(kinds: tuple[type, ...]) -> Match:
    return Match(*kinds)

