"""What a client reports of its consumers and of the queues that they hold."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue

DEFAULT_STRATEGY = "AVG"  # AllocateMessageQueueAveragely


class ConsumerStarted(NamedTuple):
    """DefaultMQPushConsumerImpl#start: RUNNING, and registered at its instance.

    strategy -- the name of its AllocateMessageQueueStrategy.
    """

    client_id: str
    group: str
    message_model: str
    orderly: bool
    strategy: str = DEFAULT_STRATEGY


class ConsumerStopping(NamedTuple):
    """DefaultMQPushConsumerImpl#shutdown has begun: it is about to give back what it has."""

    client_id: str
    group: str


class ConsumerShutDown(NamedTuple):
    """DefaultMQPushConsumerImpl#shutdown has ended: all queues are dropped."""

    client_id: str
    group: str


class ConsumerIdsFetched(NamedTuple):
    """MQClientInstance#findConsumerIdList has answered; client_ids -- None for any failure."""

    client_id: str
    group: str
    topic: str
    broker_addr: str | None
    client_ids: tuple[str | None, ...] | None


class QueueTaken(NamedTuple):
    """RebalanceImpl#updateProcessQueueTableInRebalance: a process queue entered the table; offset -- its first."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class QueueDropped(NamedTuple):
    """ProcessQueue#setDropped: the client gives the queue up; it may stay in the table.

    by_rebalance -- it is none of its share any more, or its pulls have expired.
    """

    client_id: str
    group: str
    mq: MessageQueue
    by_rebalance: bool = False


class QueueForgotten(NamedTuple):
    """RebalanceImpl.processQueueTable has lost a queue that is not dropped: its pulls go on, and it is taken again."""

    client_id: str
    group: str
    mq: MessageQueue


class QueuesAssigned(NamedTuple):
    """RebalanceImpl#rebalanceByTopic: a run for one topic has ended; mqs -- held and not dropped; changed -- by it."""

    client_id: str
    group: str
    topic: str
    mqs: frozenset[MessageQueue]
    changed: bool


class RouteUpdated(NamedTuple):
    """RebalanceImpl.topicSubscribeInfoTable of the consumer has the readable queues of a new route."""

    client_id: str
    group: str
    topic: str
    mqs: frozenset[MessageQueue]


class ConsumerSuspended(NamedTuple):
    """DefaultMQPushConsumerImpl#suspend: the application lets its consumer pull nothing from now on."""

    client_id: str
    group: str


class AllocationFailed(NamedTuple):
    """RebalanceImpl#rebalanceByTopic: the strategy has thrown, and the client keeps what it has; error -- Java's."""

    client_id: str
    group: str
    topic: str
    error: str
