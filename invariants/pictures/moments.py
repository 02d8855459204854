"""The two moments of a finding: where it was seen, and the earlier one that it contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from impl import events as e
from invariants.finding import Finding
from invariants.pictures.causes import ACTORS, PASSING, QUIET
from invariants.pictures.log import Log, Things, agree, of_retries

CONTRADICTS: Mapping[type, tuple[type, ...]] = {
    e.SubscriptionsHandled: (e.SubscriptionUpdated,),
    e.ConsumerRemoved: (e.ConsumerRegistered,), e.GroupRemoved: (e.ConsumerRegistered,),
    e.SubscriptionRemoved: (e.SubscriptionUpdated,),
    e.HeartbeatHandled: (e.GroupRemoved, e.ConsumerRemoved, e.SubscriptionRemoved),
    e.ConsumerRegistered: (e.GroupRemoved, e.ConsumerRemoved), e.BrokerUnregistered: (e.BrokerRegistered,),
    e.BrokerLiveRemoved: (e.BrokerRegistered,), e.BrokerDropped: (e.BrokerRegistered,),
    e.TopicDeleted: (e.BrokerRegistered,), e.ConsumerIdsAnswered: (e.ConsumerRegistered,),
    e.ConsumerIdsFetched: (e.ConsumerIdsAnswered,), e.RouteAnswered: (e.BrokerRegistered,),
}
"""By the class of the event that showed a finding what it contradicts; others contradict the last of their class."""
ELSE: Mapping[type, tuple[type, ...]] = {
    e.QueueTaken: (e.LockGranted,), e.SubscriptionUpdated: (e.ConsumerRegistered,),
    e.BrokerRegistered: (e.BrokerStarted,),
}
"""The same, where there is no such record."""
WRITES: tuple[type, ...] = (
    e.SubscriptionUpdated, e.SubscriptionRemoved, e.LockGranted, e.LockReleased, e.LockBelieved, e.QueueTaken,
    e.QueueDropped, e.BrokerRegistered, e.BrokerUnregistered, e.BrokerDropped, e.TopicDeleted,
)
"""Events of what tables are compared for: of a difference, the last of them showed it."""
_TOPICS = (e.TopicConfigDeleted, e.TopicConfigUpdated)
_BY_TOPIC = (e.QueuesAssigned, *_TOPICS)
_OWNED = (e.QueueTaken, e.QueueDropped)
OF_PROPERTY: Mapping[str, tuple[tuple[type, ...], ...]] = {
    "queue_is_not_left_alone": (_OWNED, (e.LockGranted,), (e.QueuesAssigned,)),
    "only_the_listed_give_up": (_OWNED[:1],),
    "held_queue_is_worked_on": (_OWNED[:1],), "abandoned_lock_is_freed": (_OWNED[1:],),
    "held_queue_stays_locked": (_OWNED,), "settled_is_not_begun_again": ((e.MessagesSettled,),),
    "only_the_readable_is_held": (_OWNED[:1],), "members_have_even_shares": ((e.QueuesAssigned,),),
    "list_is_exactly_the_living": ((e.ConsumerShutDown, e.ConsumerRemoved),),
    "closed_broker_is_dropped": ((e.BrokerRegistered,),),
    "what_is_taken_away_stays_away": ((e.WritePermWiped, e.TopicDeleted),),
    "routes_say_what_brokers_have": (_TOPICS,),
}
"""What findings of some properties contradict, whatever showed them: the first of these kinds that there is."""
OF_SHARES = frozenset({
    "queue_is_not_left_alone", "every_queue_owned_when_settled", "one_owner_when_settled", "members_have_even_shares"})
"""Properties of what members make of their lists together: each one's last rebalance belongs to the findings."""
_OF_RESETS = ((e.OffsetReset,), (e.OffsetUpdated,), (e.PullAnswered, e.MessagesFound))
_LISTENERS = ((e.ListenerStarted,), (e.ListenerEnded,))
ALSO: Mapping[str, tuple[tuple[type, ...], ...]] = {
    "share_is_kept": ((e.PullSuspended, e.PullAnswered, e.MessagesFound),),
    "settled_is_not_begun_again": ((e.OffsetCommitted,), (e.ConsumerStopping,)),
    "queue_is_not_left_alone": (*_LISTENERS, (e.LockGranted,), (e.QueuesAssigned,)),
    "abandoned_lock_is_freed": _LISTENERS, "only_the_readable_is_held": ((e.RouteUpdated,),),
    "only_the_settled_is_committed": _OF_RESETS, "reset_takes_effect": _OF_RESETS,
    "first_beginning_is_kept": ((e.OffsetAnswered,),),
    "members_are_told_of_changes": ((e.ConsumerRegistered,),),
    "list_is_exactly_the_living": ((e.ConsumerRegistered,),),
}
"""What else belongs to findings of some properties: the last of these kinds before, about the same things."""
OF_OTHER_GROUPS: Mapping[str, tuple[type, ...]] = {
    "list_is_exactly_the_living": (e.ConsumerRegistered,), "living_members_do_not_expire": (e.ConsumerRegistered,),
}
"""The same of other groups, on the connection of the last such record: one heartbeat speaks for all groups."""
STATED: tuple[type, ...] = (e.OffsetCommitted, e.KVConfigPut)
"""Events that say what is so from then on: of what a rule tells about, the last of them is contradicted."""
_BY: Mapping[type, list[str]] = {e.BrokerUnregistered: ["name"], e.BrokerRegistered: ["broker"]}
"""The things in which the records of some classes are compared; of others all in _COMPARED."""
_COMPARED = ("queue", "group", "topic", "broker", "name", "key")


