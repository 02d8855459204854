"""Rules of shares: whether the members of a group have all queues of their topics between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import inf
from typing import Any, ClassVar

from impl import events
from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID, RETRY_GROUP_TOPIC_PREFIX
from invariants.rules import deadlines
from invariants.rules.bounds import Deadline
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.views import Consumer, Views

CLUSTERING, RUNNING = "CLUSTERING", "RUNNING"
IS_REFUSED = Excuse("a broker has objected to a member, which is not of the group, and expires",
                    by=Match(events.HeartbeatRefused, of="group"), lasts=deadlines.member_is_forgotten)


def divide_alike(members: Sequence[Consumer], views: Views) -> bool:
    """Whether members subscribe the same topics under ids of their own, and divide averagely."""
    topics = {frozenset(views.subscribed(one.machine, one.group)) for one in members}
    ids = {one.client_id for one in members}
    return len(topics) == 1 and len(ids) == len(members) and all(
        one.strategy == AllocateMessageQueueAveragely() for one in members)


class Shares(Rule):
    """What is common: queues that all members know and want, and how many of them hold each.

    Time counts while all members of a group run, nobody is suspended, all know the same queues of the topic (who does
    not divides other ones), and the master of the queue lives; then it is told at each look that it has been wrong for
    as long as it may be, so that excuses only put that off.
    most -- how many members may hold a queue; one must. limits -- how long it may be wrong, if the members need locks
    (True), or need none.
    """

    about = "group mq"
    most: ClassVar[float] = inf
    limits: ClassVar[dict[bool, Deadline]]

    # Queues that do not have the holders that they should have, and since when.
    wrong_ms = Kept(about, survives="all")
    _looked_ms, _has_moved = 0, True

    @on(events.QueueTaken, events.QueueDropped, events.ConsumerShutDown, events.ProcessKilled, events.RouteUpdated,
        events.TopicConfigUpdated, events.BrokerStarted)
    def moves(self, _: int, __: str, ___: Any) -> None:
        self._has_moved = True

    def looked(self, now_ms: int) -> dict[tuple[Any, ...], int] | None:
        """Begin a look: what was wrong at the last one, and since when; None if none is due."""
        if not self._has_moved and not self.wrong_ms and now_ms - self._looked_ms < deadlines.PERSIST_MS:
            return None
        self._looked_ms, self._has_moved, before = now_ms, False, dict(self.wrong_ms)
        self.wrong_ms.clear()
        return before

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at all groups at once where queues have moved, or are wrong; else once in a while."""
        before = self.looked(now_ms)
        if before is None:
            return
        for group, members in self.views.once("groups", self.groups).items():
            limit_ms = self.limits[any(one.orderly for one in members)](self.bounds)
            holders = partial(self.views.once, f"holders in {group}", partial(self.holders, members))
            wrong = [(mq, count) for mq, count in holders().items() if not 1 <= count <= self.most]
            for mq, count in sorted(wrong, key=_of_retries_last) if wrong and self.is_judged(members) else ():
                since_ms = self.wrong_ms[group, mq] = before.get((group, mq), now_ms)
                if now_ms - since_ms > limit_ms:
                    yield self.told(f"{queue_text(mq)} has {count or 'no'} owners in {group}, "
                                    f"for {now_ms - since_ms} ms", group, mq, since_ms=now_ms - limit_ms)

    def groups(self) -> dict[str, list[Consumer]]:
        """The members of each group that reads as a cluster."""
        groups: dict[str, list[Consumer]] = {}
        for one in self.views.in_service():
            if one.message_model == CLUSTERING:
                groups.setdefault(one.group, []).append(one)
        return groups

    def holders(self, members: Sequence[Consumer]) -> dict[MessageQueue, int]:
        """Of topics that all subscribe, with one route, the queues that masters have: how many members hold each."""
        group = members[0].group
        topics = {(broker.broker_name, topic) for broker in self.views.brokers() if broker.broker_id == MASTER_ID
                  for topic in self.views.topics(broker.machine)}
        routes = [{topic: mqs for topic, mqs in self.views.subscribe_info(one.machine, group).items()
                   if topic in self.views.subscribed(one.machine, group)} for one in members]
        mqs = {mq for topic, mqs in routes[0].items() if all(route.get(topic) == mqs for route in routes) for mq in mqs}
        held = Counter(held.mq for machine in dict.fromkeys(one.machine for one in members)
                       for held in self.views.process_queues(machine) if held.group == group and not held.dropped)
        return {mq: held[mq] for mq in mqs if (mq.broker_name, mq.topic) in topics}

    def tells_all(self, group: str) -> bool:
        """Whether each broker tells the members of a group that it has changed; else they meet by their timers."""
        return all(all(self.views.tells_of_changes(one.machine, group)) for one in self.views.brokers())

    def is_judged(self, members: Sequence[Consumer]) -> bool:
        """Whether anything is expected of them."""
        return all(one.service_state == RUNNING and not one.pause for one in members)


def _of_retries_last(wrong: tuple[MessageQueue, int]) -> tuple[bool, MessageQueue]:
    """The order in which queues are told of: first those that people know."""
    return wrong[0].topic.startswith(RETRY_GROUP_TOPIC_PREFIX), wrong[0]


