"""`Routes`: one broker name at one name server with its addresses, connections and the expiry scan (N-1, N-4 … N-8)."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Constant,
    Ghost,
    Maybe,
    Sort,
    State,
    Table,
    action,
    assume,
    every,
    forall,
    initially,
    ite,
    none,
    promise,
    require,
    some,
)
from model.route_info.clock import Ms


class Address(Sort):
    """A broker process, by its address."""


class Connection(Sort):
    """A connection from a broker to the name server."""


class Role(Choice):
    """The broker id within the name: 0, or the slave's."""

    MASTER: Role
    SLAVE: Role


class Routes(State):
    """RouteInfoManager for one broker name."""

    at: Table[Role, Maybe[Address]]             # BrokerData.brokerAddrs
    live: Table[Address, Bool]                  # brokerLiveTable has the address
    age: Table[Address, Ms]                     # … since lastUpdateTimestamp
    channel: Table[Address, Connection]         # … with this connection
    runs: Table[Address, Bool]                  # the process runs
    role: Table[Address, Role]                  # its broker id
    link: Table[Address, Maybe[Connection]]     # its connection
    used: Table[Connection, Bool]               # the connection was opened
    closed: Table[Connection, Bool]             # its CLOSE event is not handled yet
    target: Table[Connection, Maybe[Address]]   # onChannelDestroy has found this address, and has not removed it yet
    expired: Table[Address, Bool]               # the scan has found it expired, and has not removed it yet
    leaving: Table[Address, Bool]               # its UNREGISTER_BROKER is under way
    silent: Table[Address, Ms]                  # since its last registration was handled
    ended: Table[Address, Ms]                   # since it ended
    known: Ghost[Table[Address, Bool]]          # it registered over its connection and runs
    period: Constant[Ms]                        # between registrations: 30 s and delays, at most three lost
    expiry: Constant[Ms]                        # BROKER_CHANNEL_EXPIRED_TIME, 120 s
    scan: Constant[Ms]                          # period of scanNotActiveBroker, 10 s


@initially
def no_brokers(s: Routes) -> Bool:
    """Nothing runs, nothing is routed."""
    return (forall(s.at[r].absent for r in every(Role))
            & forall(~s.live[a] & ~s.runs[a] & s.link[a].absent & ~s.expired[a] & ~s.leaving[a] & ~s.known[a]
                     & (s.silent[a] == 0) & (s.ended[a] == 0) for a in every(Address))
            & forall(~s.used[k] & ~s.closed[k] & s.target[k].absent for k in every(Connection)))


def clear(s: Routes, a: Address) -> None:
    """RouteInfoManager#onChannelDestroy, second part: the address leaves both tables."""
    s.live[a] = FALSE
    for r in every(Role):
        s.at[r] = ite(s.at[r].holds(a), none(Address), s.at[r])


@promise
def goodbyes_beat_restarts(s: Routes, a: Address) -> Bool:
    """A broker starts again when the UNREGISTER_BROKER of its last shutdown has arrived everywhere."""
    return ~s.leaving[a]


@promise
def ids_are_unique(s: Routes, r: Role) -> Bool:
    """No two running brokers of a name have one id."""
    return forall(s.runs[x].implies(~(s.role[x] == r)) for x in every(Address))


@action("BrokerController#start")
def start(s: Routes, a: Address, r: Role, k: Connection) -> None:
    """A broker starts on a connection of its own."""
    require(~s.runs[a], by="bind(2)")
    assume(goodbyes_beat_restarts, s, a)
    require(~s.used[k], by="connect(2)")
    assume(ids_are_unique, s, r)
    s.runs[a] = TRUE
    s.role[a] = r
    s.link[a] = some(k)
    s.used[k] = TRUE
    s.silent[a] = Ms.of(0)


@action("a proxy, or several brokers in one process")
def start_beside(s: Routes, a: Address, b: Address, r: Role, k: Connection) -> None:
    """A broker starts on the connection of another (N-5)."""
    require(~s.runs[a], by="bind(2)")
    assume(goodbyes_beat_restarts, s, a)
    require(s.runs[b], s.link[b].holds(k), by="NettyRemotingClient#getAndCreateNameserverChannel")
    assume(ids_are_unique, s, r)
    s.runs[a] = TRUE
    s.role[a] = r
    s.link[a] = some(k)
    s.silent[a] = Ms.of(0)


