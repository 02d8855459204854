"""What findings about offsets are put down to: commits, resets, and reads that fail or come late."""

from __future__ import annotations

from typing import Any

from impl import events
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.decisions.start_offset import ConsumeFromWhere
from invariants.finding import Finding
from invariants.rules.excuse import cause
from invariants.rules.match import machine_of
from invariants.rules.offset_facts import FORGOTTEN, READ_EARLY, was_forgotten, was_read_early
from invariants.rules.orders import OFFSET, queue_of
from invariants.rules.past import Reported, place_of, said
from invariants.rules.rule import Ascription


def _queue(found: Finding) -> dict[str, Any]:
    """Client, group and queue that a finding is about."""
    return {name: said(found, name) for name in ("at", "group", "mq")}


# What brokers keep ----------------------------------------------------------------------------------------------------


def _is_one_of_two_first(rule: Any, found: Finding, at: str, group: str, topic: str, queue_id: int) -> bool:
    """Whether the offset was committed once, and that was the first or the second commit of the group and topic."""
    started = rule.past.of(events.BrokerStarted, at=at)
    is_now = isinstance(found.event, events.BrokerStarted)
    since = place_of(started[-2 if is_now else -1]) if len(started) > is_now else -1
    commits = rule.past.of(events.OffsetCommitted, since=since, at=at, group=group, topic=topic)
    ids = [one.event.queue_id for one in commits]
    return len({*ids[:2]}) > 1 and queue_id in ids[:2] and ids.count(queue_id) == 1


def _was_one_of_two_first(rule: Any, found: Finding) -> bool:
    """The same of an offset that is gone."""
    return _is_one_of_two_first(rule, found, *(said(found, name) for name in ("at", "group", "topic", "queue_id")))


def _was_ordered_as_one_of_two_first(rule: Any, found: Finding) -> bool:
    """The same of an offset that an operator has ordered; no other order is about one."""
    kind, name = said(found, "kind"), said(found, "name")
    return kind == OFFSET and _is_one_of_two_first(rule, found, said(found, "server"), *queue_of(name))


class committed_offset_is_gone(Ascription):
    """An offset leaves the table with its map, or by a query."""

    judges = "broker_keeps_what_was_committed committed_offset_survives_its_broker"
    excuses = (
        cause("B-21", "it was one of the two first commits of its group and topic", when=_was_one_of_two_first),
        cause("B-20", "it was not", when=lambda rule, found: not _was_one_of_two_first(rule, found)),
    )


class ordered_offset_is_gone(Ascription):
    """An offset leaves the table with its map, although an operator was told that it is there."""

    judges = "orders_are_kept"
    excuses = (cause("B-21", "it was one of the two first commits of its group and topic",
                     when=_was_ordered_as_one_of_two_first),)


def _was_sent_later(rule: Any, found: Finding) -> bool:
    """Whether the sender itself has sent the lower offset after the greater one."""
    fields = {"at": machine_of(said(found, "connection")), "group": said(found, "group"), "mq": said(found, "mq")}
    lower, greater = (rule.past.last(events.OffsetSent, offset=said(found, name), **fields)
                      for name in ("offset", "last"))
    return lower is not None and greater is not None and lower.place > greater.place


class commits_of_one_connection_regress(Ascription):
    """A commit is handled after a later one, or its sender has gone back."""

    judges = "committed_offset_never_regresses"
    excuses = (
        cause("B-18", "it came on the same connection, and was not sent later", when=lambda rule, found: (
            said(found, "connection") == said(found, "former") and not _was_sent_later(rule, found))),
        cause("X23", "its sender has sent it after the greater one", when=_was_sent_later),
    )


# What clients commit --------------------------------------------------------------------------------------------------


def _reset(rule: Any, found: Finding) -> Reported | None:
    """The last reset of the queue at the client."""
    reset: Reported | None = rule.past.last(events.OffsetReset, **_queue(found))
    return reset


def _was_updated_behind(rule: Any, found: Finding) -> bool:
    """Whether a listener has ended since the reset, and has raised the offset to what is sent."""
    reset = _reset(rule, found)
    return reset is not None and rule.past.last(
        events.OffsetUpdated, since=reset.place, offset=said(found, "offset"), **_queue(found)) is not None


