"""The six allocation strategies of RocketMQ 4.9.3: which queues of a topic a member of a group takes.

Each has two layers. The arithmetic is a function of numbers: n queues, m members, i the first position of the asking
member in the list of members, k a position in the list of queues, all counted from 0. The lists around it are one line.
Sizes and positions are never negative, so Java's `/` and `%` are `//` and `%` here. No product wraps while n + m < 2³¹.

No strategy sorts its lists: that is the caller's duty (RebalanceImpl#rebalanceByTopic). The consumer group appears in
Java's log lines only.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, TypeAlias

from impl.decisions.java_arithmetic import smaller
from impl.decisions.java_errors import IllegalArgumentError, NullPointerError, not_null
from impl.decisions.java_text import concatenated, is_blank, split, utf16_key
from impl.decisions.message_queue import MessageQueue

Queues: TypeAlias = Sequence[MessageQueue]
Members: TypeAlias = Sequence[str]
HashFunction: TypeAlias = Callable[[str], int]  # a text to a long; common.consistenthash.HashFunction


class AllocateMessageQueueStrategy(Protocol):
    """`client.consumer.AllocateMessageQueueStrategy`."""

    @property
    def name(self) -> str:
        """AllocateMessageQueueStrategy#getName."""

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue] | None:
        """The queues of the member current_cid, out of mq_all, when cid_all are all members of the group.

        None is Java's null; the caller treats it as no queue. A JavaError leaves the member's queues as they are.
        """


def _checked(current_cid: str | None, mq_all: Queues | None, cid_all: Members | None) -> tuple[str, Queues, Members]:
    """The argument checks that four of the classes repeat, in Java's order."""
    if not current_cid:
        raise IllegalArgumentError("currentCID is empty")
    if not mq_all:
        raise IllegalArgumentError("mqAll is null or mqAll empty")
    if not cid_all:
        raise IllegalArgumentError("cidAll is null or cidAll empty")
    return current_cid, mq_all, cid_all


# Averagely ------------------------------------------------------------------------------------------------------------


def averagely_range(n: int, m: int, i: int) -> tuple[int, int]:
    """Start and length of member i's block; AllocateMessageQueueAveragely#allocate, line by line.

    Domain: n >= 0, m >= 1, 0 <= i < m. The length is zero or negative (the block empty) for members beyond the queues.
    """
    mod = n % m
    if n <= m:
        average_size = 1
    elif mod > 0 and i < mod:
        average_size = n // m + 1
    else:
        average_size = n // m
    start_index = i * average_size if mod > 0 and i < mod else i * average_size + mod
    return start_index, smaller(average_size, n - start_index)


def averagely_owns(n: int, m: int, i: int, k: int) -> bool:
    """Whether member i takes the queue at position k; the index that Java reduces modulo n never reaches n."""
    start_index, length = averagely_range(n, m, i)
    return start_index <= k and k < start_index + length  # noqa: PLR1716  two plain comparisons for the symbolic reading


@dataclass(frozen=True)
class AllocateMessageQueueAveragely:
    """Blocks of consecutive queues; the first n % m members take one more. The default strategy."""

    name: str = field(default="AVG", init=False)

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue]:
        """AllocateMessageQueueAveragely#allocate; an unknown member gets nothing."""
        del consumer_group
        current_cid, mq_all, cid_all = _checked(current_cid, mq_all, cid_all)
        if current_cid not in cid_all:
            return []
        n = len(mq_all)
        start_index, length = averagely_range(n, len(cid_all), cid_all.index(current_cid))
        return [mq_all[(start_index + step) % n] for step in range(length)]


# Averagely by circle --------------------------------------------------------------------------------------------------


def circle_owns(n: int, m: int, i: int, k: int) -> bool:
    """Whether member i takes the queue at position k; AllocateMessageQueueAveragelyByCircle#allocate.

    Domain: n >= 0, m >= 1, 0 <= i < m.
    """
    return i <= k and k < n and k % m == i  # noqa: PLR1716  plain comparisons for the symbolic reading


@dataclass(frozen=True)
class AllocateMessageQueueAveragelyByCircle:
    """Queues dealt out in turn: member i takes positions i, i + m, i + 2m and so on."""

    name: str = field(default="AVG_BY_CIRCLE", init=False)

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue]:
        """AllocateMessageQueueAveragelyByCircle#allocate; an unknown member gets nothing."""
        del consumer_group
        current_cid, mq_all, cid_all = _checked(current_cid, mq_all, cid_all)
        if current_cid not in cid_all:
            return []
        n, m, i = len(mq_all), len(cid_all), cid_all.index(current_cid)
        return [mq_all[k] for k in range(n) if circle_owns(n, m, i, k)]


