"""Rules of shares: whether the members of a group have all queues of their topics between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from impl.decisions.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueByConfig,
    AllocateMessageQueueByMachineRoom,
    room_of_broker,
)
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from impl.events import (
    BrokerStarted,
    ConnectionSevered,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerShutDown,
    ConsumerStarted,
    ConsumerStopping,
    HeartbeatRefused,
    ListenerEnded,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    QueueDropped,
    QueuesAssigned,
    QueueTaken,
    RouteUpdated,
    TopicConfigDeleted,
    TopicConfigUpdated,
)
from invariants.rules import deadlines
from invariants.rules.bounds import Deadline
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Kept, Rule, Told, on
from invariants.rules.watch import Run
from invariants.views import Consumer

CLUSTERING, RUNNING = "CLUSTERING", "RUNNING"


class Shares(Rule):
    """What is common: queues that all members know and want, and how many of them hold each.

    Time counts while all members of a group run, nobody is suspended, and the master of the queue lives.
    """

    about = "group broker_name mq"

    def __init__(self, run: Run) -> None:
        """wrong_ms -- queues that do not have the holders that they should have, and since when."""
        super().__init__(run)
        self.wrong_ms = Kept(self.about, survives="all")
        self._looked_ms = 0

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at all groups once in a while."""
        if not self.is_due(now_ms):
            return
        self._looked_ms, before = now_ms, dict(self.wrong_ms)
        self.wrong_ms.clear()
        for group, members in self.groups().items():
            for mq, count in self.holders(members).items() if self.is_judged(members) else ():
                if not self.is_right(count):
                    key = group, mq.broker_name, mq
                    since_ms = self.wrong_ms[key] = before.get(key, now_ms)
                    if now_ms - since_ms > self.limit(group)(self.bounds):
                        self.wrong_ms[key] = now_ms
                        yield self.told(f"{queue_text(mq)} has {count or 'no'} owners in {group}, "
                                        f"for {now_ms - since_ms} ms", *key, since_ms=since_ms)

    def is_due(self, now_ms: int) -> bool:
        """Whether it is time to look again."""
        return now_ms - self._looked_ms >= deadlines.PERSIST_MS

    def groups(self) -> dict[str, list[Consumer]]:
        """The members of each group that reads as a cluster."""
        groups: dict[str, list[Consumer]] = {}
        for one in self.views.in_service():
            if one.message_model == CLUSTERING:
                groups.setdefault(one.group, []).append(one)
        return groups

    def holders(self, members: Sequence[Consumer]) -> dict[MessageQueue, int]:
        """The queues that all members subscribe and find in their routes, and that masters have: how many hold each."""
        group, topics = members[0].group, self._topics()
        mqs = [{mq for topic, mqs in self.views.subscribe_info(one.machine, group).items()
                if topic in self.views.subscribed(one.machine, group) for mq in mqs} for one in members]
        held = Counter(held.mq for machine in {one.machine for one in members}
                       for held in self.views.process_queues(machine) if held.group == group and not held.dropped)
        return {mq: held[mq] for mq in sorted(set.intersection(*mqs)) if (mq.broker_name, mq.topic) in topics}

    def _topics(self) -> set[tuple[str, str]]:
        return {(broker.broker_name, topic) for broker in self.views.brokers() if broker.broker_id == MASTER_ID
                for topic in self.views.topics(broker.machine)}

    def asks_the_dead(self, group: str, *_: object) -> bool:
        """Whether a member knows an address where no broker lives: for the list it may ask that one, and get none."""
        return any(self.views.dead_addresses(one.machine) for one in self.groups().get(group, ()))

    def is_judged(self, members: Sequence[Consumer]) -> bool:
        """Whether anything is expected of them."""
        return all(one.service_state == RUNNING and not one.pause for one in members)

    def is_right(self, count: int) -> bool:
        """Whether so many members may hold a queue."""
        raise NotImplementedError

    def limit(self, group: str) -> Deadline:
        """How long it may be wrong."""
        raise NotImplementedError


