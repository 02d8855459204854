"""The rule of queues that nobody holds."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar

from impl import events
from impl.decisions.allocation import AllocateMessageQueueByConfig, AllocateMessageQueueByMachineRoom, room_of_broker
from impl.decisions.message_queue import MessageQueue
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Kept, Told, on
from invariants.rules.shares import IS_REFUSED, Shares
from invariants.views import Consumer


class queue_is_not_left_alone(Shares):
    """No queue is without an owner for longer than a hand-over takes, while members of its group run."""

    shipped = (
        "violated: U1 who has gone is still listed, B-5 or listed twice, D6 ids are equal, U3 the later place is "
        "nobody's, U7 a queue that comes back stays dropped, U10 an illegal offset, U11 a lock without its queue, "
        "U13 a strategy that throws, L13 one that leaves queues out, B-22b a lock that nobody wants, "
        "D12 one of a consumer that stopped"
    )
    cite = "RebalanceService#run: every 20 s, RebalanceImpl#updateProcessQueueTableInRebalance"
    limits: ClassVar = {False: deadlines.handed_over, True: deadlines.handed_over_in_order}
    excuses = (
        Excuse("a broker has just started, and has not heard of all members",
               when=lambda rule, told: rule.heard_ms >= told.since_ms),
        Excuse("its broker has granted no lock since it started, or not for long: it waited for former leases",
               when=lambda rule, told: rule.waits_for_leases(told)),
        Excuse("a member may ask a dead broker for the list",
               when=lambda rule, told: any(rule.views.dead_addresses(one.machine) for one in rule.members(told))),
        Excuse("a member has asked a dead broker for the list meanwhile",
               when=lambda rule, told: rule.asked_in_vain(told)),
        Excuse("a member has the list, and is at work on it: its thread may stand still",
               when=lambda rule, told: rule.is_dividing(told)),
        Excuse("a broker stood still, was cut off, or let members expire by a clock that was set; members may ask it",
               when=lambda rule, told: rule.is_lost(told, {machine for (machine,) in rule.facts.brokers})),
        IS_REFUSED,
        Excuse("a member has come or gone meanwhile, and who was to take it before may have stood still, or not heard",
               when=lambda rule, told: rule.has_changed(told)),
        Excuse("a listener still works on it",
               when=lambda rule, told: any(key[2:] == told.about for key in rule.facts.busy)),
        Excuse("a listener has worked on it, and the next run of the rebalance gives it back",
               by=Match(events.ListenerEnded, of="group mq"), lasts=deadlines.handed_over),
        Excuse("who had it ended before its unlock, or lost a message that may have been that, and the lock lasts",
               when=lambda rule, told: rule.leased_ms.get(told.about, -1) >= told.since_ms),
        cause("U1", "a member that is listed has vanished, stood still or was cut off",
              when=lambda rule, told: rule.is_lost(told, rule.listed(told))),
        cause("U13", "a strategy throws: it was told of no rooms",
              when=lambda rule, told: any(throws(one.strategy, told.about[1]) for one in rule.members(told))),
        cause("L13", "a strategy leaves the queue out",
              when=lambda rule, told: any(leaves_out(one.strategy, told.about[1]) for one in rule.members(told))),
    )

    # Who takes it is its owner, if only until its offset is found to be illegal at once.
    wrong_ms = Kept("group mq", survives="all", ends=(Match(events.QueueTaken, of="group mq"),))
    # Machines that vanished, stood still or were cut off, and when. Machines whose clocks were set. What a rebalance
    # has given up, perhaps to be unlocked later. Until when leases last of those who have ended. Brokers that have
    # granted locks since they started, and since when. When a member of a group last started, or ended in order, and
    # when one last asked for the list, about a topic, where no broker lived.
    lost_ms = Kept("machine", survives="all")
    jumped = Kept("at", survives="all", begins=(events.ClockJumped,))
    given_up = Kept("at client_id group mq",
                    begins=(Match(events.QueueDropped, having=lambda event: event.by_rebalance),),
                    ends=(events.QueueTaken, Match(events.LockReleased, of="client_id group mq")))
    leased_ms = Kept("group mq", survives="all")
    granting = Kept("at")
    changed_ms = Kept("group", survives="all", begins=(events.ConsumerStarted, events.ConsumerShutDown))
    in_vain_ms = Kept("group topic", survives="all")
    # Since when members have the list with which they are not through; one that is asked for again says nothing.
    dividing = Kept("at client_id group topic", ends=(events.QueuesAssigned,))
    heard_ms = 0

    @on(events.BrokerStarted)
    def starts(self, ms: int, _: str, __: events.BrokerStarted) -> None:
        if self.facts.consumers:
            self.heard_ms = ms + deadlines.all_have_spoken(self.bounds)

    @on(events.ConsumerIdsFetched)
    def asks(self, ms: int, at: str, event: events.ConsumerIdsFetched) -> None:
        if event.client_ids is not None:
            self.dividing.setdefault((at, *event[:3]), ms)
        elif event.broker_addr not in {one.broker_addr for one in self.views.brokers()}:
            self.in_vain_ms[event.group, event.topic] = ms

    @on(events.LockGranted)
    def grants(self, ms: int, at: str, _: events.LockGranted) -> None:
        self.granting.setdefault((at,), ms)

    @on(events.ProcessPaused, events.PartitionBegan)
    def is_away(self, ms: int, at: str, event: Any) -> None:
        self._lose(ms + getattr(event, "ms", 0), at, getattr(event, "target", at))

    @on(events.ConnectionSevered)
    def loses_a_connection(self, ms: int, at: str, event: events.ConnectionSevered) -> None:
        """A member is not heard of; a broker is heard of by all others."""
        self._lose(ms, *(one for one in (at, event.other) if (one,) not in self.facts.brokers))

    @on(events.ConsumerRemoved)
    def lets_expire(self, ms: int, at: str, event: events.ConsumerRemoved) -> None:
        if event.why == "expired" and (at,) in self.jumped:
            self._lose(ms, at)

    @on(events.ProcessKilled)
    def is_killed(self, ms: int, at: str, event: events.ProcessKilled) -> None:
        """What it held stays locked for a while; nobody is told where power was lost."""
        if event.power_loss:
            self._lose(ms, at)
        for key in (*self.facts.holdings, *self.facts.busy):
            if key[0] == at and self.facts.is_orderly(at, key[2]):
                self.leased_ms[key[2:]] = ms + deadlines.lease_is_over(self.bounds)

    @on(events.ConsumerStopping)
    def stops(self, _: int, at: str, event: events.ConsumerStopping) -> None:
        """What it holds it unlocks now; a delayed unlock of what it gave up before is not waited for."""
        for (_, group, mq), (granted_ms, holder) in self.facts.locks.items():
            if (holder, group) == event and (at, *event, mq) in self.given_up:
                self.leased_ms[group, mq] = granted_ms + deadlines.lease_is_over(self.bounds)

    @on(events.MessageLost)
    def loses_a_message(self, ms: int, at: str, event: events.MessageLost) -> None:
        ids = {started.client_id for (machine, _), started in self.facts.consumers.items() if machine == at}
        for (broker, *queue), (_, holder) in self.facts.locks.items():
            if broker == event.other and holder in ids:
                self.leased_ms[tuple(queue)] = ms + deadlines.lease_is_over(self.bounds)

    def _lose(self, ms: int, *machines: str) -> None:
        for machine in machines:
            self.lost_ms[machine,] = max(ms, self.lost_ms.get((machine,), ms))

    def is_lost(self, told: Told, machines: set[str]) -> bool:
        """Whether one of these machines was lost so shortly before that it is still felt."""
        since_ms = told.since_ms or 0
        lasts_ms = deadlines.member_is_forgotten(self.bounds)
        return any(ms + lasts_ms >= since_ms for (machine,), ms in self.lost_ms.items() if machine in machines)

    def members(self, told: Told) -> Sequence[Consumer]:
        """The members of the group that it is about."""
        return self.groups().get(told.about[0], ())

    def listed(self, told: Told) -> set[str]:
        """The machines of the members that brokers list, and of those that run."""
        listed = (machine_of(connection) for broker in self.views.brokers()
                  for connection in self.views.members(broker.machine, told.about[0]))
        return {*listed, *(one.machine for one in self.members(told))}

    def asked_in_vain(self, told: Told) -> bool:
        """Whether a rebalance of the topic came to nothing since then: a broker was asked that had just ended."""
        group, mq = told.about
        return bool(self.in_vain_ms.get((group, mq.topic), -1) >= (told.since_ms or 0))

    def is_dividing(self, told: Told) -> bool:
        """Whether a member has had the list for no longer than it may be at work on it."""
        group, mq = told.about
        return any(key[2:] == (group, mq.topic) and self._looked_ms - ms <= deadlines.divided(self.bounds)
                   for key, ms in self.dividing.items())

    def has_changed(self, told: Told) -> bool:
        """Whether the hand-over that is waited for began anew, where the one before it may have been held up."""
        changed_ms = self.changed_ms.get(told.about[:1], -inf)
        held_up = not self.views.calm() or not self.tells_all(told.about[0])
        return held_up and changed_ms >= (told.since_ms or 0)

    def waits_for_leases(self, told: Told) -> bool:
        """Whether a group needs locks, and the broker of a queue had granted none when time began to count."""
        since_ms = told.since_ms or 0
        return any(one.orderly for one in self.members(told)) and all(
            self.facts.broker_name(at) != told.about[1].broker_name or ms >= since_ms
            for (at,), ms in self.granting.items())


def throws(strategy: Any, _: MessageQueue) -> bool:
    """Whether a strategy was told of no rooms."""
    return isinstance(strategy, AllocateMessageQueueByMachineRoom) and strategy.consumeridcs is None


def leaves_out(strategy: Any, mq: MessageQueue) -> bool:
    """Whether a strategy gives a queue to nobody: it is not configured, or in no room that is read."""
    if isinstance(strategy, AllocateMessageQueueByConfig):
        return mq not in (strategy.message_queue_list or ())
    rooms = strategy.consumeridcs if isinstance(strategy, AllocateMessageQueueByMachineRoom) else None
    return rooms is not None and room_of_broker(mq.broker_name) not in rooms
