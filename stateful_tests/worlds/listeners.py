"""Users' listeners: some are slow, some throw, some ask for a message again, and some never return."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from impl.client.message_listener import (
    ConsumeConcurrentlyContext,
    ConsumeContext,
    ConsumeStatus,
    later,
    success,
)
from impl.client.push_consumer_config import NOT_SET, PushConsumerConfig
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.decisions.java_errors import JavaRuntimeError
from impl.decisions.message_queue import MessageQueue
from impl.events import MessagesAnswered, MessagesGiven
from impl.ports.node import Node
from invariants.histories.operations import CONSUMED, DELIVERED
from stateful_tests.worlds.contents import content_of
from stateful_tests.worlds.notes import Notes

WORK_MS = 100, 3_000, 25_000
"""How long a listener may work on a batch."""
SLOW_MS = 8_000
"""How long one does that is slow."""
BATCH_MAX_SIZE = 2
"""How many messages a listener is given at once, at most."""

SUCCESS, LATER, NULL, EXCEPTION, NEVER = "SUCCESS", "LATER", "NULL", "EXCEPTION", "NEVER"
"""What a listener makes of a message; NEVER: it does not return."""
POISON, ONE_IN = "POISON", 60
"""A message that never succeeds; of so many messages one has each of the fates of its world."""
FOR_EVER_MS = 10**9
RETRIES, RETRIES_IN_ORDER = 16, 2**31 - 1
"""How often the manual says that a group tries a message again which has not set maxReconsumeTimes."""


def most_retries(config: PushConsumerConfig) -> int:
    """How often a group tries a message again with which its listener fails."""
    if config.max_reconsume_times != NOT_SET:
        return config.max_reconsume_times
    return RETRIES_IN_ORDER if config.orderly else RETRIES


def fate_of(key: str, attempt: int, fates: Sequence[str]) -> str:
    """What a listener makes of a message: the same in every process; fates -- that messages may have."""
    drawn = zlib.crc32(key.encode()) % ONE_IN
    fate = fates[drawn] if drawn < len(fates) else SUCCESS
    if fate == POISON:
        return LATER
    return SUCCESS if attempt else fate


class Asked(NamedTuple):
    """What a listener asks for in case it fails.

    level -- the delay level of what is sent back, as `ConsumeConcurrentlyContext` has it. rest_ms -- how long the queue
    is to rest, as `ConsumeOrderlyContext` has it.
    """

    level: int = 0
    rest_ms: int = -1


class Listener:
    """A MessageListener of a group, which notes what it is given and what it makes of it.

    orderly -- one batch of a queue comes after the other; else every second one needs a third of the time, so that
    later messages are settled earlier. work_ms -- how long it works on a batch that begins now. fates -- see `fate_of`.
    config -- of its consumer. most -- how often its group sends a message back. namespace -- of its client.
    """

    def __init__(
        self, node: Node, notes: Notes, config: PushConsumerConfig, fates: Sequence[str] = (),
    ) -> None:
        """Work for no time."""
        self.node, self.config, self.orderly, self.work_ms, self.fates = node, config, config.orderly, 0, fates
        self.namespace = ""
        self._group, self._notes = config.consumer_group, notes
        self.most = most_retries(config)

    async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus | None:
        """See MessageListener: the first message that fails decides, and what is before it is settled if it can be."""
        mq, asked = context.message_queue, self.asked(msgs)
        if isinstance(context, ConsumeConcurrentlyContext):
            context.delay_level_when_next_consume = asked.level
        else:
            context.suspend_current_queue_time_ms = asked.rest_ms
        self._note(DELIVERED, msgs, mq)
        fates = [fate_of(key_of(msg) or "", msg.reconsume_times, self.fates) for msg in msgs]
        self._tell(msgs, mq, None)
        if NEVER in fates:
            self._tell(msgs, mq, [NEVER] * len(msgs))
            await self.node.sleep(FOR_EVER_MS)
        quick = not self.orderly and msgs[0].queue_offset // BATCH_MAX_SIZE % 2
        await self.node.sleep(self.work_ms // 3 if quick else self.work_ms)
        return self._answered(msgs, context, fates)

    def asked(self, msgs: Sequence[MessageExt]) -> Asked:
        """What is asked for in case it fails with these."""
        del msgs
        return Asked()

    def _answered(
        self, msgs: Sequence[MessageExt], context: ConsumeContext, fates: list[str],
    ) -> ConsumeStatus | None:
        bad = next((index for index, fate in enumerate(fates) if fate != SUCCESS), len(msgs))
        answer = fates[bad] if bad < len(msgs) else SUCCESS
        split = bad if answer == LATER and isinstance(context, ConsumeConcurrentlyContext) else 0
        settled = len(msgs) if answer == SUCCESS else split
        answers = [SUCCESS] * settled + [answer] * (len(msgs) - settled)
        self._tell(msgs, context.message_queue, answers)
        self._note(CONSUMED, msgs[:settled], context.message_queue)
        if answer == EXCEPTION:
            raise JavaRuntimeError("the listener fails")
        if answer == NULL:
            return None
        if isinstance(context, ConsumeConcurrentlyContext) and 0 < settled < len(msgs):
            context.ack_index = settled - 1
            return success(context)
        return success(context) if answer == SUCCESS else later(context)

    def _content_of(self, msg: MessageExt) -> int:
        """What it was given, as its namespace is known to nobody but brokers."""
        return content_of(msg, self.namespace)

    def _note(self, kind: str, msgs: Sequence[MessageExt], mq: MessageQueue) -> None:
        for msg in msgs:
            self._notes.note(kind, self.node.name, key_of(msg), group=self._group, mq=mq, offset=msg.queue_offset,
                             attempt=msg.reconsume_times or None)

    def _tell(self, msgs: Sequence[MessageExt], mq: MessageQueue, answers: Sequence[str] | None) -> None:
        """Report what is given (no answers), or what has become of it."""
        offsets, keys = tuple(msg.queue_offset for msg in msgs), tuple(key_of(msg) or "" for msg in msgs)
        if answers is None:
            attempts = tuple(msg.reconsume_times for msg in msgs)
            self.node.trace(MessagesGiven(
                self._group, mq, offsets, keys, attempts, self.most, self.orderly, tuple(map(self._content_of, msgs)),
                self.config.consume_message_batch_max_size, self.config.suspend_current_queue_time_ms,
                tuple(msg.born_timestamp for msg in msgs)))
        else:
            self.node.trace(MessagesAnswered(self._group, mq, offsets, keys, tuple(answers), *self.asked(msgs)))


class SlowListener(Listener):
    """A Listener that works for seconds on each batch."""

    def __init__(self, *settings: Any) -> None:
        """See Listener."""
        super().__init__(*settings)
        self.work_ms = SLOW_MS


def key_of(msg: MessageExt) -> str | None:
    """The UNIQ_KEY of a message."""
    return msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
