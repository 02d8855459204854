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
    NameServersReplaced as NameServersReplaced,
    TimerJobBegan as TimerJobBegan,
    TimerJobEnded as TimerJobEnded,
)
from impl.events.consumption import (
    ListenerEnded as ListenerEnded,
    ListenerStarted as ListenerStarted,
    MessagesAnswered as MessagesAnswered,
    MessagesExpired as MessagesExpired,
    MessagesFound as MessagesFound,
    MessagesGiven as MessagesGiven,
    MessagesPutBack as MessagesPutBack,
    MessagesSettled as MessagesSettled,
    MessagesTaken as MessagesTaken,
    PullAnswered as PullAnswered,
    PullBegun as PullBegun,
    PullFailed as PullFailed,
    PullSuspended as PullSuspended,
)
from impl.events.host import (
    HOST_EVENTS as HOST_EVENTS,
    AnsweredAgain as AnsweredAgain,
    ClockDrifts as ClockDrifts,
    ClockJumped as ClockJumped,
    ConnectionMade as ConnectionMade,
    ConnectionRefused as ConnectionRefused,
    ConnectionSevered as ConnectionSevered,
    DiskFilled as DiskFilled,
    EventDropped as EventDropped,
    ForceFailed as ForceFailed,
    MessageLost as MessageLost,
    PartitionBegan as PartitionBegan,
    ProcessKilled as ProcessKilled,
    ProcessPaused as ProcessPaused,
    ProcessStarted as ProcessStarted,
    ThreadDied as ThreadDied,
    WorldHealed as WorldHealed,
)
from impl.events.locks import (
    LockBelieved as LockBelieved,
    LockGranted as LockGranted,
    LockReleased as LockReleased,
    LocksAnswered as LocksAnswered,
    LocksHeard as LocksHeard,
    RenewalRefused as RenewalRefused,
)
from impl.events.membership import (
    ClientChannelClosed as ClientChannelClosed,
    ConsumerIdsAnswered as ConsumerIdsAnswered,
    ConsumerIdsChanged as ConsumerIdsChanged,
    ConsumerRegistered as ConsumerRegistered,
    ConsumerRemoved as ConsumerRemoved,
    ConsumersOfTopicAnswered as ConsumersOfTopicAnswered,
    GoodbyeTaken as GoodbyeTaken,
    GroupEntered as GroupEntered,
    GroupRemoved as GroupRemoved,
    HeartbeatHandled as HeartbeatHandled,
    HeartbeatRefused as HeartbeatRefused,
    ProducerForgotten as ProducerForgotten,
    ProducerRegistered as ProducerRegistered,
    SubscriptionGroupDeleted as SubscriptionGroupDeleted,
)
from impl.events.messages import (
    DeadLetterTaken as DeadLetterTaken,
    HeldPullAnswered as HeldPullAnswered,
    HeldPullRefused as HeldPullRefused,
    KeyAnswered as KeyAnswered,
    KeyAsked as KeyAsked,
    PullHeld as PullHeld,
    PullRetried as PullRetried,
    SendBackTaken as SendBackTaken,
)
from impl.events.name_server import (
    BrokerDropped as BrokerDropped,
    BrokerFound as BrokerFound,
    BrokerLiveRemoved as BrokerLiveRemoved,
    BrokerRegistered as BrokerRegistered,
    BrokerUnregistered as BrokerUnregistered,
    BrokerUpdateTimestamp as BrokerUpdateTimestamp,
    ClusterInfoFetched as ClusterInfoFetched,
    KVConfigLoaded as KVConfigLoaded,
    KVConfigPut as KVConfigPut,
    RegistrationAnswered as RegistrationAnswered,
    RegistrationCutShort as RegistrationCutShort,
    RouteAnswered as RouteAnswered,
    RouteDenied as RouteDenied,
    TopicDeleted as TopicDeleted,
    VersionQueried as VersionQueried,
    WritePermAdded as WritePermAdded,
    WritePermWiped as WritePermWiped,
)
from impl.events.offsets import (
    GroupOffsetsRemoved as GroupOffsetsRemoved,
    OffsetAnswered as OffsetAnswered,
    OffsetCommitted as OffsetCommitted,
    OffsetCorrected as OffsetCorrected,
    OffsetFoundIllegal as OffsetFoundIllegal,
    OffsetLearntLate as OffsetLearntLate,
    OffsetReset as OffsetReset,
    OffsetResetPushed as OffsetResetPushed,
    OffsetSent as OffsetSent,
    OffsetsLeftOut as OffsetsLeftOut,
    OffsetsReset as OffsetsReset,
    OffsetsWritten as OffsetsWritten,
    OffsetUpdated as OffsetUpdated,
    ResetReceived as ResetReceived,
)
from impl.events.operators import (
    InquiryAnswered as InquiryAnswered,
    InquiryMade as InquiryMade,
    NameServersTold as NameServersTold,
    OrderDone as OrderDone,
    OrderGiven as OrderGiven,
    SpokenOnce as SpokenOnce,
    ThreadsHeld as ThreadsHeld,
)
from impl.events.ownership import (
    AllocationFailed as AllocationFailed,
    ConsumerIdsFetched as ConsumerIdsFetched,
    ConsumerShutDown as ConsumerShutDown,
    ConsumerStarted as ConsumerStarted,
    ConsumerStopping as ConsumerStopping,
    ConsumerSuspended as ConsumerSuspended,
    QueueDropped as QueueDropped,
    QueueForgotten as QueueForgotten,
    QueuesAssigned as QueuesAssigned,
    QueueTaken as QueueTaken,
    RouteUpdated as RouteUpdated,
)
from impl.events.polling import (
    CommitAsked as CommitAsked,
    MessagesPolled as MessagesPolled,
    PollBegan as PollBegan,
    PollEnded as PollEnded,
    PollerShutDown as PollerShutDown,
    PollerStopping as PollerStopping,
    QueueRested as QueueRested,
    QueuesHeld as QueuesHeld,
    QueueSought as QueueSought,
    SeekRefused as SeekRefused,
    TopicLeft as TopicLeft,
    TopicTakenAgain as TopicTakenAgain,
    TopicWantedAgain as TopicWantedAgain,
    WaysMixed as WaysMixed,
)
from impl.events.registration import (
    BrokerShutDown as BrokerShutDown,
    BrokerStarted as BrokerStarted,
    BrokerStopping as BrokerStopping,
    MasterLearned as MasterLearned,
    RegistrationEncoded as RegistrationEncoded,
    RegistrationFailed as RegistrationFailed,
    RetryTopicAnnounced as RetryTopicAnnounced,
    TopicConfigDeleted as TopicConfigDeleted,
    TopicConfigUpdated as TopicConfigUpdated,
)
from impl.events.sending import (
    EndTransactionTaken as EndTransactionTaken,
    HalfMessageEnded as HalfMessageEnded,
    OpMessagesRead as OpMessagesRead,
    ProducerShutDown as ProducerShutDown,
    ProducerStarted as ProducerStarted,
    PublishInfoUpdated as PublishInfoUpdated,
    QueueChosen as QueueChosen,
    RequestAsked as RequestAsked,
    RequestGiven as RequestGiven,
    RequestReplied as RequestReplied,
    RequestTold as RequestTold,
    SendAsked as SendAsked,
    SendAttempted as SendAttempted,
    SendFailed as SendFailed,
    SendTold as SendTold,
    TransactionAnswered as TransactionAnswered,
    TransactionAsked as TransactionAsked,
)
from impl.events.store import (
    DelayLevelEnded as DelayLevelEnded,
    LogCopied as LogCopied,
    LogExpired as LogExpired,
    LogFlushed as LogFlushed,
    MessageAppended as MessageAppended,
    MessageDispatched as MessageDispatched,
    QueuesDeleted as QueuesDeleted,
    ReplicaAnswered as ReplicaAnswered,
    ReplicaReported as ReplicaReported,
    SendAnswered as SendAnswered,
    SlaveConnected as SlaveConnected,
    SlaveDisconnected as SlaveDisconnected,
    StoreLoaded as StoreLoaded,
    StoreRefused as StoreRefused,
)
from impl.events.subscriptions import (
    FilterRegistered as FilterRegistered,
    FiltersDied as FiltersDied,
    SubscriptionRemoved as SubscriptionRemoved,
    SubscriptionsHandled as SubscriptionsHandled,
    SubscriptionUpdated as SubscriptionUpdated,
    TopicUnsubscribed as TopicUnsubscribed,
    VersionRaised as VersionRaised,
)
