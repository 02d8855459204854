"""The topics of one broker name at one name server, as steps of `model.route_info.topics.TopicRoutes`.

The broker's side (exists, version) is as it was when the registration was encoded that was handled last here: topics
are created when the first registration with them is handled, in which the version has been raised. So a topic that
stands in topicConfigTable while its version is still to be raised does not exist yet. An increment does not say which
other topics there are; they are those that the broker had when it was encoded.

What the model has no step for is rewritten: a topic that the broker deleted does not exist; one that the name server
deleted is not routed and, until a registration installs it again, does not exist; one whose configuration is
registered by an increment is taken for new; a raised version without a new topic creates one that is forgotten at once;
the entry of a master that ends while a slave keeps the name is not known; another master's address has its own entry,
and whether it is compared with that when it takes the id from a living one, the name server shows: as shipped it is, as
repaired who takes an id from another brings its topics (N-16).

A topic that a whole registration does not list, and that the name server has no more, is not routed: as repaired it
takes such topics away, and leaves those out that were deleted there (N-14).

Visible: routed; known -- the entry that the next registration will be compared with: brokerLiveTable has the master's
address, and its id is taken; stored, of a known one. Hidden: exists, version, complete.
"""

from __future__ import annotations

from typing import Any

from impl.decisions.names import MASTER_ID
from impl.events import BrokerRegistered
from invariants.finding import Finding
from invariants.refinement.monitor import Monitor, Step, judged
from invariants.views import RouteTables
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes
from model.route_info.topics import TopicRoutes

NAME = "refines_route_info"
VISIBLE = ("known", "stored", "routed")
PROPERTIES = judged(TopicRoutes.concept)
CHANGE = "(a change that creates no topic)"
"""What stands for the topic of a raised version without a new one."""


