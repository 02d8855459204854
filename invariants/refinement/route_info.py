"""What name servers say of brokers and topics, as steps of `model.route_info`: one model per name server and name.

Routes (`routes.py`): a broker name at a name server. Visible: at, live, and of live entries age and channel. Hidden:
what is at the brokers (runs, role, link, used, closed, leaving, known) and what is under way (target, expired, silent,
ended). TopicRoutes (`topic_routes.py`): the topics of its master. Not followed: NameServers, because nobody reports who
can reach whom, and RouteCache, because a client does not report a poll that changes nothing; both promise something
within a deadline, which the world looks at when it has healed.

The scan takes an address from brokerLiveTable first and from the route later; in between it counts as live. A name has
one slave: addresses with a third id are not followed.

Time is the wall clock of the name server, which drifts with it. A broker that has not registered for PERIOD_MS counts
as ended until it registers again. When the clock is set, and while the process stands still, nothing is promised: who
runs has ended, the ages are taken from the table, deadlines begin anew; the same as long as a clock that was set back
is behind a time that it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from impl import events
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears
from invariants.refinement.routes import MASTER, NAME, PROPERTIES as OF_ROUTES, BrokerName
from invariants.refinement.topic_routes import PROPERTIES as OF_TOPIC_ROUTES, TopicsOfName
from invariants.views import Machines, RouteTables

UNHEARD_MS = 60_000
"""A name of which nothing is reported for so long is looked at all the same: time passes for it too."""


def followers(machines: Machines, _groups: object, _scopes: object) -> list[Follower]:
    """One follower, of all machines."""
    return [RouteInfo(machines)]


class RouteInfo(Map):
    """Follower of all name servers; see Follower. Fingerprints are without ages.

    servers -- machine to what is followed there.
    """

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, (*OF_ROUTES, *OF_TOPIC_ROUTES), _Server)
        self.servers: dict[str, _Server] = {}
        self._topics: dict[str, frozenset[str]] = {}  # machine to the topics that its broker has
        self._increments: dict[tuple[str, tuple[int, int], frozenset[str]], frozenset[str]] = {}

    def concerned(self, machine: str, event: Any = None) -> _Server | None:
        """See Map."""
        del event
        running, server = self.views.living.namesrv(machine), self.servers.get(machine)
        if running is None:
            return None
        if server is None or server.table.controller is not running:
            server = self.servers[machine] = _Server(RouteTables(running))
        return server

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map."""
        server = self.concerned(machine) if whole or machine in self.servers else None
        return [] if server is None else server.compare(self.visited, whole=whole)

    @hears(events.ProcessKilled, events.BrokerStopping)
    def _ends(self, machine: str, event: events.ProcessKilled | events.BrokerStopping) -> list[Finding]:
        if isinstance(event, events.ProcessKilled):
            self.servers.pop(machine, None)
            self._topics.pop(machine, None)
        return [found for server in self.servers.values() for found in server.end(event, machine)]

    @hears(events.ClockJumped, events.ProcessPaused)
    def _host(self, machine: str, event: events.ClockJumped | events.ProcessPaused) -> list[Finding]:
        server = self.servers.get(machine)
        if server is not None:
            server.host(event)
        return []

    # What brokers have encoded ----------------------------------------------------------------------------------------

    @hears(events.TopicConfigUpdated, events.TopicConfigDeleted)
    def _configured(self, _: str, event: events.TopicConfigUpdated | events.TopicConfigDeleted) -> list[Finding]:
        had, topic = self._topics.get(event.broker, frozenset()), frozenset((event.topic,))
        self._topics[event.broker] = had | topic if isinstance(event, events.TopicConfigUpdated) else had - topic
        return []

    @hears(events.RegistrationEncoded)
    def _encoded(self, _: str, event: events.RegistrationEncoded) -> list[Finding]:
        if event.increment:
            self._increments[event[:3]] = self._topics.get(event.broker, frozenset())
        else:
            self._topics[event.broker] = event.topics
        return []

    @hears(events.BrokerRegistered)
    def _registered(self, machine: str, event: events.BrokerRegistered) -> list[Finding]:
        """A registration that is an increment does not say which topics the broker had when it was encoded."""
        server, version, broker = self.concerned(machine), event.version, event.broker_addr.rpartition(":")[0]
        others = None if version is None else self._increments.get((broker, version, event.topics))
        return [] if server is None else server.registered(event, others)


