"""Toy work functions and broken strategies, importable by Spark's workers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Strategy
from invariants.allocation.inputs import EQUAL_LISTS
from invariants.allocation.shipped import Shipped
from model.language.expectation import expectation
from spark_fuzz.work import Row, Unit, feed


def squares(unit: Unit) -> Iterator[Row]:
    """One row: the sum of the squares below the unit's number."""
    n = int(unit.body["n"])
    values = [k * k for k in range(n)]
    digest = blake2b(digest_size=16)
    feed(digest, values)
    yield {"property": "sum", "runs": n, "total": sum(values), "digest": digest.digest()}


def sleeps(unit: Unit) -> Iterator[Row]:
    """As squares, after a fifth of a second."""
    time.sleep(0.2)
    yield from squares(unit)


def noted(unit: Unit) -> Iterator[Row]:
    """As sleeps; which process begins the unit, and when, is added to the file that the unit names."""
    with Path(unit.body["file"]).open("a", encoding="utf-8") as file:
        file.write(f"{unit.id} {os.getpid()} {time.monotonic()}\n")
    yield from sleeps(unit)


def dies_once(unit: Unit) -> Iterator[Row]:
    """The first attempt kills its worker with -9 (the marker file remembers); the second gives the rows."""
    marker = unit.body.get("marker")
    if marker and not Path(marker).exists():
        Path(marker).write_text("died", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    yield from squares(unit)


def dies_always(unit: Unit) -> Iterator[Row]:
    """A unit that is marked kills its worker at every attempt."""
    if unit.body.get("marker"):
        os.kill(os.getpid(), signal.SIGKILL)
    yield from squares(unit)


def exits(unit: Unit) -> Iterator[Row]:
    """A unit that is marked ends its worker at every attempt, with that status."""
    if unit.body.get("marker"):
        os._exit(unit.body["marker"])
    yield from squares(unit)


def raises(unit: Unit) -> Iterator[Row]:
    """A unit that is marked raises after its first row."""
    yield from squares(unit)
    if unit.body.get("marker"):
        raise ValueError("planted")


# A table of strategies ----------------------------------------------------------------------------------------------


class LosesAQueue:
    """Averagely, but with at least five queues and three members the last queue is nobody's."""

    def __call__(self, _group: str, me: str, queues: list[MessageQueue], members: list[str]) -> list[MessageQueue]:
        """Allocate."""
        taken = AllocateMessageQueueAveragely().allocate("g", me, queues, members)
        lost = len(queues) >= 5 and len(members) >= 3  # noqa: PLR2004 - where the bug is planted
        return [queue for queue in taken if not (lost and queue == queues[-1])]


class RaisesForFour:
    """Averagely, but raises for four members."""

    def __call__(self, _group: str, me: str, queues: list[MessageQueue], members: list[str]) -> list[MessageQueue]:
        """Allocate."""
        if len(members) == 4:  # noqa: PLR2004 - where the bug is planted
            raise ValueError("planted")
        return AllocateMessageQueueAveragely().allocate("g", me, queues, members)


class Hangs:
    """Never returns for three queues."""

    def __call__(self, _group: str, _me: str, queues: list[MessageQueue], _members: list[str]) -> list[MessageQueue]:
        """Allocate."""
        while len(queues) == 3:  # noqa: PLR2004 - where the bug is planted
            pass
        return queues


def _shipped(name: str, strategy: Strategy) -> Shipped:
    expected = {claim: expectation("holds") for claim in ("allocation_answers", "allocation_is_total")}
    return Shipped(name, EQUAL_LISTS, lambda case: [strategy] * len(case.views), expected)


BROKEN = (_shipped("loses a queue", LosesAQueue()), _shipped("raises for four", RaisesForFour()))
HANGING = (_shipped("hangs", Hangs()),)
TWICE = (*BROKEN, *BROKEN)
