"""Planted bugs of what listeners ask for themselves: when to commit, when a queue or a message comes again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from impl.client.consume_message_concurrently_service import ConsumeMessageConcurrentlyService
from impl.client.consume_message_orderly_service import (
    AS_CONFIGURED,
    LEAST_SUSPEND_MS,
    ConsumeMessageOrderlyService,
)
from impl.client.message_listener import ConsumeConcurrentlyContext, ConsumeOrderlyContext, ConsumeOrderlyStatus
from impl.client.process_queue import ProcessQueue
from impl.common.message import MessageExt
from impl.decisions.message_queue import MessageQueue
from impl.variants.variant import Replacement, Variant, around, replace

_IDEA = "an idea: what a port of a consumer forgets"


def _understood(meant: Callable[[ConsumeOrderlyStatus, ConsumeOrderlyContext], ConsumeOrderlyStatus]) -> Replacement:
    """What a listener in order answers is taken for something else; its context may be changed."""

    def wrap(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
        async def process_consume_result(
            self: ConsumeMessageOrderlyService, status: ConsumeOrderlyStatus, context: ConsumeOrderlyContext,
            pq: ProcessQueue, msgs: Sequence[MessageExt],
        ) -> bool:
            return await original(self, meant(status, context), context, pq, msgs)

        return process_consume_result

    return around(ConsumeMessageOrderlyService, "process_consume_result")(wrap)


@_understood
def _commit_what_succeeds(status: ConsumeOrderlyStatus, context: ConsumeOrderlyContext) -> ConsumeOrderlyStatus:
    """Nobody looks at autoCommit where all went well."""
    context.auto_commit |= status is ConsumeOrderlyStatus.SUCCESS
    return status


@_understood
def _commit_for_nobody(status: ConsumeOrderlyStatus, _: ConsumeOrderlyContext) -> ConsumeOrderlyStatus:
    """COMMIT means what SUCCESS means."""
    return ConsumeOrderlyStatus.SUCCESS if status is ConsumeOrderlyStatus.COMMIT else status


@_understood
def _roll_one_batch_back(status: ConsumeOrderlyStatus, _: ConsumeOrderlyContext) -> ConsumeOrderlyStatus:
    """ROLLBACK means what SUSPEND_CURRENT_QUEUE_A_MOMENT means: what was held before stays taken."""
    suspends = status is ConsumeOrderlyStatus.ROLLBACK
    return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT if suspends else status


@around(ConsumeMessageConcurrentlyService, "send_message_back")
def _ask_for_no_level(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def send_message_back(
        self: ConsumeMessageConcurrentlyService, msg: MessageExt, context: ConsumeConcurrentlyContext,
    ) -> bool:
        """What the listener has put into its context is read by nobody."""
        return await original(self, msg, ConsumeConcurrentlyContext(context.message_queue))

    return send_message_back


@around(ConsumeMessageOrderlyService, "_submit_consume_request_later")
def _rest_as_configured(original: Callable[..., None]) -> Callable[..., None]:
    def _submit_consume_request_later(
        self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue, suspend_time_ms: int,
    ) -> None:
        """Each queue rests as long as the consumer has it."""
        del suspend_time_ms
        original(self, mq, pq, AS_CONFIGURED)

    return _submit_consume_request_later


@replace(ConsumeMessageOrderlyService, "_submit_consume_request_later")
def _rest_as_long_as_asked(
    self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue, suspend_time_ms: int,
) -> None:
    """There is no greatest rest."""
    if suspend_time_ms == AS_CONFIGURED:
        suspend_time_ms = self.consumer.config.suspend_current_queue_time_ms
    self.scheduler.schedule(
        lambda: self.submit_consume_request((), pq, mq, dispatch_to_consume=True),
        max(suspend_time_ms, LEAST_SUSPEND_MS))


BUGS = (
    Variant(
        "seeded-levels-are-not-asked-for", "bug", "A listener's own delay level is not sent with what it fails with.",
        _IDEA, replacements=(_ask_for_no_level,),
    ),
    Variant(
        "seeded-rests-are-all-alike", "bug", "A listener in order may not say how long its queue rests.",
        _IDEA, replacements=(_rest_as_configured,),
    ),
    Variant(
        "seeded-rests-have-no-end", "bug", "A queue rests longer than 30 s if its listener asks for that.",
        _IDEA, replacements=(_rest_as_long_as_asked,),
    ),
    Variant(
        "seeded-success-commits-always", "bug", "What a listener in order succeeds with is committed, also if it wants "
        "to commit itself.", _IDEA, replacements=(_commit_what_succeeds,),
    ),
    Variant(
        "seeded-commit-is-a-success", "bug", "A listener in order that commits itself is told that all is well, and "
        "nothing is committed.", _IDEA, replacements=(_commit_for_nobody,),
    ),
    Variant(
        "seeded-one-batch-is-rolled-back", "bug", "A listener in order that rolls back is given its last batch again, "
        "and not what it held before.", _IDEA, replacements=(_roll_one_batch_back,),
    ),
)
