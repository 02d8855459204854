"""How long things may take: RocketMQ's own times, and what the faults of a world add to them.

No rule has a time of its own. A formula says which periods and time-outs follow one another; `pauses` adds the thread
pauses and delays that may come in between.
"""

from __future__ import annotations

from invariants.rules.bounds import Bounds, Deadline

# RocketMQ's own times, in ms.
LOCK_CALL_MS = 1_000  # RebalanceImpl#lock, #lockAll, #unlock: timeoutMillis
CONSUME_LOCK_MS = 1_000  # RebalancePushImpl#removeUnnecessaryMessageQueue: consumeLock.tryLock
CALL_MS = 3_000  # timeoutMillis of calls to brokers and name servers
SOON_MS = 2_000  # what takes milliseconds where nothing fails, with the few that calls in a row may take
PERSIST_MS = 5_000  # ClientConfig#persistConsumerOffsetInterval, BrokerConfig#flushConsumerOffsetInterval
RESET_MS = 10_000  # MQClientInstance#resetOffset sleeps; so long waits DefaultMQPushConsumerImpl with a correction
SCAN_MS = 10_000  # ClientHousekeepingService, RouteInfoManager#scanNotActiveBroker
SUSPEND_MS = 15_000  # DefaultMQPushConsumerImpl.BROKER_SUSPEND_MAX_TIME_MILLIS
LOCK_RENEWAL_MS = 20_000  # ProcessQueue.REBALANCE_LOCK_INTERVAL
REBALANCE_MS = 20_000  # RebalanceService.waitInterval
UNLOCK_DELAY_MS = 20_000  # RebalancePushImpl.UNLOCK_DELAY_TIME_MILLS
PULL_CALL_MS = 30_000  # DefaultMQPushConsumerImpl.CONSUMER_TIMEOUT_MILLIS_WHEN_SUSPEND
HEARTBEAT_MS = 30_000  # ClientConfig#heartbeatBrokerInterval
ROUTE_MS = 30_000  # ClientConfig#pollNameServerInterval
REGISTRATION_MS = 30_000  # BrokerConfig#registerNameServerPeriod
CLIENT_LEASE_MS = 30_000  # ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME
BROKER_LEASE_MS = 60_000  # RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME
PULL_IDLE_MS = 120_000  # ProcessQueue.PULL_MAX_IDLE_TIME
EXPIRY_MS = 120_000  # CHANNEL_EXPIRED_TIMEOUT, BROKER_CHANNEL_EXPIRED_TIME
IDLE_MS = 120_000  # serverChannelMaxIdleTimeSeconds, clientChannelMaxIdleTimeSeconds


def pauses(count: int, bounds: Bounds) -> int:
    """What threads that stand still `count` times, one after another, and one late message add."""
    return count * bounds.thread_pause_ms + bounds.delay_ms


def takes(ms: int, *, steps: int = 1) -> Deadline:
    """So long, and what `steps` threads add that may stand still on the way."""
    return lambda bounds: ms + SOON_MS + pauses(steps, bounds)


soon = takes(0)
"""What takes milliseconds."""

handled = takes(CALL_MS, steps=2)
"""A request or an event of a connection that has arrived: the thread of the network, then that of the pool."""

lock_is_fresh = takes(CLIENT_LEASE_MS + LOCK_CALL_MS)
"""Since a broker has granted a lock: its answer comes in time, and counts for the lease of the client."""

lease_is_over = takes(BROKER_LEASE_MS)
"""A lock that is not renewed, as its broker counts."""

unlocked_late = takes(UNLOCK_DELAY_MS + CONSUME_LOCK_MS)
"""The lock of a queue with cached messages is given back that much after the queue."""

told_to_rebalance = takes(CALL_MS, steps=2)
"""A run of the rebalance that is under way ends first."""

handed_over = takes(REBALANCE_MS + CALL_MS, steps=2)
"""Who misses a notification rebalances in any case; the thread that gives up, then the one that takes."""

handed_over_in_order = takes(UNLOCK_DELAY_MS + REBALANCE_MS + CALL_MS, steps=2)
"""The same where a lock has to be given back first, and its taker comes again."""

pulled = takes(PULL_CALL_MS + LOCK_RENEWAL_MS + CALL_MS)
"""A pull that is not answered ends, or a lock is asked for again, and the next pull is sent."""

all_have_spoken = takes(HEARTBEAT_MS)
"""A broker has heard of all members."""

member_is_forgotten = takes(EXPIRY_MS + SCAN_MS + REBALANCE_MS)
"""A connection that nobody has closed expires, and those who are left rebalance."""

route_is_followed = takes(REGISTRATION_MS + ROUTE_MS)
"""A broker registers what it has, and clients look for it."""

broker_is_forgotten = takes(EXPIRY_MS + SCAN_MS + ROUTE_MS + REBALANCE_MS)
"""A server that has vanished leaves the routes, then those of clients, who rebalance."""

taken_again = takes(RESET_MS + REBALANCE_MS)
"""A queue that was reset or corrected leaves the table, and the next run of the rebalance takes it."""
