"""A scenario judged: each frame through the codec, each recorded request given to our servers, each push awaited."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from impl.common.headers.shape import SHAPES
from impl.common.request_code import RequestCode
from impl.decisions.java_errors import JavaError
from impl.decisions.java_text import parse_integer
from impl.remoting.custom_headers import decode_custom_header, make_custom_header_to_net
from impl.remoting.remoting_command import ExtFields, RemotingCommand, decode, encode
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.replay import SHOWN, FileResult
from stateful_tests.conformance.wire.answers import compare_answer, kept_ext
from stateful_tests.conformance.wire.before import has_slaves
from stateful_tests.conformance.wire.contents import CONTENTS, shown_ext
from stateful_tests.conformance.wire.recorded import Frame, Scenario
from stateful_tests.conformance.wire.rows import Row, judged
from stateful_tests.conformance.wire.traffic import PUSHES, Lived, Push, Traffic
from stateful_tests.worlds.world import World

NOT_JAVA = "its sender was a script, which writes ext fields in alphabetical order; the fields are compared"
REPLICATED = "it was answered by a master or its slave, and nothing says by which"


def compare_scenario(scenario: Scenario) -> FileResult:
    """All rows of a scenario; raises BadInputError for a file that cannot be read."""
    frames = scenario.frames
    return judged(scenario, "frames", "RemotingCommand, the processors of broker and name server",
                  chain(map(_codec, frames), _lived(scenario)))


def _row(frame: Frame, sentence: str | None, excuse: str | None = None) -> Row:
    return Row(frame.line, frame.row["header"], sentence, excuse, recorded=frame.seq)


# Frames ---------------------------------------------------------------------------------------------------------------


def _codec(frame: Frame) -> Row:
    """A frame decoded and encoded again, and its ext fields as a typed header."""
    try:
        command = frame.command
        again = encode(command)
        found = difference(frame.data.hex(), again.hex(), "frame")
        if found is not None and command.language != "JAVA":
            same = decode(again[4:], lambda: 0) == command
            return _row(frame, found, NOT_JAVA if same else None)
        return _row(frame, found or _typed(command))
    except JavaError as error:
        return _row(frame, f"expected a frame, got {error.java_class}: {error.message}")


def _typed(command: RemotingCommand) -> str | None:
    """Whether a request's fields survive being a typed header, those that its class does not have aside."""
    content = CONTENTS.get(command.code)
    if command.is_response or content is None or content.header is None or command.ext_fields is None:
        return None
    shape = SHAPES[content.header]
    fields = ExtFields()
    try:
        make_custom_header_to_net(shape, decode_custom_header(shape, command.ext_fields), fields)
    except JavaError:
        return None  # what its checkFields refuses
    types = {field.name: field.type for field in shape.fields}
    wanted = {key: value for key, value in command.ext_fields.entries()
              if key in types and _parses(types[str(key)], value or "")}
    return difference(wanted, {key: value for key, value in fields.entries() if key in wanted}, "typed header")


def _parses(kind: str, value: str) -> bool:
    """Whether a field is written as Java writes it: a script may send what Java does not read."""
    if kind in {"String", "Boolean", "boolean"}:
        return kind == "String" or value in {"true", "false"}
    try:
        return str(parse_integer(value, 64 if kind in {"Long", "long"} else 32)) == value
    except JavaError:
        return False


# Requests -------------------------------------------------------------------------------------------------------------


def _lived(scenario: Scenario) -> Iterator[Row]:
    """The answers and the pushes."""
    if has_slaves(scenario):
        yield from (Row(frame.line, "", aside=REPLICATED) for frame in scenario.frames if frame.is_request)
        return
    with World() as world:
        traffic = Traffic(scenario, world)
        lived = traffic.live()
        yield from (Row(0, "", aside=reason) for reason in lived.not_asked.values())
        yield from _answers(scenario, traffic, lived)
        yield from _pushes(scenario, lived)


def _answers(scenario: Scenario, traffic: Traffic, lived: Lived) -> Iterator[Row]:
    for frame in traffic.requests:
        recorded = scenario.answer(frame)
        if recorded is not None and frame.seq not in lived.not_asked:
            yield _row(frame, compare_answer(frame.command, recorded.command, lived.answers.get(frame.seq)))


def _pushes(scenario: Scenario, lived: Lived) -> Iterator[Row]:
    """What the recorded broker sent by itself, ours has sent to the same client as often, and nothing else."""
    left, recorded = list(lived.pushes), []
    for frame in _recorded_pushes(scenario, lived):
        fields = frame.command.ext_fields
        wanted = frame.command.code, kept_ext(
            frame.command.code, {} if fields is None else {str(key): value for key, value in fields.entries()})
        recorded.append((frame.conn, wanted))
        mine = [one for one in left if one.conn == frame.conn]
        equal = sorted((one for one in mine if _shown(one) == wanted), key=lambda one: abs(one.at_ms - frame.at_ms))
        found = next(iter(equal), None)
        if found is not None and frame.command.code not in _REPEATED:
            left.remove(found)
        shown = f"expected the push {wanted}, got {[_shown(one) for one in mine][:SHOWN]}"
        yield _row(frame, shown if found is None else None)
    until_ms = {frame.conn: frame.at_ms for frame in scenario.frames}
    for one in left:
        again = one.command.code in _REPEATED and (one.conn, _shown(one)) in recorded
        if one.at_ms < until_ms[one.conn] and not again and not _after_an_end(one, lived):
            yield Row(1, "push", f"expected no other push on connection {one.conn}, got {_shown(one)}")


_REPEATED = {RequestCode.CHECK_TRANSACTION_STATE}  # how often depends on when its thread began


def _after_an_end(push: Push, lived: Lived) -> bool:
    """Whether a member may be missed for whose connection nobody knows when the recorded one ended."""
    ended = lived.first_end_ms is not None and push.at_ms >= lived.first_end_ms
    return ended and push.command.code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED


def _recorded_pushes(scenario: Scenario, lived: Lived) -> Iterator[Frame]:
    asked = {frame.conn for frame in scenario.frames if frame.is_request and frame.from_client
             and frame.seq not in lived.not_asked}
    for frame in scenario.frames:
        if frame.is_request and not frame.from_client and frame.command.code in PUSHES and frame.conn in asked:
            yield frame


def _shown(push: Push) -> tuple[int, dict[str, object]]:
    code, header = int(push.command.code), push.command.header
    return code, kept_ext(code, shown_ext(CONTENTS[code].header, header))
