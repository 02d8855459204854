"""What clients of a world observe, as a history of operations: nothing that only a broker knows is in it.

Applications note what they do with their messages. Queues, commits, what is sent back or given up, and the ends of
processes are taken from what clients and the host report. All is noted at true time, by one clock: that of the machines
may jump and drift.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events import (
    ConsumerShutDown,
    ConsumerStarted,
    OffsetSent,
    OffsetsWritten,
    ProcessKilled,
    QueueDropped,
    QueueTaken,
)
from impl.hosts.simulation.kernel import Kernel
from invariants.histories.operations import (
    ASSIGNED,
    COMMITTED,
    GIVEN_UP,
    RESTARTED,
    REVOKED,
    SENT_BACK,
    Operation,
)
from invariants.rules.observed import Observation
from stateful_tests.worlds.failures import Failures

CLOCK = "world"
_KINDS = {QueueTaken: ASSIGNED, QueueDropped: REVOKED, OffsetSent: COMMITTED, OffsetsWritten: COMMITTED}


class Notes:
    """The notes of all applications of a world."""

    def __init__(self, kernel: Kernel) -> None:
        """Nothing is noted yet."""
        self._kernel = kernel
        self._noted: list[Observation] = []
        self._consumers: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._alone: set[tuple[str, str]] = set()

    def note(self, kind: str, machine: str, message: str | None, *, group: str | None = None,
             mq: MessageQueue | None = None, offset: int | None = None, **more: Any) -> None:
        """An application of a machine notes an operation on a message; one without an id is not noted.

        more -- other fields of the operation: key, tag, half and delay_ms of a send, key again of its outcome, attempt
        (reconsumeTimes) of what is delivered.
        """
        if message is not None:
            self._noted.append(Observation(len(self._kernel.records), Operation(
                kind, machine, 0, message, self._named(machine, group), named(mq), offset, self._kernel.now_ms, CLOCK,
                **more)))

    def consumes(self, machine: str, group: str, topic: str, tags: str, *, broadcasting: bool = False,
                 **more: Any) -> None:
        """An application of a machine is about to start a consumer; tags -- that it subscribes, `*` for all.

        broadcasting -- the member is a group of its own. more -- other fields of an assignment of the topic's queues:
        orderly, max_attempts.
        """
        self._consumers[machine, group, topic] = {"tags": None if tags == "*" else tags, **more}
        if broadcasting:
            self._alone.add((machine, group))

    def history(self) -> list[Observation]:
        """All operations in the order in which they were; a process is what runs on a machine."""
        ordered = sorted(chain(self._noted, self._reported(), self._failed()), key=lambda one: one.position)
        return [Observation(one.position, one.operation._replace(seq=seq)) for seq, one in enumerate(ordered)]

    def _reported(self) -> Iterator[Observation]:
        """What a consumer takes that has shut down, as a run of its client goes on, is nobody's."""
        shut_down: set[tuple[str, str, str]] = set()
        for position, (ms, machine, event) in enumerate(self._kernel.records, 1):
            if isinstance(event, ConsumerShutDown):
                shut_down.add((machine, *event))
            elif isinstance(event, ConsumerStarted):
                shut_down.discard((machine, event.client_id, event.group))
            elif isinstance(event, QueueTaken) and (machine, event.client_id, event.group) in shut_down:
                continue
            elif isinstance(event, ProcessKilled):
                yield Observation(position, Operation(RESTARTED, machine, 0, time_ms=ms, clock=CLOCK))
            elif isinstance(event, (QueueTaken, QueueDropped, OffsetSent, OffsetsWritten)):
                kind, group = _KINDS[type(event)], self._named(machine, event.group)
                for mq, offset in _queues(event):
                    known = self._consumers.get((machine, event.group, mq.topic), {}) if kind == ASSIGNED else {}
                    yield Observation(position, Operation(
                        kind, machine, 0, None, group, named(mq), offset, ms, CLOCK, **known))

    def _failed(self) -> Iterator[Observation]:
        """What clients have sent back, or given up; a broadcaster gives up at once."""
        for position, ms, one in Failures().over(self._kernel.records):
            alone = (one.machine, one.group) in self._alone
            yield Observation(position, Operation(
                GIVEN_UP if one.is_last or alone else SENT_BACK, one.machine, 0, one.key,
                self._named(one.machine, one.group), named(one.mq), one.offset, ms, CLOCK, attempt=one.attempt))

    def _named(self, machine: str, group: str | None) -> str | None:
        """The name of a group of which an application of a machine is a member; in broadcasting it is the only one."""
        return f"{group}@{machine}" if group is not None and (machine, group) in self._alone else group


def _queues(
    event: QueueTaken | QueueDropped | OffsetSent | OffsetsWritten,
) -> Iterable[tuple[MessageQueue, int | None]]:
    """The queues of an event with their offsets."""
    if isinstance(event, OffsetsWritten):
        return event.offsets
    return ((event.mq, None if isinstance(event, QueueDropped) else event.offset),)


def named(mq: MessageQueue | None) -> str | None:
    """A queue by its name."""
    return None if mq is None else f"{mq.topic}/{mq.broker_name}/{mq.queue_id}"
