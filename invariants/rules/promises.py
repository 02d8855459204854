"""Declared properties of models that must come true, and stay true, once a world has healed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID, RETRY_GROUP_TOPIC_PREFIX
from invariants.rules import deadlines
from invariants.rules.abandoned_queues import leaves_out, throws
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Promise, Told, on
from invariants.views import Views

CLUSTERING = "CLUSTERING"  # MessageModel


class every_name_server_learns_in_time(Promise):
    """Every name server knows the address of every living broker."""

    judges = "every_name_server_learns"
    about = "at broker_name broker_id"
    within_ms = deadlines.all_registered

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for namesrv in self.views.namesrvs():
            known = self.views.addresses(namesrv)
            for broker in self.views.brokers():
                key = broker.broker_name, broker.broker_id
                if known.get(key) != broker.broker_addr:
                    yield self.told(f"{namesrv} does not know {broker.broker_addr} as id {key[1]} of {key[0]}",
                                    namesrv, *key)


class all_topics_are_routed_in_time(Promise):
    """Every name server routes every topic of a living master to it."""

    judges = "full_registration_installs_all_topics"
    about = "at broker_name topic"
    within_ms = deadlines.all_registered
    excuses = (
        Excuse("the topic was made or changed lately", by=Match(events.TopicConfigUpdated, of="topic"),
               lasts=deadlines.all_registered),
        Excuse("the topic was deleted there, and its broker has not made it since", when=lambda rule, told: (
            rule.deleted_ms.get((told.about[0], told.about[2]), -1) > rule.made_ms.get(told.about[1:], -1))),
    )

    deleted_ms = Kept("at topic", begins=(events.TopicDeleted,))
    # When a broker that runs has made a topic, or changed it; one that starts reads what it has.
    made_ms = Kept("broker_name topic", survives="all")

    @on(events.TopicConfigUpdated)
    def is_made(self, ms: int, at: str, event: events.TopicConfigUpdated) -> None:
        if (at,) not in self.facts.broker_killed_ms:
            self.made_ms[self.facts.broker_name(at), event.topic] = ms

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        masters = [broker for broker in self.views.brokers() if broker.broker_id == MASTER_ID]
        for namesrv in self.views.namesrvs():
            for broker in masters:
                for topic in self.views.topics(broker.machine):
                    if broker.broker_name not in self.views.routed(namesrv, topic):
                        yield self.told(f"{namesrv} does not route {topic} to {broker.broker_name}",
                                        namesrv, broker.broker_name, topic)


class dead_broker_is_dropped_in_time(Promise):
    """No name server has an address where no broker lives."""

    judges = "dead_broker_is_dropped"
    about = "at broker_name addr"
    within_ms = deadlines.all_expired

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        living = {broker.broker_addr for broker in self.views.brokers()}
        for namesrv in self.views.namesrvs():
            for (name, _), addr in self.views.addresses(namesrv).items():
                if addr not in living:
                    yield self.told(f"{namesrv} has {addr} under {name}, where nobody lives", namesrv, name, addr)


def _left_over(views: Views, topic: str) -> set[MessageQueue]:
    """The queues that a name server still routes to a broker that does not have the topic any more."""
    having = [broker for broker in views.brokers() if topic in views.topics(broker.machine)]
    without = {broker.broker_name for broker in views.brokers()} - {broker.broker_name for broker in having}
    return {
        MessageQueue(topic, data.broker_name, queue_id) for namesrv in views.namesrvs()
        for data in views.queue_datas(namesrv).get(topic, ()) if data.broker_name in without
        for queue_id in range(data.read_queue_nums)
    }


def _has_what_is_left_over(rule: Any, told: Told) -> bool:
    """Whether a consumer has all real queues, and besides only some of a broker that has lost the topic."""
    has, real = rule.known(*told.about), set(rule.views.queues(told.about[2]))
    return bool(real <= has <= real | _left_over(rule.views, told.about[2]))


class route_cache_becomes_true_in_time(Promise):
    """The queues that a client knows of a topic are those of the living brokers."""

    judges = "route_cache_becomes_true"
    about = "at group topic"
    within_ms = deadlines.all_routed
    excuses = (cause("N-14", "a broker has lost the topic, and is routed on", when=_has_what_is_left_over),)

    def known(self, at: str, group: str, topic: str) -> frozenset[MessageQueue]:
        """The queues that a client knows."""
        return self.views.subscribe_info(at, group).get(topic, frozenset())

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for one in self.views.in_service():
            for topic in self.views.subscribed(one.machine, one.group):
                retry = topic.startswith(RETRY_GROUP_TOPIC_PREFIX)
                if not retry and self.known(one.machine, one.group, topic) != set(self.views.queues(topic)):
                    sentence = f"{one.machine} has another route of {topic} than the name servers"
                    yield self.told(sentence, one.machine, one.group, topic)


class producers_know_the_queues(Promise):
    """The queues that a producer chooses from are those of the living masters, of each topic that it has sent to.

    Those of a broker that has not come up since its process was killed may be among them or not.
    """

    cite = "MQClientInstance#updateTopicRouteInfoFromNameServer, DefaultMQProducerImpl#getPublishTopicList"
    about = "at group topic"
    named = True
    within_ms = deadlines.all_routed
    excuses = (Excuse("a name server does not route the topic to a broker that has it",
                      when=lambda rule, told: rule.is_not_routed(told.about[2])),)

    lists = Kept("at client_id group topic", begins=(events.PublishInfoUpdated,), ends=(events.ProducerShutDown,),
                 value=lambda _, event: event.queues)

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        sending = self.views.sending()
        down = {one.broker_name for one in self.views.brokers() if (one.machine,) in self.facts.broker_killed_ms}
        for (at, client_id, group, topic), queues in self.lists.items():
            there = self.views.writable(topic)
            known, right = ({mq for mq in mqs if mq.broker_name not in down} for mqs in (queues, there))
            if (group, client_id) in sending and there and known != right:
                yield self.told(f"{at} chooses from {len(queues)} queues of {topic}, and there are {len(there)}", at,
                                group, topic)

    def is_not_routed(self, topic: str) -> bool:
        """Whether a name server lacks a broker that has writable queues of the topic."""
        there = {mq.broker_name for mq in self.views.writable(topic)}
        return any(not there.issubset(one.broker_name for one in self.views.queue_datas(namesrv).get(topic, ()))
                   for namesrv in self.views.namesrvs())


class list_is_exactly_the_living_in_time(Promise):
    """Every broker lists the living members of every group, each once, and nobody else; whom it refuses is none."""

    judges = "list_is_exactly_the_living"
    about = "at group"
    within_ms = deadlines.all_listed

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        consumers = self.views.in_service()
        for broker in self.views.brokers():
            for group in sorted({one.group for one in consumers}.union(self.views.groups(broker.machine))):
                living = sorted(one.client_id for one in consumers if one.group == group
                                and (broker.machine, group, one.client_id) not in self.facts.refused)
                listed = self.views.listed(broker.machine, group)
                if listed != living:
                    here = f"the living are {', '.join(living)}" if living else "nobody of it lives"
                    yield self.told(f"{broker.machine} lists {', '.join(listed) or 'nobody'} in {group}; {here}",
                                    broker.machine, group)


class pull_finds_its_subscription_in_time(Promise):
    """Every broker has the subscriptions of every living member, as new as they are there; whom it refuses is none."""

    judges = "pull_finds_its_subscription"
    about = "at group topic"
    within_ms = deadlines.all_listed

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        brokers = self.views.brokers()
        for one in self.views.in_service():
            mine = self.views.subscribed(one.machine, one.group)
            for broker in (broker for broker in brokers
                           if (broker.machine, one.group, one.client_id) not in self.facts.refused):
                table = self.views.subscriptions(broker.machine, one.group)
                for topic, sub in mine.items():
                    found = table.get(topic)
                    if found is None or found.sub_version < sub.sub_version:
                        word = "no" if found is None else "an old"
                        yield self.told(f"{broker.machine} has {word} subscription of {one.machine} to {topic}",
                                        broker.machine, one.group, topic)


def _is_lost(rule: Any, told: Told) -> bool:
    """Whether a living master has lost the topic with its power, and is routed on for it.

    Name servers that were there before and those that came later then differ for ever, and so do their clients: each
    holds what is its share by the route that it knows.
    """
    views, topic = rule.views, told.about[1]
    without = {broker.broker_name for broker in views.brokers() if broker.broker_id == MASTER_ID
               and (broker.machine,) in rule.facts.powerless and topic not in views.topics(broker.machine)}
    is_routed = any(data.broker_name in without for namesrv in views.namesrvs()
                    for data in views.queue_datas(namesrv).get(topic, ()))
    return is_routed and sorted(views.holders(*told.about[:2])[told.about[2]]) == sorted(_given(views, *told.about))


def _given(views: Views, group: str, topic: str, mq: MessageQueue) -> Iterator[str]:
    """The machines of those to whom their strategies give a queue, each by the route that it knows."""
    members = [one for one in views.in_service() if (one.group, one.message_model) == (group, CLUSTERING)]
    ids = sorted((one.client_id for one in members), key=utf16_key)
    for one in members:
        route = sorted(views.subscribe_info(one.machine, group).get(topic, ()))
        divides = topic in views.subscribed(one.machine, group) and mq in route and not throws(one.strategy, mq)
        if divides and mq in (one.strategy.allocate(group, one.client_id, route, ids) or ()):
            yield one.machine


class ownership_converges_in_time(Promise):
    """Every queue that a strategy gives to somebody has exactly one owner, and every other one has none."""

    judges = "ownership_converges"
    about = "group topic mq"
    within_ms = deadlines.all_owned
    excuses = (cause("N-14", "a master has lost the topic with its power, and is routed on", when=_is_lost),)

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        subscribed = {(one.group, topic) for one in self.views.in_service() if one.message_model == CLUSTERING
                      and not self.facts.is_refused(one.group, one.client_id)
                      for topic in self.views.subscribed(one.machine, one.group)}
        for group, topic in sorted(subscribed):
            strategy = next(one.strategy for one in self.views.in_service() if one.group == group)
            holders = self.views.holders(group, topic)
            for mq in sorted(mq for mq, machines in holders.items()
                             if len(machines) != int(not throws(strategy, mq) and not leaves_out(strategy, mq))):
                held_by = ", ".join(holders[mq]) or "nobody"
                yield self.told(f"{queue_text(mq)} is held by {held_by}", group, topic, mq)


class locks_are_those_of_holders_in_time(Promise):
    """Every queue of an orderly consumer is locked for its holder, and none for somebody who does not hold it."""

    judges = "abandoned_lock_is_freed"
    about = "group mq"
    within_ms = deadlines.all_locked

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        holders = set[tuple[str, str, MessageQueue]]()
        for one in self.views.in_service():
            held = self.views.process_queues(one.machine) if one.orderly and one.message_model == CLUSTERING else ()
            for queue in (queue for queue in held if queue.group == one.group and not queue.dropped):
                holders.add((one.group, queue.client_id, queue.mq))
                if not queue.locked or queue.lock_expired:
                    sentence = f"{one.machine} holds {queue_text(queue.mq)} without its lock"
                    yield self.told(sentence, one.group, queue.mq)
        for broker in self.views.brokers():
            for (group, mq), lock in self.views.locks(broker.machine).items():
                if not lock.expired and (group, lock.client_id, mq) not in holders:
                    sentence = f"{queue_text(mq)} is locked for {lock.client_id} of {group}, who does not hold it"
                    yield self.told(sentence, group, mq)
