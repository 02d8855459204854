"""What becomes of half messages: the check of their broker comes to each of them."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import MASTER_ID, RMQ_SYS_TRANS_HALF_TOPIC
from invariants.rules import deadlines
from invariants.rules.rule import Kept, Promise, Told, on
from invariants.rules.weather import clock_was_set

_CHECK = "CID_RMQ_SYS_TRANS"
"""MixAll.CID_SYS_RMQ_TRANS: the group whose offsets say how far the check has come."""


class check_passes_every_half_message(Promise):
    """The check of a master comes past each half message that it has: it has ended, was asked about, or is given up.

    Only those that were stored before the world healed are looked for: the rest may be too young.
    """

    shipped = "violated: T4 a round that ends with an exception is forgotten"
    cite = "TransactionalMessageServiceImpl#check"
    about = "at"
    within_ms = deadlines.all_checked
    named = True
    excuses = (clock_was_set("at"),)

    # The offset behind the last half message that was stored before the healing.
    end = Kept("at", survives="all")
    healed_ms = Kept("world", survives="all")

    @on(events.WorldHealed)
    def heals(self, ms: int, at: str, event: events.WorldHealed) -> None:
        del at, event
        self.healed_ms["world",] = ms

    @on(events.MessageAppended)
    def is_stored(self, _: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC and not self.healed_ms:
            self.end[at,] = event.queue_offset + 1

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        masters = {broker.machine for broker in self.views.brokers() if broker.broker_id == MASTER_ID}
        for at, in [place for place in self.end if place[0] in masters]:
            stored = self.views.stored_at(at, RMQ_SYS_TRANS_HALF_TOPIC, 0)
            end = min(self.end[at,], 0 if stored is None else stored.max_offset)
            came = self.views.committed(at, _CHECK).get((RMQ_SYS_TRANS_HALF_TOPIC, 0), 0)
            if came < end:
                yield self.told(f"the check of {at} is at {came} of its half messages, which end at {end}", at)
