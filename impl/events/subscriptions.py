"""What brokers and clients report of subscriptions."""

from __future__ import annotations

from typing import NamedTuple


class SubscriptionsHandled(NamedTuple):
    """ConsumerGroupInfo#updateSubscription has ended: both loops over the topics that this connection's heartbeat has.

    What the loops wrote was reported in between; what they left as it was is behind this thread now.
    """

    broker: str
    group: str
    connection: str
    attached: bool


class SubscriptionUpdated(NamedTuple):
    """ConsumerGroupInfo#updateSubscription put a topic, new or in a newer version."""

    broker: str
    group: str
    topic: str
    sub_string: str
    sub_version: int
    attached: bool


class SubscriptionRemoved(NamedTuple):
    """ConsumerGroupInfo#updateSubscription removed a topic that the heartbeat did not list."""

    broker: str
    group: str
    topic: str
    attached: bool


class VersionRaised(NamedTuple):
    """RebalancePushImpl#messageQueueChanged, DefaultMQPushConsumerImpl#subscribe: a newer subVersion counts for pulls.

    The heartbeat that will carry it has not been sent.
    """

    client_id: str
    group: str
    topic: str
    sub_version: int


class SubscriptionAsked(NamedTuple):
    """DefaultMQPushConsumer#subscribe, #unsubscribe: an application changes its subscription, and says so itself.

    expression -- None: it wants the topic no more.
    """

    group: str
    topic: str
    expression: str | None


class FilterRegistered(NamedTuple):
    """ConsumerFilterManager#register of one topic: taken -- the expression counts from now on.

    lives -- whether the group has a living filter of the topic afterwards.
    """

    broker: str
    group: str
    topic: str
    sub_string: str
    sub_version: int
    taken: bool
    lives: bool


class FiltersDied(NamedTuple):
    """ConsumerFilterManager#unRegister: all filters of the group are dead from now on."""

    broker: str
    group: str


class TopicUnsubscribed(NamedTuple):
    """DefaultMQPushConsumerImpl#unsubscribe: the application gives a topic up; no broker has been told."""

    client_id: str
    group: str
    topic: str
