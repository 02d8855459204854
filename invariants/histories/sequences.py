"""The checks that follow one client in its own order: a member at a queue, and a producer at a key.

Both keep a few numbers, however long the client works.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from invariants.histories.checks import Finding, Problem, Told
from invariants.histories.context import Context
from invariants.histories.operations import (
    ACKNOWLEDGED,
    COMMITTED,
    COMMITTED_HALF,
    CONSUMED,
    DELIVERED,
    OF_SENDS,
    SEND,
    Operation,
)


@dataclass
class Member:
    """A member at a queue of a group: commits, and what an orderly one is delivered and consumes.

    committed, consumed -- its last commit, and what it has consumed with the highest offset, since it has the queue.
    delivered -- the highest offset that it was delivered since then: what it ends beyond that it was delivered before.
    kept -- since when it has it (`Context.last_change`).
    """

    context: Context
    committed: Operation | None = None
    consumed: Operation | None = None
    delivered: int = -1
    kept: int | None = None
    _before: Operation | None = None

    def take(self, one: Operation) -> Iterator[Told]:
        """The next operation."""
        yield from _same_number(self._before, one)
        self._before = one
        kept = self.context.last_change(one.process, one.group or "", one.queue or "", one.seq)
        if kept != self.kept:
            self.committed, self.consumed, self.delivered = None, None, -1
        self.kept = kept
        if one.kind == COMMITTED:
            yield from self._commits(one)
        elif one.kind == DELIVERED:
            yield from self._is_delivered(one)
        elif one.kind == CONSUMED and (one.offset or 0) <= self.delivered and (
                self.consumed is None or (one.offset or 0) > (self.consumed.offset or 0)):
            self.consumed = one

    def _commits(self, one: Operation) -> Iterator[Told]:
        before, self.committed = self.committed, one
        if before is not None and (one.offset or 0) < (before.offset or 0):
            yield Finding("regressed", (before, one), f"{one.process} commits {one.offset} of {one.queue} for "
                          f"{one.group} after {before.offset}.", one.group or "")

    def _is_delivered(self, one: Operation) -> Iterator[Told]:
        self.delivered = max(self.delivered, one.offset or 0)
        if self.consumed is not None and (one.offset or 0) < (self.consumed.offset or 0):
            yield Finding("reordered", (self.consumed, one), f"{one.process} is delivered {one.message} at offset "
                          f"{one.offset} of {one.queue} after it has consumed offset {self.consumed.offset}.",
                          one.group or "")


class Begun(NamedTuple):
    """A send that nothing has ended yet: what was acknowledged last before it, and whether it is of a half message."""

    before: Operation | None
    half: bool


@dataclass
class Key:
    """A producer at a key: what it sends after an acknowledgement stands behind what was acknowledged.

    A half message stands where its commit says. Where a delayed one will stand nobody is told.
    """

    _last: Operation | None = None
    _begun: dict[str, Begun] = field(default_factory=dict)
    _before: Operation | None = None

    def take(self, one: Operation) -> Iterator[Told]:
        """The next operation."""
        yield from _same_number(self._before, one)
        self._before = one
        message = one.message or ""
        begun = self._begun.get(message)
        if begun is not None and begun.half and one.kind == ACKNOWLEDGED:
            return
        self._begun.pop(message, None)
        if one.kind == SEND and not one.delay_ms:
            self._begun[message] = Begun(self._last, bool(one.half))
        elif begun is not None and one.kind == (COMMITTED_HALF if begun.half else ACKNOWLEDGED) and (
                one.queue is not None and one.offset is not None):
            before, self._last = begun.before, one
            if before is not None and (before.queue != one.queue or (before.offset or 0) > one.offset):
                yield Finding(
                    "reordered", (before, one), f"{one.message} was sent after {before.message}, with the key "
                    f"{one.key}, and stands at offset {one.offset} of {one.queue}; {before.message} stands at "
                    f"{before.offset} of {before.queue}.")


def _same_number(before: Operation | None, one: Operation) -> Iterator[Problem]:
    """Two operations that have no order, unless they are of one message, of which that is said already."""
    if before is not None and before.place == one.place and (one.message is None or before.message != one.message):
        yield Problem(one, f"{one.process} has two operations with the number {one.seq}")


def is_followed(one: Operation, orderly: frozenset[str]) -> tuple[str, ...] | None:
    """Whom the checks of this module follow with an operation, or none; orderly -- groups that consume in order."""
    if one.kind == COMMITTED or (one.kind in (DELIVERED, CONSUMED) and one.group in orderly):
        return one.process, one.group or "", one.queue or ""
    if one.kind in OF_SENDS and one.key is not None:
        return one.process, one.key
    return None


def orderly(context: Context) -> frozenset[str]:
    """The groups that consume in order."""
    return frozenset(one.group or "" for one in context.owners if one.orderly)
