"""What follows from an operator's order elsewhere than in the table that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from impl import events
from impl.decisions.flags import PERM_WRITE
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.excuse import cause
from invariants.rules.match import Match
from invariants.rules.orders import ILLEGAL, ORDER_TOPIC_CONFIG, TOPIC, Orders, is_to_go
from invariants.rules.rule import Kept, Rule, Told, on


class illegal_orders_are_refused(Rule):
    """No server says SUCCESS to what none may do: to change a reserved topic, an illegal name, an illegal message."""

    cite = ("AdminBrokerProcessor#updateAndCreateTopic, TopicValidator#validateTopic, #isSystemTopic, "
            "AbstractSendMessageProcessor#msgCheck, DefaultRequestProcessor#putKVConfig")
    about = "server name"

    @on(events.OrderDone)
    def done(self, _: int, __: str, event: events.OrderDone) -> Iterator[Told]:
        if event.kind == ILLEGAL:
            yield self.told(f"{event.server} does so with {event.name}", event.server, event.name)


class deleted_topic_takes_its_messages(Orders):
    """A broker that has deleted a topic, and was sent nothing since, has no queue of it."""

    cite = "AdminBrokerProcessor#deleteTopic, DefaultMessageStore#cleanUnusedTopic"
    about = "server name"

    appended_ms = Kept("at topic", begins=(events.MessageAppended,))

    def counts(self, ms: int, event: events.OrderDone) -> Iterator[Told]:
        """See Orders."""
        if event.kind != TOPIC or event.wanted is not None or event.name in self.views.topics(event.server):
            return
        left = [queue_id for topic, queue_id in self.views.queue_units(event.server) if topic == event.name]
        if left and self.appended_ms.get((event.server, event.name), -inf) < self.given_ms.get(event[:3], ms):
            yield self.told(f"{event.server} has queue {min(left)} of {event.name}", event.server, event.name)


class other_topics_keep_their_queues(Rule):
    """A broker that deletes a topic keeps the queues of all others.

    It speaks of those to which the broker has put messages since somebody has told it last to delete their topic.
    """

    shipped = "violated: V41 the queues of all topics go that the broker does not know"
    cite = "AdminBrokerProcessor#deleteTopic, DefaultMessageStore#cleanUnusedTopic"
    about = "at topic"
    excuses = (cause("V41", "the broker does not know the topic", when=lambda rule, told: (
        told.about[1] not in rule.views.topics(told.about[0]))),)

    @on(events.QueuesDeleted)
    def deletes(self, _: int, at: str, event: events.QueuesDeleted) -> Iterator[Told]:
        put = self.past.last(events.MessageAppended, at=at, topic=event.topic)
        if put is not None and not is_to_go(self.past, at, event.topic, put.place):
            yield self.told(f"{at} deletes its queues of {event.topic}, which was not to be deleted", at, event.topic,
                            since_ms=put.ms)


class made_topic_is_announced(Rule):
    """An operator who has made or changed a topic finds that the broker has sent it to its name servers."""

    cite = "AdminBrokerProcessor#updateAndCreateTopic: registerIncrementBrokerData"
    about = "server name"

    # When orders about a topic were given that were not done yet: an answer is that to the first, or a later one.
    given = Kept("server name", machine="server")
    announced = Kept("broker", machine="broker")

    @on(events.OrderGiven)
    def is_given(self, ms: int, _: str, event: events.OrderGiven) -> None:
        if event.kind == TOPIC:
            self.given.setdefault((event.server, event.name), []).append(ms)

    @on(events.RegistrationEncoded)
    def announces(self, ms: int, _: str, event: events.RegistrationEncoded) -> None:
        self.announced.setdefault((event.broker,), {}).update(dict.fromkeys(event.topics, ms))

    @on(events.OrderDone)
    def done(self, _: int, __: str, event: events.OrderDone) -> Iterator[Told]:
        waiting = self.given.get((event.server, event.name)) if event.kind == TOPIC else None
        given_ms = waiting.pop(0) if waiting else None
        lately_ms = self.announced.get((event.server,), {}).get(event.name, -inf)
        if event.wanted and given_ms is not None and lately_ms < given_ms:
            yield self.told(f"{event.server} has not announced {event.name}", event.server, event.name)


class ordered_topics_are_those_of_name_servers(Rule):
    """Of the topics of a master those are ordered whose order all name servers know, as soon as it has registered.

    A name server that starts with an empty list has none: whoever registers there keeps what it has.
    """

    cite = "TopicConfigManager#updateOrderTopicConfig, DefaultRequestProcessor#registerBroker"
    about = "at topic"
    calm = True

    # When anything happened last of which a broker hears with its next registration; and brokers that may not register.
    changed_ms = Kept("what", survives="all")
    unforced = Kept("at", begins=(Match(
        events.BrokerStarted, having=lambda event: "forceRegister = false" in event.settings),))
    _looked_ms = -inf

    @on(events.KVConfigPut, events.KVConfigLoaded, events.BrokerStarted, events.TopicConfigUpdated)
    def changes(self, ms: int, _: str, __: object) -> None:
        self.changed_ms["lists",] = ms

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Rule."""
        settled = now_ms - self.changed_ms.get(("lists",), now_ms) > heard(self.bounds)
        if settled and now_ms - self._looked_ms >= deadlines.SCAN_MS:
            self._looked_ms = now_ms
            yield from self._wrong()

    def _wrong(self) -> Iterator[Told]:
        prefix = f"{ORDER_TOPIC_CONFIG} "
        lists = [{key.removeprefix(prefix) for key in self.views.key_values(namesrv) if key.startswith(prefix)}
                 for namesrv in self.views.namesrvs()]
        if not lists or not lists[0] or any(one != lists[0] for one in lists):
            return
        for broker in self.views.brokers():
            if broker.broker_id != MASTER_ID or (broker.machine,) in self.unforced:
                continue
            ordered = set(self.views.ordered_topics(broker.machine))
            for topic in sorted(ordered ^ lists[0] & {*self.views.topics(broker.machine)}):
                how = "is not" if topic in lists[0] else "is"
                yield self.told(f"{topic} {how} ordered at {broker.machine}", broker.machine, topic)