class members_share_at_once(Shares):
    """Where nothing fails a group has shared out its queues, each to one member, seconds after its last change.

    Of members that subscribe the same topics under ids of their own, need no locks, and divide averagely.
    """

    cite = "ClientRemotingProcessor#notifyConsumerIdsChanged, DefaultMQPushConsumerImpl#start, #resume"
    calm = True
    most, limits = 1, dict.fromkeys((False, True), deadlines.soon)
    excuses = (
        Excuse("a member comes or goes meanwhile",
               by=Match(events.ConsumerStarted, events.ConsumerStopping, events.ConsumerShutDown,
                        events.ConsumerRemoved, of="group")),
        Excuse("a broker hears of a member meanwhile",
               by=Match(events.ConsumerRegistered, of="group", having=lambda event: event.added)),
        Excuse("topics change, or a broker starts", lasts=deadlines.route_is_followed,
               by=Match(events.BrokerStarted, events.TopicConfigUpdated, events.TopicConfigDeleted, of="")),
        Excuse("the route of a member has changed since it rebalanced last",
               when=lambda rule, told: rule.routed_ms.get(told.about[:1], -1) >= told.since_ms),
        IS_REFUSED,
        Excuse("a member has asked for the list and was given none",
               by=Match(events.ConsumerIdsFetched, of="group", having=lambda event: event.client_ids is None),
               lasts=deadlines.handed_over),
        Excuse("a broker tells nobody of changes, and who has not heard of one waits for a timer",
               when=lambda rule, told: not rule.tells_all(told.about[0])),
        Excuse("it was reset, or its offset corrected, and a later run takes it again",
               when=lambda rule, told: rule.away_ms.get(told.about, -1) >= told.since_ms),
    )

    # When all will have followed the last change of a route; when queues that were reset will have been taken again.
    rebalanced = Kept("at group", ends=(events.ConsumerShutDown,), begins=(events.QueuesAssigned,))
    routed_ms = Kept("group", survives="all")
    away_ms = Kept("group mq", survives="all")

    @on(events.RouteUpdated)
    def routed(self, ms: int, at: str, event: events.RouteUpdated) -> None:
        """Nobody rebalances because of a route; who has not done so yet is about to."""
        if (at, event.group) in self.rebalanced and self.facts.routes.get((at, *event[1:3])) != event.mqs:
            self.routed_ms[event.group,] = ms + deadlines.handed_over(self.bounds)

    @on(events.QueueDropped)
    def dropped(self, ms: int, _: str, event: events.QueueDropped) -> None:
        if not event.by_rebalance and not self.facts.stops_now(event.client_id, event.group):
            self.away_ms[event.group, event.mq] = ms + deadlines.taken_again(self.bounds)

    def is_judged(self, members: Sequence[Consumer]) -> bool:
        """See Shares."""
        return super().is_judged(members) and divide_alike(members, self.views) and not any(
            one.orderly for one in members)


class members_have_even_shares(Shares):
    """Members that divide averagely have, over all topics, numbers of queues that differ by one at most.

    Of groups that have shared out all queues, each to one member; retry topics do not count.
    """

    shipped = "violated: A-9 each topic is divided by itself"
    cite = "RebalanceImpl#doRebalance, #rebalanceByTopic, AllocateMessageQueueAveragely#allocate"
    calm = True
    about = "group"
    excuses = (cause("A-9", "several of its topics cannot be divided evenly",
                     when=lambda rule, told: len(rule.uneven[told.about]) > 1),)

    # Since when the shares of a group differ, and the topics of which not all members have equally many queues.
    wrong_ms, uneven = Kept(about, survives="all"), Kept(about, survives="all")

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Rule."""
        before = self.looked(now_ms)
        if before is None:
            return
        for group, members in self.views.once("groups", self.groups).items():
            counts = self.counts(members) if self.is_judged(members) else {}
            totals = {machine: sum(of_topics.values()) for machine, of_topics in counts.items()}
            if totals and max(totals.values()) - min(totals.values()) > 1:
                since_ms = self.wrong_ms[group,] = before.get((group,), now_ms)
                self.uneven[group,] = _uneven([*counts.values()])
                if now_ms - since_ms > deadlines.shared_out(self.bounds):
                    shares = ", ".join(_share(machine, of_topics) for machine, of_topics in counts.items())
                    yield self.told(f"the members of {group} have so many queues: {shares}", group, since_ms=since_ms)

    def counts(self, members: Sequence[Consumer]) -> dict[str, Counter[str]]:
        """Machine to topic to the number of queues that its member holds.

        Empty where not every queue has one owner, and where members know one of a broker that is away: it is divided as
        well, and who reads in order cannot have it.
        """
        group = members[0].group
        holders = self.views.once(f"holders in {group}", partial(self.holders, members))
        of_users = {mq: count for mq, count in holders.items() if not mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX)}
        if any(count != 1 for count in of_users.values()):
            return {}
        held = {one.machine: [
            held.mq for held in self.views.process_queues(one.machine) if held.group == group and not held.dropped
            and not held.mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX)] for one in members}
        known = (mq for one in members for mqs in self.views.subscribe_info(one.machine, group).values() for mq in mqs
                 if not mq.topic.startswith(RETRY_GROUP_TOPIC_PREFIX))
        if any(mq not in of_users for mq in chain(known, *held.values())):
            return {}
        return {machine: Counter(mq.topic for mq in mqs) for machine, mqs in held.items()}

    def is_judged(self, members: Sequence[Consumer]) -> bool:
        """See Shares."""
        return super().is_judged(members) and divide_alike(members, self.views)


def _share(machine: str, of_topics: Mapping[str, int]) -> str:
    """How many queues a member has, and of which topics."""
    said = ", ".join(f"{count} of {topic}" for topic, count in sorted(of_topics.items()) if count)
    return f"{machine} {sum(of_topics.values())}" + (f" ({said})" if said else "")


def _uneven(counts: Sequence[Counter[str]]) -> list[str]:
    """The topics of which not all members have equally many queues."""
    topics = {topic for of_topics in counts for topic in of_topics}
    return [topic for topic in sorted(topics) if len({of_topics[topic] for of_topics in counts}) > 1]
