"""What applications of lite pull consumers say of themselves: they poll, commit, seek, and rest queues or topics."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue


class QueuesHeld(NamedTuple):
    """AssignedMessageQueue#updateAssignedMessageQueue: mqs -- all queues that a lite pull consumer has now.

    Of a queue that comes back nothing is left of its time before: where it was, and whether it rested.
    """

    client_id: str
    group: str
    mqs: frozenset[MessageQueue]


class PollBegan(NamedTuple):
    """DefaultLitePullConsumer#poll: an application is done with all that it has polled, and asks for more.

    auto_commit -- whether its consumer commits that by itself. timeout_ms -- how long it wants to wait.
    """

    group: str
    auto_commit: bool
    timeout_ms: int = 0


class PollEnded(NamedTuple):
    """DefaultLitePullConsumer#poll has returned; messages -- how many the application is given."""

    group: str
    messages: int


class MessagesPolled(NamedTuple):
    """DefaultLitePullConsumer#poll has answered, with messages of one queue.

    offsets -- of the messages, in their order. keys, contents, tags -- of each: its UNIQ_KEY, what it is, as a number,
    and its tag. subscribed -- what the application subscribes of the topic, as it has written that.
    """

    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]
    keys: tuple[str, ...] = ()
    contents: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    subscribed: str = "*"


class CommitAsked(NamedTuple):
    """DefaultLitePullConsumer#commitSync: an application commits all that it has polled."""

    group: str


class QueueSought(NamedTuple):
    """DefaultLitePullConsumer#seek has returned: an application wants to go on at this offset."""

    group: str
    mq: MessageQueue
    offset: int


class SeekRefused(NamedTuple):
    """DefaultLitePullConsumer#seek has thrown: an application may not go on at this offset."""

    group: str
    mq: MessageQueue
    offset: int


class WaysMixed(NamedTuple):
    """DefaultLitePullConsumer#assign, #subscribe have returned to an application that has chosen the other one."""

    group: str


class TopicLeft(NamedTuple):
    """DefaultLitePullConsumer#unsubscribe has returned: an application wants nothing of a topic."""

    group: str
    topic: str


class TopicWantedAgain(NamedTuple):
    """DefaultLitePullConsumer#subscribe is called by an application that had left the topic."""

    group: str
    topic: str


class TopicTakenAgain(NamedTuple):
    """DefaultLitePullConsumer#subscribe has returned to an application that had left the topic."""

    group: str
    topic: str


class PollerStopping(NamedTuple):
    """DefaultLitePullConsumer#shutdown is called. client_id -- of its client; empty: unknown."""

    group: str
    client_id: str = ""


class PollerShutDown(NamedTuple):
    """DefaultLitePullConsumer#shutdown has returned. client_id -- of its client; empty: unknown."""

    group: str
    client_id: str = ""


class QueueRested(NamedTuple):
    """DefaultLitePullConsumer#pause, #resume have returned: rested -- the application wants nothing of the queue."""

    group: str
    mq: MessageQueue
    rested: bool
