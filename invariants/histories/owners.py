"""The check of all assignments: who owns a queue, and whether somebody else owns it too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from invariants.histories.checks import Finding, Problem, Told, Unjudged
from invariants.histories.context import Assignment, Context, Owned
from invariants.histories.operations import ASSIGNED, RESTARTED, REVOKED, Operation


def judged(context: Context) -> Iterator[Told]:
    """What is to be said of all assignments of a history."""
    yield from _problems(context.owners)
    owned: dict[Owned, list[Assignment]] = defaultdict(list)
    for one in context.all_assignments():
        owned[one.begin.group or "", one.begin.queue or ""].append(one)
    for group, queue in sorted(owned):
        held = sorted(owned[group, queue], key=lambda one: one.begin.place)
        for at, one in enumerate(held):
            for other in held[at + 1:]:
                restarts = any(end is not None and end.kind == RESTARTED for end in (one.end, other.end))
                if one.begin.process != other.begin.process and not restarts:  # when it died nobody has seen
                    yield from _both(one, other, context)


def _problems(owners: tuple[Operation, ...]) -> Iterator[Problem]:
    held: set[tuple[str, ...]] = set()
    numbers: set[tuple[str, int]] = set()
    for one in sorted(owners, key=lambda one: one.seq):
        if one.place in numbers:
            yield Problem(one, f"{one.process} has two operations with the number {one.seq}")
        numbers.add(one.place)
        member = one.process, one.group or "", one.queue or ""
        if one.kind == ASSIGNED:
            held.add(member)
        elif one.kind == RESTARTED:
            held = {of for of in held if of[0] != one.process}
        elif one.kind == REVOKED and member not in held:
            yield Problem(one, f"revoked of {one.queue} from {one.process} without its assigned")


def _both(one: Assignment, other: Assignment, context: Context) -> Iterator[Told]:
    """Two assignments of one queue to two processes."""
    group, queue = one.begin.group or "", one.begin.queue or ""
    first, second = sorted((one, other), key=lambda held: (held.begin.time_ms or 0, held.begin.place))
    if first.end is None and second.end is None:
        yield Finding("two_owners", (first.begin, second.begin), f"{queue} of {group} belongs to "
                                                                 f"{first.begin.process} and to "
                      f"{second.begin.process} when the history ends.", group)
        return
    apart = [None if end is None else context.apart_ms(begin, end)
             for begin, end in ((second.begin, first.end), (first.begin, second.end))]
    known = [end is None or passed is not None for end, passed in zip((first.end, second.end), apart, strict=True)]
    if not all(known):
        yield Unjudged("two_owners", second.begin, "a clock that both members read", group)
        return
    slack_ms = 0 if _clock(first) == _clock(second) else 2 * (context.agree_ms or 0)
    if all(passed is None or passed - slack_ms > 0 for passed in apart):
        yield Finding("two_owners", (first.begin, second.begin), f"{queue} of {group} was assigned to "
                      f"{second.begin.process} while it belonged to {first.begin.process}.", group)


def _clock(one: Assignment) -> str:
    return one.begin.clock or one.begin.process