class _Server:
    """One life of a name server.

    names -- broker name to both models. changed -- names of which something was reported since they were compared last.
    scanned -- connections of what the scan has removed, whose clean-up it has not yet begun. stands_until_ms -- until
    then nothing is promised of time, by the server's clock.
    """

    def __init__(self, table: RouteTables) -> None:
        self.table = table
        self.names: dict[str, tuple[BrokerName, TopicsOfName]] = {}
        self.changed: dict[str, None] = {}
        self.scanned: list[str] = []
        self.stands_until_ms = 0

    @property
    def now_ms(self) -> int:
        return self.table.now_ms()

    def host(self, event: events.ClockJumped | events.ProcessPaused) -> None:
        if isinstance(event, events.ProcessPaused):
            self.stands_until_ms = max(self.stands_until_ms, self.now_ms + event.ms + event.ms // 50)
            return
        self.stands_until_ms = max(self.stands_until_ms + event.ms, self.now_ms)
        for routes, _ in self.names.values():
            routes.jumped(event.ms)

    def registered(self, event: events.BrokerRegistered, others: frozenset[str] | None) -> list[Finding]:
        """RouteInfoManager#registerBroker; others -- of an increment: the topics that the broker has."""
        found, routes, topics = self._now(event.broker_name)
        return found + routes.registered(event) + topics.registered(event, others)

    @hears(events.BrokerUnregistered)
    def _unregistered(self, event: events.BrokerUnregistered) -> list[Finding]:
        found, routes, topics = self._now(event.broker_name)
        return found + routes.unregistered(event) + self._ended(event, routes, topics)

    @hears(events.TopicDeleted)
    def _deleted(self, event: events.TopicDeleted) -> list[Finding]:
        for _, topics in self.names.values():
            topics.deleted(event.topic)
        return []

    @hears(events.BrokerFound)
    def _found(self, event: events.BrokerFound) -> list[Finding]:
        """A clean-up by connection has begun: when this connection ended, or as a part of the scan."""
        if event.connection in self.scanned:
            self.scanned.remove(event.connection)  # no connection has ended: if it found another address, that is N-5
            return []
        return [one for found, routes, _ in self._where(lambda routes: event.connection in routes.bound)
                for one in found + routes.found(event)]

    @hears(events.BrokerLiveRemoved)
    def _removed(self, event: events.BrokerLiveRemoved) -> list[Finding]:
        told: list[Finding] = []
        for found, routes, topics in self._where(lambda routes: routes.knows(event.broker_addr)):
            if event.broker_addr == topics.master:
                topics.unknown()
            told += found
            if event.why == "expired":
                self.scanned += routes.entered.get(event.broker_addr, ())[:1]
                told += routes.expired(event)
        return told

    @hears(events.BrokerDropped)
    def _dropped(self, event: events.BrokerDropped) -> list[Finding]:
        return [one for found, routes, topics in self._where(lambda routes: routes.knows(event.broker_addr))
                for one in found + routes.dropped(event) + self._ended(event, routes, topics)]

    @hears(events.VersionQueried)
    def _asked(self, event: events.VersionQueried) -> list[Finding]:
        return [one for found, routes, _ in self._where(lambda routes: routes.knows(event.broker_addr))
                for one in found + routes.asked(event)]

    @hears(events.BrokerUpdateTimestamp)
    def _updated(self, event: events.BrokerUpdateTimestamp) -> list[Finding]:
        return [one for found, routes, _ in self._where(lambda routes: routes.knows(event.broker_addr))
                for one in found + routes.updated(event)]

    def _where(self, fits: Callable[[BrokerName], bool]) -> Iterator[tuple[list[Finding], BrokerName, TopicsOfName]]:
        return (self._now(name) for name, (routes, _) in list(self.names.items()) if fits(routes))

    def _ended(self, event: Any, routes: BrokerName, topics: TopicsOfName) -> list[Finding]:
        at = routes.at()
        if MASTER not in at:
            topics.unknown()
        return [] if at else topics.ended(event)

    def end(self, event: events.ProcessKilled | events.BrokerStopping, machine: str) -> list[Finding]:
        """The brokers of a machine end, whether or not anybody tells the name server."""
        for routes, _ in self.names.values():
            routes.gone(machine)
        return [found for routes, _ in self.names.values() if routes.of_machine(machine)
                for found in self._pass_time(routes) + routes.end(event, machine)]

    # Time and tables --------------------------------------------------------------------------------------------------

    def _now(self, name: str) -> tuple[list[Finding], BrokerName, TopicsOfName]:
        """Both models of a name of which something is reported, brought to the present."""
        self.changed[name] = None
        if name not in self.names:
            self.names[name] = BrokerName(name, self.table), TopicsOfName(name, self.table)
        routes, topics = self.names[name]
        return self._pass_time(routes), routes, topics

    def _pass_time(self, routes: BrokerName) -> list[Finding]:
        now_ms, before_ms = self.now_ms, routes.now_ms
        routes.now_ms = now_ms
        if before_ms <= self.stands_until_ms or routes.was_ahead or routes.is_ahead():
            return routes.begin_anew()
        return routes.pass_time(now_ms - before_ms)

    def compare(self, visited: set[int], *, whole: bool) -> list[Finding]:
        """Compare names with the tables: those of which something was reported, or was not for long, or all."""
        names, heard_ms = (*self.names, *self.table.names()) if whole else self.changed, self.now_ms - UNHEARD_MS
        late = [name for name, (routes, _) in self.names.items() if routes.now_ms < heard_ms]
        differing = list[Finding]()
        for name in dict.fromkeys((*names, *late)):
            found, routes, topics = self._now(name)
            differing += found + routes.compare() + topics.compare()
            visited.update((routes.monitor.fingerprints()[0], topics.monitor.fingerprints()[0]))
        self.changed = {}
        return differing
