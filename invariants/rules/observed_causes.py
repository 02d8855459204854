"""What lies behind what clients have observed: predicates of what brokers, clients and the host have reported."""

from __future__ import annotations

from collections import Counter

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC
from invariants.histories.messages import selects
from invariants.rules import deadlines
from invariants.rules.answers import has_failed
from invariants.rules.causes_of_filters import expressions, members_differ
from invariants.rules.delays import comes_up_without, lost_power
from invariants.rules.match import machine_of
from invariants.rules.orders import is_to_go
from invariants.rules.past import Reported
from invariants.rules.rule import Rule, Told
from invariants.rules.sending import COMMITS

_Place = tuple[str | None, MessageQueue, int]
"""Key, queue and queue offset of a message."""

# What has become of a message at its broker -------------------------------------------------------------------------


def _appended(rule: Rule, told: Told) -> Reported | None:
    """When a broker put the message where the finding says, the last time."""
    mq, offset, key = told.about[:3]
    return None if mq is None else rule.views.once("appended", lambda: _all_appended(rule)).get((key, mq, offset))


def _all_appended(rule: Rule) -> dict[_Place, Reported]:
    """All that brokers have appended, by its place; the name of a broker is the one with which it started last."""
    names, appended = dict[str, str](), dict[_Place, Reported]()
    for one in sorted(rule.past.of(events.BrokerStarted, events.MessageAppended)):
        if isinstance(one.event, events.BrokerStarted):
            names[one.at] = one.event.broker_name
        elif one.at in names:
            mq = MessageQueue(one.event.topic, names[one.at], one.event.queue_id)
            appended[one.event.key, mq, one.event.queue_offset] = one
    return appended


def _in_log(rule: Rule, broker: str) -> Counter[tuple[str, int, int]]:
    """How many records the log of a broker has for each place of a queue."""
    return rule.views.once(f"log of {broker}", lambda: Counter(one[1:4] for one in rule.views.log_records(broker)))


def _cut(rule: Rule, told: Told) -> tuple[Reported, Reported] | None:
    """When it was appended, and when its broker came up without it: its log ends before it."""
    record = _appended(rule, told)
    gone = None if record is None else comes_up_without(rule, record)
    return None if record is None or gone is None else (record, gone)


def was_not_forced(rule: Rule, told: Told) -> bool:
    """Whether the broker may acknowledge what it has not forced, and its machine has lost its power then."""
    cut = _cut(rule, told)
    return cut is not None and cut[1].event.flush_disk_type == "ASYNC_FLUSH" and lost_power(rule, *cut)


def was_deleted(rule: Rule, told: Told) -> bool:
    """Whether the disk of the broker was full, and its log begins behind the message now, or did for a member."""
    record = _appended(rule, told)
    if record is None or not any(one.event.percent for one in rule.past.of(events.DiskFilled, at=record.at)):
        return False
    mq, offset, _, group = told.about
    least = next((one.commit_log_offset for one in rule.views.log_records(record.at)), None)
    return (least is not None and least > record.event.commit_log_offset) or any(
        one.event.offset > offset for one in rule.past.of(events.OffsetCorrected, group=group, mq=mq))


def force_failed(rule: Rule, told: Told) -> bool:
    """Whether the log was cut before it though it was to be forced, and a force has failed."""
    cut = _cut(rule, told)
    return cut is not None and cut[1].event.flush_disk_type != "ASYNC_FLUSH" and bool(
        rule.past.of(events.ForceFailed, at=cut[0].at))


def was_not_taken(rule: Rule, told: Told) -> bool:
    """Whether files of others filled the disk of its broker when its queue was given its unit for the first time."""
    record = _appended(rule, told)
    if record is None or _cut(rule, told) is not None:
        return False
    given = next(iter(rule.past.of(
        events.MessageDispatched, since=record.place, at=record.at, commit_log_offset=record.event.commit_log_offset,
    )), None)
    filled = [one for one in rule.past.of(events.DiskFilled, at=record.at) if given and one.place < given.place]
    return bool(filled and filled[-1].event.percent)


def went_with_another(rule: Rule, told: Told) -> bool:
    """Whether its broker has deleted its queue since, though nobody has told it to delete the topic."""
    record = _appended(rule, told)
    return record is not None and _cut(rule, told) is None and _went_with_another(rule, record)


def _went_with_another(rule: Rule, record: Reported) -> bool:
    at, topic = record.at, record.event.topic
    return not is_to_go(rule.past, at, topic, record.place) and any(
        record.event.queue_id in one.event.queue_ids
        for one in rule.past.of(events.QueuesDeleted, since=record.place, at=at, topic=topic))


def is_displaced(rule: Rule, told: Told, *, power_loss: bool) -> bool:
    """Whether its queue names another record, or none, in its place, and its broker was killed, or lost its power."""
    record = _appended(rule, told)
    if record is None or _cut(rule, told) is not None or _went_with_another(rule, record):
        return False
    several = _in_log(rule, record.at)[record.event[1:4]] > 1
    unit = rule.views.queue_unit(record.at, *record.event[1:4])
    ends = rule.past.of(events.ProcessKilled, at=record.at, power_loss=True if power_loss else None)
    return bool(ends) and (several or unit != record.event.commit_log_offset)


def was_filtered(rule: Rule, told: Told) -> bool:
    """Whether its broker has filtered for members that differ, by an expression that does not have its tag."""
    record, (mq, _, _, group) = _appended(rule, told), told.about
    if record is None or not members_differ(rule, group, mq):
        return False
    tag = rule.views.tag(record.at, record.event.commit_log_offset)
    return any(not selects(text, tag) for text in expressions(rule, group, mq, since=record.place))


