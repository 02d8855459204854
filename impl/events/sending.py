"""What producers report, and their applications: lives, attempts, failures, outcomes, what became of half messages."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue


class ProducerStarted(NamedTuple):
    """DefaultMQProducerImpl#start: registered at its instance. send_latency_fault_enable -- as it is configured."""

    client_id: str
    group: str
    send_latency_fault_enable: bool = False


class ProducerShutDown(NamedTuple):
    """DefaultMQProducerImpl#shutdown has ended; what is still being sent asynchronously goes on."""

    client_id: str
    group: str


class PublishInfoUpdated(NamedTuple):
    """DefaultMQProducerImpl#updateTopicPublishInfo: a producer chooses from these queues from now on."""

    client_id: str
    group: str
    topic: str
    queues: tuple[MessageQueue, ...]


class SendAsked(NamedTuple):
    """DefaultMQProducer#send: an application sends a message or a batch, and says so itself.

    key -- UNIQ_KEY; of a batch: all, joined by commas. attempts -- how many requests there may be, as its producer is
    configured. timeout_ms -- of all of them together. contents -- of each message, as a number. asynchronous -- a
    SendCallback is to hear of it.
    """

    group: str
    key: str
    topic: str
    attempts: int
    timeout_ms: int
    contents: tuple[int, ...]
    asynchronous: bool = False


class SendTold(NamedTuple):
    """DefaultMQProducer#send has returned, or called back: an application says what it was told.

    key -- of the send, as it has asked. status -- name of a SendStatus; empty: an exception, or nothing. msg_id -- the
    UNIQ_KEY that it was told. mq, queue_offset -- where the message is said to be, the first one of a batch.
    """

    group: str
    key: str
    status: str = ""
    msg_id: str | None = None
    mq: MessageQueue | None = None
    queue_offset: int = -1


class SendAttempted(NamedTuple):
    """DefaultMQProducerImpl#sendKernelImpl, MQClientAPIImpl#sendMessageAsync: a request is about to be sent.

    key -- UNIQ_KEY of the message; of a batch: all, joined by commas. attempt -- counts from 1. mq -- the broker that
    is addressed, and the queue that the request names. listed -- the queues that the producer could choose from; empty
    where the application has chosen. hashed -- the argument by whose hash it has; None: in another way.
    oneway -- no answer is wanted.
    """

    client_id: str
    group: str
    key: str
    attempt: int
    mq: MessageQueue
    listed: frozenset[MessageQueue] = frozenset()
    hashed: str | None = None
    oneway: bool = False


class SendFailed(NamedTuple):
    """DefaultMQProducerImpl#sendDefaultImpl, MQClientAPIImpl#onExceptionImpl: the application is told of a failure.

    code -- the response code of the exception: of a broker, or a ClientErrorCode; -1: none. attempts -- how many
    requests there were; allowed -- how many there might have been. spent_ms, timeout_ms -- of the whole send.
    """

    client_id: str
    group: str
    key: str
    topic: str
    code: int
    attempts: int
    allowed: int
    spent_ms: int
    timeout_ms: int


class HalfMessageEnded(NamedTuple):
    """DefaultMQProducerImpl#endTransaction, #checkTransactionState: a producer tells a broker of a transaction.

    key -- UNIQ_KEY of the half message. state -- name of a LocalTransactionState. from_check -- the broker has asked.
    """

    client_id: str
    group: str
    key: str
    state: str
    from_check: bool = False
