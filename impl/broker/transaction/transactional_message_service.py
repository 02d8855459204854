"""TransactionalMessageServiceImpl: asks producers of half messages that have not ended, and goes on in their queues."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from impl.broker.broker_config import BrokerConfig
from impl.broker.transaction.transactional_message_bridge import (
    REMOVE_TAG,
    TransactionalMessageBridge,
    is_put_ok,
)
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS,
    PROPERTY_TAGS,
    PROPERTY_TRANSACTION_CHECK_TIMES,
    PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET,
)
from impl.common.pull_result import PullResult
from impl.decisions.java_errors import IndexOutOfBoundsError, JavaError, NumberFormatError, not_null
from impl.decisions.java_text import parse_integer, utf8_text
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC, RMQ_SYS_TRANS_OP_HALF_TOPIC
from impl.decisions.pull_answer import PullStatus
from impl.decisions.transaction_check import (
    MAX_PROCESS_TIME_LIMIT_MS,
    OP_MESSAGES_AT_ONCE,
    calculate_op_offset,
    check_immunity_time_ms,
    is_done_before,
    is_immune,
    is_need_check,
    need_discard,
    need_skip,
    next_check_times,
)
from impl.hash_map import HashMap
from impl.ports.threads import Threads
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageFuture

_MAX_RETRY_COUNT_WHEN_HALF_NULL = 1


class TransactionalMessageCheckListener(Protocol):
    """`broker.transaction.AbstractTransactionalMessageCheckListener`. What they raise, Java catches in them."""

    def resolve_half_msg(self, half: MessageExt) -> None:
        """AbstractTransactionalMessageCheckListener#resolveHalfMsg: ask a producer what became of it."""
        ...

    async def resolve_discard_msg(self, half: MessageExt) -> None:
        """AbstractTransactionalMessageCheckListener#resolveDiscardMsg: nobody is asked any more."""
        ...


class TransactionalMessageServiceImpl:
    """`broker.transaction.queue.TransactionalMessageServiceImpl`. transactional_message_bridge -- to the store."""

    def __init__(self, transactional_message_bridge: TransactionalMessageBridge) -> None:
        """Have checked nothing."""
        self.transactional_message_bridge = transactional_message_bridge

    def async_prepare_message(self, message: MessageExtBrokerInner) -> PutMessageFuture:
        """TransactionalMessageServiceImpl#asyncPrepareMessage."""
        return self.transactional_message_bridge.async_put_half_message(message)

    def get_half_message_by_offset(self, commit_log_offset: int) -> MessageExt | None:
        """TransactionalMessageServiceImpl#commitMessage, #rollbackMessage: the message that is to end, if any."""
        return self.transactional_message_bridge.look_message_by_offset(commit_log_offset)

    def delete_prepare_message(self, half: MessageExt) -> None:
        """TransactionalMessageServiceImpl#deletePrepareMessage: it always claims success."""
        self.transactional_message_bridge.put_op_message(half)

    async def check(
        self, transaction_timeout_ms: int, transaction_check_max: int, listener: TransactionalMessageCheckListener,
        threads: Threads,
    ) -> None:
        """TransactionalMessageServiceImpl#check: one round over all half queues.

        An exception ends the round of all queues, and what it has done in this queue is not kept.
        """
        bridge = self.transactional_message_bridge
        try:
            for queue in await bridge.fetch_message_queues(RMQ_SYS_TRANS_HALF_TOPIC, threads):
                one = _QueueCheck(bridge, queue, transaction_timeout_ms, transaction_check_max, listener, threads)
                await one.run()
        except JavaError:
            return


