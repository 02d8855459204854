"""The messages that were there before a recording began: those that its answers show, and those that they count."""

from __future__ import annotations

from impl.common.message import MessageExt
from impl.common.request_code import RequestCode
from stateful_tests.conformance.wire.reading import SENDS, messages_of, number
from stateful_tests.conformance.wire.recorded import Frame, Scenario
from stateful_tests.conformance.wire.state_before import counts_of
from stateful_tests.conformance.wire.times import first_put_ms

UNKNOWN = b"unknown"
"""The body of what stands for a message that was there, and that nobody has shown."""


def older_messages(scenario: Scenario, epoch_ms: int) -> list[MessageExt]:
    """Messages that were stored before the scenario began, by topic and queue in their order.

    epoch_ms -- wall time of the beginning.
    """
    put_ms = epoch_ms + first_put_ms(scenario)
    found = {(str(one.topic), one.queue_id, one.queue_offset): one for frame in scenario.frames
             for one in messages_of(scenario, frame) if one.store_timestamp < put_ms}
    for (topic, queue_id), count in _counted(scenario).items():
        for offset in range(count):
            found.setdefault((topic, queue_id, offset), MessageExt(
                offset, UNKNOWN, {}, topic, queue_id, commit_log_offset=-1, store_timestamp=epoch_ms - 1))
    return sorted(found.values(), key=lambda one: (str(one.topic), one.queue_id, one.queue_offset))


def _counted(scenario: Scenario) -> dict[tuple[str, int], int]:
    """How many messages the first answer about a queue counts, if nobody has sent any to its topic."""
    least: dict[tuple[str, int], int] = {}
    exactly: dict[tuple[str, int], int] = {}
    for frame in scenario.frames:
        answer, fields = scenario.answer(frame), frame.command.ext_fields
        if frame.is_request and frame.command.code in SENDS and fields is not None:
            to = str(fields.get("topic") or fields.get("b"))
            exactly.setdefault((to, number(fields.get("queueId") or fields.get("e"))), 0)
        if not frame.is_request or answer is None:
            continue
        for (topic, queue_id), count in counts_of(frame.command, answer.command).items():
            if topic.startswith("%") or _sent_before(scenario, topic, answer):
                continue  # a retry topic is filled by send-backs
            searched = frame.command.code == RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
            (least if searched else exactly).setdefault((topic, queue_id), count)
    return least | exactly


def _sent_before(scenario: Scenario, topic: str, answer: Frame) -> bool:
    return any(frame.seq < answer.seq and frame.is_request and frame.command.code != RequestCode.PULL_MESSAGE
               and (fields := frame.command.ext_fields) is not None
               and topic in {fields.get("b"), fields.get("originTopic")} for frame in scenario.frames)
