"""How brokers register: what they ask, what they are answered, and who waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Rule, Told, after, on

SUCCESS = 0  # RemotingSysResponseCode


class success_means_registered(Rule):
    """A registration that is answered with SUCCESS is in the table of the living."""

    shipped = "violated: N-20 half a registration is a success too"
    cite = "DefaultRequestProcessor#registerBrokerWithFilterServer"
    about = "at broker_addr"

    @on(events.RegistrationAnswered)
    def answered(self, _: int, at: str, event: events.RegistrationAnswered) -> Iterator[Told]:
        if event.code == SUCCESS and not event.known:
            yield self.told(f"{at} answers SUCCESS to {event.broker_addr}, and does not have it", at, event.broker_addr)


class other_version_is_registered(Duty):
    """A broker registers at a name server that it has asked for the version, and that has another one.

    The broker owes it: it asks all name servers, and one that has another version is enough.
    """

    shipped = "violated: N-18 the vote comes late"
    cite = "BrokerOuterAPI#needRegister"
    about = "broker namesrv broker_addr"
    within_ms = deadlines.registered
    paid_by = (events.BrokerRegistered, Match(events.VersionQueried, having=lambda event: not event.changed))
    excuses = (Excuse("its registration at the name server fails: it has tried",
                      by=Match(events.RegistrationFailed, of="broker namesrv=namesrv_addr.machine")),)
    late = "{namesrv} has another version of {broker_addr} for {waited_ms} ms, and is not registered at"

    @on(events.VersionQueried)
    def asked(self, ms: int, at: str, event: events.VersionQueried) -> None:
        if event.changed:
            self.owe((machine_of(event.broker_addr), at, event.broker_addr), ms)


class slave_takes_the_master_it_is_told(Rule):
    """A slave has a master as soon as one of its name servers names one."""

    shipped = "violated: N-19 the first answer counts"
    cite = "BrokerController#doRegisterBrokerAll"

    @on(events.MasterLearned)
    def learned(self, _: int, at: str, event: events.MasterLearned) -> Iterator[Told]:
        told = next((answer for answer in event.answers if answer), None)
        if event.master_addr is None and told is not None:
            yield self.told(f"{at} has no master from now on, although it is told of {told}", at)


class heartbeats_do_not_wait_for_name_servers(Rule):
    """No heartbeat waits for a registration as long as its client waits for the answer."""

    shipped = "violated: N-22 one registration after another"
    cite = "TopicConfigManager#createTopicInSendMessageBackMethod"
    about = "at group"

    @on(events.RetryTopicAnnounced)
    def announced(self, _: int, at: str, event: events.RetryTopicAnnounced) -> Iterator[Told]:
        if event.waited_ms >= deadlines.CALL_MS:
            yield self.told(f"{at} has let a heartbeat of {event.group} wait for {event.waited_ms} ms", at, event.group)


class registered_versions_go_forward(Rule):
    """The version under which a master registers never counts less than one before, also when it has started again.

    Who loses its power may lose the file that has it; a slave has the version of its master.
    """

    cite = "DataVersion#nextVersion, TopicConfigManager#persist, #decode"
    about = "broker made_ms"
    excuses = (Excuse("there was no room on its disk for the file when the version was made",
                      when=lambda rule, told: rule.facts.had_no_room(
                          told.about[0], told.about[1] - deadlines.in_file(rule.bounds), told.about[1])),)

    # How far it has counted, and when it had so for the first time.
    counted = Kept("broker", survives="kill", machine="broker")

    @on(events.BrokerStarted)
    def starts(self, _: int, at: str, event: events.BrokerStarted) -> None:
        if event.broker_id != MASTER_ID:
            self.counted.pop((at,), None)

    @on(events.RegistrationEncoded)
    def registers(self, ms: int, _: str, event: events.RegistrationEncoded) -> Iterator[Told]:
        if not self.facts.is_master(event.broker):
            return
        before, made_ms = self.counted.get((event.broker,), (-1, ms))
        count = event.version[1]
        if count != before:
            self.counted[event.broker,] = count, ms
        if count < before:
            yield self.told(f"{event.broker} registers version {count}, and has registered {before}", event.broker,
                            made_ms)


class changed_topics_are_counted(Rule):
    """Where nothing fails a master whose topics have changed registers them under a version that counts more.

    A topic enters the table before the version is raised, so that one registration may come between.
    """

    cite = "DataVersion#nextVersion, TopicConfigManager#updateTopicConfig, #deleteTopicConfig"
    about = "broker"
    calm = True

    # How far the version has counted, and the topics that it stood for; and what counted no more with other topics.
    counted = Kept("broker", machine="broker")
    doubted = Kept("broker", machine="broker")

    @on(events.RegistrationEncoded)
    def registers(self, _: int, __: str, event: events.RegistrationEncoded) -> Iterator[Told]:
        key, count, topics = (event.broker,), event.version[1], self.views.topics(event.broker)
        if not self.facts.is_master(event.broker):
            return
        before, known = self.counted.setdefault(key, (count, topics))
        if self.doubted.pop(key, None) == count:
            yield self.told(f"{event.broker} registers other topics than before, and version {count} again", *key)
        elif count == before and topics != known:
            self.doubted[key] = count
            return
        self.counted[key] = count, topics


class changed_groups_are_counted(Rule):
    """Whatever changes the subscription groups of a master changes their version, also a heartbeat.

    A slave copies the groups when it sees another version.
    """

    cite = "SubscriptionGroupManager#findSubscriptionGroupConfig, #updateSubscriptionGroupConfig: nextVersion"

    # Of masters that have started: the version that was seen last, and the groups with their configurations.
    seen = Kept("at")
    _looked_ms = -inf

    @after(events.BrokerStarted)
    def starts(self, _: int, at: str, event: events.BrokerStarted) -> None:
        if event.broker_id == MASTER_ID:
            self.seen[at,] = self._version_and_groups(at)

    def look(self, now_ms: int) -> Iterator[Told]:
        """See what masters have."""
        if now_ms - self._looked_ms < deadlines.PERSIST_MS:
            return
        self._looked_ms = now_ms
        for (at,), before in self.seen.items():
            now = self.seen[at,] = self._version_and_groups(at)
            if now[0] == before[0] and now[1] != before[1]:
                yield self.told(f"{at} has other subscription groups than before, and their version {now[0]} still", at)

    def _version_and_groups(self, at: str) -> tuple[tuple[int, int], dict[str, Any]]:
        groups = {group: self.views.group_config(at, group) for group in self.views.subscription_groups(at)}
        return self.views.subscription_group_version(at), groups


class registration_reaches_all_name_servers(Duty):
    """Where nothing fails a broker that registers does so at each living name server, whatever becomes of the others.

    It asks all of them at once; or it has tried, and says that this one has not answered SUCCESS.
    """

    cite = "BrokerOuterAPI#registerBrokerAll: brokerOuterExecutor, registerBrokerTimeoutMills"
    about = "broker namesrv"
    calm = True
    within_ms = deadlines.registered
    paid_by = (Match(events.BrokerRegistered, of="broker=broker_addr.machine namesrv"),
               Match(events.RegistrationFailed, of="broker namesrv=namesrv_addr.machine"))
    excuses = (Excuse("the name server is killed", by=Match(events.ProcessKilled, of="namesrv=at")),
               Excuse("the broker stops", by=events.BrokerStopping))
    late = "{broker} has registered, but not at {namesrv}, and has not failed there for {waited_ms} ms"

    @on(events.RegistrationEncoded)
    def registers(self, ms: int, _: str, event: events.RegistrationEncoded) -> None:
        for namesrv in self.views.namesrvs():
            self.owe((event.broker, namesrv), ms)


class goodbye_reaches_all_name_servers(Rule):
    """A broker that shuts down says goodbye to each name server that answers, whatever becomes of the others."""

    cite = "BrokerOuterAPI#unregisterBrokerAll"
    about = "broker namesrv"
    calm = True

    stopping = Kept("broker", begins=(events.BrokerStopping,), machine="broker")
    tried = Kept("broker namesrv", survives="all")

    @on(events.BrokerUnregistered)
    def hears(self, ms: int, at: str, event: events.BrokerUnregistered) -> None:
        self.tried[machine_of(event.broker_addr), at] = ms

    @on(events.RegistrationFailed)
    def fails(self, ms: int, at: str, event: events.RegistrationFailed) -> None:
        self.tried[at, machine_of(event.namesrv_addr)] = ms

    @on(events.BrokerShutDown)
    def ends(self, ms: int, at: str, _: events.BrokerShutDown) -> Iterator[Told]:
        since_ms = self.stopping.pop((at,), ms)
        for namesrv in self.views.namesrvs():
            if self.tried.get((at, namesrv), -inf) < since_ms:
                yield self.told(f"{at} has told {namesrv} nothing", at, namesrv)
