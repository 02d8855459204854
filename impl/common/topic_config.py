"""TopicConfig: a topic at one broker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from impl.common.data_version import DataVersion
from impl.decisions.flags import PERM_READ, PERM_WRITE, perm_text

DEFAULT_QUEUE_NUMS = 16  # TopicConfig.defaultReadQueueNums, defaultWriteQueueNums


@dataclass(slots=True)
class TopicConfig:
    """`common.TopicConfig`; the tables hold the object itself and change it in place.

    read_queue_nums, write_queue_nums -- numbers of queues.
    perm -- permission bits. topic_filter_type -- SINGLE_TAG or MULTI_TAG. topic_sys_flag -- unit bits.
    order -- whether the name servers' order configuration names the topic.
    """

    topic_name: str
    read_queue_nums: int = DEFAULT_QUEUE_NUMS
    write_queue_nums: int = DEFAULT_QUEUE_NUMS
    perm: int = PERM_READ | PERM_WRITE
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    order: bool = False

    def __str__(self) -> str:
        """TopicConfig#toString."""
        return (f"TopicConfig [topicName={self.topic_name}, readQueueNums={self.read_queue_nums}, "
                f"writeQueueNums={self.write_queue_nums}, perm={perm_text(self.perm)}, "
                f"topicFilterType={self.topic_filter_type}, topicSysFlag={self.topic_sys_flag}, "
                f"order={str(self.order).lower()}]")


@dataclass(slots=True)
class TopicConfigSerializeWrapper:
    """`common.protocol.body.TopicConfigSerializeWrapper`: what a registration carries.

    topic_config_table -- topic to configuration, None for null. data_version -- the version it is given out as.
    """

    topic_config_table: Mapping[str, TopicConfig] | None
    data_version: DataVersion
