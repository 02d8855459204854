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

from collections.abc import Callable, Sequence
from typing import Any

from impl.events import (
    BrokerDropped,
    BrokerFound,
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStopping,
    BrokerUnregistered,
    BrokerUpdateTimestamp,
    ClockJumped,
    ProcessKilled,
    ProcessPaused,
    RegistrationEncoded,
    TopicConfigDeleted,
    TopicConfigUpdated,
    TopicDeleted,
)
from invariants.finding import Finding
from invariants.refinement.follower import Follower, Record
from invariants.refinement.routes import NAME, BrokerName
from invariants.refinement.routes import PROPERTIES as OF_ROUTES
from invariants.refinement.topic_routes import PROPERTIES as OF_TOPIC_ROUTES
from invariants.refinement.topic_routes import TopicsOfName
from invariants.views import Machines, RouteTables, Views

UNHEARD_MS = 60_000
"""A name of which nothing is reported for so long is looked at all the same: time passes for it too."""


def followers(machines: Machines, _groups: Sequence[tuple[str, str]], _scopes: Sequence[str]) -> list[Follower]:
    """One follower, of all machines."""
    return [RouteInfo(machines)]


class RouteInfo:
    """Follower of all name servers; see Follower.

    servers -- machine to what is followed there. visited -- fingerprints, without ages, of the states that were
    compared.
    """

    name = NAME
    properties = (NAME, *(one.name for one in (*OF_ROUTES, *OF_TOPIC_ROUTES)))

    def __init__(self, machines: Machines) -> None:
        """Watch from the first segment on."""
        self.views = Views(machines)
        self.servers: dict[str, _Server] = {}
        self.encoded = _Encoded()
        self.visited: set[int] = set()
        self._take: dict[type, Callable[[str, Any], list[Finding]]] = {
            **dict.fromkeys((ProcessKilled, ClockJumped, ProcessPaused), self._host),
            BrokerStopping: self._shut_down,
            **dict.fromkeys((RegistrationEncoded, TopicConfigUpdated, TopicConfigDeleted), self._encode),
            **dict.fromkeys((
                BrokerRegistered, BrokerUnregistered, BrokerLiveRemoved, BrokerFound, BrokerDropped,
                BrokerUpdateTimestamp, TopicDeleted,
            ), self._at_name_server),
        }
        self.hears = self._take.keys()

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """See Follower."""
        findings: list[Finding] = []
        for _, where, event in records:
            take = self._take.get(event.__class__)
            if take is not None:
                findings += take(where, event)
        server = self._server(machine) if whole or machine in self.servers else None
        return findings + server.compare(whole=whole) if server is not None else findings

    def _at_name_server(self, where: str, event: Any) -> list[Finding]:
        server = self._server(where)
        return [] if server is None else server.take(event, self.encoded)

    def _encode(self, _: str, event: Any) -> list[Finding]:
        self.encoded.take(event)
        return []

    def _shut_down(self, where: str, event: BrokerStopping) -> list[Finding]:
        return [found for server in self.servers.values() for found in server.shut_down(event, where)]

    def _server(self, machine: str) -> _Server | None:
        table = self.views.route_tables(machine)
        if table is None:
            return None
        if machine not in self.servers or self.servers[machine].table.controller is not table.controller:
            self.servers[machine] = _Server(table, self.visited)
        return self.servers[machine]

    def _host(self, machine: str, event: tuple[Any, ...]) -> list[Finding]:
        if event.__class__ is ProcessKilled:
            self.servers.pop(machine, None)
            self.encoded.topics.pop(machine, None)
            return [found for server in self.servers.values() for found in server.killed(event, machine)]
        server = self.servers.get(machine)
        if server is not None and event.__class__ is ClockJumped:
            server.set_clock(event.ms)
        elif server is not None and event.__class__ is ProcessPaused:
            server.stood(event.ms)
        return []


class _Encoded:
    """What brokers have encoded.

    topics -- machine to the topics that its broker has. increments -- (machine, version, topics) of a registration of
    one topic to the topics that the broker had then.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.topics: dict[str, frozenset[str]] = {}
        self.increments: dict[tuple[str, tuple[int, int], frozenset[str]], frozenset[str]] = {}

    def take(self, event: Any) -> None:
        """A topic came or went, or a registration was encoded."""
        had = self.topics.get(event.broker, frozenset())
        match event:
            case TopicConfigUpdated(broker, topic):
                self.topics[broker] = had | {topic}
            case TopicConfigDeleted(broker, topic):
                self.topics[broker] = had - {topic}
            case RegistrationEncoded(broker, version, topics, True):
                self.increments[broker, version, topics] = had
            case RegistrationEncoded(broker, _, topics):
                self.topics[broker] = topics

    def others(self, event: BrokerRegistered) -> frozenset[str] | None:
        """The broker's topics if the registration is an increment; else None."""
        if event.version is None:
            return None
        return self.increments.get((event.broker_addr.rpartition(":")[0], event.version, event.topics))


