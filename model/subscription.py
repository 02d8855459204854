"""What a broker believes that a group subscribes: one table per group, overwritten by every heartbeat.

`Subscriptions` has the table, as one step per heartbeat and at the grain of threads (B-1, B-2, B-3, L3, L4); `Versions`
has one topic of it at a finer grain (B-29); `Filters` has the compiled SQL92 expression beside it (B-26).
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Ghost,
    Maybe,
    Nat,
    Rigid,
    Sort,
    State,
    Table,
    action,
    assume,
    every,
    exists,
    forall,
    initially,
    ite,
    none,
    promise,
    require,
    some,
)


class Member(Sort):
    """A consumer of the group."""


class Topic(Sort):
    """A topic."""


class Expression(Sort):
    """A filter expression: tags, or SQL92."""


class Version(Nat):
    """A subVersion: the wall clock of the member that made the subscription."""


class Phase(Choice):
    """Where a heartbeat's thread stands."""

    IDLE: Phase
    ADDING: Phase
    REMOVING: Phase


class Subscriptions(State):
    """ConsumerGroupInfo.subscriptionTable of one group at one broker."""

    listed: Table[Member, Bool]                         # the member is registered
    answered: Table[Member, Bool]                       # … and a heartbeat of it was answered
    subscribed: Table[Topic, Bool]                      # the table has the topic
    version: Table[Topic, Version]                      # … with this subVersion
    expression: Table[Topic, Expression]                # … and this expression
    stamp: Table[tuple[Member, Topic], Version]         # the member's own subVersion
    text: Table[tuple[Member, Topic], Expression]       # the member's own expression
    phase: Table[Member, Phase]                         # of the thread that handles its heartbeat
    todo: Table[tuple[Member, Topic], Bool]             # topics that this thread has still to handle
    last: Ghost[Maybe[Member]]                          # the last step was a whole heartbeat of this member
    wants: Rigid[tuple[Member, Topic], Bool]            # the member subscribes the topic
    first_text: Rigid[tuple[Member, Topic], Expression]  # … at first with this expression


@initially
def no_members(s: Subscriptions) -> Bool:
    """Nobody is registered."""
    return (s.last.absent & forall(~s.subscribed[t] for t in every(Topic))
            & forall(~s.listed[m] & ~s.answered[m] & (s.phase[m] == Phase.IDLE) for m in every(Member))
            & forall((s.text[m, t] == s.first_text[m, t]) & ~s.todo[m, t] for m, t in every(Member, Topic)))


def newer(s: Subscriptions, m: Member, t: Topic) -> Bool:
    """ConsumerGroupInfo#updateSubscription: a topic that is there is replaced by a greater subVersion only."""
    return ~s.subscribed[t] | (s.version[t] < s.stamp[m, t])


@action("ConsumerManager#registerConsumer", atomic_by="a lock that 4.9.3 does not have")
def heartbeat(s: Subscriptions, m: Member) -> None:
    """The member's topics are put or replaced, all others are removed."""
    require(s.phase[m] == Phase.IDLE, by="MQClientInstance#sendHeartbeatToAllBrokerWithLock")
    s.listed[m] = TRUE
    s.answered[m] = TRUE
    for t in every(Topic):
        s.expression[t] = ite(s.wants[m, t] & newer(s, m, t), s.text[m, t], s.expression[t])
        s.version[t] = ite(s.wants[m, t] & newer(s, m, t), s.stamp[m, t], s.version[t])
    for t in every(Topic):
        s.subscribed[t] = s.wants[m, t]
    s.last = some(m)


@action("RebalancePushImpl#messageQueueChanged: subVersion := now")
def restamp(s: Subscriptions, m: Member, t: Topic, v: Version) -> None:
    """A rebalance that changed something stamps the subscription with the member's wall clock, which may be any."""
    s.stamp[m, t] = v
    s.last = none(Member)


@action("DefaultMQPushConsumerImpl#subscribe")
def change_expression(s: Subscriptions, m: Member, t: Topic, e: Expression, v: Version) -> None:
    """A member changes its mind at run time; its clock may be behind the table's version (L4)."""
    s.text[m, t] = e
    s.stamp[m, t] = v
    s.last = none(Member)


