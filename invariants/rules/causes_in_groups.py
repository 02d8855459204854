"""What findings about groups are put down to: their members, and what these subscribe."""

from __future__ import annotations

from typing import Any

from impl import events
from invariants.finding import Finding
from invariants.rules import deadlines
from invariants.rules.excuse import cause
from invariants.rules.match import machine_of
from invariants.rules.past import Reported, going_on, place_of, said
from invariants.rules.rule import Ascription

# What is common -------------------------------------------------------------------------------------------------------


def ids_are_equal(rule: Any, found: Finding) -> bool:
    """Whether two consumers of the group run under one client id."""
    group = said(found, "group")
    ids = [started.client_id for (at, of), started in rule.facts.consumers.items()
           if group in {None, of} and rule.facts.runs(at, started.client_id, of)]
    return len({*ids}) < len(ids)


def is_listed_twice(rule: Any, found: Finding) -> bool:
    """Whether a broker has one client of one machine under two connections, or had until one has just expired."""
    listed = [(at, one) for (at, group, _), one in rule.facts.listed.items() if group == said(found, "group")]
    places = {(at, one.client_id, machine_of(one.connection)) for at, one in listed}
    return len(places) < len(listed) or any(_expired_beside(rule, found, at, one) for at, one in listed)


def _expired_beside(rule: Any, found: Finding, at: str, heartbeat: Any) -> bool:
    """Whether another connection of a client has just expired at a broker, behind the first heartbeat on this one."""
    fields = {"at": at, "group": heartbeat.group, "client_id": heartbeat.client_id}
    entered = rule.past.last(events.ConsumerRegistered, connection=heartbeat.connection, added=True, **fields)
    return any(found.time_ms - gone.ms <= deadlines.handed_over(rule.bounds)
               and machine_of(gone.event.connection) == machine_of(heartbeat.connection)
               for gone in rule.past.of(events.ConsumerRemoved, since=place_of(entered), why="expired", **fields)
               if entered is not None and gone.event.connection != heartbeat.connection)


def _came_after_its_goodbye(rule: Any, found: Finding) -> bool:
    """Whether a heartbeat was entered on a connection that had left the group by its goodbye or its end."""
    fields = {name: said(found, name) for name in ("at", "group", "client_id")}
    return any(rule.past.last(events.ConsumerRegistered, since=left.place, connection=left.event.connection, **fields)
               for left in rule.past.of(events.GoodbyeTaken, events.ConsumerRemoved, **fields))


# Members --------------------------------------------------------------------------------------------------------------


def _entered_what_was_removed(rule: Any, found: Finding) -> bool:
    entered = rule.past.last(events.ConsumerRegistered, broker=said(found, "broker"), group=said(found, "group"))
    return entered is not None and not entered.event.attached


def _removed_what_had_members(rule: Any, found: Finding) -> bool:
    gone = rule.past.last(events.GroupRemoved, broker=said(found, "broker"), group=said(found, "group"))
    entered = rule.past.last(events.ConsumerRegistered, since=place_of(gone), broker=said(found, "broker"))
    return gone is not None and bool(gone.event.members) and entered is None


_DETACHED = (
    cause("B-7", "a heartbeat was put into a group object that had left the table", when=_entered_what_was_removed),
    cause("B-8", "a goodbye removed a group that had a member", when=_removed_what_had_members),
)


class member_is_heard_and_not_listed(Ascription):
    """A group object leaves the table while somebody works with it."""

    judges = "answered_heartbeat_means_listed"
    excuses = _DETACHED


class group_does_no_step_of_its_model(Ascription):
    """The lists of members, and what members hold, change where the model has no step for it."""

    judges = "refines_consumer_group"
    excuses = (
        *_DETACHED,
        cause("X21", "a queue was reset that its client holds or has just taken", when=lambda rule, found: (
            "holds" in found.signature and rule.past.last(events.ResetReceived) is not None)),
    )


_GHOSTS = tuple(cause(hazard, "a heartbeat was entered on a connection that had left", when=_came_after_its_goodbye)
                for hazard in ("B-9", "B-30"))


