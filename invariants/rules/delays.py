"""What becomes of delayed messages, and what a queue lacks because its disk was full."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import MASTER_ID, RETRY_GROUP_TOPIC_PREFIX, RMQ_SYS_SCHEDULE_TOPIC
from invariants.finding import Finding
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.past import Reported, said
from invariants.rules.rule import Ascription, Kept, Promise, Rule, Told, on

DISPATCHER = "ReputMessageService"
"""The thread of a broker that dispatches."""


def still_kept(rule: Rule, waiting: Kept, over: Kept) -> Iterator[tuple[str, list[str]]]:
    """Machines of living masters, and the ids of what waits there, is not over, and is in the log, in their order.

    A slave that is the master by now has what it has copied.
    """
    views, name_of = rule.views, rule.facts.broker_name
    for broker in (one for one in views.brokers() if one.broker_id == MASTER_ID):
        left = {key[0] for key, at in waiting.items() if key not in over and (
            at == broker.machine or name_of(at) == broker.broker_name)}
        kept = {record.key for record in views.log_records(broker.machine)} if left else set()
        if left & kept:
            yield broker.machine, sorted(left & kept)


def was_recovered(rule: Rule, key: str | None) -> bool:
    """Whether a broker has come up from a crash after it had put this message among those that wait."""
    waits = rule.past.of(events.MessageAppended, key=key, topic=RMQ_SYS_SCHEDULE_TOPIC)
    return any(not start.event.last_exit_ok for one in waits
               for start in rule.past.of(events.StoreLoaded, since=one.place, at=one.at))


def comes_up_without(rule: Rule, record: Reported) -> Reported | None:
    """When the broker that has appended a record came up, and its log ended before the record; None: it has not."""
    return next((one for one in rule.past.of(events.StoreLoaded, since=record.place, at=record.at)
                 if one.event.max_offset <= record.event.commit_log_offset), None)


def lost_power(rule: Rule, record: Reported, start: Reported | None) -> bool:
    """Whether the broker that has appended a record lost its power before that start; None: there is none."""
    return start is not None and any(one.place < start.place for one in rule.past.of(
        events.ProcessKilled, since=record.place, at=record.at, power_loss=True))


def next_copy(rule: Rule, group: str, key: str | None) -> Reported | None:
    """The copy that a group is to be given next: it waits for its delay, or has waited, and is in the retry topic."""
    topics = RMQ_SYS_SCHEDULE_TOPIC, f"{RETRY_GROUP_TOPIC_PREFIX}{group}"
    return max((one for topic in topics for one in rule.past.of(events.MessageAppended, key=key, topic=topic)),
               default=None)


def copy_was_lost(rule: Rule, group: str, key: str | None) -> bool:
    """Whether the copy that a group was to be given next was not waited for, and is gone with its broker's power."""
    copy = next_copy(rule, group, key)
    return copy is not None and not copy.event.waits and lost_power(rule, copy, comes_up_without(rule, copy))


def copy_was_deleted(rule: Rule, group: str, key: str | None) -> bool:
    """Whether the copy that a group was to be given next was deleted with its file of the log."""
    copy = next_copy(rule, group, key)
    return copy is not None and any(one.event.min_offset > copy.event.commit_log_offset for one in rule.past.of(
        events.LogExpired, since=copy.place, at=copy.at))


def copy_waits_for_ever(rule: Rule, group: str, key: str | None) -> bool:
    """Whether that copy is in a delay level whose task has ended with an Error."""
    copy = next_copy(rule, group, key)
    return (copy is not None and copy.event.topic == RMQ_SYS_SCHEDULE_TOPIC
            and end_of_level(rule, copy.at, copy.event.queue_id + 1) is not None)


def end_of_level(rule: Rule, at: str, level: int) -> Reported | None:
    """When the task of a level has ended with an Error; None: it has not, or the broker was started since."""
    ended = rule.past.last(events.DelayLevelEnded, at=at, level=level)
    return ended if ended is not None and rule.past.lives(ended) else None


def is_left_undispatched(rule: Rule, record: Reported | None) -> bool:
    """Whether the thread of its broker that dispatches has ended, and has not come to this record."""
    if record is None:
        return False
    died = rule.past.last(events.ThreadDied, at=record.at, thread=DISPATCHER)
    return died is not None and rule.past.lives(died) and not rule.past.of(
        events.MessageDispatched, since=record.place, at=record.at, commit_log_offset=record.event.commit_log_offset)


