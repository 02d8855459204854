"""How a broker knows the members of a group: heartbeats, leave-taking, expiry.

`Registration` is the consumer table at the grain of threads (no lock is held: B-7, B-8, B-9), `Registering` the same as
implementations are followed. `Membership` is the same table in time, for several groups over one connection (B-10,
B-11, B-17).
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Ghost,
    Maybe,
    Nat,
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


class Channel(Sort):
    """A connection from a client to this broker; a client that comes back comes on another one."""


class Info(Sort):
    """An object in memory: a ConsumerGroupInfo here, a ClientChannelInfo below."""


class Registration(State):
    """ConsumerManager.consumerTable for one group; heartbeats and leave-taking run in different thread pools."""

    current: Maybe[Info]                        # consumerTable.get(group)
    used: Table[Info, Bool]                     # the object was created before
    inside: Table[tuple[Info, Channel], Bool]   # its channelInfoTable
    wants: Table[Channel, Bool]                 # the client behind the connection is a member, as it sees it
    came: Table[Channel, Bool]                  # it was a member before
    queued: Table[Channel, Bool]                # its heartbeat waits for a thread
    got: Table[Channel, Maybe[Info]]            # the heartbeat's thread has this object, and has not put the channel in
    leaving: Table[Channel, Bool]               # its UNREGISTER_CLIENT, or the close event, waits for a thread
    emptied: Table[Channel, Bool]               # that thread has seen the group empty, and has not removed it yet
    answered: Ghost[Table[Channel, Bool]]       # a heartbeat was answered and the client has not left
    gone: Ghost[Table[Channel, Bool]]           # its leave-taking was executed


@initially
def no_group(s: Registration) -> Bool:
    """Nobody was ever there."""
    return (s.current.absent
            & forall(~s.used[i] & ~s.inside[i, c] for i, c in every(Info, Channel))
            & forall(~s.wants[c] & ~s.came[c] & ~s.queued[c] & s.got[c].absent & ~s.leaving[c] & ~s.emptied[c]
                     & ~s.answered[c] & ~s.gone[c] for c in every(Channel)))


@action("MQClientInstance#registerConsumer")
def join(s: Registration, c: Channel) -> None:
    """A client becomes a member."""
    require(~s.came[c], by="connect(2)")
    s.wants[c] = TRUE
    s.came[c] = TRUE


@action("MQClientInstance#sendHeartbeatToAllBroker")
def beat(s: Registration, c: Channel) -> None:
    """A member sends a heartbeat."""
    require(s.wants[c], ~s.queued[c], s.got[c].absent, by="MQClientInstance#sendHeartbeatToAllBrokerWithLock")
    s.queued[c] = TRUE


@promise
def leaves_quietly(s: Registration, c: Channel) -> Bool:
    """A member leaves when no heartbeat of it is on its way."""
    return ~s.queued[c] & s.got[c].absent


@action("MQClientInstance#unregisterConsumer, NettyRemotingAbstract.NettyEventExecutor#run")
def leave(s: Registration, c: Channel) -> None:
    """A member leaves, or its connection closes; in 4.9.3 also while its heartbeat waits in the other pool."""
    require(s.wants[c], by="MQClientInstance#unregisterConsumer")
    assume(leaves_quietly, s, c)
    s.wants[c] = FALSE
    s.leaving[c] = TRUE
    s.answered[c] = FALSE


def finds(s: Registration, i: Info) -> Bool:
    """ConsumerManager#registerConsumer: the object in the table, or a new one that is put there."""
    return ite(s.current.absent, ~s.used[i], s.current.holds(i))


@action("ConsumerManager#registerConsumer: consumerTable.get, putIfAbsent")
def find_group(s: Registration, c: Channel, i: Info) -> None:
    """The heartbeat's thread gets the group's object."""
    require(s.queued[c], s.got[c].absent, finds(s, i), by="ConsumerManager#registerConsumer")
    s.queued[c] = FALSE
    s.current = some(i)
    s.used[i] = TRUE
    s.got[c] = some(i)


