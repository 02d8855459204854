"""What is promised of the answers of any strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Answer, Observed, names_of, owners_of, queues_of, shown


@dataclass(frozen=True, slots=True)
class StrategyClaim:
    """A claim about strategies.

    name -- of the property. sentence -- what is promised. wrong -- says in a sentence what is wrong with the answers,
    or None. joins -- whether it is about a member that joins. demanded -- whether a group cannot do without it;
    fairness and stability are trade-offs: AVG gives up one, CONSISTENT_HASH the other.
    """

    name: str
    sentence: str
    wrong: Callable[[Observed], str | None]
    joins: bool = False
    demanded: bool = True


STRATEGY_CLAIMS: dict[str, StrategyClaim] = {}
"""Every claim about strategies by name, in the order of declaration."""


def strategy_claim(*, joins: bool = False, demanded: bool = True) -> Callable[
        [Callable[[Observed], str | None]], StrategyClaim]:
    """Declare a claim: the function's name is the property, its docstring the promise."""

    def declare(wrong: Callable[[Observed], str | None]) -> StrategyClaim:
        name, sentence = wrong.__name__, (wrong.__doc__ or "").split("\n")[0]
        STRATEGY_CLAIMS[name] = StrategyClaim(name, sentence, wrong, joins, demanded)
        return STRATEGY_CLAIMS[name]

    return declare


@strategy_claim()
def allocation_answers(seen: Observed) -> str | None:
    """Every call returns a list of queues, and raises nothing."""
    return seen.failure()


@strategy_claim()
def allocation_is_in_range(seen: Observed) -> str | None:
    """A member is given queues of its own list only."""
    listed: tuple[MessageQueue, ...] = ()
    among: frozenset[MessageQueue] = frozenset()
    last: Answer = ()
    for view, answer in zip(seen.case.views, seen.answers, strict=True):
        if view.queues is listed and answer == last:
            continue
        if view.queues is not listed:
            listed, among = view.queues, frozenset(view.queues)
        last = answer
        foreign = [queue for queue in queues_of(answer) if not isinstance(queue, MessageQueue) or queue not in among]
        if foreign:
            return f"{view.me} takes {shown(foreign[0])}, which is not in the list that it was given"
    return None


@strategy_claim()
def allocation_is_total(seen: Observed) -> str | None:
    """The members together cover every queue."""
    lonely = [queue for queue, owners in seen.owners.items() if not owners]
    return f"{shown(lonely[0])} has no owner" if lonely else None


@strategy_claim()
def allocation_is_exclusive(seen: Observed) -> str | None:
    """No queue has two owners."""
    shared = [(queue, owners) for queue, owners in seen.owners.items() if len(owners) > 1]
    return f"{shown(shared[0][0])} is owned by {' and by '.join(shared[0][1])}" if shared else None


@strategy_claim()
def allocation_is_deterministic(seen: Observed) -> str | None:
    """Equal arguments give equal answers."""
    for view, first, second in zip(seen.case.views, seen.answers, seen.again, strict=True):
        if first == second:
            continue
        one, other = set(queues_of(first)), set(queues_of(second))
        if one != other:
            return f"{view.me} takes {_sorted(one)}, and at the same question again {_sorted(other)}"
    return None


@strategy_claim(demanded=False)
def allocation_is_balanced(seen: Observed) -> str | None:
    """The shares of two members differ by at most one queue."""
    sizes = [(len(set(queues_of(answer))), view.me) for view, answer in zip(seen.case.views, seen.answers, strict=True)]
    (least, poor), (most, rich) = min(sizes), max(sizes)
    return f"{rich} takes {most} queues and {poor} takes {least}" if most - least > 1 else None


@strategy_claim(joins=True, demanded=False)
def allocation_moves_minimally(seen: Observed) -> str | None:
    """When a member joins, a queue keeps its owner or goes to the joiner."""
    if seen.case.joiner is None:
        return None
    earlier = owners_of(seen.case.before(), seen.before)
    for queue, owners in seen.owners.items():
        known = earlier.get(queue, [])
        moved = [one for one in owners if one != seen.case.joiner and one not in known]
        if moved:
            return f"{shown(queue)} goes from {names_of(known)} to {moved[0]} when {seen.case.joiner} joins"
    return None


def _sorted(queues: set[Any]) -> str:
    return "[" + ", ".join(sorted(map(shown, queues))) + "]"
