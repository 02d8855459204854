"""What users write to consume messages: listeners, what they may answer, and what they are told besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from impl.common.message import MessageExt
from impl.decisions.java_arithmetic import INT_MAX
from impl.decisions.message_queue import MessageQueue


class ConsumeConcurrentlyStatus(StrEnum):
    """`client.consumer.listener.ConsumeConcurrentlyStatus`."""

    CONSUME_SUCCESS = "CONSUME_SUCCESS"
    RECONSUME_LATER = "RECONSUME_LATER"


class ConsumeOrderlyStatus(StrEnum):
    """`client.consumer.listener.ConsumeOrderlyStatus`; the two in the middle are deprecated."""

    SUCCESS = "SUCCESS"
    ROLLBACK = "ROLLBACK"
    COMMIT = "COMMIT"
    SUSPEND_CURRENT_QUEUE_A_MOMENT = "SUSPEND_CURRENT_QUEUE_A_MOMENT"


@dataclass(slots=True)
class ConsumeConcurrentlyContext:
    """`client.consumer.listener.ConsumeConcurrentlyContext`: of one batch.

    delay_level_when_next_consume -- of what is sent back: -1 to the dead letters at once, 0 the broker chooses.
    ack_index -- of a batch that has succeeded, the last message that is settled; what is behind it is sent back.
    """

    message_queue: MessageQueue
    delay_level_when_next_consume: int = 0
    ack_index: int = INT_MAX


@dataclass(slots=True)
class ConsumeOrderlyContext:
    """`client.consumer.listener.ConsumeOrderlyContext`: of one batch.

    auto_commit -- success commits. suspend_current_queue_time_ms -- how long to rest; -1: as the consumer has it.
    """

    message_queue: MessageQueue
    auto_commit: bool = True
    suspend_current_queue_time_ms: int = -1


ConsumeContext = ConsumeConcurrentlyContext | ConsumeOrderlyContext
ConsumeStatus = ConsumeConcurrentlyStatus | ConsumeOrderlyStatus


class MessageListener(Protocol):
    """A MessageListenerConcurrently or a MessageListenerOrderly: the context says which it is called as."""

    async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus | None:
        """Work on some messages of a queue; a JavaError is what it throws, and None is as bad."""
        ...


class SucceedingListener:
    """A MessageListener that has nothing to do."""

    async def consume_message(
        self, msgs: Sequence[MessageExt], context: ConsumeContext,  # noqa: ARG002  # a MessageListener
    ) -> ConsumeStatus:
        """Succeed at once."""
        return success(context)


def success(context: ConsumeContext) -> ConsumeStatus:
    """What a listener of the kind that the context is of answers when all went well."""
    if isinstance(context, ConsumeOrderlyContext):
        return ConsumeOrderlyStatus.SUCCESS
    return ConsumeConcurrentlyStatus.CONSUME_SUCCESS


def later(context: ConsumeContext) -> ConsumeStatus:
    """What it answers when the batch is to be consumed again."""
    if isinstance(context, ConsumeOrderlyContext):
        return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
    return ConsumeConcurrentlyStatus.RECONSUME_LATER