class Moments(NamedTuple):
    """Indices of records.

    shown -- the event that showed the finding; None: time has passed, or tables differ. earlier -- what it contradicts;
    None: nothing is known of it. last -- where neither is known: the last records about the same things; and what each
    member has made of its list, where that is what a finding is about.
    """

    shown: int | None
    earlier: int | None
    last: tuple[int, ...] = ()


def moments(log: Log, found: Finding) -> Moments:
    """The moments of a finding of this run."""
    end = len(log.records) if found.position < 0 else found.position
    about = log.of_fields(dict(found.about).get("at", found.machine), found.about)
    shown = _shown(log, found, end, about)
    earlier = _of_property(log, found, end, about)
    if shown is None and earlier is None:
        shown = _at_once(log, found, end, about)
    earlier = _place(log, found, end) if earlier is None else earlier
    specific = any(name in about for name in ("queue", "topic", "key", "broker"))
    last = tuple(_last(log, end, about, found.machine if found.differs else "")) if shown is None else ()
    last = last if earlier is None else last[:1] if specific else ()
    if earlier is None and shown is not None:
        kinds = CONTRADICTS.get(log.records[shown][2].__class__, (log.records[shown][2].__class__,))
        earlier = _contradicted(log, shown, kinds)
        if earlier is None:
            earlier = _contradicted(log, shown, ELSE.get(log.records[shown][2].__class__, ()))
    if earlier is None and shown is not None and (about.get("queue") or about.get("key")):
        wanted = {name: about[name] for name in _COMPARED if name in about}
        earlier = log.last(STATED, shown, lambda place: _covers(wanted, log.things(place)))
    if earlier is None and last:
        earlier = last[0]
    if earlier is None and shown is None:
        earlier = _stored(log, end, about)
    divided = earlier is not None and isinstance(log.records[earlier][2], e.QueuesAssigned)
    shares = _shares(log, end, about) if divided and found.property in OF_SHARES else ()
    also = (_also(log, kinds, end, about) for kinds in ALSO.get(found.property, ()))
    return Moments(shown, earlier if earlier != shown else None, tuple(dict.fromkeys(
        place for place in (*last, *shares, *also, _of_others(log, found, end, about), *_routes(log, shown, earlier))
        if place is not None)))


def _at_once(log: Log, found: Finding, end: int, about: Things) -> int | None:
    """The event that must have shown a finding: it was seen at once, and the last event about it contradicts others."""
    kinds = tuple(kind for kind in CONTRADICTS if kind is not e.HeartbeatHandled)
    last = log.last(kinds, end, lambda place: agree(about, log.things(place), ("broker", "queue", "connection")))
    return last if last is not None and log.records[last][0] == found.time_ms else None


def _routes(log: Log, shown: int | None, earlier: int | None) -> Iterator[int]:
    """The route by which the first of two owners has divided, if the second one's is another."""
    if shown is None or earlier is None or log.records[shown][1] == log.records[earlier][1] \
            or not all(isinstance(log.records[place][2], e.QueueTaken) for place in (shown, earlier)):
        return
    things = log.things(earlier)
    mine, theirs = (log.last((e.RouteUpdated,), shown, lambda place: agree(things, log.things(place), ("topic",)),
                             log.records[place][1]) for place in (earlier, shown))
    if mine is not None and theirs is not None and log.records[mine][2].mqs != log.records[theirs][2].mqs:
        yield mine


def _also(log: Log, kinds: tuple[type, ...], end: int, about: Things) -> int | None:
    """The last record of these kinds about the same, as far as it says it."""
    by = ("group", "topic") if kinds == (e.QueuesAssigned,) else ("group", "queue", "connection")
    names = tuple(name for name in by if name in about)
    return log.last(kinds, end, lambda place: agree(about, log.things(place), names))


