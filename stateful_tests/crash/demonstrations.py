"""Store directories that show a hazard of RocketMQ as shipped: what a start makes of them breaks a promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from impl.store.message_store_config import FlushDiskType
from invariants.verdict import Outcome
from stateful_tests.crash.known import Known
from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Life, Workload
from stateful_tests.crash.promises import CONSECUTIVE, KEYS, NAMES, PREFIX, STARTS, SURVIVES, TIMES
from stateful_tests.crash.survey import JOURNALLED, KINDS, MACHINE, PROCESS, Crashes, Effort, surveyed
from stateful_tests.crash.workloads import WORKLOADS

_SYNC = FlushDiskType.SYNC_FLUSH
_LOG, _QUEUE = f"store/commitlog/{0:020d}", f"store/consumequeue/A/0/{0:020d}"


class Shown(NamedTuple):
    """A directory, and what was there before.

    lines -- what was done and what happened then, for people. image -- the files. life -- what the store has lived
    through. known -- of the messages at the end.
    """

    lines: Sequence[str]
    image: Image
    life: Life
    known: Known


class Demonstration(NamedTuple):
    """A hazard to show, or a report that is not so in 4.9.3.

    name -- of the hazard, or the number of the report. property -- that it breaks, or is said to break. make -- makes
    the directory. expected -- of the property, on the real store.
    """

    name: str
    property: str
    make: Callable[[], Shown]
    expected: Outcome = Outcome.VIOLATED

    def hazards(self) -> tuple[str, ...]:
        """The hazard, if it is one."""
        return (self.name,) if self.expected is Outcome.VIOLATED else ()


def _of_atlas(hazard: str, property_name: str, workload: str, kind: str) -> Demonstration:
    """The smallest image of a workload that breaks the property."""
    def make() -> Shown:
        life = Life(WORKLOADS[workload])
        example = surveyed(life, Crashes(life, kind).chosen(Effort(images=2_000))[1]).smallest[property_name]
        stale = f"not as they were written last: {', '.join(example.stale)}" if example.stale else "no byte is lost"
        lines = [*_told(life.workload), f"a crash after step {example.step} of the disk: {KINDS[kind]}", stale]
        return Shown(lines, example.image, life, life.known(example.step))

    return Demonstration(hazard, property_name, make)


def _told(workload: Workload) -> list[str]:
    return [f"{workload.flush.value}; " + ", ".join(workload.operations)]


def _of_story(
    hazard: str, property_name: str, told: str, operations: Sequence[str],
    damage: Callable[[Life, dict[str, bytes]], str], queue_file_bytes: int = 400,
    expected: Outcome = Outcome.VIOLATED,
) -> Demonstration:
    """What is left after some operations, damaged. told -- the operations in words; damage -- says what it did."""
    def make() -> Shown:
        workload = Workload(f"demonstrate {hazard}", told, _SYNC, tuple(operations), queue_file_bytes=queue_file_bytes)
        life = Life(workload)
        image = life.recorder.image()
        lines = [f"{workload.flush.value}; {told}", damage(life, image)]
        return Shown(lines, image, life, life.known(life.recorder.steps))

    return Demonstration(hazard, property_name, make, expected)


def _turn_a_bit(life: Life, image: dict[str, bytes]) -> str:
    """One bit of the second record's magic."""
    place = life.messages[1].offset + 4
    data = bytearray(image[_LOG])
    data[place] ^= 1
    image[_LOG] = bytes(data)
    return f"one bit of the second record has turned, at {place:,} of the log; all else is as it was written"


def _lose_half_a_unit(life: Life, image: dict[str, bytes]) -> str:
    """The second page of a queue, which unit 204 reaches into with its last four bytes."""
    del life
    data = image[_QUEUE]
    image[_QUEUE] = data[:4_096] + bytes(len(data) - 4_096)
    return "the machine loses its power: the first page of queue A-0 is durable, the second is not"


def _empty_the_last_queue_file(life: Life, image: dict[str, bytes]) -> str:
    """With the last record of the log, of which it had the unit."""
    last = life.messages[-1]
    data = image[_LOG]
    image[_LOG] = data[:last.offset] + bytes(len(data) - last.offset)
    path = f"store/consumequeue/A/0/{400:020d}"
    image[path] = bytes(len(image[path]))
    return "the machine loses its power: the last file of queue A-0 is empty, and the log has lost the record for it"


DEMONSTRATIONS: Mapping[str, Demonstration] = {one.name: one for one in (
    _of_story("V2", SURVIVES, "five messages, each flushed and acknowledged; an orderly stop",
              ("put A", "flush") * 5 + ("dispatch", "stop"), _turn_a_bit),
    _of_atlas("V3", CONSECUTIVE, "sync_kill", JOURNALLED),
    _of_atlas("V7", PREFIX, "sync_torn", PROCESS),
    _of_story("V8", NAMES, "205 messages with a tag, each flushed and acknowledged; their queue is dispatched",
              ("put A", "flush") * 205 + ("dispatch",), _lose_half_a_unit, queue_file_bytes=8_000),
    _of_atlas("V22", STARTS, "sync_two_topics", PROCESS),
    _of_atlas("V26", SURVIVES, "sync_two_topics", MACHINE),
    _of_atlas("V27", KEYS, "sync_index_stop", JOURNALLED),
    _of_atlas("V28", TIMES, "sync_roll", PROCESS),
    _of_atlas("V35", SURVIVES, "sync_undispatched", PROCESS),
    _of_story("10108", STARTS, "21 messages, of which 20 fill the first file of their queue; all are dispatched",
              ("put A", "flush") * 21 + ("dispatch",), _empty_the_last_queue_file, expected=Outcome.HOLDS),
)}
"""Hazard, or number of a report of apache/rocketmq that is not so in 4.9.3, to how it is shown."""
