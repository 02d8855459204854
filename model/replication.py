"""Replication: a master's log on its slaves, and what a put under SYNC_MASTER is answered, counted in records.

What is under way on a connection counts as arrived: nothing that happens meanwhile at the master changes it. A slave
without a file puts what comes first where it belongs; one with an empty file puts it there (V32).
"""

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
    every,
    exists,
    forall,
    initially,
    ite,
    require,
)


class Slave(Sort):
    """A broker that copies the master's log."""


class Message(Sort):
    """What is put; each once."""


class Position(Nat):
    """A place in the log, counted in records."""


class Replicas(State):
    """A master, and the slaves that its HAService knows."""

    first: Position                              # CommitLog#getMinOffset
    end: Position                                # CommitLog#getMaxOffset: what readers and slaves are given
    flushed: Position                            # MappedFileQueue#flushedWhere
    log: Table[Position, Message]
    put: Table[Message, Bool]
    place: Table[Message, Position]
    waiting: Table[Message, Bool]                # GroupTransferService#requestsRead
    push2slave: Position                         # HAService#push2SlaveMaxOffset
    connected: Table[Slave, Bool]                # HAService#connectionList
    asked: Table[Slave, Bool]                    # HAConnection#slaveRequestOffset: the first report was read
    next: Table[Slave, Position]                 # HAConnection#nextTransferFromWhere
    filed: Table[Slave, Bool]                    # the slave's log has a file
    begin: Table[Slave, Position]                # … which begins here: CommitLog#getMinOffset
    copied: Table[Slave, Position]               # the slave's CommitLog#getMaxOffset; 0 without a file
    copy: Table[tuple[Slave, Position], Message]
    acked: Ghost[Table[Message, Bool]]           # PUT_OK
    reporter: Ghost[Slave]                       # whose report push2slave is
    vouched: Ghost[Table[Message, Slave]]        # … when the message was acknowledged


@initially
def blank(s: Replicas) -> Bool:
    """Nothing is stored."""
    return ((s.first == 0) & (s.end == 0) & (s.flushed == 0) & (s.push2slave == 0)
            & forall(~s.put[m] & ~s.waiting[m] & ~s.acked[m] for m in every(Message))
            & forall(~s.connected[x] & ~s.asked[x] & ~s.filed[x] & (s.begin[x] == 0) & (s.copied[x] == 0)
                     for x in every(Slave)))


def stands(s: Replicas, m: Message) -> Bool:
    """The master's log has a message where it was put."""
    return s.put[m] & (s.first <= s.place[m]) & (s.place[m] < s.end) & (s.log[s.place[m]] == m)


def has_copy(s: Replicas, x: Slave, m: Message) -> Bool:
    """A slave has a message at the place at which it was put."""
    return (s.begin[x] <= s.place[m]) & (s.place[m] < s.copied[x]) & (s.copy[x, s.place[m]] == m)


def reported(s: Replicas, x: Slave, p: Position) -> None:
    """HAService#notifyTransferSome: the greatest report since the start counts, whoever made it."""
    s.reporter = ite(s.push2slave < p, x, s.reporter)
    s.push2slave = ite(s.push2slave < p, p, s.push2slave)


def disconnected(s: Replicas, x: Slave) -> None:
    """The master forgets a slave."""
    s.connected[x] = FALSE
    s.asked[x] = FALSE


@action("CommitLog#asyncPutMessage", atomic_by="putMessageLock")
def append(s: Replicas, m: Message) -> None:
    """A message is appended, and waits for a slave if one is connected."""
    require(~s.put[m], by="MessageClientIDSetter#createUniqID")
    s.log[s.end] = m
    s.put[m] = TRUE
    s.place[m] = s.end
    s.waiting[m] = exists(s.connected[x] for x in every(Slave))
    s.end = s.end + 1


@action("MappedFileQueue#flush")
def flush(s: Replicas) -> None:
    """The master's log is forced; as shipped not where what was not flushed yet has expired (V44)."""
    require(s.flushed < s.end, by="MappedFile#isAbleToFlush")
    s.flushed = s.end


@action("HAService.AcceptSocketService#run")
def connect(s: Replicas, x: Slave) -> None:
    """A slave connects; from now on puts wait."""
    require(~s.connected[x], by="HAClient#connectMaster")
    s.connected[x] = TRUE


