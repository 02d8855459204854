"""A store on a simulated disk that is put to, stopped, killed and started again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message import MessageExt
from impl.common.message_batch import BatchedMessage, encode_messages
from impl.common.message_const import PROPERTY_KEYS
from impl.common.message_decoder import decode
from impl.hash_map import HashMap
from impl.hosts.simulation.disk import Disk, MachineDisk
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.byte_stream import Connect
from impl.store.default_message_store import DefaultMessageStore, nowhere
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from impl.store.put_message_result import PutMessageFuture

SMALL = MessageStoreConfig(
    mapped_file_size_commit_log=2_048, configured_file_size_consume_queue=200, max_hash_slot_num=7, max_index_num=9,
    message_index_safe=True, max_message_size=1_024,
)
BORN, STORED = InetSocketAddress(bytes([127, 0, 0, 1]), 4_711), InetSocketAddress(bytes([127, 0, 0, 1]), 10_911)
T0 = 1_700_000_000_000
NONE: Mapping[str, str] = {}


class Broker:
    """A broker's store.

    machine, disk -- the disk of its machine, and what a process sees of it. store -- the process that lives. now -- the
    clock, which ticks at every look.
    """

    def __init__(self, config: MessageStoreConfig = SMALL, connect: Connect = nowhere, **changes: Any) -> None:
        """Start on an empty disk; connect -- to a master; changes -- of the configuration."""
        self._connect = connect
        kernel = Kernel(ReplayTape([]))
        self._clock = kernel.world.clock
        self.machine = MachineDisk(kernel, "broker")
        self.disk = Disk(kernel.world, self.machine)
        self.config = replace(config, **changes)
        self.now = T0
        self.store = self.load()
        assert self.store.start()

    def now_ms(self) -> int:
        """A millisecond later than before, also for the times of files."""
        self.now += 1
        self._clock.ahead_ms = self.now
        return self.now

    def load(self) -> DefaultMessageStore:
        """A new process that has loaded its store and is not started yet."""
        store = DefaultMessageStore(self.disk, self.config, self.now_ms, connect=self._connect)
        assert store.load()
        return store

    def kill(self) -> None:
        """End the process: what is in its memory is lost, and its lock."""
        self.store._lock_file.close()  # noqa: SLF001  # as the operating system does

    def restart(self) -> None:
        """Start a new process."""
        self.store = self.load()
        assert self.store.start()

    def put(
        self, body: bytes = b"body", topic: str = "T", queue_id: int = 0, properties: Mapping[str, str] = NONE,
    ) -> PutMessageFuture:
        """Put one message."""
        message = MessageExtBrokerInner(topic, body, BORN, STORED, queue_id=queue_id)
        for name, value in properties.items():
            message.put_property(name, value)
        message.write_properties()
        return self.store.async_put_message(message)

    def put_batch(
        self, bodies: list[bytes], topic: str = "T", queue_id: int = 0, each: Mapping[str, str] = NONE,
        properties: Mapping[str, str] = NONE,
    ) -> PutMessageFuture:
        """Put a batch; each -- properties of each message; properties -- of the batch."""
        body = encode_messages([BatchedMessage(0, body, each) for body in bodies])
        batch = MessageExtBatch(topic, body, BORN, STORED, queue_id=queue_id, properties=_map(properties))
        return self.store.async_put_messages(batch)

    def dispatch(self) -> None:
        """Let the dispatcher catch up."""
        self.store.reput_message_service.do_reput()

    def flush(self) -> None:
        """Let each flush service run once."""
        log = self.store.commit_log
        log.commit_real_time_service.run_once()
        if self.config.flush_disk_type is FlushDiskType.SYNC_FLUSH:
            log.group_commit_service.run_once()
        else:
            log.flush_real_time_service.flush(log.flush_real_time_service.least_pages())
        self.store.flush_consume_queue_service.do_flush()

    def messages(self, topic: str = "T", queue_id: int = 0) -> list[MessageExt]:
        """All messages of a queue, pulled from its minimum on."""
        found: list[MessageExt] = []
        offset, end = (limit(topic, queue_id) for limit in (
            self.store.get_min_offset_in_queue, self.store.get_max_offset_in_queue))
        while offset < end:
            result = self.store.get_message(topic, queue_id, offset, 32)
            assert result is not None
            found += [message for record in result.records if (message := decode(ByteBuffer(record))) is not None]
            assert result.next_begin_offset > offset
            offset = result.next_begin_offset
        return found

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Change bytes of a file behind the back of every process."""
        self.disk.open(path).write(offset, data)

    def bodies(self, topic: str = "T", queue_id: int = 0) -> list[bytes | None]:
        """The bodies of all messages of a queue."""
        return [message.body for message in self.messages(topic, queue_id)]

    def found(self, key: str, topic: str = "T") -> list[int]:
        """Offsets in the log of the messages with this key."""
        result = self.store.query_message(topic, key, 64, 0, 2**62)
        messages = [decode(ByteBuffer(record)) for record in result.records]
        return [message.commit_log_offset for message in messages
                if message is not None and key in (message.get_property(PROPERTY_KEYS) or "").split()]


def _map(properties: Mapping[str, str]) -> HashMap[str, str]:
    found: HashMap[str, str] = HashMap()
    for name, value in properties.items():
        found.put(name, value)
    return found
