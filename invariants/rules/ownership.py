"""Rules of owners: who takes a queue, who gives it up, and when a member looks what is its share."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.facts import is_suspended, queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Duty, Kept, Promise, Rule, Told, after, on

RUNNING = "RUNNING"


class queue_is_taken_once(Rule):
    """A client that holds a queue does not take it again before it has given it up."""

    shipped = "violated: X21 a reset removes what it has not dropped, X22 so does one of two runs at once"
    cite = "RebalanceImpl#updateProcessQueueTableInRebalance: putIfAbsent"
    about = "at client_id group mq"

    @on(events.QueueTaken)
    def taken(self, _: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        if (at, *event[:3]) in self.facts.holdings:
            yield self.told(f"{at} takes {queue_text(event.mq)} a second time", at, *event[:3])


class only_the_listed_give_up(Rule):
    """A rebalance takes queues only from members that are in the list by which it divides."""

    shipped = "violated: U2 who is not listed has no share"
    cite = "RebalanceImpl#rebalanceByTopic: cidAll"
    about = "at client_id group mq"
    excuses = (
        cause("U2", "the broker that it has just asked does not list it",
              when=lambda rule, told: rule.unlisted[told.about[0], told.about[2], told.about[3].topic]),
    )

    # Runs whose list has not their client: whether a broker has just answered so; time in which the process of the
    # client stood still does not count. What brokers have answered to whom.
    unlisted = Kept("at group topic", ends=(events.QueuesAssigned,))
    answered_ms = Kept("machine group client_ids", machine="machine", begins=(
        Match(events.ConsumerIdsAnswered, of="machine=connection.machine group client_ids"),))

    @on(events.ConsumerIdsFetched)
    def fetched(self, ms: int, at: str, event: events.ConsumerIdsFetched) -> None:
        self.unlisted.pop((at, event.group, event.topic), None)
        if event.client_ids is not None and event.client_id not in event.client_ids:
            answered_ms = self.answered_ms.get((at, event.group, event.client_ids))
            is_new = answered_ms is not None and deadlines.handled(
                self.bounds) >= ms - answered_ms - self.facts.stood_still_ms(at, answered_ms)
            self.unlisted[at, event.group, event.topic] = is_new

    @on(events.QueueDropped)
    def dropped(self, _: int, at: str, event: events.QueueDropped) -> Iterator[Told]:
        if event.by_rebalance and (at, event.group, event.mq.topic) in self.unlisted:
            yield self.told(f"{at} gives {queue_text(event.mq)} up by a list that it is not in", at, *event[:3])


class share_is_kept(Rule):
    """A rebalance takes no queue from a member that is in the member's share.

    It is in the share if the same run takes it again: one that has fetched its list later is another one.
    """

    shipped = "violated: X13 it was not pulled for 120 s"
    cite = "RebalanceImpl#updateProcessQueueTableInRebalance"
    about = "at client_id group mq"
    excuses = (
        Excuse("its offset has been corrected, and the correction removes it from the table",
               by=events.OffsetCorrected, lasts=deadlines.soon),
        Excuse("two runs with lists of their own are under way", when=lambda rule, told: rule.runs(*told.about) > 1),
        cause("X13", "the queue was not pulled for 120 s",
              when=lambda rule, told: rule.given_up[(*told.about, told.about[3].topic)] > deadlines.PULL_IDLE_MS),
        cause("X13", "the client's clock was set, or runs at another speed, and counts 120 s",
              by=Match(events.ClockJumped, events.ClockDrifts, of="at"), lasts=FOR_EVER),
    )

    # What the run that goes on has given up: for how many ms it was not pulled. How many lists were fetched since a run
    # for the topic ended.
    given_up = Kept("at client_id group mq topic", ends=(events.QueuesAssigned, events.ConsumerIdsFetched))
    pulled_ms = Kept("at client_id group mq", begins=(events.PullSuspended,))
    lists = Kept("at client_id group topic", ends=(events.QueuesAssigned,))

    def runs(self, at: str, client_id: str, group: str, mq: MessageQueue) -> int:
        """How many runs for the topic of a queue have a list."""
        return int(self.lists.get((at, client_id, group, mq.topic), 0))

    @on(events.ConsumerIdsFetched)
    def fetches(self, _: int, at: str, event: events.ConsumerIdsFetched) -> None:
        if event.client_ids is not None:
            key = at, event.client_id, event.group, event.topic
            self.lists[key] = self.lists.get(key, 0) + 1

    @on(events.QueueDropped)
    def dropped(self, ms: int, at: str, event: events.QueueDropped) -> None:
        if event.by_rebalance:
            key = at, *event[:3]
            self.given_up[(*key, event.mq.topic)] = ms - max(
                self.pulled_ms.get(key, 0), self.facts.holdings.get(key, 0))

    @on(events.QueueTaken)
    def taken(self, _: int, at: str, event: events.QueueTaken) -> Iterator[Told]:
        if (at, *event[:3], event.mq.topic) in self.given_up:
            yield self.told(f"{at} has given {queue_text(event.mq)} up and takes it again", at, *event[:3])


_ITS_FIRST = "its first topic"
UNSUBSCRIBED = Match(events.SubscriptionAsked, of="at group topic", having=lambda one: one.expression is None)
"""An application wants a topic no more."""


class told_members_rebalance(Duty):
    """A member that is told of a change of its group asks within 5 s who is in it, for each topic that it shares out.

    A run that is under way ends first. While it gives queues up and takes others the time begins anew with each of
    them, and with each topic that it has shared out: a thread may stand still at any of them, however many they are.
    Ignores what is sent on a connection of a process that has ended: where power was lost no broker knows of the end.
    """

    shipped = "violated: B-13 the notification is lost, U15 a reset holds the thread"
    cite = "ClientRemotingProcessor#notifyConsumerIdsChanged, RebalanceService#wakeup"
    about = "at group topic"
    within_ms = deadlines.told_to_rebalance
    paid_by = (events.ConsumerIdsFetched,)
    excuses = (
        Excuse("it shuts down", by=events.ConsumerStopping),
        Excuse("a broker stood still, and a run that is under way may wait for it",
               when=lambda rule, told: rule.waits_until_ms >= told.since_ms),
        Excuse("nothing passed from the member, and a run that is under way may wait for an answer",
               by=Match(events.PartitionBegan, of="at"), lasts=deadlines.member_is_forgotten),
        cause("B-13", "a connection of the member broke",
              by=events.ConnectionSevered, lasts=deadlines.member_is_forgotten),
        cause("B-13", "a connection to the member broke",
              by=Match(events.ConnectionSevered, of="at=other"), lasts=deadlines.member_is_forgotten),
        cause("B-13", "nothing passed to the member",
              by=Match(events.PartitionBegan, of="at=target"), lasts=deadlines.member_is_forgotten),
        cause("B-13", "a one-way message to the member was lost", by=Match(events.MessageLost, of="at=other"),
              lasts=deadlines.soon),
    )

    late = "{at} was told {waited_ms} ms ago that {group} has changed, and has not shared out {topic} since"

    # What a member shares out: of a topic without a route it asks nobody, and perhaps no name server lives either.
    shared = Kept("at group topic", ends=(UNSUBSCRIBED,), begins=(
        Match(events.ConsumerIdsFetched, having=lambda one: one.broker_addr is not None),))

    # Connections on which a process that lives has spoken, and those of others.
    spoken = Kept("client connection", machine="client", begins=(
        Match(events.ConsumerRegistered, of="client=connection.machine connection"),))
    ended = Kept("connection", survives="all")
    waits_until_ms = 0

    @on(events.ProcessKilled)
    def is_killed(self, ms: int, client: str, _: events.ProcessKilled) -> None:
        """Nobody hears what is sent on its connections, whatever broker believes them to be open."""
        for machine, connection in self.spoken:
            if machine == client:
                self.ended[connection,] = ms

    @on(events.ProcessPaused)
    def stands_still(self, ms: int, at: str, event: events.ProcessPaused) -> None:
        super().stands_still(ms, at, event)
        if (at,) in self.facts.brokers:
            self.waits_until_ms = max(self.waits_until_ms, ms + event.ms + deadlines.handled(self.bounds))

    @on(events.ConsumerIdsChanged)
    def is_told(self, ms: int, at: str, event: events.ConsumerIdsChanged) -> None:
        machine, reaches = machine_of(event.connection), event.delivered and (event.connection,) not in self.ended
        listed = self.facts.listed.get((at, event.group, event.connection))
        earlier = listed is not None and not self.facts.runs(machine, listed.client_id, event.group)
        if reaches and not earlier and self.facts.clusters(machine, event.group):  # who broadcasts asks for no list
            for topic in [topic for *key, topic in self.shared if key == [machine, event.group]] or [_ITS_FIRST]:
                self.owe((machine, event.group, topic), ms)

    @on(events.ConsumerIdsFetched)
    def shares_out(self, _: int, at: str, event: events.ConsumerIdsFetched) -> None:
        self.pay((at, event.group, _ITS_FIRST))

    @on(events.SubscriptionAsked)
    def wants(self, _: int, at: str, event: events.SubscriptionAsked) -> None:
        if event.expression is None:
            self.pay((at, event.group, event.topic))

    @on(events.QueueTaken, events.QueueDropped, events.QueuesAssigned)
    def goes_on(
        self, ms: int, at: str, event: events.QueueTaken | events.QueueDropped | events.QueuesAssigned,
    ) -> None:
        """A run that is under way gets on; the next one would have fetched its list first, which pays."""
        if not isinstance(event, events.QueueDropped) or event.by_rebalance:
            for key in self.owed:
                if key[:2] == (at, event.group):
                    self.count_from(key, ms)

    @on(events.ProcessStarted)
    def comes_back(self, ms: int, at: str, _: events.ProcessStarted) -> None:
        """A run that is under way may have waited for this broker, and waits no longer."""
        for key in self.owed if (at,) in self.facts.brokers else ():
            self.count_from(key, ms)

    @on(events.NameServerChosen)
    def looks_for_a_name_server(self, ms: int, at: str, _: events.NameServerChosen) -> None:
        """A run that is under way asks name servers for each queue of a broker that has no master, and waits for each.

        So do threads for which it waits: only one looks for a name server at a time.
        """
        for key in self.owed:
            if key[0] == at:
                self.count_from(key, ms)

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Duty; no time counts while a consumer does not run yet, or is suspended.

        Nor while its client knows an address where no broker lives: a run that is under way may wait for it.
        """
        at_work = {(one.machine, one.group) for one in (self.views.consumers() if self.owed else ())
                   if (one.service_state, one.pause) == (RUNNING, False)}
        for key in self.owed:
            if key[:2] not in at_work or self.views.dead_addresses(key[0]):
                self.count_from(key, now_ms)
        yield from super().look(now_ms)