class TopicsOfName:
    """See the module.

    table -- what the name server has. versions, at -- when it was compared last: address to data version, and the
    address that had the id 0. master -- the address that is followed. stored -- the version that it registered last.
    exist -- names of what exists in the model. last -- address to the topics that it registered last. gone -- topics
    that were deleted here while the master had them, until it registers without them or they are installed.
    """

    def __init__(self, name: str, table: RouteTables) -> None:
        """Nothing is routed."""
        self.name, self.table = name, table
        self.versions: dict[str, tuple[int, int]] = {}
        self.at: str | None = None
        self.master: str | None = None
        self.stored: tuple[int, int] | None = None
        self.exist: set[str] = set()
        self.last: dict[str, frozenset[str]] = {}
        self.gone: set[str] = set()
        self.monitor = Monitor(OpenReading(TopicRoutes.concept), PROPERTIES, NAME, visible=VISIBLE,
                               unmarked=("version", "stored"))
        self.value = self.monitor.value
        self._named = self.monitor.reading.given.named

    def registered(self, event: BrokerRegistered, others: frozenset[str] | None) -> list[Finding]:
        """RouteInfoManager#registerBroker; others -- of an increment: the topics that the broker has."""
        if event.version is None:
            return []
        addr, last = event.broker_addr, self.last.get(event.broker_addr)
        self.last[addr] = event.topics if others is None else (last or frozenset()) | event.topics
        if event.broker_id != MASTER_ID:
            return self._as_slave(event, event.version)
        if addr != self.master:
            compared = self.at == addr or not self.table.has_topics(self.name, event.topics)
            self._follow(addr, last or frozenset(), compared=compared)
        event = self._without_what_is_left_out(event, others)
        fresh = not self.value("known") or self.stored != event.version
        if others is None:
            self._forget_unlisted(event.topics)
        steps = self._full(event, fresh=fresh) if others is None else self._increment(event, others) if fresh else []
        if not steps:
            return []
        self.stored = event.version
        found = self.monitor.take(event, *steps)
        if self.value("exists", CHANGE):  # which is over
            self.monitor.write({("exists", CHANGE): False, ("routed", CHANGE): False})
        return found

    def _without_what_is_left_out(
        self, event: BrokerRegistered, others: frozenset[str] | None,
    ) -> BrokerRegistered:
        """The registration without topics that were deleted here and are not installed now."""
        if others is None:
            self.gone &= event.topics
        if not self.gone:
            return event
        self.gone.difference_update(self.table.topics(self.name))
        return event._replace(topics=event.topics - self.gone)

    def _forget_unlisted(self, listed: frozenset[str]) -> None:
        """Topics that were routed, are not listed, and have no entry any more."""
        unlisted = [topic for topic in self._named["Topic"] if topic not in listed and self.value("routed", topic)]
        routed = self.table.topics(self.name) if unlisted else ()
        self.monitor.write({("routed", topic): False for topic in unlisted if topic not in routed})

    def _as_slave(self, event: BrokerRegistered, version: tuple[int, int]) -> list[Finding]:
        if event.broker_addr != self.master:
            return []
        self.stored = version
        found = self.monitor.take(event, ("register_as_slave", ()))
        if self.at in {None, event.broker_addr}:  # which leaves the id 0 now
            self.unknown()
        return found

    def _full(self, event: BrokerRegistered, *, fresh: bool) -> list[Step]:
        gone, new = self.exist - event.topics, sorted(event.topics - self.exist) if fresh else []
        self.monitor.write({("exists", topic): False for topic in sorted(gone)})
        self.exist -= gone
        steps = [self._create(topic) for topic in new]
        if fresh and not new:
            steps = [("create", (CHANGE,))]
        return [*steps, ("register_all", ())]

    def _increment(self, event: BrokerRegistered, others: frozenset[str]) -> list[Step]:
        steps = [self._create(topic) for topic in sorted(others - self.exist - event.topics)]
        for topic in sorted(event.topics):
            self.monitor.write({("exists", topic): False})
            self.exist.add(topic)
            steps.append(("create_by_admin", (topic,)))
        return steps

    def _create(self, topic: str) -> Step:
        self.exist.add(topic)
        return "create", (topic,)

    def _follow(self, addr: str, topics: frozenset[str], *, compared: bool) -> None:
        """Another address is the master: what the name server knows is its entry, what exists is what it has told.

        compared -- whether what it registers is compared with that entry although the id was another's.
        """
        self.master, self.stored, self.exist = addr, self.versions.get(addr), set(topics)
        known = self.stored is not None and self.at is not None and compared
        followed: Writes = {("exists", topic): topic in topics
                            for topic in dict.fromkeys((*self._named["Topic"], *sorted(topics)))}
        self.monitor.write({**followed, ("known",): known, ("complete",): False, ("stored",): self.value("version")})

    def ended(self, event: Any) -> list[Finding]:
        """The name has no address any more."""
        if self.value("known") or any(self.value("routed", topic) for topic in self._named["Topic"]):
            return self.monitor.take(event, ("restart_name_server", ()))
        return []

    def unknown(self) -> None:
        """The next registration will be compared with nothing: the master's entry has gone, or its id is free."""
        self.monitor.write({("known",): False, ("complete",): False})

    def deleted(self, topic: str) -> None:
        """RouteInfoManager#deleteTopic."""
        if topic in self.last.get(self.master or "", ()):
            self.gone.add(topic)
        if topic in self._named["Topic"]:
            self.monitor.write({("exists", topic): False, ("routed", topic): False})
            self.exist.discard(topic)

    def compare(self) -> list[Finding]:
        """Compare with the tables."""
        self.versions, self.at = self.table.versions(), self.table.master(self.name)
        version = self.versions.get(str(self.master))
        seen: Writes = {("routed", topic): True for topic in self.table.topics(self.name)}
        looked: list[Cell] = [*seen, *(("routed", topic) for topic in self._named["Topic"]), ("known",)]
        if version is not None and self.at is not None:
            stored = self.value("stored")
            seen["known",], seen["stored",] = True, stored if version == self.stored else stored + 1
            looked.append(("stored",))
        found = self.monitor.compare(seen, looked)
        if found:
            self.stored = version
        return found