@promise
def leaves_wait_for_heartbeats(s: Subscriptions, m: Member) -> Bool:
    """A member goes, and its connection closes, when its last heartbeat was handled."""
    return s.phase[m] == Phase.IDLE


@action("ConsumerManager#unregisterConsumer, #doChannelCloseEvent, #scanNotActiveChannel")
def leave(s: Subscriptions, m: Member) -> None:
    """A member goes; its topics stay, unless the group ends with it."""
    require(s.listed[m], by="ConsumerGroupInfo#unregisterChannel")
    assume(leaves_wait_for_heartbeats, s, m)
    alone = ~exists(s.listed[x] & ~(x == m) for x in every(Member))
    for t in every(Topic):
        s.subscribed[t] = s.subscribed[t] & ~alone
    s.listed[m] = FALSE
    s.answered[m] = FALSE
    s.last = none(Member)


@action("ConsumerGroupInfo#updateChannel")
def begin(s: Subscriptions, m: Member) -> None:
    """A heartbeat's thread has put the channel and starts with its topics; no lock is held."""
    require(s.phase[m] == Phase.IDLE, by="MQClientInstance#sendHeartbeatToAllBrokerWithLock")
    s.phase[m] = Phase.ADDING
    s.listed[m] = TRUE
    for t in every(Topic):
        s.todo[m, t] = s.wants[m, t]
    s.last = none(Member)


@action("ConsumerGroupInfo#updateSubscription: first loop", atomic_by="a lock that 4.9.3 does not have: see Versions")
def add_topic(s: Subscriptions, m: Member, t: Topic) -> None:
    """The thread puts one topic of its heartbeat, or replaces an older version of it."""
    require(s.phase[m] == Phase.ADDING, s.todo[m, t], by="ConsumerGroupInfo#updateSubscription")
    s.expression[t] = ite(newer(s, m, t), s.text[m, t], s.expression[t])
    s.version[t] = ite(newer(s, m, t), s.stamp[m, t], s.version[t])
    s.subscribed[t] = TRUE
    s.todo[m, t] = FALSE
    s.last = none(Member)


@action("ConsumerGroupInfo#updateSubscription: second loop begins")
def turn(s: Subscriptions, m: Member) -> None:
    """The thread has put its topics, and notes those of the table that its heartbeat lacks."""
    require(s.phase[m] == Phase.ADDING, forall(~s.todo[m, t] for t in every(Topic)),
            by="ConsumerGroupInfo#updateSubscription")
    s.phase[m] = Phase.REMOVING
    for t in every(Topic):
        s.todo[m, t] = s.subscribed[t] & ~s.wants[m, t]
    s.last = none(Member)


@action("ConsumerGroupInfo#updateSubscription: second loop")
def remove_topic(s: Subscriptions, m: Member, t: Topic) -> None:
    """The thread removes one topic that its heartbeat lacks."""
    require(s.phase[m] == Phase.REMOVING, s.todo[m, t], by="ConsumerGroupInfo#updateSubscription")
    s.subscribed[t] = FALSE
    s.todo[m, t] = FALSE
    s.last = none(Member)


@action("ClientManageProcessor#heartBeat answers")
def done(s: Subscriptions, m: Member) -> None:
    """The thread has removed them all, and answers SUCCESS."""
    require(s.phase[m] == Phase.REMOVING, forall(~s.todo[m, t] for t in every(Topic)),
            by="ConsumerGroupInfo#updateSubscription")
    s.phase[m] = Phase.IDLE
    s.answered[m] = TRUE
    s.last = none(Member)


class Intent(Choice):
    """What a heartbeat's thread is about to do with the topic that it has looked up."""

    NOTHING: Intent
    PUT: Intent
    PUT_IF_ABSENT: Intent


class Versions(State):
    """One topic in ConsumerGroupInfo.subscriptionTable, whose heartbeats look it up and put it without a lock."""

    present: Bool                           # the table has the topic
    current: Version                        # … with this subVersion
    carries: Table[Member, Version]         # the subVersion in the member's heartbeat
    intent: Table[Member, Intent]           # of the thread that handles it
    handled: Ghost[Table[Member, Bool]]     # it has passed the topic, which has stayed in the table since


@initially
def no_versions(s: Versions) -> Bool:
    """The table does not have the topic, and no heartbeat is being handled."""
    return ~s.present & forall((s.intent[m] == Intent.NOTHING) & ~s.handled[m] for m in every(Member))