class shutdown_drops_all_queues(Rule):
    """A consumer whose shutdown is over holds no queues: what its listeners still do is not settled."""

    cite = "DefaultMQPushConsumerImpl#shutdown, RebalanceImpl#destroy"
    about = "at client_id group mq"

    @after(events.ConsumerShutDown)
    def has_stopped(self, _: int, at: str, event: events.ConsumerShutDown) -> Iterator[Told]:
        for held in self.views.process_queues(at):
            if held[1:3] == event and not held.dropped:
                yield self.told(f"{at} holds {queue_text(held.mq)} after its shutdown", *held[:4])


class only_the_readable_is_held(Promise):
    """After the last fault a consumer that has a route of a topic holds no queues that the route does not have."""

    shipped = "violated: U14 an empty route is an error"
    cite = "RebalanceImpl#updateProcessQueueTableInRebalance"
    about = "at client_id group mq"
    within_ms = deadlines.broker_is_forgotten
    excuses = (
        Excuse("a suspended consumer keeps what it has",
               when=lambda rule, told: is_suspended(rule.views, *told.about[:3])),
    )

    def wrong(self) -> Iterator[Told]:
        """Look at the tables of all that run."""
        for one in self.views.consumers():
            routes = self.views.subscribe_info(one.machine, one.group) if one.service_state == RUNNING else {}
            for held in self.views.process_queues(one.machine) if routes else ():
                mine = held[1:3] == (one.client_id, one.group) and not held.dropped
                if mine and held.mq not in routes.get(held.mq.topic, (held.mq,)):
                    yield self.told(f"{one.machine} holds {queue_text(held.mq)}, which its route does not have",
                                    *held[:4])
