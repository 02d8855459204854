"""What a broker answers to a pull: how much, where its queue begins and ends, and where the next pull is to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_OFFSET_MOVED_EVENT
from impl.decisions.pull_answer import PullCode
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.facts import queue_text
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Kept, Rule, Told, on

PULL = "pull"


class Ends(NamedTuple):
    """Where a queue begins and ends; both are 0 if it was never written."""

    begin: int
    end: int


class Asked(NamedTuple):
    """A pull: where it begins, the machine that it asks, how many messages it wants, and the queue there by then."""

    offset: int
    broker: str
    most: int
    ends: Ends


class PullsOfMasters(Rule):
    """What is common: the pulls that are on their way to masters, and have not ended since."""

    about = "at client_id group mq"

    asked = Kept("at client_id group mq", ends=(events.PullFailed, events.QueueDropped))

    @on(events.PullSuspended)
    def asks(self, _: int, at: str, event: events.PullSuspended) -> None:
        broker = machine_of(event.asked)
        self.asked.pop((at, *event[:3]), None)
        if self.facts.is_master(broker):
            self.asked[at, *event[:3]] = self.what_is_asked(broker, event)

    def what_is_asked(self, broker: str, event: events.PullSuspended) -> Asked | Reading:
        """What is to be known of a pull when its answer comes."""
        raise NotImplementedError

    @on(events.ProcessKilled, events.BrokerStarted, events.QueuesDeleted)
    def has_other_queues(self, _: int, at: str, event: object) -> None:
        """Queues that are deleted may be made anew, and what is in them may have changed its place."""
        del event
        self.asked.drop(lambda key: self.asked[key].broker == at)


class pull_answer_fits_its_queue(PullsOfMasters):
    """A master answers a pull where its queue begins and ends, with no more than it wants, and sends it into the queue.

    A pull before the begin goes to the begin, and one behind the end to the end, or to 0 where the queue begins there.
    Both may move on before the answer is heard, and have not moved back. Where a client has asked again for a queue
    that it had given up meanwhile, it hears two answers, and nobody knows which is which.
    """

    cite = ("DefaultMessageStore#getMessage: OFFSET_TOO_SMALL, OFFSET_OVERFLOW_BADLY, #nextOffsetCorrection, "
            "#isTheBatchFull, PullMessageProcessor#processRequest: setMinOffset, setMaxOffset")

    # The pulls of strangers, who pull from anywhere.
    tried = Kept("server number", machine="server")

    @on(events.InquiryMade)
    def tries(self, _: int, __: str, event: events.InquiryMade) -> None:
        if event.what == PULL and self.facts.is_master(event.server):
            *mq, offset, most = event.name.split()
            ends = self._ends(event.server, MessageQueue(mq[0], "", int(mq[1])))
            self.tried[event.server, event.number] = Asked(int(offset), event.server, int(most), ends)

    @on(events.InquiryAnswered)
    def is_told(self, _: int, at: str, event: events.InquiryAnswered) -> Iterator[Told]:
        asked = self.tried.pop((event.server, event.number), None)
        if asked is not None:
            topic, queue_id, *_rest = event.name.split()
            code, going_on, begin, end, messages = event.answer
            mq = MessageQueue(topic, self.facts.broker_name(event.server), int(queue_id))
            yield from self._judged(at, asked, events.PullAnswered("", "", mq, code, going_on, 0, begin, end, messages))

    def what_is_asked(self, broker: str, event: events.PullSuspended) -> Asked:
        """See PullsOfMasters."""
        return Asked(event.offset, broker, event.most, self._ends(broker, event.mq))

    @on(events.BrokerStarted, events.QueuesDeleted)
    def has_other_queues_for_strangers(self, _: int, at: str, event: object) -> None:
        """The same of what strangers have asked."""
        del event
        self.tried.drop(lambda key: key[0] == at)

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        asked = self.asked.pop((at, *event[:3]), None)
        if asked is not None and self.facts.pulled_ms(at, event) is not None:
            yield from self._judged(at, asked, event)

    def _judged(self, at: str, asked: Asked, event: events.PullAnswered) -> Iterator[Told]:
        wrong = _wrong(asked, self._ends(asked.broker, event.mq), event)
        if wrong:
            yield self.told(f"{asked.broker} answers {at}, who wants {queue_text(event.mq)} from {asked.offset} on, "
                            f"{wrong}", at, *event[:3])

    def _ends(self, broker: str, mq: MessageQueue) -> Ends:
        found = self.views.stored_at(broker, mq.topic, mq.queue_id)
        return Ends(0, 0) if found is None else Ends(found.min_offset, found.max_offset)


def _wrong(asked: Asked, now: Ends, event: events.PullAnswered) -> str:
    """What is wrong with an answer; now -- where the queue of the broker begins and ends by now."""
    before = asked.ends
    if not (before.begin <= event.begin <= now.begin and before.end <= event.end <= now.end):
        return f"that its queue is {event.begin} to {event.end}, and it is {now.begin} to {now.end}"
    if event.messages > asked.most:
        return f"with {event.messages} messages, and it wants {asked.most}"
    is_moved, is_outside = event.code == PullCode.PULL_OFFSET_MOVED, not before.begin <= asked.offset <= now.end
    if is_outside and not is_moved:
        return f"with code {event.code}, and its queue is {before.begin} to {now.end}"
    if is_moved and not _is_sent_into(asked, now, event.next_begin_offset):
        return f"that it is to go on at {event.next_begin_offset}, and its queue is {now.begin} to {now.end}"
    return ""


def _is_sent_into(asked: Asked, now: Ends, offset: int) -> bool:
    """Whether a pull that lies outside of its queue may be told to go on there."""
    before = asked.ends
    at_begin = asked.offset < now.begin and before.begin <= offset <= now.begin
    at_end = before.end <= offset <= now.end and now.begin > 0
    return at_begin or (asked.offset > before.end and (at_end or offset == before.begin == 0))


class Reading(NamedTuple):
    """A pull of a master: where it begins, how many messages it wants, and from where on memory held the log then."""

    offset: int
    broker: str
    most: int
    memory_begin: int


class Limit(NamedTuple):
    """How much of one kind of memory an answer has at most, but for its first message."""

    messages: int
    size_bytes: int


class pull_finds_as_many_as_fit(PullsOfMasters):
    """A master that finds messages gives as many as the pull wants, and ends before the first that is too much.

    That is the ninth, or what exceeds 64 KiB, if it lies on the disk, and the 33rd, or what exceeds 256 KiB, if memory
    holds it. The first one is given however long it is. Otherwise an answer ends where its queue ends, or a file of it.
    Looked at where none was passed over. What goes from memory to the disk meanwhile counts for either.
    """

    cite = ("DefaultMessageStore#getMessage: isTheBatchFull, MessageStoreConfig: maxTransferCountOnMessageInDisk, "
            "maxTransferBytesOnMessageInDisk, maxTransferCountOnMessageInMemory, maxTransferBytesOnMessageInMemory")
    def what_is_asked(self, broker: str, event: events.PullSuspended) -> Reading:
        """See PullsOfMasters."""
        return Reading(event.offset, broker, event.most, self.views.memory_begin(broker))

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        asked = self.asked.pop((at, *event[:3]), None)
        if asked is None or not event.messages or self.facts.pulled_ms(at, event) is None:
            return
        topic, _name, queue_id = event.mq
        there = self.views.readable(asked.broker, topic, queue_id, asked.offset, event.messages + 1)
        wrong = "" if event.next_begin_offset != asked.offset + event.messages else self._wrong(asked, event, there)
        if wrong:
            yield self.told(f"{asked.broker} answers {at}, who wants {asked.most} of {queue_text(event.mq)} from "
                            f"{asked.offset} on, with {event.messages} messages: {wrong}", at, *event[:3])

    def _wrong(self, asked: Reading, event: events.PullAnswered, there: Sequence[tuple[int, int]]) -> str:
        """What is wrong with an answer that leaves nothing out; there -- place and size of what the queue has."""
        given, behind = there[:event.messages], there[event.messages:]
        begins = asked.memory_begin, self.views.memory_begin(asked.broker)
        for number in range(1, len(given)):
            if all(_is_too_much(given[:number], given[number], begin) for begin in begins):
                return f"number {number + 1} is too much"
        is_behind = bool(behind) and event.next_begin_offset < event.end and event.messages < asked.most
        if is_behind and not any(_is_too_much(given, behind[0], begin) for begin in begins):
            return "there is room for the next one"
        return ""


def _is_too_much(given: Sequence[tuple[int, int]], one: tuple[int, int], memory_begin: int) -> bool:
    """Whether a message is left for the next pull. given -- what the answer has; of each its place and its size."""
    limit = _OF_DISK if one[0] < memory_begin else _OF_MEMORY
    return len(given) >= limit.messages or sum(size for _, size in given) + one[1] > limit.size_bytes


_OF_DISK, _OF_MEMORY = Limit(8, 64 * 1024), Limit(32, 256 * 1024)


class held_pull_waits_for_what_comes_next(Rule):
    """A master holds no pull that begins behind the end of its queue: it could not tell what it has passed.

    A slave may have less than its master.
    """

    cite = "PullMessageProcessor#processRequest: OFFSET_OVERFLOW_BADLY, OFFSET_OVERFLOW_ONE"
    about = "at group topic queue_id"
    excuses = (Excuse("its queue was deleted when it had looked", by=Match(events.QueuesDeleted, of="at topic"),
                      lasts=deadlines.soon),)

    @on(events.PullHeld)
    def holds(self, _: int, at: str, event: events.PullHeld) -> Iterator[Told]:
        end = self.views.queue_end(at, event.topic, event.queue_id)
        if event.offset > end and self.facts.is_master(at):
            yield self.told(f"{at} holds a pull of {event.group} from {event.offset} on, and queue {event.queue_id} of "
                            f"{event.topic} ends at {end}", at, event.group, event.topic, event.queue_id)


class pull_that_is_sent_on_is_noted(Rule):
    """Where nothing fails a master that sends a pull to another offset has put a message of its own about it before.

    There is one for each pull, in a topic that whoever watches a cluster reads.
    """

    cite = "PullMessageProcessor#generateOffsetMovedEvent"
    about = "broker"
    calm = True

    # Whom each pull asks; how many such messages a broker has put, and how many pulls it has sent on.
    asked = Kept("at client_id group mq", ends=(events.PullFailed,), begins=(events.PullSuspended,),
                 value=lambda _, event: machine_of(event.asked))
    put, sent_on = Kept("at", survives="all"), Kept("at", survives="all")

    @on(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> None:
        if event.topic == RMQ_SYS_OFFSET_MOVED_EVENT:
            self.put[at,] = self.put.get((at,), 0) + 1

    @on(events.InquiryAnswered)
    def is_told(self, _: int, __: str, event: events.InquiryAnswered) -> Iterator[Told]:
        if event.what == PULL:
            yield from self._counted(event.server, event.answer[0])

    @on(events.PullAnswered)
    def is_answered(self, _: int, at: str, event: events.PullAnswered) -> Iterator[Told]:
        broker = self.asked.pop((at, *event[:3]), None)
        if broker is not None:
            yield from self._counted(broker, event.code)

    def _counted(self, broker: str, code: int) -> Iterator[Told]:
        if code == PullCode.PULL_OFFSET_MOVED:
            times = self.sent_on[broker,] = self.sent_on.get((broker,), 0) + 1
            if times > self.put.get((broker,), 0):
                yield self.told(f"{broker} has sent {times} pulls on, and put {self.put.get((broker,), 0)} messages "
                                "about that", broker)
