"""What clients make of messages with which a listener fails, or does not end: they send them back, or give them up.

A listener does not know. What cannot be sent back is tried again where it is, what was given for too long is sent back
while the listener is still at work, and of a queue that is dropped nothing is sent back. So it is taken from what
clients report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import get_retry_topic
from impl.events import MessagesAnswered, MessagesExpired, MessagesGiven, MessagesSettled, SendAnswered
from impl.hosts.simulation.kernel import Record
from invariants.rules.answers import SUCCESS

_Place = tuple[str, str, MessageQueue, int]


@dataclass(frozen=True, slots=True)
class Given:
    """A message that a listener was given last at its place.

    machine, group, mq, offset, key -- whose, and which. attempt -- how often it was sent back before. is_last --
    whether its group sends it back no more. orderly -- as a MessageListenerOrderly.
    """

    machine: str
    group: str
    mq: MessageQueue
    offset: int
    key: str
    attempt: int
    is_last: bool
    orderly: bool


class Failures:
    """Follows the records of a run: what listeners were given, and have not succeeded with."""

    def __init__(self) -> None:
        """Nobody has been given anything."""
        self._given: dict[_Place, Given] = {}
        self._in_order: dict[tuple[str, str, str], Given] = {}

    def over(self, records: Sequence[Record]) -> Iterator[tuple[int, int, Given]]:
        """Each time that a client has sent a message back, or has given it up: the number of the record, ms, and it.

        A message without a key is left out.
        """
        for position, (ms, machine, event) in enumerate(records, 1):
            match event:
                case MessagesGiven():
                    self._are_given(machine, event)
                case MessagesAnswered():
                    self._succeeds(machine, event)
                case MessagesSettled() | MessagesExpired():
                    yield from ((position, ms, one) for one in self._settled(machine, event) if one.key)
                case SendAnswered(commit_log_offset=stored_at) if stored_at >= 0:
                    yield from ((position, ms, one) for one in self._stored(machine, event))

    def _are_given(self, machine: str, event: MessagesGiven) -> None:
        for offset, key, attempt in zip(event.offsets, event.keys, event.attempts, strict=True):
            one = Given(machine, event.group, event.mq, offset, key, attempt, attempt >= event.most, event.orderly)
            self._given[machine, event.group, event.mq, offset] = one
            if event.orderly:
                self._in_order[machine, get_retry_topic(event.group), key] = one

    def _succeeds(self, machine: str, event: MessagesAnswered) -> None:
        for offset, answer in zip(event.offsets, event.answers, strict=True):
            place = machine, event.group, event.mq, offset
            if answer == SUCCESS:
                self._given.pop(place, None)
            elif event.level < 0 and place in self._given:
                self._given[place] = replace(self._given[place], is_last=True)

    def _settled(self, machine: str, event: MessagesSettled | MessagesExpired) -> Iterator[Given]:
        """Of what is settled that with which no listener has succeeded; in order that is over when a broker has it."""
        for offset in event.offsets:
            one = self._given.get((machine, event.group, event.mq, offset))
            if one is not None and not one.orderly:
                yield one

    def _stored(self, machine: str, event: SendAnswered) -> Iterator[Given]:
        """What a client has sent to the retry topic itself: an orderly listener has failed for the last time."""
        one = self._in_order.get((machine, event.topic, event.key))
        if one is not None:
            yield one
