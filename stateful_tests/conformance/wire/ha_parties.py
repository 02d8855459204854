"""A master and slaves of ours, each on a simulated disk, that live through a recorded connection."""

from __future__ import annotations

from collections.abc import Iterator

from impl.hosts.simulation.disk import Disk, MachineDisk
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.streams import Stream, streams
from impl.hosts.simulation.tape import ReplayTape
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import BrokerRole, MessageStoreConfig
from stateful_tests.conformance.wire.ha_streams import FILE_BYTES, Frame, Frames, Record, Report, Reports

_ROOM_BYTES = 1 << 30
_EPOCH_MS = 1_700_000_000_000
_STEP_MS = 1_000  # HAClient#run: how long it waits at most
_ADDRESS = "master"


class _Party:
    """A store that has been started. now_ms -- its clock."""

    def __init__(self, role: BrokerRole) -> None:
        kernel = Kernel(ReplayTape([]))
        self._disk = Disk(kernel.world, MachineDisk(kernel, role.value))
        self._config = MessageStoreConfig(broker_role=role, mapped_file_size_commit_log=FILE_BYTES)
        self.now_ms = _EPOCH_MS
        self.store = self._start()

    def _start(self) -> DefaultMessageStore:
        store = DefaultMessageStore(self._disk, self._config, lambda: self.now_ms, connect=self._connect)
        if not (store.load() and store.start()):
            raise ValueError("a store does not start")
        return store

    def _connect(self, _: str) -> Stream | None:
        return None

    @property
    def end(self) -> int:
        """The end of the log."""
        return self.store.get_max_phy_offset()

    def log(self, begin: int, end: int) -> bytes:
        """The log between two offsets, as far as it is there."""
        found = b""
        while begin < end and (data := self.store.get_commit_log_data(begin)) is not None:
            part = data.read(0, min(data.size, end - begin))
            data.release()
            found, begin = found + part, begin + len(part)
        return found

    def put_raw(self, begin: int, data: bytes) -> None:
        """Append bytes, file by file."""
        while data:
            room = FILE_BYTES - begin % FILE_BYTES
            self.store.append_to_commit_log(begin, data[:room])
            begin, data = begin + len(data[:room]), data[room:]


class Slave(_Party):
    """A slave. reports -- what it has reported on the connection that it has or had last."""

    def __init__(self, end: int = 0) -> None:
        """Have a log of so many bytes, which nobody knows."""
        self._offered: Stream | None = None
        self._line: Stream | None = None
        self.reports: list[Report] = []
        self._cut = Reports()
        super().__init__(BrokerRole.SLAVE)
        self.put_raw(0, bytes(end))
        self.store.ha_service.update_master_address(_ADDRESS)

    def _connect(self, _: str) -> Stream | None:
        offered, self._offered = self._offered, None
        return offered

    def restart(self) -> None:
        """Be stopped and started again."""
        self.store.shutdown()
        self.store = self._start()
        self.store.ha_service.update_master_address(_ADDRESS)

    def meet(self, at_ms: int) -> None:
        """Connect to a master so long before this time that the first report is due at it."""
        self._offered, self._line = streams(_ROOM_BYTES)
        self.reports, self._cut = [], Reports()
        self.now_ms = _EPOCH_MS + at_ms - self._config.ha_send_heartbeat_interval_ms - 1
        self._round()
        self.now_ms = _EPOCH_MS + at_ms
        self._round()

    def come(self, data: bytes, at_ms: int) -> None:
        """Let bytes of the master come at a time."""
        while self.now_ms < _EPOCH_MS + at_ms:
            self.now_ms = min(self.now_ms + _STEP_MS, _EPOCH_MS + at_ms)
            self._round()
        if self._line is not None and self.connected:
            self._line.write(data)
            self._round()

    def _round(self) -> None:
        self.store.ha_service.ha_client.run_once()
        if self._line is not None:
            come, self._line.come = bytes(self._line.come), bytearray()
            self.reports += self._cut.feed(come, 0, self.now_ms - _EPOCH_MS)

    @property
    def connected(self) -> bool:
        """Whether it has not ended the connection."""
        return self.store.ha_service.ha_client.connected

    def leave(self) -> None:
        """End the connection."""
        self.store.ha_service.ha_client.close_master()


class Master(_Party):
    """A master, whose log is made of the recorded messages, each put once more."""

    def __init__(self, log: list[Record]) -> None:
        """Have the log before the recorded part, which nobody knows."""
        super().__init__(BrokerRole.ASYNC_MASTER)
        self._records = log
        self._lines: dict[int, Stream] = {}
        self._is_whole = True  # from its beginning on, so that queue offsets can be counted

    def grow(self, end: int) -> None:
        """Put the next records, until the log ends there, or behind that; raises JavaError."""
        for record, following in zip(self._records, [*self._records[1:], None], strict=True):
            if self.end >= end:
                return
            if record.offset != self.end:
                continue
            if record.message is not None:
                self._put(record)
            elif record.is_readable and following is not None and following.message is not None:
                self._put(following)  # what does not fit makes the blank
            else:
                self._is_whole &= record.is_readable
                self.put_raw(record.offset, record.data)

    def _put(self, record: Record) -> None:
        message = record.message
        if message is None:
            raise ValueError("no message")
        now_ms, self.now_ms = self.now_ms, message.store_timestamp
        sent = MessageExtBrokerInner(
            message.topic, message.body, message.born_host, message.store_host, queue_id=message.queue_id,
            flag=message.flag, sys_flag=message.sys_flag, born_timestamp=message.born_timestamp,
            reconsume_times=message.reconsume_times,
            prepared_transaction_offset=message.prepared_transaction_offset,
            properties_string=record.properties_string)
        if not self._is_whole:
            self.store.commit_log.topic_queue_table.setdefault(
                f"{message.topic}-{message.queue_id}", message.queue_offset)
        self.store.async_put_message(sent)
        self.now_ms = now_ms

    def reported(self, conn: int, data: bytes, at_ms: int) -> None:
        """Let bytes of a slave come."""
        if conn not in self._lines:
            ours, self._lines[conn] = streams(_ROOM_BYTES)
            self.now_ms = _EPOCH_MS + at_ms
            self.store.ha_service.accept(ours)
        if not self._lines[conn].other.closed:
            self._lines[conn].write(data)
        self.run(at_ms)

    def run(self, at_ms: int) -> None:
        """Let it send what it has to."""
        self.now_ms = max(self.now_ms, _EPOCH_MS + at_ms)
        before = -1
        while before < (before := sum(len(line.come) for line in self._lines.values())):
            self.store.ha_service.run_once()

    def sent(self, conn: int) -> Iterator[Frame]:
        """The frames that it has sent to a slave."""
        return Frames().feed(bytes(self._lines[conn].come)) if conn in self._lines else iter(())

    def left(self, conn: int) -> None:
        """A slave has ended its connection."""
        if conn in self._lines:
            self._lines[conn].close()
            self.run(0)
