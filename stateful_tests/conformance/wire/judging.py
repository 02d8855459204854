"""A scenario judged: each frame through the codec, each recorded request given to our servers, each push awaited."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from impl.common.headers.shape import SHAPES
from impl.decisions.java_errors import JavaError
from impl.remoting.custom_headers import decode_custom_header, make_custom_header_to_net
from impl.remoting.remoting_command import ExtFields, RemotingCommand, decode, encode
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.replay import SHOWN, VERSION, Difference, FileResult
from stateful_tests.conformance.wire.answers import compare_answer, kept_ext
from stateful_tests.conformance.wire.contents import CONTENTS, shown_ext
from stateful_tests.conformance.wire.recorded import Frame, Scenario
from stateful_tests.conformance.wire.traffic import PUSHES, Lived, Traffic
from stateful_tests.worlds.world import World

NOT_JAVA = "its sender was a script, which writes ext fields in alphabetical order; the fields are compared"
NOT_LIVED = {
    "replication": "two brokers that copy from each other",
    "acl": "access control, which our brokers do not have",
}
"""Scenarios whose requests are not given to our servers, with the reason; their frames are compared."""


_NOT_UNDERSTOOD = (AssertionError, AttributeError, LookupError, TypeError, ValueError, JavaError)
"""What a recording that is not as we expect makes of us: the scenario is then unknown."""


class _Row(NamedTuple):
    frame: Frame
    sentence: str | None
    excuse: str | None = None


def compare_scenario(scenario: Scenario) -> FileResult:
    """All rows of a scenario; raises BadInputError for a file that cannot be read."""
    begin = time.perf_counter()
    header = {"what": "frames", "java": "RemotingCommand, the processors of broker and name server", "version": VERSION}
    result = FileResult(scenario.path, header, compared=True, label=f"wire/{scenario.name}")
    for row in map(_codec, scenario.frames):
        _count(result, row)
    try:
        for row in _lived(scenario, result):
            _count(result, row)
    except _NOT_UNDERSTOOD as error:
        result.not_understood += 1
        sentence = f"not lived through ({type(error).__name__}: {error})"
        result.first.append(Difference(1, {"a": scenario.name, "r": None}, sentence))
    result.seconds = time.perf_counter() - begin
    return result


def _count(result: FileResult, row: _Row) -> None:
    result.rows += 1
    if row.sentence is None:
        return
    if row.excuse is not None:
        result.deviating[row.excuse] = result.deviating.get(row.excuse, 0) + 1
        return
    result.different += 1
    if len(result.first) < SHOWN:
        shown = {"a": row.frame.row["header"], "r": row.frame.seq}
        result.first.append(Difference(row.frame.line, shown, row.sentence))


# Frames ---------------------------------------------------------------------------------------------------------------


def _codec(frame: Frame) -> _Row:
    """A frame decoded and encoded again, and its ext fields as a typed header."""
    try:
        command = frame.command
        again = encode(command)
        found = difference(frame.data.hex(), again.hex(), "frame")
        if found is not None and command.language != "JAVA":
            same = decode(again[4:], lambda: 0) == command
            return _Row(frame, found, NOT_JAVA if same else None)
        return _Row(frame, found or _typed(command))
    except JavaError as error:
        return _Row(frame, f"expected a frame, got {error.java_class}: {error.message}")


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
    names = {field.name for field in shape.fields}
    wanted = {key: value for key, value in command.ext_fields.entries() if key in names and _parses(shape, key, value)}
    return difference(wanted, {key: value for key, value in fields.entries() if key in wanted}, "typed header")


def _parses(shape: object, key: str | None, value: str | None) -> bool:
    """Whether a field is written as Java writes it: a script may send what Java does not read."""
    fields = {field.name: field.type for field in getattr(shape, "fields", ())}
    if fields.get(str(key)) == "String":
        return True
    return value in {"true", "false"} or str(value).lstrip("-").isdigit()


# Requests -------------------------------------------------------------------------------------------------------------


def _lived(scenario: Scenario, result: FileResult) -> Iterator[_Row]:
    """The answers and the pushes; what is not compared is counted in the result."""
    if scenario.name in NOT_LIVED:
        result.aside[NOT_LIVED[scenario.name]] = sum(frame.is_request for frame in scenario.frames)
        return
    with World() as world:
        traffic = Traffic(scenario, world)
        lived = traffic.live()
        for reason in lived.not_asked.values():
            result.aside[reason] = result.aside.get(reason, 0) + 1
        yield from _answers(scenario, traffic, lived)
        yield from _pushes(scenario, lived)


def _answers(scenario: Scenario, traffic: Traffic, lived: Lived) -> Iterator[_Row]:
    for frame in traffic.requests:
        recorded = scenario.answer(frame)
        if recorded is not None and frame.seq not in lived.not_asked:
            yield _Row(frame, compare_answer(frame.command, recorded.command, lived.answers.get(frame.seq)))


def _pushes(scenario: Scenario, lived: Lived) -> Iterator[_Row]:
    """What the recorded broker sent by itself, ours has sent to the same client."""
    sent = [(conn, int(command.code), kept_ext(command.code, shown_ext(CONTENTS[command.code].header, command.header)))
            for conn, command in lived.pushes]
    asked = {frame.conn for frame in scenario.frames if frame.is_request and frame.from_client
             and frame.seq not in lived.not_asked}
    for frame in scenario.frames:
        command = frame.command
        if frame.is_request and not frame.from_client and command.code in PUSHES and frame.conn in asked:
            fields = {} if command.ext_fields is None else {
                str(key): value for key, value in command.ext_fields.entries()}
            wanted = frame.conn, command.code, kept_ext(command.code, fields)
            missing = None if wanted in sent else f"expected the push {wanted[1:]}, got {_of(sent, frame.conn)}"
            yield _Row(frame, missing)


def _of(sent: list[tuple[int, int, dict[str, object]]], conn: int) -> list[tuple[int, dict[str, object]]]:
    return [(code, fields) for one, code, fields in sent if one == conn][:SHOWN]
