"""What brokers report of messages on their way: tried too often, sent back, pulled again, asked for."""

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