# By configuration -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AllocateMessageQueueByConfig:
    """The configured list itself, whatever is asked.

    message_queue_list -- what setMessageQueueList was given; None until it is called.
    """

    message_queue_list: list[MessageQueue] | None = None
    name: str = field(default="CONFIG", init=False)

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue] | None:
        """AllocateMessageQueueByConfig#allocate."""
        del consumer_group, current_cid, mq_all, cid_all
        return self.message_queue_list


# By machine room ------------------------------------------------------------------------------------------------------


def machine_room_range(n: int, m: int, i: int) -> tuple[int, int, int]:
    """Start and length of member i's block among n eligible queues, and its extra position, -1 for none.

    AllocateMessageQueueByMachineRoom#allocate. Domain: n >= 0, m >= 1, 0 <= i < m.
    """
    mod = n // m
    rem = n % m
    extra = i + mod * m if rem > i else -1
    return mod * i, mod, extra


def machine_room_owns(n: int, m: int, i: int, k: int) -> bool:
    """Whether member i takes the eligible queue at position k."""
    start_index, length, extra = machine_room_range(n, m, i)
    return (start_index <= k and k < start_index + length) or k == extra  # noqa: PLR1716  as above


def room_of_broker(broker_name: str) -> str | None:
    """The room in a name `room@broker`: the first of exactly two parts by String#split, else None."""
    parts = split(broker_name, "@")
    return parts[0] if len(parts) == 2 else None  # noqa: PLR2004  room and broker


@dataclass(frozen=True)
class AllocateMessageQueueByMachineRoom:
    """Blocks as averagely, but over the queues of configured rooms only, and the remainder dealt out at the end.

    consumeridcs -- names of the rooms; None until setConsumeridcs is called.
    """

    consumeridcs: frozenset[str] | None = None
    name: str = field(default="MACHINE_ROOM", init=False)

    def eligible(self, mq_all: Queues) -> list[MessageQueue]:
        """The queues in configured rooms; raises NullPointerError if one is in a room and no rooms are configured."""
        rooms = ((mq, room_of_broker(not_null(mq.broker_name))) for mq in mq_all)
        return [mq for mq, room in rooms if room is not None and room in not_null(self.consumeridcs)]

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue]:
        """AllocateMessageQueueByMachineRoom#allocate; a blank member is refused, an unknown one gets nothing."""
        current_cid, mq_all, cid_all = _checked(None if is_blank(current_cid) else current_cid, mq_all, cid_all)
        del consumer_group
        if current_cid not in cid_all:
            return []
        premq_all = self.eligible(mq_all)
        start_index, length, extra = machine_room_range(len(premq_all), len(cid_all), cid_all.index(current_cid))
        result = premq_all[start_index : start_index + length]
        return result if extra < 0 else [*result, premq_all[extra]]


# Consistent hash ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 16)
def md5_hash(key: str) -> int:
    """ConsistentHashRouter.MD5Hash#hash: the first four bytes of the MD5, unsigned.

    The bytes are those of a JVM whose default charset is UTF-8; a lone surrogate becomes a question mark.
    """
    digest = hashlib.md5(key.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


def ring_successor(positions: Sequence[int], point: int) -> int:
    """The index of the least position >= point in ascending positions, the first if there is none.

    ConsistentHashRouter#routeNode. Domain: at least one position.
    """
    index = bisect_left(positions, point)
    return index if index < len(positions) else 0


def _existing_replicas(nodes: dict[int, str], cid: str) -> int:
    """ConsistentHashRouter#getExistingReplicas; raises NullPointerError if a null id owns a virtual node."""
    return sum(1 for owner in nodes.values() if not_null(owner) == cid)


@lru_cache(maxsize=256)
def ring(cid_all: tuple[str, ...], virtual_node_cnt: int, hash_function: HashFunction) -> tuple[list[int], list[str]]:
    """The ring as ascending positions and the member at each; ConsistentHashRouter#addNode for each member in turn.

    A later virtual node replaces one at the same position. A member that is listed twice gets further virtual nodes,
    numbered from the count of those that it still has. Java builds the ring at each call; the answer is the same.
    """
    nodes: dict[int, str] = {}
    listed: set[str | None] = set()  # Java allows null in a list
    for cid in cid_all:
        existing = _existing_replicas(nodes, cid) if cid in listed or None in listed else 0
        listed.add(cid)
        prefix = f"{concatenated(cid)}-"
        for replica in range(existing, existing + virtual_node_cnt):
            nodes[hash_function(f"{prefix}{replica}")] = cid
    positions = sorted(nodes)
    return positions, [nodes[position] for position in positions]


@dataclass(frozen=True)
class AllocateMessageQueueConsistentHash:
    """Each queue belongs to the member of the next virtual node on a ring.

    virtual_node_cnt -- virtual nodes of a member; 0 is legal (nobody owns anything), a negative count is refused.
    hash_function -- positions of texts on the ring, any long.
    """

    virtual_node_cnt: int = 10
    hash_function: HashFunction = md5_hash
    name: str = field(default="CONSISTENT_HASH", init=False)

    def __post_init__(self) -> None:
        """AllocateMessageQueueConsistentHash's constructor."""
        if self.virtual_node_cnt < 0:
            raise IllegalArgumentError(f"illegal virtualNodeCnt :{self.virtual_node_cnt}")

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue]:
        """AllocateMessageQueueConsistentHash#allocate; an unknown member gets nothing."""
        del consumer_group
        current_cid, mq_all, cid_all = _checked(current_cid, mq_all, cid_all)
        if current_cid not in cid_all:
            return []
        positions, owners = ring(tuple(cid_all), self.virtual_node_cnt, self.hash_function)
        if not positions:
            return []
        hash_function = self.hash_function
        return [mq for mq in mq_all if owners[ring_successor(positions, hash_function(mq.text))] == current_cid]


