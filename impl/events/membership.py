"""What a broker reports of the members of groups, and of its notifications to them."""

from __future__ import annotations

from typing import NamedTuple


class GroupEntered(NamedTuple):
    """ConsumerManager: a group got a place in consumerTable, without members yet."""

    broker: str
    group: str


class GroupRemoved(NamedTuple):
    """ConsumerManager: the group left consumerTable, by key, whatever object was there; members -- those it had."""

    broker: str
    group: str
    members: tuple[str | None, ...]


class ConsumerRegistered(NamedTuple):
    """ConsumerGroupInfo#updateChannel: the connection was put into the table of the group object.

    attached -- whether that object is (still) the one of consumerTable, here and below; what is written to another one
    nobody will read. added -- the connection was not there before. subscriptions -- what the heartbeat carries: topic,
    expression and subVersion of each; they are put later.
    """

    broker: str
    group: str
    client_id: str | None
    connection: str
    attached: bool
    added: bool
    subscriptions: frozenset[tuple[str | None, str, int]]


class HeartbeatHandled(NamedTuple):
    """ConsumerManager#registerConsumer has ended: the thread of this connection's heartbeat leaves the group."""

    broker: str
    group: str
    connection: str


class HeartbeatRefused(NamedTuple):
    """The broker objects to the group's part of a heartbeat; RocketMQ 4.9.3 as shipped never does."""

    broker: str
    group: str
    client_id: str | None
    connection: str


class ConsumerRemoved(NamedTuple):
    """A connection left the table of a group.

    why -- "unregistered", "closed", "expired" (the scan), or "replaced" by a newer connection of the same client, which
    RocketMQ 4.9.3 as shipped never does.
    """

    broker: str
    group: str
    client_id: str | None
    connection: str
    why: str
    attached: bool


class GoodbyeTaken(NamedTuple):
    """ConsumerGroupInfo#unregisterChannel has ended: UNREGISTER_CLIENT has removed from the group whom it removes."""

    broker: str
    group: str
    client_id: str | None
    connection: str
    attached: bool


class ConsumerIdsChanged(NamedTuple):
    """Broker2Client#notifyConsumerIdsChanged was written, or not: delivered -- False if it could not be sent."""

    broker: str
    group: str
    connection: str
    delivered: bool


class ProducerRegistered(NamedTuple):
    """ProducerManager#registerProducer: the connection is in the table of the group, with the time of now."""

    broker: str
    group: str
    client_id: str | None
    connection: str


class ConsumerIdsAnswered(NamedTuple):
    """ConsumerManageProcessor#getConsumerListByGroup: the answer; empty means an error to the client."""

    broker: str
    group: str
    connection: str
    client_ids: tuple[str | None, ...]


class ConsumersOfTopicAnswered(NamedTuple):
    """AdminBrokerProcessor#queryTopicConsumeByWho: the answer."""

    broker: str
    topic: str
    groups: frozenset[str]


class SubscriptionGroupDeleted(NamedTuple):
    """SubscriptionGroupManager#deleteSubscriptionGroupConfig: the group left subscriptionGroupTable, and the file."""

    broker: str
    group: str


class ClientChannelClosed(NamedTuple):
    """ClientHousekeepingService is told that a connection has ended, and is about to take it out of all groups."""

    broker: str
    connection: str


class ProducerForgotten(NamedTuple):
    """ProducerManager#unregisterProducer, #doChannelCloseEvent: a connection left the table of the group.

    The client's channel for replies has gone with it, whichever connection that was.
    """

    broker: str
    group: str
    client_id: str | None
    connection: str
