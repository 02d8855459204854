"""What findings about locks of queues are put down to."""

from __future__ import annotations

from typing import Any

from impl import events
from invariants.finding import Finding
from invariants.rules.causes_in_groups import ids_are_equal
from invariants.rules.excuse import cause
from invariants.rules.past import Reported, place_of, said
from invariants.rules.rule import Ascription


def _releaser_stops(rule: Any, found: Finding) -> bool:
    return bool(rule.facts.stops_now(said(found, "client_id"), said(found, "group")))


def _was_given_up_before(rule: Any, found: Finding) -> bool:
    """Whether the client had given the queue up, and has taken it anew since."""
    fields = {name: said(found, name) for name in ("client_id", "group", "mq")}
    dropped = rule.past.last(events.QueueDropped, by_rebalance=True, **fields)
    return dropped is not None and rule.past.last(events.QueueTaken, since=dropped.place, **fields) is not None


_UNLOCKS = (
    cause("D9", "its client had given the queue up, and has taken it anew", when=lambda rule, found: (
        _was_given_up_before(rule, found) and not _releaser_stops(rule, found))),
    cause("D6", "two consumers of the group run under one client id", when=ids_are_equal),
)


class lock_is_freed_too_early(Ascription):
    """A delayed unlock, or a shutdown, does not ask who works on the queue."""

    judges = "held_queue_stays_locked listener_keeps_its_lock"
    excuses = (*_UNLOCKS, cause("D10", "its client shuts down", when=_releaser_stops))


def _works_since_before_it_was_taken(rule: Any, released: Reported) -> bool:
    """Whether a listener of the lock's client was at work then, and had begun before the client took the queue."""
    mine = {name: getattr(released.event, name) for name in ("client_id", "group", "mq")}
    begun, ended, taken = (
        max((one for one in rule.past.of(kind, **mine) if one.place < released.place), default=None)
        for kind in (events.ListenerStarted, events.ListenerEnded, events.QueueTaken))
    return (begun is not None and place_of(ended) < begun.place < place_of(taken)
            and not rule.past.of(events.ConsumerStarted, since=begun.place, **mine | {"mq": None}))


class lock_is_freed_under_a_former_listener(Ascription):
    """Who has taken a queue anew waits for no listener of the time before."""

    judges = "listener_keeps_its_lock"
    excuses = (
        cause("D13", "the listener had begun before its client took the queue anew", when=lambda rule, found: (
            (released := rule.past.last(events.LockReleased, **{
                name: said(found, name) for name in ("at", "client_id", "group", "mq")})) is not None
            and _works_since_before_it_was_taken(rule, released))),
    )


class lock_is_freed_before_the_batch_ends(Ascription):
    """Who gives a queue up waits a second for its listener."""

    judges = "lock_outlasts_the_batch"
    excuses = (
        *_UNLOCKS,
        cause("X11", "its client has given the queue up, and has not taken it anew",
              when=lambda rule, found: not _was_given_up_before(rule, found)),
    )


def _last_grant(rule: Any, found: Finding) -> Reported | None:
    """The lock of the queue that was granted before the last one: another client may believe in it."""
    grants = rule.past.of(events.LockGranted, group=said(found, "group"), mq=said(found, "mq"))
    now = grants[-1].event.holder if grants else None
    earlier: Reported | None = max((one for one in grants if one.event.client_id != now), default=None)
    return earlier


def _freed_while_held(rule: Any, found: Finding) -> bool:
    """Whether a lock was given back since by a client that held the queue."""
    grant = _last_grant(rule, found)
    if grant is None:
        return False
    mine = {"client_id": grant.event.client_id, "group": grant.event.group, "mq": grant.event.mq}
    return any(_holds_before(rule, one, mine) for one in rule.past.of(events.LockReleased, since=grant.place, **mine))


def _holds_before(rule: Any, released: Reported, mine: dict[str, Any]) -> bool:
    moves = [one for one in rule.past.of(events.QueueTaken, events.QueueDropped, **mine) if one.place < released.place]
    return bool(moves) and isinstance(max(moves).event, events.QueueTaken)


class two_believe_in_one_lock(Ascription):
    """A lock was granted twice within the lease."""

    judges = "one_live_believer listeners_do_not_overlap ordered_messages_stay_in_order"
    excuses = (
        cause("D8", "the broker started again since the first was granted it", when=lambda rule, found: (
            (grant := _last_grant(rule, found)) is not None
            and rule.past.last(events.BrokerStarted, since=grant.place) is not None)),
        cause("D9", "it was given back for the first, who held the queue", when=_freed_while_held),
        cause("B-22a", "it was renewed without the lock of the table, for somebody else than its holder", when=lambda
              rule, found: any(one.event.fast and one.event.client_id != one.event.holder for one in rule.past.of(
                  events.LockGranted, group=said(found, "group"), mq=said(found, "mq")))),
    )


def _freed_under_a_former_listener(rule: Any, found: Finding) -> bool:
    """Whether the lock was freed while a listener worked that still works."""
    queue = {"group": said(found, "group"), "mq": said(found, "mq")}
    return any(_works_since_before_it_was_taken(rule, released) and not rule.past.of(
        events.ListenerEnded, since=released.place, client_id=released.event.client_id, **queue)
        for released in rule.past.of(events.LockReleased, **queue))


class listeners_overlap_behind_a_former_holding(Ascription):
    """A listener goes on when its queue is taken anew, and the lock goes without it."""

    judges = "listeners_do_not_overlap ordered_messages_stay_in_order"
    excuses = (
        cause("D13", "the lock was freed under a listener that had begun before its client took the queue anew",
              when=_freed_under_a_former_listener),
    )


def _asked_at_once(rule: Any, found: Finding) -> int:
    """For how many queues the client has asked when the lock was granted to it last."""
    fields = {name: said(found, name) for name in ("at", "group", "mq", "client_id")}
    grants = rule.past.of(events.LockGranted, **fields)
    answers = rule.past.of(events.LocksAnswered, since=place_of(max(grants, default=None)), at=said(found, "at"),
                           client_id=said(found, "client_id"))
    return len(answers[0].event.asked) if answers else 0


class lock_is_left_behind(Ascription):
    """A lock was granted to a member that had given back all that it had."""

    judges = "leaver_frees_its_locks"
    excuses = (
        cause("B-22b", "the member has renewed all its locks", when=lambda rule, found: (
            _asked_at_once(rule, found) > 1)),
        cause("D12", "the member has locked the queue alone, as who takes it does",
              when=lambda rule, found: _asked_at_once(rule, found) == 1),
    )