class _QueueCheck:
    """The body of the loop of TransactionalMessageServiceImpl#check.

    remove_map -- half offset to the op offset that says that it has ended. done_op_offset -- op messages that are of no
    use any more. op_result -- of the last read of the op queue. i -- the half offset that is looked at. new_offset --
    where the next round begins.
    """

    def __init__(
        self, bridge: TransactionalMessageBridge, queue: MessageQueue, timeout_ms: int, check_max: int,
        listener: TransactionalMessageCheckListener, threads: Threads,
    ) -> None:
        self._bridge, self._queue, self._listener, self._threads = bridge, queue, listener, threads
        self._timeout_ms, self._check_max = timeout_ms, check_max
        self._op_queue = MessageQueue(RMQ_SYS_TRANS_OP_HALF_TOPIC, queue.broker_name, queue.queue_id)
        self._start_ms = bridge.now_ms()
        self._half_offset = self._new_offset = self._i = bridge.fetch_consume_offset(queue)
        self._op_offset = bridge.fetch_consume_offset(self._op_queue)
        self._remove_map: dict[int, int] = {}
        self._done_op_offset: list[int] = []
        self._null_count = 1

    async def run(self) -> None:
        """Go through the queue, then note how far that came."""
        if self._half_offset < 0 or self._op_offset < 0:
            return
        op_result = await self._fill_op_remove_map(self._op_offset)
        if op_result is None:
            return
        self._op_result = op_result
        while self._bridge.now_ms() - self._start_ms <= MAX_PROCESS_TIME_LIMIT_MS and await self._step():
            await self._threads.interleave("TransactionalMessageServiceImpl#check: before the next half message")
        if self._new_offset != self._half_offset:
            await self._bridge.update_consume_offset(self._queue, self._new_offset, self._threads)
        new_op_offset = calculate_op_offset(self._done_op_offset, self._op_offset)
        if new_op_offset != self._op_offset:
            await self._bridge.update_consume_offset(self._op_queue, new_op_offset, self._threads)

    async def _step(self) -> bool:
        """Look at the half message at i; False: that is all for this round."""
        if self._i in self._remove_map:
            self._done_op_offset.append(self._remove_map.pop(self._i))
            return self._next()
        result = not_null(self._bridge.get_message(self._queue.topic, self._queue.queue_id, self._i, 1))
        if result.pull_status is not PullStatus.FOUND:
            return self._missed(result)
        half = _one_of(result, 0)
        times = _number(half.get_property(PROPERTY_TRANSACTION_CHECK_TIMES), 32)
        discard = need_discard(times, self._check_max)
        if not discard:
            half = _with_property(half, PROPERTY_TRANSACTION_CHECK_TIMES, str(next_check_times(times)))
        hours = self._bridge.store.config.file_reserved_time_hours
        if discard or need_skip(self._bridge.now_ms(), half.born_timestamp, hours):
            await self._listener.resolve_discard_msg(half)
            return self._next()
        return half.store_timestamp < self._start_ms and await self._of_age(half)

    def _next(self) -> bool:
        self._i += 1
        self._new_offset = self._i
        return True

    def _missed(self, result: PullResult) -> bool:
        """No message is there: the first time the queue's answer says where to go on."""
        self._null_count += 1
        if self._null_count - 1 > _MAX_RETRY_COUNT_WHEN_HALF_NULL or result.pull_status is PullStatus.NO_NEW_MSG:
            return False
        self._i = self._new_offset = result.next_begin_offset
        return True

    async def _of_age(self, half: MessageExt) -> bool:
        """Wait until it is old enough, ask for it, or read more op messages."""
        age_ms = self._bridge.now_ms() - half.born_timestamp
        seconds = _number(half.get_property(PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS), 64)
        immunity_ms = check_immunity_time_ms(seconds, self._timeout_ms)
        if is_immune(age_ms, immunity_ms, own_immunity=seconds is not None):
            if seconds is None:
                return False
            if self._check_prepare_queue_offset(half):
                return self._next()
        last_op_born_ms = self._last_op_born_ms()
        if is_need_check(age_ms, immunity_ms, last_op_born_ms, self._start_ms, self._timeout_ms):
            return self._put_back(half) and self._next()
        self._op_result = not_null(await self._fill_op_remove_map(self._op_result.next_begin_offset))
        return last_op_born_ms is not None or self._last_op_born_ms() is not None

    def _last_op_born_ms(self) -> int | None:
        if self._op_result.pull_status is not PullStatus.FOUND:
            return None
        return _one_of(self._op_result, -1).born_timestamp

    def _put_back(self, half: MessageExt) -> bool:
        """TransactionalMessageServiceImpl#putBackHalfMsgQueue, and the question; False: the copy was not taken.

        Java then tries again at once, until a minute is over. Here the round ends, as it does for Java if nothing
        changes in that minute; the same is true of a message that is neither to be checked nor immune.
        """
        result = self._bridge.put_back(half)
        if result is None or not is_put_ok(result):
            return False
        appended = not_null(result.append_message_result)
        self._listener.resolve_half_msg(replace(
            half, queue_offset=appended.logics_offset, commit_log_offset=appended.wrote_offset,
            msg_id=appended.get_msg_id()))
        return True

    def _check_prepare_queue_offset(self, half: MessageExt) -> bool:
        """TransactionalMessageServiceImpl#checkPrepareQueueOffset: whether an immune message is over or put back."""
        offset = _number(half.get_property(PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET), 64)
        if offset == -1:
            return False
        if offset in self._remove_map:
            self._done_op_offset.append(self._remove_map.pop(offset))
            return True
        return self._bridge.put_back_immune(half)

    async def _fill_op_remove_map(self, offset: int) -> PullResult | None:
        """TransactionalMessageServiceImpl#fillOpRemoveMap: read op messages; None: the store must not be read."""
        result = self._bridge.get_message(
            self._op_queue.topic, self._op_queue.queue_id, offset, OP_MESSAGES_AT_ONCE)
        if result is None:
            return None
        if result.pull_status in {PullStatus.OFFSET_ILLEGAL, PullStatus.NO_MATCHED_MSG}:
            await self._bridge.update_consume_offset(self._op_queue, result.next_begin_offset, self._threads)
        for op in result.msg_found_list:
            half_offset = not_null(_number(utf8_text(not_null(op.body)), 64))
            if op.get_property(PROPERTY_TAGS) != REMOVE_TAG:
                continue
            if is_done_before(half_offset, self._half_offset):
                self._done_op_offset.append(op.queue_offset)
            else:
                self._remove_map[half_offset] = op.queue_offset
        return result


