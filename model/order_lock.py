"""Order locks: one queue, the broker's lease and the clients' belief in it, with ages instead of clocks.

`OrderLock` is RebalanceLockManager and its clients (B-22, D7, D8, D9); its constants are true times, so that drifting
clocks are a choice of constants: a client's 30 s last at most 30/(1-ρ), the broker's 60 s at least 60/(1+ρ).
`Locking` is the same in the grain of the implementation. `Abandoned` is a contender for a lock whose owner is gone.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Ghost,
    Nat,
    Sort,
    State,
    Table,
    action,
    assume,
    every,
    forall,
    initially,
    promise,
    require,
)


class Client(Sort):
    """A client id of the group."""


class Ms(Nat, saturates=True):
    """Milliseconds of true time since something happened, or a span of it."""


class OrderLock(State):
    """The lock of one queue."""

    held: Bool                              # mqLockTable has an entry
    holder: Client                          # … of this client id
    age: Ms                                 # … since its lastUpdateTimestamp
    seen: Table[Client, Bool]               # the fast path has compared the client id, and not yet the time
    granted: Table[Client, Bool]            # LOCK_BATCH_MQ was answered, the answer is on its way
    wait: Table[Client, Ms]                 # … since then
    locked: Table[Client, Bool]             # ProcessQueue.locked
    since: Table[Client, Ms]                # since lastLockTimestamp
    unlocking: Table[Client, Bool]          # a delayed unlock is scheduled
    working: Table[Client, Bool]            # a listener has a batch of the queue
    worked: Table[Client, Ms]               # … since then
    lease: Ghost[Table[Client, Bool]]       # the broker granted the lock and heard of no unlock
    lease_age: Ghost[Table[Client, Ms]]     # … since then
    belief_age: Ghost[Table[Client, Ms]]    # since the broker's stamp behind the client's belief
    batch_age: Ghost[Table[Client, Ms]]     # since the broker's stamp behind the batch
    client_live: Constant[Ms]               # ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME, 30 s
    broker_live: Constant[Ms]               # RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME, 60 s
    rpc_max: Constant[Ms]                   # from the broker's stamp to the client's stamp
    batch_max: Constant[Ms]                 # what a listener takes


@initially
def free(s: OrderLock) -> Bool:
    """Nobody has or believes to have the lock."""
    return ~s.held & forall(~s.seen[c] & ~s.granted[c] & ~s.locked[c] & ~s.unlocking[c] & ~s.working[c] & ~s.lease[c]
                            for c in every(Client))


def live(s: OrderLock, c: Client) -> Bool:
    """ProcessQueue#isLocked and not #isLockExpired: the client believes to hold the lock."""
    return s.locked[c] & (s.since[c] <= s.client_live)


def stamp(s: OrderLock, c: Client) -> None:
    """The broker's entry is this client's from now on, and the answer goes out."""
    s.age = Ms.of(0)
    s.granted[c] = TRUE
    s.wait[c] = Ms.of(0)
    s.lease[c] = TRUE
    s.lease_age[c] = Ms.of(0)


@promise
def one_request_at_a_time(s: OrderLock, c: Client) -> Bool:
    """A client asks for the lock of a queue again when its last request was answered or given up."""
    return ~s.granted[c]


@action("RebalanceLockManager#tryLockBatch", atomic_by="the ReentrantLock of the slow path")
def grant(s: OrderLock, c: Client) -> None:
    """No entry, an own entry or an expired one: granted."""
    assume(one_request_at_a_time, s, c)
    require(~s.held | (s.holder == c) | (s.broker_live < s.age), by="RebalanceLockManager#tryLockBatch")
    s.held = TRUE
    s.holder = c
    stamp(s, c)


@action("RebalanceLockManager#tryLockBatch: LockEntry#isLocked reads the client id")
def fast_read(s: OrderLock, c: Client) -> None:
    """The fast path holds no lock: it sees that the entry is its client's."""
    assume(one_request_at_a_time, s, c)
    require(s.held, s.holder == c, by="LockEntry#isLocked")
    s.seen[c] = TRUE


@action("RebalanceLockManager#tryLockBatch: LockEntry#isExpired, then setLastUpdateTimestamp")
def fast_grant(s: OrderLock, c: Client) -> None:
    """The fast path sees that the entry, whosever it is by now, is not expired, and grants the lock."""
    require(s.seen[c], s.held, s.age <= s.broker_live, by="LockEntry#isExpired")
    s.seen[c] = FALSE
    stamp(s, c)