@action("ConsumerGroupInfo#updateChannel")
def put_channel(s: Registration, c: Channel, i: Info) -> None:
    """The heartbeat's thread puts the channel into its object, which may be detached by now, and answers SUCCESS."""
    require(s.got[c].holds(i), by="ConsumerManager#registerConsumer")
    s.inside[i, c] = TRUE
    s.got[c] = none(Info)
    s.answered[c] = s.wants[c]


@action("ConsumerManager#registerConsumer", atomic_by="a lock that 4.9.3 does not have")
def heartbeat(s: Registration, c: Channel, i: Info) -> None:
    """A heartbeat gets the group's object and puts its channel there in one step."""
    require(s.queued[c], s.got[c].absent, finds(s, i), by="ConsumerManager#registerConsumer")
    s.queued[c] = FALSE
    s.current = some(i)
    s.used[i] = TRUE
    s.inside[i, c] = TRUE
    s.answered[c] = s.wants[c]


def alone(s: Registration, c: Channel, i: Info) -> Bool:
    """Whether nobody else is in the object."""
    return ~exists(s.inside[i, x] & ~(x == c) for x in every(Channel))


@action("ConsumerGroupInfo#unregisterChannel, #doChannelCloseEvent")
def remove_channel(s: Registration, c: Channel, i: Info) -> None:
    """A goodbye removes the channel, and sees whether the group is empty now."""
    require(s.leaving[c], s.current.holds(i), by="ConsumerManager#unregisterConsumer")
    s.leaving[c] = FALSE
    s.emptied[c] = alone(s, c, i)
    s.inside[i, c] = FALSE
    s.gone[c] = TRUE


@action("ConsumerManager#unregisterConsumer: consumerTable.remove(group)")
def remove_group(s: Registration, c: Channel) -> None:
    """The goodbye that found the group empty removes it by its name, whichever object stands there by now."""
    require(s.emptied[c], by="ConsumerManager#unregisterConsumer")
    s.emptied[c] = FALSE
    s.current = none(Info)


@action("ConsumerManager#unregisterConsumer", atomic_by="a lock that 4.9.3 does not have")
def unregister(s: Registration, c: Channel, i: Info) -> None:
    """A heartbeat gets the group's object and puts its channel there in one step."""
    require(s.leaving[c], s.current.holds(i), by="ConsumerManager#unregisterConsumer")
    s.leaving[c] = FALSE
    s.current = ite(alone(s, c, i), none(Info), s.current)
    s.inside[i, c] = FALSE
    s.gone[c] = TRUE


@action("ConsumerManager#unregisterConsumer: the group is not there")
def leave_nothing(s: Registration, c: Channel) -> None:
    """There is nothing to leave."""
    require(s.leaving[c], s.current.absent, by="ConsumerManager#unregisterConsumer")
    s.leaving[c] = FALSE
    s.gone[c] = TRUE


class Registering(Registration):
    """The consumer table of one group, in the implementation's steps."""


@action("ConsumerManager#registerConsumer: putIfAbsent")
def enter_group(s: Registering, i: Info) -> None:
    """Some heartbeat's thread puts a new object into the table; whose it is shows when its channel is put."""
    require(s.current.absent, ~s.used[i], by="ConsumerManager#registerConsumer")
    s.current = some(i)
    s.used[i] = TRUE


@action("ConsumerGroupInfo#updateChannel of an object that the thread has found before it left the table")
def put_channel_beside(s: Registering, c: Channel, i: Info) -> None:
    """A heartbeat's thread puts the channel into an object that nobody finds any more, and answers SUCCESS."""
    require(s.queued[c], s.used[i], ~s.current.holds(i), by="ConsumerManager#registerConsumer")
    s.queued[c] = FALSE
    s.inside[i, c] = TRUE
    s.answered[c] = s.wants[c]


