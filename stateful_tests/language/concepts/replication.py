"""One master, one slave: what PUT_OK under SYNC_MASTER promises."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Ghost,
    Nat,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    ite,
    require,
)


class Message(Sort):
    """A message body; each is sent once."""


class LogPosition(Nat):
    """A place in the log, counted in records."""


class Pair(State):
    """Two logs; a cell at or after an end means nothing."""

    end: LogPosition                       # master: read position
    flushed: LogPosition                   # master: forced
    log: Table[LogPosition, Message]
    slave_end: LogPosition
    slave_log: Table[LogPosition, Message]
    connected: Bool
    push2slave: LogPosition                # HAService.push2SlaveMaxOffset
    used: Table[Message, Bool]             # sent before
    place: Table[Message, LogPosition]     # where it went
    acked: Ghost[Table[Message, Bool]]     # PUT_OK under SYNC_MASTER


@initially
def blank(s: Pair) -> Bool:
    """Nothing is stored."""
    return ((s.end == 0) & (s.flushed == 0) & (s.slave_end == 0) & ~s.connected & (s.push2slave == 0)
            & forall(~s.used[m] & ~s.acked[m] for m in every(Message)))


@action("CommitLog#asyncPutMessage", atomic_by="putMessageLock")
def put(s: Pair, m: Message) -> None:
    """A message is appended."""
    require(~s.used[m])
    s.log[s.end] = m
    s.used[m] = TRUE
    s.place[m] = s.end
    s.end = s.end + 1


@action("MappedFile#flush")
def flush(s: Pair) -> None:
    """The master's log is forced."""
    require(s.flushed < s.end)
    s.flushed = s.end


@action("HAConnection.ReadSocketService#processReadEvent")
def connect(s: Pair) -> None:
    """The first report is not compared with the master's end, and already counts as an ack."""
    require(~s.connected)
    s.connected = TRUE
    s.push2slave = ite(s.push2slave < s.slave_end, s.slave_end, s.push2slave)


@action("HAClient#dispatchReadRequest")
def transfer(s: Pair) -> None:
    """Everything readable is sent, forced or not."""
    require(s.connected, s.slave_end < s.end)
    s.slave_log[s.slave_end] = s.log[s.slave_end]
    s.push2slave = ite(s.push2slave < s.slave_end + 1, s.slave_end + 1, s.push2slave)
    s.slave_end = s.slave_end + 1


@action("HAService.GroupTransferService#doWaitTransfer")
def acknowledge(s: Pair, m: Message) -> None:
    """The slave is believed to have it."""
    require(s.used[m], s.place[m] < s.end, s.log[s.place[m]] == m, s.place[m] < s.push2slave)
    s.acked[m] = TRUE


@action("power loss at the master", environment=True)
def lose_record(s: Pair) -> None:
    """Any number of unforced records, last first; connection and mark go with the process."""
    require(s.flushed < s.end)
    s.log.forget(s.end - 1)
    s.end, s.connected, s.push2slave = s.end - 1, FALSE, LogPosition.of(0)


@always(shipped="violated: V11")
def slave_log_is_a_prefix(s: Pair) -> Bool:
    """Where both logs have a record, it is the same."""
    return forall(((p < s.slave_end) & (p < s.end)).implies(s.slave_log[p] == s.log[p]) for p in every(LogPosition))


@always(shipped="violated: V11")
def acknowledged_message_is_on_the_slave(s: Pair) -> Bool:
    """An acknowledged message that is still in the master's log is in the slave's log at its place."""
    return forall((s.acked[m] & (s.place[m] < s.end) & (s.log[s.place[m]] == m)).implies(
        (s.place[m] < s.slave_end) & (s.slave_log[s.place[m]] == m)) for m in every(Message))
