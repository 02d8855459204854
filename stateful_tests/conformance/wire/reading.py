"""What is read in a recorded frame more than once: a number, a body, the groups of a heartbeat, messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.heartbeat_data import ConsumerData
from impl.common.message import MessageExt
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.java_errors import JavaError
from stateful_tests.conformance.wire.contents import CONTENTS, RECORDS, request_body
from stateful_tests.conformance.wire.recorded import Frame, Scenario

SENDS = (10, 310, 320)
"""SEND_MESSAGE, SEND_MESSAGE_V2, SEND_BATCH_MESSAGE."""


def number(text: str | None) -> int:
    """A number as it is written in a field; 0 for none, and for what is none."""
    return int(text) if text and text.removeprefix("-").isdecimal() else 0


def messages_of(scenario: Scenario, frame: Frame) -> Iterator[MessageExt]:
    """The stored messages that an answer shows."""
    if frame.answers is None or frame.command.body is None:
        return
    request = next((one for one in scenario.frames if one.seq == frame.answers), None)
    content = None if request is None else CONTENTS.get(request.command.code)
    if content is not None and content.answer_body == RECORDS:
        yield from decodes(ByteBuffer(frame.command.body))


def consumers_of(frame: Frame) -> list[ConsumerData]:
    """The groups in a heartbeat, with what they subscribe."""
    if not frame.is_request or frame.command.code != RequestCode.HEART_BEAT:
        return []
    heartbeat = body_of(frame)
    found: list[ConsumerData] = [] if heartbeat is None else heartbeat.consumer_data_set
    return found


def body_of(frame: Frame) -> Any:
    """The body of a request; None for one that cannot be read."""
    try:
        return request_body(frame.command, 0)
    except JavaError:
        return None


def registered(frame: Frame) -> dict[str, TopicConfig]:
    """The topics of a registration; none of one that cannot be read."""
    body = body_of(frame)
    return {} if body is None else dict(body.topic_config_serialize_wrapper.topic_config_table)