def was_passed_over(rule: Rule, waits: Reported | None) -> bool:
    """Whether a message was put where one was lost before, too early for the saved offset of its level.

    That is before the first look of the level, or before the broker ended and had not saved that it delivered since.
    """
    if waits is None or waits.event.topic != RMQ_SYS_SCHEDULE_TOPIC:
        return False
    start = max((one for one in rule.past.of(events.StoreLoaded, at=waits.at) if one.place < waits.place), default=None)
    if start is None:
        return False
    if waits.ms > start.ms + deadlines.first_look(rule.bounds) and not _is_begun_again(rule, waits, start):
        return False
    name_of = rule.facts.broker_name
    return any(one.place < start.place and one.event.queue_offset >= waits.event.queue_offset
               and name_of(one.at) == name_of(waits.at)
               for one in rule.past.of(events.MessageAppended, topic=RMQ_SYS_SCHEDULE_TOPIC,
                                       queue_id=waits.event.queue_id))


def _is_begun_again(rule: Rule, waits: Reported, start: Reported) -> bool:
    """Whether the broker has ended, and what its start has read of the level was never saved anew until then.

    Who stops in order saves what it has delivered.
    """
    ends = min(rule.past.of(events.ProcessKilled, events.BrokerStopping, since=start.place, at=waits.at), default=None)
    if ends is None:
        return False
    saved_ms = ends.ms - (deadlines.offset_saved(rule.bounds) if isinstance(ends.event, events.ProcessKilled) else 0)
    put = rule.past.of(events.MessageAppended, since=start.place, at=waits.at)
    of_level = {one.event.key for one in put
                if one.event.topic == RMQ_SYS_SCHEDULE_TOPIC and one.event.queue_id == waits.event.queue_id}
    return not any(one.ms <= saved_ms and one.event.key in of_level and one.event.topic != RMQ_SYS_SCHEDULE_TOPIC
                   for one in put)


def has_another_unit(rule: Rule, told: Told) -> bool:
    """Whether the disk was full, and what is in the place of the first message of the level leads elsewhere."""
    at, _, key = told.about
    waits = put_off(rule, key)
    return waits is not None and any(one.event.percent for one in rule.past.of(events.DiskFilled, at=at)) and (
        rule.views.queue_unit(at, *waits.event[1:4]) not in {None, waits.event.commit_log_offset})


def put_off(rule: Rule, key: str) -> Reported | None:
    """When a delayed message was put into the queue of its level."""
    return rule.past.last(events.MessageAppended, key=key, topic=RMQ_SYS_SCHEDULE_TOPIC)


_STUCK = (
    cause("V39", "the task of their level has ended since the broker was started",
          when=lambda rule, told: end_of_level(rule, *told.about[:2]) is not None),
    cause("V40", "the thread that dispatches has ended since the broker was started, before it came to the first",
          when=lambda rule, told: is_left_undispatched(rule, put_off(rule, told.about[2]))),
    cause("V33", "files of others have filled the disk, and the unit of the first is that of no message",
          when=has_another_unit),
    cause("V42", "the first was put where a lost one was, before its level had looked, or had saved a new offset",
          when=lambda rule, told: was_passed_over(rule, put_off(rule, told.about[2]))),
)
"""Of messages of a level of a broker: about machine, level, and the id of the first."""


