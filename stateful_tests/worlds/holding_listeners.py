"""Listeners that work in order and commit themselves: they hold back what they have done until it is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl.client.message_listener import ConsumeContext, ConsumeOrderlyContext, ConsumeOrderlyStatus, ConsumeStatus
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue
from invariants.histories.operations import CONSUMED
from invariants.rules.answers import HELD, ROLLBACK
from stateful_tests.worlds.listeners import SUCCESS, Listener, key_of

ENOUGH = 4
"""So many messages of a queue are committed together."""


class HoldingListener(Listener):
    """A Listener in order with setAutoCommit(false): COMMIT when it has done ENOUGH, else SUCCESS; it may ROLLBACK.

    A message on which it rolls back is one on which it does so once. What it is given that does not follow what it
    holds tells it that it holds nothing any more: another member has had the queue.
    """

    def __init__(self, *settings: Any) -> None:
        """Hold nothing; see Listener."""
        super().__init__(*settings)
        self._held: dict[MessageQueue, list[MessageExt]] = {}
        self._rolled_back: set[str] = set()

    def _answered(
        self, msgs: Sequence[MessageExt], context: ConsumeContext, fates: list[str],
    ) -> ConsumeStatus | None:
        assert isinstance(context, ConsumeOrderlyContext)
        context.auto_commit = False
        mq, held = context.message_queue, self._held.setdefault(context.message_queue, [])
        if held and held[-1].queue_offset + 1 != msgs[0].queue_offset:
            held.clear()
        again = {key_of(msg) or "" for msg, fate in zip(msgs, fates, strict=True) if fate == ROLLBACK}
        if again - self._rolled_back:
            self._rolled_back |= again
            return self._ended([*held, *msgs], mq, ROLLBACK, ConsumeOrderlyStatus.ROLLBACK)
        fates = [SUCCESS if fate == ROLLBACK else fate for fate in fates]
        if {*fates} != {SUCCESS}:
            return super()._answered(msgs, context, fates)
        if len(held) + len(msgs) >= ENOUGH:
            self._note(CONSUMED, [*held, *msgs], mq)
            return self._ended([*held, *msgs], mq, SUCCESS, ConsumeOrderlyStatus.COMMIT)
        held += msgs
        self._tell(msgs, mq, [HELD] * len(msgs))
        return ConsumeOrderlyStatus.SUCCESS

    def _ended(
        self, msgs: Sequence[MessageExt], mq: MessageQueue, answer: str, status: ConsumeOrderlyStatus,
    ) -> ConsumeOrderlyStatus:
        """Hold nothing back any more."""
        self._held[mq].clear()
        self._tell(msgs, mq, [answer] * len(msgs))
        return status
