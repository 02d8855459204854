"""Rules of pulls: who holds a queue pulls it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import BrokerStarted, ConsumerStopping, PullAnswered, PullSuspended, QueueDropped, QueueTaken
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse, cause
from invariants.rules.facts import queue_text
from invariants.rules.match import Match
from invariants.rules.rule import Duty, Kept, Rule, Told, on

RUNNING = "RUNNING"


class held_queue_is_worked_on(Duty):
    """No consumer that runs holds a queue for longer than a minute without a pull of it at a broker."""

    shipped = "violated: U5 a member is suspended, U9 a broadcaster waits for a lock"
    cite = "DefaultMQPushConsumerImpl#pullMessage: executePullRequestImmediately, executePullRequestLater"
    about = "at client_id group mq broker_name"
    within_ms = deadlines.pulled
    paid_by = (PullSuspended,)
    excuses = (
        Excuse("its consumer gives it up", by=QueueDropped),
        Excuse("its consumer shuts down", by=ConsumerStopping),
        Excuse("its broker has just started, and may wait for the leases of its former life",
               by=Match(BrokerStarted, of="broker_name"), lasts=deadlines.lease_is_over),
        Excuse("another client has its lock",
               when=lambda rule, told: rule.facts.locked_for(*told.about[2:4]) not in (None, told.about[1])),
        cause("U5", "its consumer was suspended",
              when=lambda rule, told: rule.suspended_ms.get(told.about[:3], -1) >= told.since_ms),
    )

    suspended_ms = Kept("at client_id group")
    _now_ms = 0

    @on(QueueTaken, PullAnswered)
    def is_to_pull(self, ms: int, at: str, event: QueueTaken | PullAnswered) -> None:
        # An answer may come too late, and a rebalance under way may give a queue to a consumer that has shut down.
        holds = isinstance(event, QueueTaken) or (at, *event[:3]) in self.facts.holdings
        if holds and (at, *event[:2]) not in self.facts.stopping:
            self.owe((at, *event[:3], event.mq.broker_name), ms)

    def look(self, now_ms: int) -> Iterator[Told]:
        """See Duty."""
        self._now_ms = now_ms
        for one in self.views.consumers() if self.owed else ():
            if one.pause:
                self.suspended_ms[one[:3]] = now_ms
        yield from super().look(now_ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str:
        """See Duty; it is still to be done."""
        self.owe(key, self._now_ms, what)
        return f"{key[0]} holds {queue_text(key[3])} and has had no pull of it at a broker for {waited_ms} ms"


class held_queue_is_pulled(Rule):
    """Where nothing fails a consumer pulls each queue that it holds, one pull after another.

    Its table says when it has tried to.
    """

    cite = "PullMessageService, DefaultMQPushConsumerImpl#pullMessage"
    calm = True
    about = "at client_id group mq"

    # ProcessQueue.lastPullTimestamp when it was looked at last, and since when it is that.
    tried = Kept("at client_id group mq", ends=(QueueDropped,), begins=(QueueTaken,), value=lambda ms, _: (None, ms))
    _looked_ms = 0

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at the tables once in a while."""
        if now_ms - self._looked_ms < deadlines.PERSIST_MS or not self.tried:
            return
        self._looked_ms, limit_ms = now_ms, deadlines.pulled(self.bounds)
        for machine in dict.fromkeys(one.machine for one in self.views.consumers() if one.service_state == RUNNING):
            for held in self.views.process_queues(machine):
                value, since_ms = self.tried.get(held[:4], (None, now_ms))
                if value != held.last_pull_timestamp:
                    value, since_ms = held.last_pull_timestamp, now_ms
                if held[:4] in self.tried:
                    self.tried[held[:4]] = value, since_ms
                if now_ms - since_ms > limit_ms:
                    self.tried[held[:4]] = value, now_ms
                    yield self.told(f"{machine} has not pulled {queue_text(held.mq)} for {now_ms - since_ms} ms",
                                    *held[:4], since_ms=since_ms)
