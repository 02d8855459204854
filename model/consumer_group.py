"""One consumer group: what each member believes about the others, and which queues it therefore holds.

`Ownership` is the heart: membership at the brokers, the id list that a member fetched, the queues it took. `Group` is
that from the start on (D1, D6, U4), `Rebalancing` the same queue by queue, as implementations are followed; `Running`
begins in a settled group whose members stay (D2, D4).
`Convergence` adds time: when the changes end, how long until everybody holds the right queues.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Ghost,
    Nat,
    Rigid,
    Set,
    Sort,
    State,
    Table,
    action,
    assume,
    empty,
    every,
    exists,
    forall,
    initially,
    ite,
    promise,
    require,
    setof,
)


class Broker(Sort):
    """A broker that hosts queues of the topic."""


class Member(Sort):
    """A process with a consumer of the group; one connection per broker."""


class Queue(Sort):
    """A message queue of the one topic."""


class Ms(Nat, saturates=True):
    """Milliseconds since something happened, or a period."""


class Sharing(State):
    """What decides who gets a queue: the strategy, and how processes and client ids hang together."""

    share: Rigid[tuple[Set[Member], Member, Queue], Bool]  # the strategy: given the id list, the slot has the queue
    subscribes: Rigid[Member, Bool]                        # whether the member subscribes the topic
    leader: Rigid[Member, Member]                          # first process with the same client id (itself: ids differ)


def takes(s: Sharing, m: Member, view: Set[Member], q: Queue) -> Bool:
    """RebalanceImpl#rebalanceByTopic: the strategy uses the first position of the own id in the list."""
    slot = ite(view.has(s.leader[m]), s.leader[m], m)
    return view.has(m) & s.share[view, slot, q]


class Ownership(Sharing):
    """Membership, member views and ownership."""

    up: Table[Member, Bool]                     # the process runs
    listed: Table[tuple[Broker, Member], Bool]  # ConsumerGroupInfo.channelInfoTable, per broker
    answer: Table[Member, Set[Member]]          # the id list last fetched
    fetched: Table[Member, Bool]                # … and not applied yet
    holds: Table[tuple[Member, Queue], Bool]    # RebalanceImpl.processQueueTable, not dropped
    heard: Ghost[Table[Member, Bool]]           # the id list was answered since any broker's list changed
    rebalanced: Ghost[Table[Member, Bool]]      # … and a rebalance by that list has ended since then


def forget_what_was_heard(s: Ownership, changes: Bool) -> None:
    """A broker's list changes, or not: what was answered before counts no more."""
    for m in every(Member):
        s.heard[m] = s.heard[m] & ~changes
        s.rebalanced[m] = s.rebalanced[m] & ~changes


@action("DefaultMQPushConsumerImpl#start")
def start(s: Ownership, m: Member) -> None:
    """A process starts; it holds nothing yet."""
    require(~s.up[m], by="DefaultMQPushConsumerImpl#start")
    s.up[m] = TRUE


@action("ConsumerManager#registerConsumer", flow="m -> b")
def heartbeat(s: Ownership, b: Broker, m: Member) -> None:
    """A broker hears of a member; the network may deliver this after the member's end."""
    forget_what_was_heard(s, ~s.listed[b, m])
    s.listed[b, m] = TRUE


@action("ConsumerManager#doChannelCloseEvent, #scanNotActiveChannel", environment=True, flow="m -> b")
def forget(s: Ownership, b: Broker, m: Member) -> None:
    """Close, expiry or a partition: one broker loses one member, dead or alive."""
    forget_what_was_heard(s, s.listed[b, m])
    s.listed[b, m] = FALSE


def hear(s: Ownership, b: Broker, m: Member) -> None:
    """A member has a broker's list; one that says the same as the last asks for nothing."""
    s.heard[m] = TRUE
    s.rebalanced[m] = s.rebalanced[m] & forall(s.answer[m].has(x).iff(s.listed[b, x]) for x in every(Member))


@action("MQClientInstance#findConsumerIdList", flow="b -> m")
def fetch(s: Ownership, b: Broker, m: Member) -> None:
    """Any broker of the topic is asked; an empty group is an error and changes nothing."""
    require(s.up[m], s.subscribes[m], exists(s.listed[b, x] for x in every(Member)),
            by="RebalanceImpl#rebalanceByTopic, ConsumerManageProcessor#getConsumerListByGroup")
    hear(s, b, m)
    s.answer[m] = setof(Member, lambda x: s.listed[b, x])
    s.fetched[m] = TRUE


