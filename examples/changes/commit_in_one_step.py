"""A broker finds or makes the map of a topic and group in one step, as computeIfAbsent does."""

from impl.broker.consumer_offset_manager import ConsumerOffsetManager, topic_at_group
from impl.hash_map import ConcurrentHashMap
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(ConsumerOffsetManager)
class Changed:
    async def commit_offset(self, group, topic, queue_id, offset, threads):
        key = topic_at_group(topic, group)
        await threads.interleave("commitOffset: before computeIfAbsent")
        self.offset_table.put_if_absent(key, ConcurrentHashMap(32, []))
        self.offset_table.get(key).put(queue_id, offset)


VARIANT = Variant("commit-in-one-step", "change", "No first commit vanishes.", replacements=Changed)