@action("RebalanceLockManager#tryLockBatch: the fast path gives way to the slow one")
def fast_miss(s: OrderLock, c: Client) -> None:
    """The fast path sees that the entry is expired or gone."""
    require(s.seen[c], ~s.held | (s.broker_live < s.age), by="LockEntry#isExpired")
    s.seen[c] = FALSE


@action("RebalanceImpl#lock, #lockAll")
def answer(s: OrderLock, c: Client) -> None:
    """The answer arrives: the client stamps its own time."""
    require(s.granted[c], by="NettyRemotingAbstract#processResponseCommand")
    s.belief_age[c] = s.wait[c]
    s.granted[c] = FALSE
    s.locked[c] = TRUE
    s.since[c] = Ms.of(0)


@action("the network", environment=True)
def lose_answer(s: OrderLock, c: Client) -> None:
    """The answer is lost, or comes after the time-out."""
    require(s.granted[c], by="NettyRemotingAbstract#scanResponseTable")
    s.granted[c] = FALSE


@action("RebalanceImpl#lockAll: not in the answer")
def refuse(s: OrderLock, c: Client) -> None:
    """The broker granted the queue to somebody else."""
    require(s.locked[c], by="RebalanceImpl#lockAll")
    s.locked[c] = FALSE


@action("RebalancePushImpl#unlockDelay: nothing is cached")
def unlock(s: OrderLock, c: Client) -> None:
    """The queue goes to another member; the lock is given back at once, answers under way find no process queue."""
    require(s.locked[c], ~s.working[c], by="RebalancePushImpl#removeUnnecessaryMessageQueue")
    s.locked[c] = FALSE
    s.granted[c] = FALSE
    s.held = s.held & ~(s.holder == c)
    s.lease[c] = FALSE


@action("RebalancePushImpl#unlockDelay: messages are cached")
def drop_later(s: OrderLock, c: Client) -> None:
    """The queue goes to another member; the unlock follows in 20 s, whatever happens until then."""
    require(s.locked[c], ~s.working[c], by="RebalancePushImpl#removeUnnecessaryMessageQueue")
    s.locked[c] = FALSE
    s.granted[c] = FALSE
    s.unlocking[c] = TRUE


@action("RebalancePushImpl#unlockDelay: the timer")
def unlock_late(s: OrderLock, c: Client) -> None:
    """The delayed unlock frees the entry, although the client may have it anew (D9)."""
    require(s.unlocking[c], by="RebalancePushImpl#unlockDelay")
    s.unlocking[c] = FALSE
    s.held = s.held & ~(s.holder == c)
    s.lease[c] = FALSE


@action("ConsumeMessageOrderlyService.ConsumeRequest#run")
def work(s: OrderLock, c: Client) -> None:
    """A batch starts; belief is tested now and not again until it ends."""
    require(live(s, c), ~s.working[c], by="ConsumeMessageOrderlyService.ConsumeRequest#run")
    s.batch_age[c] = s.belief_age[c]
    s.working[c] = TRUE
    s.worked[c] = Ms.of(0)


@action("ConsumeMessageOrderlyService#processConsumeResult")
def finish(s: OrderLock, c: Client) -> None:
    """The batch ends."""
    require(s.working[c], by="ConsumeMessageOrderlyService#processConsumeResult")
    s.working[c] = FALSE


@action("kill -9", environment=True)
def crash(s: OrderLock, c: Client) -> None:
    """A client ends; the broker's entry stays."""
    s.granted[c] = FALSE
    s.locked[c] = FALSE
    s.unlocking[c] = FALSE
    s.working[c] = FALSE


@action("BrokerController restarted, or another master", environment=True)
def restart(s: OrderLock) -> None:
    """The lock table is in memory only (D8)."""
    s.held = FALSE
    for c in every(Client):
        s.seen[c] = FALSE
        s.lease[c] = FALSE


@promise
def answers_come_in_time(s: OrderLock, by: Ms) -> Bool:
    """From the broker's stamp to the client's it takes rpc_max at most."""
    return forall(s.granted[c].implies(s.wait[c] + by <= s.rpc_max) for c in every(Client))


