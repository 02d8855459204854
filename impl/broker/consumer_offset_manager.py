"""ConsumerOffsetManager: the committed offsets of a broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache

from impl.common.config_manager import as_fastjson, parsed_json
from impl.decisions.java_errors import ArrayIndexOutOfBoundsError, not_null
from impl.decisions.java_text import concatenated, is_blank, split
from impl.hash_map import ConcurrentHashMap, HashMap
from impl.ports.threads import Interleave

TOPIC_GROUP_SEPARATOR = "@"
_quoted = lru_cache(maxsize=1024)(json.JSONEncoder(ensure_ascii=False).encode)  # the keys are always the same few


class ConsumerOffsetManager:
    """`broker.offset.ConsumerOffsetManager`: ConcurrentHashMaps, no lock. Any value is accepted, also a smaller one.

    min_offset_in_queue -- the store's least offset of (topic, queue id).

    offset_table -- "topic@group" to the committed offset by queue id.
    """

    def __init__(self, min_offset_in_queue: Callable[[str, int], int]) -> None:
        """Start empty."""
        self.min_offset_in_queue = min_offset_in_queue
        self.offset_table: ConcurrentHashMap[str, ConcurrentHashMap[int, int]] = ConcurrentHashMap(512)

    async def commit_offset(self, group: str, topic: str, queue_id: int, offset: int, threads: Interleave) -> None:
        """ConsumerOffsetManager#commitOffset: of two first commits of a topic and group, one can vanish."""
        key = topic_at_group(topic, group)
        offsets = self.offset_table.get(key)
        await threads.interleave("commitOffset: the map has been looked up")
        if offsets is None:
            self.offset_table.put(key, ConcurrentHashMap(32, [(queue_id, offset)]))
        else:
            offsets.put(queue_id, offset)

    def query_offset(self, group: str, topic: str, queue_id: int) -> int:
        """ConsumerOffsetManager#queryOffset(group, topic, queueId): -1 for none."""
        offsets = self.offset_table.get(topic_at_group(topic, group))
        return -1 if offsets is None else offsets.get(queue_id, -1)

    def query_offsets(self, group: str, topic: str) -> ConcurrentHashMap[int, int] | None:
        """ConsumerOffsetManager#queryOffset(group, topic): the live map."""
        return self.offset_table.get(topic_at_group(topic, group))

    def which_topic_by_consumer(self, group: str) -> list[str]:
        """ConsumerOffsetManager#whichTopicByConsumer; raises NullPointerError for null, if there is any offset."""
        return [parts[0] for parts in self._split_keys() if parts[1] == not_null(group)]

    def which_group_by_topic(self, topic: str) -> list[str]:
        """ConsumerOffsetManager#whichGroupByTopic; raises NullPointerError for null, if there is any offset."""
        return [parts[1] for parts in self._split_keys() if parts[0] == not_null(topic)]

    def _split_keys(self) -> list[list[str]]:
        """The keys that are one topic and one group."""
        split_keys = [split(key, TOPIC_GROUP_SEPARATOR) for key in self.offset_table.key_set()]
        return [parts for parts in split_keys if len(parts) == len(("topic", "group"))]

    def query_min_offset_in_all_group(self, topic: str, filter_groups: str | None) -> dict[int, int]:
        """ConsumerOffsetManager#queryMinOffsetInAllGroup: queue id to the least offset of all groups.

        filter_groups -- groups to leave out, separated by commas: their offsets, of ALL topics, are deleted from the
        table, because the key set is a live view. Raises ArrayIndexOutOfBoundsError for a key without a group.
        """
        if filter_groups is not None and not is_blank(filter_groups):
            for group in split(filter_groups, ","):
                self._delete_through_key_set(group)
        least: HashMap[int, int] = HashMap()
        for key, offsets in self.offset_table.entries():
            if _part(key, 0) == not_null(topic):
                for queue_id, offset in offsets.entries():
                    if offset >= self.min_offset_in_queue(topic, queue_id):
                        least.put(queue_id, min(offset, least.get(queue_id, offset)))
        return dict(least.entries())

    def _delete_through_key_set(self, group: str) -> None:
        for key in self.offset_table.key_set():
            if _part(key, 1) == group:
                self.offset_table.remove(key)

    def clone_offset(self, src_group: str, dest_group: str, topic: str) -> None:
        """ConsumerOffsetManager#cloneOffset: the destination gets a map of its own, its old one goes."""
        offsets = self.offset_table.get(topic_at_group(topic, src_group))
        if offsets is not None:
            self.offset_table.put(topic_at_group(topic, dest_group), ConcurrentHashMap(entries=offsets.entries()))

    def remove_offset(self, group: str) -> None:
        """ConsumerOffsetManager#removeOffset: of all topics."""
        for key in self.offset_table.key_set():
            parts = split(key, TOPIC_GROUP_SEPARATOR)
            if len(parts) == len(("topic", "group")) and parts[1] == group:
                self.offset_table.remove(key)

    def encode(self) -> str:
        """ConsumerOffsetManager#encode: consumerOffset.json, as fastjson writes it: queue ids are not quoted."""
        by_key = (
            f"{_quoted(key)}:{{{_numbers(offsets)}}}"
            for key, offsets in self.offset_table.entries()
        )
        return f'{{"offsetTable":{{{",".join(by_key)}}}}}'

    def decode(self, json_string: str | None) -> None:
        """ConsumerOffsetManager#decode: the table of the file takes the place of this one.

        Raises IllegalArgumentError for a text that is no such file.
        """
        if json_string is None:
            return
        with as_fastjson():
            found = [(key, [(int(queue_id), offset) for queue_id, offset in offsets.items()])
                     for key, offsets in parsed_json(json_string)["offsetTable"].items()]
        self.offset_table = ConcurrentHashMap(512)
        for key, by_queue in found:
            self.offset_table.put(key, ConcurrentHashMap(entries=by_queue))


def topic_at_group(topic: str | None, group: str | None) -> str:
    """The key of the offset table."""
    return f"{concatenated(topic)}{TOPIC_GROUP_SEPARATOR}{concatenated(group)}"


def _part(key: str, index: int) -> str:
    parts = split(key, TOPIC_GROUP_SEPARATOR)
    if index >= len(parts):
        raise ArrayIndexOutOfBoundsError(f"Index {index} out of bounds for length {len(parts)}")
    return parts[index]


def _numbers(offsets: ConcurrentHashMap[int, int]) -> str:
    return ",".join([f"{queue_id}:{offset}" for queue_id, offset in offsets.entries()])