@action("HAConnection.ReadSocketService#processReadEvent: the first report")
def ask(s: Replicas, x: Slave) -> None:
    """The first report of a slave that has something is not compared with the master's end, and counts (V11)."""
    require(s.connected[x], ~s.asked[x], by="HAConnection.ReadSocketService#processReadEvent")
    require(s.copied[x] > 0, by="HAConnection.WriteSocketService#run")
    s.asked[x] = TRUE
    s.next[x] = s.copied[x]
    reported(s, x, s.copied[x])


@action("HAConnection.WriteSocketService#run: slaveRequestOffset is 0")
def ask_empty(s: Replicas, x: Slave) -> None:
    """An empty slave gets the log from its beginning, for that lies in the newest file."""
    require(s.connected[x], ~s.asked[x], by="HAConnection.ReadSocketService#processReadEvent")
    require(s.copied[x] == 0, by="HAConnection.WriteSocketService#run")
    s.asked[x] = TRUE
    s.next[x] = s.first


@action("HAConnection.WriteSocketService#run: slaveRequestOffset is 0")
def ask_late(s: Replicas, x: Slave, p: Position) -> None:
    """An empty slave gets the newest file only (V29)."""
    require(s.connected[x], ~s.asked[x], by="HAConnection.ReadSocketService#processReadEvent")
    require(s.copied[x] == 0, s.first < p, p <= s.end, by="HAConnection.WriteSocketService#run")
    s.asked[x] = TRUE
    s.next[x] = p


@action("HAConnection.WriteSocketService#run, HAClient#dispatchReadRequest: no bytes")
def heartbeat(s: Replicas, x: Slave) -> None:
    """A slave without a file appends the nothing that its master sends, and has an empty file then."""
    require(s.asked[x], by="HAConnection.WriteSocketService#run")
    require(~s.filed[x], by="MappedFileQueue#getLastMappedFile")
    s.filed[x] = TRUE
    s.begin[x] = s.next[x]
    s.copied[x] = s.next[x]


def append_copy(s: Replicas, x: Slave, m: Message, at: Position) -> None:
    """A slave appends a record, and has a file."""
    s.copy[x, at] = m
    s.copied[x] = at + 1
    s.begin[x] = ite(s.filed[x], s.begin[x], at)
    s.filed[x] = TRUE
    s.next[x] = s.next[x] + 1


@action("HAConnection.WriteSocketService#run, HAClient#dispatchReadRequest")
def transfer(s: Replicas, x: Slave) -> None:
    """A slave appends what its master has at the end of the slave's log, forced or not."""
    require(s.asked[x], s.first <= s.next[x], s.next[x] < s.end, by="DefaultMessageStore#getCommitLogData")
    require(~s.filed[x] | (s.copied[x] == s.next[x]), by="HAClient#dispatchReadRequest")
    append_copy(s, x, s.log[s.next[x]], s.next[x])


@action("HAClient#dispatchReadRequest, MappedFileQueue#getLastMappedFile")
def transfer_shifted(s: Replicas, x: Slave) -> None:
    """A slave whose first file is empty takes a frame of any position, and appends it there (V32)."""
    require(s.asked[x], s.first <= s.next[x], s.next[x] < s.end, by="DefaultMessageStore#getCommitLogData")
    require(s.filed[x], s.copied[x] == 0, s.next[x] > 0, by="HAClient#dispatchReadRequest")
    append_copy(s, x, s.log[s.next[x]], s.copied[x])


@action("HAConnection.WriteSocketService#run: DefaultMessageStore#getCommitLogData of offset 0")
def transfer_first(s: Replicas, x: Slave) -> None:
    """A slave that is to get position 0 gets what the master's log begins with, wherever that is (V25)."""
    require(s.asked[x], s.next[x] == 0, by="HAConnection.WriteSocketService#run")
    require(s.first > 0, s.first < s.end, by="CommitLog#getData")
    require(s.copied[x] == 0, by="HAClient#dispatchReadRequest")
    append_copy(s, x, s.log[s.first], s.next[x])


@action("HAConnection.ReadSocketService#processReadEvent")
def report(s: Replicas, x: Slave, p: Position) -> None:
    """A later report of a slave arrives; it says what the slave had when it was sent."""
    require(s.asked[x], p <= s.end, by="HAConnection.ReadSocketService#processReadEvent")
    require(p > 0, p <= s.copied[x], by="HAClient#reportSlaveMaxOffsetPlus")
    reported(s, x, p)


