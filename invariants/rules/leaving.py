"""How consumers leave, and how brokers know that groups consume: what clients say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.facts import is_suspended, queue_text
from invariants.rules.match import Match
from invariants.rules.membership import known_when_it_stops
from invariants.rules.rule import Duty, Kept, Promise, Rule, Told, on
from invariants.rules.weather import ended_or_stood_still

_HEARTBEATS = "sendHeartbeatToAllBroker"
"""MQClientInstance#startScheduledTask: the timer that tells brokers of a client."""


class leaver_has_committed(Rule):
    """When a broker hears the goodbye of a member, the member has committed what it had settled before it left.

    It does not speak of queues whose broker the member cannot address.
    """

    cite = "DefaultMQPushConsumerImpl#shutdown: persistConsumerOffset, unregisterConsumer"
    about = "at group mq"
    calm = True

    # The offsets in memory, those that were sent last, and the first ones when the shutdown began.
    remembered, sent = (
        Kept("at client_id group mq", begins=(kind,), value=lambda _, event: event.offset,
             ends=(events.QueueTaken, events.QueueDropped, events.OffsetReset, events.OffsetCorrected))
        for kind in (events.OffsetUpdated, events.OffsetSent))
    left = Kept("at client_id group")

    @on(events.ConsumerStopping)
    def stops(self, _: int, at: str, event: events.ConsumerStopping) -> None:
        who = at, event.client_id, event.group
        if self.facts.clusters(at, event.group):
            self.left[who] = {key[3]: offset for key, offset in self.remembered.items() if key[:3] == who}

    @on(events.GoodbyeTaken)
    def is_heard(self, _: int, __: str, event: events.GoodbyeTaken) -> Iterator[Told]:
        for who in [who for who in self.left if who[1:] == (event.client_id, event.group)]:
            for mq, offset in self.left.pop(who).items():
                if self.sent.get((*who, mq), -1) < offset and self._is_known(who, mq):
                    yield self.told(f"{who[0]} says goodbye, and has not committed {offset} of {queue_text(mq)}",
                                    who[0], event.group, mq)

    def _is_known(self, who: tuple[Any, ...], mq: MessageQueue) -> bool:
        return (mq.broker_name, MASTER_ID) in self.views.known_addresses(who[0], who[1])


class goodbye_reaches_all_brokers(Rule):
    """Who leaves says goodbye to each broker that it knows, master or slave, and that lists it.

    A broker that has started since lists it no more.
    """

    cite = "MQClientInstance#unregisterClient"
    about = "at group broker"
    calm = True

    # Whom a member knew when it began to leave; which brokers have heard it since; and which cannot hear it any more.
    known = Kept("at client_id group")
    heard = Kept("client_id group broker", survives="all", begins=(events.GoodbyeTaken,))
    stopping = Kept("at", begins=(events.BrokerStopping,), ends=(events.BrokerStarted,))

    def _running(self) -> dict[str, str]:
        """The address of each broker that runs and does not stop, and its machine."""
        return {one.broker_addr: one.machine for one in self.views.brokers() if (one.machine,) not in self.stopping}

    @on(events.ConsumerStopping, events.PollerStopping)
    def begins(self, _: int, at: str, event: events.ConsumerStopping | events.PollerStopping) -> None:
        running, addresses = self._running(), known_when_it_stops(self.views, at, event)
        self.known[at, event.client_id, event.group] = {
            running[one] for one in addresses if one in running
            and event.client_id in self.views.listed(running[one], event.group)}
        self.heard.drop(lambda key: key[:2] == (event.client_id, event.group))

    @on(events.BrokerStarted)
    def starts(self, _: int, at: str, __: events.BrokerStarted) -> None:
        for known in self.known.values():
            known.discard(at)

    @on(events.ConsumerShutDown, events.PollerShutDown)
    def ends(self, _: int, at: str, event: events.ConsumerShutDown | events.PollerShutDown) -> Iterator[Told]:
        left = self.known.pop((at, event.client_id, event.group), set())
        for broker in sorted(left & {*self._running().values()}):
            if (event.client_id, event.group, broker) not in self.heard:
                yield self.told(f"{at} has left {event.group}, and not said so to {broker}", at, event.group, broker)