class member_comes_back_after_its_goodbye(Ascription):
    """A heartbeat is handled after the goodbye that was sent behind it."""

    judges = "goodbye_is_final"
    excuses = _GHOSTS


def _goodbye_came_on_another(rule: Any, found: Finding) -> bool:
    at, group, client_id = (said(found, name) for name in ("at", "group", "client_id"))
    left = rule.past.last(events.GoodbyeTaken, at=at, group=group, client_id=client_id)
    listed = rule.facts.connections(at, group)
    return left is not None and left.event.connection not in listed and any(
        one.client_id == client_id for one in listed.values())


class member_is_listed_after_its_goodbye(Ascription):
    """A goodbye has not removed its sender, or not for long."""

    judges = "goodbye_delists_a_member"
    excuses = (
        *_GHOSTS,
        cause("B-6", "its goodbye came on another connection than its heartbeats", when=_goodbye_came_on_another),
        cause("D6", "two consumers of the group run under one client id", when=ids_are_equal),
    )


def lists_who_has_gone(rule: Any, at: str, group: str) -> bool:
    """Whether a broker lists a client that runs, in a group in which it has stopped."""
    living = {one.client_id for one in rule.views.in_service() if one.group == group}
    running = {one.client_id for one in rule.views.in_service()}
    return any(who in running - living for who in rule.views.listed(at, group))


def _misses_who_was_closed(rule: Any, found: Finding) -> bool:
    """Whether a broker does not list a living member, which it removed when a connection ended."""
    at, group = (said(found, name) for name in ("at", "group"))
    listed = rule.views.listed(at, group)
    return any(rule.past.last(events.ConsumerRemoved, at=at, group=group, client_id=one.client_id, why="closed")
               for one in rule.views.in_service() if one.group == group and one.client_id not in listed)


class list_stays_wrong(Ascription):
    """Who is listed and who lives are not the same."""

    judges = "list_is_exactly_the_living"
    excuses = (
        cause("B-10", "a client runs that has left this group", when=lambda rule, found: lists_who_has_gone(
            rule, said(found, "at"), said(found, "group"))),
        cause("B-17", "a living member was removed when its connection ended", when=_misses_who_was_closed),
    )


class expired_member_lives(Ascription):
    """The entry that expires is not the one that heartbeats renew."""

    judges = "living_members_do_not_expire"
    excuses = (
        _GHOSTS[0],
        cause("B-10", "its client has several groups, and speaks for all at once", when=lambda rule, found: len(
            {group for at, group in rule.facts.consumers if at == said(found, "client")}) > 1),
    )


def _another_group_expired(rule: Any, found: Finding) -> bool:
    closed = found.event
    expired = rule.past.last(events.ConsumerRemoved, broker=closed.broker, connection=closed.connection, why="expired")
    return expired is not None and found.time_ms - expired.ms <= deadlines.handled(rule.bounds)


class connection_of_a_member_ends(Ascription):
    """The scan has closed it, or its client, whom something took too long."""

    judges = "connections_of_members_last"
    excuses = (cause("B-11", "an entry of this connection had just expired", when=_another_group_expired),)


class list_repeats_a_client(Ascription):
    """A client stands in the list once for each connection."""

    judges = "list_has_no_repetition"
    excuses = (
        cause("B-5", "a client is listed by two connections of its machine", when=is_listed_twice),
        cause("D6", "two consumers of the group run under one client id", when=ids_are_equal),
    )


class told_member_was_resetting(Ascription):
    """A reset sleeps in the pool that handles notifications."""

    judges = "told_members_rebalance"
    excuses = (
        cause("U15", "the client was told to reset queues, and waits 10 s", when=lambda rule, found: any(
            found.time_ms - one.ms <= deadlines.reset(rule.bounds) + deadlines.told_to_rebalance(rule.bounds)
            for one in rule.past.of(events.ResetReceived, at=said(found, "at")))),
    )


# Subscriptions --------------------------------------------------------------------------------------------------------


def _topics(one: Reported) -> frozenset[Any]:
    return frozenset(topic for topic, _, _ in one.event.subscriptions)