def _one_of(result: PullResult, place: int) -> MessageExt:
    """List#get; raises IndexOutOfBoundsError where no record could be decoded."""
    if not result.msg_found_list:
        raise IndexOutOfBoundsError
    return result.msg_found_list[place]


def _number(text: str | None, bits: int) -> int | None:
    """TransactionalMessageServiceImpl#getInt, #getLong: -1 for what is no number; None for None."""
    if text is None:
        return None
    try:
        return parse_integer(text, bits)
    except NumberFormatError:
        return -1


def _with_property(message: MessageExt, name: str, value: str) -> MessageExt:
    properties: HashMap[str, str] = HashMap()
    for entry in (message.properties or {}).items():
        properties.put(*entry)
    properties.put(name, value)
    return replace(message, properties=dict(properties.entries()))


class TransactionalMessageCheckService:
    """`broker.transaction.TransactionalMessageCheckService` of a master.

    Step `run_once`: first after `transaction_check_interval_ms`, then every so many ms.
    """

    def __init__(
        self, service: TransactionalMessageServiceImpl, listener: TransactionalMessageCheckListener,
        config: BrokerConfig,
    ) -> None:
        """Wait."""
        self._service, self._listener, self._config = service, listener, config

    async def run_once(self, threads: Threads) -> None:
        """TransactionalMessageCheckService#onWaitEnd."""
        config = self._config
        await self._service.check(
            config.transaction_timeout_ms, config.transaction_check_max, self._listener, threads)
