"""What clients of a world observe, as a history of operations: nothing that only a broker knows is in it.

Applications note what they do with their messages. Queues, commits and the ends of processes are taken from what
clients and the host report. No times are noted, as the clocks of these machines are not to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from impl.decisions.message_queue import MessageQueue
from impl.events import OffsetSent, ProcessKilled, QueueDropped, QueueTaken
from impl.hosts.simulation.kernel import Kernel
from invariants.histories.operations import ASSIGNED, COMMITTED, RESTARTED, REVOKED, Operation

_KINDS = {QueueTaken: ASSIGNED, QueueDropped: REVOKED, OffsetSent: COMMITTED}


class Notes:
    """The notes of all applications of a world."""

    def __init__(self, kernel: Kernel) -> None:
        """Nothing is noted yet."""
        self._kernel = kernel
        self._noted: list[tuple[int, Operation]] = []

    def note(self, kind: str, machine: str, message: str | None, *, group: str | None = None,
             mq: MessageQueue | None = None, offset: int | None = None) -> None:
        """An application of a machine notes an operation on a message; one without an id is not noted."""
        if message is not None:
            queue = None if mq is None else named(mq)
            self._noted.append((len(self._kernel.records), Operation(
                kind, machine, 0, message, group, queue, offset)))

    def history(self) -> list[Operation]:
        """All operations in the order in which they were; a process is what runs on a machine."""
        ordered = sorted(chain(self._noted, self._reported()), key=lambda one: one[0])
        return [one._replace(seq=seq) for seq, (_, one) in enumerate(ordered)]

    def _reported(self) -> Iterator[tuple[int, Operation]]:
        for place, (_, machine, event) in enumerate(self._kernel.records, 1):
            if isinstance(event, ProcessKilled):
                yield place, Operation(RESTARTED, machine, 0)
            elif isinstance(event, (QueueTaken, QueueDropped, OffsetSent)):
                offset = None if isinstance(event, QueueDropped) else event.offset
                yield place, Operation(_KINDS[type(event)], machine, 0, None, event.group, named(event.mq), offset)


def named(mq: MessageQueue) -> str:
    """A queue by its name."""
    return f"{mq.topic}/{mq.broker_name}/{mq.queue_id}"
