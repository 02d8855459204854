"""The lock of one queue as two leases: time as ages, constants symbolic in a proof and small in a scope."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Nat,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    premise,
    require,
)


class Client(Sort):
    """A client that wants the lock."""


class Ms(Nat, saturates=True):
    """Milliseconds since something, or a period."""


class Lock(State):
    """The broker's lock of one queue, and what clients believe of it."""

    held: Bool
    holder: Client                # RebalanceLockManager.LockEntry.clientId
    age: Ms                       # since the broker's stamp
    locked: Table[Client, Bool]   # ProcessQueue.locked
    since: Table[Client, Ms]      # since the client's stamp
    granted: Table[Client, Bool]  # an answer is on its way
    wait: Table[Client, Ms]       # … since then
    client_live: Constant[Ms]
    broker_live: Constant[Ms]
    rpc_max: Constant[Ms]


@initially
def free(s: Lock) -> Bool:
    """Nobody has the lock."""
    return ~s.held & (s.age == 0) & forall(
        ~s.locked[c] & ~s.granted[c] & (s.since[c] == 0) & (s.wait[c] == 0) for c in every(Client))


@action("RebalanceLockManager#tryLockBatch", flow="c -> c")
def grant(s: Lock, c: Client) -> None:
    """The lock is free, is the client's own, or has expired."""
    require(~s.granted[c], ~s.held | (s.holder == c) | (s.broker_live < s.age))
    s.held = TRUE
    s.holder = c
    s.age = Ms.of(0)
    s.granted[c] = TRUE
    s.wait[c] = Ms.of(0)


@action("RebalanceImpl#lock")
def answer(s: Lock, c: Client) -> None:
    """The answer arrives; the client's lease begins."""
    require(s.granted[c])
    s.granted[c] = FALSE
    s.locked[c] = TRUE
    s.since[c] = Ms.of(0)


@action("RebalanceImpl#lockAll: refused")
def refuse(s: Lock, c: Client) -> None:
    """A client learns that it does not have the lock."""
    s.locked[c] = FALSE


@action("time", environment=True)
def elapse(s: Lock) -> None:
    """Time passes, but no answer takes longer than rpc_max."""
    require(forall(s.granted[c].implies(s.wait[c] + 1 <= s.rpc_max) for c in every(Client)))
    s.age = s.age + 1
    for c in every(Client):
        s.since[c] = s.since[c] + 1
        s.wait[c] = s.wait[c] + 1


def live(s: Lock, c: Client) -> Bool:
    """The client believes to have the lock."""
    return s.locked[c] & (s.since[c] <= s.client_live)


@premise
def leases_fit(s: Lock) -> Bool:
    """An answer and the client's lease are over before the broker's lease."""
    return s.client_live + s.rpc_max <= s.broker_live


@always(shipped="violated: D7 slow answer", given=(leases_fit,))
def one_live_holder(s: Lock) -> Bool:
    """No two clients believe to have the lock."""
    return forall((live(s, a) & live(s, b)).implies(a == b) for a, b in every(Client, Client))
