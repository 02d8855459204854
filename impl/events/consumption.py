"""What is reported of messages: pulls at brokers; messages found, listened to, settled."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue


class PullSuspended(NamedTuple):
    """PullRequestHoldService#suspendPullRequest: the broker of a queue holds a pull; offset -- where it begins.

    As long as pulls are not sent, what stands for the broker reports it in the client's process; so with PullAnswered.
    """

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class PullAnswered(NamedTuple):
    """PullMessageProcessor#executeRequestWhenWakeup: a pull that a broker held is answered; code -- as on the wire."""

    client_id: str
    group: str
    mq: MessageQueue
    code: int


class MessagesFound(NamedTuple):
    """PullCallback#onSuccess with FOUND: messages entered the process queue; offsets -- theirs, ascending."""

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