@action("HAConnection.ReadSocketService#processReadEvent: the slave's offset is beyond the log")
def refuse(s: Replicas, x: Slave) -> None:
    """A later report beyond the master's end ends the connection."""
    require(s.asked[x], s.end < s.copied[x], by="HAConnection.ReadSocketService#processReadEvent")
    disconnected(s, x)


@action("HAService.GroupTransferService#doWaitTransfer: PUT_OK")
def acknowledge(s: Replicas, m: Message) -> None:
    """Some slave is believed to have the message."""
    require(s.waiting[m], s.place[m] < s.push2slave, by="HAService.GroupTransferService#doWaitTransfer")
    s.waiting[m] = FALSE
    s.acked[m] = TRUE
    s.vouched[m] = s.reporter


@action("HAService.GroupTransferService#doWaitTransfer: FLUSH_SLAVE_TIMEOUT")
def time_out(s: Replicas, m: Message) -> None:
    """The producer is told that no slave has the message yet."""
    require(s.waiting[m], by="HAService.GroupTransferService#doWaitTransfer")
    s.waiting[m] = FALSE


@action("HAClient#dispatchReadRequest: the frame does not begin at the slave's end")
def leave(s: Replicas, x: Slave) -> None:
    """A slave ends a connection on which something else comes than it lacks."""
    require(s.asked[x], by="HAConnection.WriteSocketService#run")
    require(s.copied[x] > 0, s.copied[x] != s.next[x], by="HAClient#dispatchReadRequest")
    disconnected(s, x)


@action("the network, or the end of a slave", environment=True)
def disconnect(s: Replicas, x: Slave) -> None:
    """A connection ends."""
    require(s.connected[x], by="read(2)")
    disconnected(s, x)


def end_process(s: Replicas) -> None:
    """What the master's process knows is gone."""
    s.push2slave = Position.of(0)
    for x in every(Slave):
        s.connected[x] = FALSE
        s.asked[x] = FALSE
    for m in every(Message):
        s.waiting[m] = FALSE


@action("kill -9 of the master, and a start", environment=True)
def restart(s: Replicas) -> None:
    """What was written is there again."""
    end_process(s)


def lose_last(s: Replicas) -> None:
    """The last record of the master was in the page cache only."""
    s.log.forget(s.end - 1)
    s.end = s.end - 1


@action("power loss at the master, and a start", environment=True)
def lose(s: Replicas) -> None:
    """The last record was not forced, and no slave has it; more records are lost in more such steps."""
    require(s.flushed < s.end, s.first < s.end, by="fsync(2)")
    require(forall(s.copied[x] < s.end for x in every(Slave)))
    lose_last(s)
    end_process(s)


@action("power loss at the master, and a start", environment=True)
def lose_sent(s: Replicas) -> None:
    """The last record was not forced, but some slave has it (V11)."""
    require(s.flushed < s.end, s.first < s.end, by="fsync(2)")
    require(~forall(s.copied[x] < s.end for x in every(Slave)))
    lose_last(s)
    end_process(s)


@action("power loss at a slave, and a start", environment=True)
def lose_copy(s: Replicas, x: Slave) -> None:
    """A slave loses its last record; more are lost in more such steps."""
    require(s.begin[x] < s.copied[x], by="fsync(2)")
    s.copy.forget((x, s.copied[x] - 1))
    s.copied[x] = s.copied[x] - 1
    disconnected(s, x)


@action("MappedFileQueue#deleteExpiredFileByTime")
def expire(s: Replicas) -> None:
    """The oldest record, which all slaves have, is deleted."""
    require(s.first + 1 < s.end, by="MappedFileQueue#deleteExpiredFileByTime")
    require(forall(s.first < s.copied[x] for x in every(Slave)))
    s.log.forget(s.first)
    s.first = s.first + 1


@action("MappedFileQueue#deleteExpiredFileByTime")
def expire_unsent(s: Replicas) -> None:
    """The oldest record is deleted, though some slave has not come so far (V20)."""
    require(s.first + 1 < s.end, by="MappedFileQueue#deleteExpiredFileByTime")
    require(~forall(s.first < s.copied[x] for x in every(Slave)))
    s.log.forget(s.first)
    s.first = s.first + 1
