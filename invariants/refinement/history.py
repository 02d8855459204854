"""What follows a world without a model: the judges of all properties of `invariants.history`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl.events import HOST_EVENTS
from invariants.finding import Finding
from invariants.history import HISTORIES
from invariants.refinement import (
    broker_table_history,
    client_table_history,
    file_history,
    lock_history,
    member_history,
    notice_history,
    offset_history,
    owner_history,
    progress_history,
    registration_history,
    server_history,
    share_history,
    skip_history,
    start_history,
    table_history,
    upkeep_history,
)
from invariants.refinement.follower import Living, Machines, Record
from invariants.refinement.judge import Hear, Judge

JUDGES: tuple[type[Judge], ...] = (
    *lock_history.JUDGES, *offset_history.JUDGES, *progress_history.JUDGES, *member_history.JUDGES,
    *notice_history.JUDGES, *server_history.JUDGES, *file_history.JUDGES, *upkeep_history.JUDGES,
    *share_history.JUDGES, *skip_history.JUDGES, *table_history.JUDGES, *registration_history.JUDGES,
    *client_table_history.JUDGES, *broker_table_history.JUDGES, *owner_history.JUDGES, *start_history.JUDGES,
)


class Histories:
    """The follower that all judges share; see Follower.

    name -- of its first judge's property. properties -- of all. It is told everything: time passes for deadlines.
    """

    hears = None

    def __init__(self, machines: Machines, judges: Sequence[type[Judge]] = ()) -> None:
        """Watch from the first segment on."""
        living = Living(machines)
        self.judges = [judge(living) for judge in judges or JUDGES]
        self.name, self.properties = self.judges[0].name, tuple(judge.name for judge in self.judges)
        self._hears: dict[type, list[tuple[Judge, Hear]]] = {}
        for judge in self.judges:
            for kind, hear in judge.hears().items():
                for one in HOST_EVENTS if kind is tuple else (kind,):
                    self._hears.setdefault(one, []).append((judge, hear))
        self._due = [judge for judge in self.judges if type(judge).due is not Judge.due]
        self._looked_ms = 0

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """See Follower."""
        del machine, whole
        found: list[Finding] = []
        for ms, where, event in records:
            for judge, hear in self._hears.get(event.__class__, ()):
                sentences = hear(ms, where, event)
                if sentences is not None:
                    for sentence in sentences:
                        found.append(self._finding(judge, event, sentence))  # noqa: PERF401  # most say nothing
        if records and (ms := records[-1][0]) - self._looked_ms >= 1_000:  # noqa: PLR2004  # deadlines: once in a second
            self._looked_ms = ms
            found += [self._finding(judge, None, sentence) for judge in self._due for sentence in judge.due(ms)]
        return found

    def _finding(self, judge: Judge, event: Any, sentence: str) -> Finding:
        what = "in time" if event is None else type(event).__name__
        return Finding(judge.name, event, f"{HISTORIES[judge.name].sentence} But {sentence}.", (judge.name, what))
