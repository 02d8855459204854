"""How long things may take: RocketMQ's own times, and what the faults of a world add to them.

No rule has a time of its own. A formula says which periods and time-outs follow one another; `pauses` adds the thread
pauses and delays that may come in between.
"""

from __future__ import annotations

from invariants.rules.bounds import Bounds, Deadline

# RocketMQ's own times, in ms.
LOCK_CALL_MS = 1_000  # RebalanceImpl#lock, #lockAll, #unlock: timeoutMillis
CONSUME_LOCK_MS = 1_000  # RebalancePushImpl#removeUnnecessaryMessageQueue: consumeLock.tryLock
OPERATOR_CALL_MS = 5_000  # DefaultMQAdminExt: timeoutMillis
CALL_MS = 3_000  # timeoutMillis of calls to brokers and name servers
SOON_MS = 2_000  # what takes milliseconds where nothing fails, with the few that calls in a row may take
PERSIST_MS = 5_000  # ClientConfig#persistConsumerOffsetInterval, BrokerConfig#flushConsumerOffsetInterval
SCAN_MS = 10_000  # ClientHousekeepingService, RouteInfoManager#scanNotActiveBroker
LOCK_RENEWAL_MS = 20_000  # ProcessQueue.REBALANCE_LOCK_INTERVAL
REBALANCE_MS = 20_000  # RebalanceService.waitInterval
UNLOCK_DELAY_MS = 20_000  # RebalancePushImpl.UNLOCK_DELAY_TIME_MILLS
PULL_CALL_MS = 30_000  # DefaultMQPushConsumerImpl.CONSUMER_TIMEOUT_MILLIS_WHEN_SUSPEND
HEARTBEAT_MS = 30_000  # ClientConfig#heartbeatBrokerInterval
ROUTE_MS = 30_000  # ClientConfig#pollNameServerInterval
REGISTRATION_MS = 30_000  # BrokerConfig#registerNameServerPeriod
CLIENT_LEASE_MS = 30_000  # ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME
BROKER_LEASE_MS = 60_000  # RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME
PULL_FAILED_MS = 1_000  # DefaultMQPushConsumerImpl.PULL_TIME_DELAY_MILLS_WHEN_EXCEPTION
PULL_IDLE_MS = 120_000  # ProcessQueue.PULL_MAX_IDLE_TIME
REGISTRATION_CALL_MS = 6_000  # BrokerConfig#registerBrokerTimeoutMills
HA_HEARTBEAT_MS = 5_000  # haSendHeartbeatInterval; HAClient#run also waits so long before it connects again
HA_HOUSEKEEPING_MS = 20_000  # haHousekeepingInterval
COPY_MS = 10_000  # BrokerController#handleSlaveSynchronize: the period of SlaveSynchronize#syncAll
EXPIRY_MS = 120_000  # CHANNEL_EXPIRED_TIMEOUT, BROKER_CHANNEL_EXPIRED_TIME
IDLE_MS = 120_000  # serverChannelMaxIdleTimeSeconds, clientChannelMaxIdleTimeSeconds


QUEUE_MS = {"send": 200, "pull": 5_000, "end_transaction": 3_000}
"""BrokerConfig: waitTimeMillsInSendQueue, waitTimeMillsInPullQueue, waitTimeMillsInTransactionQueue, by the pool."""


def pauses(count: int, bounds: Bounds) -> int:
    """What threads that stand still `count` times, one after another, and one late message add."""
    return count * bounds.thread_pause_ms + bounds.delay_ms


def takes(ms: int, *, steps: int = 1) -> Deadline:
    """So long, and what `steps` threads add that may stand still on the way."""
    return lambda bounds: ms + SOON_MS + pauses(steps, bounds)


