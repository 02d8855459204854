"""What findings about shares of queues are put down to."""

from __future__ import annotations

from typing import Any

from impl import events
from invariants.finding import Finding
from invariants.rules import deadlines
from invariants.rules.causes_in_groups import ids_are_equal, is_listed_twice, lists_who_has_gone
from invariants.rules.excuse import cause
from invariants.rules.past import Reported, place_of, said
from invariants.rules.rule import Ascription

BROADCASTING = "BROADCASTING"  # MessageModel


def _subscriptions_differ(rule: Any, found: Finding) -> bool:
    """Whether a member of the group runs that does not subscribe the topic."""
    group, topic = (said(found, name) for name in ("group", "topic"))
    return any(topic not in rule.views.subscribed(one.machine, group)
               for one in rule.views.consumers() if one.group == group)


class queue_is_nobodys(Ascription):
    """A place of the list belongs to nobody."""

    judges = "every_queue_owned_when_settled"
    excuses = (
        cause("U3", "two consumers of the group run under one client id", when=ids_are_equal),
        cause("U4", "a member of the group does not subscribe the topic", when=_subscriptions_differ),
    )


class queue_has_two_owners(Ascription):
    """Two members take the same place of the list."""

    judges = "one_owner_when_settled ownership_converges"
    excuses = (
        cause("D6", "two consumers of the group run under one client id", when=ids_are_equal),
        cause("B-10", "a broker lists a client that has left this group", when=lambda rule, found: any(
            lists_who_has_gone(rule, one.machine, said(found, "group")) for one in rule.views.brokers())),
    )


def _holder(rule: Any, found: Finding) -> str | None:
    """Who has the lock of the queue that nobody holds; who has it is a client id."""
    holder: str | None = rule.facts.locked_for(said(found, "group"), said(found, "mq"))
    return holder


def _grant(rule: Any, found: Finding) -> Reported | None:
    """When the lock of the queue was granted last to who has it."""
    holder = _holder(rule, found)
    granted: Reported | None = rule.past.last(
        events.LockGranted, group=said(found, "group"), mq=said(found, "mq"), holder=holder)
    return None if holder is None else granted


def _was_granted_to_a_leaver(rule: Any, found: Finding) -> bool:
    """Whether who has the lock had begun to stop when it was granted."""
    grant = _grant(rule, found)
    return grant is not None and any(one.place < grant.place for one in rule.past.of(
        events.ConsumerStopping, client_id=grant.event.holder, group=grant.event.group))


def _was_granted_after_all(rule: Any, found: Finding) -> bool:
    """Whether who has the lock had given the queue up when it was granted, and has not taken it since."""
    grant = _grant(rule, found)
    if grant is None:
        return False
    moves = rule.past.of(events.QueueTaken, events.QueueDropped, client_id=grant.event.holder,
                         group=grant.event.group, mq=grant.event.mq)
    last = max((one for one in moves if one.place < grant.place), default=None)
    is_given_up = last is not None and isinstance(last.event, events.QueueDropped)
    return is_given_up and not any(one.place > grant.place for one in moves)


def _has_dropped(rule: Any, found: Finding, machine: str) -> bool:
    """Whether a member has the queue in its table, dropped."""
    group, mq = said(found, "group"), said(found, "mq")
    return any((held.group, held.mq, held.dropped) == (group, mq, True) for held in rule.views.process_queues(machine))


def _stays_dropped(rule: Any, found: Finding) -> bool:
    """Whether any member has it so, and not because it has just corrected its offset."""
    return not _is_corrected(rule, found) and _is_dropped(rule, found)


def _is_dropped(rule: Any, found: Finding) -> bool:
    return any(_has_dropped(rule, found, one.machine) for one in rule.views.consumers())


def _is_corrected(rule: Any, found: Finding) -> bool:
    """Whether the offset was corrected since the queue was taken last, which leaves the table of its member then."""
    fields = {name: said(found, name) for name in ("group", "mq")}
    taken = rule.past.last(events.QueueTaken, **fields)
    corrected = rule.past.last(events.OffsetCorrected, since=place_of(taken), **fields)
    if corrected is None:
        return False
    return found.time_ms - corrected.ms <= deadlines.given_up(rule.bounds) or not _is_dropped(rule, found)


def _lock_has_no_queue(rule: Any, found: Finding) -> bool:
    """Whether a member that runs has the lock, and has never had the queue."""
    holder, group = _holder(rule, found), said(found, "group")
    runs = any(rule.facts.runs(at, holder, group) for at, of in rule.facts.consumers if of == group)
    return runs and rule.past.last(
        events.QueueTaken, client_id=holder, group=group, mq=said(found, "mq")) is None


class given_up_queue_stays(Ascription):
    """A queue that was given up comes back before it has left the table, and stays there as it is."""

    judges = "given_up_is_not_committed"
    excuses = (cause("U7", "it is in the table of its member, dropped",
                     when=lambda rule, found: _has_dropped(rule, found, said(found, "at"))),)


class queue_waits_for_nobody(Ascription):
    """The list has places of nobody, a lock has no queue, or a process queue has no pulls."""

    judges = "queue_is_not_left_alone"
    excuses = (
        cause("B-5", "a client is listed by two connections of its machine", when=is_listed_twice),
        *(cause(hazard, "two consumers of the group run under one client id", when=ids_are_equal)
          for hazard in ("D6", "U3")),
        cause("U7", "it is in the table of a member, dropped", when=_stays_dropped),
        cause("U10", "its offset was illegal, and is corrected", when=_is_corrected),
        cause("U11", "a member has its lock, and has not taken it", when=_lock_has_no_queue),
        cause("B-22b", "it was locked for a member that had given it up", when=lambda rule, found: (
            _was_granted_after_all(rule, found) and not _was_granted_to_a_leaver(rule, found)
            and not _stays_dropped(rule, found))),
        cause("D12", "it was locked for a member that had begun to stop", when=_was_granted_to_a_leaver),
    )


class queue_is_pulled_by_nobody(Ascription):
    """A broadcaster never locks, and an orderly listener waits for its lock."""

    judges = "held_queue_is_worked_on"
    excuses = (
        cause("U9", "a consumer reads in order and broadcasts", when=lambda rule, found: any(
            one.orderly and one.message_model == BROADCASTING for (_, group), one in rule.facts.consumers.items()
            if group == said(found, "group"))),
    )


def _reset_between(rule: Any, found: Finding) -> bool:
    """Whether the client was told to reset the queue before it took it again."""
    fields = {name: said(found, name) for name in ("at", "group")}
    return any(said(found, "mq") in {mq for mq, _ in one.event.offsets}
               for one in rule.past.of(events.ResetReceived, **fields))


class held_queue_is_taken(Ascription):
    """The queue left the table, and nobody dropped it."""

    judges = "queue_is_taken_once"
    excuses = (
        cause("X21", "the client was told to reset the queue", when=_reset_between),
        cause("X22", "it was not: only another run of the rebalance takes a queue out of the table",
              when=lambda rule, found: not _reset_between(rule, found)),
    )