@action("ConsumerGroupInfo#unregisterChannel, #doChannelCloseEvent of an object that has left the table")
def remove_channel_beside(s: Registering, c: Channel, i: Info) -> None:
    """A leave-taking removes the channel from an object that nobody finds any more."""
    require(~s.current.holds(i), by="ConsumerManager#unregisterConsumer")
    s.inside[i, c] = FALSE


@action("ConsumerManager#unregisterConsumer, #doChannelCloseEvent, #scanNotActiveChannel: consumerTable.remove(group)")
def remove_group_beside(s: Registering) -> None:
    """A thread that has seen some object of the group empty removes the group, whichever object stands there by now."""
    require(~s.current.absent, by="ConsumerManager#unregisterConsumer")
    s.current = none(Info)


class GroupName(Sort):
    """A consumer group."""


class Ms(Nat, saturates=True):
    """Milliseconds since something happened, or a period."""


class Membership(State):
    """One broker, several groups over one connection each client; heartbeats in time, expiry by the scan."""

    wants: Table[tuple[Channel, GroupName], Bool]   # a consumer of the group runs behind the connection
    member: Table[tuple[Channel, GroupName], Bool]  # channelInfoTable of the group has the channel
    info: Table[tuple[Channel, GroupName], Info]    # … with this ClientChannelInfo
    age: Table[Info, Ms]                            # since its lastUpdateTimestamp
    silent: Table[tuple[Channel, GroupName], Ms]    # since the client named the group in a heartbeat
    closing: Table[Channel, Bool]                   # the scan closed the channel; its CLOSE event is not handled yet
    calm: Ms                                        # since a client joined or left
    registered: Ghost[Table[tuple[Channel, GroupName], Bool]]  # a heartbeat of a running consumer was answered
    period: Constant[Ms]                            # heartbeat period and delay (30 s, 3 s)
    expiry: Constant[Ms]                            # 120 s
    scan: Constant[Ms]                              # 10 s


@initially
def nobody_there(s: Membership) -> Bool:
    """No consumer runs."""
    return (s.calm == 0) & forall(
        ~s.wants[c, g] & ~s.member[c, g] & (s.silent[c, g] == 0) & ~s.closing[c] & ~s.registered[c, g]
        for c, g in every(Channel, GroupName))


@promise
def starts_wait_for_the_close(s: Membership, c: Channel) -> Bool:
    """No consumer starts at a client whose connection the broker is about to close."""
    return ~s.closing[c]


@action("DefaultMQPushConsumerImpl#start")
def begin(s: Membership, c: Channel, g: GroupName) -> None:
    """A consumer of one more group starts at the client."""
    require(~s.wants[c, g], by="MQClientInstance#registerConsumer")
    assume(starts_wait_for_the_close, s, c)
    s.wants[c, g] = TRUE
    s.silent[c, g] = Ms.of(0)
    s.calm = Ms.of(0)


@action("ConsumerManager#unregisterConsumer")
def finish(s: Membership, c: Channel, g: GroupName) -> None:
    """A consumer stops, and the broker is told."""
    require(s.wants[c, g], by="MQClientInstance#unregisterConsumer")
    s.wants[c, g] = FALSE
    s.member[c, g] = FALSE
    s.registered[c, g] = FALSE
    s.calm = Ms.of(0)


@action("DefaultMQPushConsumerImpl#shutdown, UNREGISTER_CLIENT lost", environment=True)
def finish_unheard(s: Membership, c: Channel, g: GroupName) -> None:
    """A consumer stops, and the broker does not learn of it."""
    require(s.wants[c, g], by="MQClientInstance#unregisterConsumer")
    s.wants[c, g] = FALSE
    s.registered[c, g] = FALSE
    s.calm = Ms.of(0)


def unused(s: Membership, i: Info) -> Bool:
    """Whether no table entry holds the object: it can be a new one."""
    return forall(s.member[c, g].implies(~(s.info[c, g] == i)) for c, g in every(Channel, GroupName))