class queue_is_not_left_alone(Shares):
    """No queue is without an owner for longer than a hand-over takes, while members of its group run."""

    shipped = (
        "violated: U1 who has gone is still listed, B-5 or listed twice, D6 ids are equal, U3 the later place is "
        "nobody's, U7 a queue that comes back stays dropped, U10 an illegal offset, U11 a lock without its queue, "
        "U13 a strategy that throws, L13 one that leaves queues out, B-22b a lock that nobody wants, "
        "D12 one of a consumer that stopped"
    )
    cite = "RebalanceService#run: every 20 s, RebalanceImpl#updateProcessQueueTableInRebalance"
    excuses = (
        Excuse("a broker has just started, and has not heard of all members",
               by=Match(BrokerStarted, of=""), lasts=deadlines.all_have_spoken),
        Excuse("its broker has just started, and may wait for the leases of its former life",
               by=Match(BrokerStarted, of="broker_name"), lasts=deadlines.lease_is_over),
        Excuse("a member may ask a dead broker for the list", when=lambda rule, told: rule.asks_the_dead(*told.about)),
        Excuse("a broker stood still or was cut off, and members may ask it",
               when=lambda rule, told: rule.is_lost(told, set(machine for (machine,) in rule.facts.brokers))),
        Excuse("a listener still works on it", when=lambda rule, told: rule.works(*told.about)),
        Excuse("a listener has worked on it, and the next run of the rebalance gives it back",
               by=Match(ListenerEnded, of="group mq"), lasts=deadlines.handed_over),
        Excuse("a process that was killed had it, or worked on it, and its lock lasts",
               when=lambda rule, told: rule.leased_ms.get(told.about[::2], -1) >= told.since_ms),
        cause("U1", "a member that is listed has vanished, stood still or was cut off",
              when=lambda rule, told: rule.is_lost(told, rule.listed(*told.about))),
        cause("U13", "a strategy throws: it was told of no rooms",
              when=lambda rule, told: rule.strategy_says(told.about, throws)),
        cause("L13", "a strategy leaves the queue out",
              when=lambda rule, told: rule.strategy_says(told.about, leaves_out)),
    )

    def __init__(self, run: Run) -> None:
        """lost_ms -- machines that vanished, stood still or were cut off, and until when others feel it.

        leased_ms -- group and queue to when the lease of a holder ends that was killed.
        """
        super().__init__(run)
        self.lost_ms = Kept("machine", survives="all")
        self.leased_ms = Kept("group mq", survives="all")

    @on(ProcessPaused)
    def stands_still(self, ms: int, at: str, event: ProcessPaused) -> None:
        """A machine does not answer."""
        self._lose(ms + event.ms, at)

    @on(ConnectionSevered, PartitionBegan)
    def is_cut_off(self, ms: int, at: str, event: Any) -> None:
        """Two machines do not hear each other."""
        self._lose(ms, at, event[0])

    @on(ProcessKilled)
    def is_killed(self, ms: int, at: str, event: ProcessKilled) -> None:
        """What it held stays locked for a while; nobody is told where power was lost."""
        if event.power_loss:
            self._lose(ms, at)
        for key in (*self.facts.holdings, *self.facts.busy):
            if key[0] == at and self.facts.is_orderly(at, key[2]):
                self.leased_ms[key[2:]] = ms + deadlines.lease_is_over(self.bounds)

    def _lose(self, ms: int, *machines: str) -> None:
        for machine in machines:
            self.lost_ms[machine,] = max(ms, self.lost_ms.get((machine,), ms))

    def is_lost(self, told: Told, machines: set[str]) -> bool:
        """Whether one of these machines was lost so shortly before that it is still felt."""
        since_ms = told.since_ms or 0
        return any(self.lost_ms.get((machine,), -since_ms - 1) + deadlines.member_is_forgotten(self.bounds) >= since_ms
                   for machine in machines if (machine,) in self.lost_ms)

    def listed(self, group: str, *_: object) -> set[str]:
        """The machines of the members that brokers list, and of those that run."""
        listed = (machine_of(connection) for broker in self.views.brokers()
                  for connection in self.views.members(broker.machine, group))
        return {*listed, *(one.machine for one in self.groups().get(group, ()))}

    def works(self, group: str, _: str, mq: MessageQueue) -> bool:
        """Whether a listener of the group works on a queue."""
        return any(key[2:] == (group, mq) for key in self.facts.busy)

    def strategy_says(self, about: tuple[str, str, MessageQueue], says: Any) -> bool:
        """Whether this is true of the strategy of a member, and of the queue."""
        return any(says(one.strategy, about[2]) for one in self.groups().get(about[0], ()))

    def is_right(self, count: int) -> bool:
        """See Shares."""
        return count > 0

    def limit(self, group: str) -> Deadline:
        """See Shares."""
        orderly = any(one.orderly for one in self.groups().get(group, ()))
        return deadlines.handed_over_in_order if orderly else deadlines.handed_over