class delay_is_over_in_time(Rule):
    """A delayed message is in its topic when its delay is over, also where the clock of its broker is set back.

    It waits no longer than its delay from then on. Looked at while its broker runs and its disk takes what it is given.
    """

    shipped = ("violated: V33 a unit leads to no message, V39 the task of a level has ended, V40 nothing is "
               "dispatched, V42 its level begins beyond the end of its queue")
    cite = "ScheduleMessageService.DeliverDelayedMessageTimerTask#correctDeliverTimestamp, #executeOnTimeup"
    about = "at level key"
    excuses = (*_STUCK, Excuse("its broker stood still meanwhile", when=lambda rule, told: (
        rule.facts.stood_still_ms(told.about[0], told.since_ms) > 0)))

    # Since when messages wait on masters, or since their clock was set; their level, and their place in the log.
    waits = Kept("at id")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic != RMQ_SYS_SCHEDULE_TOPIC:
            self.waits.pop((at, event.key), None)
        elif event.key is not None:
            self.waits[at, event.key] = ms, event.queue_id + 1, event.commit_log_offset

    @on(events.ClockJumped)
    def is_set(self, ms: int, at: str, _: events.ClockJumped) -> None:
        self.waits.update({key: (ms, *where) for key, (_, *where) in self.waits.items() if key[0] == at})

    @on(events.LogExpired)
    def deletes(self, _: int, at: str, event: events.LogExpired) -> None:
        self.waits.drop(lambda key: key[0] == at and self.waits[key][2] < event.min_offset)

    @on(events.DiskFilled, events.ForceFailed)
    def fails(self, _: int, at: str, event: events.DiskFilled | events.ForceFailed) -> None:
        del event
        self.waits.drop(lambda key: key[0] == at)

    def look(self, now_ms: int) -> Iterator[Told]:
        """See what still waits."""
        for (at, key), (since_ms, level, _) in self.waits.items():
            if now_ms - since_ms > deadlines.delay_over(level)(self.bounds):
                yield self.told(f"{at} has had {key} of delay level {level} for {now_ms - since_ms} ms", at, level, key,
                                since_ms=since_ms)


class delayed_message_comes_at_last(Promise):
    """A delayed message that a broker has kept is in its topic when its delay is over.

    Only what was stored before the world healed is looked for, until it comes: what a listener sends back later is not.
    What was deleted with its file is not kept, also if a loss of power brings the file back: its level is past it.
    """

    shipped = ("violated: V33 a unit leads to no message, V39 the task of a level has ended, V40 nothing is "
               "dispatched, V42 its level begins beyond the end of its queue")
    cite = "ScheduleMessageService.DeliverDelayedMessageTimerTask#executeOnTimeup"
    about = "at level key"
    within_ms = deadlines.all_delays_over
    named = True
    excuses = _STUCK

    # Delayed messages by their ids: where they are before the healing; and which of them were put into a topic.
    waiting = Kept("id", survives="all")
    came = Kept("id", survives="all")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic != RMQ_SYS_SCHEDULE_TOPIC:
            self.came[event.key,] = ms
        elif event.key is not None and not self.healed_ms:
            self.waiting[event.key,] = at

    @on(events.LogExpired)
    def deletes(self, _: int, at: str, event: events.LogExpired) -> None:
        for one in self.past.of(events.MessageAppended, at=at, topic=RMQ_SYS_SCHEDULE_TOPIC):
            if one.event.commit_log_offset < event.min_offset:
                self.waiting.pop((one.event.key,), None)

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for machine, late in still_kept(self, self.waiting, self.came):
            levels: dict[int, list[str]] = {}
            for key in late:
                waits = put_off(self, key)
                levels.setdefault(waits.event.queue_id + 1 if waits else 0, []).append(key)
            for level, keys in sorted(levels.items()):
                told = self.told(f"{machine} has {len(keys)} messages of delay level {level} that are due and were not "
                                 f"delivered, {keys[0]} first", machine, level, keys[0])
                ended = end_of_level(self, machine, level)
                yield told if ended is None else told._replace(earlier=(ended.ms, ended.at, ended.event))


def _started(rule: Rule, found: Finding, *, last_exit_ok: bool) -> bool:
    """Whether its broker has come up after a loss of power, and taken its last stop for an orderly one or not."""
    return any(rule.past.of(events.StoreLoaded, since=one.place, at=one.at, last_exit_ok=last_exit_ok)
               for one in rule.past.of(events.ProcessKilled, at=said(found, "broker"), power_loss=True))


_NOT_TAKEN = cause("V33", "files of others filled the disk of its broker",
                   when=lambda rule, found: bool(rule.past.of(events.DiskFilled, at=said(found, "broker"))))


class level_has_other_units(Ascription):
    """The units of a level are not those of the messages that were put."""

    judges = "refines_retry"
    excuses = (
        cause("V3", "its broker has come up from a loss of power",
              when=lambda rule, found: _started(rule, found, last_exit_ok=False)),
        cause("V26", "its broker has come up from a loss of power that looked like an orderly stop",
              when=lambda rule, found: _started(rule, found, last_exit_ok=True)),
        _NOT_TAKEN,
    )


class queue_lacks_a_unit(Ascription):
    """A unit that the disk did not take counts as written. Behind a loss of power a log is believed as it is found."""

    judges = "refines_commit_log"
    excuses = (_NOT_TAKEN,)
