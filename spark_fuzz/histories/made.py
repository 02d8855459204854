"""Operations of a made history: what ordinary messages and unusual ones look like, and how each fault looks.

A history is made of blocks of MESSAGES messages of one queue; what is unusual stands at the end of a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from invariants.histories.operations import Operation

MESSAGES, QUEUES, PRODUCERS = 250, 8, 4
STRIDE = 1 << 14
"""Numbers of operations that a block has for itself."""
BLOCK_MS, DELAY_MS, MOST = 1_000_000, 10_000, 16
TAGGED, WALL = "audit/broker-a/0", "wall"
ROOM = 16
"""Offsets that a block keeps for what is unusual."""


def group_of(queue: int) -> str:
    """Even queues are consumed by the group billing, odd ones in order by ledger."""
    return "ledger" if queue % 2 else "billing"


def member_of(queue: int) -> str:
    """Each group has two members."""
    return f"{group_of(queue)}-{queue // 2 % 2}"


def queue_name(queue: int) -> str:
    """The name of a queue."""
    return f"orders/broker-a/{queue}"


def retry_of(queue: int) -> str:
    """The retry queue that a member of the group of a queue owns."""
    return f"%RETRY%{group_of(queue)}/broker-a/{queue // 2 % 2}"


def prologue() -> Iterator[Operation]:
    """The assignments that a history begins with."""
    for queue in range(QUEUES):
        given: dict[str, Any] = {"group": group_of(queue), "offset": 0, "orderly": True if queue % 2 else None}
        yield Operation("assigned", member_of(queue), queue, queue=queue_name(queue), **given)
    for queue in range(QUEUES // 2):
        yield Operation("assigned", member_of(queue), QUEUES + queue, group=group_of(queue), queue=retry_of(queue),
                        offset=0, max_attempts=MOST)
    yield Operation("assigned", "audit-0", 0, group="audit", queue=TAGGED, offset=0, tags="a || b")


@dataclass
class Block:
    """A block while its unusual operations are made. planted -- places of the faults in it."""

    number: int
    seq: int
    offset: int
    time_ms: int
    rows: list[Operation] = field(default_factory=list)
    planted: list[tuple[str, str, int]] = field(default_factory=list)
    made: int = 0

    @property
    def queue(self) -> int:
        """The number of its queue."""
        return self.number % QUEUES

    @property
    def is_other(self) -> bool:
        """Whether a fault shows itself in its other way here."""
        return self.number // QUEUES % 2 == 1

    @property
    def producer(self) -> str:
        """Who sends in it."""
        return f"producer-{self.number % PRODUCERS}"

    def add(self, kind: str, process: str, *, after_ms: int = 1, fault: str = "", **given: Any) -> None:
        """One more operation; fault -- it shows this fault."""
        self.time_ms += after_ms
        self.rows.append(Operation(kind, process, self.seq, time_ms=self.time_ms, **given))
        if fault:
            self.planted.append((fault, process, self.seq))
        self.seq += 1

    def sent(self, outcome: str = "acknowledged", *, fault: str = "", at: int | None = None, **given: Any) -> str:
        """A message that is sent; an acknowledged one gets an offset."""
        message = f"u{self.number}-{self.made}"
        self.made += 1
        key = given.get("key")
        self.add("send", self.producer, message=message, **given)
        place: dict[str, Any] = {"key": key, "fault": fault, "message": message}
        if outcome == "acknowledged" and not given.get("half"):
            place |= {"queue": queue_name(self.queue), "offset": self.take() if at is None else at}
        if outcome:
            self.add(outcome, self.producer, **place)
        return message

    def take(self) -> int:
        """The next offset."""
        self.offset += 1
        return self.offset - 1

    def at_member(self, kind: str, message: str, offset: int, **given: Any) -> None:
        """What the owner of the queue does with a message."""
        given.setdefault("queue", queue_name(self.queue))
        self.add(kind, member_of(self.queue), message=message, group=group_of(self.queue), offset=offset, **given)

    def consumed(self, message: str, offset: int, **given: Any) -> None:
        """The message is delivered and consumed."""
        self.at_member("delivered", message, offset, **given)
        given = {name: value for name, value in given.items() if name in {"queue", "clock"}}
        self.at_member("consumed", message, offset, **given)


# What is unusual, and right -----------------------------------------------------------------------------------------


def unknown(block: Block) -> None:
    """Nobody knows what came of two sends: one is delivered, one is not."""
    block.consumed(block.sent("unknown"), block.take())
    block.sent("unknown")
    block.sent("failed")


def handed_over(block: Block) -> None:
    """The queue is revoked and comes back, and what was consumed is delivered again."""
    message, offset = block.sent(), block.offset - 1
    owned: dict[str, Any] = {"group": group_of(block.queue), "queue": queue_name(block.queue)}
    block.consumed(message, offset)
    block.add("revoked", member_of(block.queue), **owned)
    block.add("assigned", member_of(block.queue), offset=offset, orderly=True if block.queue % 2 else None, **owned)
    block.consumed(message, offset)


def retried(block: Block, *, waits_ms: int = DELAY_MS, fault: str = "") -> None:
    """A message is sent back, waits, and is delivered from the retry queue."""
    message, offset = block.sent(), block.offset - 1
    block.at_member("delivered", message, offset)
    block.at_member("sent_back", message, offset, delay_ms=DELAY_MS)
    block.consumed(message, block.number * ROOM + block.made, queue=retry_of(block.queue), attempt=1, fault=fault,
                   after_ms=waits_ms)


def given_up(block: Block, *, attempts: int = MOST, fault: str = "", late: str = "") -> None:
    """A message is sent back as often as can be, and given up; late -- the fault that its last delivery shows."""
    message, offset = block.sent(), block.offset - 1
    place: dict[str, Any] = {"queue": queue_name(block.queue)}
    for attempt in range(attempts):
        block.at_member("delivered", message, offset, attempt=attempt, after_ms=DELAY_MS + 1, **place)
        block.at_member("sent_back", message, offset, attempt=attempt, delay_ms=DELAY_MS, **place)
        offset, place = (block.number * ROOM + block.made) * MOST + attempt, {"queue": retry_of(block.queue)}
    block.at_member("delivered", message, offset, attempt=attempts, after_ms=DELAY_MS + 1, fault=late, **place)
    block.at_member("given_up", message, offset, attempt=attempts, fault=fault, **place)


def transactions(block: Block, *, fault: str = "") -> None:
    """One half message is committed and delivered, another is rolled back; all by one clock.

    fault -- the first one is committed behind its delivery, or the other one too, behind its end.
    """
    message, offset, late = block.sent(half=True), block.take(), bool(fault) and not block.is_other
    place: dict[str, Any] = {"queue": queue_name(block.queue), "offset": offset, "clock": WALL}
    if not late:
        block.add("half_committed", block.producer, message=message, **place)
    block.consumed(message, offset, clock=WALL)
    if late:
        block.add("half_committed", block.producer, message=message, fault=fault, **place)
    other = block.sent(half=True)
    block.add("half_rolled_back", block.producer, message=other)
    if fault and not late:
        block.add("half_committed", block.producer, message=other, fault=fault)


def keyed(block: Block) -> None:
    """Two messages of one key."""
    for _ in range(2):
        block.consumed(block.sent(key=f"key-{block.number}"), block.offset - 1)


def tagged(block: Block, *, tag: str = "a", fault: str = "") -> None:
    """A message of a tag that its member subscribes."""
    message = block.sent("", tag=tag)
    place: dict[str, Any] = {"queue": TAGGED, "offset": block.number * ROOM + block.made}
    block.add("acknowledged", block.producer, message=message, **place)
    block.add("delivered", "audit-0", message=message, group="audit", fault=fault, **place)
    block.add("consumed", "audit-0", message=message, group="audit", **place)


USUAL: tuple[Callable[[Block], None], ...] = (unknown, handed_over, retried, given_up, transactions, keyed, tagged)
"""What is unusual and breaks nothing."""


# Faults --------------------------------------------------------------------------------------------------------------


def lost(block: Block) -> None:
    """Acknowledged, never delivered; the block's commit passes it."""
    block.sent(fault="lost")


