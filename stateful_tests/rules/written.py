"""Written histories: records of which one rule says nothing, and others in which it sees its property fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from invariants.finding import Finding
from invariants.histories.operations import Operation
from invariants.refinement.follower import Record
from invariants.rules.bounds import Bounds
from invariants.rules.declared import RULES
from invariants.rules.observed import Observation
from invariants.rules.watch import Watch

STORMY = Bounds(thread_pause_ms=40_000, delay_ms=25_000)
"""A world in which threads stand still and messages are late."""
END_MS = 10_000_000


class Tables:
    """Views of written tables: a method of `invariants.views.Views` answers with the value of its name.

    A value that is a function is called with the arguments; a view that was not given answers with an empty table.
    """

    def __init__(self, **answers: Any) -> None:
        """Write tables."""
        self.answers = answers

    def calm(self) -> bool:
        """Nothing fails, unless it is written that something does."""
        return bool(self.answers.get("calm", True))

    def once(self, _: str, make: Callable[[], Any]) -> Any:
        """See Views."""
        return make()

    def standing_still(self) -> AbstractContextManager[None]:
        """See Views."""
        return nullcontext()

    def __getattr__(self, name: str) -> Any:
        """What a view answers."""
        answer = self.answers.get(name, ())
        return answer if callable(answer) else lambda *_: answer


class Turns:
    """A view that answers another value each time, and behind the last one the first again.

    Each history that is played begins with the first.
    """

    def __init__(self, *answers: Any) -> None:
        """Write them."""
        self.answers = answers
        self.begin()

    def begin(self) -> None:
        """The first answer is next."""
        self._answers = cycle(self.answers)

    def __call__(self, *_: Any) -> Any:
        """The next one."""
        return next(self._answers)


class TurnsOfEach(Turns):
    """A view whose first argument names who is looked at; each answers in turns of its own."""

    def begin(self) -> None:
        """The first answer of each is next."""
        self._each = {name: cycle(answers) for name, answers in self.answers}

    def __call__(self, *arguments: Any) -> Any:
        """The next one of who is named."""
        return next(self._each[arguments[0]])


@dataclass(frozen=True, eq=False)
class Written:
    """A written history of one rule.

    broken -- records that the rule tells of. kept -- records of which it says nothing. views -- what tables say all the
    while; kept_views -- the same of `kept`. causes -- the hazards that what is found in `broken` is put down to; None:
    any. says -- what the sentences of these findings contain. observed -- what clients have observed at the end, of
    which `kept_observed` is the same of `kept`; None: nothing else. Much time passes behind the last record, and a
    promise is looked at then.
    """

    rule: str
    broken: tuple[Record, ...]
    kept: tuple[Record, ...] = ()
    views: Any = field(default_factory=Tables)
    kept_views: Any = None
    bounds: Bounds = STORMY
    causes: tuple[str, ...] | None = None
    says: str = ""
    observed: tuple[Operation, ...] = ()
    kept_observed: tuple[Operation, ...] | None = None


def findings(
    history: Written, records: Iterable[Record], views: Any = None, *, explains: bool = False,
    observed: Iterable[Operation] | None = None,
) -> list[Finding]:
    """What the rule of a history finds in records, and when much time has passed behind them.

    explains -- see Watch. observed -- instead of what clients have observed in the history.
    """
    tables = views or history.views
    for turns in [one for one in tables.answers.values() if isinstance(one, Turns)]:
        turns.begin()
    watch = Watch(tables, history.bounds, [RULES[history.rule]], explains=explains)
    found = [one for record in records for one in watch.segment(record[1], [record])]
    noted = [Observation(len(found), one) for one in (history.observed if observed is None else observed)]
    return [*found, *watch.late(END_MS), *watch.promised(END_MS, 0), *watch.observed(noted)]
