"""What brokers report of messages on their way: tried too often, sent back, pulled again, asked for; and held pulls."""

from __future__ import annotations

from typing import NamedTuple


class DeadLetterTaken(NamedTuple):
    """SendMessageProcessor#handleRetryAndDLQ, #asyncConsumerSendMsgBack: a message whose tries are over was put.

    key -- its UNIQ_KEY. delay_level -- 0: it is in the dead-letter queue; else it waits for this level first.
    """

    broker: str
    group: str
    key: str | None
    delay_level: int


class SendBackTaken(NamedTuple):
    """SendMessageProcessor#asyncConsumerSendMsgBack says SUCCESS.

    commit_log_offset -- of the record that was sent back; copy_offset -- of the copy, as its put has said; None: there
    is none. copy_topic, copy_queue_id -- where it is, or will be when its delay is over.
    """

    broker: str
    group: str
    commit_log_offset: int
    copy_offset: int | None = None
    copy_topic: str = ""
    copy_queue_id: int = 0


class PullRetried(NamedTuple):
    """PullMessageProcessor#processRequest answers PULL_RETRY_IMMEDIATELY: offset, next_offset -- asked, and said."""

    broker: str
    group: str
    topic: str
    queue_id: int
    offset: int
    next_offset: int


class PullHeld(NamedTuple):
    """PullRequestHoldService#suspendPullRequest.

    connection, opaque -- which request it is. offset -- what it waits for. expression -- what is subscribed; in the
    tables of the broker, or in the request. timeout_ms -- how long it is held.
    """

    broker: str
    group: str
    topic: str
    queue_id: int
    offset: int
    connection: str
    opaque: int
    expression: str | None
    timeout_ms: int


class HeldPullAnswered(NamedTuple):
    """PullMessageProcessor#executeRequestWhenWakeup: a pull that was held has been answered, whatever with."""

    broker: str
    connection: str
    opaque: int


class HeldPullRefused(NamedTuple):
    """PullMessageProcessor#executeRequestWhenWakeup: the pool has no room for a pull that was held: nobody answers."""

    broker: str
    connection: str
    opaque: int


class KeyAsked(NamedTuple):
    """DefaultMQAdmin#queryMessage: an operator asks a broker for the messages of a topic that have a key.

    key -- a UNIQ_KEY, or one of KEYS. begin_ms, end_ms -- between which times they were stored.
    """

    broker: str
    topic: str
    key: str
    begin_ms: int
    end_ms: int


class KeyAnswered(NamedTuple):
    """QueryMessageProcessor#queryMessage has answered an operator.

    offsets -- of the records in the log. max_num -- how many there may be.
    """

    broker: str
    topic: str
    key: str
    begin_ms: int
    end_ms: int
    offsets: tuple[int, ...]
    max_num: int
