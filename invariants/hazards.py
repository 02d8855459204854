"""Hazards of RocketMQ 4.9.3 as data: what its code does that breaks a promise, and where it stands.

D: two owners at once. L: a message is skipped. U: a queue without a working owner. X: a message is delivered twice.
B: a broker's client tables. N: name servers. R: routes at the client. A: allocation strategies. Q: queue choice of a
producer. S: suggestions of a broker. V: the store.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hazard:
    """A named hazard: one sentence, and the RocketMQ class and method whose code it is."""

    name: str
    sentence: str
    cite: str


_TABLE = (
    ("A-1", "Shares follow the place in the sorted id list, so one join moves queues between members that stay.",
     "AllocateMessageQueueAveragely#allocate, AllocateMessageQueueAveragelyByCircle#allocate"),
    ("A-2", "A hash ring, or a room with few members, gives some members many queues and others none.",
     "AllocateMessageQueueConsistentHash#allocate, AllocateMachineRoomNearby#allocate"),
    ("A-3", "Members with different room lists divide different queues: some get two owners, some none.",
     "AllocateMessageQueueByMachineRoom#allocate"),
    ("A-4", "A configured list is returned whatever the arguments are: absent, overlapping or foreign queues included.",
     "AllocateMessageQueueByConfig#allocate"),
    ("A-5", "Two members that see the id list in different orders take the same place in it.",
     "AllocateMessageQueueAveragely#allocate: the caller sorts"),
    ("A-6", "Without virtual nodes the ring is empty and nobody owns anything.",
     "AllocateMessageQueueConsistentHash#allocate, virtualNodeCnt 0"),
    ("A-7", "Members of one group may use different strategies; nothing compares them.",
     "DefaultMQPushConsumer#setAllocateMessageQueueStrategy"),
    ("A-8", "Where two virtual nodes of a hash ring meet in one place, the member that was listed later has it.",
     "ConsistentHashRouter#addNode"),
    ("B-1", "A heartbeat removes from the group's subscription table the topics that its sender lacks.",
     "ConsumerGroupInfo#updateSubscription"),
    ("B-2", "Two heartbeats at once remove each other's topics and leave an empty table.",
     "ConsumerGroupInfo#updateSubscription"),
    ("B-3", "Of several expressions on one topic the one with the greatest subVersion filters for the whole group.",
     "ConsumerGroupInfo#updateSubscription, PullMessageProcessor#processRequest"),
    ("B-7", "A heartbeat puts its channel into a group object that leave-taking has just removed.",
     "ConsumerManager#registerConsumer, #unregisterConsumer"),
    ("B-8", "The second of two leave-takings removes the group by name, although it is another object by now.",
     "ConsumerManager#unregisterConsumer"),
    ("B-9", "A heartbeat that is handled after UNREGISTER_CLIENT re-adds the member: the pools differ.",
     "ClientManageProcessor#heartBeat, #unregisterClient"),
    ("B-10", "Groups of one heartbeat share one ClientChannelInfo, so a group that was left never expires.",
     "ClientManageProcessor#heartBeat, ConsumerGroupInfo#updateChannel"),
    ("B-11", "The expiry of one group's entry closes the connection and evicts the client from all its groups.",
     "ConsumerManager#scanNotActiveChannel"),
    ("B-17", "A synchronous call that times out closes the connection, which evicts the client.",
     "NettyRemotingClient#invokeSync, clientCloseSocketIfTimeout"),
    ("B-22a", "The fast path of a lock compares client id and expiry in two steps without a lock, and both can win.",
     "RebalanceLockManager#tryLockBatch, LockEntry#isLocked"),
    ("B-26", "An expression that does not compile removes the compiled one, while the table takes its version.",
     "ConsumerFilterManager#register"),
    ("D1", "A joiner takes its share before the old owner has rebalanced.", "RebalanceImpl#rebalanceByTopic"),
    ("D2", "A broker that has not yet heard of all members answers an incomplete id list.",
     "MQClientInstance#findConsumerIdList"),
    ("D3", "Members whose routes differ divide different queue lists.", "RebalanceImpl#rebalanceByTopic"),
    ("D4", "Only one broker loses a member, so members that ask different brokers see different lists.",
     "MQClientInstance#findConsumerIdList, ConsumerManager#doChannelCloseEvent"),
    ("D6", "Two processes with one client id take the same place in the list.", "ClientConfig#buildMQClientId"),
    ("D7", "A batch that was started under the lock runs on when the broker's lease is over.",
     "ConsumeMessageOrderlyService.ConsumeRequest#run"),
    ("D8", "The lock table is in memory: after a restart or a failover a lock is granted again.",
     "RebalanceLockManager"),
    ("D9", "A delayed unlock frees a lock that its owner has taken anew.", "RebalancePushImpl#unlockDelay"),
    ("L2", "An error while the offset is read is taken for “no offset”: consumption starts at the maximum.",
     "RemoteBrokerOffsetStore#readOffset, RebalancePushImpl#computePullFromWhereWithException"),
    ("L3", "Members with different tags on one topic filter away each other's messages.",
     "ConsumerGroupInfo#updateSubscription"),
    ("L4", "A member whose clock is behind changes its expression, and the old one goes on filtering.",
     "ConsumerGroupInfo#updateSubscription: subVersion is a wall clock"),
    ("L12", "A consume queue without a file at the offset answers the begin of the next file.",
     "DefaultMessageStore#getMessage, OFFSET_FOUND_NULL"),
    ("L13", "A strategy leaves queues to nobody by configuration.", "AllocateMessageQueueByMachineRoom#allocate"),
    ("N-1", "UNREGISTER_BROKER frees the broker id whoever has it, and so removes a new master or leaves an old entry.",
     "RouteInfoManager#unregisterBroker"),
    ("N-2", "An increment stores the version, and later full registrations look unchanged.",
     "RouteInfoManager#registerBroker, BrokerController#registerIncrementBrokerData"),
    ("N-3", "An increment overtakes a full registration of the same version; nothing is lost, a topic is missing.",
     "BrokerController#registerBrokerAll: encodes the live table"),
    ("N-4", "An exception in the expiry scan cancels its timer for ever.", "RouteInfoManager#scanNotActiveBroker"),
    ("N-5", "A clean-up by connection finds the first address on it, which may be another broker's.",
     "RouteInfoManager#onChannelDestroy"),
    ("N-6", "A registration that throws half-way leaves an address that never expires.",
     "RouteInfoManager#registerBroker"),
    ("N-7", "A clean-up finds its address, releases the lock, and removes what was registered meanwhile.",
     "RouteInfoManager#onChannelDestroy"),
    ("N-8", "The scan reads an old time and removes what was registered meanwhile.",
     "RouteInfoManager#scanNotActiveBroker"),
    ("N-16", "A slave that is promoted registers the version it had, and its topics are not installed.",
     "RouteInfoManager#registerBroker"),
    ("N-18", "A slow name server's vote is missing when the broker decides whether to register.",
     "BrokerOuterAPI#needRegister"),
    ("N-21", "A registration that times out closes the connection, and the name server removes the broker.",
     "BrokerOuterAPI#registerBroker, RouteInfoManager#onChannelDestroy"),
    ("Q-1", "When the 32-bit counter wraps, a queue index is negative.",
     "MQFaultStrategy#selectOneMessageQueue, LatencyFaultToleranceImpl#pickOneAtLeast"),
    ("Q-2", "When the 32-bit counter wraps, consecutive indexes repeat, and a retry meets the failed broker again.",
     "TopicPublishInfo#selectOneMessageQueue, ThreadLocalIndex#incrementAndGet"),
    ("Q-3", "With latency fault tolerance the last broker is not avoided.", "MQFaultStrategy#selectOneMessageQueue"),
    ("R-1", "A client never forgets a route: TOPIC_NOT_EXIST changes nothing.",
     "MQClientInstance#updateTopicRouteInfoFromNameServer"),
    ("S-1", "A slave suggests the group's own broker id although reading from slaves is off.",
     "PullMessageProcessor#processRequest, PULL_OFFSET_MOVED"),
    ("U1", "Until the list forgets a member that left, its share has no owner.",
     "ConsumerManager#scanNotActiveChannel"),
    ("U3", "Of two equal ids the later place in the list is nobody's.", "AllocateMessageQueueAveragely#allocate"),
    ("U4", "A member of the group that does not subscribe the topic is given queues that it never consumes.",
     "ConsumerGroupInfo#getAllClientId, RebalanceImpl#doRebalance"),
    ("U6", "A batch that never returns keeps its lock renewed although the queue was taken away.",
     "RebalancePushImpl#removeUnnecessaryMessageQueue, ConsumeMessageOrderlyService#lockMQPeriodically"),
    ("U13", "A strategy that throws leaves every member with what it had.", "RebalanceImpl#rebalanceByTopic"),
    ("V24", "A disk that one check marks full is marked free by another within seconds.",
     "DefaultMessageStore.CleanCommitLogService#isSpaceToDelete, #isSpaceFull"),
    ("X9", "An offset beyond the end of the queue is answered with 0, and the whole queue is delivered again.",
     "DefaultMessageStore#getMessage, nextOffsetCorrection"),
)

HAZARDS = {name: Hazard(name, sentence, cite) for name, sentence, cite in _TABLE}