@promise
def batches_end_in_time(s: OrderLock, by: Ms) -> Bool:
    """A listener works on a batch for batch_max at most."""
    return forall(s.working[c].implies(s.worked[c] + by <= s.batch_max) for c in every(Client))


@action("time", environment=True)
def elapse(s: OrderLock, by: Ms) -> None:
    """Time passes: an answer takes at most rpc_max, a batch at most batch_max."""
    require(by > 0, by="clock_gettime(2)")
    assume(answers_come_in_time, s, by)
    assume(batches_end_in_time, s, by)
    s.age = s.age + by
    for c in every(Client):
        s.wait[c] = s.wait[c] + by
        s.since[c] = s.since[c] + by
        s.worked[c] = s.worked[c] + by
        s.lease_age[c] = s.lease_age[c] + by
        s.belief_age[c] = s.belief_age[c] + by
        s.batch_age[c] = s.batch_age[c] + by


class Locking(OrderLock):
    """The lock of one queue, in the implementation's steps."""


@action("RebalanceImpl#lock, #lockAll: another answer")
def answer_again(s: Locking, c: Client) -> None:
    """A second answer arrives, of a request that was made beside the first."""
    s.locked[c] = TRUE
    s.since[c] = Ms.of(0)


@action("RebalanceImpl#updateProcessQueueTableInRebalance: setLocked, of later versions")
def take_locked(s: Locking, c: Client) -> None:
    """The answer has come, and the queue is taken as one that is locked since its process queue was made."""
    require(s.granted[c], by="NettyRemotingAbstract#processResponseCommand")
    s.granted[c] = FALSE
    s.locked[c] = TRUE


@action("RebalancePushImpl#unlockDelay: the lock was never believed in")
def drop_unlocked(s: Locking, c: Client) -> None:
    """A queue is dropped whose lock was granted for its taking, and not renewed since."""
    require(~s.locked[c], by="RebalancePushImpl#unlockDelay")
    s.granted[c] = FALSE
    s.unlocking[c] = TRUE


@action("RebalanceLockManager#unlockBatch: nobody waits for it")
def unlock_beside(s: Locking, c: Client) -> None:
    """An unlock of a process that ends or is gone, or one that the network has delivered twice."""
    s.held = s.held & ~(s.holder == c)
    s.lease[c] = FALSE


@action("RebalanceLockManager#tryLockBatch: LockEntry#setLastUpdateTimestamp of an entry that has gone, or expired")
def fast_stamp(s: Locking, c: Client) -> None:
    """The fast path has read id and time before; by now the entry has expired, or is not the table's any more."""
    s.granted[c] = TRUE
    s.lease[c] = TRUE
    s.lease_age[c] = Ms.of(0)


class Abandoned(State):
    """A contender tries again and again for a lock whose owner is gone."""

    taken: Bool                # the contender has it
    age: Ms                    # since the gone owner's last renewal
    waited: Ms                 # since it has gone
    tried: Ms                  # since the contender's last attempt
    broker_live: Constant[Ms]  # 60 s
    retry: Constant[Ms]        # 20 s and the call


@initially
def gone(s: Abandoned) -> Bool:
    """The owner ends right now; it renewed some time ago."""
    return ~s.taken & (s.waited == 0) & (s.tried == 0)


@action("RebalanceLockManager#tryLockBatch")
def attempt(s: Abandoned) -> None:
    """The contender asks; only an expired entry is given away."""
    require(~s.taken, by="RebalanceImpl#lock")
    s.taken = s.broker_live < s.age
    s.tried = Ms.of(0)


@action("ConsumeMessageOrderlyService#lockMQPeriodically of the owner, its process queue dropped")
def renew(s: Abandoned) -> None:
    """A batch that never returns keeps the dropped process queue in the table, and lockAll renews its lock (U6)."""
    require(~s.taken, by="RebalanceLockManager#tryLockBatch")
    s.age = Ms.of(0)


@promise
def contender_tries_in_time(s: Abandoned, by: Ms) -> Bool:
    """Who wants the lock asks at least once a retry period."""
    return s.taken | (s.tried + by <= s.retry)


@action("time", environment=True)
def pass_by(s: Abandoned, by: Ms) -> None:
    """Time passes; the contender tries once a retry period."""
    require(by > 0, by="clock_gettime(2)")
    assume(contender_tries_in_time, s, by)
    s.age = s.age + by
    s.waited = s.waited + by
    s.tried = s.tried + by
