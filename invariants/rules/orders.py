"""What operators order: a server that answers SUCCESS has done it, and keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from impl import events
from impl.decisions.flags import PERM_READ, PERM_WRITE, clear_flag
from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import QueueData
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.past import Past
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.views import Views

TOPIC, GROUP, KEY_VALUE, PERMISSION, ROUTE = "topic", "group", "key value", "permission", "route"
OFFSET, ILLEGAL = "offset", "illegal"
ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"  # NamesrvUtil.NAMESPACE_ORDER_TOPIC_CONFIG
ROUTES = {PERMISSION, ROUTE}
"""Orders about what a name server has been told by brokers, which the next one of these may undo."""


class Orders(Rule):
    """What is common: an order counts if no other one about the same may be on its way when it is answered.

    Orders that are not answered may be done at any time, and what was sent before may come twice.
    """

    about = "server kind name"

    # How many orders about something are not answered yet, when the last one was given, and whether there may have
    # been several at a time.
    pending, given_ms, overlap = (Kept("server kind name", survives="all") for _ in range(3))

    @on(events.OrderGiven)
    def given(self, ms: int, _: str, event: events.OrderGiven) -> None:
        key = event[:3]
        self.pending[key] = self.pending.get(key, 0) + 1
        last_ms, self.given_ms[key] = self.given_ms.get(key, -inf), ms
        if self.pending[key] > 1 or ms - last_ms < deadlines.handled(self.bounds):
            self.overlap[key] = ms

    @on(events.OrderDone)
    def done(self, ms: int, _: str, event: events.OrderDone) -> Iterator[Told]:
        key = event[:3]
        self.pending[key] = self.pending.get(key, 1) - 1
        if not self.pending[key] and self.overlap.pop(key, None) is None:
            yield from self.counts(ms, event)

    def counts(self, ms: int, event: events.OrderDone) -> Iterator[Told]:
        """An order was answered that counts."""
        raise NotImplementedError


class orders_are_kept(Orders):
    """What an operator has told a server of a topic, a group, an offset or a key, and was answered, is so from then on.

    A master has it again when its process has ended and starts, but for offsets, which are written now and then; of a
    name server `key_values_survive` says so.
    """

    shipped = "violated: B-21 of two first commits one is lost"
    cite = ("AdminBrokerProcessor#updateAndCreateTopic, #deleteTopic, #updateAndCreateSubscriptionGroup, "
            "#deleteSubscriptionGroup, ConsumerManageProcessor#updateConsumerOffset, KVConfigManager#putKVConfig, "
            "#deleteKVConfig")
    excuses = (Excuse("there was no room on the disk for the file when this, or an earlier order about it, was done",
                      when=lambda rule, told: rule.had_no_room(told.about, told.since_ms)),)

    # How things are to be at brokers, which have files of them, and what is in memory alone; and since when.
    configured = Kept("server kind name", survives="kill", machine="server")
    remembered = Kept("server kind name", machine="server")
    first_ms = Kept("server kind name", survives="all")
    running = Kept("at", begins=(events.BrokerStarted,))
    _looked_ms = -inf

    def had_no_room(self, key: tuple[str, str, str], since_ms: int) -> bool:
        """Whether the disk was full: who is told to delete what is not in the table does not write the file again."""
        first_ms = self.first_ms[key] - deadlines.in_file(self.bounds)
        return self.facts.had_no_room(key[0], first_ms, since_ms)

    @on(events.OrderGiven)
    def doubted(self, ms: int, _: str, event: events.OrderGiven) -> None:
        self.first_ms.setdefault(event[:3], ms)
        self.configured.pop(event[:3], None)
        self.remembered.pop(event[:3], None)

    @on(events.TopicConfigUpdated)
    def made_anew(self, _: int, at: str, event: events.TopicConfigUpdated) -> None:
        """By somebody who sends to it; what a broker reads when it starts is what it has kept."""
        if (at,) in self.running:
            self.configured.pop((at, TOPIC, event.topic), None)

    def counts(self, ms: int, event: events.OrderDone) -> Iterator[Told]:
        """See Orders."""
        if event.kind not in {*ROUTES, ILLEGAL}:
            table = self.remembered if event.kind in {KEY_VALUE, OFFSET} else self.configured
            table[event[:3]] = event.wanted, ms
            yield from self._wrong()

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Rule."""
        if now_ms - self._looked_ms >= deadlines.SCAN_MS:
            self._looked_ms = now_ms
            yield from self._wrong()

    def _wrong(self) -> Iterator[Told]:
        for table in (self.configured, self.remembered):
            for key, (wanted, since_ms) in [*table.items()]:
                if self._runs(key[0]):
                    found = how_it_is(self.views, *key)
                    if found != wanted:
                        del table[key]
                        yield self.told(f"{key[0]} has {_said(found)} for the {key[1]} {key[2]}, which was to be "
                                        f"{_said(wanted)}", *key, since_ms=since_ms)

    def _runs(self, server: str) -> bool:
        """Whether the tables of the server are there; a slave has those of its master."""
        broker = self.views.broker(server)
        is_master = broker is not None and broker.broker_id == MASTER_ID and (server,) in self.running
        return is_master or server in self.views.namesrvs()


