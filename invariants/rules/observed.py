"""What clients of a world have observed as a whole: the checks of histories judge it when a run is over.

A check is declared in `invariants.histories.checks`, with the property, what it promises and who promises it. A rule
here says what is expected of it in worlds, when it does not speak there, and what its findings are put down to: a
history has only what clients know, and reasons are looked for in what brokers and the host have reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.histories.checks import CHECKS, Check
from invariants.histories.checks import Finding as Broken
from invariants.histories.judging import judged
from invariants.histories.operations import Operation
from invariants.rules.deliveries import SUCCESS
from invariants.rules.excuse import Excuse, cause
from invariants.rules.past import Reported
from invariants.rules.rule import Rule, Told

ELSEWHERE: Mapping[str, str] = {
    "two_owners": "one_owner_per_queue judges the same reports in each state",
    "reordered": "a key changes its queue with the number of queues and when a broker ends, which no order survives; "
                 "ordered_messages_stay_in_order judges what orderly listeners are given",
    "transaction_reordered": "an application decides once about its half message; of one that comes before that, no "
                             "planted bug is known",
    "skipped": "a client sends back what a listener has kept too long, and no application notes that",
    "unresolved": "an application decides on its half message at once; what its broker makes of it is in no history",
    "dead_letter": "failure_is_retried_once judges at each delivery how often the message was sent back",
}
"""Checks that no world is judged by, and why."""

_Place = tuple[str | None, MessageQueue, int]
"""Key, queue and queue offset of a message."""

OBSERVED: dict[str, type[Observed]] = {}
"""The rules of this module by the names of their checks."""


class Observed(Rule):
    """Judges a run by a check of histories.

    check -- its name. about -- queue, offset and key of the message where the finding shows, and the group; None where
    it has none.
    """

    check: ClassVar[str]
    about = "mq offset key group"

    declared: ClassVar[Check]

    def __init_subclass__(cls) -> None:
        """Declare it, with what its check says."""
        cls.declared = CHECKS[cls.check]
        cls.cite = cls.declared.source
        super().__init_subclass__()
        cls.name, cls.sentence = cls.declared.property, cls.declared.sentence
        OBSERVED[cls.check] = cls

    def shows(self, finding: Broken) -> Told:
        """A finding of the check, as rules tell it; it is wrong since its first operation."""
        one = finding.operations[-1]
        about = queue_named(one.queue), one.offset, one.message, finding.group or None
        return self.told(finding.sentence.removesuffix("."), *about, since_ms=finding.operations[0].time_ms)


class Observation(NamedTuple):
    """An operation that a client of a world has observed, and how many records the world had before it."""

    position: int
    operation: Operation


def broken(observed: Sequence[Observation]) -> Iterator[tuple[Broken, int]]:
    """What the checks find in all that the clients of a world have observed, each with the position where it shows."""
    position = {one.operation.place: one.position for one in observed}
    for told in judged(one.operation for one in observed):
        if isinstance(told, Broken):
            yield told, position[told.operations[-1].place]


def queue_named(name: str | None) -> MessageQueue | None:
    """The queue that a history calls so; `stateful_tests.worlds.notes` names them."""
    if name is None:
        return None
    topic, broker_name, queue_id = name.rsplit("/", 2)
    return MessageQueue(topic, broker_name, int(queue_id))


# What has become of a message at its broker -------------------------------------------------------------------------


def _appended(rule: Observed, told: Told) -> Reported | None:
    """When a broker put the message where the finding says, the last time."""
    mq, offset, key, _ = told.about
    return None if mq is None else rule.views.once("appended", lambda: _all_appended(rule)).get((key, mq, offset))


def _all_appended(rule: Observed) -> dict[_Place, Reported]:
    """All that brokers have appended, by its place; the name of a broker is the one with which it started last."""
    names, appended = dict[str, str](), dict[_Place, Reported]()
    for one in sorted(rule.past.of(events.BrokerStarted, events.MessageAppended)):
        if isinstance(one.event, events.BrokerStarted):
            names[one.at] = one.event.broker_name
        elif one.at in names:
            mq = MessageQueue(one.event.topic, names[one.at], one.event.queue_id)
            appended[one.event.key, mq, one.event.queue_offset] = one
    return appended


def _in_log(rule: Observed, broker: str) -> Counter[tuple[str, int, int]]:
    """How many records the log of a broker has for each place of a queue."""
    return rule.views.once(f"log of {broker}", lambda: Counter(one[1:4] for one in rule.views.log_records(broker)))


def _cut(rule: Observed, told: Told) -> tuple[Reported, Reported] | None:
    """When it was appended, and when its broker came up without it: its log ends before it."""
    record = _appended(rule, told)
    starts = [] if record is None else rule.past.of(events.StoreLoaded, since=record.place, at=record.at)
    gone = next((one for one in starts if record and one.event.max_offset <= record.event.commit_log_offset), None)
    return None if record is None or gone is None else (record, gone)


def _was_not_forced(rule: Observed, told: Told) -> bool:
    """Whether the broker may acknowledge what it has not forced, and its machine has lost its power then."""
    cut = _cut(rule, told)
    return cut is not None and cut[1].event.flush_disk_type == "ASYNC_FLUSH" and any(
        one.event.power_loss and one.place < cut[1].place
        for one in rule.past.of(events.ProcessKilled, since=cut[0].place, at=cut[0].at))


def _was_deleted(rule: Observed, told: Told) -> bool:
    """Whether the disk of the broker was full, and its log begins behind the message now, or did for a member."""
    record = _appended(rule, told)
    if record is None or not any(one.event.percent for one in rule.past.of(events.DiskFilled, at=record.at)):
        return False
    mq, offset, _, group = told.about
    least = next((one.commit_log_offset for one in rule.views.log_records(record.at)), None)
    return (least is not None and least > record.event.commit_log_offset) or any(
        one.event.offset > offset for one in rule.past.of(events.OffsetCorrected, group=group, mq=mq))


def _force_failed(rule: Observed, told: Told) -> bool:
    """Whether the log was cut before it though it was to be forced, and a force has failed."""
    cut = _cut(rule, told)
    return cut is not None and cut[1].event.flush_disk_type != "ASYNC_FLUSH" and bool(
        rule.past.of(events.ForceFailed, at=cut[0].at))


def _was_not_taken(rule: Observed, told: Told) -> bool:
    """Whether files of others filled the disk of its broker when its queue was given its unit for the first time."""
    record = _appended(rule, told)
    if record is None or _cut(rule, told) is not None:
        return False
    given = next(iter(rule.past.of(
        events.MessageDispatched, since=record.place, at=record.at, commit_log_offset=record.event.commit_log_offset,
    )), None)
    filled = [one for one in rule.past.of(events.DiskFilled, at=record.at) if given and one.place < given.place]
    return bool(filled and filled[-1].event.percent)


def _is_displaced(rule: Observed, told: Told, *, power_loss: bool) -> bool:
    """Whether its queue names another record, or none, in its place, and its broker was killed, or lost its power."""
    record = _appended(rule, told)
    if record is None or _cut(rule, told) is not None:
        return False
    several = _in_log(rule, record.at)[record.event[1:4]] > 1
    unit = rule.views.queue_unit(record.at, *record.event[1:4])
    ends = rule.past.of(events.ProcessKilled, at=record.at, power_loss=True if power_loss else None)
    return bool(ends) and (several or unit != record.event.commit_log_offset)


def _was_corrected(rule: Observed, told: Told) -> bool:
    """Whether the broker has told the member since then that it has no such offset."""
    mq, _, _, group = told.about
    return any(one.ms >= (told.since_ms or 0) for one in rule.past.of(events.OffsetCorrected, group=group, mq=mq))


def _failed_in_a_batch(rule: Observed, told: Told) -> bool:
    """Whether a listener has failed with it before it was over, and was given others with it."""
    mq, offset, _, group = told.about
    answered = [one.event for one in rule.past.of(events.MessagesAnswered, group=group, mq=mq)
                if offset in one.event.offsets and one.ms <= (told.since_ms or 0)]
    return bool(answered) and len(answered[-1].offsets) > 1 and _answer(answered[-1], offset) != SUCCESS


def _answer(event: events.MessagesAnswered, offset: int) -> str:
    return dict(zip(event.offsets, event.answers, strict=True))[offset]


_UNFORCED = Excuse("its broker acknowledges what it has not forced (ASYNC_FLUSH), and has lost its power since",
                   when=_was_not_forced)
_DELETED = Excuse("its broker's disk was full, and the broker has deleted the file of its log", when=_was_deleted)
_CORRECTED = Excuse("its broker has said that it has no such offset, and the member goes on where the broker says",
                    when=_was_corrected)


# The rules ------------------------------------------------------------------------------------------------------------


class acknowledged_is_delivered(Observed):
    """A message that was acknowledged is not lost."""

    check = "lost"
    shipped = ("violated: V26 its queue lacks its unit, V3 units stand one place too late, V6 a force has failed and "
               "nobody minds, V33 a disk has not taken its unit")
    excuses = (
        _UNFORCED, _DELETED,
        cause("V6", "its log ends before it, and a force had failed", when=_force_failed),
        cause("V33", "files of others filled the disk when its queue was to have its unit", when=_was_not_taken),
        cause("V26", "its queue has another message in its place, or none, and the machine has lost its power",
              when=lambda rule, told: _is_displaced(rule, told, power_loss=True)),
        cause("V3", "its queue has another message in its place, or none, and the process was killed",
              when=lambda rule, told: _is_displaced(rule, told, power_loss=False)),
    )


class delivered_was_sent(Observed):
    """Nothing is made up."""

    check = "phantom"


class settled_is_over(Observed):
    """What is over does not come again."""

    check = "duplicated"
    shipped = "violated: X26 a batch is suspended with a dead letter in it"
    excuses = (
        cause("X26", "it was given up in a batch with others, one of which is to come again", when=_failed_in_a_batch),
    )


class committed_offset_never_goes_back(Observed):
    """A member that keeps a queue goes on."""

    check = "regressed"
    excuses = (_CORRECTED,)


class delays_are_waited(Observed):
    """A delayed message waits."""

    check = "early"
    excuses = (Excuse("the clock of a machine was set or drifts, and a broker counts by its own",
                      when=lambda rule, _: bool(rule.past.of(events.ClockJumped, events.ClockDrifts))),)


class only_subscribed_is_delivered(Observed):
    """Filters are one's own, also of a member of another version."""

    check = "misfiltered"
