"""The messages of a store's life, and what was known of them when a crash came."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """A message that was put; of a blank the topic is empty.

    offset -- of its record in the log. keys -- without the empty ones. store_timestamp -- in ms.
    """

    topic: str
    queue_id: int
    queue_offset: int
    offset: int
    tags_code: int
    keys: tuple[str, ...]
    record: bytes
    store_timestamp: int

    def __str__(self) -> str:
        """For people."""
        return f"message {self.queue_offset} of {self.queue_name}"

    @property
    def queue(self) -> tuple[str, int]:
        """Topic and queue id."""
        return self.topic, self.queue_id

    @property
    def queue_name(self) -> str:
        """As the store's table of queue offsets has it."""
        return f"{self.topic}-{self.queue_id}"


class Fate(NamedTuple):
    """How a message has left the log.

    begin, end -- the steps before and after the operation in which it did. cut -- a recovery has cut it off, so that
    its queue offset is given again; else clean-up has taken it away.
    """

    begin: int
    end: int
    cut: bool


class Known(NamedTuple):
    """What was known of the messages of a store when a crash came.

    log -- what the log may have, by offset. leaving -- of these, what an operation was taking away just then. gone --
    what had left before. acknowledged -- to producers, and neither leaving nor gone. expired -- queue ("A-0") to the
    offset behind the last message that clean-up has taken away; expiring -- that it has, or was taking away just then.
    """

    log: dict[int, Message]
    leaving: frozenset[Message]
    gone: tuple[Message, ...]
    acknowledged: tuple[Message, ...]
    expired: dict[str, int]
    expiring: dict[str, int]


def known(messages: list[Message], acknowledged: dict[int, int], fates: dict[int, Fate], step: int) -> Known:
    """What was known after a step.

    messages -- all of a life, as they were put. acknowledged -- place of a message to the step after which it was.
    fates -- place of a message that has left to how it did. Of two messages at one offset, of which the first has not
    left yet, the second is not there.
    """
    begun = {place: fate for place, fate in fates.items() if fate.begin <= step}
    ended = {place for place, fate in begun.items() if fate.end <= step}
    log: dict[int, Message] = {}
    expired: dict[str, int] = {}
    expiring: dict[str, int] = {}
    for place, message in enumerate(messages):
        if place not in ended:
            log.setdefault(message.offset, message)
        if place in begun and not begun[place].cut:
            expiring[message.queue_name] = message.queue_offset + 1
            if place in ended:
                expired[message.queue_name] = message.queue_offset + 1
    leaving = frozenset(messages[place] for place in begun if place not in ended)
    gone = tuple(messages[place] for place in sorted(ended))
    sure = tuple(messages[place] for place, since in acknowledged.items() if since <= step and place not in begun)
    return Known(log, leaving, gone, sure, expired, expiring)