PULL_DELAY_MS, SEEN_MS = 1_000, 1_000  # PULL_TIME_DELAY_MILLS_WHEN_SUSPEND; how often rules look
pulled_again = takes(PULL_DELAY_MS + SEEN_MS)
"""What a pull has waited for is over, and it is made: it may look a second later, and so may a judge."""
soon = takes(0)
"""What takes milliseconds."""
answer_heard = takes(0, steps=3)
"""An answer is sent and heard: who sends it may stand still, and who waits, before he gives it up and behind that."""
AT_ONCE_MS = 300
"""The same where nothing fails: WriteSocketService and DELAY_FOR_A_WHILE look every 100 ms, and others are woken."""
OS_PAGE_CACHE_BUSY_MS = 1_000  # MessageStoreConfig#osPageCacheBusyTimeOutMills
unbusied = takes(OS_PAGE_CACHE_BUSY_MS + QUEUE_MS["send"], steps=2)
"""Who writes has done so, and no send waits any more that had to wait for that."""
operator_answered = takes(2 * OPERATOR_CALL_MS)
"""What an operator has asked a broker is answered, whatever his clock is like."""
first_look = takes(1_000)
"""ScheduleMessageService.FIRST_DELAY_TIME: a broker has come up, and its delay levels look for the first time."""
offset_saved = takes(10_000)
"""MessageStoreConfig#flushDelayOffsetInterval: up to where a delay level has delivered is written."""

handled = takes(CALL_MS, steps=2)
"""A request or an event of a connection that has arrived: the thread of the network, then that of the pool."""

RESET_MS = 10_000  # MQClientInstance#resetOffset: TimeUnit.SECONDS.sleep(10)
TIMERS = 4
"""The threads that may stand still, one after another, before a timer's work is done: the timer of a client does many
things, each of which may wait for calls."""

written = takes(2 * PERSIST_MS)
"""What was committed is in the broker's file: its timer begins 10 s after the start, and goes every 5 s."""
sent = takes(PERSIST_MS + 2 * TIMERS * CALL_MS, steps=TIMERS)
"""What a client has in memory it commits: every 5 s, when the one thread of its timers is free."""
updated = takes(0)
"""What is settled is in memory: the thread of a listener may stand still in between."""
asked_elsewhere = takes(ROUTE_MS + 2 * TIMERS * CALL_MS, steps=TIMERS)
"""A client asks for routes every 30 s, when the one thread of its timers is free, and goes through its name servers."""
begun = takes(2 * CALL_MS, steps=3)
"""Who was answered an offset has begun its queue there: it may ask for the end of the queue, or a time, first."""
AUTO_COMMIT_MS = 5_000  # DefaultLitePullConsumer.autoCommitIntervalMillis
LONGEST_POLL_MS = 5_000  # DefaultLitePullConsumer.pollTimeoutMillis
polled = takes(0, steps=2)
"""A poll returns when its time is over, or a pull has found something: two threads."""
polled_is_sent = takes(AUTO_COMMIT_MS + LONGEST_POLL_MS + PERSIST_MS + (2 * TIMERS + 4) * CALL_MS, steps=TIMERS + 2)
"""What was polled is committed with a later poll and sent by the timer: an application may ask brokers in between."""
given_up = takes(CALL_MS)
"""Who drops a queue has sent the last commit of it: it may ask for the broker's address first."""
reset = takes(TIMERS * RESET_MS, steps=TIMERS)
"""A reset that was received is done, or the next of those that wait for one another has begun: each sleeps for 10 s."""

rebalanced_at_first = takes(TIMERS * CALL_MS, steps=3)
"""A consumer that starts has asked for its routes, spoken to its brokers, and rebalances, before its timer does."""
rebalanced = takes(REBALANCE_MS + CALL_MS, steps=3)
"""A change of a group: the heartbeat or goodbye that says it, the notification or the timer, and the rebalance."""
heard_of = takes(HEARTBEAT_MS + 2 * TIMERS * CALL_MS, steps=TIMERS)
"""A broker has heard of a member: every 30 s, when the one thread of its timers is free, and no heartbeat under way."""
lists_are_whole = takes(EXPIRY_MS + HEARTBEAT_MS + REBALANCE_MS + 2 * CALL_MS, steps=3)
"""All members have spoken to a broker again, also those that had to find out that their connection was dead."""

