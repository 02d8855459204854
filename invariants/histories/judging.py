"""A history in memory, judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Protocol

from invariants.histories import messages, owners, sequences
from invariants.histories.checks import Told
from invariants.histories.context import Context, context
from invariants.histories.operations import OF_MESSAGES, Operation


class Follower(Protocol):
    """What follows one client in its own order."""

    def take(self, one: Operation) -> Iterator[Told]:
        """The next operation."""
        ...


def judged(operations: Iterable[Operation], agree_ms: int | None = None) -> Iterator[Told]:
    """All findings, all that could not be judged, and all operations that contradict the format.

    agree_ms -- how far clocks of different machines are apart at most; none if nobody vouches for it.
    """
    given = list(operations)
    known = context(given, agree_ms)
    yield from owners.judged(known)
    of: dict[str, list[Operation]] = defaultdict(list)
    for one in given:
        if one.kind in OF_MESSAGES:
            of[one.message or ""].append(one)
    for message in sorted(of):
        yield from messages.judged(of[message], known)
    yield from followed(given, known)


def followed(operations: Iterable[Operation], known: Context) -> Iterator[Told]:
    """What is said of each client in its own order."""
    orderly = sequences.orderly(known)
    of: dict[tuple[str, ...], list[Operation]] = defaultdict(list)
    for one in operations:
        whom = sequences.is_followed(one, orderly)
        if whom is not None:
            of[whom].append(one)
    for whom in sorted(of):
        follower = follower_of(whom, known)
        for one in sorted(of[whom], key=lambda one: one.seq):
            yield from follower.take(one)


def follower_of(whom: tuple[str, ...], known: Context) -> Follower:
    """What follows a member at a queue, or a producer at a key."""
    return sequences.Key() if len(whom) == 2 else sequences.Member(known)  # noqa: PLR2004 - process and key
