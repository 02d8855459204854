"""Follows pulls that a master holds with `model.pull.LongPolling`: one model for each, from its hold to its answer.

A pull is a request: a connection and its opaque. Those of a group for its topic are followed, if they are held for as
long as a push consumer says. What the network has doubled is not, while the broker holds both: they are alike.

Visible: phase, of which the table of the broker says whether it is HELD. Before each step the age is set by the clock
of the broker: 0, or as long as a pull is held. That the broker has found nothing (`look`) is reported when the pull is
held; what arrived between shows in the queue then (P13). Whether a message is one for the pull is known where the group
has subscribed all; else both is tried. A round of the broker (`scan`) shows in what it wakes, and is a step then; where
nothing fails there has been one when a pull is held for a period longer than it may be. A client that waits no more
(`time_out`) is nothing to its broker, which holds the pull on; what a broker holds when it ends is lost.

The promises of the model are not judged here: threads may stand still, and `invariants.rules.held_pulls` judges where
nothing fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.subscription import SUB_ALL
from invariants.finding import Finding
from invariants.refinement.follower import Follower
from invariants.refinement.maps import Map, hears, placed
from invariants.refinement.monitor import Monitor, Step
from invariants.views import Machines
from model.language.open.reading import OpenReading
from model.pull import LongPolling

NAME = "refines_pull"
HOLD_MS, SCAN_MS = 15_000, 5_000
CONSTANTS = {"hold_max": HOLD_MS, "scan_period": SCAN_MS}
MASTER_ID = 0
_Key = tuple[str, str, int]


def followers(machines: Machines, groups: Sequence[tuple[str, str]], _scopes: object) -> list[Follower]:
    """One, of the pulls of all groups."""
    return [HeldPulls(machines, groups)]


class _Pull:
    """One pull.

    held_ms -- since when, by the broker's clock. arrivals -- which steps an arriving message may be. late -- a message
    is there of which the broker tells nobody yet, because its index has failed.
    """

    def __init__(self, monitor: Monitor, event: events.PullHeld, clock: Callable[[], int]) -> None:
        self.monitor, self.event, self.clock = monitor, event, clock
        self.held_ms = clock()
        self.arrivals = ("arrive",) if event.expression == SUB_ALL else ("arrive", "arrive_beside")
        self.late = False

    def steps(self, event: Any, *ways: Sequence[Step]) -> list[Finding]:
        """Let time pass, and take the steps of one of these ways."""
        age = HOLD_MS if self.clock() - self.held_ms >= HOLD_MS else 0
        if self.monitor.value("age") != age:
            self.monitor.write({("age",): age})
        return self.noted(self.monitor.take(event, *ways[0]) if len(ways) == 1 else self.monitor.follow(event, ways))

    def arrives(self, event: events.MessageDispatched) -> list[Finding]:
        """A message arrives in its queue; what it is told of once more arrives when that shows."""
        if event.queue_offset < self.event.offset:
            return []
        self.late = not event.told
        return self._arrives(event) if event.told else []

    def _arrives(self, event: Any) -> list[Finding]:
        return self.steps(event, *([(name, ())] for name in self.arrivals))

    def woken(self, event: Any = None) -> list[Finding]:
        """A round has looked at the pull, or it was told of a message late, if nothing else can have woken it."""
        if self.monitor.values("phase") != {"HELD"}:
            return []
        if self.late:
            self.late = False
            return self._arrives(event)
        return self.steps(event, [("scan", ())])

    def compare(self, *, held: bool, calm: bool) -> list[Finding]:
        """Compare with the table of the broker; held -- whether the pull is there. calm -- nothing fails."""
        over = calm and self.clock() - self.held_ms > HOLD_MS + SCAN_MS
        found = self.woken() if over or not held else []
        self.monitor.moved = False
        return found + self.noted(self.monitor.compare({("phase",): "HELD" if held else "WOKEN"}, [("phase",)]))

    def noted(self, found: list[Finding]) -> list[Finding]:
        """With the queue."""
        of, broker = self.event, self.event.broker
        at = f"pull of queue {of.queue_id} of {of.topic} by {of.connection} at {broker}"
        mq = MessageQueue(of.topic, broker, of.queue_id)
        return placed(found, at, mq=mq)


class HeldPulls(Map):
    """Follower of the pulls that masters hold; see Follower.

    pulls -- by broker, connection and opaque. queues -- by broker, topic and queue id: those that wait.
    """

    def __init__(self, machines: Machines, groups: Sequence[tuple[str, str]]) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, NAME, ())
        self.groups = frozenset(groups)
        self.pulls: dict[_Key, _Pull] = {}
        self.queues: dict[tuple[str, str, int], dict[_Key, _Pull]] = {}
        self._idle: list[Monitor] = []
        self._changed: dict[_Key, _Pull] = {}

    @hears(events.PullHeld)
    def _held(self, machine: str, event: events.PullHeld) -> list[Finding]:
        """PullMessageProcessor#processRequest: PULL_NOT_FOUND, and #suspendPullRequest."""
        if (event.group, event.topic) not in self.groups or event.timeout_ms != HOLD_MS:
            return []
        key, clock = (machine, event.connection, event.opaque), self._clock_of_master(machine)
        if key in self.pulls:
            self._end(key)
            return []
        if clock is None:
            return []
        pull = self.pulls[key] = _Pull(self._monitor(), event, clock)
        self.queues.setdefault((machine, event.topic, event.queue_id), {})[key] = self._changed[key] = pull
        look, hold = ("look", ()), ("put_away", ())
        if self.views.queue_end(machine, event.topic, event.queue_id) <= event.offset:
            return pull.steps(event, [look, hold])
        return pull.steps(event, *([look, (name, ()), hold] for name in pull.arrivals))

    def _clock_of_master(self, machine: str) -> Callable[[], int] | None:
        broker = self.views.broker(machine)
        return self.views.clock(machine) if broker is not None and broker.broker_id == MASTER_ID else None

    def _monitor(self) -> Monitor:
        return self._idle.pop() if self._idle else Monitor(
            OpenReading(LongPolling.concept, CONSTANTS), (), NAME, visible=("phase",),
            unmarked=("age", "since", "scanned"))

    @hears(events.MessageDispatched)
    def _arrives(self, machine: str, event: events.MessageDispatched) -> list[Finding]:
        """NotifyMessageArrivingListener#arriving."""
        waiting = self.queues.get((machine, event.topic, event.queue_id))
        if not waiting:
            return []
        self._changed.update(waiting)
        return [one for pull in waiting.values() for one in pull.arrives(event)]

    @hears(events.HeldPullAnswered, events.HeldPullRefused)
    def _over(self, machine: str, event: events.HeldPullAnswered | events.HeldPullRefused) -> list[Finding]:
        """PullMessageProcessor#executeRequestWhenWakeup."""
        key = machine, event.connection, event.opaque
        pull = self.pulls.get(key)
        if pull is None:
            return []
        refused = isinstance(event, events.HeldPullRefused)
        found = pull.woken(event) + pull.steps(event, [("refuse" if refused else "execute", ())])
        self._end(key)
        if not (found or refused) and len(pull.monitor.states) == 1:
            self._idle.append(pull.monitor)
        return found

    @hears(events.ProcessKilled, events.BrokerStopping)
    def _ends(self, machine: str, _: events.ProcessKilled | events.BrokerStopping) -> list[Finding]:
        for key in [key for key in self.pulls if key[0] == machine]:
            self._end(key)
        return []

    def _end(self, key: _Key) -> None:
        pull = self.pulls.pop(key)
        self._changed.pop(key, None)
        del self.queues[key[0], pull.event.topic, pull.event.queue_id][key]

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map: the pulls of which something was said, or all."""
        changed, self._changed = self._changed, {}
        if not changed and not (whole and self.pulls):
            return []
        differing, calm = list[Finding](), self.views.calm()
        for key, pull in [*(self.pulls if whole else changed).items()]:
            if key[0] == machine:
                if pull.monitor.moved:
                    self.visited.update(pull.monitor.fingerprints())
                table = self.views.held_pulls(machine, pull.event.topic, pull.event.queue_id)
                differing += pull.compare(held=key[1:] in table, calm=calm)
        return self.unsaid(differing)
