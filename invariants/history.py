"""What is promised of what happens one after another, where no model is needed to tell: properties of kind history.

They are judged of what the implementation reports (`invariants.refinement.history`), each in the run that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.language.expectation import Expectation, expectation

HISTORY = "history"


@dataclass(frozen=True, slots=True)
class History:
    """A property of runs.

    name, sentence -- the claim. expected -- of RocketMQ 4.9.3 as shipped. cite -- who promises it: RocketMQ's classes.
    """

    name: str
    sentence: str
    expected: Expectation
    cite: str
    kind: str = HISTORY


def _history(name: str, sentence: str, shipped: str, cite: str) -> History:
    return History(name, sentence, expectation(shipped), cite)


HISTORIES: dict[str, History] = {one.name: one for one in (
    _history(
        "queue_is_taken_once",
        "A client that holds a queue does not take it again before it has given it up.",
        "violated: X21 a reset removes what it has not dropped, X22 so does one of two runs at once",
        "RebalanceImpl#updateProcessQueueTableInRebalance: putIfAbsent",
    ),
    # Offsets
    _history(
        "start_is_what_the_broker_answered",
        "A clustering consumer begins a queue at the offset that the broker has answered, if it has answered one.",
        "violated: L2 an error is read as absence", "RebalancePushImpl#computePullFromWhereWithException",
    ),
    _history(
        "broker_keeps_what_was_committed",
        "A master has, and answers, the offset that was committed last, as long as its process lives.",
        "violated: B-21 of two first commits one is lost, B-20 a query deletes",
        "ConsumerOffsetManager#commitOffset, #queryOffset",
    ),
    _history(
        "only_the_settled_is_committed",
        "A client commits no more of a queue than it began with, was told by the broker, was reset to, or has settled.",
        "violated: L8 a pull that was held, X21 a pull of a queue that was reset, L14 a commit that waited, "
        "X18 a listener that saw no drop, X23 a read that came late",
        "RemoteBrokerOffsetStore#updateOffset, ProcessQueue#removeMessage",
    ),
    _history(
        "commits_of_a_holding_go_forward",
        "While a client holds a queue, and is not reset, its commits go back only to what another one has committed.",
        "violated: X10 a failed read is taken for -1, X23 a read comes late",
        "RemoteBrokerOffsetStore#updateOffset: increaseOnly",
    ),
    _history(
        "committed_offset_never_regresses",
        "Without a reset the committed offset of a queue does not go down.",
        "violated: B-18 commits are reordered, B-19 the former owner's comes late",
        "ConsumerOffsetManager#commitOffset",
    ),
    _history(
        "reset_takes_effect",
        "Once the offset of a reset is committed, its client commits no greater one before it has settled messages.",
        "violated: L8 a pull that was held, X21 a pull of a queue that was reset, L14 a commit that waited, "
        "X18 a listener that saw no drop, X23 a read that came late",
        "MQClientInstance#resetOffset",
    ),
    _history(
        "reset_is_done",
        "A client that is told to reset queues, and holds some of them, resets at least one.",
        "holds", "ClientRemotingProcessor#resetOffset, MQClientInstance#resetOffset",
    ),
    _history(
        "reset_goes_to_its_time",
        "A reset to a time goes to the first message that was stored then or later, or to less if less is committed.",
        "holds", "Broker2Client#resetOffset, DefaultMessageStore#getOffsetInQueueByTime",
    ),
    _history(
        "nothing_is_skipped",
        "Once a group has committed an offset of a queue, no member begins it beyond what the group has settled.",
        "violated: L2 a failed read is taken for no offset",
        "RebalancePushImpl#computePullFromWhereWithException, RemoteBrokerOffsetStore#readOffset",
    ),
    _history(
        "first_beginning_is_kept",
        "Before its first commit of a queue a group begins it nowhere beyond where it was begun first, or is settled.",
        "violated: L1 nobody commits where it begins",
        "RebalancePushImpl#computePullFromWhereWithException, CONSUME_FROM_LAST_OFFSET",
    ),
    _history(
        "new_group_begins_where_it_is_to",
        "A group without an offset begins a queue as configured, at its end, its begin or a time; a retry topic at 0.",
        "violated: L11 a retry topic at its end",
        "RebalancePushImpl#computePullFromWhereWithException, ConsumeFromWhere",
    ),
    _history(
        "settled_is_not_begun_again",
        "Once a group has committed an offset of a queue, no member begins it where the group has settled more.",
        "violated: X1 a crash, X3 a lost commit, X4 a late one, X8 a slave's, B-28 a slave that is promoted, "
        "X12 a topic that is left, X15 a stop, D1 a joiner that is early",
        "MQClientInstance#persistAllConsumerOffset: at least once, not exactly once",
    ),
    _history(
        "settled_is_committed",
        "What a client has settled it commits: soon, and before it gives the queue up or ends in order.",
        "violated: X21 a queue that was reset is worked on and in no table",
        "MQClientInstance#startScheduledTask: persistAllConsumerOffset, RebalanceImpl#removeUnnecessaryMessageQueue",
    ),
    _history(
        "broadcaster_goes_on_where_it_ended",
        "A broadcasting consumer that ended in order, or was told a legal offset, does not begin before it.",
        "violated: L10 offsets of queues that were away, X23 a read that came late",
        "LocalFileOffsetStore#persistAll, #persist",
    ),
    _history(
        "file_keeps_its_offsets",
        "What is in the file of a broadcasting consumer stays there, and goes down only when it is corrected.",
        "violated: L10 offsets of queues that were away, X16 a second process with the id, X23 a read that came late",
        "LocalFileOffsetStore#persistAll",
    ),
    _history(
        "committed_offset_survives_its_broker",
        "A master whose process ends keeps what was committed a minute before, or before it shut down in order.",
        "holds", "BrokerController#initialize: consumerOffsetManager.persist, ConfigManager#load",
    ),
    _history(
        "group_offsets_go_with_the_group",
        "When a group is deleted with its offsets, its offsets of all topics are gone.",
        "holds", "AdminBrokerProcessor#deleteSubscriptionGroup, ConsumerOffsetManager#removeOffset",
    ),
    # Locks
    _history(
        "only_ordered_groups_lock",
        "Queues are locked for orderly consumers in clustering, and for nobody else.",
        "violated: U9 who reads in order broadcasts", "RebalanceImpl#updateProcessQueueTableInRebalance: isOrder",
    ),
    _history(
        "taken_queue_counts_as_locked",
        "An orderly consumer that was granted the lock of a queue that it takes may pull it from then on.",
        "violated: U8 it waits for the next renewal", "RebalanceImpl#lock, ProcessQueue#setLocked",
    ),
    _history(
        "held_queue_stays_locked",
        "A lock is not given back while its client holds the queue.",
        "violated: D9 a delayed unlock, D10 shutdown unlocks first, D6 equal ids", "RebalancePushImpl#unlockDelay",
    ),
    _history(
        "listener_keeps_its_lock",
        "A lock is not given back while a listener of its client works on the queue.",
        "violated: D9 a delayed unlock, D10 shutdown does not wait, D6 equal ids",
        "RebalancePushImpl#removeUnnecessaryMessageQueue: consumeLock",
    ),
    _history(
        "lock_outlasts_the_batch",
        "A lock is not given back before the last batch that was read under it is settled.",
        "violated: X11 a batch that ends too late, D9 a delayed unlock, D6 equal ids",
        "RebalancePushImpl#removeUnnecessaryMessageQueue, ConsumeMessageOrderlyService#processConsumeResult",
    ),
    _history(
        "refused_lock_is_not_believed",
        "A client whose renewal of a lock is refused does not go on believing in it.",
        "holds", "RebalanceImpl#lockAll",
    ),
    _history(
        "listener_begins_under_a_fresh_lock",
        "A listener that reads in order begins when its lock was granted in the last 30 s.",
        "holds", "ConsumeMessageOrderlyService.ConsumeRequest#run: isLocked, isLockExpired",
    ),
    _history(
        "leaver_frees_its_locks",
        "A client that shuts down and says goodbye has given the locks of its idle queues back.",
        "violated: D12 locks that are taken meanwhile, B-22b a renewal that comes late",
        "ConsumeMessageOrderlyService#unlockAllMQ",
    ),
    # Owners
    _history(
        "queue_is_not_left_alone",
        "No queue is without an owner for longer than a hand-over takes, while members of its group run.",
        "violated: U1 who has gone is still listed, B-5 or listed twice, D6 ids are equal, U3 the later place is "
        "nobody's, U7 a queue that comes back stays dropped, U10 an illegal offset, U11 a lock without its queue, "
        "U13 a strategy that throws, L13 one that leaves queues out, B-22b a lock that nobody wants, "
        "D12 one of a consumer that stopped",
        "RebalanceService#run: every 20 s, RebalanceImpl#updateProcessQueueTableInRebalance",
    ),
    _history(
        "held_queue_is_worked_on",
        "No consumer that runs holds a queue for longer than a minute without a pull of it at a broker.",
        "violated: U5 a member is suspended, U9 a broadcaster waits for a lock",
        "DefaultMQPushConsumerImpl#pullMessage: executePullRequestImmediately, executePullRequestLater",
    ),
    _history(
        "only_the_listed_give_up",
        "A rebalance takes queues only from members that are in the list by which it divides.",
        "violated: U2 who is not listed has no share", "RebalanceImpl#rebalanceByTopic: cidAll",
    ),
    _history(
        "share_is_kept",
        "A rebalance takes no queue from a member that is in the member's share.",
        "violated: X13 it was not pulled for 120 s", "RebalanceImpl#updateProcessQueueTableInRebalance",
    ),
    _history(
        "only_the_readable_is_held",
        "After the last fault a consumer that has a route of a topic holds no queues that the route does not have.",
        "violated: U14 an empty route is an error", "RebalanceImpl#updateProcessQueueTableInRebalance",
    ),
    _history(
        "told_members_rebalance",
        "A member that is told of a change of its group rebalances within 5 s.",
        "violated: B-13 the notification is lost, U15 a reset holds the thread",
        "ClientRemotingProcessor#notifyConsumerIdsChanged, RebalanceService#wakeup",
    ),
    # Members
    _history(
        "goodbye_is_final",
        "A member that has left a group is not listed again on the same connection unless it starts again.",
        "violated: B-9 a heartbeat that comes late, B-30 one that was prepared before",
        "ConsumerManager#unregisterConsumer",
    ),
    _history(
        "heartbeats_keep_a_member",
        "A member does not expire within 120 s of its last heartbeat.",
        "violated: B-11 look and removal are two steps", "ConsumerManager#scanNotActiveChannel",
    ),
    _history(
        "closed_connection_is_delisted",
        "A broker that is told of the end of a connection takes it out of all its groups.",
        "holds", "ClientHousekeepingService#onChannelClose, ConsumerManager#doChannelCloseEvent",
    ),
    _history(
        "closed_producer_is_delisted",
        "A broker that is told of the end of a connection takes it out of all its producer groups.",
        "holds", "ClientHousekeepingService#onChannelClose, ProducerManager#doChannelCloseEvent",
    ),
    _history(
        "living_members_do_not_expire",
        "A member does not expire at a broker while both live and reach each other.",
        "violated: B-10 groups share one time, B-9 a heartbeat that comes late",
        "MQClientInstance#sendHeartbeatToAllBroker",
    ),
    _history(
        "goodbye_delists_a_member",
        "A member that leaves in order, and is not cut off, is taken out by its goodbye and does not have to expire.",
        "violated: B-9 a heartbeat that comes late, B-30 one that was prepared before, B-6 another connection",
        "MQClientInstance#unregisterConsumer, ClientManageProcessor#unregisterClient",
    ),
    _history(
        "connections_of_members_last",
        "The connection of a member lasts while it runs, is not cut off from its broker, and sends heartbeats.",
        "violated: B-11 the expiry of another group closes it, B-17 a call that times out, B-24 a heartbeat that "
        "waits, D5 a slow answer",
        "ClientHousekeepingService#onChannelClose, ConsumerManager#doChannelCloseEvent",
    ),
    _history(
        "group_has_one_message_model",
        "All members that a broker lists in a group read as a cluster, or all of them broadcast.",
        "violated: B-16 the last heartbeat says it for all", "ConsumerGroupInfo#updateChannel: messageModel",
    ),
    _history(
        "topics_leave_with_their_member",
        "When a member is not listed any more, topics that no other one subscribes leave the group's table.",
        "violated: B-27 they stay until a heartbeat", "ConsumerManager#unregisterConsumer",
    ),
    _history(
        "new_version_is_told_soon",
        "Seconds after a member's subscription has a new version the brokers that list the member know it.",
        "violated: B-4 pulls do not wait for the heartbeat, U12 the heartbeat is skipped",
        "RebalancePushImpl#messageQueueChanged, PullMessageProcessor#processRequest: SUBSCRIPTION_NOT_LATEST",
    ),
    _history(
        "heartbeat_makes_the_retry_topic",
        "A master that has entered a member in a group has the group's retry topic.",
        "violated: B-25 it waits 3 s and goes on without", "ClientManageProcessor#heartBeat",
    ),
    _history(
        "filter_is_as_new_as_its_subscription",
        "When members are told of a change, or a heartbeat is answered, the group's expressions are compiled.",
        "violated: B-14 members are told first, B-26 what does not compile is subscribed, L4 a clock that is behind",
        "ConsumerManager#registerConsumer, ConsumerFilterManager#register",
    ),
    _history(
        "replies_find_the_producer",
        "When a broker has entered the heartbeat of a producer it has a connection of it for replies.",
        "violated: B-23 the end of an old connection takes the new one",
        "ProducerManager#registerProducer, #findChannel",
    ),
    _history(
        "changed_share_renews_the_subscription",
        "After a change of its queues a member's heartbeats carry a newer version of the topic's subscription.",
        "violated: U12 the heartbeat is skipped", "RebalancePushImpl#messageQueueChanged",
    ),
    _history(
        "versions_are_times",
        "The version of a subscription is its member's wall clock in milliseconds.",
        "holds", "SubscriptionData#subVersion",
    ),
    _history(
        "list_has_no_repetition",
        "In the list of the members of a group no client stands twice.",
        "violated: B-5 a client with two connections, D6 equal ids", "ConsumerGroupInfo#getAllClientId",
    ),
    _history(
        "members_are_told_of_changes",
        "When a member or a topic of a group comes or goes, each member is sent a notification.",
        "violated: B-12 the expired are not announced",
        "ConsumerManager#registerConsumer, #unregisterConsumer, #doChannelCloseEvent: CHANGE",
    ),
    _history(
        "who_consumes_is_answered",
        "The groups of a topic are those that subscribe it and those that have committed offsets of it.",
        "holds", "AdminBrokerProcessor#queryTopicConsumeByWho",
    ),
    _history(
        "producers_are_known",
        "After the last fault every broker knows the producer that each living client has, and no other.",
        "holds", "ClientManageProcessor#heartBeat, ProducerManager#registerProducer",
    ),
    _history(
        "only_the_subscribed_is_held",
        "After the last fault a consumer holds no queues of topics that it does not subscribe.",
        "holds", "RebalanceImpl#truncateMessageQueueNotMyTopic",
    ),
    _history(
        "clients_forget_the_dead",
        "After the last fault clients know no addresses but those of living brokers.",
        "holds", "MQClientInstance#cleanOfflineBroker",
    ),
    # Name servers and brokers
    _history(
        "registrations_keep_a_broker",
        "A broker is dropped by its goodbye, by the end of its connection, or 120 s after it was heard of last.",
        "violated: N-7 a clean-up in two steps, N-8 an old time is read, N-5 the first address on a connection, "
        "N-17 the end of an older connection",
        "RouteInfoManager#scanNotActiveBroker, #onChannelDestroy",
    ),
    _history(
        "goodbye_frees_its_sender_only",
        "The goodbye of a broker removes no address but its own.",
        "violated: N-1 the id goes whoever has it", "RouteInfoManager#unregisterBroker",
    ),
    _history(
        "known_version_changes_nothing",
        "A broker that registers the version that it registered last changes no route.",
        "holds", "RouteInfoManager#registerBroker: isBrokerTopicConfigChanged",
    ),
    _history(
        "topic_survives_its_broker",
        "A master whose process ends has its topics again when it starts.",
        "holds", "TopicConfigManager#persist, ConfigManager#load",
    ),
    _history(
        "group_survives_its_broker",
        "A master whose process ends has its subscription groups again when it starts.",
        "holds", "SubscriptionGroupManager#findSubscriptionGroupConfig: persist, ConfigManager#load",
    ),
    _history(
        "slave_follows_its_master",
        "After the last fault a slave has the topics and offsets of its master.",
        "holds", "SlaveSynchronize#syncAll",
    ),
    _history(
        "cluster_info_fits_together",
        "In the answer to GET_BROKER_CLUSTER_INFO the names of all clusters are the names that have addresses.",
        "violated: N-10 two tables are read without a lock, N-6 half a registration, N-26 a cluster that was left",
        "DefaultRequestProcessor#getBrokerClusterInfo",
    ),
    _history(
        "route_fits_together",
        "In the answer to GET_ROUTEINFO_BY_TOPIC the brokers of the queues are those that it has addresses of.",
        "violated: N-9 the queues are read later", "RouteInfoManager#pickupTopicRouteData",
    ),
    _history(
        "routes_lead_to_the_living",
        "The answer to GET_ROUTEINFO_BY_TOPIC has no address where nobody has lived for a minute.",
        "violated: N-12 a machine vanishes, N-4 the scan has died, N-25 a close is forgotten",
        "RouteInfoManager#pickupTopicRouteData, #onChannelDestroy, #scanNotActiveBroker",
    ),
    _history(
        "routes_say_what_brokers_have",
        "After the last fault what is routed of a topic, its queues, permissions and flags, is what the broker has.",
        "violated: N-14 a topic is deleted at its broker, N-23 a compressed registration lacks flags",
        "RouteInfoManager#registerBroker, #createAndUpdateQueueData",
    ),
    _history(
        "what_is_taken_away_stays_away",
        "Topics that were deleted, and permissions to write that were wiped, come back only if somebody gives them.",
        "violated: N-13 the next version brings the permission, N-14 and the topic",
        "RouteInfoManager#deleteTopic, #wipeWritePermOfBrokerByLock",
    ),
    _history(
        "id_is_not_taken_back",
        "A broker does not take its id back from one that has taken it, as long as that one is there.",
        "violated: N-15 two masters of one name take turns", "RouteInfoManager#registerBroker",
    ),
    _history(
        "success_means_registered",
        "A registration that is answered with SUCCESS is in the table of the living.",
        "violated: N-20 half a registration is a success too",
        "DefaultRequestProcessor#registerBrokerWithFilterServer",
    ),
    _history(
        "other_version_is_registered",
        "A broker registers at a name server that it has asked for the version, and that has another one.",
        "violated: N-18 the vote comes late", "BrokerOuterAPI#needRegister",
    ),
    _history(
        "living_broker_is_not_dropped",
        "Where the network breaks no connection, a broker that has registered in the last minute and lives is kept.",
        "violated: N-21 a time-out closes the connection", "RouteInfoManager#onChannelDestroy",
    ),
    _history(
        "slave_takes_the_master_it_is_told",
        "A slave has a master as soon as one of its name servers names one.",
        "violated: N-19 the first answer counts", "BrokerController#doRegisterBrokerAll",
    ),
    _history(
        "heartbeats_do_not_wait_for_name_servers",
        "No heartbeat waits for a registration as long as its client waits for the answer.",
        "violated: N-22 one registration after another", "TopicConfigManager#createTopicInSendMessageBackMethod",
    ),
    _history(
        "key_values_survive",
        "A name server that ends without losing power has its key values again when it starts.",
        "violated: N-24 two threads write one file", "KVConfigManager#persist, #load",
    ),
    # Upkeep
    _history(
        "notifications_have_a_reason",
        "Members are not told again and again of changes that there are not.",
        "holds", "ConsumerManager#registerConsumer: r1 || r2",
    ),
    _history(
        "group_has_its_retry_topic",
        "After the last fault a master that has members of a group has the group's retry topic.",
        "holds", "ClientManageProcessor#heartBeat: createTopicInSendMessageBackMethod",
    ),
    _history(
        "closed_broker_is_dropped",
        "A name server that is told of the end of a broker's connection drops the broker.",
        "violated: N-25 the event is dropped",
        "BrokerHousekeepingService#onChannelClose, RouteInfoManager#onChannelDestroy",
    ),
    _history(
        "held_queue_is_pulled",
        "Where nothing fails a consumer pulls each queue that it holds, one pull after another.",
        "holds", "PullMessageService, DefaultMQPushConsumerImpl#pullMessage",
    ),
    _history(
        "given_up_lock_is_freed",
        "Where nothing fails who gives a queue up in a rebalance frees its lock, after 20 s at the latest.",
        "holds", "RebalancePushImpl#removeUnnecessaryMessageQueue, #unlockDelay",
    ),
    _history(
        "members_share_at_once",
        "Where nothing fails a group has shared out its queues, each to one member, seconds after its last change.",
        "holds", "ClientRemotingProcessor#notifyConsumerIdsChanged, DefaultMQPushConsumerImpl#start, #resume",
    ),
)}
"""By name."""
