"""Repairs of a store's threads: an Error, as where the disk has no room for a mapped page, ends none of them."""

from __future__ import annotations

from contextlib import suppress

from impl.decisions.java_errors import JavaError, VirtualMachineError
from impl.store.flush_consume_queue_service import FlushConsumeQueueService
from impl.store.reput_message_service import ReputMessageService
from impl.store.schedule_message_service import DeliverDelayedMessageTimerTask
from impl.variants.variant import Variant, replace


@replace(DeliverDelayedMessageTimerTask, "survives_run")
def _look_again(self: DeliverDelayedMessageTimerTask) -> bool:
    """Whatever a look ends with, another one comes, and begins with the unit at which it was."""
    with suppress(VirtualMachineError):
        self.run()
    return True


@replace(ReputMessageService, "run_once")
def _dispatch_again(self: ReputMessageService) -> bool:
    """Whatever a round ends with, the same record comes again."""
    try:
        self.do_reput()
    except JavaError:
        return False
    return True


@replace(FlushConsumeQueueService, "run_once")
def _flush_again(self: FlushConsumeQueueService) -> bool:
    """Whatever a round ends with, another one comes."""
    try:
        return self.do_flush()
    except JavaError:
        return False


REPAIRS = (
    Variant("level_goes_on_after_an_error", "repair", "A delay level whose task ends with an Error has another one.",
            "apache/rocketmq #8124: DeliverDelayedMessageTimerTask#run catches Throwable", ("V39",), (_look_again,)),
    Variant("dispatch_goes_on_after_an_error", "repair", "An Error ends neither dispatch nor the flush of queues.",
            "apache/rocketmq #7902: ReputMessageService#run catches Throwable", ("V40",),
            (_dispatch_again, _flush_again)),
)
