"""What brokers report of messages on their way: tried too often, sent back, pulled again."""

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
    """SendMessageProcessor#asyncConsumerSendMsgBack says SUCCESS; kept -- a copy of the message is in the log.

    commit_log_offset -- of the record that was sent back. queue_id -- of the copy, or where it will be when its delay
    is over; readable -- the topic has this queue.
    """

    broker: str
    group: str
    commit_log_offset: int
    kept: bool
    queue_id: int = 0
    readable: bool = True


class PullRetried(NamedTuple):
    """PullMessageProcessor#processRequest answers PULL_RETRY_IMMEDIATELY: offset, next_offset -- asked, and said."""

    broker: str
    group: str
    topic: str
    queue_id: int
    offset: int
    next_offset: int
