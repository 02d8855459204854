"""How long things may take: RocketMQ's own times, and what the faults of a world add to them.

No rule has a time of its own. A formula says which periods and time-outs follow one another; `pauses` adds the thread
pauses and delays that may come in between.
"""

from __future__ import annotations

from invariants.rules.bounds import Bounds, Deadline

# RocketMQ's own times, in ms.
CALL_MS = 3_000  # timeoutMillis of calls to brokers and name servers
SOON_MS = 2_000  # what takes milliseconds where nothing fails, with the few that calls in a row may take
PERSIST_MS = 5_000  # ClientConfig#persistConsumerOffsetInterval, BrokerConfig#flushConsumerOffsetInterval
SCAN_MS = 10_000  # ClientHousekeepingService, RouteInfoManager#scanNotActiveBroker
SUSPEND_MS = 15_000  # DefaultMQPushConsumerImpl.BROKER_SUSPEND_MAX_TIME_MILLIS
REBALANCE_MS = 20_000  # RebalanceService.waitInterval
UNLOCK_DELAY_MS = 20_000  # RebalancePushImpl.UNLOCK_DELAY_TIME_MILLS
HEARTBEAT_MS = 30_000  # ClientConfig#heartbeatBrokerInterval
ROUTE_MS = 30_000  # ClientConfig#pollNameServerInterval
REGISTRATION_MS = 30_000  # BrokerConfig#registerNameServerPeriod
CLIENT_LEASE_MS = 30_000  # ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME
BROKER_LEASE_MS = 60_000  # RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME
EXPIRY_MS = 120_000  # CHANNEL_EXPIRED_TIMEOUT, BROKER_CHANNEL_EXPIRED_TIME
IDLE_MS = 120_000  # serverChannelMaxIdleTimeSeconds, clientChannelMaxIdleTimeSeconds


def pauses(count: int, bounds: Bounds) -> int:
    """What threads that stand still `count` times, one after another, and one late message add."""
    return count * bounds.thread_pause_ms + bounds.delay_ms


def takes(ms: int, *, steps: int = 1) -> Deadline:
    """So long, and what `steps` threads add that may stand still on the way."""
    return lambda bounds: ms + SOON_MS + pauses(steps, bounds)


handled = takes(CALL_MS, steps=2)
"""A request or an event of a connection that has arrived: the thread of the network, then that of the pool."""

rebalanced = takes(REBALANCE_MS + CALL_MS, steps=3)
"""A change of a group: the heartbeat or goodbye that says it, the notification or the timer, and the rebalance."""
heartbeat_came = takes(HEARTBEAT_MS + CALL_MS, steps=2)
"""The next heartbeat of a member has been handled."""
lists_are_whole = takes(EXPIRY_MS + HEARTBEAT_MS + REBALANCE_MS + 2 * CALL_MS, steps=3)
"""All members have spoken to a broker again, also those that had to find out that their connection was dead."""