# Machine room nearby --------------------------------------------------------------------------------------------------


class MachineRoomResolver(Protocol):
    """`AllocateMachineRoomNearby.MachineRoomResolver`, written by the user."""

    def broker_deploy_in(self, message_queue: MessageQueue) -> str | None:
        """The room of the queue's broker."""

    def consumer_deploy_in(self, client_id: str) -> str | None:
        """The room of a member."""


@dataclass(frozen=True)
class AllocateMachineRoomNearby:
    """Queues of a room to the members in it by an inner strategy; those of a room without members to all members.

    inner -- the strategy used within a room; machine_room_resolver -- the rooms. None for either is refused.
    """

    inner: AllocateMessageQueueStrategy
    machine_room_resolver: MachineRoomResolver

    def __post_init__(self) -> None:
        """AllocateMachineRoomNearby's constructor."""
        if self.inner is None:
            raise NullPointerError("allocateMessageQueueStrategy is null")
        if self.machine_room_resolver is None:
            raise NullPointerError("machineRoomResolver is null")

    @property
    def name(self) -> str:
        """AllocateMachineRoomNearby#getName."""
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def queues_by_room(self, mq_all: Queues) -> dict[str, list[MessageQueue]]:
        """Queues grouped by room, in their order; raises IllegalArgumentError for a queue without a room."""
        groups: dict[str, list[MessageQueue]] = {}
        for mq in mq_all:
            room = self.machine_room_resolver.broker_deploy_in(mq)
            if not room:
                raise IllegalArgumentError(f"Machine room is null for mq {mq.text}")
            groups.setdefault(room, []).append(mq)
        return groups

    def members_by_room(self, cid_all: Members) -> dict[str, list[str]]:
        """Members grouped by room, in their order; raises IllegalArgumentError for a member without a room."""
        groups: dict[str, list[str]] = {}
        for cid in cid_all:
            room = self.machine_room_resolver.consumer_deploy_in(cid)
            if not room:
                raise IllegalArgumentError(f"Machine room is null for consumer id {concatenated(cid)}")
            groups.setdefault(room, []).append(cid)
        return groups

    def allocate(
        self, consumer_group: str, current_cid: str | None, mq_all: Queues | None, cid_all: Members | None,
    ) -> list[MessageQueue]:
        """AllocateMachineRoomNearby#allocate: the own room first, then rooms without members by name."""
        current_cid, mq_all, cid_all = _checked(current_cid, mq_all, cid_all)
        if current_cid not in cid_all:
            return []
        queues, members = self.queues_by_room(mq_all), self.members_by_room(cid_all)
        room = not_null(self.machine_room_resolver.consumer_deploy_in(current_cid))
        own = queues.pop(room, [])
        result: list[MessageQueue] = []
        if own:
            result += not_null(self.inner.allocate(consumer_group, current_cid, own, members.get(room)))
        for other in sorted(queues, key=utf16_key):
            if other not in members:
                result += not_null(self.inner.allocate(consumer_group, current_cid, queues[other], cid_all))
        return result