def phantom(block: Block) -> None:
    """Delivered, and never sent; elsewhere its send has failed."""
    offset = block.take()
    message = block.sent("failed") if block.is_other else f"ghost-{block.number}"
    block.consumed(message, offset, fault="phantom")


def duplicated(block: Block) -> None:
    """Consumed, and delivered again."""
    message, offset = block.sent(), block.offset - 1
    block.consumed(message, offset)
    block.consumed(message, offset, fault="duplicated")


def reordered(block: Block) -> None:
    """An orderly member consumes backwards; elsewhere two messages of one key stand the wrong way round."""
    if block.queue % 2:
        one, other = block.sent(), block.sent()
        offset = block.offset - 1
        block.consumed(other, offset)
        block.consumed(one, offset - 1, fault="reordered")
        return
    offset, key = block.take(), f"fault-{block.number}"
    block.take()
    block.consumed(block.sent(key=key, at=offset + 1), offset + 1)
    block.consumed(block.sent(key=key, at=offset, fault="reordered"), offset)


def skipped(block: Block) -> None:
    """Delivered, never settled; the block's commit passes it."""
    block.at_member("delivered", block.sent(), block.offset - 1, fault="skipped")


def regressed(block: Block) -> None:
    """A member commits, and then less."""
    owned: dict[str, Any] = {"group": group_of(block.queue), "queue": queue_name(block.queue)}
    block.add("committed", member_of(block.queue), offset=block.offset, **owned)
    block.add("committed", member_of(block.queue), offset=block.offset - 1, fault="regressed", **owned)


def transaction_reordered(block: Block) -> None:
    """Delivered before it is committed; elsewhere rolled back, and then committed."""
    transactions(block, fault="transaction_reordered")


def unresolved(block: Block) -> None:
    """A half message is acknowledged, and that is all."""
    block.sent(half=True, fault="unresolved")


def early(block: Block) -> None:
    """Sent back, and delivered before its delay; elsewhere sent with a delay, by one clock."""
    if not block.is_other:
        retried(block, waits_ms=DELAY_MS // 10, fault="early")
        return
    message = block.sent("", delay_ms=DELAY_MS, clock=WALL)
    block.add("acknowledged", block.producer, message=message)
    block.consumed(message, block.take(), fault="early", clock=WALL)


def misfiltered(block: Block) -> None:
    """Delivered though its tag is not subscribed."""
    tagged(block, tag="c", fault="misfiltered")


def two_owners(block: Block) -> None:
    """A queue is assigned to two members, and stays so."""
    owned: dict[str, Any] = {"group": "billing", "queue": f"shared/broker-a/{block.number}", "offset": 0}
    block.add("assigned", "billing-0", **owned)
    block.add("assigned", "billing-1", fault="two_owners", **owned)


def dead_letter(block: Block) -> None:
    """Given up after one attempt; elsewhere sent back once more than can be, and delivered."""
    if block.is_other:
        given_up(block, attempts=MOST + 1, late="dead_letter")
    else:
        given_up(block, attempts=1, fault="dead_letter")


FAULTS: Mapping[str, Callable[[Block], None]] = {one.__name__: one for one in (
    lost, phantom, duplicated, reordered, transaction_reordered, skipped, regressed, unresolved, early, misfiltered,
    two_owners, dead_letter)}
"""How each fault is planted."""