def _of_others(log: Log, found: Finding, end: int, about: Things) -> int | None:
    """The last record of another group on the connection that the group was last heard on."""
    kinds, group = OF_OTHER_GROUPS.get(found.property, ()), about.get("group", _NONE)
    own = log.last(kinds, end, lambda place: agree(about, log.things(place), ("group",)))
    return None if own is None else log.last(kinds, end, lambda place: (
        agree(log.things(own), log.things(place), ("connection",)) and not group & log.things(place)["group"]))


def _shares(log: Log, end: int, about: Things) -> Iterator[int]:
    """The last rebalance of each member for each topic, of those that a finding is about."""
    wanted = {name: about[name] for name in ("group", "topic") if name in about}
    last = {(log.records[place][1], log.records[place][2].topic): place for at in log.machines
            for place in log.places.get((at, e.QueuesAssigned), ())
            if place < end and _covers(wanted, log.things(place))}
    for (_, topic), place in last.items():
        if not of_retries((topic,)) or of_retries(about.get("topic", ())):
            yield place


def _shown(log: Log, found: Finding, end: int, about: Things) -> int | None:
    """The event that showed the finding; where tables differ, the last one of their machine about the same things."""
    if found.event is None and not found.differs:
        return None
    names = ("queue", "topic")
    for place in range(end - 1, -1, -1):
        ms, at, event = log.records[place]
        if found.event is not None and _same(event, found.event):
            return place
        if found.event is None and ms < found.time_ms:
            return None
        if found.event is None and at == found.machine and isinstance(event, WRITES) \
                and ("queue" in log.things(place) or "queue" not in about) and agree(about, log.things(place), names):
            return place
    return None


def _of_property(log: Log, found: Finding, end: int, about: Things) -> int | None:
    """The last record of what is contradicted where a property is not kept, about the same queue, topic or broker."""
    for kinds in OF_PROPERTY.get(found.property, ()):
        names = ("group", "topic") if kinds[0] in _BY_TOPIC else ("group", "queue", "broker", "client")
        wanted = {name: about[name] for name in names if name in about}
        before = log.last(kinds, end, lambda place, wanted=wanted: _covers(wanted, log.things(place)))  # type: ignore[misc]
        if before is not None:
            return before
    return None


def _place(log: Log, found: Finding, end: int) -> int | None:
    """The record that the judge has named."""
    if found.earlier is None:
        return None
    ms, at, event = found.earlier
    return next((place for place in range(end - 1, -1, -1)
                 if log.records[place][:2] == (ms, at) and _same(log.records[place][2], event)), None)


def _stored(log: Log, end: int, about: Things) -> int | None:
    """Where the message of a finding was stored that no event has shown."""
    wanted = {name: about.get(name, _NONE) for name in ("key", "queue")}
    return log.last((e.MessageAppended,), end, lambda place: _covers(wanted, log.things(place)))


def _same(one: object, other: object) -> bool:
    """Events of two classes can have the same fields."""
    return one.__class__ is other.__class__ and one == other


def _contradicted(log: Log, shown: int, kinds: tuple[type, ...]) -> int | None:
    """The last record of the class that is contradicted, about the same things, of somebody else where that counts."""
    _, at, event = log.records[shown]
    things = log.things(shown)
    same = _BY.get(event.__class__) or [name for name in _COMPARED if name in things]

    def agrees(place: int) -> bool:
        other = log.things(place)
        if not agree(things, other, same):
            return False
        by_another = log.records[place][1] != at or any(things.get(one) != other.get(one) for one in ACTORS)
        return kinds != (event.__class__,) or by_another or log.records[place][2] != event

    return log.last(kinds, shown, agrees)


def _last(log: Log, end: int, about: Things, found_at: str) -> list[int]:
    """The last records about all of these things, one of each class, the last one first.

    found_at -- at this machine alone, if it is not empty.
    """
    by = ("peer", "connection") if "broker" not in about else ("peer", "connection", "name")
    wanted = {name: values for name, values in about.items() if name not in by}
    return _of_classes(log, end, wanted, found_at, QUIET) or _of_classes(log, end, wanted, found_at, ())


def _of_classes(log: Log, end: int, wanted: Things, found_at: str, without: tuple[type, ...]) -> list[int]:
    found: dict[type, int] = {}
    for place in range(end - 1, -1, -1):
        kind = log.records[place][2].__class__
        here, things = not found_at or log.records[place][1] == found_at, log.things(place)
        if here and kind not in {*found, *PASSING, *without} and wanted and _covers(wanted, things) \
                and (of_retries(wanted.get("topic", ())) or not of_retries(things.get("topic", ()))):
            found[kind] = place
            if len(found) == _FEW:
                break
    return [*found.values()]


_FEW = 3


def _covers(wanted: Things, things: Things) -> bool:
    """Whether something is about all of these things; a heartbeat is about the topics that it carries."""
    return all(wanted[name] & (things.get(name) or (things.get("carried", _NONE) if name == "topic" else _NONE))
               for name in wanted)


_NONE: frozenset[str] = frozenset()
