"""What is reported of messages on their way: sent by producers, appended, dispatched, and found again by brokers."""

from __future__ import annotations

from typing import NamedTuple


class SendAnswered(NamedTuple):
    """MQClientAPIImpl#processSendResponse: a broker has answered a producer.

    broker -- machine of the broker. code -- as on the wire; only those that say that the message is stored come with a
    queue, a queue_offset and a commit_log_offset, others with -1. key -- UNIQ_KEY of the message.
    """

    broker: str
    topic: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    key: str
    code: int


class MessageAppended(NamedTuple):
    """CommitLog#asyncPutMessage: a record is in the log, written, and perhaps not forced.

    size -- of the record, in bytes. key -- UNIQ_KEY; None for a message of the broker itself. waits -- whether the put
    asks disk and slave, if the broker is such (MessageExtBrokerInner#isWaitStoreMsgOK), of a batch for the last one.
    """

    broker: str
    topic: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    size: int
    key: str | None
    waits: bool = True


class MessageDispatched(NamedTuple):
    """DefaultMessageStore#doDispatch: a consume queue has been given a record, also while the store recovers.

    The index has been given it, too, unless that failed.

    queue_offset, commit_log_offset -- as the record has them. told -- pulls that wait for it are told now; False: the
    index has failed, and they are told when the record comes again.
    """

    broker: str
    topic: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    told: bool = True


class StoreLoaded(NamedTuple):
    """DefaultMessageStore#load: the store has recovered what its files hold.

    min_offset, max_offset -- of the log. flush_disk_type -- "SYNC_FLUSH" or "ASYNC_FLUSH". last_exit_ok -- there was no
    file abort, and only the last files were looked at. broker_role -- "ASYNC_MASTER", "SYNC_MASTER" or "SLAVE".
    """

    broker: str
    min_offset: int
    max_offset: int
    flush_disk_type: str
    last_exit_ok: bool = False
    broker_role: str = "ASYNC_MASTER"


class StoreRefused(NamedTuple):
    """BrokerController#initialize: the store does not load, and the process ends.

    path -- the first file of the log whose length is not the configured one. length -- its own, in bytes. Both are None
    if there is none.
    """

    broker: str
    path: str | None = None
    length: int | None = None


class LogFlushed(NamedTuple):
    """MappedFileQueue#flush: the log counts as flushed up to an offset, forced or not."""

    broker: str
    offset: int


class GroupCommitted(NamedTuple):
    """CommitLog.GroupCommitService#doCommit: a round has ended, and whoever has waited for it is answered.

    offset -- up to where the log counts as flushed.
    """

    broker: str
    offset: int


class LogExpired(NamedTuple):
    """MappedFileQueue#deleteExpiredFile: the oldest files of the log are gone; min_offset -- where it begins now."""

    broker: str
    min_offset: int


class QueuesDeleted(NamedTuple):
    """DefaultMessageStore#cleanUnusedTopic: the consume queues of a topic are gone, and its records stay in the log."""

    broker: str
    topic: str
    queue_ids: tuple[int, ...]


class LogCopied(NamedTuple):
    """DefaultMessageStore#appendToCommitLog: a slave has appended bytes that its master has sent.

    Of a heartbeat, which has none, it is told if it has given the log its first file. master_offset -- where they begin
    in the master's log, as the master says. offset -- where they begin in the slave's own. size -- in bytes.
    """

    broker: str
    master_offset: int
    offset: int
    size: int


class SlaveConnected(NamedTuple):
    """HAService.AcceptSocketService#run: somebody has connected to a master.

    slave -- its machine. connection -- "host:port" of its end, which names one connection of the master.
    """

    broker: str
    slave: str
    connection: str = ""


class DelayLevelEnded(NamedTuple):
    """DeliverDelayedMessageTimerTask#run: an Error; the executor keeps it, nobody logs it, and the task is over.

    level -- whose messages are delivered no more, as long as the process lives.
    """

    broker: str
    level: int


class ReplicaReported(NamedTuple):
    """HAConnection.ReadSocketService#processReadEvent: a slave has reported the end of its log.

    offset -- what it reports. next_offset -- where the next frame begins that it is sent; -1: nothing is sent yet.
    """

    broker: str
    slave: str
    offset: int
    next_offset: int
    connection: str = ""


class ReplicaAnswered(NamedTuple):
    """HAService.GroupTransferService#doWaitTransfer: a put that waited for a slave is answered.

    next_offset -- the end of its record. status -- "PUT_OK" or "FLUSH_SLAVE_TIMEOUT".
    """

    broker: str
    next_offset: int
    status: str


class SlaveDisconnected(NamedTuple):
    """HAService#removeConnection: a master has done with a connection, whoever ended it."""

    broker: str
    slave: str
    connection: str = ""
