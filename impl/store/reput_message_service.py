"""ReputMessageService: the thread that gives each new record to the dispatchers, in the order of the log."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from impl.decisions.java_errors import JavaError, JavaException, VirtualMachineError
from impl.decisions.names import MASTER_ID
from impl.store.commit_log import CommitLog
from impl.store.dispatch_request import DispatchRequest
from impl.store.mapped_file import SelectMappedBufferResult
from impl.store.message_store_config import MessageStoreConfig
from impl.store.record_reader import RecordReader

Dispatch = Callable[[DispatchRequest], None]

SHUTDOWN_ATTEMPTS = 50  # ReputMessageService#shutdown waits 50 times 100 ms


class ReputMessageService:
    """`DefaultMessageStore.ReputMessageService`: step `run_once`, every millisecond.

    reput_from_offset -- what lies before it in the log has been dispatched, or skipped. dispatch -- is given each
    record; what it raises comes out of `do_reput`, and the same record is dispatched again in the next round.
    message_arriving -- is told of each message afterwards, but not on a slave. ended -- its thread has: nothing is
    dispatched any more, as long as the process lives.
    """

    def __init__(
        self, commit_log: CommitLog, config: MessageStoreConfig, dispatch: Dispatch, message_arriving: Dispatch,
    ) -> None:
        """Begin at 0 until the store says otherwise."""
        self._log, self._config = commit_log, config
        self._dispatch, self._message_arriving = dispatch, message_arriving
        self.reput_from_offset = 0
        self.ended = False

    def run_once(self) -> bool:
        """ReputMessageService#run, one round: an Exception is logged, and the same record comes again.

        Returns whether the round has come to its end. Raises what Java throws as an Error, once: its thread ends with
        that.
        """
        if self.ended:
            return False
        try:
            self.do_reput()
        except JavaException:
            return False
        except JavaError:
            self.ended = True
            raise
        return True

    def behind(self) -> int:
        """ReputMessageService#behind: bytes that wait for dispatch; less than 0 after it has overshot."""
        return self._log.get_max_offset() - self.reput_from_offset

    def do_reput(self) -> None:
        """ReputMessageService#doReput: dispatch all that is readable, up to the first record that is not."""
        self.reput_from_offset = max(self.reput_from_offset, self._log.get_min_offset())
        while self.behind() > 0 and not self._waits_for_confirmation():
            result = self._log.get_data(self.reput_from_offset)
            if result is None:
                return
            self.reput_from_offset = result.start_offset
            try:
                go_on = self._dispatch_all(result)
            except JavaError:
                result.release()
                raise
            result.release()
            if not go_on:
                return

    def _waits_for_confirmation(self) -> bool:
        return self._config.duplication_enable and self.reput_from_offset >= self._log.confirm_offset

    def _dispatch_all(self, result: SelectMappedBufferResult) -> bool:
        """Dispatch the records of one file; False: the round ends here.

        After a record that is not as long as it says the offset goes on by what it says, while the reading goes on
        where its parts end (V1). What is no record ends the round, and a master passes over all that is left.
        """
        reader = RecordReader(
            result.mapped_file.mapped_byte_buffer, result.position, result.position + result.size, check_crc=False,
            read_body=False, delay_levels=self._log.delay_levels)
        read_size = 0
        while read_size < result.size:
            request = reader.next()
            if request.success and request.msg_size == 0:
                self.reput_from_offset = self._log.roll_next_file(self.reput_from_offset)
                return True
            if request.success:
                self._dispatch(request)
                if not self._config.slave and self._config.long_polling_enable:
                    self._message_arriving(request)
                self.reput_from_offset += request.msg_size
                read_size += request.msg_size
            elif request.msg_size > 0:
                self.reput_from_offset += request.msg_size
            else:
                if self._config.broker_id == MASTER_ID:
                    self.reput_from_offset += result.size - read_size
                return False
        return True

    def shutdown(self) -> None:
        """ReputMessageService#shutdown: dispatch what is left; Java gives its thread 5 s for that, if it lives."""
        for _ in range(SHUTDOWN_ATTEMPTS):
            if self.behind() <= 0:
                return
            with suppress(VirtualMachineError):
                self.run_once()
