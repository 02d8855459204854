"""DefaultMessageStore with reports to the node, in the segment that makes them true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from impl.broker.master_stream import MasterStream
from impl.common.byte_buffer import ByteBuffer
from impl.common.message_batch import decode_messages
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.decisions.java_errors import JavaError, VirtualMachineError
from impl.events import (
    LogCopied,
    LogFlushed,
    MessageAppended,
    MessageDispatched,
    QueuesDeleted,
    StoreLoaded,
    StoreRefused,
)
from impl.ports.node import Node
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_store_config import MessageStoreConfig
from impl.store.put_message_result import PutMessageFuture


async def _flush_index(job: Callable[[], None]) -> None:
    """IndexService#getAndCreateLastIndexFile: a thread forces a file of the index that is full, and ends."""
    job()


class ReportedMessageStore(DefaultMessageStore):
    """See `impl.store.default_message_store`. master_stream -- by which a slave reaches its master."""

    def __init__(
        self, node: Node, config: MessageStoreConfig, message_arriving: Callable[[DispatchRequest], None],
    ) -> None:
        """Open the lock file on the disk of the node; raises DiskError."""
        self.node, self.master_stream = node, MasterStream(node)
        self._flushed_where, self._half_dispatched = 0, -1
        super().__init__(
            node.disk, config, node.now_ms, message_arriving, self._start_thread, connect=self.master_stream)

    def _start_thread(self, job: Callable[[], None]) -> None:
        self.node.start_thread("FlushIndexFileThread", _flush_index(job))

    def load(self) -> bool:
        """DefaultMessageStore#load; an Error ends the process as well (BrokerStartup#createBrokerController)."""
        last_exit_ok = self.disk.length(self.config.abort_file) is None
        try:
            loaded = super().load()
        except VirtualMachineError:
            loaded = False
        if loaded:
            self._flushed_where = self.commit_log.mapped_file_queue.flushed_where
            self.node.trace(StoreLoaded(self.node.name, max(self.get_min_phy_offset(), 0), self.get_max_phy_offset(),
                                        self.config.flush_disk_type, last_exit_ok, self.config.broker_role))
        else:
            self.node.trace(StoreRefused(self.node.name, *self._of_odd_length()))
        return loaded

    def _of_odd_length(self) -> tuple[str, int | None] | tuple[()]:
        """The first file of the log that keeps the store from loading, and its length in bytes."""
        files = self.commit_log.mapped_file_queue
        paths = (f"{files.store_path}/{name}" for name in self.disk.list(files.store_path))
        return next(((path, length) for path in paths
                     if (length := self.disk.length(path)) != files.mapped_file_size), ())

    def async_put_message(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """DefaultMessageStore#asyncPutMessage."""
        future = super().async_put_message(message)
        self._report(message, future, [message.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)])
        return future

    def async_put_messages(self, batch: MessageExtBatch) -> PutMessageFuture:
        """DefaultMessageStore#asyncPutMessages."""
        body = batch.body
        future = super().async_put_messages(batch)
        if future.append_message_result is not None:
            messages = decode_messages(ByteBuffer(body or b""))
            self._report(batch, future, [
                (one.properties or {}).get(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX) for one in messages])
        return future

    def _report(self, message: MessageExtBrokerInner, future: PutMessageFuture, keys: Sequence[str | None]) -> None:
        """Report the records that were appended; keys -- theirs."""
        result = future.append_message_result
        if result is None or not result.phy_offsets:
            return
        ends = (*result.phy_offsets[1:], result.wrote_offset + result.wrote_bytes)
        for number, (offset, end, key) in enumerate(zip(result.phy_offsets, ends, keys, strict=True)):
            self.node.trace(MessageAppended(
                self.node.name, message.topic, message.queue_id, result.logics_offset + number, offset, end - offset,
                key, end == ends[-1] and message.is_wait_store_msg_ok()))

    def shutdown(self) -> None:
        """DefaultMessageStore#shutdown: the log is flushed before anything else, whatever cannot be forced then."""
        try:
            super().shutdown()
        except JavaError:
            self.report_flushed()
            raise
        self.report_flushed()

    def report_flushed(self) -> None:
        """Report up to where the log counts as flushed, if that has changed."""
        where = self.commit_log.mapped_file_queue.flushed_where
        if where != self._flushed_where:
            self._flushed_where = where
            self.node.trace(LogFlushed(self.node.name, where))

    def clean_unused_topic(self, topics: Collection[str]) -> None:
        """DefaultMessageStore#cleanUnusedTopic."""
        before = {topic: tuple(sorted(by_id.key_set())) for topic, by_id in self.consume_queue_table.entries()}
        super().clean_unused_topic(topics)
        for topic, queue_ids in before.items():
            if self.consume_queue_table.get(topic) is None:
                self.node.trace(QueuesDeleted(self.node.name, topic, queue_ids))

    def append_to_commit_log(self, start_offset: int, data: bytes) -> bool:
        """DefaultMessageStore#appendToCommitLog."""
        filed = bool(self.commit_log.mapped_file_queue.mapped_files)
        appended = super().append_to_commit_log(start_offset, data)
        if appended and (data or not filed):
            end = self.get_max_phy_offset()
            self.node.trace(LogCopied(self.node.name, start_offset, end - len(data), len(data)))
        return appended

    def do_dispatch(self, request: DispatchRequest) -> None:
        """DefaultMessageStore#doDispatch; a record that comes again because the index has failed is reported once."""
        try:
            super().do_dispatch(request)
        except JavaError:
            queue = self.find_consume_queue(request.topic, request.queue_id)
            if queue.max_physic_offset == request.commit_log_offset + request.msg_size:
                self._report_dispatch(request, told=False)
                self._half_dispatched = request.commit_log_offset
            raise
        self._report_dispatch(request, told=True)

    def _report_dispatch(self, request: DispatchRequest, *, told: bool) -> None:
        if self._half_dispatched != request.commit_log_offset:
            self.node.trace(MessageDispatched(self.node.name, request.topic, request.queue_id,
                                              request.consume_queue_offset, request.commit_log_offset, told))