@action("RebalanceImpl#updateProcessQueueTableInRebalance", atomic_by="RebalanceService, one thread per instance")
def apply(s: Ownership, m: Member) -> None:
    """The fetched list decides what the member holds from now on."""
    require(s.fetched[m], s.up[m], by="RebalanceImpl#rebalanceByTopic")
    for q in every(Queue):
        s.holds[m, q] = takes(s, m, s.answer[m], q)
    s.fetched[m] = FALSE
    s.rebalanced[m] = s.heard[m]


@action("kill -9", environment=True)
def crash(s: Ownership, m: Member) -> None:
    """A process ends; the brokers learn of it later."""
    require(s.up[m], by="kill(2)")
    s.up[m] = FALSE
    s.fetched[m] = FALSE
    s.heard[m] = FALSE
    s.rebalanced[m] = FALSE
    for q in every(Queue):
        s.holds[m, q] = FALSE


class Group(Ownership):
    """A group from its first member on."""


@initially
def nobody(s: Group) -> Bool:
    """No process runs."""
    return (forall(~s.up[m] & ~s.fetched[m] & (s.answer[m] == empty(Member)) & ~s.heard[m] & ~s.rebalanced[m]
                   for m in every(Member))
            & forall(~s.listed[b, m] for b, m in every(Broker, Member))
            & forall(~s.holds[m, q] for m, q in every(Member, Queue)))


class Rebalancing(Group, without=("apply",)):
    """A group whose members take what a list gives them one queue after another.

    A queue of its share that a member cannot lock, or whose offset it cannot read, stays away for now: such a run has
    ended, and the member has not `rebalanced`. Neither has one whose route has changed so lately that the run may have
    divided the queues of the former one.
    """

    gives: Rigid[tuple[Member, Set[Member], Queue], Bool]   # by its own strategy and route the member gets the queue
    spares: Rigid[tuple[Member, Set[Member], Queue], Bool]  # … it does not; both, while its route changes


@action("RebalanceImpl#updateProcessQueueTableInRebalance: putIfAbsent")
def take(s: Rebalancing, m: Member, q: Queue) -> None:
    """A member takes a queue that the list gives it."""
    require(s.up[m], s.fetched[m], ~s.holds[m, q], s.gives[m, s.answer[m], q],
            by="RebalanceImpl#updateProcessQueueTableInRebalance")
    s.holds[m, q] = TRUE
    s.rebalanced[m] = FALSE


@action("RebalanceImpl#updateProcessQueueTableInRebalance: setDropped")
def drop(s: Rebalancing, m: Member, q: Queue) -> None:
    """A member drops a queue that the list gives to somebody else."""
    require(s.fetched[m], s.holds[m, q], s.spares[m, s.answer[m], q],
            by="RebalanceImpl#updateProcessQueueTableInRebalance")
    s.holds[m, q] = FALSE
    s.rebalanced[m] = FALSE


@action("ProcessQueue#isPullExpired, RebalanceImpl#truncateMessageQueueNotMyTopic, #destroy, "
        "MQClientInstance#resetOffset, PullCallback#onSuccess with OFFSET_ILLEGAL", environment=True)
def give_up(s: Rebalancing, m: Member, q: Queue) -> None:
    """A queue is dropped whatever the list says: no pull for 120 s, no subscription, a shutdown, a reset, no offset."""
    require(s.holds[m, q], by="RebalanceImpl#removeUnnecessaryMessageQueue")
    s.holds[m, q] = FALSE
    s.rebalanced[m] = FALSE


@action("RebalanceImpl#rebalanceByTopic", atomic_by="RebalanceService, one thread per instance")
def settle(s: Rebalancing, m: Member) -> None:
    """A run has ended: the member holds nothing but what the list gives it."""
    require(s.up[m], s.fetched[m],
            forall(s.holds[m, q].implies(s.gives[m, s.answer[m], q]) for q in every(Queue)),
            by="RebalanceImpl#rebalanceByTopic")
    s.rebalanced[m] = s.heard[m] & forall(
        s.gives[m, s.answer[m], q].implies(s.holds[m, q] & ~s.spares[m, s.answer[m], q]) for q in every(Queue))
    s.fetched[m] = FALSE


@action("RebalanceImpl#rebalanceByTopic beside another run")
def settle_beside(s: Rebalancing, m: Member) -> None:
    """One of two runs has ended; which of the lists it had cannot be told."""
    require(s.up[m], by="RebalanceImpl#rebalanceByTopic")
    s.fetched[m] = FALSE
    s.rebalanced[m] = FALSE


class Running(Ownership, without=("start", "crash")):
    """A settled group whose members all live on; some brokers have just restarted and know nobody."""

    restarted: Rigid[Broker, Bool]