class _Server:
    """One life of a name server.

    names -- broker name to both models. changed -- names of which something was reported since they were compared last.
    scanned -- connections of what the scan has removed, whose clean-up it has not yet begun. stands_until_ms -- until
    then nothing is promised of time, by the server's clock.
    """

    def __init__(self, table: RouteTables, visited: set[int]) -> None:
        """It knows nobody; visited -- where fingerprints go."""
        self.table, self.visited = table, visited
        self.names: dict[str, tuple[BrokerName, TopicsOfName]] = {}
        self.changed: dict[str, None] = {}
        self.scanned: list[str] = []
        self.stands_until_ms = 0

    @property
    def now_ms(self) -> int:
        """Its clock."""
        return self.table.now_ms()

    def stood(self, ms: int) -> None:
        """The process stands still for so long."""
        self.stands_until_ms = max(self.stands_until_ms, self.now_ms + ms + ms // 50)

    def set_clock(self, by_ms: int) -> None:
        """The clock was set."""
        self.stands_until_ms = max(self.stands_until_ms + by_ms, self.now_ms)
        for routes, _ in self.names.values():
            routes.now_ms += by_ms

    # Events -----------------------------------------------------------------------------------------------------------

    def take(self, event: Any, encoded: _Encoded) -> list[Finding]:
        """Take an event of this name server."""
        match event:
            case BrokerRegistered():
                routes, topics = self._changes(event.broker_name)
                findings = self._pass_time(routes) + routes.registered(event)
                return findings + topics.registered(event, encoded.others(event))
            case BrokerUnregistered():
                routes, topics = self._changes(event.broker_name)
                findings = self._pass_time(routes) + routes.unregistered(event)
                return findings + self._ended(event, routes, topics)
            case BrokerFound():
                return self._found(event)
            case TopicDeleted(_, topic):
                for _, topics in self.names.values():
                    topics.deleted(topic)
                return []
        return [found for name, (routes, topics) in list(self.names.items()) if routes.knows(event.broker_addr)
                for found in self._of_address(event, *self._changes(name))]

    def _of_address(self, event: Any, routes: BrokerName, topics: TopicsOfName) -> list[Finding]:
        findings, addr = self._pass_time(routes), event.broker_addr
        match event:
            case BrokerLiveRemoved(_, _, why):
                if addr == topics.master:
                    topics.unknown()
                if why == "expired":
                    self.scanned += routes.connection_of(addr)
                    findings += routes.expired(event, addr)
            case BrokerDropped():
                findings += routes.dropped(event, addr) + self._ended(event, routes, topics)
            case BrokerUpdateTimestamp():
                findings += routes.updated(event, addr)
        return findings

    def _found(self, event: BrokerFound) -> list[Finding]:
        """A clean-up by connection has begun: when this connection ended, or as a part of the scan."""
        if event.connection in self.scanned:
            self.scanned.remove(event.connection)  # no connection has ended: if it found another address, that is N-5
            return []
        return [found for name, (routes, _) in list(self.names.items()) if event.connection in routes.bound
                for found in self._pass_time(self._changes(name)[0]) + routes.found(event)]

    def _ended(self, event: Any, routes: BrokerName, topics: TopicsOfName) -> list[Finding]:
        if not routes.has_master:
            topics.unknown()
        return topics.ended(event) if routes.is_empty else []

    def shut_down(self, event: BrokerStopping, machine: str) -> list[Finding]:
        """The broker of a machine says goodbye."""
        return [found for routes in self._of_machine(machine)
                for found in self._pass_time(routes) + routes.shut_down(event, machine)]

    def killed(self, event: Any, machine: str) -> list[Finding]:
        """The process of a machine has ended."""
        return [found for routes in self._of_machine(machine)
                for found in self._pass_time(routes) + routes.killed(event, machine)]

    def _of_machine(self, machine: str) -> list[BrokerName]:
        return [routes for routes, _ in self.names.values() if routes.of_machine(machine)]

    # Time and tables --------------------------------------------------------------------------------------------------

    def _pass_time(self, routes: BrokerName) -> list[Finding]:
        """Bring a name to the present."""
        now_ms, before_ms = self.now_ms, routes.now_ms
        routes.now_ms = now_ms
        if before_ms <= self.stands_until_ms or routes.was_ahead or routes.is_ahead():
            return routes.begin_anew()
        return routes.pass_time(now_ms - before_ms)

    def compare(self, *, whole: bool) -> list[Finding]:
        """Compare names with the tables: those of which something was reported, or was not for long, or all."""
        names = (*self.names, *self.table.names()) if whole else tuple(self.changed)
        now_ms, findings = self.now_ms, list[Finding]()
        late = [name for name, (routes, _) in self.names.items() if now_ms - routes.now_ms > UNHEARD_MS]
        for name in dict.fromkeys((*names, *late)):
            routes, topics = self._changes(name)
            findings += self._pass_time(routes) + routes.compare() + topics.compare()
            self.visited.update((routes.monitor.fingerprints()[0], topics.monitor.fingerprints()[0]))
        self.changed = {}
        return findings

    def _changes(self, name: str) -> tuple[BrokerName, TopicsOfName]:
        """Both models of a name, of which something is reported."""
        self.changed[name] = None
        found = self.names.get(name)
        if found is None:
            found = self.names[name] = BrokerName(name, self.table), TopicsOfName(name, self.table)
        return found
