"""FlushConsumeQueueService: the thread that flushes the consume queues, and the checkpoint after all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from impl.decisions.flush_rules import is_thorough_flush
from impl.decisions.java_errors import JavaError, JavaException
from impl.store.consume_queue import ConsumeQueue
from impl.store.flush_commit_log_service import Checkpoint, passed_over
from impl.store.message_store_config import MessageStoreConfig

RETRY_TIMES_OVER = 3  # FlushConsumeQueueService


class FlushConsumeQueueService:
    """`DefaultMessageStore.FlushConsumeQueueService`: step `run_once`, every second.

    ended -- its thread has, and flushes nothing any more, nor at the shutdown.
    """

    def __init__(
        self, queues: Callable[[], Iterable[ConsumeQueue]], checkpoint: Checkpoint, config: MessageStoreConfig,
        now_ms: Callable[[], int],
    ) -> None:
        """Begin with a thorough flush; queues -- gives all queues of the store."""
        self._queues, self._checkpoint, self._config, self._now_ms = queues, checkpoint, config, now_ms
        self._last_flush_ms = 0
        self.ended = False

    def pass_over(self) -> None:
        """Rounds were left out in which there was nothing to flush."""
        self._last_flush_ms = passed_over(
            self._last_flush_ms, self._now_ms(), self._config.flush_consume_queue_thorough_interval_ms)

    def run_once(self) -> bool:
        """FlushConsumeQueueService#run, one round: an Exception, as of a force that fails, is logged.

        What it gives: see do_flush. Raises what Java throws as an Error, as where the checkpoint has no room on the
        disk: its thread ends with that.
        """
        try:
            return not self.ended and self.do_flush()
        except JavaException:
            return False
        except JavaError:
            self.ended = True
            raise

    def do_flush(self, retry_times: int = 1) -> bool:
        """FlushConsumeQueueService#doFlush: once for each queue, and every 60 s thoroughly, with the checkpoint.

        What the checkpoint said of the queues before a thorough flush, it says again after it. True: it was a thorough
        one, and nothing is left to be flushed.
        """
        least_pages = 0 if retry_times == RETRY_TIMES_OVER else self._config.flush_consume_queue_least_pages
        logics_msg_timestamp, now_ms = 0, self._now_ms()
        if is_thorough_flush(now_ms, self._last_flush_ms, self._config.flush_consume_queue_thorough_interval_ms):
            self._last_flush_ms, least_pages = now_ms, 0
            logics_msg_timestamp = self._checkpoint().logics_msg_timestamp
        for queue in self._queues():
            for _ in range(retry_times):
                if queue.flush(least_pages):
                    break
        if least_pages == 0:
            if logics_msg_timestamp > 0:
                self._checkpoint().logics_msg_timestamp = logics_msg_timestamp
            self._checkpoint().flush()
        return least_pages == 0 and not any(
            queue.mapped_file_queue.remain_how_many_data_to_flush() for queue in self._queues())

    def shutdown(self) -> None:
        """FlushConsumeQueueService#run after the stop: the round that was waited for, and a thorough one.

        What they raise ends its thread, and nothing else.
        """
        with suppress(JavaError):
            self.run_once()
            if not self.ended:
                self.do_flush(RETRY_TIMES_OVER)