def clock_was_set(rule: Rule, told: Told) -> bool:
    """Whether the clock of a broker that has put the message was set after it was sent, or drifts."""
    brokers = dict.fromkeys(one.at for one in rule.past.of(events.MessageAppended, key=told.about[2]))
    return any(
        rule.past.of(events.ClockDrifts, at=at)
        or any(one.ms >= (told.since_ms or 0) for one in rule.past.of(events.ClockJumped, at=at)) for at in brokers)


def was_corrected(rule: Rule, told: Told) -> bool:
    """Whether the broker has told the member since then that it has no such offset."""
    mq, _, _, group = told.about
    return any(one.ms >= (told.since_ms or 0) for one in rule.past.of(events.OffsetCorrected, group=group, mq=mq))


def was_ended_for_another(rule: Rule, told: Told) -> bool:
    """Whether the end of another half message has committed it: that one lay in its place before a crash."""
    put, key = _appended(rule, told), told.about[2]
    if put is None:
        return False
    places = {one.event.commit_log_offset for one in rule.past.of(
        events.MessageAppended, at=put.at, topic=RMQ_SYS_TRANS_HALF_TOPIC, key=key)}
    return any(one.event.key != key and one.event.commit_log_offset in places and one.place < put.place
               for one in rule.past.of(events.EndTransactionTaken, at=put.at, state=COMMITS))


def failed_in_a_batch(rule: Rule, told: Told) -> bool:
    """Whether a listener has failed with it before it was over, and was given others with it."""
    mq, offset, _, group = told.about
    answered = [one.event for one in rule.past.of(events.MessagesAnswered, group=group, mq=mq)
                if offset in one.event.offsets and one.ms <= (told.since_ms or 0)]
    return bool(answered) and len(answered[-1].offsets) > 1 and has_failed(_answer(answered[-1], offset))


def _answer(event: events.MessagesAnswered, offset: int) -> str:
    return dict(zip(event.offsets, event.answers, strict=True))[offset]


def is_tried_in_place(rule: Rule, told: Told) -> bool:
    """Whether every member that was given it there too often was given it there before, when it was not too often."""
    mq, offset, _, group = told.about
    first: dict[str, bool] = {}
    for one in rule.past.of(events.MessagesGiven, group=group, mq=mq):
        if offset in one.event.offsets:
            attempt = one.event.attempts[one.event.offsets.index(offset)]
            first.setdefault(one.at, attempt > one.event.most)
    return not any(first.values())


# Who sends, and who owns ----------------------------------------------------------------------------------------------


def list_has_changed(rule: Rule, told: Told) -> bool:
    """Whether the producer had another list of queues when it sent the one message than when it sent the other.

    It has looked at the list at any time since its application has asked it to send: it may have waited for a route
    then, and its thread may have stood still. A process that has started in between is another client, with a list of
    its own.
    """
    earlier, later = (rule.past.last(events.SendAttempted, key=key) for key in (told.about[2], told.about[4]))
    asked = rule.past.last(events.SendAsked, key=told.about[2])
    if earlier is None or later is None or asked is None:
        return False
    client_id, group, _, _, mq = earlier.event[:5]
    lists = sorted(one for client in dict.fromkeys((client_id, later.event.client_id)) for one in rule.past.of(
        events.PublishInfoUpdated, client_id=client, group=group, topic=mq.topic) if one.place < later.place)
    first = next((one for one in reversed(lists) if one.place < asked.place), None)
    return len({one.event.queues for one in lists if one is first or one.place > asked.place}) > 1


def joiner_was_early(rule: Rule, told: Told) -> bool:
    """Whether the group had changed when a member took the queue, and one of the two has given it up since."""
    mq, _, _, group, *both = told.about
    taken_ms, bounds = told.since_ms or 0, rule.bounds
    changes = [one.ms for one in rule.past.of(*_CHANGES) if getattr(one.event, "added", True)]
    dropped = [one.ms for one in rule.past.of(events.QueueDropped, group=group, mq=mq) if one.at in both]
    return any(taken_ms - deadlines.rebalanced(bounds) <= ms <= taken_ms for ms in changes) and any(
        taken_ms <= ms <= taken_ms + deadlines.lists_are_whole(bounds) for ms in dropped)


def was_not_heard_of(rule: Rule, told: Told) -> bool:
    """Whether who took the queue had asked a broker that began lately and has not heard of the other one since."""
    mq, _, _, group, former, taker = told.about
    taken_ms = told.since_ms or 0
    answer, member = (next((one for one in reversed(these) if one.ms <= taken_ms), None) for these in (
        [one for one in rule.past.of(events.ConsumerIdsFetched, group=group, topic=mq.topic, at=taker)
         if one.event.client_ids is not None],
        rule.past.of(events.ConsumerStarted, group=group, at=former)))
    if answer is None or member is None or member.event.client_id in answer.event.client_ids:
        return False
    broker, since_ms = machine_of(answer.event.broker_addr or ""), taken_ms - deadlines.lists_are_whole(rule.bounds)
    begun = [one for one in rule.past.of(events.BrokerStarted, events.TopicConfigUpdated, at=broker)
             if one.place < answer.place]
    started = max((one.place for one in begun if isinstance(one.event, events.BrokerStarted)), default=-1)
    heard = rule.past.of(events.ConsumerRegistered, since=started, at=broker, group=group,
                         client_id=member.event.client_id)
    return any(one.ms >= since_ms for one in begun) and not any(one.place < answer.place for one in heard)


_CHANGES = (
    events.ConsumerRegistered, events.ConsumerRemoved, events.ConsumerStarted, events.ConsumerStopping,
    events.RouteUpdated, events.ProcessKilled, events.ProcessPaused, events.BrokerStarted)
"""What changes a group, or what is known of it."""