def _was_taken_before(rule: Any, found: Finding) -> bool:
    """Whether the queue was taken between the request and the reset, which takes it out of the table undropped."""
    reset = _reset(rule, found)
    told = max((one for one in rule.past.of(events.ResetReceived, at=said(found, "at"), group=said(found, "group"))
                if reset is not None and one.place < reset.place), default=None)
    if told is None or reset is None:
        return False
    moves = rule.past.of(events.QueueTaken, events.QueueDropped, since=told.place, **_queue(found))
    last = max((one for one in moves if one.place < reset.place), default=None)
    return last is not None and isinstance(last.event, events.QueueTaken)


def _was_held(rule: Any, found: Finding) -> bool:
    """Whether a pull that a broker held before the reset was answered after it."""
    reset = _reset(rule, found)
    if reset is None:
        return False
    held, answered = (rule.past.of(kind, **_queue(found)) for kind in (events.PullSuspended, events.PullAnswered))
    waiting = sum(one.place < reset.place for one in held)
    return bool(sum(one.place < reset.place for one in answered) < min(waiting, len(answered)))


def _was_read_again(rule: Any, found: Finding) -> bool:
    """Whether a broker has answered the client with the offset of the queue after the queue was taken first."""
    at, group, mq = (said(found, name) for name in ("at", "group", "mq"))
    taken = rule.past.of(events.QueueTaken, at=at, group=group, mq=mq)
    return bool(taken) and any(
        machine_of(one.event.connection) == at for one in rule.past.of(
            events.OffsetAnswered, since=taken[0].place, group=group, topic=mq.topic, queue_id=mq.queue_id))


_COME_BACK = (
    cause("X18", "a listener has raised the offset after the reset", when=_was_updated_behind),
    cause("X21", "the queue was taken while the reset waited", when=lambda rule, found: (
        _was_taken_before(rule, found) and not _was_updated_behind(rule, found))),
    cause("L8", "a pull was held during the reset", when=lambda rule, found: _was_held(rule, found) and not (
        _was_updated_behind(rule, found) or _was_taken_before(rule, found))),
)


def _was_so_before(rule: Any, found: Finding) -> bool:
    """Whether nothing else brings back what the client had, or sent, before the reset."""
    reset = _reset(rule, found)
    before = rule.past.of(events.QueueTaken, events.OffsetUpdated, events.OffsetSent, offset=said(found, "offset"),
                          **_queue(found))
    return reset is not None and any(one.place < reset.place for one in before) and not any(
        one.holds(rule, found) for one in _COME_BACK)


class offset_comes_back(Ascription):
    """What was under way during a reset, or a read, is put over what has come of it."""

    judges = "reset_takes_effect only_the_settled_is_committed"
    excuses = (
        *_COME_BACK,
        cause("L14", "nothing else brings it back, and the client had it before the reset", when=_was_so_before),
        cause("X23", "the queue was not reset, and its offset was read after it was taken", when=lambda rule, found: (
            _reset(rule, found) is None and _was_read_again(rule, found))),
    )


def _is_retry(found: Finding) -> bool:
    topic: str = said(found, "mq").topic
    return topic.startswith(RETRY_GROUP_TOPIC_PREFIX)


def _begins_at_a_time(rule: Any, found: Finding) -> bool:
    """Whether the group is to begin at a time, says the consumer."""
    where = rule.views.consume_from(said(found, "at"), said(found, "group"))
    return where is not None and where[0] == ConsumeFromWhere.CONSUME_FROM_TIMESTAMP


def _was_told_zero(rule: Any, found: Finding) -> bool:
    """Whether the last answer that the client had of the queue was 0."""
    at, mq = said(found, "at"), said(found, "mq")
    answers = [one.event.offset for one in rule.past.of(
        events.OffsetAnswered, group=said(found, "group"), topic=mq.topic, queue_id=mq.queue_id)
        if machine_of(one.event.connection) == at]
    return answers[-1:] == [0]


