"""What no event reports of the threads behind a picture: what they wait for, close, and put off."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from impl import events as e
from impl.events.sentences.words import duration, roughly
from invariants.pictures.causes import QUIET
from invariants.pictures.log import Log, machine
from invariants.pictures.marks import EVENT, VAIN
from invariants.pictures.past import Past
from invariants.pictures.rows import Row, Telling, job_of

_LONG_MS, _STUCK_MS, _PUT_OFF_MS = 1_000, 60_000, 5_000
_JUST_BEFORE = 3
_ENDS = (e.ClientChannelClosed, e.BrokerFound)
"""Events of which the end of a connection is the cause."""
_EXPIRED: tuple[type, ...] = (e.ConsumerRemoved, e.ProducerForgotten, e.BrokerLiveRemoved)


class Waits:
    """Those of a run."""

    def __init__(self, log: Log, past: Past, telling: Telling) -> None:
        """Of this run; telling -- makes the rows of calls."""
        self.log, self.past, self.telling = log, past, telling
        self._of_thread: dict[int, list[Any]] = defaultdict(list)
        for wait in log.trail.waits:
            self._of_thread[wait.thread].append(wait)

    def rows(self, shown: Sequence[int], since: int, end: int) -> Iterator[Row]:
        """The rows of what threads waited for, closed and put off.

        shown -- the records of a picture in their order. since, end -- the records between which jobs that are stuck
        count, too.
        """
        for _, same in groupby(self._own(shown), key=lambda wait: (wait.thread, wait.to, wait.what)):
            yield from self._waited([*same], shown, end)
        yield from self._stuck(shown, since, end)
        yield from self._closed(shown)
        yield from self._put_off(shown)

    # What threads wait for ----------------------------------------------------------------------------------------

    def _own(self, shown: Sequence[int]) -> Iterator[Any]:
        """Long waits of threads that have made one of the records, before it and since the one before."""
        places: dict[int, list[int]] = defaultdict(list)
        for place in shown:
            places[self.log.threads[place]].append(place)
        for thread, own in places.items():
            for before, place in pairwise([self._since(thread, own[0]), *own]):
                for wait in self._of_thread.get(thread, ()):
                    ended = wait.until_ms is not None and wait.until_ms - wait.ms >= _LONG_MS
                    if before < wait.at <= place and ended and (wait.to or thread in self.log.trail.jobs):
                        yield wait

    def _since(self, thread: int, first: int) -> int:
        """The record after which the waits of a thread belong to its first shown one."""
        if thread in self.log.trail.jobs:
            return -1
        own = self.log.of_thread.get(thread, [])
        return own[bisect_left(own, first) - 1] if own and own[0] < first else -1

    def _waited(self, waits: Sequence[Any], shown: Sequence[int], end: int) -> Iterator[Row]:
        first, until_ms = waits[0], waits[-1].until_ms
        took = roughly(sum(wait.until_ms - wait.ms for wait in waits))
        often = f"{len(waits)} times " if len(waits) > 1 else ""
        in_vain = ", in vain" if waits[-1].in_vain else ""
        said = f"{first.machine} tries {often}to connect to {first.to}, for {took}{in_vain}" if first.to \
            else f"{self._thread(first)} waits {took} for {first.what}{in_vain}"
        kind = VAIN if waits[-1].in_vain else EVENT
        target = first.to if first.to in self.log.machines else ""
        yield Row(first.at - 0.4, first.ms, first.machine, said, kind, "", first.machine if target else "", target)
        place = bisect_left(self.log.records, until_ms, key=lambda record: record[0])
        if any(first.at <= one < place and self.log.threads[one] != first.thread for one in shown) and place <= end:
            yield Row(place - 0.6, until_ms, first.machine,
                      f"the thread of {first.machine} goes on with what it knew then")

    def _stuck(self, shown: Sequence[int], since: int, end: int) -> Iterator[Row]:
        """The job that is stuck longest between two records, of a machine that has made one of the shown ones."""
        since_ms, end_ms = self.log.records[since][0], self.log.records[min(end, len(self.log.records) - 1)][0]
        machines, threads = {self.log.records[one][1] for one in shown}, {self.log.threads[one] for one in shown}
        found = [wait for wait in self.log.trail.waits if wait.thread in self.log.trail.jobs and wait.at <= end
                 and wait.machine in machines and wait.thread not in threads
                 and (wait.until_ms is None or wait.until_ms > since_ms)
                 and (end_ms if wait.until_ms is None else wait.until_ms) - wait.ms >= _STUCK_MS]
        for wait in sorted(found, key=lambda one: one.ms)[:1]:
            still = roughly(end_ms - wait.ms)
            said = f"{self._thread(wait)} waits for {wait.to or wait.what}, and does so still {still} later"
            yield Row(wait.at - 0.4, wait.ms, wait.machine, said, VAIN)

    def _thread(self, wait: Any) -> str:
        request, name = self.log.trail.request_of(wait.thread), self.log.trail.jobs.get(wait.thread, "")
        if request is not None and request.source != wait.machine:
            return f"a thread of {wait.machine} that handles the {job_of(request)} of {request.source}"
        return f"a thread of {wait.machine}" + (f" ({name})" if name else "")

    # What they close and put off ------------------------------------------------------------------------------------

    def _closed(self, shown: Sequence[int]) -> Iterator[Row]:
        """Who has closed the connections whose end is shown, and why."""
        told = set()
        for place in shown:
            _, at, event = self.log.records[place]
            if not isinstance(event, _ENDS):
                continue
            found = next((one for one in reversed(self.log.trail.closes) if one.at <= place
                          and event.connection in one.ends and at in (one.machine, one.other)), None)
            if found is not None and found not in told:
                told.add(found)
                yield from self._closing(found)

    def _closing(self, close: Any) -> Iterator[Row]:
        """A thread closes a connection: a call had no answer, or somebody has expired on it."""
        place, because = close.at - 0.35, ""
        calls = [flow for flow in self.log.sent.get(close.thread, ()) if flow.target == close.other
                 and flow.sent_at <= close.at and id(flow) not in self.log.answers]
        if calls:
            yield self.telling.sending(calls[-1])
            because = f": no answer for {roughly(close.ms - calls[-1].sent_ms)}"
        own = [one for one in self.log.of_thread.get(close.thread, ()) if one >= close.at][:1]
        if own and self.past.kind(own[0]) in _EXPIRED and self.log.records[own[0]][2].why == "expired":
            place, because = own[0] + 0.2, f", because {_expired(self.log.records[own[0]][2])} has expired"
        said = f"{close.machine} closes its connection to {close.other}{because}"
        yield Row(place, close.ms, close.machine, said, EVENT, "", close.machine, close.other)

    def _put_off(self, shown: Sequence[int]) -> Iterator[Row]:
        """Where the jobs behind the records were put off."""
        told = set()
        for place in shown:
            request = self.past.handles(place)
            thread = self.log.threads[place] if request is None else request.thread
            put_off = self.log.trail.put_off.get(thread)
            known = thread in told or (request is None and self.past.kind(place) in QUIET)
            if known or put_off is None or put_off.delay_ms < _PUT_OFF_MS:
                continue
            if request is None and not any(put_off.at - _JUST_BEFORE <= one < put_off.at for one in shown):
                continue  # nobody would know what is put off
            told.add(thread)
            at = self.log.records[place][1] if request is None else request.source
            what = "the rest" if request is None else f"its {job_of(request)}"
            yield Row(put_off.at - 0.3, put_off.ms, at, f"{at} puts {what} off for {duration(put_off.delay_ms)}")


def _expired(event: Any) -> str:
    """What has expired, and came over the connection that is closed for it."""
    return f"{machine(event.broker_addr)}, which registered over it," if isinstance(event, e.BrokerLiveRemoved) \
        else f"an entry of {event.group} that came over it"
