"""Follows ordered consumers with `model.process_queue.OrderedQueue`: one model for each holding of a queue.

A QueueOffset is the number of a message among those that the holding has pulled; so every holding begins at 0, and no
filter leaves gaps. It ends when the queue is dropped, or lost: what a listener of it does then is not followed.

Visible: turn, done, next and stray, of ProcessQueue; memory. That a pull has moved what is remembered
(correctTagsOffset), or that the timer has forgotten it, shows in the table, and is a step then, with its guards.

`stored` is what was pulled. A first pull at -1 (X10) finds nothing, and is none. What is left in memory from the
taking, where the first pull is told of no offset, is kept. A batch with a message that was pulled again (X14) is not
put back in the model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants import process_queue as promised
from invariants.finding import Finding
from invariants.refinement.consumers import NAME, ConsumerMap, machine_of
from invariants.refinement.maps import hears, placed
from invariants.refinement.monitor import Monitor, Step, judged
from invariants.rules.facts import queue_text
from invariants.views import ConsumerTables, Machines
from model.language.open.reading import OpenReading
from model.language.open.states import Writes
from model.process_queue.ordered import OrderedQueue

PROPERTIES = judged(OrderedQueue.concept, promised.ordered_message_waits_for_the_earlier)
VISIBLE = ("next", "turn", "done", "remembers", "memory", "stray", "strayed")
OF_HOLDINGS = (events.QueueTaken, events.QueueDropped, events.QueueForgotten, events.PullBegun, events.MessagesFound,
               events.MessagesTaken, events.MessagesPutBack, events.MessagesSettled)
NOWHERE = -1
"""The place of an offset that is behind no message of the holding."""


class Holding:
    """A queue from its taking on.

    offsets -- what was pulled, in order. behind -- to what a pull that has brought nothing has moved memory, or where
    the first one began. timed -- the timer was at work when the queue was taken.
    """

    def __init__(self, mq: MessageQueue, *, timed: bool) -> None:
        """Nothing is pulled."""
        self.mq, self.timed = mq, timed
        self.offsets: list[int] = []
        self.behind = 0
        self.monitor = Monitor(OpenReading(OrderedQueue.concept), PROPERTIES, NAME, visible=VISIBLE,
                               unmarked=("stored", "given", "settled"))
        self.value = self.monitor.value

    def step(self, event: Any, *steps: Step) -> list[Finding]:
        """Take these steps."""
        return self.noted(self.monitor.take(event, *steps)) if steps else []

    def noted(self, found: list[Finding]) -> list[Finding]:
        """With the queue."""
        return placed(found, queue_text(self.mq), mq=self.mq)

    def begins(self, event: events.PullBegun, memory: int | None) -> list[Finding]:
        """The first pull begins where it was told, or elsewhere; memory -- what is remembered then."""
        if event.offset < 0:
            return []
        self.behind = event.offset
        if memory == event.offset:
            return self.step(event, ("begin_pulls", ()))
        found = self.step(event, ("begin_elsewhere", ()))
        self.behind = event.offset if memory is None else memory
        self.monitor.write({("remembers",): memory is not None, ("memory",): 0})
        return found

    def brings(self, event: events.MessagesFound) -> list[Finding]:
        """Messages are cached; one that waits already is replaced."""
        found = list[Finding]()
        for offset in event.offsets:
            place = bisect_left(self.offsets, offset)
            if place == len(self.offsets):
                self.offsets.append(offset)
                self.monitor.write({("stored",): place + 1})
                found += self.step(event, ("pull_ordered", ()))
            elif self.offsets[place] != offset:
                found += self.noted(self.monitor.compare({("next",): place}, [("next",)]))
            elif place < self.value("turn"):
                found += self.step(event, ("pull_again", (place,)))
        return found

    def takes(self, event: events.MessagesTaken) -> list[Finding]:
        """The listener is about to be given messages."""
        strays = self.value("stray") and self.offsets[self.value("place")] in event.offsets
        ways: list[Step] = [("take_stray", ())] if strays else []
        return self.step(event, *ways, *[("take_message", ())] * (len(event.offsets) - len(ways)))

    def settles(self, event: events.MessagesSettled) -> list[Finding]:
        """All that is taken is done."""
        taken = self.value("turn") - self.value("done")
        if not taken:
            return self.step(event, ("commit_stray", ()))
        strays = self.value("strayed") and self.offsets[self.value("place")] in event.offsets
        return self.step(event, *[("commit", ())] * (len(event.offsets) - strays))

    def compare(self, consumer: ConsumerTables) -> list[Finding]:
        """Compare with the tables of the consumer."""
        cached, taken = consumer.cached(self.mq), consumer.taken(self.mq)
        if cached is None:
            return []
        memory = consumer.remembers(self.mq)
        found = self._moved(memory) if self.value("begun") else []
        seen: Writes = {}
        for name, offsets in (("stray", cached), ("strayed", taken)):
            again = self.offsets[self.value("place")] if self.value(name) else None
            seen[name,] = again in offsets
            if again in offsets:
                offsets.remove(again)
        first = [*taken, *cached][:1]
        done = bisect_left(self.offsets, first[0]) if first else len(self.offsets)
        seen.update({("done",): done, ("turn",): done + len(taken), ("next",): done + len(taken) + len(cached)})
        if self.value("begun"):
            seen["remembers",] = memory is not None
            if memory is not None:
                seen["memory",] = self._place(memory)
        return found + self.noted(self.monitor.compare(seen, [*seen]))

    def _place(self, memory: int) -> int:
        """How many messages are before what is remembered, if it is behind one of them."""
        place = bisect_left(self.offsets, memory)
        behind_one = place > 0 and memory == self.offsets[place - 1] + 1
        return place if behind_one or memory == self.behind else NOWHERE

    def _moved(self, memory: int | None) -> list[Finding]:
        """What is remembered has moved without a word: a pull has brought nothing, or the timer has forgotten it."""
        if memory is None:
            return self.step(None, ("forget", ())) if self.timed and self.value("remembers") else []
        value, behind_all = self.value, not self.offsets[bisect_left(self.offsets, memory):]
        if not behind_all or value("done") != value("next") or (
                value("remembers") and self._place(memory) == value("memory")):
            return []
        self.behind = memory
        return self.step(None, ("correct_ordered", ()))


class OrderedQueues(ConsumerMap):
    """Follower of the queues of one topic at the ordered consumers of one group; see Follower.

    holdings -- by machine and queue.
    """

    def __init__(self, machines: Machines, group: str, topic: str) -> None:
        """Watch from the first segment on."""
        super().__init__(machines, group, topic, PROPERTIES, OF_HOLDINGS)
        self.holdings: dict[tuple[str, MessageQueue], Holding] = {}
        self._changed: dict[Holding, None] = {}

    def follows(self, consumer: ConsumerTables) -> bool:
        """See ConsumerMap."""
        return consumer.orderly

    def queue_of(self, machine: str, event: Any) -> Holding | None:
        """See ConsumerMap; whoever takes a queue begins anew."""
        key = machine, event.mq
        if event.__class__ is events.QueueTaken:
            self.holdings[key] = Holding(event.mq, timed=self.may_forget(machine))
        holding = self.holdings.get(key)
        if holding is not None:
            self._changed[holding] = None
        return holding

    def ended(self, machine: str, _: Any) -> list[Finding]:
        """See ConsumerMap."""
        for key in [key for key in self.holdings if key[0] == machine]:
            del self.holdings[key]
        return []

    @hears(events.QueueTaken)
    def _taken(self, *_: Any) -> list[Finding]:
        return []

    @hears(events.QueueDropped, events.QueueForgotten)
    def _left(self, machine: str, holding: Holding, _: Any) -> list[Finding]:
        del self.holdings[machine, holding.mq]
        self._changed.pop(holding, None)
        return []

    @hears(events.OffsetAnswered)
    def _answered(self, machine: str, event: events.OffsetAnswered) -> list[Finding]:
        """ConsumerManageProcessor#queryConsumerOffset."""
        broker = self.views.broker(machine) if self.running and event.group == self.group else None
        if broker is None:
            return []
        mq = MessageQueue(event.topic, broker.broker_name, event.queue_id)
        holding = self.holdings.get((machine_of(event.connection), mq))
        return [] if holding is None or holding.value("begun") else holding.step(event, ("answer", ()))

    @hears(events.PullBegun)
    def _begins(self, machine: str, holding: Holding, event: events.PullBegun) -> list[Finding]:
        return holding.begins(event, self.running[machine].remembers(event.mq))

    @hears(events.MessagesFound, events.MessagesTaken, events.MessagesPutBack, events.MessagesSettled)
    def _works(self, _: str, holding: Holding, event: Any) -> list[Finding]:
        return _WORKS[event.__class__](holding, event)

    def compare(self, machine: str, *, whole: bool) -> list[Finding]:
        """See Map: what something was said of, or all that the machine has."""
        changed, self._changed = self._changed, {}
        consumer = self.running.get(machine)
        if consumer is None or not (whole or changed):
            return []
        differing = list[Finding]()
        for (owner, _), holding in self.holdings.items():
            if owner == machine and (whole or holding in changed):
                differing += holding.compare(consumer)
                if holding.monitor.moved:
                    holding.monitor.moved = False
                    self.visited.update(holding.monitor.fingerprints())
        return self.unsaid(differing)


def _put_back(holding: Holding, event: events.MessagesPutBack) -> list[Finding]:
    return holding.step(event, *[("suspend", ())] * len(event.offsets))


_WORKS: dict[type, Callable[[Holding, Any], list[Finding]]] = {
    events.MessagesFound: Holding.brings, events.MessagesTaken: Holding.takes, events.MessagesPutBack: _put_back,
    events.MessagesSettled: Holding.settles,
}
