"""Seeded bugs of what is full, or the greatest: files of the log and the index, delay levels, and buffers of a pool."""

from __future__ import annotations

from impl.common.message_const import PROPERTY_REAL_QUEUE_ID, PROPERTY_REAL_TOPIC
from impl.decisions import log_append
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.decisions.retry_level import delay_level_to_queue_id
from impl.store.commit_log import CommitLog
from impl.store.dispatch_request import DispatchRequest
from impl.store.flush_commit_log_service import CommitRealTimeService
from impl.store.index_file import IndexFile
from impl.store.index_service import IndexService, QueryOffsetResult, _build_key
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.variants.variant import Variant, replace


@replace(log_append, "is_end_of_file")
def _leave_no_room_for_a_blank(message_length: int, max_blank: int) -> bool:
    """A record goes into a file that has room for it alone."""
    return message_length > max_blank


@replace(IndexService, "_put_key")
def _put_into_the_first_file(self: IndexService, request: DispatchRequest, key: str) -> None:
    """A file that is full takes no more, and no other one is asked."""
    file: IndexFile = self.index_files[0] if self.index_files else self.get_and_create_last_index_file()
    file.put_key(_build_key(request.topic, key), request.commit_log_offset, request.store_timestamp)


@replace(IndexService, "query_offset")
def _ask_the_last_file(
    self: IndexService, topic: str, key: str, max_num: int, begin: int, end: int,
) -> QueryOffsetResult:
    """What is in the files before it is not looked for."""
    found: list[int] = []
    if not self.index_files:
        return QueryOffsetResult(found, 0, 0)
    last = self.index_files[-1]
    last.select_phy_offset(found, _build_key(topic, key), min(max_num, self._config.max_msgs_num_batch), begin, end)
    return QueryOffsetResult(found, last.header.end_timestamp, last.header.end_phy_offset)


@replace(CommitLog, "_delay")
def _keep_the_level(self: CommitLog, message: MessageExtBrokerInner) -> None:
    """A level beyond the greatest one has a queue of its own."""
    del self
    message.put_property(PROPERTY_REAL_TOPIC, message.topic)
    message.put_property(PROPERTY_REAL_QUEUE_ID, str(message.queue_id))
    message.write_properties()
    message.topic = RMQ_SYS_SCHEDULE_TOPIC
    message.queue_id = delay_level_to_queue_id(message.delay_time_level())


@replace(CommitRealTimeService, "shutdown")
def _leave_the_buffer(self: CommitRealTimeService) -> None:
    """What is in a buffer when a broker stops is not written."""


_IDEA = "an idea: faults of other stores"

BUGS = (
    Variant("seeded-log-files-end-without-a-blank", "bug", "A record may leave less room than a blank needs.", _IDEA,
            replacements=(_leave_no_room_for_a_blank,)),
    Variant("seeded-full-index-takes-no-more", "bug", "Keys that a full index file does not take are nowhere.", _IDEA,
            replacements=(_put_into_the_first_file,)),
    Variant("seeded-last-index-is-asked", "bug", "A key is looked for in the last index file only.", _IDEA,
            replacements=(_ask_the_last_file,)),
    Variant("seeded-levels-have-no-end", "bug", "A delay beyond the greatest one is not the greatest one.", _IDEA,
            replacements=(_keep_the_level,)),
    Variant("seeded-buffer-is-left-at-a-stop", "bug", "What is in a buffer of the pool is lost by a stop.", _IDEA,
            replacements=(_leave_the_buffer,)),
)
