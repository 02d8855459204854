"""ConsumeMessageConcurrentlyService: listeners work on messages of a queue beside each other.

Left out: messages that are sent back, and those that are taken away from a listener that needs too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from impl.client.consume_message_service import ConsumeMessageService, is_dropped
from impl.client.process_queue import ProcessQueue
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue


class ConsumeMessageConcurrentlyService(ConsumeMessageService):
    """`client.impl.consumer.ConsumeMessageConcurrentlyService`."""

    def start(self) -> None:
        """See the module: its timer is left out."""

    async def shutdown(self) -> None:
        """#shutdown(0)."""
        self.consume_executor.shutdown_now()

    def submit_consume_request(
        self, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *, dispatch_to_consume: bool,
    ) -> None:
        """#submitConsumeRequest: a task for each batch, whatever is on its way."""
        del dispatch_to_consume
        size = self.consumer.config.consume_message_batch_max_size
        for first in range(0, len(msgs), size):
            self.consume_executor.execute(partial(self._run, mq, pq, msgs[first : first + size]))

    async def _run(self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[MessageExt]) -> None:
        """ConsumeRequest#run: what becomes of a queue that is dropped meanwhile is not looked at."""
        if is_dropped(pq):
            return
        await self.consumer.message_listener.consume_message(msgs, mq)
        await self.node.interleave("ConsumeRequest: the listener has ended")
        if not is_dropped(pq):
            await self.process_consume_result(mq, pq, msgs)

    async def process_consume_result(self, mq: MessageQueue, pq: ProcessQueue, msgs: Sequence[MessageExt]) -> None:
        """#processConsumeResult with CONSUME_SUCCESS, of a queue that was not dropped just before."""
        offset = pq.remove_message(msgs)
        self._settle(mq, msgs)
        if offset >= 0 and not pq.dropped:
            await self._update_offset(mq, pq, offset)

    async def _update_offset(self, mq: MessageQueue, pq: ProcessQueue, offset: int) -> None:
        """`dropped` was looked at before; what has become of the queue meanwhile is not looked at (X18)."""
        del pq
        await self.node.interleave("processConsumeResult: between removeMessage and updateOffset")
        self._put(mq, offset, increase_only=True)