@action("RouteInfoManager#registerBroker", atomic_by="the write lock")
def register(s: Routes, a: Address, k: Connection) -> None:
    """The address takes its id, leaves any other id, and is alive on this connection."""
    require(s.runs[a], s.link[a].holds(k), by="BrokerController#registerBrokerAll")
    for r in every(Role):
        s.at[r] = ite(s.role[a] == r, some(a), ite(s.at[r].holds(a), none(Address), s.at[r]))
    s.live[a] = TRUE
    s.age[a] = Ms.of(0)
    s.channel[a] = k
    s.silent[a] = Ms.of(0)
    s.known[a] = TRUE


@action("RouteInfoManager#registerBroker: an exception after the address was put")
def register_half(s: Routes, a: Address) -> None:
    """The address has its id and no entry in brokerLiveTable; SUCCESS is answered (N-6)."""
    require(s.runs[a], ~s.live[a], by="RouteInfoManager#registerBroker")
    for r in every(Role):
        s.at[r] = ite(s.role[a] == r, some(a), ite(s.at[r].holds(a), none(Address), s.at[r]))


@action("BrokerController#shutdown")
def shut_down(s: Routes, a: Address, k: Connection) -> None:
    """A broker ends in order: UNREGISTER_BROKER is under way."""
    require(s.runs[a], s.link[a].holds(k), by="BrokerController#shutdown")
    s.runs[a] = FALSE
    s.link[a] = none(Connection)
    s.leaving[a] = TRUE
    s.ended[a] = Ms.of(0)
    s.known[a] = FALSE


@action("RouteInfoManager#unregisterBroker", atomic_by="the write lock")
def unregister(s: Routes, a: Address) -> None:
    """The id of the request is freed, whoever has it by now (N-1)."""
    require(s.leaving[a], by="DefaultRequestProcessor#unregisterBroker")
    s.leaving[a] = FALSE
    s.live[a] = FALSE
    s.at[s.role[a]] = none(Address)


@action("RouteInfoManager#unregisterBroker, repaired upstream")
def unregister_own(s: Routes, a: Address) -> None:
    """The id of the request is freed if the address has it."""
    require(s.leaving[a], by="DefaultRequestProcessor#unregisterBroker")
    s.leaving[a] = FALSE
    clear(s, a)


@action("kill -9", environment=True)
def kill(s: Routes, a: Address, k: Connection) -> None:
    """A broker ends; its connection closes, and the name server sees it or not."""
    require(s.runs[a], s.link[a].holds(k), by="kill(2)")
    s.runs[a] = FALSE
    s.link[a] = none(Connection)
    s.closed[k] = TRUE
    s.ended[a] = Ms.of(0)
    s.known[a] = FALSE


@action("host or network death", environment=True)
def vanish(s: Routes, a: Address) -> None:
    """A broker ends silently."""
    require(s.runs[a], by="kill(2)")
    s.runs[a] = FALSE
    s.link[a] = none(Connection)
    s.ended[a] = Ms.of(0)
    s.known[a] = FALSE


@action("the network", environment=True)
def reconnect(s: Routes, a: Address, k: Connection, new: Connection) -> None:
    """A connection breaks and the broker opens another; until it registers there, nothing is promised."""
    require(s.runs[a], s.link[a].holds(k), ~s.used[new], by="NettyRemotingClient#createChannel")
    s.link[a] = some(new)
    s.used[new] = TRUE
    s.closed[k] = TRUE
    s.known[a] = FALSE


@action("RouteInfoManager#onChannelDestroy", atomic_by="a lock that 4.9.3 releases in between")
def destroy(s: Routes, k: Connection, a: Address) -> None:
    """The CLOSE event of a connection removes one address that is alive on it."""
    require(s.closed[k], s.live[a], s.channel[a] == k, by="RouteInfoManager#onChannelDestroy")
    s.closed[k] = FALSE
    clear(s, a)


