"""What a broker keeps for groups: configuration, retry topics, compiled expressions, and producers."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID, get_retry_topic
from impl.decisions.subscription import is_tag_type
from impl.events import (
    BrokerStarted,
    ClientChannelClosed,
    ClockJumped,
    ConsumerRegistered,
    HeartbeatRefused,
    ProducerForgotten,
    ProducerRegistered,
    RouteAnswered,
)
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Promise, Rule, Told, after, on


class group_survives_its_broker(Rule):
    """A broker whose process ends has its subscription groups again when it starts, also those that it has copied.

    The thread that makes a group for a heartbeat, or copies what a master has, writes the file before it goes on. Who
    loses power may lose the file.
    """

    cite = ("SubscriptionGroupManager#findSubscriptionGroupConfig: persist, "
            "SlaveSynchronize#syncSubscriptionGroupConfig, ConfigManager#load")
    about = "at group first_ms"
    excuses = (Excuse("the group is deleted, perhaps while a heartbeat is handled that has made it before",
                      by=events.SubscriptionGroupDeleted, lasts=deadlines.handled),
               Excuse("there was no room on its disk for the file when the group was made, or copied",
                      when=lambda rule, told: rule.had_no_room(*told.about)),
               Excuse("a master has the group so, or had when it started, and the slave may have copied that",
                      when=lambda rule, told: rule.may_have_copied(*told.about[:2])))

    # When the last heartbeat of each group had been handled, and the first one that the process has heard; what a slave
    # has of each group, and since when; and brokers that have started: before that a broker reads its file. And
    # what masters had of these groups when they started: a slave looks every 10 s.
    heard_ms, first_ms, copied = (Kept("at group", survives="kill") for _ in range(3))
    offered = Kept("broker_name group config", survives="all")
    running = Kept("at", begins=(events.BrokerStarted,))

    def had_no_room(self, at: str, _group: str, first_ms: int) -> bool:
        """Whether the disk was full when the file was to be written that has the group."""
        since_ms = first_ms - deadlines.REGISTRATION_MS - deadlines.handled(self.bounds)
        return self.facts.had_no_room(at, since_ms, first_ms)

    def may_have_copied(self, at: str, group: str) -> bool:
        """Whether it was a slave, and a master has of the group, or had when it started, what the slave has."""
        name, has = self.facts.broker_name(at), self.views.group_config(at, group)
        return not self.facts.is_master(at) and ((name, group, has) in self.offered or any(
            self.views.group_config(one.machine, group) == has for one in self.views.brokers()
            if (one.broker_name, one.broker_id) == (name, MASTER_ID)))

    @on(events.RegistrationEncoded, events.BrokerStopping)
    def has(self, ms: int, at: str, event: events.RegistrationEncoded | events.BrokerStopping) -> None:
        """What a slave has it has copied, or made as masters do."""
        del event
        if self.facts.is_master(at) or (at,) not in self.running:
            return
        found = {(at, group): self.views.group_config(at, group) for group in self.views.subscription_groups(at)}
        self.copied.drop(lambda key: key[0] == at and key not in found)
        for key, config in found.items():
            if self.copied.get(key, (None, ms))[0] != config:
                self.copied[key] = config, ms

    @on(events.HeartbeatHandled)
    def handled(self, ms: int, at: str, event: events.HeartbeatHandled) -> None:
        if self.facts.is_master(at):
            self.heard_ms[at, event.group] = ms
            self.first_ms.setdefault((at, event.group), ms)

    @on(events.BrokerStarted)
    def started(self, _: int, at: str, event: events.BrokerStarted) -> Iterator[Told]:
        found = self.views.subscription_groups(at)
        missing = {key: ms for key, ms in self.heard_ms.items() if key[0] == at and key[1] not in found}
        self.heard_ms.drop(lambda key: key[0] == at)
        for key, since_ms in missing.items() if event.broker_id == MASTER_ID else ():
            yield self.told(f"{at} starts without the subscription group {key[1]}", *key, self.first_ms[key],
                            since_ms=since_ms)
        self.first_ms.drop(lambda key: key[0] == at)
        for slave, group in self.copied if event.broker_id == MASTER_ID else ():
            if slave != at:
                self.offered[event.broker_name, group, self.views.group_config(at, group)] = True
        for key, (config, since_ms) in [one for one in self.copied.items() if one[0][0] == at]:
            del self.copied[key]
            if self.views.group_config(*key) != config:
                what = "another configuration of" if key[1] in found else "nothing of"
                yield self.told(f"{at} starts with {what} the subscription group {key[1]}, which it had copied", *key,
                                since_ms)


class filters_survive_their_broker(Rule):
    """A broker that was shut down in order has the compiled expressions of all groups again when it starts."""

    cite = "BrokerController#shutdown, ConsumerFilterManager#persist, #load"
    about = "at topic group"
    excuses = (Excuse("there was no room on its disk for the file when it was shut down", when=lambda rule, told:
                      rule.facts.had_no_room(told.about[0], told.since_ms, told.since_ms)),)

    # When the broker was shut down, and with which version of each expression.
    written = Kept("at topic group", survives="kill")

    @on(events.BrokerShutDown)
    def ends(self, ms: int, at: str, event: events.BrokerShutDown) -> None:
        del event
        for key, version in self.views.compiled(at).items():
            self.written[(at, *key)] = ms, version

    @on(events.BrokerStarted)
    def starts(self, _: int, at: str, event: events.BrokerStarted) -> Iterator[Told]:
        del event
        has = self.views.compiled(at)
        for key, (ms, version) in [one for one in self.written.items() if one[0][0] == at]:
            del self.written[key]
            if has.get(key[1:], -1) < version:
                yield self.told(f"{at} starts without the expression of {key[2]} for {key[1]} that it had when it was "
                                "shut down", *key, since_ms=ms)


class broker_knows_how_a_group_consumes(Rule):
    """A broker has of a group what the member says that it has heard last: how it consumes, and from where.

    Operators are shown that, and are refused, or told other progress, by it.
    """

    cite = "ConsumerGroupInfo#updateChannel, DefaultMQPushConsumerImpl#messageModel, #consumeFromWhere"
    about = "at group client_id"

    @after(events.ConsumerRegistered)
    def registered(self, _: int, at: str, event: events.ConsumerRegistered) -> Iterator[Told]:
        has = self.views.consumed_as(at, event.group) if event.attached else None
        says = self.views.consumes_as(machine_of(event.connection), event.group)
        if has and says and has != says:
            yield self.told(f"{at} has {', '.join(map(str, has))} for {event.client_id}, which says "
                            f"{', '.join(map(str, says))}", at, event.group, event.client_id)


class heartbeat_makes_the_retry_topic(Rule):
    """A master that has entered a member in a group has the group's retry topic."""

    shipped = "violated: B-25 it waits 3 s and goes on without"
    cite = "ClientManageProcessor#heartBeat"
    about = "at group"

    # Groups whose topic was seen, until a topic is deleted at the broker.
    made = Kept("at group", ends=(Match(events.TopicConfigDeleted, of="at"),))

    @on(events.HeartbeatHandled)
    def handled(self, _: int, at: str, event: events.HeartbeatHandled) -> Iterator[Told]:
        key, topic = (at, event.group), get_retry_topic(event.group)
        if key in self.made or not self.facts.is_master(at):
            return
        if topic in self.views.topics(at):
            self.made[key] = True
        else:
            yield self.told(f"{at} has entered a member of {event.group} without {topic}", *key)


