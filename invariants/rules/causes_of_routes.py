"""What findings about name servers are put down to: registrations, goodbyes, and the ends of connections."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID, RMQ_SYS_SELF_TEST_TOPIC
from invariants.finding import Finding
from invariants.rules.excuse import cause
from invariants.rules.match import machine_of
from invariants.rules.past import Reported, place_of, said
from invariants.rules.routes import queues_of
from invariants.rules.rule import Ascription

_PERMISSION = "brokerPermission"


def _namesrv(found: Finding) -> str | None:
    """The name server that a finding is about; None: it does not say."""
    name: str | None = said(found, "namesrv") or said(found, "at")
    return name


# Topics ---------------------------------------------------------------------------------------------------------------


def _increment(rule: Any, found: Finding) -> Reported | None:
    """The last registration at the name server of single topics of the broker."""
    registered = rule.past.of(events.BrokerRegistered, namesrv=_namesrv(found), broker_name=said(found, "broker_name"))
    return max((one for one in registered if RMQ_SYS_SELF_TEST_TOPIC not in one.event.topics), default=None)


def _was_known_before(rule: Any, increment: Reported) -> bool:
    """Whether the name server had all topics of the broker when it registered single ones."""
    event = increment.event
    fulls = [one for one in rule.past.of(events.BrokerRegistered, namesrv=event.namesrv, broker_addr=event.broker_addr)
             if one.place < increment.place and RMQ_SYS_SELF_TEST_TOPIC in one.event.topics]
    lost = [one for one in (*rule.past.of(events.ProcessStarted, at=event.namesrv),
                            *rule.past.of(events.BrokerLiveRemoved, namesrv=event.namesrv,
                                          broker_addr=event.broker_addr)) if one.place < increment.place]
    return bool(fulls) and max(fulls).place > place_of(max(lost, default=None))


def _was_promoted(rule: Any, found: Finding) -> bool:
    """Whether an address that was no master's was registered as that of the master under the version that it had."""
    versions: dict[str, tuple[int, Any]] = {}
    for one in rule.past.of(events.BrokerRegistered, namesrv=_namesrv(found), broker_name=said(found, "broker_name")):
        before_id, version = versions.get(one.event.broker_addr, (MASTER_ID, None))
        if before_id != one.event.broker_id == MASTER_ID and version == one.event.version:
            return True
        versions[one.event.broker_addr] = one.event.broker_id, one.event.version
    return False


class topics_are_not_installed(Ascription):
    """A name server takes over topics only with a version that it does not know."""

    judges = "full_registration_installs_all_topics"
    excuses = (
        cause("N-2", "single topics were registered where the others were not known", when=lambda rule, found: (
            (one := _increment(rule, found)) is not None and not _was_known_before(rule, one))),
        cause("N-3", "single topics were registered where the others were known", when=lambda rule, found: (
            (one := _increment(rule, found)) is not None and _was_known_before(rule, one))),
        cause("N-16", "the broker has become another one of its set", when=_was_promoted),
    )


class taken_away_comes_back(Ascription):
    """A registration brings all that the broker has."""

    judges = "what_is_taken_away_stays_away"
    excuses = (
        cause("N-13", "the permission to write was wiped", when=lambda rule, found: rule.past.last(
            events.WritePermWiped, namesrv=said(found, "at"), broker_name=said(found, "broker_name")) is not None),
        cause("N-14", "the topic was deleted at the name server", when=lambda rule, found: rule.past.last(
            events.TopicDeleted, namesrv=said(found, "at"), topic=said(found, "topic")) is not None),
    )


def _has_lost_the_topic(rule: Any, found: Finding) -> bool:
    """Whether no broker of the name has the topic."""
    return not any(said(found, "topic") in rule.views.topics(broker.machine) for broker in rule.views.brokers()
                   if broker.broker_name == said(found, "broker_name"))


def _differs_in(rule: Any, found: Finding, *names: str) -> Iterator[Reported]:
    """The last starts of masters of whose topic the name server routes these fields otherwise, and no others."""
    topic, broker_name = said(found, "topic"), said(found, "broker_name")
    routed = queues_of(rule.views, said(found, "at"), broker_name).get(topic)
    for broker in rule.views.brokers() if routed is not None else ():
        real = rule.views.topics(broker.machine).get(topic)
        started = rule.past.last(events.BrokerStarted, at=broker.machine, broker_name=broker_name, broker_id=MASTER_ID)
        if real is not None and started is not None and routed == real._replace(
                **{name: getattr(routed, name) for name in names}):
            yield started


