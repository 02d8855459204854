"""Replay of one recorded sequence: step by step, each answer and the whole state after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from impl.decisions.java_arithmetic import string_hash
from impl.decisions.message_queue import MessageQueue
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.replay import Row

Operations: TypeAlias = Mapping[str, Callable[[Row], Any]]
"""What each `op` does with the step that names it."""

T0 = 1_700_000_000_000  # where the controlled clock of the recordings starts


class Run(Protocol):
    """A fresh object, and everything around it that the recording scripts."""

    operations: Operations

    def observed(self, step: Row) -> Mapping[str, Any]:
        """What is to be seen after a step besides its answer, by the key that the step has for it."""
        ...


def replay_steps(row: Row, run: Run) -> str | None:
    """Apply the steps in order; the first difference, with its step, or None.

    Raises KeyError for an operation, or something to be seen, that the adapter does not know.
    """
    for number, step in enumerate(row["steps"]):
        what = f"step {number} {step['op']}"
        operation = run.operations[step["op"]]
        found = compare(step, lambda operation=operation, step=step: operation(step), what)  # type: ignore[misc]
        for key, got in run.observed(step).items():
            found = found or difference(step[key], got, f"{what}: {key}")
        if found is not None:
            return found
    return None


class ControlledClock:
    """The clock of the recordings; `tick` moves it."""

    def __init__(self) -> None:
        """Start where they start."""
        self.time_ms = T0

    def now_ms(self) -> int:
        """Now."""
        return self.time_ms

    def tick(self, step: Row) -> None:
        """The operation `tick`; it may go backwards."""
        self.time_ms += step["ms"]


class NamedChannel:
    """A connection of a recording; closing it writes its name down.

    The recorder's connections have the hash of their name, so the order of iteration is that of the recordings.
    """

    def __init__(self, name: str, closed: list[str]) -> None:
        """Open."""
        self.name = name
        self._closed = closed

    def close(self) -> None:
        """Write it down."""
        self._closed.append(self.name)

    def java_hash(self) -> int:
        """Object#hashCode."""
        return string_hash(self.name)

    def is_active(self) -> bool:
        """Whether it was never closed."""
        return self.name not in self._closed

    def is_writable(self) -> bool:
        """Always."""
        return True


class Channels:
    """The connections of one run, by name; one object for each name."""

    def __init__(self) -> None:
        """None yet."""
        self.closed: list[str] = []
        self._by_name: dict[str, NamedChannel] = {}

    def named(self, name: str) -> NamedChannel:
        """The connection of a name."""
        return self._by_name.setdefault(name, NamedChannel(name, self.closed))


def queue(fields: list[Any]) -> MessageQueue:
    """A message queue as recordings write it: [topic, broker name, queue id]."""
    topic, broker_name, queue_id = fields
    return MessageQueue(topic, broker_name, queue_id)


def queue_fields(mq: MessageQueue) -> list[Any]:
    """The same, back."""
    return [mq.topic, mq.broker_name, mq.queue_id]
