"""What the implementation and its host report, in RocketMQ's words.

An event is traced in the same segment as the write that it names, right after it. Events hold texts, numbers, queues
and sets or tuples of them, nothing that can change, so that they can be compared, stored and printed.

namesrv, broker -- machine of the server. client_id -- as in heartbeats; None where a heartbeat had none. connection --
"host:port" of the other end, which names one connection of a server. Events of the host name no machine: the record
that holds them does.
"""

from __future__ import annotations

from impl.events.clients import (
    NameServerChosen as NameServerChosen,
)
from impl.events.clients import (
    NameServersReplaced as NameServersReplaced,
)
from impl.events.clients import (
    TimerJobBegan as TimerJobBegan,
)
from impl.events.clients import (
    TimerJobEnded as TimerJobEnded,
)
from impl.events.consumption import (
    ListenerEnded as ListenerEnded,
)
from impl.events.consumption import (
    ListenerStarted as ListenerStarted,
)
from impl.events.consumption import (
    MessagesAnswered as MessagesAnswered,
)
from impl.events.consumption import (
    MessagesExpired as MessagesExpired,
)
from impl.events.consumption import (
    MessagesFound as MessagesFound,
)
from impl.events.consumption import (
    MessagesGiven as MessagesGiven,
)
from impl.events.consumption import (
    MessagesPutBack as MessagesPutBack,
)
from impl.events.consumption import (
    MessagesSettled as MessagesSettled,
)
from impl.events.consumption import (
    MessagesTaken as MessagesTaken,
)
from impl.events.consumption import (
    PullAnswered as PullAnswered,
)
from impl.events.consumption import (
    PullBegun as PullBegun,
)
from impl.events.consumption import (
    PullFailed as PullFailed,
)
from impl.events.consumption import (
    PullSuspended as PullSuspended,
)
from impl.events.host import (
    HOST_EVENTS as HOST_EVENTS,
)
from impl.events.host import (
    ClockDrifts as ClockDrifts,
)
from impl.events.host import (
    ClockJumped as ClockJumped,
)
from impl.events.host import (
    ConnectionRefused as ConnectionRefused,
)
from impl.events.host import (
    ConnectionSevered as ConnectionSevered,
)
from impl.events.host import (
    DiskFilled as DiskFilled,
)
from impl.events.host import (
    EventDropped as EventDropped,
)
from impl.events.host import (
    ForceFailed as ForceFailed,
)
from impl.events.host import (
    MessageLost as MessageLost,
)
from impl.events.host import (
    PartitionBegan as PartitionBegan,
)
from impl.events.host import (
    ProcessKilled as ProcessKilled,
)
from impl.events.host import (
    ProcessPaused as ProcessPaused,
)
from impl.events.host import (
    ProcessStarted as ProcessStarted,
)
from impl.events.host import (
    ThreadDied as ThreadDied,
)
from impl.events.host import (
    WorldHealed as WorldHealed,
)
from impl.events.locks import (
    LockBelieved as LockBelieved,
)
from impl.events.locks import (
    LockGranted as LockGranted,
)
from impl.events.locks import (
    LockReleased as LockReleased,
)
from impl.events.locks import (
    LocksAnswered as LocksAnswered,
)
from impl.events.locks import (
    LocksHeard as LocksHeard,
)
from impl.events.locks import (
    RenewalRefused as RenewalRefused,
)
from impl.events.membership import (
    ClientChannelClosed as ClientChannelClosed,
)
from impl.events.membership import (
    ConsumerIdsAnswered as ConsumerIdsAnswered,
)
from impl.events.membership import (
    ConsumerIdsChanged as ConsumerIdsChanged,
)
from impl.events.membership import (
    ConsumerRegistered as ConsumerRegistered,
)
from impl.events.membership import (
    ConsumerRemoved as ConsumerRemoved,
)
from impl.events.membership import (
    ConsumersOfTopicAnswered as ConsumersOfTopicAnswered,
)
from impl.events.membership import (
    GoodbyeTaken as GoodbyeTaken,
)
from impl.events.membership import (
    GroupEntered as GroupEntered,
)
from impl.events.membership import (
    GroupRemoved as GroupRemoved,
)
from impl.events.membership import (
    HeartbeatHandled as HeartbeatHandled,
)
from impl.events.membership import (
    HeartbeatRefused as HeartbeatRefused,
)
from impl.events.membership import (
    ProducerForgotten as ProducerForgotten,
)
from impl.events.membership import (
    ProducerRegistered as ProducerRegistered,
)
from impl.events.membership import (
    SubscriptionGroupDeleted as SubscriptionGroupDeleted,
)
from impl.events.messages import (
    DeadLetterTaken as DeadLetterTaken,
)
from impl.events.messages import (
    HeldPullAnswered as HeldPullAnswered,
)
from impl.events.messages import (
    HeldPullRefused as HeldPullRefused,
)
from impl.events.messages import (
    KeyAnswered as KeyAnswered,
)
from impl.events.messages import (
    KeyAsked as KeyAsked,
)
from impl.events.messages import (
    PullHeld as PullHeld,
)
from impl.events.messages import (
    PullRetried as PullRetried,
)
from impl.events.messages import (
    SendBackTaken as SendBackTaken,
)
from impl.events.name_server import (
    BrokerDropped as BrokerDropped,
)
from impl.events.name_server import (
    BrokerFound as BrokerFound,
)
from impl.events.name_server import (
    BrokerLiveRemoved as BrokerLiveRemoved,
)
from impl.events.name_server import (
    BrokerRegistered as BrokerRegistered,
)
from impl.events.name_server import (
    BrokerUnregistered as BrokerUnregistered,
)
from impl.events.name_server import (
    BrokerUpdateTimestamp as BrokerUpdateTimestamp,
)
from impl.events.name_server import (
    ClusterInfoFetched as ClusterInfoFetched,
)
from impl.events.name_server import (
    KVConfigLoaded as KVConfigLoaded,
)
from impl.events.name_server import (
    KVConfigPut as KVConfigPut,
)
from impl.events.name_server import (
    RegistrationAnswered as RegistrationAnswered,
)
from impl.events.name_server import (
    RegistrationCutShort as RegistrationCutShort,
)
from impl.events.name_server import (
    RouteAnswered as RouteAnswered,
)
from impl.events.name_server import (
    RouteDenied as RouteDenied,
)
from impl.events.name_server import (
    TopicDeleted as TopicDeleted,
)
from impl.events.name_server import (
    VersionQueried as VersionQueried,
)
from impl.events.name_server import (
    WritePermAdded as WritePermAdded,
)
from impl.events.name_server import (
    WritePermWiped as WritePermWiped,
)
from impl.events.offsets import (
    GroupOffsetsRemoved as GroupOffsetsRemoved,
)
from impl.events.offsets import (
    OffsetAnswered as OffsetAnswered,
)
from impl.events.offsets import (
    OffsetCommitted as OffsetCommitted,
)
from impl.events.offsets import (
    OffsetCorrected as OffsetCorrected,
)
from impl.events.offsets import (
    OffsetFoundIllegal as OffsetFoundIllegal,
)
from impl.events.offsets import (
    OffsetLearntLate as OffsetLearntLate,
)
from impl.events.offsets import (
    OffsetReset as OffsetReset,
)
from impl.events.offsets import (
    OffsetResetPushed as OffsetResetPushed,
)
from impl.events.offsets import (
    OffsetSent as OffsetSent,
)
from impl.events.offsets import (
    OffsetsLeftOut as OffsetsLeftOut,
)
from impl.events.offsets import (
    OffsetsReset as OffsetsReset,
)
from impl.events.offsets import (
    OffsetsWritten as OffsetsWritten,
)
from impl.events.offsets import (
    OffsetUpdated as OffsetUpdated,
)
from impl.events.offsets import (
    ResetReceived as ResetReceived,
)
from impl.events.operators import (
    InquiryAnswered as InquiryAnswered,
)
from impl.events.operators import (
    InquiryMade as InquiryMade,
)
from impl.events.operators import (
    OrderDone as OrderDone,
)
from impl.events.operators import (
    OrderGiven as OrderGiven,
)
from impl.events.operators import (
    ThreadsHeld as ThreadsHeld,
)
from impl.events.ownership import (
    AllocationFailed as AllocationFailed,
)
from impl.events.ownership import (
    ConsumerIdsFetched as ConsumerIdsFetched,
)
from impl.events.ownership import (
    ConsumerShutDown as ConsumerShutDown,
)
from impl.events.ownership import (
    ConsumerStarted as ConsumerStarted,
)
from impl.events.ownership import (
    ConsumerStopping as ConsumerStopping,
)
from impl.events.ownership import (
    ConsumerSuspended as ConsumerSuspended,
)
from impl.events.ownership import (
    QueueDropped as QueueDropped,
)
from impl.events.ownership import (
    QueueForgotten as QueueForgotten,
)
from impl.events.ownership import (
    QueuesAssigned as QueuesAssigned,
)
from impl.events.ownership import (
    QueueTaken as QueueTaken,
)
from impl.events.ownership import (
    RouteUpdated as RouteUpdated,
)
from impl.events.polling import (
    CommitAsked as CommitAsked,
)
from impl.events.polling import (
    MessagesPolled as MessagesPolled,
)
from impl.events.polling import (
    PollBegan as PollBegan,
)
from impl.events.polling import (
    PollEnded as PollEnded,
)
from impl.events.polling import (
    PollerShutDown as PollerShutDown,
)
from impl.events.polling import (
    PollerStopping as PollerStopping,
)
from impl.events.polling import (
    QueueRested as QueueRested,
)
from impl.events.polling import (
    QueuesHeld as QueuesHeld,
)
from impl.events.polling import (
    QueueSought as QueueSought,
)
from impl.events.polling import (
    TopicLeft as TopicLeft,
)
from impl.events.polling import (
    TopicTakenAgain as TopicTakenAgain,
)
from impl.events.polling import (
    WaysMixed as WaysMixed,
)
from impl.events.registration import (
    BrokerShutDown as BrokerShutDown,
)
from impl.events.registration import (
    BrokerStarted as BrokerStarted,
)
from impl.events.registration import (
    BrokerStopping as BrokerStopping,
)
from impl.events.registration import (
    MasterLearned as MasterLearned,
)
from impl.events.registration import (
    RegistrationEncoded as RegistrationEncoded,
)
from impl.events.registration import (
    RegistrationFailed as RegistrationFailed,
)
from impl.events.registration import (
    RetryTopicAnnounced as RetryTopicAnnounced,
)
from impl.events.registration import (
    TopicConfigDeleted as TopicConfigDeleted,
)
from impl.events.registration import (
    TopicConfigUpdated as TopicConfigUpdated,
)
from impl.events.sending import (
    EndTransactionTaken as EndTransactionTaken,
)
from impl.events.sending import (
    HalfMessageEnded as HalfMessageEnded,
)
from impl.events.sending import (
    ProducerShutDown as ProducerShutDown,
)
from impl.events.sending import (
    ProducerStarted as ProducerStarted,
)
from impl.events.sending import (
    PublishInfoUpdated as PublishInfoUpdated,
)
from impl.events.sending import (
    QueueChosen as QueueChosen,
)
from impl.events.sending import (
    RequestAsked as RequestAsked,
)
from impl.events.sending import (
    RequestGiven as RequestGiven,
)
from impl.events.sending import (
    RequestReplied as RequestReplied,
)
from impl.events.sending import (
    RequestTold as RequestTold,
)
from impl.events.sending import (
    SendAsked as SendAsked,
)
from impl.events.sending import (
    SendAttempted as SendAttempted,
)
from impl.events.sending import (
    SendFailed as SendFailed,
)
from impl.events.sending import (
    SendTold as SendTold,
)
from impl.events.sending import (
    TransactionAnswered as TransactionAnswered,
)
from impl.events.sending import (
    TransactionAsked as TransactionAsked,
)
from impl.events.store import (
    LogCopied as LogCopied,
)
from impl.events.store import (
    LogExpired as LogExpired,
)
from impl.events.store import (
    LogFlushed as LogFlushed,
)
from impl.events.store import (
    MessageAppended as MessageAppended,
)
from impl.events.store import (
    MessageDispatched as MessageDispatched,
)
from impl.events.store import (
    ReplicaAnswered as ReplicaAnswered,
)
from impl.events.store import (
    ReplicaReported as ReplicaReported,
)
from impl.events.store import (
    SendAnswered as SendAnswered,
)
from impl.events.store import (
    SlaveConnected as SlaveConnected,
)
from impl.events.store import (
    SlaveDisconnected as SlaveDisconnected,
)
from impl.events.store import (
    StoreLoaded as StoreLoaded,
)
from impl.events.store import (
    StoreRefused as StoreRefused,
)
from impl.events.subscriptions import (
    FilterRegistered as FilterRegistered,
)
from impl.events.subscriptions import (
    FiltersDied as FiltersDied,
)
from impl.events.subscriptions import (
    SubscriptionRemoved as SubscriptionRemoved,
)
from impl.events.subscriptions import (
    SubscriptionsHandled as SubscriptionsHandled,
)
from impl.events.subscriptions import (
    SubscriptionUpdated as SubscriptionUpdated,
)
from impl.events.subscriptions import (
    TopicUnsubscribed as TopicUnsubscribed,
)
from impl.events.subscriptions import (
    VersionRaised as VersionRaised,
)
