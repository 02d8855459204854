"""What the implementation reports, in RocketMQ's words.

An event is traced in the same segment as the write that it names, right after it. Events hold texts, numbers, queues
and sets or tuples of them, nothing that can change, so that they can be compared, stored and printed. The words of the
host itself (a process started, killed, paused, cut off, a clock set, the world healed) are plain tuples and not here.

namesrv, broker -- machine of the server. client_id -- as in heartbeats; None where a heartbeat had none. connection --
"host:port" of the other end, which names one connection of a server.
"""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.message_queue import MessageQueue

# Name server: RouteInfoManager ----------------------------------------------------------------------------------------


class BrokerRegistered(NamedTuple):
    """RouteInfoManager#registerBroker has ended.

    version -- timestamp and counter of the data version, None if the body had none. topics -- what the registration
    listed (not all need have been taken over).
    """

    namesrv: str
    broker_name: str
    broker_id: int
    broker_addr: str
    connection: str
    version: tuple[int, int] | None
    topics: frozenset[str]


class BrokerUnregistered(NamedTuple):
    """RouteInfoManager#unregisterBroker has ended."""

    namesrv: str
    broker_name: str
    broker_id: int
    broker_addr: str


class BrokerLiveRemoved(NamedTuple):
    """An address left brokerLiveTable; why -- "unregistered", "destroyed" (onChannelDestroy), "expired" (the scan)."""

    namesrv: str
    broker_addr: str
    why: str


class BrokerFound(NamedTuple):
    """RouteInfoManager#onChannelDestroy, under the read lock: the address of the connection; None if it has none."""

    namesrv: str
    broker_addr: str | None
    connection: str


class BrokerDropped(NamedTuple):
    """RouteInfoManager#onChannelDestroy, under the write lock: the address left the routes; known or not before."""

    namesrv: str
    broker_addr: str


class BrokerUpdateTimestamp(NamedTuple):
    """RouteInfoManager#updateBrokerInfoUpdateTimestamp: an unchanged version counts as a sign of life."""

    namesrv: str
    broker_addr: str


class TopicDeleted(NamedTuple):
    """RouteInfoManager#deleteTopic."""

    namesrv: str
    topic: str


class WritePermWiped(NamedTuple):
    """RouteInfoManager#wipeWritePermOfBrokerByLock: no queue of the broker may be written any more."""

    namesrv: str
    broker_name: str


class WritePermAdded(NamedTuple):
    """RouteInfoManager#addWritePermOfBrokerByLock: all queues of the broker may be read and written."""

    namesrv: str
    broker_name: str


class VersionQueried(NamedTuple):
    """DefaultRequestProcessor#queryBrokerTopicConfig has compared; changed -- the name server has another version.

    One that has not changed is a sign of life over this connection.
    """

    namesrv: str
    broker_addr: str
    connection: str
    changed: bool


class RegistrationAnswered(NamedTuple):
    """DefaultRequestProcessor#registerBrokerWithFilterServer: the code; known -- the address is in brokerLiveTable."""

    namesrv: str
    broker_addr: str
    code: int
    known: bool


class RouteAnswered(NamedTuple):
    """DefaultRequestProcessor#getRouteInfoByTopic: the answer as it is encoded.

    queue_names -- the broker names of its queues. broker_names -- those that it has addresses of. addrs -- these.
    """

    namesrv: str
    topic: str
    queue_names: frozenset[str]
    broker_names: frozenset[str]
    addrs: frozenset[str]


class KVConfigPut(NamedTuple):
    """KVConfigManager#putKVConfig, #deleteKVConfig have ended; value -- None if the key was deleted."""

    namesrv: str
    namespace: str
    key: str
    value: str | None


class KVConfigLoaded(NamedTuple):
    """KVConfigManager#load: what a name server that starts finds in its file: namespace, key and value."""

    namesrv: str
    values: frozenset[tuple[str, str, str | None]]


# Broker: registration -------------------------------------------------------------------------------------------------


class BrokerStarted(NamedTuple):
    """BrokerController#start: it listens; nobody knows of it yet."""

    broker: str
    broker_name: str
    broker_id: int


class BrokerStopping(NamedTuple):
    """BrokerController#shutdown has begun: UNREGISTER_BROKER is about to be sent."""

    broker: str


class BrokerShutDown(NamedTuple):
    """BrokerController#shutdown has ended: the offsets are in their file."""

    broker: str


class TopicConfigUpdated(NamedTuple):
    """A topic entered topicConfigTable, or was replaced there; the version is raised later."""

    broker: str
    topic: str


class TopicConfigDeleted(NamedTuple):
    """A topic left topicConfigTable."""

    broker: str
    topic: str


class RegistrationEncoded(NamedTuple):
    """BrokerOuterAPI#registerBrokerAll: version and topics as the body has them; increment -- one topic only."""

    broker: str
    version: tuple[int, int]
    topics: frozenset[str]
    increment: bool


class RegistrationFailed(NamedTuple):
    """BrokerOuterAPI#registerBroker: one name server did not answer SUCCESS."""

    broker: str
    namesrv_addr: str
    error: str


class MasterLearned(NamedTuple):
    """BrokerController#doRegisterBrokerAll at a slave: whom it copies from now; answers -- who its name servers say."""

    broker: str
    master_addr: str | None
    answers: tuple[str | None, ...]


class RetryTopicAnnounced(NamedTuple):
    """ClientManageProcessor#heartBeat: the name servers are told of the retry topic of a new group.

    waited_ms -- how long the thread of the heartbeat has waited for that, by the broker's clock.
    """

    broker: str
    group: str
    waited_ms: int


