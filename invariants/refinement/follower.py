"""Followers: one model beside one world, from the world's first segment on.

A follower is shown the segments in which something was reported that it hears, folds that over its model, and compares
what is visible of the model with the tables of the machine that ran. Comparing costs more than folding, so that it is
done when the visible part of the model has moved or should have, and at every ROUND-th segment of each machine: a write
that nobody reported is seen that much later, and then by a difference that no event explains.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from invariants.finding import Finding

ROUND = 64
"""The first of a process and every so-manieth of its segments is shown to all, whatever was reported."""

Record = tuple[int, str, Any]
"""True time in ms, machine, and what it traced: an event of `impl.events`."""


class Follower(Protocol):
    """What follows a world; the name is that of its property, refines_<concept>."""

    @property
    def name(self) -> str:
        """The property that it judges besides those of the model."""
        ...

    @property
    def properties(self) -> Collection[str]:
        """The names of all properties that it judges."""
        ...

    @property
    def hears(self) -> Collection[type] | None:
        """The classes of what it wants to be told; None: everything."""
        ...

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """Take what was traced, by any machine, in a segment, which was one of this machine, and just before it.

        whole -- compare all that the machine's tables say, whatever was reported.
        Raises TooManyStatesError when nothing can be said of the rest of the run.
        """
        ...


class Following:
    """The followers of a world, and which of them a segment concerns: those that hear what was traced in it."""

    def __init__(self, followers: Sequence[Follower] = ()) -> None:
        """Ask each what it hears."""
        self.followers = tuple(followers)
        self._hearing: dict[type, int] = {}
        self._who: dict[int, tuple[Follower, ...]] = {}
        self._alone: dict[type, tuple[Follower, ...]] = {}

    def concerned(self, records: Sequence[Record]) -> Sequence[Follower]:
        """Who is to be shown a segment in which this was reported, in their order."""
        if len(records) == 1 and (alone := self._alone.get(records[0][2].__class__)) is not None:
            return alone
        bits = 0
        for _, _, event in records:
            heard = self._hearing.get(event.__class__)
            bits |= self._heard(event.__class__) if heard is None else heard
        who = self._who.get(bits)
        if who is None:
            who = self._who[bits] = tuple(one for i, one in enumerate(self.followers) if bits >> i & 1)
        if len(records) == 1:
            self._alone[records[0][2].__class__] = who
        return who

    def _heard(self, kind: type) -> int:
        """Who hears events of a class, a bit for each."""
        self._hearing[kind] = bits = sum(
            1 << i for i, one in enumerate(self.followers) if one.hears is None or kind in one.hears)
        return bits