class closed_topics_get_no_messages(Rule):
    """A producer chooses no queue of a topic that all name servers have said for some time that nobody may write there.

    It polls routes every 30 s. Where the order of the queues is configured it takes them as they are.
    """

    cite = "MQClientInstance#topicRouteData2TopicPublishInfo"
    about = "at broker_name topic"
    calm = True

    # Since when no name server lets a topic be written at a broker, and no operator has opened it.
    closed_ms = Kept("broker_name topic", survives="all", ends=(Match(
        events.OrderGiven, of="topic=name", having=lambda one: one.kind == TOPIC and _opens(one.wanted)),))
    _looked_ms = -inf

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Rule; what is closed is looked at each time."""
        if self.closed_ms or now_ms - self._looked_ms >= deadlines.SCAN_MS:
            self._looked_ms = now_ms
            closed = self._closed_everywhere()
            self.closed_ms.drop(lambda key: key not in closed)
            for key in closed:
                self.closed_ms.setdefault(key, now_ms)
        return iter(())

    def _closed_everywhere(self) -> set[tuple[str, str]]:
        return set.intersection(*map(self._closed, self.views.namesrvs()), self._closed_anywhere())

    def _closed_anywhere(self) -> set[tuple[str, str]]:
        return {key for namesrv in self.views.namesrvs() for key in self._closed(namesrv)}

    def _closed(self, namesrv: str) -> set[tuple[str, str]]:
        """Broker names and topics that it lets nobody write."""
        ordered = {key for key in self.views.key_values(namesrv) if key.startswith(ORDER_TOPIC_CONFIG)}
        return {(data.broker_name, topic) for topic, datas in self.views.queue_datas(namesrv).items()
                for data in datas if not data.perm & PERM_WRITE and f"{ORDER_TOPIC_CONFIG} {topic}" not in ordered}

    @on(events.SendAttempted)
    def attempts(self, ms: int, at: str, event: events.SendAttempted) -> Iterator[Told]:
        key = event.mq.broker_name, event.mq.topic
        closed_ms = self.closed_ms.get(key)
        is_late = event.listed and closed_ms is not None and ms - closed_ms > polled(self.bounds)
        if closed_ms is not None and is_late and key in self._closed_everywhere():
            yield self.told(f"{at} sends to {event.mq.topic} at {key[0]}, {ms - closed_ms} ms after it was closed", at,
                            *key)


def _opens(wanted: tuple[int | str | bool, ...] | None) -> bool:
    """Whether a topic that is to be so may be written; None: it is to go."""
    return wanted is not None and bool(int(wanted[2]) & PERM_WRITE)


polled = deadlines.takes(deadlines.ROUTE_MS + 2 * deadlines.TIMERS * deadlines.CALL_MS)
"""A client has asked for its routes again, when the one thread of its timers was free."""
heard = deadlines.takes(deadlines.REGISTRATION_MS + 2 * deadlines.REGISTRATION_CALL_MS)
"""A broker has registered again, and was told what there is."""
