"""What is compared of a recorded connection between a master and its slave, and what is set aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from impl.store.message_store_config import MessageStoreConfig
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.wire.ha_log import Sends
from stateful_tests.conformance.wire.ha_parties import Master, Slave
from stateful_tests.conformance.wire.ha_streams import FILE_BYTES, Chunk, Frame, Record, Report
from stateful_tests.conformance.wire.rows import Row

HEARTBEAT = "heartbeats, whose number depends on when threads run"
CUT = "where a master has cut its log into frames, which depends on when messages were put"
UNREPORTED = "frames that came just before a connection ended, which the slave did not report any more"
BEFORE = "what a slave had before the recording"
NOT_SENT = "records of which the recorded traffic shows no send: fields that the record has only once"
TORN = "a frame or a record in which the recording ends"
ASIDE = (HEARTBEAT, CUT, UNREPORTED, BEFORE, NOT_SENT, TORN)
"""What is not compared."""
_CONFIG = MessageStoreConfig()


@dataclass
class Session:
    """A connection: what was recorded of it, and our slave on it."""

    first: Chunk
    last: Chunk
    frames: list[Frame] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    rest: bytes = b""
    slave: Slave | None = None

    @property
    def data_frames(self) -> list[Frame]:
        """The frames that are no heartbeats."""
        return [frame for frame in self.frames if frame.data]


def slave_of(session: Session) -> Slave:
    """Our slave; raises ValueError before there is one."""
    if session.slave is None:
        raise ValueError("a connection without a slave")
    return session.slave


def slave_rows(session: Session) -> Iterator[Row]:
    """What our slave has appended, and what it has reported."""
    slave = slave_of(session)
    reported = max((one.offset for one in session.reports), default=0)
    for frame in session.frames:
        if not frame.size or not frame.data:
            yield Row(frame.line, "frame", aside=TORN if frame.size else HEARTBEAT)
            continue
        end = frame.offset + len(frame.data)
        if end > reported:
            yield Row(frame.line, "frame", aside=UNREPORTED)
        got = slave.log(frame.offset, end)
        if end <= reported or got:
            yield Row(frame.line, "frame", _bytes(frame.data, got, frame.offset, "our slave's log"))
    if session.rest:
        sentence = f"reports: expected 8 bytes, got {len(session.rest)}"
        yield Row(session.last.line, "report", sentence)
    yield from _report_rows(session.reports, slave.reports)


def _report_rows(recorded: list[Report], ours: list[Report]) -> Iterator[Row]:
    """A slave reports after each frame that it has appended; it repeats a report only when time has passed."""
    reached = [one.offset for before, one in pairwise([Report(0, 0, -1), *ours]) if one.offset != before.offset]
    for before, report in pairwise([Report(0, 0, -1), *recorded]):
        if report.offset != before.offset:
            wanted = reached.pop(0) if reached else None
            yield Row(report.line, "report", difference(report.offset, wanted, "report"))
        elif report.at_ms - before.at_ms < _CONFIG.ha_send_heartbeat_interval_ms // 2:
            sentence = f"report: {report.offset} is repeated after {report.at_ms - before.at_ms} ms"
            yield Row(report.line, "report", sentence)
        else:
            yield Row(report.line, "report", aside=HEARTBEAT)


def master_rows(session: Session, ours: list[Frame]) -> Iterator[Row]:
    """What our master has sent: where it has begun, without a gap, in frames as long as they may be, the same bytes."""
    sent = [frame for frame in ours if frame.size]
    begin = sent[0].offset if sent else None
    data = b"".join(frame.data for frame in sent)
    wanted = next((frame.offset for frame in session.data_frames), None)
    if wanted is not None:
        yield Row(session.first.line, "frames", difference(wanted, begin, "our master begins at"))
    for before, frame in pairwise(sent):
        yield Row(session.first.line, "frames", difference(before.offset + before.size, frame.offset, "our frame"))
    for frame in [*sent, *(one for one in session.frames if one.size)]:
        yield Row(frame.line or session.first.line, "frames", _too_long(frame))
    cuts = {(frame.offset, frame.size) for frame in sent}
    for frame in session.data_frames:
        start = frame.offset - (begin or 0)
        got = data[start:start + len(frame.data)] if start >= 0 else b""
        yield Row(frame.line, "frame", _bytes(frame.data, got, frame.offset, "our master's frames"))
        if (frame.offset, frame.size) not in cuts:
            yield Row(frame.line, "frame", aside=CUT)


def _too_long(frame: Frame) -> str | None:
    batch = _CONFIG.ha_transfer_batch_size_bytes
    if 0 < frame.size <= min(batch, FILE_BYTES - frame.offset % FILE_BYTES):
        return None
    return f"frame: expected at most {batch} bytes of one file, got {frame.size} from {frame.offset} on"


def _bytes(wanted: bytes, got: bytes, offset: int, what: str) -> str | None:
    if wanted == got:
        return None
    same = next((place for place, pair in enumerate(zip(wanted, got, strict=False)) if pair[0] != pair[1]),
                min(len(wanted), len(got)))
    left, right = (data[same:same + 8].hex() or "nothing" for data in (wanted, got))
    return f"{what} at {offset + same}: expected {left}, got {right}"


def record_rows(master: Master, log: list[Record], sends: Sends, frames: list[Frame]) -> Iterator[Row]:
    """Each record can be read, is what our master makes of its message, and is what a producer has sent."""
    last = log[-1] if log else None
    if last is not None:
        master.grow(last.offset + len(last.data))
    for record in log:
        line = next(one.line for one in frames if one.offset <= record.offset < one.offset + len(one.data))
        if not record.is_readable:
            if record is last and record.is_cut:
                yield Row(line, "record", aside=TORN)
            else:
                yield Row(line, "record", f"record: expected one at {record.offset} that our store can read")
            continue
        made = master.log(record.offset, record.offset + len(record.data))
        yield Row(line, "record", _bytes(record.data, made, record.offset, "the record that our master puts"))
        if record.message is not None:
            shown, sentence = sends.compare(record, record.message)
            yield Row(line, "record", sentence) if shown else Row(line, "record", aside=NOT_SENT)
