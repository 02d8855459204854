"""What views answer with: plain values, which do not change afterwards."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.message_queue import MessageQueue


class Broker(NamedTuple):
    """A broker that lives. broker_id -- 0: a master. now_ms -- its clock. master_addr -- whom a slave copies from."""

    machine: str
    broker_name: str
    broker_id: int
    broker_addr: str
    now_ms: int
    master_addr: str | None


class StoredRecord(NamedTuple):
    """A record of a log. commit_log_offset -- where it is; the rest is what it says. key -- UNIQ_KEY, if it has one."""

    commit_log_offset: int
    topic: str
    queue_id: int
    queue_offset: int
    size: int
    key: str | None


class Dispatched(NamedTuple):
    """What a unit is made of: where a record is, and what it says.

    tags -- TAGS, if it has them. stored_ms -- when it was stored, in ms since 1970, by the broker that took it.
    """

    commit_log_offset: int
    topic: str
    queue_id: int
    queue_offset: int
    tags: str | None
    stored_ms: int


class Written(NamedTuple):
    """What a record says of the message that its application has sent, where a broker writes that down again.

    content -- body and flag as they are stored, and whether the body is compressed, as a number. born -- time in ms,
    address of the host in hex digits, and port. properties -- pairs of name and value, sorted.
    """

    content: int
    born: tuple[int, str, int]
    properties: tuple[tuple[str, str], ...]


class Replicated(NamedTuple):
    """What a broker has of its log, and of those who copy it; all offsets are those of the log.

    begin -- -1 without a file. push2slave -- HAService#push2SlaveMaxOffset. slaves -- connections, and whether the
    first report of each was read. waiting -- the ends of the records of which a put waits for a slave.
    """

    begin: int
    end: int
    flushed: int
    push2slave: int
    slaves: tuple[tuple[str, bool], ...]
    waiting: tuple[int, ...]


class QueueRange(NamedTuple):
    """What a broker has of a queue: its first offset, and the one behind its last.

    on_disk -- offset 0 lies behind the part of the log that memory holds.
    """

    min_offset: int = 0
    max_offset: int = 0
    on_disk: bool = False


class DelayLevel(NamedTuple):
    """How far the task of a delay level is: the offset at which its next look begins, and what is noted in memory."""

    looked: int
    noted: int


class DelayUnit(NamedTuple):
    """A unit of a delay level: where its record is in the log, and when it says that it is due, in ms since 1970."""

    commit_log_offset: int
    due_ms: int


class Registration(NamedTuple):
    """A BrokerLiveInfo: the connection on which its broker registered, and whether that is still active."""

    connection: str
    active: bool


class Consumer(NamedTuple):
    """A consumer of a process that lives.

    service_state -- CREATE_JUST, RUNNING, … pause -- suspended by its user. now_ms -- the clock of its machine.
    """

    machine: str
    client_id: str
    group: str
    message_model: str
    orderly: bool
    service_state: str
    pause: bool
    strategy: AllocateMessageQueueStrategy
    now_ms: int


class HeldQueue(NamedTuple):
    """An entry of processQueueTable.

    locked -- the broker's lock is held, as last heard. lock_expired -- ProcessQueue#isLockExpired. msg_count -- cached.
    last_pull_timestamp -- milliseconds since 1970, by the clock of its machine.
    """

    machine: str
    client_id: str
    group: str
    mq: MessageQueue
    dropped: bool
    locked: bool
    lock_expired: bool
    msg_count: int
    last_pull_timestamp: int


class Cache(NamedTuple):
    """What a process queue has, and what it says that it has: msg_count, msg_size_bytes.

    messages, size_bytes -- that it has, both those that wait and those that an orderly listener works on. span -- how
    far the first and the last that wait are apart. first -- the offset of the first that waits; None: none does.
    """

    machine: str
    client_id: str
    group: str
    mq: MessageQueue
    msg_count: int
    msg_size_bytes: int
    messages: int
    size_bytes: int
    span: int = 0
    first: int | None = None


class Limits(NamedTuple):
    """What a consumer is configured to pull at once, and to cache of a queue before it pulls no more.

    pull_batch_size -- messages of one pull. messages, mib -- of a queue. span -- how far the first and the last may be
    apart; None: that does not count. topic_messages, topic_mib -- of a topic, divided among all queues that the
    consumer has; below 0: not set. interval_ms -- between a pull that has found something and the next.
    """

    pull_batch_size: int
    messages: int
    mib: int
    span: int | None
    topic_messages: int = -1
    topic_mib: int = -1
    interval_ms: int = 0

class QueueLock(NamedTuple):
    """An entry of mqLockTable. last_update_timestamp -- in ms; expired -- LockEntry#isExpired, by the same clock."""

    client_id: str
    last_update_timestamp: int
    expired: bool


class Subscription(NamedTuple):
    """What is read of a SubscriptionData."""

    sub_string: str
    sub_version: int
    expression_type: str | None


class Filter(NamedTuple):
    """What is read of a ConsumerFilterData: of an expression that is not by tag."""

    client_version: int
    dead: bool
