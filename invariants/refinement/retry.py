"""Follows delayed messages with `model.retry.Level`: one model for each level of each master, across its lives.

A Place is the queue offset of a unit, Ms the clock of the broker, set before each step. A message is put when its
record is appended; what its unit says shows when it is delivered. Which messages a look delivers shows in how far the
task has come; a look is one segment. That the timer has saved the offset shows in its file, or in the one that the next
process finds: until then both is tried. A stop writes it, too. Where the disk was full, or a force has failed, before
the stop or in it, the file may have what it had.

After a loss of power, or a life as a slave, a master begins anew with what it finds. A look passes over units whose
records are gone; where the unit is gone, too, it goes on at the begin of the queue. A message is due at once if a clock
that was set back would have it wait for longer than its delay (correctDeliverTimestamp). The promises of the model are
not judged here: rules and observers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID, RMQ_SYS_SCHEDULE_TOPIC
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears, placed
from invariants.refinement.monitor import Monitor
from invariants.rules.deadlines import LEVELS_MS
from invariants.views import Machines, Views
from invariants.views.values import QueueRange
from model.language.open.reading import OpenReading
from model.language.open.states import Writes
from model.retry import Level

NAME = "refines_retry"
LATEST_HASH = 1 << 31
"""Recovery that does not know the levels takes the hash of the tags for a time: that is less (V5)."""


def followers(machines: Machines, _groups: object, _scopes: object) -> list[Follower]:
    """One, of all machines."""
    return [Delays(machines)]


class _Level:
    """A level. keys -- of the messages of its units. had -- what was saved when its broker stopped; -1: unknown."""

    def __init__(self, broker: str, level: int, views: Views) -> None:
        self.broker, self.level, self.views, self.delay_ms = broker, level, views, LEVELS_MS[level - 1]
        self.monitor = Monitor(OpenReading(Level.concept, {"delay": self.delay_ms}), (), NAME,
                               visible=("end", "due", "looked", "noted", "saved"), unmarked=("now", "due", "stored"))
        self.value, self.keys, self.had = self.monitor.value, dict[int, str | None](), -1

    def step(self, event: Any, *ways: Sequence[str], due_ms: int = 0) -> list[Finding]:
        """Take the steps of one of these ways, now; due_ms -- of a message that may be due at once."""
        clock = self.views.clock(self.broker)
        if clock is not None:
            now_ms = clock()
            self.monitor.write({("now",): due_ms if due_ms > now_ms + self.delay_ms else now_ms})
        return self.noted(self.monitor.follow(event, [[(name, ()) for name in way] for way in ways]))

    def compare(self, place: int = 0, **seen: int) -> list[Finding]:
        """Compare what is said here; place -- of the unit that is spoken of."""
        cells: Writes = {(name, place) if name == "due" else (name,): value for name, value in seen.items()}
        return self.noted(self.monitor.compare(cells, [*cells]))

    def noted(self, found: list[Finding]) -> list[Finding]:
        """With the level."""
        at = f"level {self.level} at {self.broker}"
        return placed(found, at, broker=self.broker)

    def unit(self, place: int) -> tuple[int, int]:
        """Where the record of a unit is, -1: there is no such unit; and when it is due, 0: what it says is a hash."""
        offset, due_ms = self.views.delay_unit(self.broker, self.level, place) or (-1, 0)
        return offset, 0 if due_ms < LATEST_HASH else due_ms

    def moved(self, offset: int) -> int:
        """An offset, or the end of the queue that is next to it."""
        queue = self.views.stored_at(self.broker, RMQ_SYS_SCHEDULE_TOPIC, self.level - 1) or QueueRange()
        return min(max(offset, queue.min_offset), queue.max_offset)

    def begins(self, saved: int) -> None:
        """Take over what is there."""
        units = {one.queue_offset: one.key for one in self.views.log_records(self.broker)
                 if (one.topic, one.queue_id) == (RMQ_SYS_SCHEDULE_TOPIC, self.level - 1)}
        end = self.views.queue_end(self.broker, RMQ_SYS_SCHEDULE_TOPIC, self.level - 1)
        self.keys.update(units)
        self.monitor.write(
            {("end",): end, ("saved",): saved, **{("due", place): self.unit(place)[1] for place in units}})

    def starts(self, event: Any, saved: int, *, failed: bool) -> list[Finding]:
        """ScheduleMessageService#start; failed -- whether the disk has failed.

        An offset that lies in no queue is moved into it, and may be noted and written so (V42). What was deleted with
        its file of the log says nothing any more.
        """
        if (failed and saved == self.had) or saved in map(self.moved, self.monitor.values("saved")):
            self.monitor.write({("saved",): saved})
        self.had = -1
        found = self.compare(saved=saved)
        for place in range(self.value("end")):
            offset, due_ms = self.unit(place)
            if offset >= 0 and due_ms == 0 != self.value("due", place):
                found += self.noted(self.monitor.take(event, ("forget_due", (place,))))
        found += self.step(event, ["start"])
        has = self.views.delay_level(self.broker, self.level)
        if has is None:
            return found
        moved = self.moved(saved)
        self.monitor.write({("first",): moved, ("looked",): moved, ("noted",): moved if has.noted == moved else saved})
        return found + self.compare(looked=has.looked, noted=has.noted)

    def ends(self, event: Any, last: str) -> list[Finding]:
        """The process ends; its file may have been written before."""
        return self.step(event, [last], ["save", last]) if self.value("up") else []

    def looks(self, event: Any, appended: list[str | None]) -> list[Finding]:
        """DeliverDelayedMessageTimerTask#executeOnTimeup; appended -- the keys of what was put meanwhile.

        A process that has not started yet, or never comes to it, looks at nothing, whatever its tables say.
        """
        has, begin = self.views.delay_level(self.broker, self.level), self.value("looked")
        if has is None or not self.value("up") or (has.looked, has.noted) == (begin, self.value("noted")):
            return []
        saved, found = self.views.saved_delay_offsets(self.broker).get(self.level, 0), list[Finding]()
        if saved != self.value("saved"):
            found += self.step(event, ["save"]) + self.compare(saved=saved)
        begins = min(self.moved(begin), has.looked)
        if begins > begin:  # its unit is gone with its file: the task has gone on where the queue begins
            self.monitor.write({("first",): begins, ("looked",): begins})
            begin = begins
        way = ["look", "deliver_first"] if self.value("first") < begin else ["deliver_first"]
        for place in range(begin, has.looked):
            offset, due_ms = self.unit(place)
            if offset < self.views.log_begin(self.broker):
                self.monitor.write({("first",): begin, ("looked",): place + 1})
                way = ["deliver_more"]
            elif self.keys.get(place) in appended:
                appended.remove(self.keys[place])
                found += self.compare(place, due=due_ms) + self.step(event, way, due_ms=due_ms)
                way = ["deliver_more"]
        return found + self.compare(looked=has.looked, noted=has.noted)


class Delays(Map):
    """Follower of all masters; see Follower.

    levels -- by machine. unwritten -- machines whose disks were full, or failed. appended -- what was, in the segment.
    """

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, ())
        self.levels: dict[str, dict[int, _Level]] = {}
        self.unwritten: set[str] = set()
        self.appended: list[tuple[str, events.MessageAppended]] = []

    def level(self, machine: str, level: int) -> _Level:
        """A level of a machine."""
        levels = self.levels.setdefault(machine, {})
        if level not in levels:
            levels[level] = _Level(machine, level, self.views)
        return levels[level]

    @hears(events.MessageAppended)
    def _appended(self, machine: str, event: events.MessageAppended) -> list[Finding]:
        """CommitLog#asyncPutMessage."""
        if event.topic != RMQ_SYS_SCHEDULE_TOPIC:
            if machine in self.levels:
                self.appended.append((machine, event))
            return []
        level = self.level(machine, event.queue_id + 1)
        level.monitor.write({("up",): True})
        level.keys[event.queue_offset] = event.key
        return level.compare(end=event.queue_offset) + level.step(event, ["put"])

    @hears(events.BrokerStarted)
    def _starts(self, machine: str, event: events.BrokerStarted) -> list[Finding]:
        if event.broker_id != MASTER_ID:
            self.levels.pop(machine, None)
            return []
        saved, known, found = self.views.saved_delay_offsets(machine), self.levels.get(machine, {}), list[Finding]()
        for level in range(1, len(LEVELS_MS) + 1):
            has = self.views.queue_end(machine, RMQ_SYS_SCHEDULE_TOPIC, level - 1) or level in saved
            if level not in known and has:
                self.level(machine, level).begins(saved.get(level, 0))
            if level in known or has:
                found += self.level(machine, level).starts(
                    event, saved.get(level, 0), failed=machine in self.unwritten)
        return found

    @hears(events.BrokerStopping)
    def _stops(self, machine: str, event: events.BrokerStopping) -> list[Finding]:
        """ScheduleMessageService#shutdown."""
        saved, found = self.views.saved_delay_offsets(machine), list[Finding]()
        for level, of in self.levels.get(machine, {}).items():
            of.had = saved.get(level, 0)
            found += of.ends(event, "stop")
        return found

    @hears(events.ProcessKilled)
    def _killed(self, machine: str, event: events.ProcessKilled) -> list[Finding]:
        levels = self.levels.pop(machine, {}) if event.power_loss else self.levels.get(machine, {})
        return [one for of in levels.values() for one in of.ends(event, "kill")]

    @hears(events.DiskFilled, events.ForceFailed)
    def _fails(self, machine: str, _: object) -> list[Finding]:
        self.unwritten.add(machine)
        return []

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map: how far the tasks of a broker are, where it has appended something."""
        appended, self.appended = self.appended, []
        keys = [event.key for at, event in appended if at == machine]
        if not (keys or whole) or machine not in self.levels:
            return []
        differing = list[Finding]()
        for of in self.levels[machine].values():
            version = of.monitor.version
            differing += of.looks(appended[-1][1] if keys else None, keys)
            if of.monitor.version != version:
                self.visited.update(of.monitor.fingerprints())
        return self.unsaid(differing)
