"""What each event depends on: the last writes of the tables that are read for it, at the same machine.

What is no read of a table is known from the trail of the run: which message a thread handles, which answer it waited
for, what it has reported before in the same job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from impl import events as e


class Reads(NamedTuple):
    """The last of these events before, about the same things.

    kinds -- their classes. same -- names of things in which they agree, as far as both have them. which -- a thing that
    both have, and nothing else counts ("": none). each -- the last one for each value of this thing ("": one alone).
    elsewhere -- at the machine of the connection, not at the same. anywhere -- at each machine. against -- at each
    machine, if they strike this one. having -- only events of which this is true.
    """

    kinds: tuple[type, ...]
    same: tuple[str, ...] = ("group", "topic", "queue", "connection", "broker", "name", "key")
    each: str = ""
    elsewhere: bool = False
    anywhere: bool = False
    against: bool = False
    having: Callable[[Any], bool] = lambda _: True
    which: str = ""


_GROUP = ("group",)
_MEMBERS = Reads((e.ConsumerRegistered, e.ConsumerRemoved), _GROUP, each="connection",
                 having=lambda event: getattr(event, "added", True))
_ENDED = (e.ProcessKilled, e.ProcessPaused, e.ConnectionSevered, e.PartitionBegan)
_HOLDING = ("group", "queue")
_HUNG = Reads((e.ProcessPaused, e.PartitionBegan, e.ProcessKilled), (), anywhere=True)
_ROUTES = Reads((e.BrokerRegistered, e.BrokerUnregistered, e.BrokerDropped, e.TopicDeleted), ("topic",), each="broker")

READS: Mapping[type, tuple[Reads, ...]] = {
    e.GroupEntered: (Reads((e.GroupRemoved,)),),
    e.GroupRemoved: (Reads((e.ConsumerRemoved, e.GoodbyeTaken), _GROUP), Reads((e.ConsumerRegistered,), _GROUP)),
    e.ConsumerRegistered: (Reads((e.GroupRemoved, e.ConsumerRemoved), _GROUP),),
    e.HeartbeatHandled: (Reads((e.ConsumerRegistered,)), Reads((e.GroupRemoved, e.ConsumerRemoved), _GROUP),
                         Reads((e.SubscriptionUpdated, e.SubscriptionRemoved), _GROUP, each="topic")),
    e.HeartbeatRefused: (Reads((e.SubscriptionUpdated, e.ConsumerRegistered), _GROUP),),
    e.ConsumerRemoved: (Reads((e.ConsumerRegistered,)), Reads((e.ClientChannelClosed,), ("connection",)),
                        Reads(_ENDED, (), elsewhere=True)),
    e.GoodbyeTaken: (Reads((e.ConsumerRemoved,), _GROUP), Reads((e.ConsumerRegistered,), ("group", "client"))),
    e.ConsumerIdsChanged: (Reads((e.ConsumerRegistered, e.ConsumerRemoved, e.GoodbyeTaken), _GROUP),
                           Reads((e.FilterRegistered, e.FiltersDied), _GROUP)),
    e.ProducerRegistered: (Reads((e.ProducerForgotten,), ("client",)),),
    e.ProducerForgotten: (Reads((e.ProducerRegistered,), ("connection",)),
                          Reads((e.ClientChannelClosed,), ("connection",)), Reads(_ENDED, (), elsewhere=True)),
    e.FilterRegistered: (Reads((e.FilterRegistered, e.FiltersDied), _GROUP), Reads((e.ConsumerRegistered,), _GROUP)),
    e.FiltersDied: (Reads((e.ConsumerRemoved, e.GoodbyeTaken, e.GroupRemoved), _GROUP),
                    Reads((e.FilterRegistered,), _GROUP)),
    e.ConsumerIdsAnswered: (_MEMBERS, Reads((e.GroupRemoved,), _GROUP)),
    e.ConsumersOfTopicAnswered: (Reads((e.SubscriptionUpdated, e.SubscriptionRemoved), ("topic",), each="group"),),
    e.SubscriptionGroupDeleted: (),
    e.ClientChannelClosed: (Reads(_ENDED, ("peer",)), Reads(_ENDED, (), elsewhere=True),
                            Reads((e.ConsumerRemoved,), ("connection",), having=lambda event: event.why == "expired")),
    e.SubscriptionsHandled: (Reads((e.SubscriptionUpdated, e.SubscriptionRemoved), _GROUP),),
    e.SubscriptionUpdated: (Reads((e.SubscriptionUpdated, e.SubscriptionRemoved)),),
    e.SubscriptionRemoved: (Reads((e.SubscriptionUpdated,)),),
    e.VersionRaised: (Reads((e.QueuesAssigned,)),), e.TopicUnsubscribed: (), e.SubscriptionAsked: (),
    e.LockGranted: (Reads((e.LockGranted, e.LockReleased), _HOLDING),),
    e.LockReleased: (Reads((e.LockGranted,), _HOLDING),),
    e.LockBelieved: (Reads((e.LocksHeard, e.RenewalRefused, e.LockBelieved), _HOLDING),),
    e.RenewalRefused: (Reads((e.LocksHeard,), _HOLDING),),
    e.LocksAnswered: (Reads((e.LockGranted, e.LockReleased), _HOLDING, each="queue"),),
    e.LocksHeard: (),
    e.ConsumerStarted: (),
    e.ConsumerStopping: (), e.ConsumerSuspended: (),
    e.ConsumerShutDown: (Reads((e.ConsumerStopping,)),),
    e.ConsumerIdsFetched: (),
    e.PullHeld: (Reads((e.MessageDispatched,)),), e.HeldPullRefused: (),
    e.HeldPullAnswered: (Reads((e.PullHeld,), ("connection",)),),
    e.QueueTaken: (Reads((e.ConsumerIdsFetched,)), Reads((e.QueueDropped, e.QueueForgotten), _HOLDING),
                   Reads((e.RouteUpdated,))),
    e.QueueDropped: (Reads((e.ConsumerIdsFetched, e.ConsumerStopping, e.ResetReceived, e.OffsetFoundIllegal)),
                     Reads((e.QueueTaken,), _HOLDING)),
    e.QueueForgotten: (Reads((e.QueueTaken,), _HOLDING), Reads((e.QueueDropped,), _HOLDING)),
    e.AllocationFailed: (Reads((e.ConsumerIdsFetched,)), Reads((e.RouteUpdated,))),
    e.QueuesAssigned: (Reads((e.ConsumerIdsFetched,)), Reads((e.QueueTaken, e.QueueDropped))),
    e.RouteUpdated: (Reads((e.ConsumerStarted,), _GROUP),),
    e.PullSuspended: (Reads((e.QueueTaken,), _HOLDING),),
    **dict.fromkeys((e.PullAnswered, e.PullFailed), (Reads((e.PullSuspended,), _HOLDING),)),
    e.PullBegun: (Reads((e.LockBelieved,), _HOLDING), Reads((e.QueueTaken,), _HOLDING)),
    e.MessagesTaken: (Reads((e.MessagesFound, e.MessagesPutBack), _HOLDING), Reads((e.LockBelieved,), _HOLDING)),
    e.MessagesPutBack: (Reads((e.ListenerEnded, e.MessagesTaken), _HOLDING),),
    e.ListenerStarted: (Reads((e.LockBelieved,), _HOLDING), Reads((e.QueueTaken,), _HOLDING)),
    e.ListenerEnded: (Reads((e.ListenerStarted,), _HOLDING),),
    e.MessagesExpired: (Reads((e.MessagesFound,), _HOLDING),),
    e.MessagesGiven: (Reads((e.MessagesFound, e.MessagesAnswered), _HOLDING),
                      Reads((e.SendAttempted,), each="queue", which="key")),
    e.MessagesAnswered: (Reads((e.MessagesGiven,), _HOLDING),),
    e.QueuesHeld: (Reads((e.RouteUpdated, e.ConsumerIdsFetched), _GROUP),),
    e.PollBegan: (Reads((e.MessagesPolled,), _GROUP),),
    e.PollEnded: (Reads((e.PollBegan,), _GROUP),),
    e.WaysMixed: (Reads((e.QueuesHeld,), _GROUP),),
    e.TopicLeft: (),
    e.TopicWantedAgain: (Reads((e.TopicLeft,), _GROUP),),
    e.TopicTakenAgain: (Reads((e.TopicWantedAgain,), _GROUP),),
    e.PollerStopping: (Reads((e.QueuesHeld,), _GROUP),),
    e.PollerShutDown: (Reads((e.PollerStopping,), _GROUP),),
    e.MessagesPolled: (Reads((e.PullAnswered, e.QueueSought), _HOLDING), Reads((e.PollBegan,), _GROUP),
                       Reads((e.TopicLeft,), _GROUP)),
    e.CommitAsked: (Reads((e.MessagesPolled,), _GROUP),),
    e.QueueSought: (Reads((e.MessagesPolled,), _HOLDING),),
    e.SeekRefused: (Reads((e.MessagesPolled,), _HOLDING),),
    e.QueueRested: (Reads((e.MessagesPolled,), _HOLDING),),
    e.MessagesFound: (Reads((e.PullSuspended, e.QueueTaken), _HOLDING),),
    e.MessagesSettled: (Reads((e.MessagesFound, e.ListenerEnded), _HOLDING),),
    e.OffsetCommitted: (Reads((e.OffsetCommitted, e.GroupOffsetsRemoved), _HOLDING),),
    e.GroupOffsetsRemoved: (Reads((e.SubscriptionGroupDeleted,)),),
    e.OffsetsLeftOut: (Reads((e.OffsetCommitted,), _GROUP),),
    e.OffsetAnswered: (Reads((e.OffsetCommitted, e.GroupOffsetsRemoved, e.OffsetsLeftOut), _HOLDING),),
    e.OffsetResetPushed: (Reads((e.OffsetsReset,), ("group", "topic")),),
    e.OffsetReset: (Reads((e.ResetReceived,)),),
    e.ResetReceived: (),
    e.OffsetSent: (Reads((e.OffsetUpdated, e.OffsetLearntLate, e.OffsetReset, e.OffsetCorrected, e.QueueTaken),
                         _HOLDING),),
    e.OffsetsWritten: (Reads((e.OffsetUpdated, e.QueueDropped)), Reads((e.RouteUpdated,))),
    e.OffsetFoundIllegal: (Reads((e.QueueTaken,), _HOLDING),),
    e.OffsetCorrected: (Reads((e.OffsetFoundIllegal, e.QueueTaken), _HOLDING),),
    e.OffsetLearntLate: (Reads((e.PullAnswered, e.QueueTaken), _HOLDING),),
    e.OffsetUpdated: (Reads((e.MessagesSettled, e.MessagesFound), _HOLDING), Reads((e.QueueTaken,), _HOLDING)),
    e.OffsetsReset: (Reads((e.OffsetCommitted,), ("group", "topic")),),
    e.BrokerStarted: (Reads((e.ProcessStarted,), ()),),
    e.BrokerStopping: (Reads((e.BrokerStarted,), ()),),
    e.BrokerShutDown: (Reads((e.BrokerStopping,), ()),),
    e.TopicConfigUpdated: (),
    e.TopicConfigDeleted: (Reads((e.TopicConfigUpdated,)),),
    e.RegistrationEncoded: (Reads((e.TopicConfigUpdated, e.TopicConfigDeleted, e.BrokerStarted), ()),),
    e.RegistrationFailed: (Reads((e.RegistrationEncoded,), ()), _HUNG),
    e.MasterLearned: (Reads((e.BrokerRegistered, e.BrokerUnregistered, e.BrokerDropped, e.ProcessStarted), (),
                            anywhere=True), _HUNG),
    e.RetryTopicAnnounced: (Reads((e.ConsumerRegistered,)), _HUNG),
    e.BrokerRegistered: (Reads((e.BrokerRegistered, e.BrokerLiveRemoved, e.BrokerDropped), ("broker",)),
                         Reads((e.BrokerRegistered, e.BrokerUnregistered), ("name",)),
                         Reads((e.WritePermWiped, e.WritePermAdded), ("name",)), Reads((e.TopicDeleted,), ("topic",))),
    e.BrokerUnregistered: (Reads((e.BrokerRegistered,), ("name",)),),
    e.BrokerLiveRemoved: (Reads((e.BrokerRegistered, e.BrokerUpdateTimestamp), ("broker",)),
                          Reads((e.BrokerFound,), ("broker",))),
    e.BrokerFound: (Reads((e.BrokerRegistered,), ("broker",)),
                    Reads((e.BrokerRegistered,), ("connection",), each="broker"), Reads(_ENDED, (), elsewhere=True),
                    Reads((e.BrokerLiveRemoved,), (), having=lambda event: event.why == "expired")),
    e.BrokerDropped: (Reads((e.BrokerLiveRemoved,), ("broker",)), Reads((e.BrokerFound,), ("broker",))),
    e.BrokerUpdateTimestamp: (Reads((e.BrokerRegistered,), ("broker",)),),
    e.TopicDeleted: (Reads((e.BrokerRegistered,), ("topic",)),),
    e.WritePermWiped: (Reads((e.BrokerRegistered,), ("name",)),),
    e.WritePermAdded: (Reads((e.BrokerRegistered,), ("name",)),),
    e.VersionQueried: (Reads((e.BrokerRegistered,), ("broker",)),),
    e.RegistrationCutShort: (Reads((e.BrokerRegistered,), ("broker",)),),
    e.RegistrationAnswered: (Reads((e.RegistrationCutShort, e.BrokerRegistered), ("broker",)),),
    e.RouteAnswered: (_ROUTES, Reads((e.PartitionBegan,), (), against=True),
                      Reads((e.BrokerUnregistered, e.BrokerDropped), ())),
    e.RouteDenied: (_ROUTES, Reads((e.BrokerUnregistered, e.BrokerDropped, e.ProcessStarted), ())),
    e.TimerJobBegan: (Reads((e.TimerJobEnded,), ("client",)), _HUNG),
    e.TimerJobEnded: (Reads((e.TimerJobBegan,), ("client",)),),
    e.NameServerChosen: (Reads((e.NameServersReplaced,), ()), Reads((e.NameServerChosen,), ())),
    e.NameServersReplaced: (), e.OrderGiven: (), e.OrderDone: (Reads((e.OrderGiven,), ("server", "kind", "name")),),
    e.InquiryMade: (), e.InquiryAnswered: (Reads((e.InquiryMade,), ("server", "number")),),
    e.ThreadsHeld: (), e.NameServersTold: (), e.SpokenOnce: (),
    e.KVConfigPut: (Reads((e.KVConfigPut,)),),
    e.KVConfigLoaded: (Reads((e.KVConfigPut,), ()),),
    e.ClusterInfoFetched: (Reads((e.BrokerRegistered, e.BrokerUnregistered, e.BrokerDropped), (), each="broker",
                                 elsewhere=True),),
    e.SendAnswered: (),
    **dict.fromkeys((e.ProducerShutDown, e.ProducerStarted, e.PublishInfoUpdated), ()),
    **dict.fromkeys((e.SendAsked, e.QueueChosen, e.RequestAsked), ()),
    e.TransactionAsked: (Reads((e.SendAnswered,), ("key",)),),
    e.TransactionAnswered: (Reads((e.TransactionAsked,), ("key",)),),
    e.EndTransactionTaken: (Reads((e.HalfMessageEnded, e.MessageAppended), ("key",), anywhere=True),),
    e.OpMessagesRead: (Reads((e.EndTransactionTaken,), ()),),
    e.RequestGiven: (Reads((e.MessageAppended,), ("key",), anywhere=True),),
    e.RequestReplied: (Reads((e.RequestGiven,), ("key",)),),
    e.RequestTold: (Reads((e.RequestAsked,), ("key",)), Reads((e.RequestReplied,), ("key",), anywhere=True)),
    e.SendTold: (Reads((e.SendAnswered, e.SendFailed), ("key",)),),
    e.SendAttempted: (Reads((e.PublishInfoUpdated,), ("client", "group", "topic")),
                      Reads((e.ProducerStarted,), ("client",)), Reads(_ENDED, ("peer",), anywhere=True)),
    e.SendFailed: (Reads((e.SendAttempted,), ("key",), each="queue"), Reads(_ENDED, (), anywhere=True),
                   Reads((e.MessageAppended,), ("key",), anywhere=True)),
    e.HalfMessageEnded: (Reads((e.MessageAppended,), ("key",), anywhere=True),),
    e.MessageAppended: (Reads((e.MessageAppended,), ("queue",)), Reads((e.StoreLoaded,), ()),
                        Reads((e.HalfMessageEnded,), ("key",), anywhere=True),
                        Reads((e.MessagesGiven,), anywhere=True, which="key"),
                        Reads((e.MessagesAnswered,), anywhere=True, which="key")),
    e.MessageDispatched: (Reads((e.MessageAppended,), ("queue",)),),
    e.StoreLoaded: (Reads((e.ProcessStarted,), ()), Reads((e.ForceFailed,), ()), Reads((e.MessageAppended,), ()),
                    Reads((e.StoreLoaded,), ())),
    e.DeadLetterTaken: (Reads((e.MessageAppended,), ()),),
    e.SendBackTaken: (Reads((e.MessageAppended,), ()),),
    e.PullRetried: (Reads((e.StoreLoaded,), ()),),
    e.KeyAsked: (), e.KeyAnswered: (Reads((e.StoreLoaded,), ()),),
    e.SlaveConnected: (), e.SlaveDisconnected: (Reads((e.SlaveConnected,), ()), _HUNG),
    e.LogCopied: (Reads((e.LogCopied, e.StoreLoaded), ()),
                  Reads((e.MessageAppended, e.SlaveConnected), (), anywhere=True)),
    e.GroupCommitted: (Reads((e.MessageAppended,), ()),),
    e.LogFlushed: (Reads((e.MessageAppended, e.LogCopied), ()), Reads((e.ForceFailed,), ())),
    e.LogExpired: (Reads((e.DiskFilled,), ()),),
    e.QueuesDeleted: (Reads((e.TopicConfigDeleted,)), Reads((e.ProcessKilled,), ())),
    e.DelayLevelEnded: (Reads((e.DiskFilled,), ()),),
    e.ReplicaAnswered: (Reads((e.ReplicaReported,), ()), Reads((e.MessageAppended,), ())),
    e.ReplicaReported: (Reads((e.LogCopied,), (), anywhere=True),),
    e.StoreRefused: (Reads((e.ProcessStarted,), ()),),
    e.ProcessStarted: (Reads((e.ProcessKilled,), ()),),
    e.ThreadDied: (Reads((e.DiskFilled,), ()),),
    e.ProcessKilled: (), e.ProcessPaused: (), e.ConnectionMade: (), e.ConnectionRefused: (), e.ConnectionSevered: (),
    e.PartitionBegan: (), e.MessageLost: (), e.ClockJumped: (), e.ClockDrifts: (), e.ForceFailed: (),
    e.DiskFilled: (), e.AnsweredAgain: (), e.EventDropped: (), e.NumberDrawn: (), e.WorldHealed: (),
}
"""By the class of the event; each class of `impl.events` is here. An empty tuple of things agrees with everything."""

BEGINS: Mapping[str, tuple[type, ...]] = {
    "HEART_BEAT": (e.VersionRaised, e.ConsumerStarted), "UNREGISTER_CLIENT": (e.ConsumerStopping,),
    "UNLOCK_BATCH_MQ": (e.QueueDropped, e.ConsumerStopping), "LOCK_BATCH_MQ": (e.QueueTaken, e.ConsumerStarted),
    "REGISTER_BROKER": (e.RegistrationEncoded,), "UNREGISTER_BROKER": (e.BrokerStopping,),
    "UPDATE_CONSUMER_OFFSET": (e.OffsetSent,), "PULL_MESSAGE": (e.PullSuspended,),
    "QUERY_DATA_VERSION": (e.RegistrationEncoded, e.TopicConfigUpdated),
    "RESET_CONSUMER_CLIENT_OFFSET": (e.OffsetResetPushed,), "NOTIFY_CONSUMER_IDS_CHANGED": (e.ConsumerIdsChanged,),
    "GET_CONSUMER_LIST_BY_GROUP": (e.ConsumerStarted,),
}
"""By the name of its code what the sender of a request has reported that it is sent for."""

ANSWERS: tuple[type, ...] = (
    e.ConsumerIdsAnswered, e.OffsetAnswered, e.RouteAnswered, e.RouteDenied, e.VersionQueried, e.LocksAnswered,
    e.OffsetsReset, e.ConsumersOfTopicAnswered, e.RegistrationAnswered, e.HeartbeatRefused,
    e.KeyAnswered,
)
"""Events that say what the asking machine is told: their arrow goes back to it."""

PUSHES: tuple[type, ...] = (e.ConsumerIdsChanged, e.OffsetResetPushed)
"""Events that say what is written on a connection: their arrow goes to its other end."""

OVER: Mapping[type, tuple[type, ...]] = {
    e.SubscriptionUpdated: (e.SubscriptionRemoved, e.GroupRemoved, e.ProcessKilled),
    e.BrokerRegistered: (e.BrokerLiveRemoved, e.ProcessKilled),
    e.LockGranted: (e.LockReleased, e.ProcessKilled), e.OffsetCommitted: (e.GroupOffsetsRemoved,),
    e.NameServersReplaced: (e.ProcessKilled,),
}
"""Events that a sentence compares with the one before, and what ends the earlier one."""

ACTORS = {"client", "connection", "peer"}
"""Things that say who did it, not to what."""

HEARS: tuple[type, ...] = (
    e.ConsumerIdsFetched, e.RouteUpdated, e.MasterLearned, e.LocksHeard, e.LockBelieved, e.RenewalRefused,
    e.OffsetCorrected, e.RegistrationFailed, e.ClusterInfoFetched, e.PublishInfoUpdated,
)
"""Events that say what a client or a broker makes of an answer: they have its arrow; one answer may have several."""

STEPS: tuple[type, ...] = (
    e.TopicConfigUpdated, e.RegistrationEncoded, e.RetryTopicAnnounced, e.GroupEntered, e.HeartbeatHandled,
    e.SubscriptionsHandled, e.GoodbyeTaken, e.ProducerRegistered, e.ConsumerIdsChanged, e.ConsumerSuspended,
)
"""Events of a job that say how far it is, on which no later one depends."""

PASSING: tuple[type, ...] = (
    e.LocksHeard, e.LocksAnswered, e.HeartbeatHandled, e.SubscriptionsHandled, e.GoodbyeTaken,
)
"""Events that say nothing by themselves: pictures pass through them."""

ECHOES: Mapping[type, type] = {
    e.ConsumerIdsFetched: e.ConsumerIdsAnswered, e.RouteUpdated: e.RouteAnswered, e.OffsetCommitted: e.OffsetSent,
    e.BrokerRegistered: e.RegistrationEncoded, e.ResetReceived: e.OffsetResetPushed,
}
"""Events that say once more what an event at the other end of a message has said, unless it was long under way."""

FAMILIES: Mapping[str, str] = {
    e.OffsetAnswered.__module__: "offsets", e.PullSuspended.__module__: "offsets", e.PollBegan.__module__: "offsets",
    e.BrokerStarted.__module__: "routes", e.RouteAnswered.__module__: "routes",
    e.ConsumerRegistered.__module__: "members", e.SubscriptionUpdated.__module__: "members",
    e.TimerJobBegan.__module__: "clients", e.QueueTaken.__module__: "queues", e.LockGranted.__module__: "queues",
    e.StoreLoaded.__module__: "messages", e.DeadLetterTaken.__module__: "messages",
    e.SendAttempted.__module__: "messages", e.OrderGiven.__module__: "operators", e.ProcessKilled.__module__: "host",
}
"""What the events of a module are about."""

DEEDS: tuple[type, ...] = (e.OffsetsReset, e.ResetReceived, e.GroupOffsetsRemoved)
"""Events that somebody wanted: they are told whatever a picture is about."""

CARRIERS: frozenset[str] = frozenset({"offsets", "routes"})
"""Families on which most others rest somehow."""

QUIET: tuple[type, ...] = (
    e.PullSuspended, e.PullAnswered, e.OffsetSent, e.OffsetAnswered, e.OffsetCommitted, e.OffsetUpdated,
    e.OffsetLearntLate, e.MessagesFound, e.MessagesTaken, e.MessagesPutBack, e.MessagesSettled, e.PullBegun,
    e.ListenerStarted, e.ListenerEnded, e.VersionRaised,
    e.ConsumerIdsChanged, e.ProducerRegistered, e.SendAnswered, e.SendAttempted, e.SendAsked, e.SendTold,
    e.MessageAppended,
    e.MessageDispatched, e.PublishInfoUpdated, e.HalfMessageEnded, e.PollBegan, e.PollEnded,
    e.MessagesPolled, e.QueueChosen, e.TransactionAsked, e.TransactionAnswered, e.EndTransactionTaken, e.OpMessagesRead,
    e.RequestAsked,
    e.RequestGiven, e.RequestReplied, e.RequestTold,
    e.PullHeld, e.HeldPullAnswered,
)
"""Events that go on and on whatever else happens."""