class retry_topic_is_as_configured(Rule):
    """The retry topic that a master makes at a heartbeat has as many queues as its group is to have.

    Not so if an operator changes topic or group at that time.
    """

    cite = ("ClientManageProcessor#heartBeat: createTopicInSendMessageBackMethod, "
            "SubscriptionGroupConfig#getRetryQueueNums")
    about = "at group"

    # When a topic was made or changed last, a group deleted, and an order given about either.
    made_ms = Kept("broker topic", survives="all", begins=(events.TopicConfigUpdated,))
    deleted_ms = Kept("broker group", survives="all", begins=(events.SubscriptionGroupDeleted,))
    ordered_ms = Kept("server name", survives="all")

    @on(events.OrderGiven)
    def is_ordered(self, ms: int, _: str, event: events.OrderGiven) -> None:
        self.ordered_ms[event.server, event.name] = ms

    @on(events.RetryTopicAnnounced)
    def announced(self, _: int, at: str, event: events.RetryTopicAnnounced) -> Iterator[Told]:
        topic, nums = get_retry_topic(event.group), self.views.retry_queue_nums(at, event.group)
        data = self.views.topics(at).get(topic)
        if data is None or nums is None or not self.facts.is_master(at) or self._changes(at, event.group, topic):
            return
        if (data.read_queue_nums, data.write_queue_nums) != (nums, nums):
            yield self.told(f"{at} has made {topic} with {data.read_queue_nums} queues to read and "
                            f"{data.write_queue_nums} to write, and {event.group} is to have {nums}", at, event.group)

    def _changes(self, at: str, group: str, topic: str) -> bool:
        """Whether an order about topic or group may have been done since shortly before the topic was made."""
        last_ms = max(self.ordered_ms.get((at, group), -inf), self.ordered_ms.get((at, topic), -inf),
                      self.deleted_ms.get((at, group), -inf))
        return bool(self.made_ms.get((at, topic), inf) - last_ms <= deadlines.handled(self.bounds))


