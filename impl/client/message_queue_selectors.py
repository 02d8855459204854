"""The selectors that RocketMQ brings: which of a topic's queues an application's argument leads to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from impl.common.message_to_send import Message
from impl.decisions.java_arithmetic import string_hash
from impl.decisions.java_errors import IllegalArgumentError, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import hash_position, machine_room_position
from impl.ports.node import Node


class MessageQueueSelector(Protocol):
    """`client.producer.MessageQueueSelector`. What it raises, or None, fails the send."""

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: Any) -> MessageQueue | None:
        """One of the queues; msg -- a copy, without the namespace in its topic."""
        ...


class SelectMessageQueueByHash:
    """`client.producer.selector.SelectMessageQueueByHash`: equal arguments lead to one queue of an equal list."""

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: str | int) -> MessageQueue:
        """By hashCode; arg -- a String, or an Integer, which is its own hash. Raises DivisionByZeroError."""
        del msg
        hash_code = string_hash(not_null(arg)) if isinstance(arg, str) else not_null(arg)
        return mqs[hash_position(hash_code, len(mqs))]


class SelectMessageQueueByRandom:
    """`client.producer.selector.SelectMessageQueueByRandom`."""

    def __init__(self, node: Node) -> None:
        """Let this process draw."""
        self.node = node

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: object) -> MessageQueue:
        """Any of them; raises IllegalArgumentError if there is none."""
        del msg, arg
        if not mqs:
            raise IllegalArgumentError("bound must be positive")
        return mqs[self.node.random(len(mqs), "SelectMessageQueueByRandom#select")]


class SelectMessageQueueByMachineRoom:
    """`client.producer.selector.SelectMessageQueueByMachineRoom`: it never selects anything.

    consumeridcs -- the rooms that its user names.
    """

    def __init__(self, consumeridcs: Collection[str] = ()) -> None:
        """Keep the rooms."""
        self.consumeridcs = frozenset(consumeridcs)

    def select(self, mqs: Sequence[MessageQueue], msg: Message, arg: object) -> None:
        """SelectMessageQueueByMachineRoom#select: null, so that every such send fails."""
        del msg, arg
        return machine_room_position(len(mqs))
