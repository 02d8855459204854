"""What is reported of messages: pulls at brokers; messages found, listened to, settled."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue


class PullSuspended(NamedTuple):
    """PullAPIWrapper#pullKernelImpl: a pull goes to a broker, which holds it until it finds something.

    offset -- where it begins. asked -- the address of whom it asks. most -- how many messages it wants. by_version --
    which version of its subscription it names. commits -- whether it carries an offset to commit.
    """

    client_id: str
    group: str
    mq: MessageQueue
    offset: int
    asked: str = ""
    most: int = 0
    by_version: int = -1
    commits: bool = False


class PullAnswered(NamedTuple):
    """PullAPIWrapper#processPullResult: a pull is answered.

    code -- as on the wire. next_begin_offset -- where the broker says that the next one is to begin. suggested -- the
    id of the broker that it is to ask. begin, end -- of the queue, as the broker says. messages -- how many it gives.
    """

    client_id: str
    group: str
    mq: MessageQueue
    code: int
    next_begin_offset: int = -1
    suggested: int = 0
    begin: int = 0
    end: int = 0
    messages: int = 0


class PullFailed(NamedTuple):
    """PullCallback#onException: a pull was refused, or not answered in time, or its answer could not be taken.

    code -- with which it was refused; -1: it was not.
    """

    client_id: str
    group: str
    mq: MessageQueue
    code: int = -1


class MessagesFound(NamedTuple):
    """PullCallback#onSuccess with FOUND: messages entered the process queue; offsets -- theirs, ascending."""

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


class PullBegun(NamedTuple):
    """DefaultMQPushConsumerImpl#pullMessage: PullRequest.previouslyLocked is set: the first pull of an ordered queue.

    offset -- where it begins, whatever was read when the queue was taken.
    """

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class MessagesTaken(NamedTuple):
    """ProcessQueue#takeMessages: an ordered consumer takes what its listener is given next; offsets -- of that."""

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


class MessagesPutBack(NamedTuple):
    """ProcessQueue#makeMessageToConsumeAgain, #rollback: what was taken is cached again; offsets -- of that."""

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


class ListenerStarted(NamedTuple):
    """ConsumeMessageOrderlyService.ConsumeRequest#run: the listener begins, under the lock of the queue."""

    client_id: str
    group: str
    mq: MessageQueue


class ListenerEnded(NamedTuple):
    """ConsumeMessageOrderlyService.ConsumeRequest#run: the listener has ended; the lock of the queue is still held."""

    client_id: str
    group: str
    mq: MessageQueue


class MessagesSettled(NamedTuple):
    """ConsumeMessageService#processConsumeResult: these messages are consumed; offsets -- theirs, ascending."""

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


class MessagesExpired(NamedTuple):
    """ProcessQueue#cleanExpiredMsg: messages that a listener has had for too long are sent back, and cached no more.

    offsets -- theirs. The offset in memory stays where it is.
    """

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


class MessagesGiven(NamedTuple):
    """MessageListener#consumeMessage: an application is given messages, and says so itself.

    offsets, keys, attempts -- of each of them: its place in the queue, its UNIQ_KEY, and how often it was sent back
    before (reconsumeTimes). most -- how often the group sends a message back before it gives it up. orderly -- as a
    MessageListenerOrderly. contents -- of each message, as a number. most_at_once -- how many messages its consumer is
    configured to give at once, at most. rest_ms -- how long a queue of its rests when a listener that works in order
    has failed. born_ms -- of each message, when it was sent, as it says.
    """

    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]
    keys: tuple[str, ...]
    attempts: tuple[int, ...]
    most: int
    orderly: bool
    contents: tuple[int, ...] = ()
    most_at_once: int = 1024
    rest_ms: int = 0
    born_ms: tuple[int, ...] = ()


class MessagesAnswered(NamedTuple):
    """MessageListener#consumeMessage: what an application makes of messages; it says so itself.

    answers -- of each of them: SUCCESS, LATER, NULL, EXCEPTION; NEVER: its listener will not return. A listener in
    order that commits itself says HELD of what it has succeeded with, and later of all that it holds SUCCESS, when it
    commits, or ROLLBACK. level -- the delay level that it wants where it has failed
    (`ConsumeConcurrentlyContext#setDelayLevelWhenNextConsume`); 0: as the broker has it, -1: to the dead letters.
    rest_ms -- how long it wants the queue to rest (`ConsumeOrderlyContext#setSuspendCurrentQueueTimeMillis`); -1: as
    its consumer is configured.
    """

    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]
    keys: tuple[str, ...]
    answers: tuple[str, ...]
    level: int = 0
    rest_ms: int = -1
