"""HAClient: a slave's connection to its master. It appends what comes as it is, and reports the end of its log.

Nothing takes back what the slave has and the master has lost: a frame that does not begin where the slave's log ends
closes the connection, and the next one begins there again (V11).
"""

from __future__ import annotations

import struct

from impl.decisions.java_errors import JavaError, NegativeArraySizeError
from impl.decisions.replication import is_frame_accepted
from impl.ports.byte_stream import ByteStream, Connect, StreamError
from impl.store.ha.replicated import ReplicatedStore

READ_MAX_BUFFER_SIZE = 1024 * 1024 * 4
CONNECT_RETRY_MS = EXCEPTION_WAIT_MS = 5_000
_HEADER = struct.Struct(">qi")
_ATTEMPTS = 3  # to write a report of eight bytes


class HAClient:
    """`HAService.HAClient`; the host steps `run_once`. master_address -- "" if there is none."""

    def __init__(self, store: ReplicatedStore, connect: Connect) -> None:
        """Have no connection."""
        self._store, self._connect = store, connect
        self.master_address = ""
        self._connection: ByteStream | None = None
        self._last_write_timestamp = store.now_ms()
        self._current_reported_offset = 0
        self._received = bytearray()  # the buffer from dispatchPosition on

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None

    def run_once(self) -> int:
        """HAClient#run, one round; how long it waits for the next one, in ms, where nothing wakes it."""
        try:
            return self._round()
        except JavaError:  # is logged
            return EXCEPTION_WAIT_MS

    def _round(self) -> int:
        connection = self._connect_master()
        if connection is None:
            return CONNECT_RETRY_MS
        if self._is_time_to_report_offset() and not self._report_slave_max_offset(connection):
            self.close_master()
        if self._connection is None or not self._process_read_event(connection):
            self.close_master()
            return 0
        if self._report_slave_max_offset_plus(connection):
            interval = self._store.now_ms() - self._last_write_timestamp
            if interval > self._store.config.ha_housekeeping_interval_ms:
                self.close_master()
        return 0

    def close_master(self) -> None:
        """HAClient#closeMaster: the next round connects again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._last_write_timestamp = 0
            self._received.clear()

    def _connect_master(self) -> ByteStream | None:
        """HAClient#connectMaster. What the log has is reported when it grows, or after the time of a heartbeat."""
        if self._connection is None:
            self._connection = self._connect(self.master_address) if self.master_address else None
            self._current_reported_offset = self._store.get_max_phy_offset()
            self._last_write_timestamp = self._store.now_ms()
        return self._connection

    def _is_time_to_report_offset(self) -> bool:
        interval = self._store.now_ms() - self._last_write_timestamp
        return interval > self._store.config.ha_send_heartbeat_interval_ms

    def _report_slave_max_offset(self, connection: ByteStream) -> bool:
        """HAClient#reportSlaveMaxOffset: False if it was not sent whole."""
        left = self._current_reported_offset.to_bytes(8, "big", signed=True)
        try:
            for _ in range(_ATTEMPTS):
                left = left[connection.write(left):] if left else left
        except StreamError:
            return False
        self._last_write_timestamp = self._store.now_ms()
        return not left

    def _report_slave_max_offset_plus(self, connection: ByteStream) -> bool:
        """HAClient#reportSlaveMaxOffsetPlus: report the end of the log if it has grown."""
        offset = self._store.get_max_phy_offset()
        if offset <= self._current_reported_offset:
            return True
        self._current_reported_offset = offset
        reported = self._report_slave_max_offset(connection)
        if not reported:
            self.close_master()
        return reported

    def _process_read_event(self, connection: ByteStream) -> bool:
        """HAClient#processReadEvent: False if the connection ends."""
        while len(self._received) < READ_MAX_BUFFER_SIZE:
            try:
                data = connection.read(READ_MAX_BUFFER_SIZE - len(self._received))
            except StreamError:
                return False
            if not data:
                return data is not None
            self._received += data
            if not self._dispatch_read_request(connection):
                return False
        return True

    def _dispatch_read_request(self, connection: ByteStream) -> bool:
        """HAClient#dispatchReadRequest: append each frame that is whole; False for one that begins elsewhere.

        The offset of a frame is looked at as soon as its header is there. Whether the log takes the bytes is not.
        """
        while len(self._received) >= _HEADER.size:
            master_offset, size = _HEADER.unpack_from(self._received)
            if not is_frame_accepted(self._store.get_max_phy_offset(), master_offset):
                return False
            if len(self._received) < _HEADER.size + size:
                return True
            if size < 0:
                raise NegativeArraySizeError(str(size))
            self._store.append_to_commit_log(master_offset, bytes(self._received[_HEADER.size:_HEADER.size + size]))
            del self._received[:_HEADER.size + size]
            if not self._report_slave_max_offset_plus(connection):
                return False
        return True