expired = takes(EXPIRY_MS + SCAN_MS, steps=2)
"""Whoever is not heard of any more has been found by the scan, and removed."""
spoken = takes(EXPIRY_MS + SCAN_MS, steps=1)
"""Clients have learnt the routes and spoken to every broker, and meanwhile the dead have expired."""
forgotten = takes(EXPIRY_MS + SCAN_MS + ROUTE_MS + HEARTBEAT_MS, steps=1)
"""A dead broker has left the routes of name servers, then those of clients, and then their addresses."""
told_at_once = takes(2 * CALL_MS, steps=3)
"""A heartbeat that is sent now has reached the broker, also if the broker before it in the round did not answer."""
on_the_way = takes(CALL_MS, steps=3)
"""A heartbeat that was encoded before is handled: its sender, the thread of the network, that of the pool."""
waited = takes(IDLE_MS, steps=2)
"""What could not pass has arrived, or its connection has been closed as idle."""


def close_to_idle(bounds: Bounds) -> int:
    """So long after the last heartbeat was entered nothing may have been read on its connection for IDLE_MS."""
    return IDLE_MS - SOON_MS - bounds.thread_pause_ms


# Locks, owners and pulls ---------------------------------------------------------------------------------------------

lock_is_fresh = takes(CLIENT_LEASE_MS + LOCK_CALL_MS)
"""Since a broker has granted a lock: its answer comes in time, and counts for the lease of the client."""
lease_is_over = takes(BROKER_LEASE_MS)
"""A lock that is not renewed, as its broker counts."""
unlocked_late = takes(UNLOCK_DELAY_MS + CONSUME_LOCK_MS)
"""The lock of a queue with cached messages is given back that much after the queue."""
told_to_rebalance = takes(CALL_MS, steps=3)
"""A run of the rebalance that is under way ends first, with the heartbeat that it sends."""
handed_over = takes(REBALANCE_MS + CALL_MS, steps=2)
"""Who misses a notification rebalances in any case; the thread that gives up, then the one that takes."""
handed_over_in_order = takes(UNLOCK_DELAY_MS + REBALANCE_MS + CALL_MS, steps=2)
"""The same where a lock has to be given back first, and its taker comes again."""
divided = takes(CALL_MS)
"""Who has the list of a group has asked for the offset of a queue, and has taken it."""
shared_out = takes(HEARTBEAT_MS + REBALANCE_MS + 2 * CALL_MS, steps=3)
"""Every broker has heard of all members, who have rebalanced since: who asks a broker that lists some only divides by
these."""
left = takes(REBALANCE_MS + TIMERS * CALL_MS, steps=3)
"""The queues of a topic that was left are given up by the next rebalance, and a timer that had begun has sent them."""
pulled = takes(PULL_CALL_MS + LOCK_RENEWAL_MS + CALL_MS)
"""A pull that is not answered ends, or a lock is asked for again, and the next pull is sent."""


def settled(bounds: Bounds) -> int:
    """A listener ends a batch: of a queue that was given up meanwhile, of another, and a lock was asked for before."""
    return takes(LOCK_RENEWAL_MS + LOCK_CALL_MS, steps=2)(bounds) + 2 * bounds.listener_ms


rested = takes(CALL_MS)
"""A queue that has rested is given to its listener: its lock may have to be asked for first."""
SUSPEND_MS = 20_000  # DefaultLitePullConsumer.brokerSuspendMaxTimeMillis; a push consumer lets a pull wait 15 s
LEAST_HOLD_MS = 15_000  # DefaultMQPushConsumerImpl.BROKER_SUSPEND_MAX_TIME_MILLIS
HOLD_SCAN_MS = 5_000  # PullRequestHoldService#run: waitForRunning
woken = takes(0)
"""A pull that is held is answered when a message comes: in less than HOLD_SCAN_MS."""

