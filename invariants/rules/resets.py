"""Rules of resets: where they go, that they are done, and that they take effect."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import is_suspended, queue_text
from invariants.rules.match import Match
from invariants.rules.polling import MOVED
from invariants.rules.rule import Duty, Kept, Rule, Told, on

_TO_THE_END = -1  # timestamp of ResetOffsetRequestHeader
OFFSET_OF_TIME = "offset of a time"


class reset_is_done(Duty):
    """A client that is told to reset queues resets those that it holds.

    A rebalance that is under way may take queues away meanwhile, also those that the reset has dropped already.
    """

    cite = "ClientRemotingProcessor#resetOffset, MQClientInstance#resetOffset"
    about = "at client_id group"
    within_ms = deadlines.reset
    excuses = (Excuse("the consumer shuts down", by=events.ConsumerStopping),)

    @on(events.ResetReceived)
    def is_told(self, ms: int, at: str, event: events.ResetReceived) -> None:
        holdings = self.facts.held_at(at, event.client_id, event.group)
        held = {mq for mq, _ in event.offsets} & {mq for *_, mq in holdings}
        if held:
            self.owe((at, event.client_id, event.group), ms, set(held))

    @on(events.ConsumerSuspended)
    def begins(self, ms: int, at: str, event: events.ConsumerSuspended) -> None:
        # Resets wait for one another, however many there are, and each suspends its consumer.
        if (at, *event) in self.owed:
            self.count_from((at, *event), ms)

    @on(events.OffsetReset, events.QueueDropped, events.QueueTaken)
    def leaves_the_table(self, _: int, at: str, event: Any) -> None:
        # A queue that is taken again had left the table, whether anybody dropped it or not (X22).
        if not isinstance(event, events.QueueDropped) or event.by_rebalance:
            self._are_done(at, event, {event.mq})

    @on(events.QueuesAssigned)
    def has(self, _: int, at: str, event: events.QueuesAssigned) -> None:
        # A rebalance that was under way has ended; what the reset has dropped may still be in the table.
        if not self.owed:
            return
        table = {held.mq for held in self.views.process_queues(at) if held[1:3] == event[:2]}
        owed = self.owed.get((at, *event[:2]), (0, 0, ()))[2]
        self._are_done(at, event, {mq for mq in owed if mq.topic == event.topic and mq not in table})

    def _are_done(self, at: str, event: Any, done: set[MessageQueue]) -> None:
        key = at, event.client_id, event.group
        if key in self.owed:
            self.owed[key][2].difference_update(done)
            if not self.owed[key][2]:
                self.pay(key)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str:
        """See Duty."""
        mqs = ", ".join(map(queue_text, sorted(what)))
        return f"{key[0]} was told {waited_ms} ms ago to reset queues of {key[2]}, and has not reset {mqs}"


class reset_member_goes_on(Duty):
    """A consumer that was suspended for a reset goes on when that is over.

    Another reset, or its application, may suspend it again.
    """

    cite = "MQClientInstance#resetOffset: consumer.resume() in the end, whatever has gone wrong"
    about = "at client_id group"
    within_ms = deadlines.reset

    @on(events.OffsetReset)
    def is_reset(self, ms: int, at: str, event: events.OffsetReset) -> None:
        self.owe((at, event.client_id, event.group), ms)

    @on(events.ConsumerSuspended)
    def suspends(self, _: int, at: str, event: events.ConsumerSuspended) -> None:
        self.pay((at, *event))

    def broken(self, key: Any, what: None, waited_ms: int) -> str | None:
        """See Duty."""
        del what
        at, _, group = key
        if not is_suspended(self.views, *key):
            return None
        return f"{at} has reset queues of {group} {waited_ms} ms ago, and is still suspended"


class reset_goes_where_it_is_told(Rule):
    """A client that resets a queue sets it to an offset that it was told to set it to."""

    cite = "MQClientInstance#resetOffset: offsetTable"
    about = "at client_id group mq"

    told_to = Kept("at client_id group mq")

    @on(events.ResetReceived)
    def is_told(self, _: int, at: str, event: events.ResetReceived) -> None:
        for mq, offset in event.offsets:
            self.told_to.setdefault((at, event.client_id, event.group, mq), set()).add(offset)

    @on(events.OffsetReset)
    def resets(self, _: int, at: str, event: events.OffsetReset) -> Iterator[Told]:
        key = at, event.client_id, event.group, event.mq
        if event.offset not in self.told_to.get(key, ()):
            yield self.told(f"{at} resets {queue_text(event.mq)} to {event.offset}, which nobody has told it", *key)


class reset_takes_effect(Rule):
    """Once the offset of a reset is committed, its client commits no greater one before it has settled messages.

    The reset is over where a broker shows that another client has committed more meanwhile, or has lost its files.
    """

    shipped = ("violated: L8 a pull that was held, X21 a pull of a queue that was reset, L14 a commit that waited, "
               "X18 a listener that saw no drop, X23 a read that came late")
    cite = "MQClientInstance#resetOffset"
    about = "at group mq"

    reset = Kept("at group mq", ends=(events.MessagesSettled, MOVED), begins=(events.OffsetReset,),
                 value=lambda _, event: event.offset)

    @on(events.OffsetCommitted, events.OffsetAnswered)
    def is_over(self, _: int, at: str, event: events.OffsetCommitted | events.OffsetAnswered) -> None:
        places = self.facts.places(at, event) if self.reset else ()
        for key, offset in [*self.reset.items()]:
            if key[1:] in places and (event.offset > offset or event.offset == NO_OFFSET):
                del self.reset[key]

    @on(events.OffsetSent)
    def sends(self, _: int, at: str, event: events.OffsetSent) -> Iterator[Told]:
        key = at, event.group, event.mq
        offset = self.reset.get(key, event.offset)
        if event.offset > offset:
            yield self.told(f"{at} commits {event.offset} of {queue_text(event.mq)}, which was reset to {offset}", *key)


class reset_goes_to_its_time(Rule):
    """A reset to a time goes to the first message that was stored then or later, or to less if less is committed.

    A reset to the end goes behind the last message. One by force goes there whatever is committed. What is committed
    may have moved since the broker looked: all that members have ever sent counts; and so may the end.
    """

    shipped = "violated: V28 the time that is nearest"
    cite = "Broker2Client#resetOffset, DefaultMessageStore#getOffsetInQueueByTime"
    about = "broker group mq"

    # The greatest offset that a process of a broker has ever said, or been told, that a group has.
    greatest = Kept("broker group topic queue_id", machine="broker")

    @on(events.OffsetCommitted, events.OffsetAnswered)
    def has(self, _: int, at: str, event: events.OffsetCommitted | events.OffsetAnswered) -> None:
        key = at, *event[1:4]
        self.greatest[key] = max(event.offset, self.greatest.get(key, 0))

    @on(events.OffsetsReset)
    def answers(self, _: int, __: str, event: events.OffsetsReset) -> Iterator[Told]:
        for queue_id, offset in event.offsets:
            wanted = self._wanted(event, queue_id)
            if wanted is None:
                return  # the broker has ended since, or its clock has gone back
            mqs = self.facts.queues(event.broker, event.topic, queue_id)
            was_sent = not event.is_force and any(
                one.offset == offset for mq in mqs for one in self.facts.sent.get((event.group, mq), ()))
            if offset > wanted[1] or (offset < wanted[0] and not was_sent):
                sentence = f"{queue_text(mqs[0])} goes to {offset}, where {wanted[1]} was stored"
                yield self.told(sentence, event.broker, event.group, mqs[0])
            elif not event.is_force and offset > self.greatest.get((*event[:3], queue_id), offset):
                yield self.told(f"{queue_text(mqs[0])} goes on to {offset}, which nobody has committed", event.broker,
                                event.group, mqs[0])

    def _wanted(self, event: events.OffsetsReset, queue_id: int) -> tuple[int, int] | None:
        """Where a queue is to go, at least and at most: its end may move while the operator is answered.

        The end is that of the queue: a clock that has gone back says less.
        """
        queue, since_ms = (event.broker, event.topic, queue_id), event.timestamp
        to_the_end = since_ms == _TO_THE_END
        if to_the_end:
            now_ms = next((one.now_ms for one in self.views.brokers() if one.machine == event.broker), 0)
            since_ms = now_ms - deadlines.OPERATOR_CALL_MS
        least = self.views.first_stored(*queue, since_ms)
        return None if least is None else (least, self.views.queue_end(*queue) if to_the_end else least)


class reset_is_of_all_queues(Rule):
    """A reset that a broker takes sets all queues that the topic has there, and no other."""

    cite = "Broker2Client#resetOffset: getWriteQueueNums"
    about = "broker group topic"

    @on(events.OffsetsReset)
    def answers(self, _: int, __: str, event: events.OffsetsReset) -> Iterator[Told]:
        topic = self.views.topics(event.broker).get(event.topic)
        named = [queue_id for queue_id, _ in event.offsets]
        if topic is not None and named != list(range(topic.write_queue_nums)):
            yield self.told(f"{event.broker} sets queues {named} of {event.topic}, and it has "
                            f"{topic.write_queue_nums}", event.broker, event.group, event.topic)


class members_are_told_of_resets(Rule):
    """A broker that has reset a group tells each member to set its queues.

    It speaks of members that were listed all the while.
    """

    cite = "Broker2Client#resetOffset: RESET_CONSUMER_CLIENT_OFFSET to each channel of the group"
    about = "broker group connection"

    # Since when members are listed, and when they were told to reset queues of a topic last.
    listed_ms = Kept("at group connection", ends=(
        Match(events.ConsumerRemoved, having=lambda one: one.attached), events.GroupRemoved))
    told_ms = Kept("broker group topic connection", machine="broker", begins=(events.OffsetResetPushed,))

    @on(events.ConsumerRegistered)
    def is_listed(self, ms: int, at: str, event: events.ConsumerRegistered) -> None:
        if event.attached:
            self.listed_ms.setdefault((at, event.group, event.connection), ms)

    @on(events.OffsetsReset)
    def answers(self, ms: int, __: str, event: events.OffsetsReset) -> Iterator[Told]:
        since_ms = ms - deadlines.operator_answered(self.bounds)
        for key in [key for key, listed_ms in self.listed_ms.items() if key[:2] == event[:2] and listed_ms < since_ms]:
            if self.told_ms.get((*event[:3], key[2]), -inf) < since_ms:
                yield self.told(f"{event.broker} has reset {event.group} and not told {key[2]}", *key)


class time_leads_to_its_first_message(Rule):
    """Who asks a broker for a time is told the offset of the first message of the queue that was stored then or later.

    Without one that is the end of the queue, which may move while he is answered.
    """

    shipped = "violated: V28 the time that is nearest"
    cite = "AdminBrokerProcessor#searchOffsetByTimestamp, DefaultMessageStore#getOffsetInQueueByTime"
    about = "server name number"
    calm = True

    asked = Kept("server name number", machine="server")

    @on(events.InquiryMade)
    def asks(self, _: int, __: str, event: events.InquiryMade) -> None:
        if event.what == OFFSET_OF_TIME:
            self.asked[event.server, event.name, event.number] = self._first(event)

    @on(events.InquiryAnswered)
    def answers(self, _: int, at: str, event: events.InquiryAnswered) -> Iterator[Told]:
        least = self.asked.pop((event.server, event.name, event.number), None)
        most = None if least is None else self._first(event)
        if least is not None and most is not None and not least <= event.answer[0] <= most:
            yield self.told(f"{at} asks {event.server} for {event.name}, and is told {event.answer[0]} for {least}",
                            event.server, event.name, event.number)

    def _first(self, event: events.InquiryMade | events.InquiryAnswered) -> int | None:
        """None: nobody can tell."""
        topic, queue_id, time_ms = event.name.split()
        return self.views.first_stored(event.server, topic, int(queue_id), int(time_ms))