def _setting(started: Reported, name: str) -> str | None:
    """What a broker was started with; None: what is shipped."""
    return next((one for one in started.event.settings if one.startswith(f"{name} = ")), None)


def _kept_its_version(rule: Any, found: Finding, machine: str) -> bool:
    """Whether a broker has registered the same version since before it was started with another permission.

    The name server had not missed it meanwhile.
    """
    registered, removed = (
        [one for one in rule.past.of(kind, namesrv=said(found, "at")) if machine_of(one.event.broker_addr) == machine]
        for kind in (events.BrokerRegistered, events.BrokerLiveRemoved))
    starts = rule.past.of(events.BrokerStarted, at=machine, broker_id=MASTER_ID)
    for former, started in pairwise(starts):
        before = [one for one in registered if one.place < started.place]
        after = [one for one in registered if one.place > started.place]
        if (_setting(former, _PERMISSION) != _setting(started, _PERMISSION) and before and after
                and {one.event.version for one in after} == {before[-1].event.version}
                and not any(one.place > before[-1].place for one in removed)):
            return True
    return False


class route_differs_from_its_broker(Ascription):
    """A broker has deleted what it does not take back, has registered less than it has, or under the same version."""

    judges = "routes_say_what_brokers_have"
    excuses = (
        cause("N-14", "the broker has not the topic any more", when=_has_lost_the_topic),
        cause("N-23", "the broker has the topic with flags, and compresses its registrations",
              when=lambda rule, found: any(
                  _setting(one, "compressedRegister") for one in _differs_in(rule, found, "topic_sys_flag"))),
        cause("N-30", "the broker was started with another permission, under the version that was known",
              when=lambda rule, found: any(_kept_its_version(rule, found, one.at) for one in _differs_in(
                  rule, found, "perm", "topic_sys_flag"))),
    )


# Brokers --------------------------------------------------------------------------------------------------------------


def _removed(rule: Any, found: Finding, why: str) -> Reported | None:
    """The last removal of an address at the name server, if it was for this reason."""
    one: Reported | None = rule.past.last(
        events.BrokerLiveRemoved, namesrv=_namesrv(found), broker_addr=said(found, "broker_addr"))
    return one if one is not None and one.event.why == why else None


def _found(rule: Any, found: Finding) -> Reported | None:
    """Whose connection was found to have ended before an address was removed for that."""
    removed = _removed(rule, found, "destroyed")
    if removed is None:
        return None
    looks = rule.past.of(events.BrokerFound, namesrv=removed.event.namesrv, broker_addr=removed.event.broker_addr)
    return max((one for one in looks if one.place < removed.place), default=None)


def _came_back_meanwhile(rule: Any, found: Finding) -> bool:
    """Whether the address was registered by another connection after the clean-up had looked, and before it acted."""
    look = _found(rule, found)
    return look is not None and any(one.event.connection != look.event.connection for one in rule.past.of(
        events.BrokerRegistered, since=look.place, namesrv=look.event.namesrv, broker_addr=look.event.broker_addr))


def _shared_its_connection(rule: Any, found: Finding) -> bool:
    """Whether two addresses were registered over one connection, one of them that which was removed."""
    registered = rule.past.of(events.BrokerRegistered, namesrv=_namesrv(found))
    addr = said(found, "broker_addr") or said(found, "addr")
    addrs: dict[str, set[str]] = {}
    for one in registered:
        addrs.setdefault(one.event.connection, set()).add(one.event.broker_addr)
    return any(len(here) > 1 and addr in {None, *here} for here in addrs.values())


def _only_asked_on_the_new_one(rule: Any, found: Finding) -> bool:
    """Whether the broker has asked for its version over another connection than that which ended."""
    look = _found(rule, found)
    return look is not None and not _came_back_meanwhile(rule, found) and any(
        one.event.connection != look.event.connection for one in rule.past.of(
            events.VersionQueried, namesrv=look.event.namesrv, broker_addr=look.event.broker_addr))


_CLEAN_UPS = (
    cause("N-5", "two brokers were registered over one connection", when=_shared_its_connection),
    cause("N-7", "it was registered anew while the end of its connection was handled", when=_came_back_meanwhile),
    cause("N-8", "it expired", when=lambda rule, found: _removed(rule, found, "expired") is not None
          and not _shared_its_connection(rule, found)),
)


