"""Planted bugs of what comes again: too soon, too many at once, given up too soon; and of pulls that nobody wakes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace as replaced
from functools import partial

from impl.broker.pull_request_hold_service import PullRequestHoldService
from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService, Messages
from impl.client.consume_message_orderly_service import LEAST_SUSPEND_MS, ConsumeMessageOrderlyService
from impl.client.message_listener import ConsumeConcurrentlyContext, ConsumeConcurrentlyStatus
from impl.client.process_queue import ProcessQueue
from impl.common.heartbeat_data import BROADCASTING
from impl.common.message import MessageExt
from impl.decisions import retry_level
from impl.decisions.message_queue import MessageQueue
from impl.store import schedule_message_service
from impl.store.dispatch_request import DispatchRequest
from impl.variants.variant import Variant, around, replace

_IDEA = "an idea: what a port of a consumer or a broker forgets"


@replace(retry_level, "goes_to_dead_letters")
def _give_up_one_too_soon(reconsume_times: int, delay_level: int, max_reconsume_times: int) -> bool:
    """The attempt that has just failed counts as one more."""
    return reconsume_times + 1 >= max_reconsume_times or delay_level < 0


@around(retry_level, "max_reconsume_times")
def _allow_one_more(original: Callable[..., int]) -> Callable[..., int]:
    def max_reconsume_times(configured: int, *, orderly: bool) -> int:
        """The first attempt does not count."""
        return original(configured, orderly=orderly) + 1

    return max_reconsume_times


@replace(retry_level, "send_back_delay_level")
def _wait_a_second(reconsume_times: int, delay_level: int, max_reconsume_times: int) -> int:
    """Every retry waits for the first level."""
    return 0 if retry_level.goes_to_dead_letters(reconsume_times, delay_level, max_reconsume_times) else 1


@replace(ConsumeMessageOrderlyService, "_submit_consume_request_later")
def _begin_at_once(
    self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue, suspend_time_ms: int,
) -> None:
    """Nobody asks how long a queue is to rest."""
    del suspend_time_ms
    self.scheduler.schedule(
        lambda: self.submit_consume_request((), pq, mq, dispatch_to_consume=True), LEAST_SUSPEND_MS)


@around(ConsumeMessageConcurrentlyService, "send_message_back")
def _forget_what_failed(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def send_message_back(
        self: ConsumeMessageConcurrentlyService, msg: MessageExt, context: ConsumeConcurrentlyContext,
    ) -> bool:
        """Nobody looks at what became of it."""
        await original(self, msg, context)
        return True

    return send_message_back


@around(ConsumeMessageConcurrentlyService, "process_consume_result")
def _keep_what_fails(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def process_consume_result(
        self: ConsumeMessageConcurrentlyService, status: ConsumeConcurrentlyStatus, context: ConsumeConcurrentlyContext,
        pq: ProcessQueue, msgs: Messages,
    ) -> None:
        """Of a member that broadcasts what fails stays in the cache, as if it were to be sent back."""
        broadcasts = self.consumer.config.message_model == BROADCASTING
        if not (broadcasts and status is ConsumeConcurrentlyStatus.RECONSUME_LATER):
            await original(self, status, context, pq, msgs)

    return process_consume_result


@replace(ConsumeMessageConcurrentlyService, "submit_consume_request")
def _give_all_at_once(
    self: ConsumeMessageConcurrentlyService, msgs: Sequence[MessageExt], pq: ProcessQueue, mq: MessageQueue, *,
    dispatch_to_consume: bool,
) -> None:
    """What a pull has found is one batch."""
    del dispatch_to_consume
    self.consume_executor.execute(partial(self._run, mq, pq, list(msgs)))


@around(PullRequestHoldService, "_notify")
def _wake_all(original: Callable[..., None]) -> Callable[..., None]:
    def _notify(
        self: PullRequestHoldService, topic: str, queue_id: int, max_offset: int,
        arrived: DispatchRequest | None = None, filter_bit_map: bytes | None = None,
    ) -> None:
        """For a round every pull was held long enough."""
        held = self.pull_request_table.get((topic, queue_id))
        if arrived is None and held:
            held[:] = [replaced(one, timeout_ms=0) for one in held]
        original(self, topic, queue_id, max_offset, arrived, filter_bit_map)

    return _notify


@replace(PullRequestHoldService, "message_arriving")
def _tell_nobody(self: PullRequestHoldService, request: DispatchRequest, filter_bit_map: bytes | None) -> None:
    """The scan finds what has arrived."""
    del self, request, filter_bit_map


@replace(schedule_message_service, "offset_after_delivery")
def _note_what_was_delivered(first_offset: int) -> int:
    """The offset of the message that was delivered is noted, not the one behind it."""
    return first_offset


BUGS = (
    Variant("seeded-given-up-too-soon", "bug", "A message is a dead letter one attempt too soon.", _IDEA,
            replacements=(_give_up_one_too_soon,)),
    Variant("seeded-most-is-one-more", "bug", "A client asks for one more attempt than its group is to have.", _IDEA,
            replacements=(_allow_one_more,)),
    Variant("seeded-retries-wait-a-second", "bug", "Every retry waits for the first delay level.", _IDEA,
            replacements=(_wait_a_second,)),
    Variant("seeded-failed-send-back-is-forgotten", "bug", "What cannot be sent back is settled all the same.",
            "client-cpp #208, #209", replacements=(_forget_what_failed,)),
    Variant("seeded-broadcast-keeps-what-fails", "bug", "A broadcasting member with whose listener a message has "
            "failed does not go on behind it.", "client-go #977", replacements=(_keep_what_fails,)),
    Variant("seeded-suspended-begins-at-once", "bug", "A queue that is suspended does not rest.", _IDEA,
            replacements=(_begin_at_once,)),
    Variant("seeded-pull-is-one-batch", "bug", "A listener is given all that a pull has found.", _IDEA,
            replacements=(_give_all_at_once,)),
    Variant("seeded-arrival-is-not-told", "bug", "No message that arrives answers a pull that is held.", _IDEA,
            replacements=(_tell_nobody,)),
    Variant("seeded-round-answers-all", "bug", "A broker that looks at the pulls that it holds answers all of them.",
            _IDEA, replacements=(_wake_all,)),
    Variant("seeded-delivery-is-noted-too-low", "bug",
            "After a start the delayed message that was delivered last comes again.", _IDEA,
            replacements=(_note_what_was_delivered,)),
)
