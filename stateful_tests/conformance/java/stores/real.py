"""The real DefaultMessageStore in this process, by JPype; and what can be seen of it and of ours, in the same words."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jpype

from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import MessageStoreConfig

ROOT = "store"
_STORE = "org.apache.rocketmq.store"
_QUIET = '<configuration><root level="OFF"/></configuration>'


def silence(scratch: Path) -> None:
    """Let RocketMQ log nothing; before any of its classes is used."""
    configuration = scratch / "logback.xml"
    configuration.write_text(_QUIET)
    jpype.JClass("java.lang.System").setProperty("logback.configurationFile", str(configuration))


def real_store(folder: Path, config: MessageStoreConfig) -> Any:
    """A DefaultMessageStore on folder/store; for slaves it listens on a port that nobody uses now."""
    java: Any = jpype.JClass(f"{_STORE}.config.MessageStoreConfig")()
    java.setStorePathRootDir(str(folder / ROOT))
    java.setStorePathCommitLog(str(folder / ROOT / "commitlog"))
    java.setMappedFileSizeCommitLog(config.mapped_file_size_commit_log)
    java.setMappedFileSizeConsumeQueue(config.configured_file_size_consume_queue)
    java.setMaxHashSlotNum(config.max_hash_slot_num)
    java.setMaxIndexNum(config.max_index_num)
    java.setMaxMessageSize(config.max_message_size)
    java.setMessageDelayLevel(config.message_delay_level)
    java.setMessageIndexEnable(config.message_index_enable)
    java.setMessageIndexSafe(config.message_index_safe)
    java.setBrokerRole(jpype.JClass(f"{_STORE}.config.BrokerRole").valueOf(config.broker_role.value))
    java.setFlushDiskType(jpype.JClass(f"{_STORE}.config.FlushDiskType").valueOf(config.flush_disk_type.value))
    java.setHaListenPort(_free_port())
    return jpype.JClass(f"{_STORE}.DefaultMessageStore")(
        java, _statistics(), None, jpype.JClass("org.apache.rocketmq.common.BrokerConfig")())


@cache
def _statistics() -> Any:
    """Of all stores of this process: each BrokerStatsManager has threads that do not end."""
    return jpype.JClass(f"{_STORE}.stats.BrokerStatsManager")("c", True)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("", 0))
        port: int = listener.getsockname()[1]
        return port


def state_of_real(store: Any) -> dict[str, Any]:
    """Log, queues, next queue offsets and flags of the real store; queues without anything are left out."""
    queues = {f"{topic}-{queue_id}": [
        int(queue.getMinOffsetInQueue()), int(queue.getMaxOffsetInQueue()), int(queue.getMaxPhysicOffset()),
        int(queue.getMinLogicOffset())] for topic, queue_id, queue in queues_of_real(store)}
    return _state(
        [int(store.getMinPhyOffset()), int(store.getMaxPhyOffset())], queues, topic_queue_table_of_real(store),
        int(store.getRunningFlags().getFlagBits()))


def queues_of_real(store: Any) -> Iterator[tuple[str, int, Any]]:
    """Topic, queue id and ConsumeQueue of the real store."""
    for topic in store.getConsumeQueueTable().entrySet():
        for one in topic.getValue().entrySet():
            yield str(topic.getKey()), int(one.getKey()), one.getValue()


def topic_queue_table_of_real(store: Any) -> dict[str, int]:
    """CommitLog#getTopicQueueTable: "topic-queueId" to the next queue offset."""
    return {str(one.getKey()): int(one.getValue()) for one in store.getCommitLog().getTopicQueueTable().entrySet()}


def state_of_ours(store: DefaultMessageStore) -> dict[str, Any]:
    """The same of ours."""
    queues = {f"{queue.topic}-{queue.queue_id}": [
        queue.get_min_offset_in_queue(), queue.get_max_offset_in_queue(), queue.max_physic_offset,
        queue.min_logic_offset] for queue in store.queues()}
    return _state(
        [store.get_min_phy_offset(), store.get_max_phy_offset()], queues, store.commit_log.topic_queue_table,
        store.running_flags)


def _state(log: list[int], queues: dict[str, list[int]], table: dict[str, int], flags: int) -> dict[str, Any]:
    return {
        "log": log, "queues": {name: queues[name] for name in sorted(queues) if queues[name] != [0, 0, -1, 0]},
        "table": {name: table[name] for name in sorted(table) if table[name]}, "flags": flags,
    }


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file; index files, which are named by the time, by their order. Configuration is left out.

    Of the checkpoint only the number that a full index file sets: the others go by when a thread ran.
    """
    found: dict[str, str] = {}
    for path in sorted(path for path in (folder / ROOT).rglob("*") if path.is_file()):
        name, data = str(path.relative_to(folder / ROOT)), path.read_bytes()
        if name.startswith("config/"):
            continue
        if name.startswith("index/"):
            name = f"index/{sum(other.startswith('index/') for other in found)}"
        found[name] = data[16:24].hex() if name == "checkpoint" else hashlib.sha256(data).hexdigest()
    return found