class heartbeats_reach_all_brokers(Duty):
    """A round of heartbeats reaches each broker that its client knows, whatever becomes of the others.

    Where another round is under way, that one does, or has done so: a timer that returns at once has found one. Who is
    told of a route without the broker forgets its address.
    """

    cite = "MQClientInstance#sendHeartbeatToAllBroker, #cleanOfflineBroker"
    about = "at client_id broker"
    within_ms = deadlines.told_at_once
    paid_by = (Match(events.ConsumerRegistered, events.HeartbeatRefused, of="client_id broker"),)
    calm = True
    excuses = (ended_or_stood_still("broker", deadlines.waited),
               Excuse("the broker shuts down", by=Match(events.BrokerStopping, of="broker")),
               Excuse("the client leaves", by=Match(events.ConsumerStopping, of="at client_id"), lasts=FOR_EVER))
    late = "{at} has not spoken to {broker} for {waited_ms} ms, although it has a round"

    # Which brokers run, and do not stop, and since when.
    running = Kept("at", begins=(events.BrokerStarted,), ends=(events.BrokerStopping,))
    # When a client was last heard at a broker; when the timer began last, and the time before.
    heard = Kept("client_id broker", survives="all", begins=(events.ConsumerRegistered,))
    timer = Kept("at client_id")

    @on(events.TimerJobBegan)
    def begins(self, ms: int, at: str, event: events.TimerJobBegan) -> None:
        if event.job == _HEARTBEATS:
            self.timer[at, event.client_id] = ms, self.timer.get((at, event.client_id), (-inf,))[0]
            addresses = {*self.views.known_addresses(at, event.client_id).values()}
            for broker in self.views.brokers():
                if broker.broker_addr in addresses and (broker.machine,) in self.running:
                    self.owe((at, event.client_id, broker.machine), ms, broker.broker_addr)

    @on(events.TimerJobEnded)
    def returns(self, ms: int, at: str, event: events.TimerJobEnded) -> None:
        began_ms, before_ms = self.timer.get((at, event.client_id), (-inf, -inf))
        if event.job == _HEARTBEATS and began_ms == ms:
            for key in [key for key in self.owed if key[:2] == (at, event.client_id)]:
                if key[1:] in self.heard and self.heard[key[1:]] >= before_ms:
                    self.pay(key)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        is_known = what in self.views.known_addresses(*key[:2]).values()
        return super().broken(key, what, waited_ms) if is_known else None


class clients_know_the_addresses_of_routes(Promise):
    """The addresses that a client has of a broker are those that all name servers have of it."""

    cite = "MQClientInstance#updateTopicRouteInfoFromNameServer: brokerAddrTable.put"
    about = "at broker_name"
    within_ms = deadlines.forgotten

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        routed = [self.views.addresses(namesrv) for namesrv in self.views.namesrvs()]
        for at in dict.fromkeys(one.machine for one in self.views.consumers()):
            known = self.views.known_addresses(at)
            for name in sorted({name for name, _ in known}):
                mine, *theirs = (_of_broker(addresses, name) for addresses in (known, *routed))
                if theirs and all(one == theirs[0] for one in theirs) and theirs[0] and mine != theirs[0]:
                    yield self.told(f"{at} knows {name} at {_texts(mine)}, and name servers at {_texts(theirs[0])}",
                                    at, name)


def _of_broker(addresses: dict[tuple[str, int], str], name: str) -> dict[int, str]:
    return {broker_id: addr for (one, broker_id), addr in addresses.items() if one == name}


def _texts(addresses: dict[int, str]) -> str:
    return ", ".join(f"{addr} ({broker_id})" for broker_id, addr in sorted(addresses.items()))


class brokers_know_how_groups_consume(Promise):
    """A broker knows of a group what its members say: who pulls, which model, and where it begins."""

    cite = "MQClientInstance#prepareHeartbeatData, ConsumerGroupInfo#updateChannel"
    about = "at group"
    within_ms = deadlines.all_listed

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        members: dict[str, set[tuple[str, str]]] = {}
        for one in self.views.in_service():
            where = self.views.consume_from(one.machine, one.group)
            if where is not None:
                members.setdefault(one.group, set()).add((one.message_model, str(where[0])))
        for broker in self.views.brokers():
            for group, models in sorted(members.items()):
                known = self.views.consumes(broker.machine, group)
                if known is not None and known[1:] not in models:
                    yield self.told(f"{broker.machine} knows {group} as {' '.join(known)}", broker.machine, group)


class suspended_members_take_nothing(Rule):
    """A consumer that its application has suspended takes no queue until it is resumed: it does not rebalance."""

    cite = "DefaultMQPushConsumerImpl#suspend, #doRebalance"
    about = "at client_id group"
    calm = True

    suspended_ms = Kept("at client_id group", begins=(events.ConsumerSuspended,))

    @on(events.QueueTaken)
    def taken(self, ms: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        key = at, event.client_id, event.group
        waited_ms = ms - self.suspended_ms.get(key, ms)
        if waited_ms > deadlines.handled(self.bounds) and is_suspended(self.views, *key):
            yield self.told(f"{at} takes {event.mq.text}, {waited_ms} ms after {event.group} was suspended there", *key)


class producer_says_goodbye(Rule):
    """Where nothing fails no broker that runs lists a producer that has stopped."""

    cite = "DefaultMQProducerImpl#shutdown: unregisterProducer, MQClientInstance#unregisterClient"
    about = "at group broker"
    calm = True

    listed = Kept("broker client_id group", machine="broker", begins=(events.ProducerRegistered,),
                  ends=(events.ProducerForgotten, Match(events.BrokerStopping, of="broker")))

    @on(events.ProducerShutDown)
    def stops(self, _: int, at: str, event: events.ProducerShutDown) -> Iterator[Told]:
        for broker, client_id, group in self.listed:
            if (client_id, group) == (event.client_id, event.group):
                yield self.told(f"{at} has stopped its producer in {group}, and {broker} lists it", at, group, broker)