@action("ConsumerGroupInfo#updateSubscription: subscriptionTable.get")
def look_up(s: Versions, m: Member, v: Version) -> None:
    """A heartbeat's thread looks the topic up; a version that is not newer is passed over."""
    require(s.intent[m] == Intent.NOTHING, by="ConsumerGroupInfo#updateSubscription")
    replaces = ite(s.current < v, Intent.PUT, Intent.NOTHING)
    s.carries[m] = v
    s.intent[m] = ite(s.present, replaces, Intent.PUT_IF_ABSENT)
    s.handled[m] = s.present & (v <= s.current)


@action("ConsumerGroupInfo#updateSubscription: subscriptionTable.put")
def put_newer(s: Versions, m: Member) -> None:
    """The thread puts its version, which was newer than the one that it has seen."""
    require(s.intent[m] == Intent.PUT, by="ConsumerGroupInfo#updateSubscription")
    s.present = TRUE
    s.current = s.carries[m]
    s.intent[m] = Intent.NOTHING
    s.handled[m] = TRUE


@action("ConsumerGroupInfo#updateSubscription: subscriptionTable.putIfAbsent")
def put_if_absent(s: Versions, m: Member) -> None:
    """The thread puts its version if nobody has put one since, and drops it otherwise, newer or not."""
    require(s.intent[m] == Intent.PUT_IF_ABSENT, by="ConsumerGroupInfo#updateSubscription")
    s.current = ite(s.present, s.current, s.carries[m])
    s.present = TRUE
    s.intent[m] = Intent.NOTHING
    s.handled[m] = TRUE


@action("ConsumerGroupInfo#updateSubscription: first loop", atomic_by="a lock that 4.9.3 does not have")
def take_newer(s: Versions, m: Member, v: Version) -> None:
    """Both at once."""
    require(s.intent[m] == Intent.NOTHING, by="ConsumerGroupInfo#updateSubscription")
    s.carries[m] = v
    s.current = ite(~s.present | (s.current < v), v, s.current)
    s.present = TRUE
    s.handled[m] = TRUE


@action("ConsumerGroupInfo#updateSubscription: second loop; ConsumerManager#unregisterConsumer")
def drop_topic(s: Versions) -> None:
    """Another member's heartbeat removes the topic, or the group ends."""
    require(s.present, by="ConsumerManager#unregisterConsumer, ConsumerGroupInfo#updateSubscription")
    s.present = FALSE
    for m in every(Member):
        s.handled[m] = FALSE


class Filters(State):
    """One SQL92 topic: the subscription table's version and ConsumerFilterManager's compiled expression."""

    present: Bool                          # the subscription table has the topic
    version: Version                       # … with this subVersion
    compiled: Bool                         # ConsumerFilterManager has data for it
    compiled_version: Version              # … of this subVersion
    stamp: Table[Member, Version]          # the member's own subVersion
    answered: Table[Member, Bool]          # its heartbeat of that subVersion was answered
    compiles: Rigid[Member, Bool]          # the broker can compile the member's expression


@initially
def no_filters(s: Filters) -> Bool:
    """Nobody is registered."""
    return ~s.present & ~s.compiled & forall(~s.answered[m] for m in every(Member))


@action("ConsumerManager#registerConsumer, ConsumerFilterManager#register", atomic_by="a lock that 4.9.3 does not have")
def heartbeat_sql(s: Filters, m: Member) -> None:
    """The table takes the greater version uncompiled; the filter follows, and is removed if it cannot compile."""
    greater = ~s.compiled | (s.compiled_version < s.stamp[m])
    s.compiled_version = ite(greater & s.compiles[m], s.stamp[m], s.compiled_version)
    s.version = ite(~s.present | (s.version < s.stamp[m]), s.stamp[m], s.version)
    s.present = TRUE
    s.compiled = ite(greater, s.compiles[m], TRUE)
    s.answered[m] = TRUE


@action("RebalancePushImpl#messageQueueChanged: subVersion := now")
def restamp_sql(s: Filters, m: Member, v: Version) -> None:
    """A member's subscription gets a new version; its next heartbeat will carry it."""
    s.stamp[m] = v
    s.answered[m] = FALSE