@action("RouteInfoManager#onChannelDestroy: no address has the connection")
def destroy_nothing(s: Routes, k: Connection) -> None:
    """The CLOSE event of a connection that nothing is alive on."""
    require(s.closed[k], forall(s.live[a].implies(~(s.channel[a] == k)) for a in every(Address)),
            by="RouteInfoManager#onChannelDestroy")
    s.closed[k] = FALSE


@action("RouteInfoManager#onChannelDestroy: under the read lock")
def destroy_find(s: Routes, k: Connection, a: Address) -> None:
    """First the address is found, then removed."""
    require(s.closed[k], s.target[k].absent, s.live[a], s.channel[a] == k, by="RouteInfoManager#onChannelDestroy")
    s.closed[k] = FALSE
    s.target[k] = some(a)


@action("RouteInfoManager#onChannelDestroy: under the write lock")
def destroy_remove(s: Routes, k: Connection, a: Address) -> None:
    """The address is removed, whatever came in between (N-7)."""
    require(s.target[k].holds(a), by="RouteInfoManager#onChannelDestroy")
    s.target[k] = none(Address)
    clear(s, a)


@action("RouteInfoManager#scanNotActiveBroker", atomic_by="a lock that 4.9.3 does not take")
def expire(s: Routes, a: Address) -> None:
    """The scan removes an expired address; its connection serves no other."""
    require(s.live[a], s.expiry < s.age[a],
            forall((s.live[x] & (s.channel[x] == s.channel[a])).implies(x == a) for x in every(Address)),
            by="RouteInfoManager#scanNotActiveBroker")
    clear(s, a)


@action("RouteInfoManager#scanNotActiveBroker, #onChannelDestroy")
def expire_another(s: Routes, a: Address, b: Address) -> None:
    """The scan takes the expired address from brokerLiveTable and another of its connection from the route (N-5)."""
    require(s.live[a], s.expiry < s.age[a], ~(a == b), s.live[b], s.channel[b] == s.channel[a],
            by="RouteInfoManager#scanNotActiveBroker")
    for r in every(Role):
        s.at[r] = ite(s.at[r].holds(b), none(Address), s.at[r])
    for x in every(Address):
        s.live[x] = s.live[x] & ~(x == a) & ~(x == b)


@action("RouteInfoManager#scanNotActiveBroker: reads lastUpdateTimestamp")
def expire_find(s: Routes, a: Address) -> None:
    """Without a lock: first the scan reads an old time, then it removes."""
    require(s.live[a], s.expiry < s.age[a], by="RouteInfoManager#scanNotActiveBroker")
    s.expired[a] = TRUE


@action("RouteInfoManager#scanNotActiveBroker: removes the entry")
def expire_remove(s: Routes, a: Address) -> None:
    """The scan removes what may be fresh by now (N-8)."""
    require(s.expired[a], by="RouteInfoManager#scanNotActiveBroker")
    s.expired[a] = FALSE
    clear(s, a)


@promise
def registrations_come_in_time(s: Routes, by: Ms) -> Bool:
    """A running broker's registration is handled once a period."""
    return forall(s.runs[a].implies(s.silent[a] + by <= s.period) for a in every(Address))


@promise
def scans_come_in_time(s: Routes, by: Ms) -> Bool:
    """The scan finds an expired entry within its period."""
    return forall(s.live[a].implies(s.age[a] + by <= s.expiry + s.scan) for a in every(Address))


def pass_time(s: Routes, by: Ms) -> None:
    """Every clock goes on; running brokers register in time."""
    require(by > 0, by="clock_gettime(2)")
    assume(registrations_come_in_time, s, by)
    for a in every(Address):
        s.age[a] = s.age[a] + by
        s.silent[a] = s.silent[a] + by
        s.ended[a] = s.ended[a] + by


@action("time", environment=True)
def elapse(s: Routes, by: Ms) -> None:
    """Time passes; the scan comes in time."""
    assume(scans_come_in_time, s, by)
    pass_time(s, by)


@action("time; the scan's timer has died of an exception", environment=True)
def elapse_without_scan(s: Routes, by: Ms) -> None:
    """Time passes, and nobody looks at it (N-4)."""
    pass_time(s, by)
