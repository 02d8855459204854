"""Selectors of queues that applications have, which say what they choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from impl.client.message_queue_selectors import SelectMessageQueueByHash
from impl.common.message_to_send import Message
from impl.decisions.message_queue import MessageQueue

Tell = Callable[[Message, MessageQueue], None]
"""Says which queue was chosen for a message."""


class TellOfHash(Protocol):
    """Says also what it was chosen for, and of which queues."""

    def __call__(self, message: Message, mq: MessageQueue, about: str, listed: Sequence[MessageQueue], /) -> None:
        """See the class."""
        ...


class FirstQueues:
    """A MessageQueueSelector that takes the first queues of each broker in turn."""

    def __init__(self, queues: int, tell: Tell) -> None:
        """So many of each."""
        self.queues, self._tell = queues, tell

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: int) -> MessageQueue:
        """The next one; arg -- the number of the message."""
        brokers = sorted({mq.broker_name for mq in mqs})
        turn, at = divmod(arg, len(brokers))
        chosen = MessageQueue(mqs[0].topic, brokers[at], turn % self.queues)
        self._tell(msg, chosen)
        return chosen


class ByHash(SelectMessageQueueByHash):
    """SelectMessageQueueByHash, which says what it chooses."""

    def __init__(self, tell: TellOfHash) -> None:
        """Nothing is chosen."""
        self._tell = tell

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: str | int) -> MessageQueue:
        """See SelectMessageQueueByHash."""
        chosen = super().select(mqs, msg, arg)
        self._tell(msg, chosen, str(arg), mqs)
        return chosen
