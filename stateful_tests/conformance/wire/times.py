"""When a recording was made, who was served first, and when its connections end: read from all of its frames."""

from __future__ import annotations

from collections.abc import Iterator

from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_TRANSACTION_PREPARED
from impl.common.request_code import RequestCode, ResponseCode
from impl.hosts.simulation.clock import EPOCH_MS
from stateful_tests.conformance.wire.reading import SENDS, consumers_of, messages_of, number, registered
from stateful_tests.conformance.wire.recorded import Frame, Scenario

_AT_ONCE_MS = 10
"""Requests that come within so long were in the servers at the same time: their answers tell who was first."""


def ordered(scenario: Scenario, requests: list[Frame]) -> list[Frame]:
    """The requests as the servers took them, where the answers show that it was not as the proxy saw them."""
    found: list[Frame] = []
    for frame in requests:
        place = len(found)
        while place and _overtaken(scenario, found[place - 1], frame):
            place -= 1
        found.insert(place, frame)
    return found


def _overtaken(scenario: Scenario, before: Frame, frame: Frame) -> bool:
    """Whether a request was served before an earlier one: heartbeats and registrations have pools of their own."""
    if frame.at_ms - before.at_ms > _AT_ONCE_MS:
        return False
    mine, other = scenario.answer(frame), scenario.answer(before)
    if mine is None:
        return False
    if before.command.code == RequestCode.HEART_BEAT:
        return before.conn == frame.conn and other is not None and mine.seq < other.seq
    fields = frame.command.ext_fields
    return (before.command.code == RequestCode.REGISTER_BROKER and fields is not None
            and mine.command.code == ResponseCode.TOPIC_NOT_EXIST and fields.get("topic") in registered(before))


def last_frames(scenario: Scenario) -> dict[int, int]:
    """The number of the last frame of each connection that ends: not of brokers, and not while a pull is held."""
    last: dict[int, Frame] = {}
    for frame in scenario.frames:
        last[frame.conn] = frame
    return {conn: frame.seq for conn, frame in last.items()
            if (_forgotten(scenario, frame) if frame.link.startswith("broker") else not _held(scenario, conn))}


def _forgotten(scenario: Scenario, last: Frame) -> bool:
    """Whether the name server has no route any more that came over this connection: then the connection has ended."""
    topics = {topic for frame in scenario.frames if frame.conn == last.conn and frame.is_request
              and frame.command.code == RequestCode.REGISTER_BROKER for topic in registered(frame)}
    name = next((str(fields.get("brokerName")).encode() for frame in scenario.frames
                 if frame.conn == last.conn and (fields := frame.command.ext_fields) is not None), b"")
    if any(frame.seq > last.seq and name in (frame.command.body or b"") for frame in scenario.frames):
        return False
    return any(frame.seq > last.seq and frame.is_request and frame.command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC
               and (fields := frame.command.ext_fields) is not None and fields.get("topic") in topics
               and (answer := scenario.answer(frame)) is not None
               and answer.command.code == ResponseCode.TOPIC_NOT_EXIST for frame in scenario.frames)


def _held(scenario: Scenario, conn: int) -> bool:
    return any(frame.conn == conn and frame.is_request and frame.from_client and not frame.command.oneway
               and scenario.answer(frame) is None for frame in scenario.frames)


def epoch_ms_of(scenario: Scenario) -> int:
    """Wall time of the beginning: as messages say that were sent and shown, or clients, or else after all messages."""
    messages = [message for frame in scenario.frames for message in messages_of(scenario, frame)]
    answered = _answered_sends(scenario)
    shown = [one.store_timestamp - answered[place] for one in messages
             if (place := (one.topic, one.queue_id, one.queue_offset)) in answered
             and not _PUT_LATER & set(one.properties or {})]
    told = [ms - frame.at_ms for frame in scenario.frames for ms in _times(scenario, frame)]
    return max(shown or told or [one.store_timestamp + 1 for one in messages], default=EPOCH_MS)


_PUT_LATER = {PROPERTY_DELAY_TIME_LEVEL, PROPERTY_TRANSACTION_PREPARED}
"""Of messages that the broker itself puts where they are found, after the answer."""


def _answered_sends(scenario: Scenario) -> dict[tuple[str, int, int], int]:
    """When sends were answered, by the place of the message in its queue: it was stored before."""
    found = {}
    for frame in scenario.frames:
        fields, answer = frame.command.ext_fields, scenario.answer(frame)
        ext = None if answer is None else answer.command.ext_fields
        if frame.is_request and frame.command.code in SENDS and fields is not None and answer is not None and ext:
            topic = str(fields.get("topic") or fields.get("b"))
            found[topic, number(ext.get("queueId")), number(ext.get("queueOffset"))] = answer.at_ms
    return found


def first_put_ms(scenario: Scenario) -> int:
    """When the first request comes that lets the broker store something, since the beginning."""
    puts = {*SENDS, RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.END_TRANSACTION, RequestCode.SEND_REPLY_MESSAGE_V2}
    return min((frame.at_ms for frame in scenario.frames if frame.is_request and frame.command.code in puts),
               default=1 << 40)


def _times(scenario: Scenario, frame: Frame) -> Iterator[int]:
    """Times in a request that was taken; they were past when it was sent."""
    answer = scenario.answer(frame)
    if answer is None or answer.command.code != 0:
        return
    fields = frame.command.ext_fields
    if not frame.is_request or not frame.from_client:
        return
    if frame.command.code in SENDS and fields is not None:
        born = fields.get("g") or fields.get("bornTimestamp") or ""
        if born.isdigit() and int(born) > EPOCH_MS:
            yield int(born)
    yield from (data.sub_version for one in consumers_of(frame) for data in one.subscription_data_set)
