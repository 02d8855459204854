"""Seeded bugs of questions: of operators for keys and resets, of brokers for transactions, of consumers in vain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as copy_of
from typing import Any

from impl.broker import store_admin_processor
from impl.broker.broker2client import Broker2Client
from impl.broker.pull_request_hold_service import PullRequestHoldService
from impl.broker.query_message_processor import QueryMessageProcessor
from impl.broker.transaction.default_check_listener import DefaultTransactionalMessageCheckListener
from impl.broker.transaction.transactional_message_bridge import TransactionalMessageBridge
from impl.common.headers import CheckTransactionStateRequestHeader, ConsumeQueueData, ResetOffsetRequestHeader
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_PRODUCER_GROUP, PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.request_code import ResponseCode
from impl.decisions import index_slots, transaction_check
from impl.decisions.route_queues import BrokerData
from impl.namesrv.request_handlers import DefaultRequestProcessor
from impl.namesrv.route_info_manager import BrokerAddrs
from impl.ports.remoting import Command, Connection
from impl.store.consume_queue import ConsumeQueue
from impl.store.dispatch_request import DispatchRequest
from impl.store.index_service import IndexService
from impl.variants.variant import Variant, around, replace


@replace(DefaultTransactionalMessageCheckListener, "resolve_half_msg")
def _show_the_half_message(self: DefaultTransactionalMessageCheckListener, half: MessageExt) -> None:
    """A producer is asked about the half message as it is in its queue."""
    key = half.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)
    header = CheckTransactionStateRequestHeader(half.queue_offset, half.commit_log_offset, key, key, half.msg_id)
    self._send_check(half.get_property(PROPERTY_PRODUCER_GROUP), header, half)


@replace(index_slots, "time_diff_seconds")
def _count_milliseconds(store_timestamp_ms: int, begin_timestamp_ms: int) -> int:
    """An entry has milliseconds where its readers take seconds."""
    return max(0, store_timestamp_ms - begin_timestamp_ms) if begin_timestamp_ms > 0 else 0


@around(IndexService, "build_index")
def _index_one_key(original: Callable[[IndexService, DispatchRequest], None]) -> Callable[..., None]:
    def build_index(self: IndexService, request: DispatchRequest) -> None:
        """A message has one entry: that of its keys if it has some."""
        original(self, request._replace(uniq_key=None) if request.keys else request)

    return build_index


@around(Broker2Client, "reset_offset")
def _never_by_force(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def reset_offset(self: Broker2Client, header: ResetOffsetRequestHeader, *, is_c: bool) -> Command:
        """Nobody is sent on."""
        return await original(self, header._replace(is_force=False), is_c=is_c)

    return reset_offset


@around(Broker2Client, "_offset_table")
def _leave_the_first_queue(original: Callable[..., Any]) -> Callable[..., Any]:
    def _offset_table(self: Broker2Client, header: ResetOffsetRequestHeader) -> Any:
        """Queues are counted from 1."""
        found = original(self, header)
        return found if isinstance(found, Command) else {mq: offset for mq, offset in found.items() if mq.queue_id}

    return _offset_table


@replace(transaction_check, "need_discard")
def _ask_once_more(check_times: int | None, check_max: int) -> bool:
    """Greater, for not less."""
    return check_times is not None and check_times > check_max


@around(TransactionalMessageBridge, "put_op_message")
def _note_the_wrong_offset(original: Callable[[TransactionalMessageBridge, MessageExt], None]) -> Callable[..., None]:
    def put_op_message(self: TransactionalMessageBridge, half: MessageExt) -> None:
        """An op message names the place in the log, where the check looks for that in the queue."""
        original(self, copy_of(half, queue_offset=half.commit_log_offset))

    return put_op_message


@around(PullRequestHoldService, "_notify")
def _forget_whom_it_does_not_concern(original: Callable[..., None]) -> Callable[..., None]:
    def _notify(
        self: PullRequestHoldService, topic: str, queue_id: int, max_offset: int,
        arrived: DispatchRequest | None = None, filter_bit_map: bytes | None = None,
    ) -> None:
        """A pull that a message of another tag has woken is not held any more."""
        original(self, topic, queue_id, max_offset, arrived, filter_bit_map)
        held = self.pull_request_table.get((topic, queue_id))
        if held and arrived is not None:
            held[:] = [one for one in held if one.offset >= max_offset]

    return _notify


@replace(store_admin_processor, "_units")
def _show_none(queue: ConsumeQueue, first_index: int, max_count: int) -> tuple[ConsumeQueueData, ...] | None:
    """An empty list, where there is a unit at the index."""
    del max_count
    return None if queue.unit(first_index) is None else ()


@around(QueryMessageProcessor, "query_message")
def _none_by_default(original: Callable[..., Command]) -> Callable[..., Command]:
    def query_message(self: QueryMessageProcessor, channel: Connection, request: Command) -> Command:
        """The number that a broker is set to give has no default."""
        header = request.header
        asked = header._replace(max_num=0, unique_key=False) if header.unique_key else header
        return original(self, channel, request._replace(header=asked))

    return query_message


@around(DefaultRequestProcessor, "get_kv_config")
def _missing_is_an_error(original: Callable[..., Command]) -> Callable[..., Command]:
    def get_kv_config(self: DefaultRequestProcessor, channel: Connection, request: Command) -> Command:
        """Whatever goes wrong has one code."""
        answer = original(self, channel, request)
        missing = answer.code == ResponseCode.QUERY_NOT_FOUND
        return answer._replace(code=ResponseCode.SYSTEM_ERROR) if missing else answer

    return get_kv_config


@around(BrokerAddrs, "copy")
def _leave_the_cluster_out(original: Callable[[BrokerAddrs], BrokerData]) -> Callable[[BrokerAddrs], BrokerData]:
    return lambda self: original(self)._replace(cluster="")


_IDEA = "an idea: faults of other ports"

BUGS = (
    Variant("seeded-index-knows-milliseconds", "bug", "An index has milliseconds where seconds are read.", _IDEA,
            replacements=(_count_milliseconds,)),
    Variant("seeded-index-has-one-key", "bug", "A message with keys is not found by its unique key.", _IDEA,
            replacements=(_index_one_key,)),
    Variant("seeded-reset-is-never-forced", "bug", "A reset by force sends nobody on.", _IDEA,
            replacements=(_never_by_force,)),
    Variant("seeded-first-queue-is-not-reset", "bug", "A reset leaves the first queue out.", _IDEA,
            replacements=(_leave_the_first_queue,)),
    Variant("seeded-one-check-more", "bug", "A half message is asked about once more than it should be.", _IDEA,
            replacements=(_ask_once_more,)),
    Variant("seeded-op-names-the-log", "bug", "What says that a half message has ended names its place in the log.",
            _IDEA, replacements=(_note_the_wrong_offset,)),
    Variant("seeded-other-tag-forgets-the-pull", "bug", "A pull that a message of another tag has woken is lost.",
            _IDEA, replacements=(_forget_whom_it_does_not_concern,)),
    Variant("seeded-units-are-not-shown", "bug", "Who asks for units of a queue is shown none.",
            "apache/rocketmq #1787", replacements=(_show_none,)),
    Variant("seeded-unique-keys-find-nothing", "bug", "A query by unique key finds nothing.",
            "mxsm/rocketmq-rust #4623", replacements=(_none_by_default,)),
    Variant("seeded-missing-key-is-an-error", "bug", "Who asks for a key without value is told of an error.",
            "mxsm/rocketmq-rust #2134", replacements=(_missing_is_an_error,)),
    Variant("seeded-brokers-have-no-cluster", "bug", "Routes do not say in which cluster a broker is.", "ROCKETMQ-200",
            replacements=(_leave_the_cluster_out,)),
    Variant("seeded-half-topic-is-shown", "bug", "Who is asked about a half message is shown the topic of all of them.",
            _IDEA, replacements=(_show_the_half_message,)),
)
