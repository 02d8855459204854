"""Pulls that wait at a broker: a message that arrives answers them, long before the broker looks at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.rules import deadlines
from invariants.rules.excuse import cause
from invariants.rules.facts import queue_text
from invariants.rules.rule import Kept, Rule, Told, on

SUB_ALL = "*"


class arriving_message_answers_the_pull(Rule):
    """Where nothing fails a pull that is held is answered when a message arrives for it, and not at the next scan.

    Judged of groups whose members all read everything: others wait for a message that they have subscribed.
    """

    judges = "arriving_message_wakes_the_pull"
    shipped = "violated: P13 a message between look and hold"
    cite = "NotifyMessageArrivingListener#arriving, PullRequestHoldService#notifyMessageArriving"
    about = "at group mq"
    calm = True
    excuses = (cause("P13", "the message came when the pull was on its way to the broker",
                     when=lambda rule, _: rule.met),)

    # The pulls that are not answered: when each was sent, and from which offset. Since when there is a message.
    pulls = Kept("at client_id group mq", ends=(events.PullAnswered, events.QueueDropped, events.ConsumerShutDown))
    there = Kept("at client_id group mq", ends=(
        events.PullAnswered, events.PullSuspended, events.QueueDropped, events.ConsumerShutDown))
    met = False

    @on(events.PullSuspended)
    def pulled(self, ms: int, at: str, event: events.PullSuspended) -> None:
        self.pulls[at, event.client_id, event.group, event.mq] = ms, event.offset

    @on(events.MessageDispatched)
    def arrives(self, ms: int, at: str, event: events.MessageDispatched) -> None:
        mq = MessageQueue(event.topic, self.facts.broker_name(at), event.queue_id)
        for key, (sent_ms, offset) in self.pulls.items():
            if key[3] == mq and offset <= event.queue_offset:
                self.there.setdefault(key, (ms, ms - sent_ms <= deadlines.ON_THE_WAY_MS))

    @on(events.BrokerStopping, events.BrokerStarted, events.ProcessKilled)
    def ends(self, _: int, at: str, event: Any) -> None:
        """What a broker held goes with it."""
        del event
        name = self.facts.broker_name(at)
        for table in (self.pulls, self.there):
            table.drop(lambda key: key[3].broker_name == name)

    def look(self, now_ms: int) -> Iterator[Told]:
        """Look at what has not been answered."""
        limit_ms = deadlines.woken(self.bounds)
        for key, (since_ms, met) in [*self.there.items()] if self.there else ():
            if now_ms - since_ms > limit_ms:
                del self.there[key]
                self.met = met
                if self._reads_all(key[2], key[3].topic):
                    yield self.told(f"the pull of {queue_text(key[3])} by {key[0]} is not answered {now_ms - since_ms} "
                                    "ms after a message has come", key[0], key[2], key[3], since_ms=since_ms)

    def _reads_all(self, group: str, topic: str) -> bool:
        members = [self.views.subscribed(one.machine, group).get(topic) for one in self.views.in_service()
                   if one.group == group]
        return bool(members) and all(one is not None and one.sub_string == SUB_ALL for one in members)
