"""The threads behind a picture: where one stands still while others act, where it goes on, and where it has begun."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from impl.events.sentences.words import duration
from invariants.pictures.log import Log
from invariants.pictures.marks import FAULT
from invariants.pictures.rows import Row, job_of

_LATE_MS, _LONG_MS, _HALTS = 10, 1_000, 2


class Threads:
    """Those of a run."""

    def __init__(self, log: Log) -> None:
        """Of this run."""
        self.log = log

    def rows(self, shown: Sequence[int], rows: Sequence[Row], since: int, end: int) -> Iterator[Row]:
        """The rows of threads that stand still, go on, or have begun long before.

        shown -- the records of a picture in their order. rows -- theirs. since, end -- the records between which other
        threads count, too; the last one is that of the finding.
        """
        halts = {halt.at: halt for halt in (*self._own(shown), *self._others(shown, rows, since, end))}
        for halt in halts.values():
            yield Row(halt.at - 0.5, halt.ms, halt.machine, self._halted(halt), FAULT)
            yield from self._goes_on(halt, shown, end)
        if not halts:
            yield from self._begins(shown, end)

    # Which --------------------------------------------------------------------------------------------------------

    def _own(self, shown: Sequence[int]) -> Iterator[Any]:
        """Halts of threads that have made one of the records: before a record, or while others of the machine act."""
        first = {self.log.threads[place]: place for place in reversed(shown)}
        last = {self.log.threads[place]: place for place in shown}
        for halt in self.log.trail.halts:
            if halt.thread not in last or not halt.paused_ms:
                continue
            of_job = self.log.trail.request_of(halt.thread) is not None
            row_ms = self.log.records[first[halt.thread]][0]
            wakes = 0 <= row_ms - halt.ms - halt.paused_ms <= _LATE_MS
            own = halt.at <= (shown[-1] if of_job else last[halt.thread]) and (
                of_job or halt.at > first[halt.thread] or wakes)
            stuck = self._stuck_until(halt, last[halt.thread], shown[-1])
            if own or stuck or any(self._acts_beside(halt, place) for place in shown):
                yield halt

    def _stuck_until(self, halt: Any, last: int, end: int) -> bool:
        """Whether a thread that has made a record stands still from then on until after the last one."""
        end_ms = self.log.records[end][0]
        return bool(last < halt.at and halt.paused_ms >= _LONG_MS and halt.ms <= end_ms < halt.ms + halt.paused_ms)

    def _others(self, shown: Sequence[int], rows: Sequence[Row], since: int, end: int) -> Sequence[Any]:
        """The longest halts between two places at machines of the rows, of threads that have none of the records."""
        machines, threads = {row.at for row in rows}, {self.log.threads[place] for place in shown}
        since_ms = self.log.records[since][0]
        found = [halt for halt in self.log.trail.halts if halt.at <= end and halt.ms + halt.paused_ms >= since_ms
                 and halt.machine in machines and halt.thread not in threads
                 and (halt.paused_ms >= _LONG_MS or self._concerns(halt, rows[-1:]))]
        return sorted(found, key=lambda one: (-one.paused_ms, -one.at))[:_HALTS]

    def _acts_beside(self, halt: Any, place: int) -> bool:
        """Whether a record is of another thread of the machine, and was made while this one stood still."""
        ms, at, _ = self.log.records[place]
        return at == halt.machine and self.log.threads[place] not in {0, halt.thread} \
            and place >= halt.at and ms < halt.ms + halt.paused_ms

    def _concerns(self, halt: Any, rows: Iterable[Row]) -> bool:
        """Whether a thread handles a request of the machine of one of these rows."""
        request = self.log.trail.request_of(halt.thread)
        return request is not None and halt.paused_ms > 0 and any(row.at == request.source for row in rows)

    # What is said -------------------------------------------------------------------------------------------------

    def _halted(self, halt: Any) -> str:
        request, whose = self.log.trail.request_of(halt.thread), ""
        if request is not None and request.source != halt.machine:
            whose = f" that handles the {job_of(request)} of {request.source}"
        return f"a thread of {halt.machine}{whose} stands still for {duration(halt.paused_ms)} ({halt.where})"

    def _goes_on(self, halt: Any, shown: Sequence[int], end: int) -> Iterator[Row]:
        """Where a thread goes on of whose further work no record tells, if that is long before the finding."""
        ms = halt.ms + halt.paused_ms
        place = bisect_left(self.log.records, ms, key=lambda record: record[0])
        told = any(one >= halt.at and self.log.threads[one] == halt.thread for one in shown)
        if not told and halt.at < place <= min(end, len(self.log.records) - 1):
            yield Row(place - 0.5, ms, halt.machine, f"the thread of {halt.machine} goes on with what it knew then")

    def _begins(self, shown: Sequence[int], end: int) -> Iterator[Row]:
        """Where the thread of the finding has begun, if others of its machine have acted since."""
        if end not in shown or self.log.of_thread.get(self.log.threads[end], ())[:1] != [end]:
            return  # who has reported something before has begun something else since
        ms, at = self.log.records[end][:2]
        begin_ms, begin = self.log.trail.began(self.log.threads[end])
        beside = [one for one in shown if begin <= one < end and self.log.records[one][1] == at
                  and self.log.threads[one] != self.log.threads[end]]
        if beside and ms - begin_ms >= _LONG_MS:
            text = f"a thread of {at} begins the job that breaks the promise {duration(ms - begin_ms)} later"
            yield Row(begin - 0.25, begin_ms, at, text)
