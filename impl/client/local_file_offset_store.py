"""LocalFileOffsetStore: the offsets of a broadcasting consumer, in a file of its machine."""

from __future__ import annotations

import re
from collections.abc import Collection

from impl.client.offset_store import ReadOffsetType
from impl.common.config_manager import load_string, persist
from impl.decisions.java_text import is_blank
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import NO_OFFSET
from impl.events import OffsetsWritten
from impl.hash_map import ConcurrentHashMap
from impl.ports.node import Node
from impl.ports.threads import Interleave

_ENTRY = re.compile(r'\{\s*"brokerName":"([^"]*)",\s*"queueId":(-?\d+),\s*"topic":"([^"]*)"\s*\}:(-?\d+)')


class LocalFileOffsetStore:
    """`client.consumer.store.LocalFileOffsetStore`: a ConcurrentHashMap, no lock; two processes may share the file.

    offset_table -- queue to the offset that will be written next.
    """

    def __init__(self, node: Node, client_id: str, group_name: str) -> None:
        """Start empty; call load."""
        self.node, self.client_id, self.group_name = node, client_id, group_name
        self.store_path = f".rocketmq_offsets/{client_id}/{group_name}/offsets.json"
        self.offset_table: ConcurrentHashMap[MessageQueue, int] = ConcurrentHashMap()

    def load(self) -> None:
        """LocalFileOffsetStore#load: what is in the file comes into memory."""
        for mq, offset in self._read_local_offset().items():
            self.offset_table.put(mq, offset)

    def update_offset(self, mq: MessageQueue | None, offset: int, *, increase_only: bool) -> None:
        """LocalFileOffsetStore#updateOffset: raise, or set also downwards."""
        if mq is not None:
            old = self.offset_table.get(mq)
            if old is None or not increase_only or offset > old:
                self.offset_table.put(mq, offset)

    async def read_offset(self, mq: MessageQueue | None, read_type: ReadOffsetType, threads: Interleave) -> int:
        """LocalFileOffsetStore#readOffset: READ_FROM_STORE looks into the file only, and memory takes it over."""
        if mq is None:
            return NO_OFFSET
        if read_type is not ReadOffsetType.READ_FROM_STORE:
            offset = self.offset_table.get(mq)
            if offset is not None:
                return offset
            if read_type is ReadOffsetType.READ_FROM_MEMORY:
                return NO_OFFSET
        offset = self._read_local_offset().get(mq)
        await threads.interleave("readOffset: the file has been read")
        if offset is None:
            return NO_OFFSET
        self.update_offset(mq, offset, increase_only=False)
        return offset

    async def persist_all(self, mqs: Collection[MessageQueue] | None, threads: Interleave) -> None:
        """LocalFileOffsetStore#persistAll: ONLY these queues are in the file afterwards; no queues: it stays."""
        if not mqs:
            return
        kept = [(mq, offset) for mq, offset in self.offset_table.entries() if mq in mqs]
        await threads.interleave("persistAll: before the file is written")
        self.write(kept)

    def write(self, offsets: Collection[tuple[MessageQueue, int]]) -> None:
        """MixAll#string2File: these are in the file, and no others; an error is logged."""
        if persist(self.node.disk, self.store_path, _text(offsets)):
            self.node.trace(OffsetsWritten(self.client_id, self.group_name, tuple(offsets)))

    async def persist(self, mq: MessageQueue | None) -> None:
        """LocalFileOffsetStore#persist does nothing."""

    def remove_offset(self, mq: MessageQueue | None) -> None:
        """LocalFileOffsetStore#removeOffset does nothing."""

    def clone_offset_table(self, topic: str | None) -> dict[MessageQueue, int]:
        """LocalFileOffsetStore#cloneOffsetTable: of one topic; a blank topic means all."""
        everything = is_blank(topic)
        return {mq: offset for mq, offset in self.offset_table.entries() if everything or mq.topic == topic}

    def _read_local_offset(self) -> dict[MessageQueue, int]:
        """LocalFileOffsetStore#readLocalOffset: the file, or its backup."""
        text = load_string(self.node.disk, self.store_path) or ""
        return {
            MessageQueue(topic, broker_name, int(queue_id)): int(offset)
            for broker_name, queue_id, topic, offset in _ENTRY.findall(text)
        }


def _text(offsets: Collection[tuple[MessageQueue, int]]) -> str:
    """As fastjson writes a map whose keys are objects, which no other JSON reader understands."""
    entries = ",".join(
        f'{{"brokerName":"{mq.broker_name}","queueId":{mq.queue_id},"topic":"{mq.topic}"}}:{offset}'
        for mq, offset in offsets
    )
    return f'{{"offsetTable":{{{entries}}}}}'