@action("ClientManageProcessor#heartBeat: one ClientChannelInfo for all groups of the heartbeat")
def heartbeat_all(s: Membership, c: Channel, i: Info) -> None:
    """New entries of all groups share one object; old entries keep and refresh theirs."""
    require(exists(s.wants[c, g] for g in every(GroupName)), ~s.closing[c], unused(s, i),
            by="ClientManageProcessor#heartBeat")
    for j in every(Info):
        s.age[j] = ite(
            (j == i) | exists(s.wants[c, g] & s.member[c, g] & (s.info[c, g] == j) for g in every(GroupName)),
            Ms.of(0), s.age[j])
    for g in every(GroupName):
        s.info[c, g] = ite(s.wants[c, g] & ~s.member[c, g], i, s.info[c, g])
        s.registered[c, g] = s.registered[c, g] | s.wants[c, g]
        s.silent[c, g] = ite(s.wants[c, g], Ms.of(0), s.silent[c, g])
        s.member[c, g] = s.member[c, g] | s.wants[c, g]


@action("ClientManageProcessor#heartBeat, repaired: one ClientChannelInfo per group")
def heartbeat_each(s: Membership, c: Channel, g: GroupName, i: Info) -> None:
    """A new entry gets an object of its own; an old one keeps and refreshes its own."""
    require(s.wants[c, g], ~s.closing[c], ite(s.member[c, g], s.info[c, g] == i, unused(s, i)),
            by="ClientManageProcessor#heartBeat")
    s.age[i] = Ms.of(0)
    s.info[c, g] = i
    s.member[c, g] = TRUE
    s.registered[c, g] = TRUE
    s.silent[c, g] = Ms.of(0)


@action("ConsumerManager#scanNotActiveChannel")
def expire(s: Membership, c: Channel, g: GroupName) -> None:
    """The scan removes the entry of one group and closes the connection, which serves other groups as well."""
    require(s.member[c, g], s.expiry < s.age[s.info[c, g]], by="ConsumerManager#scanNotActiveChannel")
    s.member[c, g] = FALSE
    s.closing[c] = TRUE


@action("ConsumerManager#doChannelCloseEvent")
def close(s: Membership, c: Channel) -> None:
    """The CLOSE event removes the channel from every other group; the client reconnects and is not registered."""
    require(s.closing[c], by="NettyRemotingAbstract.NettyEventExecutor#run")
    s.closing[c] = FALSE
    for g in every(GroupName):
        s.member[c, g] = FALSE


@action("NettyRemotingClient#invokeSync: a timeout closes the connection", environment=True)
def disconnect(s: Membership, c: Channel) -> None:
    """Any synchronous call that takes too long evicts the client from all its groups (B-17)."""
    require(~s.closing[c], exists(s.member[c, g] for g in every(GroupName)), by="NettyRemotingClient#closeChannel")
    for g in every(GroupName):
        s.member[c, g] = FALSE


@promise
def closes_are_handled_at_once(s: Membership) -> Bool:
    """A CLOSE event is handled before time passes."""
    return forall(~s.closing[c] for c in every(Channel))


@promise
def heartbeats_come_in_time(s: Membership, by: Ms) -> Bool:
    """A running consumer is named in a heartbeat that arrives, once a period."""
    return forall(s.wants[c, g].implies(s.silent[c, g] + by <= s.period) for c, g in every(Channel, GroupName))


@promise
def scans_come_in_time(s: Membership, by: Ms) -> Bool:
    """The scan finds an expired entry within its period."""
    return forall(s.member[c, g].implies(s.age[s.info[c, g]] + by <= s.expiry + s.scan)
                  for c, g in every(Channel, GroupName))


@action("time", environment=True)
def elapse(s: Membership, by: Ms) -> None:
    """Time passes: running consumers are named in time, the scan comes in time, events are handled at once."""
    require(by > 0, by="clock_gettime(2)")
    assume(closes_are_handled_at_once, s)
    assume(heartbeats_come_in_time, s, by)
    assume(scans_come_in_time, s, by)
    s.calm = s.calm + by
    for i in every(Info):
        s.age[i] = s.age[i] + by
    for c, g in every(Channel, GroupName):
        s.silent[c, g] = s.silent[c, g] + by
