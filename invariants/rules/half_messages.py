"""What becomes of half messages: the check of their broker comes to each, each ends at last, and how."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from impl.decisions.names import MASTER_ID, RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from invariants.rules import deadlines
from invariants.rules.delays import still_kept
from invariants.rules.excuse import cause
from invariants.rules.rule import Kept, Promise, Rule, Told, on
from invariants.rules.sending import OWN_TOPICS
from invariants.rules.weather import clock_was_set

_CHECK = "CID_RMQ_SYS_TRANS"
"""MixAll.CID_SYS_RMQ_TRANS: the group whose offsets say how far the check has come."""
_ROLLED_BACK = "ROLLBACK_MESSAGE"


class rolled_back_stays_hidden(Rule):
    """A half message that its producer has rolled back is never put into its topic."""

    cite = "EndTransactionProcessor#processRequest"
    about = "at key"

    # Half messages that were rolled back, by their ids.
    rolled_back = Kept("id", survives="all")

    @on(events.HalfMessageEnded)
    def ended(self, _: int, at: str, event: events.HalfMessageEnded) -> None:
        del at
        if event.state == _ROLLED_BACK:
            self.rolled_back[event.key,] = True

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        if (event.key,) in self.rolled_back and not event.topic.startswith(OWN_TOPICS):
            yield self.told(f"{at} puts {event.key} into {event.topic}, which was rolled back", at, event.key)


class half_message_ends_at_last(Promise):
    """A half message that a broker has kept is in its topic, or its producer has said that it is rolled back.

    Only what was stored before the world healed is looked for, where its producers answer each check truly.
    """

    shipped = "violated: T3 a check gives up"
    cite = "TransactionalMessageServiceImpl#check, EndTransactionProcessor#processRequest"
    about = "at given_up"
    within_ms = deadlines.all_ended
    named = True
    excuses = (cause("T3", "a broker has given them up, and something has kept it from their producers",
                     when=lambda rule, told: told.about[1] and not rule.views.calm()), clock_was_set("at"))

    # Half messages by their ids: where they are before the healing, and which of them have ended, or were given up.
    half = Kept("id", survives="all")
    over = Kept("id", survives="all")
    given_up = Kept("id", survives="all")

    @on(events.HalfMessageEnded)
    def ends(self, ms: int, at: str, event: events.HalfMessageEnded) -> None:
        del at
        if event.state == _ROLLED_BACK:
            self.over[event.key,] = ms

    @on(events.MessageAppended)
    def appends(self, ms: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_TRANS_HALF_TOPIC and not self.healed_ms:
            self.half[event.key,] = at
        elif event.topic == RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC:
            self.given_up[event.key,] = ms
        elif not event.topic.startswith(OWN_TOPICS):
            self.over[event.key,] = ms

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        for machine, kept in still_kept(self.views, self.half, self.over):
            for given_up in (False, True):
                left = [key for key in kept if ((key,) in self.given_up) is given_up]
                if left:
                    yield self.told(f"{machine} has {len(left)} half messages that have not ended, {left[0]} first",
                                    machine, given_up)


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