held = takes(SUSPEND_MS + HOLD_SCAN_MS)
"""A pull that is held is answered when its time is over and its broker looks at all that it holds."""

asked = takes(0)
"""A question of a round of checks has reached its producer."""

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


# Name servers and brokers ---------------------------------------------------------------------------------------------


def in_file(bounds: Bounds) -> int:
    """What has entered a table is in its file: the thread that writes both may stand still in between."""
    return bounds.thread_pause_ms


silent_slave_gone = takes(HA_HOUSEKEEPING_MS, steps=2)
"""A master has closed the connection of a slave that it has not heard for 20 s: it looks at least once a second."""
copied = takes(2 * HA_HEARTBEAT_MS, steps=2)
"""What a master has put is on a slave that was connected: a frame is on its way, or one side has hung up and asks."""


def connected_again(bounds: Bounds) -> int:
    """A slave knows its master, has noticed that its connection was dead, connects again and asks for the log."""
    return all_registered(bounds) + takes(HA_HOUSEKEEPING_MS + 2 * HA_HEARTBEAT_MS, steps=3)(bounds)


end_noticed = takes(CALL_MS)
"""A name server that is told of the end of a connection has handled it: one thread does so."""
registered = takes(2 * REGISTRATION_CALL_MS)
"""A broker has asked a name server for the version, and then registered there: two calls, and what is encoded."""
half_open_ended = takes(IDLE_MS + CALL_MS, steps=2)
"""A connection whose end nobody was told of has been idle for too long, and is closed."""


# What comes true after the healing ------------------------------------------------------------------------------------

DEAD_CALLS = 6
"""Calls that one thread makes one after another: to four brokers and two name servers."""


def residue(bounds: Bounds) -> int:
    """What faults have left behind: one thread stands still or one message is late, and calls meet dead connections."""
    return max(bounds.thread_pause_ms, bounds.delay_ms) + DEAD_CALLS * CALL_MS + SOON_MS


def after_healing(ms: int) -> Deadline:
    """So long after the healing, and what faults have left behind."""
    return lambda bounds: ms + residue(bounds)


all_registered = after_healing(2 * REGISTRATION_MS)
"""The first registration may be the one that finds out that its connection is dead."""
slaves_copied = after_healing(3 * REGISTRATION_MS + COPY_MS)
"""A slave's next registration tells it who its master is, when that one has registered; then it copies."""
all_expired = after_healing(EXPIRY_MS + SCAN_MS)
all_routed = after_healing(EXPIRY_MS + SCAN_MS + ROUTE_MS)
all_listed = after_healing(EXPIRY_MS + SCAN_MS + ROUTE_MS + HEARTBEAT_MS)
all_owned = after_healing(EXPIRY_MS + SCAN_MS + ROUTE_MS + HEARTBEAT_MS + REBALANCE_MS)
all_locked = after_healing(
    EXPIRY_MS + SCAN_MS + ROUTE_MS + HEARTBEAT_MS + REBALANCE_MS + BROKER_LEASE_MS + UNLOCK_DELAY_MS)
"""An orderly hand-over takes more: the lease of a dead owner's lock, and the next attempt."""

LEVELS_MS: tuple[int, ...] = tuple(1_000 * s for s in (1, 5, 10, 30, *range(60, 660, 60), 1200, 1800, 3600, 7200))
"""MessageStoreConfig#messageDelayLevel: the delay of each level."""
RETRY_DELAYS_MS = LEVELS_MS[2:5]  # of the first three retries
RETRIES_MS = sum(RETRY_DELAYS_MS)
LEAST_REST_MS, GREATEST_REST_MS = 10, 30_000  # ConsumeMessageOrderlyService#submitConsumeRequestLater
ILLEGAL_MS = 10_000  # DefaultMQPushConsumerImpl#pullMessage: the correction of an illegal offset
corrected = takes(ILLEGAL_MS + 2 * TIMERS * CALL_MS, steps=TIMERS)
"""An offset that a broker does not have is corrected: one thread does so, queue by queue, and may wait for each."""
LISTENER_EXPIRY_MS = 60_000  # DefaultMQPushConsumer#consumeTimeout in worlds whose listeners may not return


