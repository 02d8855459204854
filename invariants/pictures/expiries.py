"""Moments at which nothing happens, and something has become true: a lease is over, a lock stays refused."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from impl import events as e
from impl.events.sentences import Words
from invariants.pictures.log import Log, agree
from invariants.pictures.rows import Row
from invariants.rules.deadlines import BROKER_LEASE_MS, EXPIRY_MS, PULL_IDLE_MS, SCAN_MS

_SECOND_MS = 1_000
_HOLDING = ("group", "queue")


class Expiries:
    """Those of a run."""

    def __init__(self, log: Log, words: Words) -> None:
        """Of this run, in these words."""
        self.log, self.words = log, words

    def rows(self, shown: Sequence[int], about: Any, since: int, end: int) -> Iterator[Row]:
        """The rows of what expires, stays, and is refused on the way to these records.

        about -- the things of the finding. since, end -- the records between which refusals count.
        """
        for place in shown:
            event = self.log.records[place][2]
            if isinstance(event, e.LockGranted):
                yield from self._lease(place, event)
            elif isinstance(event, e.QueueDropped) and event.by_rebalance:
                yield from self._pulls(place, event)
            elif isinstance(event, e.ConsumerRegistered):
                yield from self._kept(place, event, end)
        if "queue" in about:
            yield from self._refused(about, since, end)

    def _at(self, ms: int, at: str, text: str) -> Row:
        return Row(bisect_left(self.log.records, ms, key=lambda record: record[0]) - 0.5, ms, at, text)

    def _lease(self, place: int, event: e.LockGranted) -> Iterator[Row]:
        """The lease of the former holder was over before the lock was given to another one."""
        ms, at, _ = self.log.records[place]
        things = self.log.things(place)
        last = self.log.last((e.LockGranted, e.LockReleased, e.ProcessKilled), place,
                             lambda one: agree(things, self.log.things(one), _HOLDING) or not self.log.things(one), at)
        if last is None or not isinstance(before := self.log.records[last][2], e.LockGranted):
            return
        over_ms = self.log.records[last][0] + BROKER_LEASE_MS
        if before.client_id != event.client_id and over_ms < ms:
            has = f"{self.words.client(before.client_id)} has at {at}"
            yield self._at(over_ms, at, f"the lock of {self.words.queue(event.mq)} that {has} expires: not renewed for "
                                        f"{_seconds(BROKER_LEASE_MS)}")

    def _pulls(self, place: int, event: e.QueueDropped) -> Iterator[Row]:
        """The queue was not pulled for so long that it counts as expired."""
        ms, at, _ = self.log.records[place]
        things = self.log.things(place)
        last = self.log.last((e.PullSuspended,), place, lambda one: agree(things, self.log.things(one), _HOLDING), at)
        if last is not None and (over_ms := self.log.records[last][0] + PULL_IDLE_MS) < ms:
            queue = self.words.queue(event.mq)
            yield self._at(over_ms, at, f"{at} has not pulled {queue} for {_seconds(PULL_IDLE_MS)}: its pulls count as "
                                        "expired")

    def _kept(self, place: int, event: e.ConsumerRegistered, end: int) -> Iterator[Row]:
        """An entry stays although nothing was heard of it, for another group's on the same connection is the same."""
        ms, at, _ = self.log.records[place]
        due_ms = ms + EXPIRY_MS + SCAN_MS
        after = [self.log.records[one] for kind in (e.ConsumerRegistered, e.ConsumerRemoved)
                 for one in self.log.places.get((at, kind), ()) if place < one <= end]
        own = [one for one in after if (one[2].group, one[2].connection) == (event.group, event.connection)]
        others = {one.group for of_ms, _, one in after if one.connection == event.connection and of_ms < due_ms
                  and one.group != event.group and isinstance(one, e.ConsumerRegistered)}
        if others and not own and end < len(self.log.records) and self.log.records[end][0] > due_ms:
            who = f"{self.words.client(event.client_id)} in {event.group}"
            yield self._at(due_ms, at, f"{at} has not heard of {who} for {_seconds(EXPIRY_MS)}, and keeps it: the "
                                       f"heartbeats in {min(others)} renew the same entry")

    def _refused(self, about: Any, since: int, end: int) -> Iterator[Row]:
        """A lock that others ask for in vain, in one row: the first time, and how often."""
        refused = [one for at in self.log.machines for one in self.log.places.get((at, e.LocksAnswered), ())
                   if since < one < end and agree(about, self.log.things(one), ("group",))
                   and self._queue(one, about) is not None]
        if not refused:
            return
        ms, at, event = self.log.records[refused[0]]
        mq, often = self._queue(refused[0], about), len(refused)
        granted = self.log.last((e.LockGranted,), refused[0],
                                lambda one: agree(about, self.log.things(one), _HOLDING), at)
        has = "" if granted is None else f": {self.words.client(self.log.records[granted][2].client_id)} has it"
        times = f", the first of {often} times" if often > 1 else ""
        yield Row(refused[0], ms, at, f"{at} does not give the lock of {self.words.queue(mq)} to "
                                      f"{self.words.client(event.client_id)}{has}{times}")

    def _queue(self, place: int, about: Any) -> Any:
        """The queue of the finding, if it was asked for and not granted."""
        event = self.log.records[place][2]
        return next((mq for mq in sorted(event.asked - event.granted) if tuple(mq) in about["queue"]), None)


def _seconds(ms: int) -> str:
    """A time of RocketMQ's own, as its sources say it."""
    return f"{ms // _SECOND_MS} s"
