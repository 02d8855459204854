"""Users' listeners."""

from __future__ import annotations

from collections.abc import Sequence

from impl.client.message_listener import ConsumeContext, ConsumeStatus, success
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.decisions.message_queue import MessageQueue
from impl.ports.node import Node
from invariants.histories.operations import CONSUMED, DELIVERED
from stateful_tests.worlds.notes import Notes

WORK_MS = 100, 3_000, 25_000
"""How long a listener may work on a batch."""
BATCH_MAX_SIZE = 2
"""How many messages a listener is given at once, at most."""


class Listener:
    """A MessageListener of a group, which notes what it is given and has consumed.

    orderly -- one batch of a queue comes after the other; else every second one needs a third of the time, so that
    later messages are settled earlier. work_ms -- how long it works on a batch that begins now.
    """

    def __init__(self, node: Node, group: str, notes: Notes, *, orderly: bool) -> None:
        """Work for no time."""
        self.node, self.orderly, self.work_ms = node, orderly, 0
        self._group, self._notes = group, notes

    async def consume_message(self, msgs: Sequence[MessageExt], context: ConsumeContext) -> ConsumeStatus | None:
        """See MessageListener."""
        mq = context.message_queue
        self._note(DELIVERED, msgs, mq)
        quick = not self.orderly and msgs[0].queue_offset // BATCH_MAX_SIZE % 2
        await self.node.sleep(self.work_ms // 3 if quick else self.work_ms)
        self._note(CONSUMED, msgs, mq)
        return success(context)

    def _note(self, kind: str, msgs: Sequence[MessageExt], mq: MessageQueue) -> None:
        for msg in msgs:
            self._notes.note(kind, self.node.name, msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX),
                             group=self._group, mq=mq, offset=msg.queue_offset, attempt=msg.reconsume_times or None)
