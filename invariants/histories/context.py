"""What the judgement of a single message, or of a single member, must know of the rest of a history.

All of it comes from operations that are rare, or is one number for a group and a queue: it fits into memory when the
history does not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from invariants.histories.operations import ASSIGNED, COMMITTED, OF_OWNERS, RESTARTED, SEND, Operation

Owned = tuple[str, str]
"""A group and a queue."""
_Member = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A queue is a member's, from its assignment until it is revoked, assigned anew, or the process restarts.

    begin -- the assignment. end -- what ended it; none while the history goes on.
    """

    begin: Operation
    end: Operation | None


@dataclass(frozen=True)
class Context:
    """Facts about a whole history.

    committed -- of a group and queue the highest committed offset. sends -- whether any send was observed.
    owners -- every assigned, revoked and restarted of the history. agree_ms -- how far clocks of different machines
    are apart at most; none if nobody vouches for it.
    """

    committed: Mapping[Owned, int]
    sends: bool
    owners: tuple[Operation, ...]
    agree_ms: int | None = None
    _assigned: dict[_Member, list[Operation]] = field(default_factory=lambda: defaultdict(list), init=False)
    _ends: dict[_Member, list[int]] = field(default_factory=lambda: defaultdict(list), init=False)
    _restarts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list), init=False)
    _groups: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list), init=False)
    _of: dict[Owned, list[Operation]] = field(default_factory=lambda: defaultdict(list), init=False)

    def __post_init__(self) -> None:
        """Index what is asked often."""
        for one in sorted(self.owners, key=lambda one: one.seq):
            if one.kind == RESTARTED:
                self._restarts[one.process].append(one.seq)
                continue
            self._ends[_member(one)].append(one.seq)
            if one.kind == ASSIGNED:
                self._assigned[_member(one)].append(one)
                self._of[one.group or "", one.queue or ""].append(one)
        for group, queue in sorted(self.committed):
            self._groups[queue].append(group)

    def groups(self, queue: str) -> list[str]:
        """The groups that have committed something of a queue."""
        return self._groups.get(queue, [])

    def assignments(self, group: str, queue: str) -> list[Operation]:
        """All assignments of a queue in a group."""
        return self._of.get((group, queue), [])

    def in_force(self, one: Operation) -> Operation | None:
        """The assignment that an operation of a member falls under, or none."""
        found = self._assigned.get(_member(one), [])
        at = bisect_right(found, one.seq, key=lambda begin: begin.seq)
        return found[at - 1] if at else None

    def is_interrupted(self, earlier: Operation, later: Operation) -> bool:
        """Whether the queue changed hands, or the process restarted, between two operations of a member."""
        return any(_is_between(seqs, earlier, later) for seqs in self._changes(*_member(later)))

    def is_restarted(self, earlier: Operation, later: Operation) -> bool:
        """Whether the process restarted between two operations of it."""
        return _is_between(self._restarts.get(later.process, []), earlier, later)

    def last_change(self, process: str, group: str, queue: str, seq: int) -> int:
        """The number of the last such change until this number, or one below all numbers."""
        return max((seqs[at - 1] for seqs in self._changes(process, group, queue) if (at := bisect_right(seqs, seq))),
                   default=_BEFORE_ALL)

    def changes(self, process: str, group: str, queue: str) -> list[int]:
        """The numbers of all such changes."""
        return sorted(number for seqs in self._changes(process, group, queue) for number in seqs)

    def _changes(self, process: str, group: str, queue: str) -> tuple[list[int], list[int]]:
        return self._ends.get((process, group, queue), []), self._restarts.get(process, [])

    def all_assignments(self) -> Iterator[Assignment]:
        """Every assignment with its end."""
        ends: dict[str, list[Operation]] = defaultdict(list)
        for one in sorted(self.owners, key=lambda one: one.seq):
            ends[one.process].append(one)
        for process in sorted(ends):
            open_now: dict[Owned, Operation] = {}
            for one in ends[process]:
                over = list(open_now) if one.kind == RESTARTED else [(one.group or "", one.queue or "")]
                for owned in over:
                    if owned in open_now:
                        yield Assignment(open_now.pop(owned), one)
                if one.kind == ASSIGNED:
                    open_now[over[0]] = one
            yield from (Assignment(begin, None) for begin in open_now.values())

    def apart_ms(self, earlier: Operation, later: Operation) -> int | None:
        """How many ms passed at most between two operations; none where no clock can say it."""
        if earlier.time_ms is None or later.time_ms is None:
            return None
        if (earlier.clock or earlier.process) == (later.clock or later.process):
            return later.time_ms - earlier.time_ms
        return None if self.agree_ms is None else later.time_ms - earlier.time_ms + self.agree_ms


_BEFORE_ALL = -(1 << 63)


def _is_between(seqs: list[int], earlier: Operation, later: Operation) -> bool:
    """Whether one of these numbers, which are sorted, is behind that of the earlier one, and not behind the later's."""
    return bisect_right(seqs, earlier.seq) < bisect_right(seqs, later.seq)


def _member(one: Operation) -> _Member:
    return one.process, one.group or "", one.queue or ""


def context(operations: Iterable[Operation], agree_ms: int | None = None) -> Context:
    """The facts of a history in memory."""
    committed: dict[Owned, int] = {}
    owners: list[Operation] = []
    sends = False
    for one in operations:
        sends = sends or one.kind == SEND
        if one.kind == COMMITTED and one.offset is not None:
            owned = one.group or "", one.queue or ""
            committed[owned] = max(one.offset, committed.get(owned, one.offset))
        elif one.kind in OF_OWNERS:
            owners.append(one)
    return Context(committed, sends, tuple(owners), agree_ms)