class orders_change_nothing_else(Orders):
    """What an operator tells a name server of routes changes what he has named, and nothing else.

    Looked at with the answer, where no broker has registered or gone, and nothing else was done, meanwhile.
    """

    cite = "RouteInfoManager#wipeWritePermOfBrokerByLock, #addWritePermOfBrokerByLock, #deleteTopic"

    # What a name server routed when an order was given, and how it reports that order.
    routed = Kept("server", machine="server")

    @on(events.OrderGiven)
    def sees(self, _: int, __: str, event: events.OrderGiven) -> None:
        self.routed.pop((event.server,), None)
        if event.kind in ROUTES:
            self.routed[event.server,] = self.views.queue_datas(event.server), _reported(event)

    @on(events.BrokerRegistered, events.BrokerUnregistered, events.BrokerDropped, events.WritePermWiped,
        events.WritePermAdded, events.TopicDeleted)
    def changes(self, _: int, at: str, event: Any) -> None:
        if (at,) in self.routed and (event.__class__, event) != self.routed[at,][1]:
            del self.routed[at,]

    def counts(self, ms: int, event: events.OrderDone) -> Iterator[Told]:
        """See Orders."""
        del ms
        before, _ = self.routed.pop((event.server,), (None, None))
        if event.kind not in ROUTES or before is None:
            return
        now, right = self.views.queue_datas(event.server), as_ordered(before, event)
        for topic in sorted({*now, *right}):
            if now.get(topic) != right.get(topic):
                yield self.told(f"{event.server} routes {topic} to {_said(now.get(topic))} and not to "
                                f"{_said(right.get(topic))}", *event[:3])
                return


def _reported(order: events.OrderGiven) -> tuple[type, Any]:
    """What a name server reports when it has done an order about routes, and of which class that is."""
    permission = events.WritePermAdded if order.wanted == (True,) else events.WritePermWiped
    kind: type = events.TopicDeleted if order.kind == ROUTE else permission
    return kind, kind(order.server, order.name)


def is_to_go(past: Past, broker: str, topic: str, since: int) -> bool:
    """Whether a broker was told to delete a topic, or has deleted it; since -- from this place of the past on."""
    told = past.of(events.OrderGiven, since=since, server=broker, kind=TOPIC, name=topic)
    return any(one.event.wanted is None for one in told) or bool(
        past.of(events.TopicConfigDeleted, since=since, at=broker, topic=topic))


def queue_of(name: str) -> tuple[str, str, int]:
    """Group, topic and queue id of the name of an offset."""
    group, topic, queue_id = name.split()
    return group, topic, int(queue_id)


def how_it_is(views: Views, server: str, kind: str, name: str) -> tuple[Any, ...] | None:
    """What the tables of a server have of something, as orders say it; None: nothing."""
    if kind == TOPIC:
        data = views.topics(server).get(name)
        return None if data is None else tuple(data[1:])
    if kind == GROUP:
        return views.group_config(server, name)
    if kind == OFFSET:
        group, topic, queue_id = queue_of(name)
        offset = (views.committed_of(server, group, topic) or {}).get(queue_id)
        return None if offset is None else (offset,)
    values = views.key_values(server)
    return (values[name],) if name in values else None


def as_ordered(
    before: Mapping[str, tuple[QueueData, ...]], order: events.OrderDone,
) -> dict[str, tuple[QueueData, ...]]:
    """The routes of a name server that has done an order."""
    if order.kind == ROUTE:
        return {topic: datas for topic, datas in before.items() if topic != order.name}

    def permitted(data: QueueData) -> QueueData:
        perm = PERM_READ | PERM_WRITE if order.wanted == (True,) else clear_flag(data.perm, PERM_WRITE)
        return data._replace(perm=perm) if data.broker_name == order.name else data

    return {topic: tuple(map(permitted, datas)) for topic, datas in before.items()}


def _said(value: tuple[Any, ...] | None) -> str:
    return "nothing" if value is None else f"({', '.join(map(str, value))})"