def taken_from_listener(timeout_ms: int) -> Deadline:
    """A message that a listener may have for so long is sent back: its consumer looks as often, and so may a judge."""
    return takes(2 * timeout_ms + CALL_MS + SEEN_MS, steps=2)


def all_settled(bounds: Bounds) -> int:
    """Queues are owned and locked, pulls that hang have ended, and messages are tried to the end.

    Each try may be one that never returns, and the retry topic is one more queue that somebody has to take first.
    """
    tries = RETRIES_MS + 3 * (2 * LISTENER_EXPIRY_MS + PULL_CALL_MS + bounds.listener_ms)
    return all_locked(bounds) + tries + ILLEGAL_MS + 2 * REBALANCE_MS


LONGEST_DELAY_MS = LEVELS_MS[3]  # no world goes beyond the fourth level
all_delays_over = after_healing(LONGEST_DELAY_MS + CALL_MS)
"""The last delay has begun just before the healing."""

DELIVERY_FAILED_MS = 10_000  # ScheduleMessageService.DELAY_FOR_A_PERIOD


def delay_over(level: int) -> Deadline:
    """A delayed message is in its queue, its delay is over, and it is in its topic: one put of its level may fail."""
    return lambda bounds: dispatched(bounds) + takes(LEVELS_MS[level - 1] + DELIVERY_FAILED_MS, steps=2)(bounds)


HALF_MESSAGE_MS = 6_000  # BrokerConfig#transactionTimeOut
CHECK_MS = 60_000  # BrokerConfig#transactionCheckInterval
CHECK_ROUND_MS = 60_000  # TransactionalMessageServiceImpl#check: MAX_PROCESS_TIME_LIMIT


def round_ended(bounds: Bounds) -> int:
    """A round of checks that has read what has ended has asked about the rest: at once if no thread stands still."""
    return asked(bounds) + (CHECK_ROUND_MS if bounds.thread_pause_ms else 0)


given_up_at_last = takes(CHECK_ROUND_MS + CHECK_MS)
"""A round of checks that is under way has ended, and the next one has come past a half message."""
all_checked = after_healing(HALF_MESSAGE_MS + CHECK_ROUND_MS + 2 * CHECK_MS)
"""Half messages are old enough, a round that is under way has ended, and the next one comes past them."""
TRANSACTION_CHECK_MS = 10_000  # BrokerConfig#transactionCheckInterval in worlds of transactions
all_ended = after_healing(
    EXPIRY_MS + SCAN_MS + ROUTE_MS + HEARTBEAT_MS + HALF_MESSAGE_MS + 2 * TRANSACTION_CHECK_MS)
"""Brokers know a living producer of each group, and have asked for each half message: by then it was old enough."""

COPIED_MS = COPY_MS + DEAD_CALLS * CALL_MS
"""What a master has changed has reached its slave, where nothing fails any more."""
offsets_copied = takes(SCAN_MS + 3 * CALL_MS, steps=2)
"""A slave has the offsets of its master: SlaveSynchronize asks for three tables every 10 s, one after another."""

SEND_MS = 3_000  # DefaultMQProducer#sendMsgTimeout: of all attempts together
CONNECT_MS = 3_000  # NettyClientConfig#connectTimeoutMillis
RESPONSE_SCAN_MS = 2_000  # NettyRemotingAbstract#scanResponseTable: a second after the time-out, every second
SEND_THREADS = 3  # who asks, who sends, and who hears the answer
REQUEST_MS = 3_000  # the time-out of each request over messages that worlds have
REQUEST_SCAN_MS = 1_000  # RequestFutureHolder#scanExpiredRequest
ROUTE_CALLS_MS = 2 * 2 * CALL_MS  # tryToFindTopicPublishInfo: lockNamesrv, and the question, for two topics


