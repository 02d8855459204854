"""HAConnection: a slave, seen from its master. It reads the slave's offsets, and writes the log from there on.

From a slave come offsets of 8 bytes. To it go frames: the offset of the first byte, the size, and that many bytes of
the log. A frame without bytes is a heartbeat.
"""

from __future__ import annotations

import struct

from impl.decisions.replication import NO_REQUEST_OFFSET, first_transfer_offset, is_report_accepted
from impl.ports.byte_stream import ByteStream, StreamError
from impl.store.ha.replicated import Slaves

READ_MAX_BUFFER_SIZE = 1024 * 1024
_OFFSET_BYTES = 8
_HEADER = struct.Struct(">qi")
_NOWHERE = -1


class HAConnection:
    """`ha.HAConnection`.

    slave_request_offset -- the slave's first report; slave_ack_offset -- its last one.
    """

    def __init__(self, ha_service: Slaves, connection: ByteStream) -> None:
        """Have read and sent nothing."""
        self.ha_service, self.connection = ha_service, connection
        self.slave_request_offset = self.slave_ack_offset = NO_REQUEST_OFFSET
        self.read_socket_service = ReadSocketService(self)
        self.write_socket_service = WriteSocketService(self)

    @property
    def next_transfer_offset(self) -> int:
        """WriteSocketService#nextTransferFromWhere: of the next frame; -1: the slave has not asked yet."""
        return self.write_socket_service.next_transfer_from_where

    def run_once(self) -> bool:
        """A round of both services; whether a part of the log was sent, so that there may be more to send."""
        try:
            if self.read_socket_service.run_once():
                return self.write_socket_service.run_once()
            self.shutdown()
        except StreamError:
            self.shutdown()
        return False

    def shutdown(self) -> None:
        """HAConnection#shutdown, and the end of both services: one stops the other."""
        self.ha_service.remove_connection(self)
        self.connection.close()


class ReadSocketService:
    """`HAConnection.ReadSocketService`: it takes what the slave reports."""

    def __init__(self, owner: HAConnection) -> None:
        """Have read nothing."""
        self._owner, self._store = owner, owner.ha_service.store
        self._position = 0  # in the buffer
        self._rest = b""  # the bytes of an offset that is not whole yet
        self._last_read_timestamp = self._store.now_ms()

    def run_once(self) -> bool:
        """ReadSocketService#run, one round; False: the connection ends. Raises StreamError."""
        if not self._process_read_event():
            return False
        interval = self._store.now_ms() - self._last_read_timestamp
        return interval <= self._store.config.ha_housekeeping_interval_ms

    def _process_read_event(self) -> bool:
        """ReadSocketService#processReadEvent: of all offsets that a read brings only the last counts."""
        if self._position == READ_MAX_BUFFER_SIZE:
            self._position = 0
        while self._position < READ_MAX_BUFFER_SIZE:
            data = self._owner.connection.read(READ_MAX_BUFFER_SIZE - self._position)
            if not data:
                return data is not None
            self._last_read_timestamp = self._store.now_ms()
            self._position += len(data)
            self._rest += data
            if len(self._rest) >= _OFFSET_BYTES and not self._take_offset():
                return False
        return True

    def _take_offset(self) -> bool:
        end = len(self._rest) // _OFFSET_BYTES * _OFFSET_BYTES
        offset = int.from_bytes(self._rest[end - _OFFSET_BYTES:end], "big", signed=True)
        self._rest = self._rest[end:]
        owner = self._owner
        owner.slave_ack_offset = offset
        if not is_report_accepted(owner.slave_request_offset, offset, self._store.get_max_phy_offset()):
            return False
        if owner.slave_request_offset < 0:
            owner.slave_request_offset = offset
        owner.ha_service.notify_transfer_some(offset)
        return True


class WriteSocketService:
    """`HAConnection.WriteSocketService`: it sends the log, and a heartbeat when it has sent nothing for a while.

    next_transfer_from_where -- the offset of the next frame; -1 as long as the slave has not asked.
    """

    def __init__(self, owner: HAConnection) -> None:
        """Have sent nothing."""
        self._owner, self._store = owner, owner.ha_service.store
        self.next_transfer_from_where = _NOWHERE
        self._left = b""  # of the header and the body that are being sent
        self._last_write_timestamp = self._store.now_ms()

    def run_once(self) -> bool:
        """WriteSocketService#run, one round; whether a whole frame of the log was sent. Raises StreamError."""
        request = self._owner.slave_request_offset
        if request == NO_REQUEST_OFFSET:
            return False
        if self.next_transfer_from_where == _NOWHERE:
            self.next_transfer_from_where = first_transfer_offset(
                request, self._store.get_max_phy_offset(), self._store.config.mapped_file_size_commit_log)
        if not self._left and self._is_time_for_heartbeat():
            self._left = _HEADER.pack(self.next_transfer_from_where, 0)
        return self._transfer_data() and self._send_log()

    def _is_time_for_heartbeat(self) -> bool:
        interval = self._store.now_ms() - self._last_write_timestamp
        return interval > self._store.config.ha_send_heartbeat_interval_ms

    def _send_log(self) -> bool:
        """Send the next bytes of the log, never those of two files."""
        result = self._store.get_commit_log_data(self.next_transfer_from_where)
        if result is None:
            return False
        size = min(result.size, self._store.config.ha_transfer_batch_size_bytes)
        body = result.read(0, size)
        result.release()
        self._left = _HEADER.pack(self.next_transfer_from_where, size) + body
        self.next_transfer_from_where += size
        return self._transfer_data()

    def _transfer_data(self) -> bool:
        """WriteSocketService#transferData: send what is left as far as there is room; whether all is sent."""
        while self._left:
            written = self._owner.connection.write(self._left)
            if not written:
                return False
            self._left = self._left[written:]
            self._last_write_timestamp = self._store.now_ms()
        return True