def throws(strategy: Any, _: MessageQueue) -> bool:
    """Whether a strategy was told of no rooms."""
    return isinstance(strategy, AllocateMessageQueueByMachineRoom) and strategy.consumeridcs is None


def leaves_out(strategy: Any, mq: MessageQueue) -> bool:
    """Whether a strategy gives a queue to nobody: it is not configured, or in no room that is read."""
    if isinstance(strategy, AllocateMessageQueueByConfig):
        return mq not in (strategy.message_queue_list or ())
    rooms = strategy.consumeridcs if isinstance(strategy, AllocateMessageQueueByMachineRoom) else None
    return rooms is not None and room_of_broker(mq.broker_name) not in rooms


class members_share_at_once(Shares):
    """Where nothing fails a group has shared out its queues, each to one member, seconds after its last change.

    Of members that subscribe the same topics under ids of their own, need no locks, and divide averagely.
    """

    cite = "ClientRemotingProcessor#notifyConsumerIdsChanged, DefaultMQPushConsumerImpl#start, #resume"
    calm = True
    excuses = (
        Excuse("a member comes or goes meanwhile",
               by=Match(ConsumerStarted, ConsumerStopping, ConsumerShutDown, ConsumerRemoved, of="group")),
        Excuse("a broker hears of a member meanwhile",
               by=Match(ConsumerRegistered, of="group", having=lambda event: event.added)),
        Excuse("topics change, or a broker starts", by=Match(BrokerStarted, TopicConfigUpdated, TopicConfigDeleted, of=""),
               lasts=deadlines.route_is_followed),
        Excuse("the route of a member has changed since it rebalanced last",
               when=lambda rule, told: rule.routed_ms.get(told.about[:1], -1) >= told.since_ms),
        Excuse("a member is refused, and expires", by=Match(HeartbeatRefused, of="group"),
               lasts=deadlines.member_is_forgotten),
        Excuse("a member may ask a dead broker for the list", when=lambda rule, told: rule.asks_the_dead(*told.about)),
        Excuse("it was reset, or its offset corrected, and a later run takes it again",
               when=lambda rule, told: rule.away_ms.get(told.about[::2], -1) >= told.since_ms),
    )

    def __init__(self, run: Run) -> None:
        """rebalanced -- consumers that have. routed_ms -- when all will have followed the last change of a route.

        away_ms -- queues that were reset or corrected: when they will have been taken again.
        """
        super().__init__(run)
        self.rebalanced = Kept("at group", ends=(ConsumerShutDown,))
        self.routed_ms = Kept("group", survives="all")
        self.away_ms = Kept("group mq", survives="all")
        self.moved = False

    @on(QueuesAssigned)
    def assigned(self, ms: int, at: str, event: QueuesAssigned) -> None:
        """A run of the rebalance has ended."""
        self.rebalanced[at, event.group] = ms

    @on(RouteUpdated)
    def routed(self, ms: int, at: str, event: RouteUpdated) -> None:
        """Nobody rebalances because of a route; who has not done so yet is about to."""
        if (at, event.group) in self.rebalanced and self.facts.routes.get((at, *event[1:3])) != event.mqs:
            self.routed_ms[event.group,] = ms + deadlines.handed_over(self.bounds)

    @on(QueueTaken)
    def taken(self, _: int, __: str, ___: QueueTaken) -> None:
        """Something has changed."""
        self.moved = True

    @on(QueueDropped)
    def dropped(self, ms: int, _: str, event: QueueDropped) -> None:
        """Something has changed; it comes back if neither a rebalance nor a shutdown has dropped it."""
        self.moved = True
        if not event.by_rebalance and not self.facts.stops_now(event.client_id, event.group):
            self.away_ms[event.group, event.mq] = ms + deadlines.taken_again(self.bounds)

    def is_due(self, now_ms: int) -> bool:
        """At once where something has changed, or is wrong."""
        is_due, self.moved = self.moved or bool(self.wrong_ms) or super().is_due(now_ms), False
        return is_due

    def is_judged(self, members: Sequence[Consumer]) -> bool:
        """See Shares."""
        topics = {frozenset(self.views.subscribed(one.machine, one.group)) for one in members}
        return super().is_judged(members) and len(topics) == 1 and len({one.client_id for one in members}) == len(members) \
            and all(not one.orderly and one.strategy == AllocateMessageQueueAveragely() for one in members)

    def is_right(self, count: int) -> bool:
        """See Shares."""
        return count == 1

    def limit(self, group: str) -> Deadline:
        """See Shares."""
        del group
        return deadlines.soon
