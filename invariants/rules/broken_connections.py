"""What a client does whose connection breaks."""

from __future__ import annotations

from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.past import place_of
from invariants.rules.rule import Duty, Kept, Rule, on


def _broken(rule: Rule, ms: int, at: str, event: events.ConnectionSevered) -> tuple[str, str, int] | None:
    """Client, connection, and when the client sees that it has broken; None: it never does, or nobody knows.

    It is known of a process that has connected to the broker once.
    """
    client, broker, after_ms = at, event.other, 0
    if (at,) in rule.facts.brokers:
        if event.seen_after_ms is None:
            return None
        client, broker, after_ms = event.other, at, event.seen_after_ms
    started = rule.past.last(events.ProcessStarted, at=client)
    made = rule.past.of(events.ConnectionMade, since=place_of(started), at=client, server=broker)
    return (client, made[0].event.connection, ms + after_ms) if len(made) == 1 else None


class pull_fails_with_its_connection(Duty):
    """A client that closes a broken connection gives up at once the pulls that its broker holds for it there.

    Judged of processes that have connected to the broker once, so that it is clear which connection has broken. A
    client whose broker has ended the connection in order waits for the time-out, as does a call of one that is polled.
    """

    cite = "NettyRemotingClient.NettyConnectManageHandler#close, NettyRemotingAbstract#failFast"
    about = "at group mq"
    within_ms = deadlines.failed_at_once
    paid_by = (events.PullFailed, events.PullAnswered, events.QueueDropped)
    excuses = (
        Excuse("its client was told to reset queues: the thread that hears answers sleeps for 10 s each time",
               by=Match(events.ResetReceived, of="at group"), lasts=deadlines.reset),
        Excuse("it shuts down", by=Match(events.ConsumerStopping, of="at group")),
    )
    late = ("{at} has not given up the pull of queue {mq.queue_id} of {mq.topic} at {mq.broker_name} {waited_ms} ms "
            "after its connection has broken")

    # The pulls that brokers hold: at which machine, and of which group and queue; and those that clients wait for.
    held = Kept("connection opaque", survives="all", ends=(events.HeldPullAnswered,))
    waits = Kept("at group mq", begins=(events.PullSuspended,), ends=paid_by)

    @on(events.PullHeld)
    def holds(self, _: int, at: str, event: events.PullHeld) -> None:
        mq = MessageQueue(event.topic, self.facts.broker_name(at), event.queue_id)
        self.held[event.connection, event.opaque] = at, event.group, mq

    @on(events.BrokerStopping, events.BrokerStarted, events.ProcessKilled)
    def ends(self, _: int, at: str, event: Any) -> None:
        """What a broker held goes with it."""
        del event
        for key in [key for key, (broker, *_) in self.held.items() if broker == at]:
            del self.held[key]

    @on(events.ConnectionSevered)
    def breaks(self, ms: int, at: str, event: events.ConnectionSevered) -> None:
        client, broken, seen_ms = _broken(self, ms, at, event) or ("", "", ms)
        for (connection, _), (_, group, mq) in self.held.items() if client else ():
            waits = (client, group, mq) in self.waits and (client, group) not in self.facts.polls_from
            if waits and connection == broken:
                self.owe((client, group, mq), seen_ms)
