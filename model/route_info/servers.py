"""`NameServers`: one broker and several name servers (N-18, N-21)."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
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
from model.route_info.clock import Ms


class Server(Sort):
    """A name server."""


class NameServers(State):
    """One broker and several name servers that know nothing of each other."""

    knows: Table[Server, Bool]     # the broker is routed there
    up: Table[Server, Bool]        # the server runs and is reachable
    calm: Table[Server, Ms]        # … since then
    since: Table[Server, Ms]       # since the broker's last round of registrations
    period: Constant[Ms]           # between rounds: 30 s, and the time-out of a round


@initially
def no_servers(s: NameServers) -> Bool:
    """No server runs."""
    return forall(~s.knows[n] & ~s.up[n] & (s.calm[n] == 0) & (s.since[n] == 0) for n in every(Server))


@action("NamesrvStartup#main", environment=True)
def come_up(s: NameServers, n: Server) -> None:
    """A server starts, or becomes reachable."""
    require(~s.up[n], by="bind(2)")
    s.up[n] = TRUE
    s.calm[n] = Ms.of(0)


@action("kill -9, or the network", environment=True)
def go_down(s: NameServers, n: Server) -> None:
    """A server ends, or cannot be reached until it has dropped the broker."""
    require(s.up[n], by="kill(2)")
    s.up[n] = FALSE
    s.knows[n] = FALSE


@action("BrokerOuterAPI#registerBrokerAll")
def register_at(s: NameServers, n: Server) -> None:
    """The broker's round reaches a server."""
    s.knows[n] = s.knows[n] | s.up[n]
    s.since[n] = Ms.of(0)


@action("BrokerOuterAPI#needRegister: the slow server's vote is missing")
def skip(s: NameServers, n: Server) -> None:
    """With forceRegister=false the broker believes that a server knows it (N-18)."""
    s.since[n] = Ms.of(0)


@action("NettyRemotingClient#invokeSync: a time-out closes the connection", environment=True)
def time_out(s: NameServers, n: Server) -> None:
    """A registration that takes too long ends in the removal of the broker (N-21)."""
    require(s.up[n], by="NettyRemotingClient#invokeSync")
    s.knows[n] = FALSE
    s.since[n] = Ms.of(0)


@promise
def rounds_come_in_time(s: NameServers, by: Ms) -> Bool:
    """A broker has a round of registrations for every server once a period."""
    return forall(s.since[n] + by <= s.period for n in every(Server))


@action("time", environment=True)
def go_on(s: NameServers, by: Ms) -> None:
    """Time passes; the broker has a round for every server once a period."""
    require(by > 0, by="clock_gettime(2)")
    assume(rounds_come_in_time, s, by)
    for n in every(Server):
        s.since[n] = s.since[n] + by
        s.calm[n] = s.calm[n] + by