class group_has_its_retry_topic(Promise):
    """After the last fault a master that has members of a group has the group's retry topic."""

    cite = "ClientManageProcessor#heartBeat: createTopicInSendMessageBackMethod"
    about = "at group"
    within_ms = deadlines.spoken

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for broker in self.views.brokers():
            at, topics = broker.machine, self.views.topics(broker.machine)
            for group in self.views.groups(at) if broker.broker_id == MASTER_ID else ():
                if get_retry_topic(group) not in topics:
                    yield self.told(f"{at} has members of {group} and no topic {get_retry_topic(group)}", at, group)


class filter_is_as_new_as_its_subscription(Rule):
    """When members are told of a change, or a heartbeat is answered, the group's expressions are compiled."""

    shipped = ("violated: B-14 members are told first, B-26 what does not compile is subscribed, "
               "L4 a clock that is behind")
    cite = "ConsumerManager#registerConsumer, ConsumerFilterManager#register"
    about = "at group topic"
    excuses = (
        cause("L4", "an expression replaced one that had a greater version",
              when=lambda rule, told: rule.heard.get(told.about, 0) > rule.views.subscriptions(
                  *told.about[:2])[told.about[2]].sub_version),
    )

    # The greatest version of each topic that was heard: filters outlive groups, and are in a file.
    heard = Kept("at group topic", survives="all")

    @on(events.ConsumerRegistered)
    def entered(self, _: int, at: str, event: events.ConsumerRegistered) -> None:
        for topic, _text, version in event.subscriptions:
            key = at, event.group, topic
            self.heard[key] = max(version, self.heard.get(key, version))

    @on(events.HeartbeatHandled, events.ConsumerIdsChanged)
    def looks(self, _: int, at: str, event: events.HeartbeatHandled | events.ConsumerIdsChanged) -> Iterator[Told]:
        subscribed = self.views.subscriptions(at, event.group)
        compiled = {topic: sub for topic, sub in subscribed.items() if not is_tag_type(sub.expression_type)}
        filters = self.views.filters(at, event.group) if compiled else {}
        for topic, sub in compiled.items():
            found = filters.get(topic)
            if found is None or found.dead or found.client_version < sub.sub_version:
                yield self.told(f"{at} has no living filter of {event.group} for {topic} that is as new as version "
                                f"{sub.sub_version}", at, event.group, topic)