def _broker(found: Finding) -> str:
    """The broker that a finding is about."""
    return str(said(found, "broker") or said(found, "at"))


def _handled_at(rule: Any, at: str, group: str, place: int) -> list[Reported]:
    """The heartbeats of a group that a broker had entered by then, and whose topics it had not all put."""
    begun, ended = (rule.past.of(kind, at=at, group=group)
                    for kind in (events.ConsumerRegistered, events.SubscriptionsHandled))
    return going_on([one for one in begun if one.place < place], [one for one in ended if one.place < place])


def _handling(rule: Any, found: Finding) -> list[Reported]:
    """The heartbeats of the group that a broker was handling when something was found."""
    at, group = _broker(found), said(found, "group")
    shown_by = [one.place for one in rule.past.of(type(found.event), at=at, group=group) if one.event is found.event]
    return _handled_at(rule, at, group, shown_by[0] if shown_by else len(rule.past.records))


def _beside(rule: Any, one: Reported) -> list[Reported]:
    """The heartbeats of its group that were handled when this one was entered, or were entered after it."""
    group = one.event.group
    return [*_handled_at(rule, one.at, group, one.place),
            *rule.past.of(events.ConsumerRegistered, since=one.place, at=one.at, group=group)]


def _members_differ(rule: Any, found: Finding) -> bool:
    """Whether members of two clients, of those that are listed, subscribe different topics."""
    heartbeats = rule.facts.connections(_broker(found), said(found, "group")).values()
    topics = {one.client_id: {topic for topic, _, _ in one.subscriptions} for one in heartbeats}
    return any(one != other for one in topics.values() for other in topics.values())


def _side_by_side(rule: Any, found: Finding) -> bool:
    """Whether a heartbeat of another client, with other topics, is or was just handled at the same time."""
    return any(one.event.client_id != other.event.client_id and _topics(one) != _topics(other)
               for one in _handling(rule, found) for other in _beside(rule, one))


def _overtaken(rule: Any, found: Finding) -> bool:
    """Whether a later heartbeat of the same client, with other topics, was entered while one is handled."""
    return any(one.event.client_id == other.event.client_id and _topics(one) != _topics(other)
               for one in _handling(rule, found) for other in _beside(rule, one) if other.place > one.place)


def _was_dropped_meanwhile(rule: Any, found: Finding) -> bool:
    """Whether the group, or its sender, was removed while a heartbeat is handled."""
    return any(rule.past.last(events.GroupRemoved, events.ConsumerRemoved, since=one.place, at=one.at,
                              group=one.event.group) for one in _handling(rule, found))


class topics_of_others_are_removed(Ascription):
    """A heartbeat removes what it does not have, whoever has brought it."""

    judges = "heartbeats_do_not_remove_others_topics pull_finds_its_subscription"
    excuses = (
        cause("B-1", "members of the group subscribe different topics", when=lambda rule, found: (
            _members_differ(rule, found) and not _emptied(rule, found))),
        cause("B-2", "heartbeats of two members with different topics were handled at once", when=lambda rule, found: (
            found.property == "pull_finds_its_subscription" and _emptied(rule, found))),
        cause("B-31", "a later heartbeat of the same client has overtaken one that is handled", when=_overtaken),
        cause("B-33", "a member, or the group, was removed while a heartbeat is handled", when=_was_dropped_meanwhile),
    )


def _emptied(rule: Any, found: Finding) -> bool:
    """Whether nothing is left, and two heartbeats have done it side by side."""
    return not rule.views.subscriptions(_broker(found), said(found, "group")) and _side_by_side(rule, found)


class filter_is_behind(Ascription):
    """The expression of a topic is compiled behind everything else that a heartbeat does."""

    judges = "filter_is_as_new_as_its_subscription"
    excuses = (
        cause("B-14", "members are told while the heartbeat is still handled", when=lambda _, found: (
            isinstance(found.event, events.ConsumerIdsChanged) and not found.causes)),
        cause("B-26", "the heartbeat is handled, and there is no such filter", when=lambda _, found: (
            isinstance(found.event, events.HeartbeatHandled) and not found.causes)),
    )
