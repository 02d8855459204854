"""What name servers route: what they answer, what changes it, and what may not come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.flags import PERM_READ, PERM_WRITE, clear_flag, has_flag
from impl.decisions.names import MASTER_ID, RMQ_SYS_SELF_TEST_TOPIC
from impl.decisions.route_queues import QueueData
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.inspections import TOPIC_NOT_EXIST
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Kept, Promise, Rule, Told, on
from invariants.rules.weather import was_cut_off_from
from invariants.views import Views


def queues_of(views: Views, namesrv: str, broker_name: str) -> dict[str, QueueData]:
    """What a name server routes to a broker, by topic."""
    return {topic: data for topic, datas in views.queue_datas(namesrv).items() for data in datas
            if data.broker_name == broker_name}


class known_version_changes_nothing(Rule):
    """A broker that registers the version that it registered last changes no route."""

    cite = "RouteInfoManager#registerBroker: isBrokerTopicConfigChanged"
    about = "at broker_name"

    # Who registered what version last, and what was routed then.
    registered = Kept("at broker_name", ends=(Match(
        events.BrokerUnregistered, events.BrokerDropped, events.BrokerLiveRemoved, events.TopicDeleted, of="at"),))

    @on(events.BrokerRegistered)
    def registers(self, _: int, at: str, event: events.BrokerRegistered) -> Iterator[Told]:
        key, what = (at, event.broker_name), (event.broker_addr, event.broker_id, event.version)
        now = queues_of(self.views, *key)
        (known, before), self.registered[key] = self.registered.get(key, (None, now)), (what, now)
        if known == what and before != now:
            topic = min(topic for topic in {*before, *now} if before.get(topic) != now.get(topic))
            yield self.told(
                f"{at} changes its route of {topic} although {event.broker_addr} registers what it did before", *key)

    @on(events.WritePermWiped, events.WritePermAdded)
    def told_otherwise(self, _: int, at: str, event: events.WritePermWiped | events.WritePermAdded) -> None:
        key = at, event.broker_name
        self.registered[key] = self.registered.get(key, (None,))[0], queues_of(self.views, *key)


class route_fits_together(Rule):
    """In the answer to GET_ROUTEINFO_BY_TOPIC the brokers of the queues are those that it has addresses of."""

    shipped = "violated: N-9 the queues are read later"
    cite = "RouteInfoManager#pickupTopicRouteData"
    about = "at topic"

    @on(events.RouteAnswered)
    def answered(self, _: int, at: str, event: events.RouteAnswered) -> Iterator[Told]:
        for name in sorted(event.queue_names ^ event.broker_names)[:1]:
            lacks = "addresses" if name in event.queue_names else "queues"
            yield self.told(f"{at} routes {event.topic} to {name} and answers none of its {lacks}", at, event.topic)


class existing_topics_are_not_denied(Rule):
    """A name server that has just started does not deny a topic that a living master has.

    Brokers register every 30 s, and until then it cannot know.
    """

    shipped = "violated: N-28 it answers before its brokers have registered"
    cite = "DefaultRequestProcessor#getRouteInfoByTopic: TOPIC_NOT_EXIST"
    about = "at topic"
    excuses = (Excuse("a broker has made the topic, and is about to register it",
                      by=Match(events.TopicConfigUpdated, of="topic"), lasts=deadlines.registered),)

    started_ms = Kept("at", begins=(events.ProcessStarted,))
    stopping = Kept("broker", machine="broker", begins=(events.BrokerStopping,), ends=(events.BrokerStarted,))

    @on(events.RouteDenied)
    def denied(self, ms: int, at: str, event: events.RouteDenied) -> Iterator[Told]:
        since_ms = ms - self.started_ms.get((at,), -deadlines.REGISTRATION_MS)
        denies = event.code == TOPIC_NOT_EXIST and since_ms < deadlines.REGISTRATION_MS
        for broker in self.views.brokers() if denies else ():
            is_there = broker.broker_id == MASTER_ID and (broker.machine,) not in self.stopping
            if is_there and event.topic in self.views.topics(broker.machine):
                yield self.told(f"{at} denies {event.topic} {since_ms} ms after its start, and {broker.machine} has it",
                                at, event.topic)
                return


class routed_topics_are_not_denied(Rule):
    """A name server that has queues of a topic, and an address of one of their brokers, does not deny the topic."""

    cite = "RouteInfoManager#pickupTopicRouteData"
    about = "at topic"

    @on(events.RouteDenied)
    def denied(self, _: int, at: str, event: events.RouteDenied) -> Iterator[Told]:
        names = self.views.routed(at, event.topic)
        if names and event.code == TOPIC_NOT_EXIST:
            yield self.told(f"{at} denies {event.topic}, and routes it to {', '.join(names)}", at, event.topic)


class cluster_info_fits_together(Rule):
    """In the answer to GET_BROKER_CLUSTER_INFO the names of all clusters are the names that have addresses."""

    shipped = ("violated: N-10 two tables are read without a lock, N-6 half a registration, "
               "N-26 a cluster that was left")
    cite = "DefaultRequestProcessor#getBrokerClusterInfo"
    about = "namesrv"

    @on(events.ClusterInfoFetched)
    def fetched(self, _: int, __: str, event: events.ClusterInfoFetched) -> Iterator[Told]:
        for name in sorted(event.broker_names ^ event.cluster_names)[:1]:
            yield self.told(f"{event.namesrv} has {name} in one of them only", event.namesrv)


class routes_lead_to_the_living(Rule):
    """The answer to GET_ROUTEINFO_BY_TOPIC leads to no process that has long ended.

    The end of a connection is told at once. Where nobody can tell it, a broker expires.
    """

    shipped = "violated: N-12 a machine vanishes, N-4 the scan has died, N-25 a close is forgotten"
    cite = "RouteInfoManager#pickupTopicRouteData, #onChannelDestroy, #scanNotActiveBroker"
    about = "at dead"
    excuses = (
        Excuse("the name server stood still, and does now what it has missed",
               by=Match(events.ProcessPaused, of="at"), lasts=deadlines.end_noticed),
        cause("N-12", "the machine lost its power, and has not expired yet", lasts=deadlines.expired,
              by=Match(events.ProcessKilled, of="dead=at", having=lambda event: event.power_loss)),
        *was_cut_off_from("at", "dead", deadlines.expired, "N-12"),
        cause("N-12", "the clock by which it expires was set or drifts",
              by=Match(events.ClockJumped, events.ClockDrifts, of="at"), lasts=FOR_EVER),
        cause("N-4", "a thread of the name server has died", by=Match(events.ThreadDied, of="at"), lasts=FOR_EVER),
        cause("N-25", "the name server lost an event", by=Match(events.EventDropped, of="at"), lasts=FOR_EVER),
    )

    # Since when a machine runs nothing.
    ended_ms = Kept("at", ends=(events.ProcessStarted,), survives="all")

    @on(events.ProcessKilled)
    def killed(self, ms: int, at: str, _: events.ProcessKilled) -> None:
        self.ended_ms.setdefault((at,), ms)

    @on(events.RouteAnswered)
    def answered(self, ms: int, at: str, event: events.RouteAnswered) -> Iterator[Told]:
        for addr in sorted(event.addrs) if self.ended_ms else ():
            dead_ms = ms - self.ended_ms.get((machine_of(addr),), ms)
            if dead_ms > deadlines.end_noticed(self.bounds):
                yield self.told(f"{at} leads clients of {event.topic} to {addr}, where nobody has lived for "
                                f"{dead_ms} ms", at, machine_of(addr))


def _has_the_permission_it_was_told(rule: Any, told: Told) -> bool:
    """Whether all that differs is a permission that an operator has told this name server."""
    namesrv, broker_name, topic = told.about
    routed, real = queues_of(rule.views, namesrv, broker_name)[topic], rule.real(broker_name, topic)
    wiped, added = ((namesrv, broker_name) in table for table in (rule.wiped, rule.added))
    return any(
        routed == data._replace(perm=perm) for data in real if data is not None
        for perm, was_told in ((clear_flag(data.perm, PERM_WRITE), wiped), (PERM_READ | PERM_WRITE, added),
                               (PERM_READ, wiped and added)) if was_told)


def _differences(routed: QueueData, real: QueueData | None) -> str:
    """What a route says of a topic that its broker says otherwise."""
    if real is None:
        return "which does not have the topic"
    names = ("broker name", "queues to read", "queues to write", "permission", "system flags")
    told = [f"{name} {has} for {should}" for name, has, should in zip(names, routed, real, strict=True)
            if has != should]
    return f"with {', '.join(told)}"


class routes_say_what_brokers_have(Promise):
    """After the last fault what is routed of a topic, its queues, permissions and flags, is what the broker has."""

    shipped = ("violated: N-14 a topic is deleted at its broker, N-23 a compressed registration lacks flags, N-30 a "
               "version says nothing of the broker's permission")
    cite = "RouteInfoManager#registerBroker, #createAndUpdateQueueData"
    about = "at broker_name topic"
    within_ms = deadlines.all_expired
    excuses = (Excuse("the permission to write was wiped there, or given, and nothing else differs",
                      when=_has_the_permission_it_was_told),)

    # No registration of a known version gives the permission back; who gives it sets it to 6, whatever it was.
    wiped = Kept("at broker_name", survives="all", begins=(events.WritePermWiped,))
    added = Kept("at broker_name", survives="all", begins=(events.WritePermAdded,))

    def real(self, broker_name: str, topic: str) -> list[QueueData | None]:
        """What each master of this name has of a topic."""
        return [self.views.topics(broker.machine).get(topic) for broker in self.views.brokers()
                if (broker.broker_name, broker.broker_id) == (broker_name, MASTER_ID)]

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for namesrv in self.views.namesrvs():
            for topic, datas in self.views.queue_datas(namesrv).items():
                for data in datas:
                    real = self.real(data.broker_name, topic)
                    if real and data not in real:
                        sentence = f"{namesrv} routes {topic} to {data.broker_name}, {_differences(data, real[0])}"
                        yield self.told(sentence, namesrv, data.broker_name, topic)


class what_is_taken_away_stays_away(Rule):
    """Topics that were deleted, and permissions to write that were wiped, come back only if somebody gives them.

    A topic that its broker has created anew, or has lost itself, is not one that was deleted.
    """

    shipped = "violated: N-13 the next version brings the permission, N-14 and the topic"
    cite = "RouteInfoManager#deleteTopic, #wipeWritePermOfBrokerByLock"
    about = "at broker_name topic"

    wiped = Kept("at broker_name", ends=(events.WritePermAdded,))
    deleted = Kept("at broker_name topic")
    listed = Kept("at broker_name")  # the topics that a broker has registered

    @on(events.WritePermWiped)
    def wipe(self, ms: int, at: str, event: events.WritePermWiped) -> None:
        if queues_of(self.views, at, event.broker_name):
            self.wiped[at, event.broker_name] = ms

    @on(events.TopicDeleted)
    def delete(self, ms: int, at: str, event: events.TopicDeleted) -> None:
        for (where, broker_name), topics in self.listed.items():
            if where == at and event.topic in topics:
                self.deleted[at, broker_name, event.topic] = ms

    @on(events.TopicConfigUpdated)
    def create(self, _: int, at: str, event: events.TopicConfigUpdated) -> None:
        name = self.facts.broker_name(at)
        self.deleted.drop(lambda key: key[1:] == (name, event.topic))

    @on(events.BrokerRegistered)
    def registered(self, _: int, at: str, event: events.BrokerRegistered) -> Iterator[Told]:
        key = at, event.broker_name  # with the self-test topic a registration lists all topics
        if event.broker_id == MASTER_ID and RMQ_SYS_SELF_TEST_TOPIC in event.topics:
            self.listed[key] = event.topics
            self.deleted.drop(lambda gone: gone[:2] == key and gone[2] not in event.topics)
        wiped = key in self.wiped
        for topic, data in queues_of(self.views, *key).items() if wiped or self.deleted else ():
            if (*key, topic) in self.deleted:
                yield self.told(f"{at} routes {topic} to {key[1]} again, where it was deleted", *key, topic)
            elif wiped and has_flag(data.perm, PERM_WRITE):
                yield self.told(f"{at} lets {topic} be written at {key[1]} again, where that was wiped", *key, topic)
