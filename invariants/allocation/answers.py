"""What strategies answer in a case, and who then takes which queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.cases import Case, View

Strategy: TypeAlias = Callable[[str, str, list[MessageQueue], list[str]], Any]
"""(group, me, all queues, all members) -> my queues; None means none, as RebalanceImpl#rebalanceByTopic reads it."""

GROUP = "group"


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that gave no list of queues: it raised, or it answered something else. The text says which."""

    text: str


Answer: TypeAlias = tuple[Any, ...] | Failure


def queues_of(answer: Answer) -> tuple[Any, ...]:
    """The queues of an answer; none of a call that failed."""
    return () if isinstance(answer, Failure) else answer


@dataclass(frozen=True)
class Observed:
    """What a strategy answered in one case.

    answers -- of each view; again -- to the same question a second time; before -- of each view of case.before().
    """

    case: Case
    answers: tuple[Answer, ...]
    again: tuple[Answer, ...]
    before: tuple[Answer, ...] = ()

    def failure(self) -> str | None:
        """The first call without an answer, as a sentence."""
        asked = [*zip(self.case.views, self.answers, strict=True), *zip(self.case.views, self.again, strict=True)]
        if self.before:
            asked += zip(self.case.before().views, self.before, strict=True)
        failed = [(view, answer) for view, answer in asked if isinstance(answer, Failure)]
        return None if not failed else f"{asking(failed[0][0].me, failed[0][0].members)} {failed[0][1].text}"

    @cached_property
    def owners(self) -> dict[MessageQueue, list[str]]:
        """Who takes each queue, in the order of the views; several claims look at it."""
        return owners_of(self.case, self.answers)

    def table(self) -> dict[str, list[Any]]:
        """Queue × owner, as people should see it; with a joiner, before and after."""
        owners = self.owners
        if not self.before:
            return {"columns": ["queue", "owner"], "rows": [[shown(q), names_of(owners[q])] for q in owners]}
        earlier = owners_of(self.case.before(), self.before)
        return {"columns": ["queue", "owner before", f"owner after {self.case.joiner} joined"],
                "rows": [[shown(queue), names_of(earlier.get(queue, [])), names_of(owners[queue])] for queue in owners]}


def owners_of(case: Case, answers: Sequence[Answer]) -> dict[MessageQueue, list[str]]:
    """Who takes each queue, in the order of the views; answers -- of each view of the case."""
    takers: dict[MessageQueue, list[int]] = {queue: [] for queue in case.queues()}
    last: Answer = ()
    taken: list[list[int]] = []
    for place, answer in enumerate(answers):
        if answer != last:  # many members that answer alike are looked up once
            last, taken = answer, _taken(takers, answer)
        for places in taken:
            if not places or places[-1] != place:
                places.append(place)
    return {queue: [case.views[place].me for place in places] for queue, places in takers.items()}


def _taken(takers: dict[MessageQueue, list[int]], answer: Answer) -> list[list[int]]:
    """The takers of each queue of an answer; queues that are none of the case come in, sorted."""
    queues = [queue for queue in queues_of(answer) if isinstance(queue, MessageQueue)]
    found = [takers.get(queue) for queue in queues]
    if None in found:
        for queue in sorted(queue for queue in queues if queue not in takers):
            takers.setdefault(queue, [])
    return [takers[queue] if known is None else known for queue, known in zip(queues, found, strict=True)]


def asking(me: str, members: Sequence[str]) -> str:
    """Who asks, among whom, as people should see it."""
    return f"{me} among {list(members)}"


def names_of(owners: Sequence[str]) -> str:
    """Owners as people should see them."""
    return ", ".join(owners) or "nobody"


def shown(queue: object) -> str:
    """A queue as topic/broker:id; anything else as Python shows it."""
    if isinstance(queue, MessageQueue):
        return f"{queue.topic}/{queue.broker_name}:{queue.queue_id}"
    return repr(queue)[:80]


def observe(strategies: Sequence[Strategy], case: Case, *, again: Sequence[Strategy] | None = None,
            stops: tuple[type[Exception], ...] = ()) -> Observed:
    """Ask each member's strategy, twice, and once more about the time before the joiner came.

    strategies -- one for each view of the case. again -- whom to ask the second time, in reverse order (by default the
    same): what runs in another process shows whether answers depend on the process or on what was asked before.
    stops -- exceptions that are no answer but end the whole judgement.
    """
    answers = _ask(strategies, case, stops)
    backwards = Case(case.views[::-1], case.joiner)
    repeated = _ask((again or strategies)[::-1], backwards, stops)[::-1]
    if case.joiner is None:
        return Observed(case, answers, repeated)
    staying = [one for one, view in zip(strategies, case.views, strict=True) if view.me != case.joiner]
    return Observed(case, answers, repeated, _ask(staying, case.before(), stops))


def asked(case: Case) -> Iterator[View]:
    """What `observe` asks about a case, in its order, if the same are asked the second time."""
    yield from case.views
    yield from case.views[::-1]
    if case.joiner is not None:
        yield from case.before().views


def _ask(strategies: Sequence[Strategy], case: Case, stops: tuple[type[Exception], ...]) -> tuple[Answer, ...]:
    return tuple(_answer(strategy, view, stops) for strategy, view in zip(strategies, case.views, strict=True))


def _answer(strategy: Strategy, view: View, stops: tuple[type[Exception], ...]) -> Answer:
    try:
        answer = strategy(GROUP, view.me, list(view.queues), list(view.members))
    except stops:
        raise
    except Exception as error:  # noqa: BLE001  # RebalanceImpl#rebalanceByTopic catches whatever a strategy throws
        return Failure(f"raised {type(error).__name__}: {error}"[:200])
    if answer is None:
        return ()
    if isinstance(answer, Failure):  # a driver that already knows how the call went wrong
        return answer
    if isinstance(answer, list | tuple):
        return tuple(answer)
    return Failure(f"answered {type(answer).__name__} {answer!r}, which is no list of queues"[:200])