class beginning_is_elsewhere(Ascription):
    """A broker makes up 0, or looks for the time that is nearest; of retry topics a client asks for the end."""

    judges = "new_group_begins_where_it_is_to"
    excuses = (
        cause("X24", "the broker answered 0, where nothing was committed", when=_was_told_zero),
        cause("L11", "the group is to begin at a time, and it is a retry topic", when=lambda rule, found: (
            not _was_told_zero(rule, found) and _begins_at_a_time(rule, found) and _is_retry(found))),
        cause("V28", "the group is to begin at a time, and it is no retry topic", when=lambda rule, found: (
            not _was_told_zero(rule, found) and _begins_at_a_time(rule, found) and not _is_retry(found))),
    )


def _was_corrected_late(rule: Any, found: Finding) -> bool:
    """Whether the offset that is sent is a correction that came when the queue had been taken anew."""
    taken = rule.past.last(events.QueueTaken, **_queue(found))
    return rule.past.last(events.OffsetCorrected, since=place_of(taken), offset=said(found, "offset"),
                          **_queue(found)) is not None


def _was_read_early(rule: Any, found: Finding) -> bool:
    return was_read_early(rule.past, said(found, "group"), said(found, "mq"), said(found, "offset"))


_SENT_LESS = (
    cause("X17", "the offset was corrected after the queue was taken", when=_was_corrected_late),
    cause("L14", READ_EARLY, when=_was_read_early),
)


def _was_learnt(rule: Any, found: Finding) -> bool:
    """Whether nothing else tells why less is sent than before: the offset was read."""
    return not any(one.holds(rule, found) for one in _SENT_LESS)


class offset_of_a_holding_goes_back(Ascription):
    """An orderly consumer reads its offset when it has the lock; a correction comes 10 s late, a commit when it can."""

    judges = "commits_of_a_holding_go_forward"
    excuses = (
        *_SENT_LESS,
        cause("X10", "the offset was read, and nothing was answered", when=lambda rule, found: (
            _was_learnt(rule, found) and not _was_read_again(rule, found))),
        cause("X23", "the offset was read after the queue was taken, not corrected", when=lambda rule, found: (
            _was_learnt(rule, found) and _was_read_again(rule, found))),
    )


def _was_left(rule: Any, found: Finding) -> bool:
    """Whether the client that has settled last runs, and does not subscribe the topic any more."""
    group, mq = said(found, "group"), said(found, "mq")
    settled = rule.past.last(events.MessagesSettled, group=group, mq=mq)
    return settled is not None and rule.facts.runs(settled.at, settled.event.client_id, group) and (
        mq.topic not in rule.views.subscribed(settled.at, group))


class settled_is_not_sent(Ascription):
    """What is in no table is not committed."""

    judges = "settled_is_committed settled_is_not_begun_again"
    excuses = (
        cause("X12", "its client has unsubscribed the topic", when=_was_left),
        cause("X21", "its client was told to reset the queue", when=lambda rule, found: (
            found.property == "settled_is_committed" and _reset(rule, found) is not None)),
    )


class queue_does_no_step_of_its_model(Ascription):
    """What a client remembers of a queue, or pulls of it, changes where the model has no step for it."""

    judges = "refines_process_queue"
    excuses = (
        cause("X21", "a client was told to reset the queue", when=lambda rule, found: (
            rule.past.last(events.OffsetReset, mq=said(found, "mq")) is not None)),
        cause("X23", "a client has read the offset while it had the queue", when=lambda rule, found: (
            rule.past.last(events.OffsetLearntLate, mq=said(found, "mq"), pulled=False) is not None)),
        cause("X28", FORGOTTEN, when=lambda rule, found: any(
            was_forgotten(rule.past, one.at, one.event.group, one.event.mq)
            for one in rule.past.of(events.QueueTaken, mq=said(found, "mq")))),
        cause("X29", "a client has taken the queue anew after it had corrected its offset", when=lambda rule, found: (
            any(rule.past.last(events.QueueTaken, since=one.place, at=one.at, mq=said(found, "mq")) is not None
                for one in rule.past.of(events.OffsetCorrected, mq=said(found, "mq"))))),
    )
