"""StoreTables: what a store consists of: the log, the consume queues, the index, the checkpoint and the flags."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from impl.decisions.java_errors import NumberFormatError, not_null
from impl.decisions.java_text import parse_integer
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC, is_lmq
from impl.decisions.running_flags import is_cq_writeable, make_logics_queue_error
from impl.hash_map import ConcurrentHashMap
from impl.ports.disk import Disk
from impl.store.allocate_mapped_file_service import AllocateMappedFileService
from impl.store.commit_log import CommitLog
from impl.store.consume_queue import ConsumeQueue
from impl.store.index_service import IndexService
from impl.store.message_store_config import MessageStoreConfig
from impl.store.store_checkpoint import StoreCheckpoint
from impl.store.transient_store_pool import TransientStorePool

PUT_POSITION_ATTEMPTS = 30  # ConsumeQueue#putMessagePositionInfoWrapper, one a second
_QUEUE_TABLE_CAPACITY = 32
_KEPT_TOPICS = (RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC)  # no topic table has to name them


class StoreTables:
    """The fields of `store.DefaultMessageStore`.

    commit_log, index_service -- see there. consume_queue_table -- topic and queue id to the queue. running_flags --
    bits, see `impl.decisions.running_flags`. store_checkpoint -- None before the store is loaded. stopped -- it is not
    started yet, or shut down.
    """

    def __init__(
        self, disk: Disk, config: MessageStoreConfig, now_ms: Callable[[], int],
        start_thread: Callable[[Callable[[], None]], None],
    ) -> None:
        """Have no files."""
        self.disk, self.config, self.now_ms = disk, config, now_ms
        self.transient_store_pool = TransientStorePool(
            config.transient_store_pool_size if config.transient_store_pool_enable else 0)
        self.allocate_mapped_file_service = AllocateMappedFileService(disk, config, self.transient_store_pool, now_ms)
        self.store_checkpoint: StoreCheckpoint | None = None
        self.commit_log = CommitLog(disk, config, now_ms, self.checkpoint, self.allocate_mapped_file_service)
        self.index_service = IndexService(disk, config, now_ms, self.checkpoint, start_thread)
        self.consume_queue_table: ConcurrentHashMap[str, ConcurrentHashMap[int, ConsumeQueue]] = ConcurrentHashMap(
            _QUEUE_TABLE_CAPACITY)
        self.running_flags = 0
        self.stopped = True

    def checkpoint(self) -> StoreCheckpoint:
        """DefaultMessageStore#getStoreCheckpoint; raises NullPointerError before the store is loaded."""
        return not_null(self.store_checkpoint)

    def get_min_phy_offset(self) -> int:
        """DefaultMessageStore#getMinPhyOffset."""
        return self.commit_log.get_min_offset()

    def get_max_phy_offset(self) -> int:
        """DefaultMessageStore#getMaxPhyOffset."""
        return self.commit_log.get_max_offset()

    def pickup_store_timestamp(self, offset: int, size: int) -> int:
        """CommitLog#pickupStoreTimestamp."""
        return self.commit_log.pickup_store_timestamp(offset, size)

    # Consume queues ---------------------------------------------------------------------------------------------------

    def queues(self) -> Iterator[ConsumeQueue]:
        """All consume queues, in the order in which Java iterates its maps."""
        for by_id in self.consume_queue_table.values():
            yield from by_id.values()

    def get_consume_queue(self, topic: str, queue_id: int) -> ConsumeQueue | None:
        """DefaultMessageStore#getConsumeQueue: the queue, None if nobody has asked for it yet."""
        by_id = self.consume_queue_table.get(topic)
        return None if by_id is None else by_id.get(queue_id)

    def clean_unused_topic(self, topics: Collection[str]) -> None:
        """DefaultMessageStore#cleanUnusedTopic: delete the queues of all other topics, but for two of its own."""
        for topic, by_id in list(self.consume_queue_table.entries()):
            if topic in topics or topic in _KEPT_TOPICS or is_lmq(topic):
                continue
            for queue in by_id.values():
                queue.destroy()
                self.commit_log.topic_queue_table.pop(f"{topic}-{queue.queue_id}", None)
            self.consume_queue_table.remove(topic)

    def find_consume_queue(self, topic: str, queue_id: int) -> ConsumeQueue:
        """DefaultMessageStore#findConsumeQueue: the queue, which is made if it is not there; its files are not."""
        by_id = self.consume_queue_table.get(topic)
        if by_id is None:
            by_id = ConcurrentHashMap()
            self.consume_queue_table.put(topic, by_id)
        queue = by_id.get(queue_id)
        if queue is None:
            config = self.config
            queue = ConsumeQueue(
                topic, queue_id, self.disk, config.store_path_consume_queue, config.mapped_file_size_consume_queue,
                self, self.now_ms)
            by_id.put(queue_id, queue)
        return queue

    def load_consume_queue(self) -> bool:
        """DefaultMessageStore#loadConsumeQueue: False at the first queue whose files do not load.

        A folder whose name is no number is passed over.
        """
        path = self.config.store_path_consume_queue
        for topic in self.disk.list(path):
            for name in self.disk.list(f"{path}/{topic}"):
                try:
                    queue_id = parse_integer(name, 32)
                except NumberFormatError:
                    continue
                if not self.find_consume_queue(topic, queue_id).load():
                    return False
        return True

    def recover_consume_queue(self) -> int:
        """DefaultMessageStore#recoverConsumeQueue: the end of the last record that any queue knows, -1 for none."""
        for queue in self.queues():
            queue.recover()
        return max((queue.max_physic_offset for queue in self.queues()), default=-1)

    def recover_topic_queue_table(self) -> None:
        """DefaultMessageStore#recoverTopicQueueTable: the next queue offsets are those behind the queues' ends."""
        min_phy_offset = self.get_min_phy_offset()
        table: dict[str, int] = {}
        for queue in self.queues():
            table[f"{queue.topic}-{queue.queue_id}"] = queue.get_max_offset_in_queue()
            queue.correct_min_offset(min_phy_offset)
        self.commit_log.topic_queue_table = table

    def truncate_dirty_logic_files(self, phy_offset: int) -> None:
        """DefaultMessageStore#truncateDirtyLogicFiles."""
        for queue in self.queues():
            queue.truncate_dirty_logic_files(phy_offset)

    def destroy_logics(self) -> None:
        """DefaultMessageStore#destroyLogics."""
        for queue in self.queues():
            queue.destroy()

    def put_position(  # the fields of a DispatchRequest that a consume queue needs
        self, queue: ConsumeQueue, offset: int, size: int, tags_code: int, cq_offset: int, store_timestamp: int,
    ) -> None:
        """ConsumeQueue#putMessagePositionInfoWrapper: thirty attempts; Java sleeps a second after each.

        If none succeeds, or a queue or the index has failed before, the unit is left out, and the flag is set for good.
        """
        attempts = PUT_POSITION_ATTEMPTS if is_cq_writeable(self.running_flags) else 0
        for _ in range(attempts):
            if queue.put_message_position_info(offset, size, tags_code, cq_offset):
                if self.config.slave:
                    self.checkpoint().physic_msg_timestamp = store_timestamp
                self.checkpoint().logics_msg_timestamp = store_timestamp
                return
        self.running_flags = make_logics_queue_error(self.running_flags)
