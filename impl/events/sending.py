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
    SendCallback is to hear of it. now_ms -- what its clock says. legal -- False: it is such that no broker is to hear
    of it. half -- its transaction is run when a broker has it. queue_nums -- how many queues its topic is to have at a
    broker that makes it for the message; None: its topic is not made. another -- another broker is to have it, too, if
    one has it, and not as safely as wished.
    """

    group: str
    key: str
    topic: str
    attempts: int
    timeout_ms: int
    contents: tuple[int, ...]
    asynchronous: bool = False
    now_ms: int | None = None
    legal: bool = True
    half: bool = False
    queue_nums: int | None = None
    another: bool = False


class QueueChosen(NamedTuple):
    """MessageQueueSelector#select, DefaultMQProducer#send(Message, MessageQueue): the application chooses a queue.

    It says so itself. key -- UNIQ_KEY of the message. about, listed -- where SelectMessageQueueByHash chooses: what it
    takes the hash of, and the queues of which it chooses one.
    """

    group: str
    key: str
    mq: MessageQueue
    about: str = ""
    listed: tuple[MessageQueue, ...] = ()


class SendTold(NamedTuple):
    """DefaultMQProducer#send has returned, or called back: an application says what it was told.

    key -- of the send, as it has asked. status -- name of a SendStatus; empty: an exception, or nothing. msg_id -- the
    UNIQ_KEY that it was told. mq, queue_offset -- where the message is said to be, the first one of a batch. contents
    -- of each message that the application has now, as a number; of a batch: none. offset_msg_id -- of a batch all,
    joined by commas; None: unknown, or it is a half message. transaction -- name of the LocalTransactionState of a
    TransactionSendResult.
    """

    group: str
    key: str
    status: str = ""
    msg_id: str | None = None
    mq: MessageQueue | None = None
    queue_offset: int = -1
    contents: tuple[int, ...] = ()
    offset_msg_id: str | None = None
    transaction: str = ""


class SendAttempted(NamedTuple):
    """DefaultMQProducerImpl#sendKernelImpl, MQClientAPIImpl#sendMessageAsync: a request is about to be sent.

    key -- UNIQ_KEY of the message; of a batch: all, joined by commas. attempt -- counts from 1. mq -- the broker that
    is addressed, and the queue that the request names. listed -- the queues that the producer could choose from; empty
    where the application has chosen. hashed -- the argument by whose hash it has; None: in another way.
    oneway -- no answer is wanted. timeout_ms -- how long the answer, or what has to come before, is waited for. waits
    -- the message says that disk and slave are to be waited for (WAIT).
    """

    client_id: str
    group: str
    key: str
    attempt: int
    mq: MessageQueue
    listed: frozenset[MessageQueue] = frozenset()
    hashed: str | None = None
    oneway: bool = False
    timeout_ms: int | None = None
    waits: bool = True


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


class TransactionAsked(NamedTuple):
    """TransactionListener: an application is asked to do a transaction, and says so itself.

    key -- UNIQ_KEY of the half message. checked -- what has become of it is asked for. transaction_id, content -- of
    the message that it is given; see SendAsked; None: unknown.
    """

    group: str
    key: str
    checked: bool
    transaction_id: str | None = None
    content: int | None = None


class TransactionAnswered(NamedTuple):
    """TransactionListener: what the application answers, and says itself; see TransactionAsked.

    answer -- name of a LocalTransactionState; NULL, EXCEPTION.
    """

    group: str
    key: str
    checked: bool
    answer: str


class HalfMessageEnded(NamedTuple):
    """DefaultMQProducerImpl#endTransaction, #checkTransactionState: a producer tells a broker of a transaction.

    key -- UNIQ_KEY of the half message. state -- name of a LocalTransactionState. from_check -- the broker has asked.
    """

    client_id: str
    group: str
    key: str
    state: str
    from_check: bool = False


class EndTransactionTaken(NamedTuple):
    """EndTransactionProcessor#processRequest: a broker is told how a transaction has ended, or that nobody knows.

    key -- as the request says. state -- name of the LocalTransactionState. queue_offset, commit_log_offset -- where
    the half message is said to be.
    """

    broker: str
    group: str
    key: str
    state: str
    from_check: bool
    queue_offset: int
    commit_log_offset: int


class OpMessagesRead(NamedTuple):
    """TransactionalMessageServiceImpl#fillOpRemoveMap: a round of checks has read which half messages have ended.

    next_offset -- the offset of the op queue before which it has read.
    """

    broker: str
    next_offset: int


class RequestAsked(NamedTuple):
    """DefaultMQProducer#request: an application asks for a reply, and says so itself.

    key -- UNIQ_KEY of the request. timeout_ms -- how long it waits.
    """

    group: str
    key: str
    topic: str
    timeout_ms: int


class RequestGiven(NamedTuple):
    """MessageListener#consumeMessage: an application is to reply to a request, and says so itself.

    key -- UNIQ_KEY of the request. timeout_ms -- how long, by its properties, it is waited for; -1: they do not say.
    """

    group: str
    key: str
    timeout_ms: int


class RequestReplied(NamedTuple):
    """MessageUtil#createReplyMessage: an application has sent a reply, as it says, and was told SEND_OK.

    key -- UNIQ_KEY of the request. content -- of the reply, as a number; None: unknown.
    """

    group: str
    key: str
    content: int | None = None


class RequestTold(NamedTuple):
    """DefaultMQProducer#request has returned, or called back: an application says what it was told.

    key -- of its request. replied_to -- of the request that the reply is one to, as its body says; empty: no reply.
    content -- of the reply, as a number; None: unknown. exception -- class of the exception that it was told; empty:
    none; None: unknown.
    """

    group: str
    key: str
    replied_to: str = ""
    content: int | None = None
    exception: str | None = None
