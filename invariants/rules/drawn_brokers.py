"""Which brokers clients ask for the members of their groups: chance decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from impl import events
from invariants.rules.bounds import draws_for_all
from invariants.rules.excuse import Excuse
from invariants.rules.match import machine_of
from invariants.rules.rule import Kept, Rule, Told, on

FIND_BROKER = "MQClientInstance#findBrokerAddrByTopic"
UNDER_WAY = 2
"""Questions that may be on their way when a route changes: that of the rebalance, and that of one who is reset."""


class Asks(NamedTuple):
    """How often a client has asked each of its brokers, by name, and how often chance has drawn each number for it."""

    asked: Counter[str]
    drawn: Counter[int]


class every_broker_is_asked_for_members(Rule):
    """Who asks for the members of its groups again and again asks each broker of its topics now and then.

    Topics with the same brokers count together. Counting begins anew where a name server answers another route, or the
    client has taken another one.
    """

    cite = "MQClientInstance#findConsumerIdList, #findBrokerAddrByTopic"
    about = "at client_id"
    excuses = (Excuse("chance has left a number out, as it does where somebody has written what is drawn",
                      when=lambda rule, told: rule.is_left_out(told)),)

    # The brokers of topics: as name servers have answered last, and as clients have taken them.
    answered, taken = Kept("at topic"), Kept("at client_id topic")
    # What clients ask that have topics with these brokers; and what the last of those was of which something is told.
    asks, last = Kept("at client_id names"), Kept("at client_id")

    @on(events.RouteAnswered)
    def answers(self, _: int, __: str, event: events.RouteAnswered) -> None:
        self._know(self.answered, (machine_of(event.connection), event.topic), event.broker_names)

    @on(events.RouteUpdated)
    def takes(self, _: int, at: str, event: events.RouteUpdated) -> None:
        self._know(self.taken, (at, event.client_id, event.topic), frozenset(mq.broker_name for mq in event.mqs))

    def _know(self, table: Kept, key: tuple[Any, ...], names: frozenset[str]) -> None:
        if table.get(key) != names:
            table[key] = names
            self.asks.drop(lambda one: one[0] == key[0])

    @on(events.NumberDrawn)
    def draws(self, _: int, at: str, event: events.NumberDrawn) -> None:
        for key, asks in self.asks.items() if event.where == FIND_BROKER else ():
            if key[0] == at:
                asks.drawn[event.number] += 1

    @on(events.ConsumerIdsFetched)
    def has_asked(self, _: int, at: str, event: events.ConsumerIdsFetched) -> Iterator[Told]:
        names = self.taken.get((at, event.client_id, event.topic), frozenset())
        if event.broker_addr is None or self.answered.get((at, event.topic)) != names:
            return
        key, asked = (at, event.client_id, names), self.facts.broker_name(machine_of(event.broker_addr))
        asks = self.asks.setdefault(key, Asks(Counter(), Counter()))
        asks.asked[asked] += 1
        if asked not in names:  # it has another name by now
            del self.asks[key]
        elif asks.asked.total() >= draws_for_all(len(names)) + UNDER_WAY:
            self.last[key[:2]] = self.asks.pop(key)
            for name in sorted(names - {*asks.asked})[:1]:
                yield self.told(f"{at} has asked {asks.asked.total()} times for members, and {name} never", *key[:2])

    def is_left_out(self, told: Told) -> bool:
        """Whether chance was asked each time, and has drawn no more numbers than brokers were asked."""
        asked, drawn = self.last[told.about]
        return drawn.total() + UNDER_WAY >= asked.total() and len(drawn) <= len(asked)
