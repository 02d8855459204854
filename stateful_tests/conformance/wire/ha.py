"""The recorded connection of a master and its slave, lived through once more.

Our slave gets the recorded master's bytes, and our master the recorded slave's reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from stateful_tests.conformance.replay import FileResult
from stateful_tests.conformance.wire.ha_compared import (
    BEFORE,
    Session,
    master_rows,
    record_rows,
    slave_of,
    slave_rows,
)
from stateful_tests.conformance.wire.ha_log import GREATEST_LOG_BYTES, Sends, all_records, misplaced, put_together
from stateful_tests.conformance.wire.ha_parties import Master, Slave
from stateful_tests.conformance.wire.ha_streams import Chunk, Frame, Frames, Reports, chunks
from stateful_tests.conformance.wire.recorded import Scenario
from stateful_tests.conformance.wire.rows import Row, judged


def compare_ha(scenario: Scenario) -> FileResult:
    """All frames, reports and records of the file; raises BadInputError."""
    found = chunks(scenario)
    return judged(scenario, "replication of the log", "HAClient, HAConnection", _rows(found, Sends(scenario)))


def _rows(found: list[Chunk], sends: Sends) -> Iterator[Row]:
    sessions = _sessions(found)
    good: list[Frame] = []
    for session in sessions.values():
        wrong = dict(misplaced(session.frames, session.reports))
        yield from (Row(frame.line, "frame", sentence) for frame, sentence in wrong.items())
        good += [frame for frame in session.data_frames if frame not in wrong]
    pieces, contradicting = put_together(sorted(good, key=lambda frame: frame.line))
    yield from (Row(frame.line, "frame", sentence) for frame, sentence in contradicting)
    log = all_records(pieces)
    master = Master(log)
    yield from _live(found, sessions, master)
    unknown = {piece.begin for piece in pieces if not piece.is_known}
    shown = [record for record in log if record.offset not in unknown]
    yield from record_rows(master, shown, sends, good)


def _sessions(found: list[Chunk]) -> dict[int, Session]:
    sessions: dict[int, Session] = {}
    cuts: dict[int, tuple[Frames, Reports]] = {}
    for chunk in found:
        session = sessions.setdefault(chunk.conn, Session(chunk, chunk))
        session.last = chunk
        frames, reports = cuts.setdefault(chunk.conn, (Frames(), Reports()))
        if chunk.from_slave:
            session.reports += reports.feed(chunk.data, chunk.line, chunk.at_ms)
        else:
            session.frames += frames.feed(chunk.data, chunk.line, chunk.at_ms)
    for conn, session in sessions.items():
        frames, reports = cuts[conn]
        session.frames += frames.cut()
        session.rest = reports.rest
    return sessions


# Lived through --------------------------------------------------------------------------------------------------------


def _live(found: list[Chunk], sessions: dict[int, Session], master: Master) -> Iterator[Row]:
    """All chunks in their order; a connection is compared when it has ended."""
    free: list[Slave] = []
    for chunk in found:
        session = sessions[chunk.conn]
        if chunk is session.first:
            yield from _begin(session, free)
            master.grow(next((frame.offset for frame in session.data_frames), 0))
        if chunk.from_slave:
            if chunk is not session.first:
                master.grow(max((one.offset for one in session.reports if one.line == chunk.line), default=0))
            master.reported(chunk.conn, chunk.data, chunk.at_ms)
        else:
            master.grow(max(one.offset + len(one.data) for one in [*_ended(session, chunk), _NOTHING]))
            master.run(chunk.at_ms)
            slave_of(session).come(chunk.data, chunk.at_ms)
        if chunk is session.last:
            yield from slave_rows(session)
            yield from master_rows(session, list(master.sent(chunk.conn)))
            slave_of(session).leave()
            master.left(chunk.conn)
            free.append(slave_of(session))


_NOTHING = Frame(0, 0, 0, 0, b"")


def _ended(session: Session, chunk: Chunk) -> list[Frame]:
    return [frame for frame in session.frames if frame.line == chunk.line]


def _begin(session: Session, free: list[Slave]) -> Iterator[Row]:
    """A slave whose log ends where the first report says: one that was there before, or a new one."""
    end = session.reports[0].offset if session.reports else 0
    end = end if 0 <= end <= GREATEST_LOG_BYTES else 0
    slave = next((one for one in free if one.end == end), None) if end else None
    if slave is None and end and free:  # it may have been started again, and have cut its log
        slave = free[-1]
        slave.restart()
    if slave is None:
        slave = Slave(end)
        if end:
            yield Row(session.first.line, "slave", aside=BEFORE)
    else:
        free.remove(slave)
    session.slave = slave
    slave.meet(session.first.at_ms)
