"""What producers report: their lives, each attempt to send, sends that failed, and what became of half messages."""

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
