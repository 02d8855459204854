"""What groups subscribe: at their members, in the tables of brokers, and what brokers make for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import get_retry_topic
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Promise, Rule, Told, after, on
from invariants.rules.weather import clock_was_set, ended_or_stood_still, has_shut_down, was_cut_off

_NOT_LATEST = frozenset({25, 28})
"""SUBSCRIPTION_NOT_LATEST, FILTER_DATA_NOT_LATEST of ResponseCode."""


class group_has_one_message_model(Rule):
    """All members that a broker lists in a group read as a cluster, or all of them broadcast.

    Looks with each heartbeat, and takes the model from the start of the consumers.
    """

    shipped = "violated: B-16 the last heartbeat says it for all"
    cite = "ConsumerGroupInfo#updateChannel: messageModel"
    about = "at group"

    @after(events.ConsumerRegistered)
    def entered(self, _: int, at: str, event: events.ConsumerRegistered) -> Iterator[Told]:
        clients = dict.fromkeys(machine_of(one) for one in self.facts.connections(at, event.group))
        started = (self.facts.consumers.get((client, event.group)) for client in clients)
        models = {one.message_model: one.client_id for one in started if one is not None}
        if len(models) > 1:
            said = " and ".join(f"{model} from {client_id}" for model, client_id in models.items())
            yield self.told(f"{at} has {said} in {event.group}", at, event.group)


class retries_stay_subscribed(Rule):
    """A member that reads as one of a cluster names the retry topic of its group in each heartbeat, whatever it reads.

    Its application cannot unsubscribe it with another topic.
    """

    cite = "DefaultMQPushConsumerImpl#copySubscription, #unsubscribe"
    about = "at group connection"

    @on(events.ConsumerRegistered)
    def entered(self, _: int, at: str, event: events.ConsumerRegistered) -> Iterator[Told]:
        topics = {topic for topic, _, _ in event.subscriptions}
        clusters = self.facts.clusters(machine_of(event.connection), event.group)
        if clusters and get_retry_topic(event.group) not in topics:
            yield self.told(f"{at} hears of {event.connection} that it does not read the retries of {event.group}", at,
                            event.group, event.connection)


class known_version_is_not_refused(Rule):
    """Where nothing fails a pull is refused for its version only until the next heartbeat has brought that version.

    A member beats when it starts, and each 30 s. It learns of a broker that has started by its next poll of the route.
    """

    cite = "PullMessageProcessor#processRequest: subVersion, SUBSCRIPTION_NOT_LATEST, FILTER_DATA_NOT_LATEST"
    calm = True
    about = "at client_id group mq"

    raised_ms = Kept("at group topic", begins=(events.VersionRaised,))
    started_ms = Kept("at", begins=(events.ConsumerStarted,))
    polled_ms = Kept("broker_name", survives="all", begins=(events.BrokerStarted,),
                     value=lambda ms, _: ms + deadlines.ROUTE_MS)

    @on(events.PullFailed)
    def fails(self, ms: int, at: str, event: events.PullFailed) -> Iterator[Told]:
        since_ms = max(self.raised_ms.get((at, event.group, event.mq.topic), 0), self.started_ms.get((at,), 0),
                       self.polled_ms.get((event.mq.broker_name,), 0))
        if event.code in _NOT_LATEST and ms - since_ms > deadlines.HEARTBEAT_MS + deadlines.soon(self.bounds):
            yield self.told(f"a pull of {queue_text(event.mq)} by {at} is refused with code {event.code}, and its "
                            f"version is {ms - since_ms} ms old", at, *event[:3])


class application_has_what_it_subscribes(Duty):
    """A consumer that is alone in its process subscribes a topic as its application has said last, or no more."""

    cite = "DefaultMQPushConsumerImpl#subscribe: subscriptionInner.put, #unsubscribe"
    about = "at group topic"
    within_ms = deadlines.soon
    late = "{at} is to subscribe {topic} with {what} in {group}, and has not done so for {waited_ms} ms"

    @on(events.SubscriptionAsked)
    def asks(self, ms: int, at: str, event: events.SubscriptionAsked) -> None:
        key = at, event.group, event.topic
        self.pay(key)
        self.owe(key, ms, event.expression)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        members = [one for one in self.views.in_service() if (one.machine, one.group) == key[:2]]
        mine = self.views.subscribed(*key[:2]).get(key[2])
        is_done = what == (None if mine is None else mine.sub_string)
        return None if is_done or len(members) != 1 else super().broken(key, what or "nothing", waited_ms)


class topics_leave_with_their_member(Duty):
    """When a member is not listed any more, topics that no other one subscribes leave the group's table."""

    shipped = "violated: B-27 they stay until a heartbeat"
    cite = "ConsumerManager#unregisterConsumer"
    about = "at group topic"
    within_ms = deadlines.takes(0)
    paid_by = (events.SubscriptionRemoved,)
    excuses = (Excuse("the group is dropped", by=events.GroupRemoved),)
    late = "{at} has {topic} subscribed in {group}, of whose members nobody has subscribed it for {waited_ms} ms"

    @on(events.ConsumerRemoved)
    def goes(self, ms: int, at: str, event: events.ConsumerRemoved) -> None:
        heartbeat = self.facts.listed.get((at, event.group, event.connection))
        for topic, _, _ in heartbeat.subscriptions if heartbeat is not None and event.attached else ():
            self.owe((at, event.group, topic), ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        here = self.facts.connections(key[0], key[1]).values()
        wanted = any(key[2] == topic for heartbeat in here for topic, _, _ in heartbeat.subscriptions)
        is_left = here and not wanted and key in self.facts.subscribed
        return super().broken(key, what, waited_ms) if is_left else None


class new_version_is_told_soon(Duty):
    """Seconds after a member's subscription has a new version the brokers that list the member know it.

    The deadline leaves time for a heartbeat that is sent at once, with pauses of its thread (B-4). It goes from broker
    to broker, and waits for each that does not live any more, or stands still.
    """

    shipped = "violated: U12 the heartbeat is skipped"
    cite = "RebalancePushImpl#messageQueueChanged, PullMessageProcessor#processRequest: SUBSCRIPTION_NOT_LATEST"
    about = "at client_id group topic client"
    within_ms = deadlines.told_at_once
    excuses = (
        Excuse("the member is not listed any more", by=Match(events.ConsumerRemoved, of="at client_id group")),
        Excuse("the broker objects to the heartbeats of the member",
               by=Match(events.HeartbeatRefused, of="at client_id group")),
        Excuse("the member has begun to shut down", by=Match(events.ConsumerStopping, of="client=at client_id group")),
        Excuse("the process of the member is killed", by=Match(events.ProcessKilled, of="client=at")),
        Excuse("the member is refused a connection to the broker",
               by=Match(events.ConnectionRefused, of="client=at at=server")),
        ended_or_stood_still("client", deadlines.told_at_once), *was_cut_off("at"), clock_was_set("client"),
        has_shut_down("at"),
    )
    late = "{at} does not know version {what} of {topic}, which {client_id} has pulled with for {waited_ms} ms"

    @on(events.VersionRaised)
    def raised(self, ms: int, client: str, event: events.VersionRaised) -> None:
        # A new version counts for the pulls of a member.
        for (at, group, connection), heartbeat in self.facts.listed.items():
            mine = (group, machine_of(connection), heartbeat.client_id) == (event.group, client, event.client_id)
            subscribed = any(topic == event.topic for topic, _, _ in heartbeat.subscriptions)
            key = at, event.client_id, group, event.topic, client
            if mine and subscribed and key not in self.owed and self._is_routed(at, event.client_id, client):
                self.owe(key, ms, event.sub_version)
                dead_ms = deadlines.CALL_MS * len(self.views.dead_addresses(client))
                self.count_from(key, ms + dead_ms + self._standing_ms(ms))

    @on(events.ProcessKilled, events.ProcessPaused)
    def falls_silent(self, _: int, at: str, event: events.ProcessKilled | events.ProcessPaused) -> None:
        """A heartbeat that is under way waits for this broker, too."""
        for_ms = event.ms if isinstance(event, events.ProcessPaused) else deadlines.CALL_MS
        for key in self.owed if (at,) in self.facts.brokers else ():
            if key[0] != at:
                self.count_from(key, self.owed[key][1] + min(for_ms, deadlines.CALL_MS))

    @on(events.ConsumerRegistered)
    def told_now(self, _: int, at: str, event: events.ConsumerRegistered) -> None:
        for topic, _text, version in event.subscriptions if self.owed else ():
            key = at, event.client_id, event.group, topic, machine_of(event.connection)
            if key in self.owed and version >= self.owed[key][2]:
                self.pay(key)
        for key in [*self.owed]:
            other, client_id, _, _, client = key
            is_of_member = (client_id, client) == (event.client_id, machine_of(event.connection))
            if is_of_member and not self._is_routed(other, client_id, client):
                self.pay(key)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """See Duty."""
        at, client_id, _, _, client = key
        return super().broken(key, what, waited_ms) if self._is_routed(at, client_id, client) else None

    def _standing_ms(self, ms: int) -> int:
        # How long a heartbeat waits for brokers that stand still.
        return sum(min(max(until_ms - ms, 0), deadlines.CALL_MS)
                   for key, until_ms in self.facts.standing_ms.items() if key in self.facts.brokers)

    def _is_routed(self, at: str, client_id: str, client: str) -> bool:
        # Who has no route to a broker sends it no heartbeat; cleanOfflineBroker may drop the address at any time.
        return at in map(machine_of, self.views.known_addresses(client, client_id).values())


class changed_share_renews_the_subscription(Rule):
    """After a change of its queues a member's heartbeats carry a newer version of the topic's subscription.

    Ignores heartbeats that may have been encoded before the change.
    """

    cite = "RebalancePushImpl#messageQueueChanged"
    about = "at client client_id group topic"
    excuses = (
        clock_was_set("client"), ended_or_stood_still("at", 0), ended_or_stood_still("client", 0),
        *was_cut_off("at", deadlines.waited),
    )

    said, changed = (Kept("client client_id group topic", machine="client") for _ in range(2))

    @on(events.QueuesAssigned)
    def assigned(self, ms: int, client: str, event: events.QueuesAssigned) -> None:
        key = client, event.client_id, event.group, event.topic
        if event.changed and key in self.said:
            self.changed.setdefault(key, (ms, self.said[key]))

    @on(events.ConsumerRegistered)
    def entered(self, ms: int, at: str, event: events.ConsumerRegistered) -> Iterator[Told]:
        client = machine_of(event.connection)
        for topic, _, version in event.subscriptions:
            key = client, event.client_id, event.group, topic
            since_ms, before = self.changed.get(key, (ms, version))
            if version > before:
                self.changed.pop(key, None)
            elif ms - since_ms > deadlines.on_the_way(self.bounds):
                del self.changed[key]
                yield self.told(f"{at} is told of {topic} by {event.client_id} with the version from before a change",
                                at, *key, since_ms=since_ms)
            self.said[key] = max(version, self.said.get(key, version))


class pull_waits_for_its_version(Rule):
    """A broker holds or answers a pull when it has heard of the version that it names, or of a newer one.

    Before that it refuses it, so that nobody is given what an older expression lets pass. Looks at push consumers.
    """

    cite = "PullMessageProcessor#processRequest: SUBSCRIPTION_NOT_LATEST"
    about = "at group mq"

    # The newest version that a broker has ever had; the pulls of a client that have not ended there, each with whom it
    # asks by which version, None where that is not known; how many were sent since one was answered: the broker may
    # still have those that have failed.
    newest = Kept("at group topic", survives="all")
    open = Kept("at client_id group mq")
    sent = Kept("at group mq", survives="all")

    @on(events.SubscriptionUpdated)
    def hears(self, _: int, at: str, event: events.SubscriptionUpdated) -> None:
        key = at, event.group, event.topic
        self.newest[key] = max(event.sub_version, self.newest.get(key, event.sub_version))

    @on(events.PullSuspended)
    def pulls(self, _: int, at: str, event: events.PullSuspended) -> None:
        place = at, event.group, event.mq
        self.sent[place] = self.sent.get(place, 0) + 1
        is_pushed_to = (at, event.group) in self.facts.consumers
        asked = (machine_of(event.asked), event.by_version) if is_pushed_to else None
        self.open.setdefault((at, *event[:3]), []).append(asked)

    @on(events.PullFailed)
    def fails(self, _: int, at: str, event: events.PullFailed) -> None:
        self._ends((at, *event[:3]))

    @on(events.PullHeld)
    def is_held(self, _: int, at: str, event: events.PullHeld) -> Iterator[Told]:
        client, queue = machine_of(event.connection), (event.topic, event.queue_id)
        for key, pulls in self.open.items():
            mq = key[3]
            is_its = (key[0], key[2], mq.topic, mq.queue_id) == (client, event.group, *queue)
            alone = len(pulls) == 1 == self.sent.get((client, event.group, mq))
            if is_its and alone and pulls[0] and pulls[0][0] == at:
                yield from self._too_soon(key, pulls[0])

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        key = at, *event[:3]
        asked = self._ends(key)
        self.sent.pop((at, event.group, event.mq), None)
        if asked:
            yield from self._too_soon(key, asked)

    def _ends(self, key: tuple[str, str, str, MessageQueue]) -> tuple[str, int] | None:
        # Of several nobody knows which one has ended: a queue that was given up may have been taken again.
        pulls = self.open.pop(key, [])
        if len(pulls) > 1:
            self.open[key] = [None] * (len(pulls) - 1)
        return pulls[0] if len(pulls) == 1 else None

    def _too_soon(self, key: tuple[str, str, str, MessageQueue], asked: tuple[str, int]) -> Iterator[Told]:
        (at, _, group, mq), (broker, version) = key, asked
        newest = self.newest.get((broker, group, mq.topic), -1)
        if version > newest:
            yield self.told(f"{broker} takes a pull of {queue_text(mq)} by version {version}, and has heard of no "
                            f"later version than {newest}", at, group, mq)


class versions_are_times(Rule):
    """The version of a subscription is its member's wall clock in milliseconds.

    Looks with each heartbeat: the version is of a time between the beginning of the world and now.
    """

    cite = "SubscriptionData#subVersion"
    about = "at client topic"
    excuses = (clock_was_set("at"), clock_was_set("client"))

    @on(events.ConsumerRegistered)
    def entered(self, ms: int, at: str, event: events.ConsumerRegistered) -> Iterator[Told]:
        broker = self.views.broker(at)
        now_ms = ms if broker is None else broker.now_ms
        wrong = [one for one in event.subscriptions if not now_ms - ms <= one[2] <= now_ms]
        for topic, _, version in sorted(wrong, key=str):
            yield self.told(f"{event.client_id} has {version} as the version of {topic}, at {now_ms} of {at}",
                            at, machine_of(event.connection), topic)


class only_the_subscribed_is_held(Promise):
    """After the last fault a consumer holds no queues of topics that it does not subscribe."""

    cite = "RebalanceImpl#truncateMessageQueueNotMyTopic"
    about = "at group mq"
    within_ms = deadlines.rebalanced

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for at in dict.fromkeys(one.machine for one in self.views.consumers()):
            for held in self.views.process_queues(at):
                if held.mq.topic not in self.views.subscribed(at, held.group):
                    yield self.told(f"{at} holds {queue_text(held.mq)}, which it does not subscribe",
                                    at, held.group, held.mq)
