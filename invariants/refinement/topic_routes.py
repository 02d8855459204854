"""The topics of one broker name at one name server, as steps of `model.route_info.TopicRoutes`.

The broker's side (exists, version) is as it was when the registration was encoded that was handled last here: topics
are created when the first registration with them is handled, in which the version has been raised. So a topic that
stands in topicConfigTable while its version is still to be raised does not exist yet. An increment does not say which
other topics there are; they are those that the broker had when it was encoded.

What the model has no step for is rewritten: a topic that the broker deleted does not exist; one that the name server
deleted is not routed and, until a registration installs it again, does not exist; one whose configuration is
registered by an increment is taken for new; a raised version without a new topic creates one that is forgotten at once;
the entry of a master that ends while a slave keeps the name is not known; another master's address has its own entry,
and whether it is compared with that when it takes the id from a living one, the name server shows: as shipped it is, as
repaired who takes an id from another brings its topics (N-16). Versions are compared for equality only and numbered
anew after each step.

A topic that a whole registration does not list, and that the name server has no more, is not routed: as repaired it
takes such topics away (N-14).

Visible: routed; known -- the entry that the next registration will be compared with: brokerLiveTable has the master's
address, and its id is taken; stored, of a known one. Hidden: exists, version, complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from impl.decisions.names import MASTER_ID
from impl.events import BrokerRegistered
from impl.namesrv.route_info_manager import RouteInfoManager
from invariants.finding import Finding
from invariants.refinement.elements import Followed, Pool, Sized, judged
from invariants.refinement.monitor import Step
from model.language.scope import Scope
from model.route_info import TopicRoutes

VISIBLE = ("known", "stored", "routed")
PROPERTIES = judged(tuple(TopicRoutes.concept.properties.values()))
CHANGE = None
"""What stands in the pool of topics for a change that created none."""


@lru_cache(maxsize=16)
def _sized(topics: int) -> Sized:
    return Sized(Scope(TopicRoutes, {"Topic": topics, "Version": 2 * topics}, {}))


class Entries(NamedTuple):
    """brokerLiveTable and the master's place of one broker name.

    versions -- address to its data version. master -- the address that has the id 0.
    """

    versions: dict[str, tuple[int, int]]
    master: str | None


NO_ENTRIES = Entries({}, None)


class TopicsOfName:
    """See the module.

    master -- the address that is followed. stored -- the version that it registered last. exist -- names of what
    exists in the model. last -- address to the topics that it registered last.
    """

    def __init__(self, name: str) -> None:
        """Nothing is routed."""
        self.name = name
        self.master: str | None = None
        self.stored: tuple[int, int] | None = None
        self.exist: set[str] = set()
        self.last: dict[str, frozenset[str]] = {}
        self.topics = Pool(16)
        self.topics.given[CHANGE] = 0
        self.followed = Followed(_sized(16), VISIBLE, 0, PROPERTIES)

    def registered(
        self, event: BrokerRegistered, before: Entries, table: RouteInfoManager, others: frozenset[str] | None,
    ) -> list[Finding]:
        """RouteInfoManager#registerBroker.

        before -- what was there before it. table -- what is there now. others -- of an increment: the topics that the
        broker has.
        """
        if event.version is None:
            return []
        addr, last = event.broker_addr, self.last.get(event.broker_addr)
        self.last[addr] = event.topics if others is None else (last or frozenset()) | event.topics
        if event.broker_id != MASTER_ID:
            return self._as_slave(event, event.version, before)
        if addr != self.master:
            compared = before.master == addr or not self._has_all(event.topics, table)
            self._follow(addr, before, last or frozenset(), compared=compared)
        fresh = not self._get("known") or self.stored != event.version
        if others is None:
            self._forget_unlisted(event.topics, table)
        steps = self._full(event, fresh=fresh) if others is None else self._increment(event, others, fresh=fresh)
        findings = self.followed.take(event, [steps]) if steps else []
        if steps:
            self.stored = event.version
        self._number_anew()
        return findings

    def _forget_unlisted(self, listed: frozenset[str], table: RouteInfoManager) -> None:
        """Topics that were routed, are not listed, and have no entry any more."""
        given = self.topics.given.items()
        routed = [topic for topic, number in given if isinstance(topic, str) and self._get("routed", number)]
        gone = [topic for topic in routed if topic not in listed and not self._has_all(frozenset({topic}), table)]
        self._write(0, [("routed", self._topic(topic)) for topic in sorted(gone)])

    def _as_slave(self, event: BrokerRegistered, version: tuple[int, int], before: Entries) -> list[Finding]:
        if event.broker_addr != self.master:
            return []
        self.stored = version
        findings = self.followed.take(event, [[("register_as_slave", ())]])
        if before.master in {None, event.broker_addr}:  # which leaves the id 0 now
            self.unknown()
        self._number_anew()
        return findings

    def _full(self, event: BrokerRegistered, *, fresh: bool) -> list[Step]:
        gone, new = self.exist - event.topics, sorted(event.topics - self.exist) if fresh else []
        self._write(0, [("exists", self._topic(topic)) for topic in sorted(gone)])
        self.exist -= gone
        steps = [self._create(topic) for topic in new]
        if fresh and not new:
            steps = [("create", (0,))]
        return [*steps, ("register_all", ())]

    def _increment(self, event: BrokerRegistered, others: frozenset[str], *, fresh: bool) -> list[Step]:
        if not fresh:
            return []
        steps = [self._create(topic) for topic in sorted(others - self.exist - event.topics)]
        for topic in sorted(event.topics):
            self._write(0, [("exists", self._topic(topic))])
            self.exist.add(topic)
            steps.append(("create_by_admin", (self._topic(topic),)))
        return steps

    def _create(self, topic: str) -> Step:
        self.exist.add(topic)
        return "create", (self._topic(topic),)

    def _has_all(self, topics: frozenset[str], table: RouteInfoManager) -> bool:
        """Whether the name has entries for all these topics."""
        return all(any(data.broker_name == self.name for data in table.topic_queue_table.get(topic) or ())
                   for topic in topics)

    def _follow(self, addr: str, before: Entries, topics: frozenset[str], *, compared: bool) -> None:
        """Another address is the master: what the name server knows is its entry, what exists is what it has told.

        compared -- whether what it registers is compared with that entry although the id was another's.
        """
        self.master, self.stored, self.exist = addr, before.versions.get(addr), set(topics)
        numbers = {self._topic(topic) for topic in topics}
        known = int(self.stored is not None and before.master is not None and compared)
        reading = self.followed.reading

        def followed(state: int) -> int:
            for number in range(1, self.topics.size):
                state = reading.put(state, int(number in numbers), "exists", number)
            for name, value in (("known", known), ("complete", 0), ("version", 1), ("stored", 1)):
                state = reading.put(state, value, name)
            return state

        self.followed.rewrite(followed)

    def ended(self, event: Any) -> list[Finding]:
        """The name has no address any more."""
        if self._get("known") or any(self._get("routed", t) for t in range(self.topics.size)):
            return self.followed.take(event, [[("restart_name_server", ())]])
        return []

    def unknown(self) -> None:
        """The next registration will be compared with nothing: the master's entry has gone, or its id is free."""
        self._write(0, [("known",), ("complete",)])

    def deleted(self, topic: str) -> None:
        """RouteInfoManager#deleteTopic."""
        if self.topics.get(topic) is not None:
            number = self._topic(topic)
            self._write(0, [("exists", number), ("routed", number)])
            self.exist.discard(topic)

    def compare(self, table: RouteInfoManager, entries: Entries) -> list[Finding]:
        """Compare with the tables."""
        name, given = self.name, self.topics.given
        topics = [topic for topic, queue_datas in table.topic_queue_table.entries()
                  for data in queue_datas if data.broker_name == name]
        numbers = [given[topic] if topic in given else self._topic(topic) for topic in topics]
        self.topics.settle()
        reading, version = self.followed.reading, entries.versions.get(str(self.master))
        looked = (reading.whole("routed") | reading.whole("known")) & ~reading.whole("routed", 0)
        seen = 0
        for number in numbers:
            seen |= reading.whole("routed", number)
        if version is not None and entries.master is not None:
            stored = self._get("stored")
            seen = reading.put(seen, 1, "known")
            seen = reading.put(seen, stored if version == self.stored else stored + 1, "stored")
            looked |= reading.whole("stored")
        findings = self.followed.compare(seen, looked)
        if findings:
            self.stored = version
        return findings

    # Elements ---------------------------------------------------------------------------------------------------------

    def _get(self, *cell: str | int) -> int:
        return self.followed.reading.get(self.followed.states[0], *cell)

    def _write(self, value: int, cells: Sequence[tuple[str | int, ...]]) -> None:
        def written(state: int) -> int:
            for cell in cells:
                state = self.followed.reading.put(state, value, *cell)
            return state

        if cells:
            self.followed.rewrite(written)

    def _topic(self, name: str) -> int:
        def needed(number: int) -> bool:
            there = self._get("exists", number) or self._get("routed", number)
            return number == 0 or bool(there) or any(self.topics.get(topic) == number for topic in self.exist)

        known = name in self.topics.given
        number = self.topics.give(name, needed, lambda _: None)
        if not known and self.topics.size != self.followed.reading.ground.scope.sizes["Topic"]:
            self.followed.move(_sized(self.topics.size))
        return number

    def _number_anew(self) -> None:
        """The broker's version is 1, the stored one 1 if it is equal, else 0; a change that created nothing is over."""
        reading = self.followed.reading

        def renumbered(state: int) -> int:
            same = reading.get(state, "version") == reading.get(state, "stored")
            state = reading.put(reading.put(state, 1, "version"), int(same), "stored")
            return reading.put(reading.put(state, 0, "exists", 0), 0, "routed", 0)

        self.followed.rewrite(renumbered)


def entries_of(name: str, table: RouteInfoManager) -> Entries:
    """Read them."""
    data = table.broker_addr_table.get(name)
    versions = {addr: (info.data_version.timestamp, info.data_version.counter)
                for addr, info in table.broker_live_table.entries()}
    return Entries(versions, None if data is None else data.broker_addrs.get(MASTER_ID))