class registered_broker_is_dropped(Ascription):
    """The end of a connection, or the scan, removes what was registered meanwhile."""

    judges = "registrations_keep_a_broker"
    excuses = (
        *_CLEAN_UPS,
        cause("N-17", "the end of a connection came after its broker had asked over another",
              when=_only_asked_on_the_new_one),
    )


def _another_had_its_id(rule: Any, found: Finding) -> bool:
    """Whether another address had registered the id of the broker whose goodbye has come."""
    bye = rule.past.last(events.BrokerUnregistered, namesrv=_namesrv(found))
    return bye is not None and any(one.event.broker_addr != bye.event.broker_addr for one in rule.past.of(
        events.BrokerRegistered, namesrv=bye.event.namesrv, broker_name=bye.event.broker_name,
        broker_id=bye.event.broker_id))


def _had_started_again(rule: Any, found: Finding) -> bool:
    """Whether the broker whose goodbye has come had started again before it came."""
    bye = rule.past.last(events.BrokerUnregistered, namesrv=_namesrv(found))
    machine = None if bye is None else machine_of(bye.event.broker_addr)
    stopped = rule.past.last(events.BrokerStopping, at=machine)
    return bye is not None and any(one.place < bye.place for one in rule.past.of(
        events.BrokerStarted, since=place_of(stopped), at=machine))


def _said_goodbye(found: Finding) -> bool:
    return isinstance(found.event, (events.BrokerUnregistered, events.BrokerRegistered))


class living_broker_leaves_the_route(Ascription):
    """A goodbye goes by id and by address, and a clean-up by connection."""

    judges = "live_broker_stays_routed"
    excuses = (
        *_CLEAN_UPS,
        cause("N-1", "a goodbye came from a broker whose id another one had", when=lambda rule, found: (
            _said_goodbye(found) and _another_had_its_id(rule, found))),
        cause("N-27", "a goodbye came after its broker had started again", when=lambda rule, found: (
            _said_goodbye(found) and _had_started_again(rule, found))),
    )


def _was_half_registered(rule: Any, found: Finding) -> bool:
    """Whether a registration was handled that had no topics, which ends in the middle."""
    registered = rule.past.of(events.BrokerRegistered, namesrv=_namesrv(found), broker_name=said(found, "broker_name"))
    return any(one.event.version is None for one in registered)


class dead_broker_stays_routed(Ascription):
    """Nobody looks for it any more, or under another address."""

    judges = "dead_broker_is_dropped"
    excuses = (
        cause("N-1", "a goodbye came from a broker whose id another one had", when=_another_had_its_id),
        cause("N-4", "a thread of the name server has died", when=lambda rule, found: any(
            one.at == _namesrv(found) or (_namesrv(found) is None and one.at in rule.views.namesrvs())
            for one in rule.past.of(events.ThreadDied))),
        cause("N-5", "two brokers were registered over one connection", when=_shared_its_connection),
        cause("N-6", "a registration had no topics", when=_was_half_registered),
    )


def _differing(found: Finding) -> tuple[set[str], set[str]]:
    """Names that only the addresses have, and names that only the clusters have."""
    info: events.ClusterInfoFetched = found.event
    return {*info.broker_names - info.cluster_names}, {*info.cluster_names - info.broker_names}


def _last_change(rule: Any, found: Finding, name: str) -> type | None:
    """What a name server did last about a broker name: registered it, or took a goodbye of it."""
    one = rule.past.last(events.BrokerRegistered, events.BrokerUnregistered, namesrv=_namesrv(found), broker_name=name)
    return None if one is None else type(one.event)


class cluster_info_is_of_two_times(Ascription):
    """Addresses are read before clusters; clusters are left by name."""

    judges = "cluster_info_fits_together"
    excuses = (
        cause("N-6", "a registration had no topics", when=_was_half_registered),
        cause("N-10", "a broker has registered between both looks, or has left", when=lambda rule, found: any(
            _last_change(rule, found, name) is kind
            for names, kind in zip(_differing(found), (events.BrokerUnregistered, events.BrokerRegistered), strict=True)
            for name in names)),
        cause("N-26", "a broker is in a cluster that had left before", when=lambda rule, found: any(
            _last_change(rule, found, name) is events.BrokerUnregistered for name in _differing(found)[1])),
    )