@initially
def everybody_holds_its_share(s: Running) -> Bool:
    """Everybody runs, has applied the full list and holds its share."""
    full = setof(Member, lambda x: s.up[x])
    return (forall(s.up[m] & ~s.fetched[m] & (s.answer[m] == full) & ~s.heard[m] & ~s.rebalanced[m]
                   for m in every(Member))
            & forall(s.listed[b, m].iff(~s.restarted[b]) for b, m in every(Broker, Member))
            & forall(s.holds[m, q].iff(takes(s, m, full, q)) for m, q in every(Member, Queue)))


class Convergence(Sharing):
    """Membership changes and rebalance runs in time; an id list is fetched and applied in one step.

    The environment keeps its deadlines: a living member runs at least every `period` (RebalanceService, 20 s, and the
    run itself); the brokers' list is the living `lag` after the last change (heartbeat 30 s, expiry 120 s, scan 10 s).
    """

    alive: Table[Member, Bool]        # the process runs
    listed: Table[Member, Bool]       # the id list that brokers answer
    view: Table[Member, Set[Member]]  # the id list last applied
    ran: Table[Member, Ms]            # since the end of the last rebalance run
    calm: Ms                          # since the last start or end of a process
    steady: Ms                        # since the id list changed last
    period: Constant[Ms]
    lag: Constant[Ms]


def stale(s: Convergence) -> Bool:
    """The brokers' list differs from the living members."""
    return exists(~s.listed[m].iff(s.alive[m]) for m in every(Member))


@initially
def nobody_alive(s: Convergence) -> Bool:
    """No process runs."""
    nobody_there = forall(~s.alive[m] & ~s.listed[m] & (s.view[m] == empty(Member)) & (s.ran[m] == 0)
                          for m in every(Member))
    return (s.calm == 0) & (s.steady == 0) & nobody_there


@action("DefaultMQPushConsumerImpl#start")
def join(s: Convergence, m: Member) -> None:
    """A member starts: it is registered, and runs its first rebalance within the period."""
    require(~s.alive[m], by="DefaultMQPushConsumerImpl#start")
    s.alive[m] = TRUE
    s.view[m] = empty(Member)
    s.ran[m] = Ms.of(0)
    s.calm = Ms.of(0)


@action("DefaultMQPushConsumerImpl#shutdown, kill -9", environment=True)
def end(s: Convergence, m: Member) -> None:
    """A member ends; what it held is free."""
    require(s.alive[m], by="kill(2)")
    s.alive[m] = FALSE
    s.view[m] = empty(Member)
    s.calm = Ms.of(0)


@action("ConsumerManager#registerConsumer, #unregisterConsumer, #doChannelCloseEvent, #scanNotActiveChannel")
def learn(s: Convergence, m: Member) -> None:
    """The brokers' list takes note of one member's start or end."""
    require(~s.listed[m].iff(s.alive[m]), by="ConsumerGroupInfo#updateChannel")
    s.listed[m] = s.alive[m]
    s.steady = Ms.of(0)


@action("RebalanceService#run")
def run(s: Convergence, m: Member) -> None:
    """One rebalance: by the timer, or earlier because a notification came; nobody relies on the notification."""
    require(s.alive[m], by="RebalanceService#run")
    s.view[m] = setof(Member, lambda x: s.listed[x])
    s.ran[m] = Ms.of(0)


@promise
def rebalances_run_in_time(s: Convergence, by: Ms) -> Bool:
    """A living member rebalances at least once a period."""
    return forall(s.alive[m].implies(s.ran[m] + by <= s.period) for m in every(Member))


@promise
def lists_follow_in_time(s: Convergence, by: Ms) -> Bool:
    """The brokers' list is the living one lag after a start or an end."""
    return stale(s).implies(s.calm + by <= s.lag)


@promise
def the_living_are_listed(s: Convergence) -> Bool:
    """Every living member is in the brokers' list."""
    return forall(s.alive[m].implies(s.listed[m]) for m in every(Member))


def pass_time(s: Convergence, by: Ms) -> None:
    """Every clock goes on; a living member does not exceed its period."""
    require(by > 0, by="clock_gettime(2)")
    assume(rebalances_run_in_time, s, by)
    s.calm = s.calm + by
    s.steady = s.steady + by
    for m in every(Member):
        s.ran[m] = s.ran[m] + by


@action("time", environment=True)
def elapse(s: Convergence, by: Ms) -> None:
    """Time passes, but no further than to the next deadline."""
    assume(lists_follow_in_time, s, by)
    pass_time(s, by)


@action("time; ClientManageProcessor#heartBeat, one ClientChannelInfo for all groups", environment=True)
def elapse_beside_a_ghost(s: Convergence, by: Ms) -> None:
    """Time passes although a dead member stays in the list: another group of its client refreshes it (B-10)."""
    assume(the_living_are_listed, s)
    pass_time(s, by)