def told_of_send(bounds: Bounds) -> int:
    """A send is over, whatever is late: its last attempt begins in time, and may wait for a connection."""
    return SEND_MS + CONNECT_MS + SOON_MS + SEND_THREADS * bounds.thread_pause_ms


def called_back(bounds: Bounds) -> int:
    """An asynchronous send is over without a retry: a scan finds that nobody answers."""
    return SEND_MS + RESPONSE_SCAN_MS + SOON_MS + SEND_THREADS * bounds.thread_pause_ms


def failed_at_once(bounds: Bounds) -> int:
    """A client that has closed a connection has told who waits there: Netty's thread, and the one that calls back."""
    return SOON_MS + 2 * bounds.thread_pause_ms


def request_over(bounds: Bounds) -> int:
    """A request is over: routes are asked for, brokers are spoken to, it is sent, and its reply is waited for."""
    first_ms = ROUTE_CALLS_MS + DEAD_CALLS * CALL_MS
    return REQUEST_MS + REQUEST_SCAN_MS + CONNECT_MS + first_ms + SOON_MS + 4 * SEND_THREADS * bounds.thread_pause_ms


SYNC_FLUSH_MS, SLAVE_MS = 5_000, 3_000  # MessageStoreConfig: syncFlushTimeout, slaveTimeout


def end_noted(bounds: Bounds) -> int:
    """A broker has noted that a half message is committed: it waits for a force before, but not for ever."""
    return min(2 * bounds.force_ms, SYNC_FLUSH_MS)



COMMIT_MS = 200  # MessageStoreConfig: commitIntervalCommitLog, commitCommitLogThoroughInterval
committed = takes(COMMIT_MS)
"""What is in a buffer of a pool has been written."""

SPACE_MS = 10_000  # DefaultMessageStore#addScheduleTask: DiskCheckScheduledThread
FULL_PERCENT, FREE_PERCENT = 90, 85  # diskSpaceWarningLevelRatio, diskSpaceCleanForciblyRatio
USED_PERCENT = 75  # MessageStoreConfig#diskMaxUsedSpaceRatio
FIRST_CLEAN_UP_MS, CLEAN_UP_MS = 60_000, 10_000  # DefaultMessageStore#addScheduleTask; cleanResourceInterval
space_seen = takes(SPACE_MS)
"""A store knows how full its disk is: it looks every ten seconds, first one second after its start."""
room_made = takes(CLEAN_UP_MS)
"""A pass of the clean-up has been made: one thread makes all of them."""
HANGED_MS = 120_000  # redeleteHangedFileInterval; also destroyMapedFileIntervalForcibly
given_back = takes(2 * HANGED_MS + CLEAN_UP_MS)
"""A file that was to be deleted is gone, also if it was read: it waits for who reads it, and then for a second try."""
FLUSH_MS = 10_000 + 500  # MessageStoreConfig: flushCommitLogThoroughInterval, and flushIntervalCommitLog


def forced(bounds: Bounds) -> int:
    """What is appended is forced, whoever waits for that: a thorough flush may end with the file before."""
    return 2 * (FLUSH_MS + bounds.force_ms) + COMMIT_MS + SOON_MS + 3 * bounds.thread_pause_ms


def flush_told(bounds: Bounds) -> int:
    """Who waits for a force is told: who tells may be in a force that began before, and then in the next one."""
    return 2 * bounds.force_ms + soon(bounds)


def dispatched(bounds: Bounds) -> int:
    """What is appended is in its queue: a dispatcher may wait until it is flushed, after a force that came before."""
    return FLUSH_MS + 2 * bounds.force_ms + soon(bounds)
