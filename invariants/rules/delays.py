"""What becomes of delayed messages, and what a queue lacks because its disk was full."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX, RMQ_SYS_SCHEDULE_TOPIC
from invariants.finding import Finding
from invariants.rules import deadlines
from invariants.rules.excuse import cause
from invariants.rules.past import said
from invariants.rules.rule import Ascription, Kept, Promise, Rule, Told, on
from invariants.views import Views


def still_kept(views: Views, waiting: Kept, over: Kept) -> Iterator[tuple[str, list[str]]]:
    """Machines of living brokers, and the ids of what waits there, is not over, and is in the log, in their order."""
    for broker in views.brokers():
        left = {key[0] for key, at in waiting.items() if at == broker.machine and key not in over}
        kept = {record.key for record in views.log_records(broker.machine)} if left else set()
        if left & kept:
            yield broker.machine, sorted(left & kept)


def was_recovered(rule: Rule, key: str | None) -> bool:
    """Whether a broker has come up from a crash after it had put this message among those that wait."""
    waits = rule.past.of(events.MessageAppended, key=key, topic=RMQ_SYS_SCHEDULE_TOPIC)
    return any(not start.event.last_exit_ok for one in waits
               for start in rule.past.of(events.StoreLoaded, since=one.place, at=one.at))


def copy_was_lost(rule: Rule, group: str, key: str | None) -> bool:
    """Whether the copy that a group was to be given next was not waited for, and is gone with the power of its broker.

    It waits for its delay, or has waited, and is in the retry topic of the group.
    """
    topics = RMQ_SYS_SCHEDULE_TOPIC, f"{RETRY_GROUP_TOPIC_PREFIX}{group}"
    copy = max((one for topic in topics for one in rule.past.of(events.MessageAppended, key=key, topic=topic)),
               default=None)
    start = None if copy is None else next(iter(rule.past.of(events.StoreLoaded, since=copy.place, at=copy.at)), None)
    if copy is None or start is None or copy.event.waits or start.event.max_offset > copy.event.commit_log_offset:
        return False
    return any(one.place < start.place
               for one in rule.past.of(events.ProcessKilled, since=copy.place, at=copy.at, power_loss=True))


class delayed_message_comes_at_last(Promise):
    """A delayed message that a broker has kept is in its topic when its delay is over.

    Only what was stored before the world healed is looked for, until it comes: what a listener sends back later is not.
    What was deleted with its file is not kept, also if a loss of power brings the file back: its level is past it.
    """

    cite = "ScheduleMessageService.DeliverDelayedMessageTimerTask#executeOnTimeup"
    about = "at"
    within_ms = deadlines.all_delays_over
    named = True

    # Delayed messages by their ids: where they are before the healing; and which of them were put into a topic.
    waiting = Kept("id", survives="all")
    came = Kept("id", survives="all")
    # Where in the log each of them lies.
    places = Kept("id", survives="all")

    @on(events.MessageAppended)
    def appended(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic != RMQ_SYS_SCHEDULE_TOPIC:
            self.came[event.key,] = ms
        elif event.key is not None and not self.healed_ms:
            self.waiting[event.key,], self.places[event.key,] = at, event.commit_log_offset

    @on(events.LogExpired)
    def deletes(self, _: int, at: str, event: events.LogExpired) -> None:
        for key in [key for key, broker in self.waiting.items() if broker == at]:
            if self.places[key] < event.min_offset:
                del self.waiting[key]

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for machine, late in still_kept(self.views, self.waiting, self.came):
            yield self.told(f"{machine} has {len(late)} delayed messages that are due and were not delivered, "
                            f"{late[0]} first", machine)


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
