"""What the queues of a broker have: offsets without a gap, units that name their records, and no record left out."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from impl import events
from invariants.rules import deadlines
from invariants.rules.delays import DISPATCHER
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on

KILLED = cause("V3", "its process was killed", by=Match(events.ProcessKilled, of="at"), lasts=FOR_EVER)
_POWERLESS = cause("V26", "its machine lost its power", lasts=FOR_EVER,
                   by=Match(events.ProcessKilled, of="at", having=lambda event: event.power_loss))


def _has_no_topic(rule: Rule, at: str, event: events.QueuesDeleted) -> bool:
    """Whether a broker may delete the queues: it does not know the topic."""
    return event.topic not in rule.views.topics(at)


class appended_offsets_are_consecutive(Rule):
    """The records that a broker appends for a queue carry consecutive offsets, also across a start."""

    judges = "queue_offsets_are_consecutive"
    shipped = "violated: V3 a queue has a unit for no record, V26 a queue lacks units"
    cite = "DefaultAppendMessageCallback#doAppend, DefaultMessageStore#recoverTopicQueueTable"
    about = "at topic queue_id"
    excuses = (KILLED, _POWERLESS)

    # The offset that comes next, and the brokers whose logs have all that they have ever appended, or nothing.
    following = Kept("at topic queue_id", survives="all")
    whole = Kept("at", survives="all")

    @on(events.QueuesDeleted)
    def deletes(self, _: int, at: str, event: events.QueuesDeleted) -> None:
        if _has_no_topic(self, at, event):
            self.following.update(dict.fromkeys(((at, event.topic, one) for one in event.queue_ids), 0))

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        key = at, event.topic, event.queue_id
        expected = self.following.get(key, 0 if (at,) in self.whole else event.queue_offset)
        self.following[key] = event.queue_offset + 1
        if event.queue_offset != expected:
            yield self.told(f"{at} gives a message of queue {key[2]} of {key[1]} the offset {event.queue_offset}, and "
                            f"{expected} comes next", *key)

    @after(events.StoreLoaded)
    def loaded(self, ms: int, at: str, event: events.StoreLoaded) -> None:
        self.following.drop(lambda key: key[0] == at)
        self.whole.pop((at,), None)
        if not event.min_offset:
            self.whole[at,] = ms
        for one in self.views.log_records(at):
            self.following[at, one.topic, one.queue_id] = one.queue_offset + 1


class units_name_their_records(Rule):
    """Each unit of a queue names the record of that queue whose queue offset is the number of the unit."""

    judges = "unit_names_its_record"
    shipped = "violated: V3 a unit for no record, V26 units are left out, V33 an error is logged"
    cite = "ConsumeQueue#putMessagePositionInfo, #recover, #truncateDirtyLogicFiles"
    about = "at topic queue_id"
    excuses = (
        KILLED, _POWERLESS,
        cause("V33", "files of others filled its disk", by=Match(events.DiskFilled, of="at"), lasts=FOR_EVER),
    )

    @after(events.MessageDispatched)
    def dispatched(self, _: int, at: str, event: events.MessageDispatched) -> Iterator[Told]:
        if (found := self.views.queue_unit(at, *event[1:4])) is not None and found != event.commit_log_offset:
            yield self._told(at, event.topic, event.queue_id, event.queue_offset, event.commit_log_offset, found)

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        records = {one[1:4]: one.commit_log_offset for one in self.views.log_records(at)}
        for (topic, queue_id), (least, end) in self.views.queue_units(at).items():
            for index in range(least, end):
                found = self.views.queue_unit(at, topic, queue_id, index)
                record = records.get((topic, queue_id, index))
                if found is not None and found != record and found >= event.min_offset:
                    yield self._told(at, topic, queue_id, index, record, found)
                    break

    def _told(self, at: str, topic: str, queue_id: int, index: int, record: int | None, found: int) -> Told:
        where = "is nowhere" if record is None else f"is at {record}"
        return self.told(f"unit {index} of queue {queue_id} of {topic} at {at} names the record at {found}, and its "
                         f"record {where}", at, topic, queue_id)


def _was_set_back(rule: dispatch_comes_in_time, told: Told) -> bool:
    """Whether the clock of the broker was not yet, or had just come, where it was when it was set back."""
    back = [one for one in rule.past.of(events.ClockJumped, at=told.about[0]) if one.event.ms < 0]
    lost_ms, within_ms = -sum(one.event.ms for one in back), deadlines.dispatched(rule.bounds)
    return bool(back) and (told.since_ms or 0) <= back[-1].ms + lost_ms + within_ms


def _is_not_written(rule: dispatch_comes_in_time, told: Told) -> bool:
    """Whether clean-up has deleted files of a log that waits in buffers, and since then nothing of it was flushed."""
    at = told.about[0]
    expired = rule.past.last(events.LogExpired, at=at)
    return (expired is not None and rule.views.buffers_log(at)
            and rule.past.last(events.LogFlushed, since=expired.place, at=at) is None)


class dispatch_comes_in_time(Duty):
    """A record that a broker has appended or recovered is in its queue soon after."""

    judges = "no_record_is_missed"
    shipped = ("violated: V3 units stand one place too late, V26 a crash looks like a stop, V38 files are "
               "deleted before they are written, V40 the thread that dispatches has ended")
    cite = "DefaultMessageStore.ReputMessageService#doReput, CommitLog#recoverAbnormally"
    about = "at topic queue_id queue_offset commit_log_offset"
    within_ms = deadlines.dispatched
    paid_by = (events.MessageDispatched,)
    excuses = (
        KILLED, _POWERLESS,
        Excuse("its clock was set back, and it flushes when the clock is where it was", when=_was_set_back),
        Excuse("files of others have filled the disk shortly before", by=Match(events.DiskFilled, of="at"),
               lasts=deadlines.dispatched),
        Excuse("a force has failed shortly before", by=Match(events.ForceFailed, of="at"), lasts=deadlines.dispatched),
        Excuse("its queue was deleted since, for the broker did not know the topic: records stay",
               when=lambda rule, told: rule.went(told.about[:2], told.about[4])),
        cause("V38", "its log waits in buffers, and nothing of it was flushed since files of it were deleted",
              when=_is_not_written),
        cause("V40", "the thread that dispatches has ended since the broker was started",
              by=Match(events.ThreadDied, of="at", having=lambda event: event.thread == DISPATCHER), lasts=FOR_EVER,
              until=Match(events.ProcessStarted, of="at")),
    )
    # Where the log ended when the queues of a topic were deleted.
    deleted = Kept("at topic", survives="all")

    late = "the record at {commit_log_offset} is in no queue of {at} after {waited_ms} ms"

    @after(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        self.owe((at, *event[1:5]), ms)

    @on(events.QueuesDeleted)
    def deletes(self, _: int, at: str, event: events.QueuesDeleted) -> None:
        if _has_no_topic(self, at, event):
            log = self.views.replicated(at)
            self.deleted[at, event.topic] = log.end if log else inf

    def went(self, place: tuple[str, ...], commit_log_offset: int) -> bool:
        """Whether the queue of a record was deleted with those of its topic at this place: machine and topic."""
        return bool(commit_log_offset < self.deleted.get(place, 0))

    @after(events.StoreLoaded)
    def loaded(self, _: int, at: str, event: events.StoreLoaded) -> Iterator[Told]:
        del event
        for one in self.views.log_records(at):
            there = self.views.queue_unit(at, *one[1:4]) == one.commit_log_offset
            if not there and not self.went((at, one.topic), one.commit_log_offset):
                yield self.told(f"{at} has recovered the record at {one.commit_log_offset}, and message "
                                f"{one.queue_offset} of queue {one.queue_id} of {one.topic} is another one or none",
                                at, *one[1:4], one.commit_log_offset)
                return


class clean_up_keeps_the_units_of_records(Rule):
    """A broker that deletes the oldest files of its log keeps the units of the records that are left.

    It speaks of those that the process has dispatched.
    """

    cite = "CleanConsumeQueueService#deleteExpiredFiles, MappedFileQueue#deleteExpiredFileByOffset"
    about = "at topic queue_id"

    # Where in the log the record is of each unit that was found when it was dispatched.
    units = Kept("at")

    @on(events.QueuesDeleted)
    def deletes(self, _: int, at: str, event: events.QueuesDeleted) -> None:
        if _has_no_topic(self, at, event):
            units = self.units.get((at,), {})
            self.units[at,] = {unit: offset for unit, offset in units.items() if unit[0] != event.topic}

    @after(events.MessageDispatched)
    def dispatched(self, _: int, at: str, event: events.MessageDispatched) -> None:
        if self._has(at, event[1:4], event.commit_log_offset):
            self.units.setdefault((at,), {})[event[1:4]] = event.commit_log_offset

    @after(events.LogExpired)
    def expires(self, _: int, at: str, event: events.LogExpired) -> Iterator[Told]:
        units = self.units.get((at,), {})
        left = {unit: offset for unit, offset in units.items() if offset >= event.min_offset}
        lost = [unit for unit, offset in left.items() if not self._has(at, unit, offset)]
        self.units[at,] = {unit: offset for unit, offset in left.items() if unit not in lost}
        for topic, queue_id, queue_offset in lost[:1]:
            yield self.told(f"{at} has a record at {left[lost[0]]}, and no message {queue_offset} of queue {queue_id} "
                            f"of {topic} any more", at, topic, queue_id)

    def _has(self, at: str, unit: tuple[str, int, int], offset: int) -> bool:
        return bool(self.views.queue_unit(at, *unit) == offset)


def _have_all_expired(rule: queues_begin_where_the_log_does, told: Told) -> bool:
    """Whether the last unit of the queue, too, leads to before the begin of the log."""
    at, topic, queue_id = told.about
    _, end = rule.views.queue_units(at)[topic, queue_id]
    last = rule.views.queue_unit(at, topic, queue_id, end - 1)
    expired = rule.past.last(events.LogExpired, at=at)
    return last is not None and expired is not None and last < expired.event.min_offset


class queues_begin_where_the_log_does(Rule):
    """When a broker has deleted the oldest files of its log, each queue begins at a message that is left, or is empty.

    Who goes to the begin of a queue, or is sent there, is given nothing otherwise, or passes over what is there.
    """

    shipped = "violated: V18 a queue of which all records have expired begins where it began"
    cite = "CleanConsumeQueueService#deleteExpiredFiles, ConsumeQueue#correctMinOffset"
    about = "at topic queue_id"
    excuses = (cause("V18", "all records of the queue have expired", when=_have_all_expired),)

    @after(events.LogExpired)
    def expires(self, _: int, at: str, event: events.LogExpired) -> Iterator[Told]:
        for (topic, queue_id), (least, end) in self.views.queue_units(at).items():
            found = self.views.queue_unit(at, topic, queue_id, least) if least < end else None
            if found is not None and found < event.min_offset:
                yield self.told(f"the log of {at} begins at {event.min_offset}, and queue {queue_id} of {topic} at a "
                                f"record at {found}", at, topic, queue_id)


class dispatch_goes_forward(Rule):
    """Between two starts a broker dispatches each record once, in the order of its log."""

    cite = "DefaultMessageStore.ReputMessageService#doReput"
    about = "at commit_log_offset"

    # Where the record lies that was dispatched last by this process; its recovery comes first.
    last = Kept("at")

    @on(events.MessageDispatched)
    def dispatched(self, _: int, at: str, event: events.MessageDispatched) -> Iterator[Told]:
        last = self.last.get((at,), -1)
        self.last[at,] = max(last, event.commit_log_offset)
        if event.commit_log_offset <= last:
            yield self.told(f"{at} dispatches the record at {event.commit_log_offset} behind the one at {last}",
                            at, event.commit_log_offset)
