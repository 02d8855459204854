"""A pull that waits at the broker for a message, with ages instead of clocks.

`LongPolling` is one pull of a queue that has nothing for it, PullRequestHoldService, and whatever lets it be answered
(P8, P13).
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Constant,
    Nat,
    State,
    action,
    assume,
    initially,
    ite,
    promise,
    require,
)


class Ms(Nat, saturates=True):
    """Milliseconds since something happened, or a span of them."""


class Phase(Choice):
    """Where a pull is."""

    WITH_CLIENT: Phase   # it was answered, or not sent yet
    LOOKED: Phase        # the broker has found nothing for it, and not put it away yet
    HELD: Phase          # pullRequestTable has it
    WOKEN: Phase         # it is with the pool that is to answer it
    LOST: Phase          # the pool has refused it


class LongPolling(State):
    """One pull of a queue."""

    phase: Phase
    there: Bool           # the queue has a message for it
    since: Ms             # … since then, while the pull waits
    longer: Bool          # the queue has messages that are none for it, since the broker has found nothing
    age: Ms               # since the broker has it
    scanned: Ms           # since PullRequestHoldService#checkHoldRequest
    hold_max: Constant[Ms]     # suspendTimeoutMillis, 15 s
    scan_period: Constant[Ms]  # 5 s


@initially
def idle(s: LongPolling) -> Bool:
    """Nothing is asked."""
    return (s.phase == Phase.WITH_CLIENT) & ~s.there & ~s.longer & (s.scanned == 0) & (s.age == 0) & (s.since == 0)


@action("PullMessageProcessor#processRequest: PULL_NOT_FOUND")
def look(s: LongPolling) -> None:
    """The pull comes to the broker, which finds nothing for it."""
    require(s.phase == Phase.WITH_CLIENT, by="DefaultMQPushConsumerImpl#pullMessage")
    s.phase = Phase.LOOKED
    s.there = FALSE
    s.longer = FALSE
    s.age = Ms.of(0)


@action("PullRequestHoldService#suspendPullRequest")
def put_away(s: LongPolling) -> None:
    """The pull is held from now on."""
    require(s.phase == Phase.LOOKED, by="PullMessageProcessor#processRequest")
    s.phase = Phase.HELD


@promise
def messages_meet_no_look(s: LongPolling) -> Bool:
    """No message arrives between a look at the queue and the moment from which the pull is held."""
    return s.phase != Phase.LOOKED


@action("NotifyMessageArrivingListener#arriving")
def arrive(s: LongPolling) -> None:
    """A message arrives, and wakes a pull that is held; one that is about to be held is not seen (P13)."""
    assume(messages_meet_no_look, s)
    s.since = ite(s.there, s.since, Ms.of(0))
    s.there = TRUE
    s.phase = ite(s.phase == Phase.HELD, Phase.WOKEN, s.phase)


@action("NotifyMessageArrivingListener#arriving: the filter of the pull does not match")
def arrive_beside(s: LongPolling) -> None:
    """A message arrives that is none for the pull; it wakes one that was held long enough."""
    s.longer = TRUE
    s.phase = ite((s.phase == Phase.HELD) & (s.hold_max <= s.age), Phase.WOKEN, s.phase)


@action("PullRequestHoldService#checkHoldRequest")
def scan(s: LongPolling) -> None:
    """Every five seconds what is held is woken if the queue is longer, filter or not, or if it was held long enough."""
    s.phase = ite((s.phase == Phase.HELD) & (s.there | s.longer | (s.hold_max <= s.age)), Phase.WOKEN, s.phase)
    s.scanned = Ms.of(0)


@action("PullMessageProcessor#executeRequestWhenWakeup")
def execute(s: LongPolling) -> None:
    """A pull that was woken is answered, with messages or without."""
    require(s.phase == Phase.WOKEN, by="PullMessageProcessor#executeRequestWhenWakeup")
    s.phase = Phase.WITH_CLIENT


@action("PullMessageProcessor#executeRequestWhenWakeup: RejectedExecutionException")
def refuse(s: LongPolling) -> None:
    """The pool is full and refuses a pull that was woken; nobody answers it (P8)."""
    require(s.phase == Phase.WOKEN, by="PullMessageProcessor#executeRequestWhenWakeup")
    s.phase = Phase.LOST


@action("NettyRemotingAbstract#scanResponseTable")
def time_out(s: LongPolling) -> None:
    """The client waits no more, and pulls again later."""
    require(s.phase != Phase.WITH_CLIENT, by="NettyRemotingAbstract#scanResponseTable")
    s.phase = Phase.WITH_CLIENT


@promise
def scans_run_in_time(s: LongPolling, by: Ms) -> Bool:
    """What is held is looked at once a scan period."""
    return s.scanned + by <= s.scan_period


@promise
def pools_work_at_once(s: LongPolling) -> Bool:
    """A pull that is to be held or to be answered does not wait for a thread."""
    return (s.phase != Phase.LOOKED) & (s.phase != Phase.WOKEN)


@action("time", environment=True)
def elapse(s: LongPolling, by: Ms) -> None:
    """Time passes."""
    require(by > 0, by="clock_gettime(2)")
    assume(scans_run_in_time, s, by)
    assume(pools_work_at_once, s)
    s.since = s.since + by
    s.age = s.age + by
    s.scanned = s.scanned + by
