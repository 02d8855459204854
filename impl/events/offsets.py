"""What brokers, clients and operators report of offsets."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue


class OffsetCommitted(NamedTuple):
    """ConsumerOffsetManager#commitOffset: put, unconditionally; connection -- on which the commit came."""

    broker: str
    group: str
    topic: str
    queue_id: int
    offset: int
    connection: str = ""


class GroupOffsetsRemoved(NamedTuple):
    """ConsumerOffsetManager#removeOffset: all that a group has committed is forgotten, with its subscription group."""

    broker: str
    group: str


class OffsetAnswered(NamedTuple):
    """ConsumerManageProcessor#queryConsumerOffset: the answer; offset -- -1: QUERY_NOT_FOUND."""

    broker: str
    group: str
    topic: str
    queue_id: int
    connection: str
    offset: int


class OffsetResetPushed(NamedTuple):
    """Broker2Client#resetOffset wrote RESET_CONSUMER_CLIENT_OFFSET, or not: delivered -- False if it could not."""

    broker: str
    group: str
    topic: str
    connection: str
    delivered: bool


class OffsetReset(NamedTuple):
    """MQClientInstance#resetOffset: the offset in memory was set, up or down, and is about to be committed."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class ResetReceived(NamedTuple):
    """ClientRemotingProcessor#resetOffset: the client is told to reset queues, as far as it holds them.

    offsets -- each queue, and where it is to go.
    """

    client_id: str
    group: str
    offsets: frozenset[tuple[MessageQueue, int]]


class OffsetSent(NamedTuple):
    """MQClientAPIImpl#updateConsumerOffset, #updateConsumerOffsetOneway: a commit is about to be sent."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class OffsetsWritten(NamedTuple):
    """LocalFileOffsetStore#persistAll: what the file of a broadcasting consumer has now; pairs of queue and offset."""

    client_id: str
    group: str
    offsets: tuple[tuple[MessageQueue, int], ...]


class OffsetCorrected(NamedTuple):
    """The task of OFFSET_ILLEGAL: the offset in memory is one that the broker has; it is about to be persisted."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class OffsetUpdated(NamedTuple):
    """ConsumeMessageService#processConsumeResult: OffsetStore#updateOffset, of a queue that is not dropped."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class OffsetLearntLate(NamedTuple):
    """OffsetStore#updateOffset by an answer of a broker that came too late: the holding that it is of is another one.

    pulled -- the answer is to a pull of a queue that was given up meanwhile; else to the question of a run of a
    rebalance where to begin, and another run has taken the queue meanwhile.
    """

    client_id: str
    group: str
    mq: MessageQueue
    offset: int
    pulled: bool


class OffsetsReset(NamedTuple):
    """INVOKE_BROKER_TO_RESET_OFFSET was answered: offsets -- pairs of a queue id and where it is to go.

    timestamp -- as it was asked: -1 is the end. is_force -- the group may also be sent on.
    """

    broker: str
    group: str
    topic: str
    timestamp: int
    offsets: tuple[tuple[int, int], ...]
    is_force: bool = False


class OffsetsLeftOut(NamedTuple):
    """AdminBrokerProcessor#queryCorrectionOffset: the group was to be left out of an answer, and lost its offsets."""

    broker: str
    group: str


class OffsetFoundIllegal(NamedTuple):
    """PullCallback#onSuccess with OFFSET_ILLEGAL: the broker does not have the offset; nearest -- one that it has."""

    client_id: str
    group: str
    mq: MessageQueue
    nearest: int
