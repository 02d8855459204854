"""Seeded bugs of stores: what is acknowledged, appended, dispatched and recovered."""

from __future__ import annotations

from collections.abc import Callable

from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.message_properties import NAME_VALUE_SEPARATOR
from impl.decisions import disk_cleanup
from impl.decisions.disk_cleanup import DISK_MAX_USED_SPACE_RATIO
from impl.store import clean_services
from impl.store.clean_services import CleanCommitLogService
from impl.store.commit_log import CommitLog
from impl.store.consume_queue import ConsumeQueue
from impl.store.default_message_store import DefaultMessageStore
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import AppendMessageResult, GroupCommitRequest, PutMessageFuture
from impl.store.put_message_status import PutMessageStatus
from impl.store.store_tables import StoreTables
from impl.variants.variant import Variant, around, replace


@around(CommitLog, "_submit_flush_request")
def _answer_at_once(original: Callable[..., object]) -> Callable[..., GroupCommitRequest | PutMessageStatus]:
    def _submit_flush_request(
        self: CommitLog, result: AppendMessageResult, *, wait: bool,
    ) -> GroupCommitRequest | PutMessageStatus:
        """The disk is asked, and nobody waits for it."""
        original(self, result, wait=wait)
        return PutMessageStatus.PUT_OK

    return _submit_flush_request


@around(StoreTables, "recover_topic_queue_table")
def _know_no_offset(original: Callable[..., None]) -> Callable[..., None]:
    def recover_topic_queue_table(self: StoreTables) -> None:
        """The counters of the queues begin at 0 in each process."""
        original(self)
        self.commit_log.topic_queue_table = {}

    return recover_topic_queue_table


@around(ConsumeQueue, "put_message_position_info")
def _name_the_end(original: Callable[..., bool]) -> Callable[..., bool]:
    def put_message_position_info(self: ConsumeQueue, offset: int, size: int, tags_code: int, cq_offset: int) -> bool:
        """Each eighth unit names the end of its record."""
        return original(self, offset if cq_offset % 8 else offset + size, size, tags_code, cq_offset)

    return put_message_position_info


@around(DefaultMessageStore, "do_dispatch")
def _dispatch_only_the_first_queues(original: Callable[..., None]) -> Callable[..., None]:
    def do_dispatch(self: DefaultMessageStore, request: DispatchRequest) -> None:
        """The last queue of a topic gets nothing."""
        if request.queue_id != 3:  # noqa: PLR2004  # the topics of worlds have four queues
            original(self, request)

    return do_dispatch


@replace(DefaultMessageStore, "_check_store_status")
def _take_everything(self: DefaultMessageStore) -> PutMessageStatus:
    """A full disk is no reason."""
    return PutMessageStatus.SERVICE_NOT_AVAILABLE if self.stopped else PutMessageStatus.PUT_OK


@replace(CleanCommitLogService, "_delete_expired_files")
def _delete_nothing(self: CleanCommitLogService) -> None:
    """The log keeps all of its files."""


@around(DefaultMessageStore, "async_put_message")
def _give_ids(original: Callable[..., PutMessageFuture]) -> Callable[..., PutMessageFuture]:
    def async_put_message(self: DefaultMessageStore, message: MessageExtBrokerInner) -> PutMessageFuture:
        """A broker gives each message an id of its own, and producers know another one."""
        name = f"{PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX}{NAME_VALUE_SEPARATOR}"
        message.properties_string = (message.properties_string or "").replace(name, f"{name}broker-")
        return original(self, message)

    return async_put_message


@replace(disk_cleanup, "cleans_immediately")
def _whatever_their_age(percent: int) -> bool:
    """As soon as anything is to go."""
    return percent > DISK_MAX_USED_SPACE_RATIO


@replace(clean_services, "is_it_time_to_do")
def _at_no_hour(when: str, now_ms: int) -> bool:
    del when, now_ms
    return False


_IDEA = "an idea: faults of other stores"

BUGS = (
    Variant("seeded-answer-before-the-force", "bug", "SYNC_FLUSH answers before the disk has the record.", _IDEA,
            replacements=(_answer_at_once,)),
    Variant("seeded-offsets-begin-again", "bug", "After a start the offsets of all queues begin at 0.", _IDEA,
            replacements=(_know_no_offset,)),
    Variant("seeded-units-name-ends", "bug", "Some units of a queue name the end of their record.", _IDEA,
            replacements=(_name_the_end,)),
    Variant("seeded-queue-is-left-out", "bug", "The records of one queue are not dispatched.", _IDEA,
            replacements=(_dispatch_only_the_first_queues,)),
    Variant("seeded-broker-gives-ids", "bug", "Consumers find messages under other ids than producers have sent.",
            _IDEA, replacements=(_give_ids,)),
    Variant("seeded-full-disk-is-ignored", "bug", "A broker appends whatever its disk says.", _IDEA,
            replacements=(_take_everything,)),
    Variant("seeded-log-is-kept", "bug", "A broker whose disk is full deletes no file of its log.", _IDEA,
            replacements=(_delete_nothing,)),
    Variant("seeded-young-files-go", "bug", "A disk that is used by more than 75 % lets files go whatever their age.",
            "seeded: one level for the other in CleanCommitLogService#isSpaceToDelete",
            replacements=(_whatever_their_age,)),
    Variant("seeded-old-files-wait-for-space", "bug", "Old files are deleted where the disk is full, and at no hour.",
            _IDEA, replacements=(_at_no_hour,)),
)