# Broker: client management --------------------------------------------------------------------------------------------


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


class SubscriptionsHandled(NamedTuple):
    """ConsumerGroupInfo#updateSubscription has ended: both loops over the topics that this connection's heartbeat has.

    What the loops wrote was reported in between; what they left as it was is behind this thread now.
    """

    broker: str
    group: str
    connection: str
    attached: bool


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
    """A connection left the table of a group; why -- "unregistered", "closed" or "expired" (the scan)."""

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


class OffsetCommitted(NamedTuple):
    """ConsumerOffsetManager#commitOffset: put, unconditionally."""

    broker: str
    group: str
    topic: str
    queue_id: int
    offset: int


class GroupOffsetsRemoved(NamedTuple):
    """ConsumerOffsetManager#removeOffset: all that a group has committed is forgotten, with its subscription group."""

    broker: str
    group: str


class SubscriptionGroupDeleted(NamedTuple):
    """SubscriptionGroupManager#deleteSubscriptionGroupConfig: the group left subscriptionGroupTable, and the file."""

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


class ClientChannelClosed(NamedTuple):
    """ClientHousekeepingService is told that a connection has ended, and is about to take it out of all groups."""

    broker: str
    connection: str


class OffsetResetPushed(NamedTuple):
    """Broker2Client#resetOffset wrote RESET_CONSUMER_CLIENT_OFFSET, or not: delivered -- False if it could not."""

    broker: str
    group: str
    topic: str
    connection: str
    delivered: bool


class LockGranted(NamedTuple):
    """RebalanceLockManager: the entry has the client's id and the time of now.

    fast -- without the lock (then another client may have taken the entry over: `holder` says whose id it has).
    """

    broker: str
    group: str
    mq: MessageQueue
    client_id: str
    holder: str
    fast: bool


class LockReleased(NamedTuple):
    """RebalanceLockManager#unlockBatch removed the client's entry."""

    broker: str
    group: str
    mq: MessageQueue
    client_id: str


# Client ---------------------------------------------------------------------------------------------------------------


class ConsumerStarted(NamedTuple):
    """DefaultMQPushConsumerImpl#start: RUNNING, and registered at its instance."""

    client_id: str
    group: str
    message_model: str
    orderly: bool


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


class QueuesAssigned(NamedTuple):
    """RebalanceImpl#rebalanceByTopic: a run for one topic has ended; mqs -- held and not dropped; changed -- by it."""

    client_id: str
    group: str
    topic: str
    mqs: frozenset[MessageQueue]
    changed: bool


class VersionRaised(NamedTuple):
    """RebalancePushImpl#messageQueueChanged, DefaultMQPushConsumerImpl#subscribe: a newer subVersion counts for pulls.

    The heartbeat that will carry it has not been sent.
    """

    client_id: str
    group: str
    topic: str
    sub_version: int


class LockBelieved(NamedTuple):
    """ProcessQueue#setLocked; True also sets lastLockTimestamp."""

    client_id: str
    group: str
    mq: MessageQueue
    locked: bool


class RenewalRefused(NamedTuple):
    """RebalanceImpl#lockAll: a broker has answered, and not granted the locks of these queues."""

    client_id: str
    group: str
    mqs: frozenset[MessageQueue]


class RouteUpdated(NamedTuple):
    """RebalanceImpl.topicSubscribeInfoTable of the consumer has the readable queues of a new route."""

    client_id: str
    group: str
    topic: str
    mqs: frozenset[MessageQueue]


class OffsetReset(NamedTuple):
    """MQClientInstance#resetOffset: the offset in memory was set, up or down, and is about to be committed."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class ResetReceived(NamedTuple):
    """ClientRemotingProcessor#resetOffset: the client is told to reset these queues, as far as it holds them."""

    client_id: str
    group: str
    mqs: frozenset[MessageQueue]


class OffsetSent(NamedTuple):
    """MQClientAPIImpl#updateConsumerOffset, #updateConsumerOffsetOneway: a commit is about to be sent."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


class MessagesFound(NamedTuple):
    """PullCallback#onSuccess with FOUND: messages entered the process queue; offsets -- theirs, ascending."""

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


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


class ListenerStarted(NamedTuple):
    """ConsumeMessageOrderlyService.ConsumeRequest#run: the listener begins, under the lock of the queue."""

    client_id: str
    group: str
    mq: MessageQueue


class ListenerEnded(NamedTuple):
    """ConsumeMessageOrderlyService.ConsumeRequest#run: the listener has ended; the lock of the queue is still held."""

    client_id: str
    group: str
    mq: MessageQueue


class MessagesSettled(NamedTuple):
    """ConsumeMessageService#processConsumeResult: these messages are consumed; offsets -- theirs, ascending."""

    client_id: str
    group: str
    mq: MessageQueue
    offsets: tuple[int, ...]


class OffsetUpdated(NamedTuple):
    """ConsumeMessageService#processConsumeResult: OffsetStore#updateOffset, of a queue that is not dropped."""

    client_id: str
    group: str
    mq: MessageQueue
    offset: int


# Operator -------------------------------------------------------------------------------------------------------------


class OffsetsReset(NamedTuple):
    """INVOKE_BROKER_TO_RESET_OFFSET was answered: offsets -- pairs of a queue id and where it is to go."""

    broker: str
    group: str
    topic: str
    timestamp: int
    offsets: tuple[tuple[int, int], ...]


class ClusterInfoFetched(NamedTuple):
    """GET_BROKER_CLUSTER_INFO was answered: the broker names that have addresses, and those that are in clusters."""

    namesrv: str
    broker_names: frozenset[str]
    cluster_names: frozenset[str]