class closed_producer_is_delisted(Duty):
    """A broker that is told of the end of a connection takes it out of all its producer groups."""

    cite = "ClientHousekeepingService#onChannelClose, ProducerManager#doChannelCloseEvent"
    about = "at connection"
    within_ms = deadlines.handled
    excuses = (Excuse("a later heartbeat enters it again", by=ProducerRegistered),)
    late = "{at} lists {connection} as a producer {waited_ms} ms after its connection has ended"

    @on(ClientChannelClosed)
    def closed(self, ms: int, at: str, event: ClientChannelClosed) -> None:
        self.owe((at, event.connection), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        listed = {connection for _, connection in self.views.producers(key[0])}
        return super().broken(key, what, waited_ms) if key[1] in listed else None


class running_producer_is_not_forgotten(Rule):
    """A broker forgets no producer that runs and whose connection has not ended: a goodbye is of the group it names.

    A client may have consumers beside, which stop.
    """

    cite = "ClientManageProcessor#unregisterClient, ProducerManager#unregisterProducer"
    about = "at group client_id"

    ended = Kept("at connection", begins=(ClientChannelClosed,))

    @on(ProducerForgotten)
    def is_forgotten(self, _: int, at: str, event: ProducerForgotten) -> Iterator[Told]:
        runs = (event.group, event.client_id) in self.views.sending(machine_of(event.connection))
        if runs and (at, event.connection) not in self.ended:
            yield self.told(f"{at} forgets the producer {event.group} of {event.client_id}, which runs", at,
                            event.group, event.client_id)


class replies_find_the_producer(Rule):
    """When a broker has entered the heartbeat of a producer it has a connection of it for replies."""

    shipped = "violated: B-23 the end of an old connection takes the new one"
    cite = "ProducerManager#registerProducer, #findChannel"
    about = "at group client_id"

    @on(ProducerRegistered)
    def registered(self, _: int, at: str, event: ProducerRegistered) -> Iterator[Told]:
        if str(event.client_id) not in self.views.reply_connections(at):
            yield self.told(f"{at} finds no connection of {event.client_id}, which has just spoken as {event.group}",
                            at, event.group, event.client_id)


class producers_are_known(Promise):
    """After the last fault every broker that is up knows the producer that each living client has, and no other.

    A consumer whose heartbeats are refused expires, and its connection ends; its producer is back with the next one.
    """

    cite = "ClientManageProcessor#heartBeat, ProducerManager#registerProducer"
    about = "at group client_id"
    within_ms = deadlines.spoken
    excuses = (
        Excuse("the broker objects to the heartbeats of the client", by=Match(HeartbeatRefused, of="at client_id"),
               lasts=FOR_EVER, until=Match(ConsumerRegistered, of="at client_id")),
        Excuse("it is gone, and expires by the clock of the broker, which was set back",
               when=lambda rule, told: told.about[:1] in rule.set_back and rule.lists(*told.about)),
        Excuse("the client does not know the broker: no route that it has, or was answered last, names it",
               when=lambda rule, told: rule.is_unknown_to(*told.about)),
    )

    # The addresses in the last route of each topic that a client was answered.
    routed = Kept("client topic", machine="client", value=lambda _, event: event.addrs, begins=(
        Match(RouteAnswered, of="client=connection.machine topic"),))
    set_back = Kept("at", survives="all", begins=(Match(ClockJumped, having=lambda one: one.ms < 0),))
    up = Kept("at", begins=(BrokerStarted,))

    def is_unknown_to(self, at: str, _: str, client_id: str) -> bool:
        """Whether the consumers of a client speak to other brokers only, or it has none, and its producer no route."""
        machines = [one.machine for one in self.views.consumers() if one.client_id == client_id]
        known = [{*self.views.known_addresses(one, client_id).values()} for one in machines] or [
            addrs for (one, _), addrs in self.routed.items()
            if client_id in {who for _, who in self.views.sending(one)}]
        addrs = {one.broker_addr for one in self.views.brokers() if one.machine == at}
        return bool(known) and addrs.isdisjoint(set().union(*known))

    def lists(self, at: str, group: str, client_id: str) -> bool:
        """Whether the broker has the producer in its table."""
        return any((name, who) == (group, client_id) for (name, _), who in self.views.producers(at).items())

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        consuming = {pair for one in self.views.consumers() if one.service_state == "RUNNING"
                     for pair in self.views.producing(one.machine)}
        consuming |= set(self.views.polling())
        sending = set(self.views.sending())
        for broker in (one for one in self.views.brokers() if (one.machine,) in self.up):
            right = consuming if broker.broker_id else consuming | sending  # only consumers speak to slaves
            known = {(group, who) for (group, _), who in self.views.producers(broker.machine).items()}
            for group, client_id in sorted(known ^ right, key=str):
                yield self.told(f"{broker.machine} and the living clients differ about the producer {group} of "
                                f"{client_id}", broker.machine, group, client_id)
