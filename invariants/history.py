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
        "violated: X21 a reset removes what it has not dropped",
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
        "violated: B-21 of two first commits one is lost", "ConsumerOffsetManager#commitOffset, #queryOffset",
    ),
    _history(
        "only_the_settled_is_committed",
        "A client commits no more of a queue than it began with, was told by the broker, was reset to, or has settled.",
        "violated: L8 a pull that was held, X21 a pull of a queue that was reset",
        "RemoteBrokerOffsetStore#updateOffset, ProcessQueue#removeMessage",
    ),
    _history(
        "commits_of_a_holding_go_forward",
        "While a client holds a queue, and is not reset, its commits go back only to what another one has committed.",
        "holds", "RemoteBrokerOffsetStore#updateOffset: increaseOnly",
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
        "violated: L8 a pull that was held, X21 a pull of a queue that was reset", "MQClientInstance#resetOffset",
    ),
    _history(
        "reset_goes_to_its_time",
        "A reset to a time goes to the first message that was stored then or later, or to less if less is committed.",
        "holds", "Broker2Client#resetOffset, DefaultMessageStore#getOffsetInQueueByTime",
    ),
    # Locks
    _history(
        "only_ordered_groups_lock",
        "Queues are locked for orderly consumers in clustering, and for nobody else.",
        "holds", "RebalanceImpl#updateProcessQueueTableInRebalance: isOrder",
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
        "leaver_frees_its_locks",
        "A client that shuts down and says goodbye has given the locks of its idle queues back.",
        "violated: D12 locks that are taken meanwhile, B-22b a renewal that comes late",
        "ConsumeMessageOrderlyService#unlockAllMQ",
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
        "changed_share_renews_the_subscription",
        "After a change of its queues a member's heartbeats carry a newer version of the topic's subscription.",
        "violated: U12 the heartbeat is skipped", "RebalancePushImpl#messageQueueChanged",
    ),
    _history(
        "versions_are_times",
        "The version of a subscription is its member's wall clock in milliseconds.",
        "holds", "SubscriptionData#subVersion",
    ),
    # Name servers
    _history(
        "cluster_info_fits_together",
        "In the answer to GET_BROKER_CLUSTER_INFO the names of all clusters are the names that have addresses.",
        "violated: N-10 two tables are read without a lock, N-6 half a registration",
        "DefaultRequestProcessor#getBrokerClusterInfo",
    ),
)}
"""By name."""
