"""The log that a recorded master has sent: its bytes, put together from all connections, and its records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CLUSTER, PROPERTY_WAIT_STORE_MSG_OK
from impl.common.message_id import decode_message_id
from impl.common.message_properties import property_entries
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.store_answers import message_fields
from stateful_tests.conformance.wire.contents import request_header
from stateful_tests.conformance.wire.ha_streams import FILE_BYTES, Frame, Record, Report, records
from stateful_tests.conformance.wire.recorded import SUFFIXES, Frame as WireFrame, Scenario

PREFIX = "ha-"
"""Of such a file's name; the rest is the name of the scenario that was recorded at the same time."""
GREATEST_LOG_BYTES = 1 << 28
"""A log that is longer is not lived through."""
_JITTER_MS = 10  # by which times of the proxy can be off
_SENDS, _PULL = (10, 310), 11


class Piece(NamedTuple):
    """A part of the log without a gap. is_known -- whether any connection shows it."""

    begin: int
    data: bytes
    is_known: bool


def misplaced(frames: list[Frame], reports: list[Report]) -> Iterator[tuple[Frame, str]]:
    """The frames that do not begin where they have to; the first one begins where the slave's log ends."""
    if frames and reports and reports[0].offset:
        if frames[0].offset != reports[0].offset:
            yield frames[0], f"first frame: expected the offset {reports[0].offset}, got {frames[0].offset}"
    elif frames and frames[0].offset % FILE_BYTES:
        yield frames[0], f"first frame: expected the begin of a file, got the offset {frames[0].offset}"
    for before, frame in pairwise(frames):
        if frame.offset != before.offset + before.size:
            yield frame, f"frame: expected the offset {before.offset + before.size}, got {frame.offset}"


def put_together(frames: list[Frame]) -> tuple[list[Piece], list[tuple[Frame, str]]]:
    """The log, and the frames that contradict an earlier one; raises ValueError for one that is too long."""
    log, known, wrong = bytearray(), bytearray(), []
    for frame in (frame for frame in frames if frame.data):
        begin, end = frame.offset, frame.offset + len(frame.data)
        if not 0 <= begin < end <= GREATEST_LOG_BYTES:
            message = f"a log that has an offset of {begin}"
            raise ValueError(message)
        more = bytes(max(end - len(log), 0))
        log, known = log + more, known + more
        if any(has and old != new for has, old, new in zip(known[begin:end], log[begin:end], frame.data, strict=True)):
            wrong.append((frame, f"frame: other bytes at {begin} than those that were sent before"))
            continue
        log[begin:end], known[begin:end] = frame.data, b"\1" * (end - begin)
    return list(_pieces(bytes(log), bytes(known))), wrong


def _pieces(log: bytes, known: bytes) -> Iterator[Piece]:
    begin = 0
    while begin < len(log):
        end = known.find(b"\0" if known[begin] else b"\1", begin)
        end = len(log) if end < 0 else end
        yield Piece(begin, log[begin:end], bool(known[begin]))
        begin = end


def all_records(pieces: list[Piece]) -> list[Record]:
    """The records of the log; a part that nobody knows is one that cannot be read."""
    found: list[Record] = []
    for piece in pieces:
        found += records(piece.begin, piece.data) if piece.is_known else [Record(piece.begin, piece.data, None)]
    return found


class Sends:
    """What the scenario beside a file shows of the log: what was sent, and what was pulled, by its place."""

    def __init__(self, scenario: Scenario) -> None:
        """Read the scenario, if it is there; raises BadInputError."""
        self._sent: dict[int, dict[str, object]] = {}
        self._exchanges: dict[int, tuple[WireFrame, WireFrame]] = {}
        self._hosts: dict[int, object] = {}  # of each sender's connection
        self._cluster: dict[str, object] = {}
        self._pulled: dict[int, bytes] = {}
        self._began_ms = -(1 << 63), 1 << 63  # between which times of the broker's clock the recording began
        name = scenario.name.removeprefix(PREFIX)
        for suffix in SUFFIXES:
            path = scenario.path.with_name(f"{name}{suffix}")
            if path.is_file():
                self._read(Scenario(path))

    def _read(self, scenario: Scenario) -> None:
        for frame in scenario.frames:
            answer = scenario.answer(frame)
            if answer is not None and frame.is_request and frame.command.code in _SENDS:
                self._send(frame, answer)
            elif answer is not None and frame.is_request and frame.command.code == _PULL:
                self._pulled |= {_physical_offset(one): one.data for one in records(0, answer.command.body or b"")
                                 if one.message is not None}

    def _send(self, frame: WireFrame, answer: WireFrame) -> None:
        fields = answer.command.ext_fields
        msg_id = "" if fields is None else fields.get("msgId") or ""
        if fields is None or "," in msg_id or not msg_id:
            return  # a batch, or nothing was stored
        header = request_header(frame.command)
        properties = property_entries(header.properties or "")
        properties.pop(PROPERTY_WAIT_STORE_MSG_OK, None)
        place = decode_message_id(msg_id)
        self._exchanges[place.offset] = frame, answer
        self._sent[place.offset] = {
            "topic": header.topic, "queueId": int(fields.get("queueId") or 0), "flag": header.flag,
            "queueOffset": int(fields.get("queueOffset") or 0), "physicalOffset": place.offset,
            "sysFlag": header.sys_flag, "bornTimestamp": header.born_timestamp, "msgId": msg_id,
            "reconsumeTimes": header.reconsume_times or 0, "properties": properties,
            "preparedTransactionOffset": 0, "body_hex": (frame.command.body or b"").hex(),
        }

    def compare(self, record: Record, message: MessageExt) -> tuple[bool, str | None]:
        """Whether an answer shows the message, and what of it is not as it was sent, or pulled."""
        sent, pulled = self._sent.get(record.offset), self._pulled.get(record.offset)
        place = f"of the record at {record.offset}"
        again = None if pulled in {None, record.data} else f"what was pulled {place} has other bytes"
        if sent is None:
            return pulled is not None, again
        fields = message_fields(message)
        fields[PROPERTY_CLUSTER] = fields["properties"].pop(PROPERTY_CLUSTER, None)
        self._cluster.setdefault(PROPERTY_CLUSTER, fields[PROPERTY_CLUSTER])
        request, answer = self._exchanges[record.offset]
        wanted = {**sent, **self._cluster, "bornHost": self._hosts.setdefault(request.conn, fields["bornHost"])}
        sentences = [difference(wanted[name], fields[name], f"{name} {place}") for name in wanted]
        sentences.append(self._stored_at(message.store_timestamp, request.at_ms, answer.at_ms, place))
        return True, next((one for one in [*sentences, again] if one is not None), None)

    def _stored_at(self, store_timestamp: int, asked_at_ms: int, answered_at_ms: int, place: str) -> str | None:
        """Each message was stored between its request and its answer, by one clock."""
        earliest = max(self._began_ms[0], store_timestamp - answered_at_ms - _JITTER_MS)
        latest = min(self._began_ms[1], store_timestamp - asked_at_ms + _JITTER_MS)
        if earliest > latest:
            return f"storeTimestamp {place}: {store_timestamp} is not between its request and its answer"
        self._began_ms = earliest, latest
        return None


def _physical_offset(record: Record) -> int:
    return -1 if record.message is None else record.message.commit_log_offset
