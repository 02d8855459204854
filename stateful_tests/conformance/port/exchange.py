"""A program that answers calls: one JSON object a line in, one out (the protocol of docs/adapters.md, version 1).

    {"id": 0, "do": "hello", "protocol": 1}                        {"id": 0, "protocol": 1, "name": …, "functions": […],
                                                                    "batch": true or false}
    {"id": 1, "do": "call", "function": F, "a": A}                 {"id": 1, "r": R} or {"id": 1, "e": CLASS, "m": TEXT}
    {"id": 2, "do": "batch", "function": F, "calls": [A, A, …]}    {"id": 2, "answers": [{"r": R}, {"e": …}, …]}

Who knows batches gets nothing else. The program may hang, die or write anything: each is an exception here, and the
program has ended then.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from invariants.verdict import BadInputError
from stateful_tests.child import Child, ChildError, ChildGarbageError

PROTOCOL: Final = 1
START_LIMIT_S: Final = 30.0
CALL_LIMIT_S: Final = 5.0
OF_A_BATCH_S: Final = 0.01
"""What a call adds to the time that a batch may take."""
LONGEST_BYTES: Final = 16 << 20
_SHOWN: Final = 120
_compact = json.JSONEncoder(separators=(",", ":")).encode

Answer = Mapping[str, Any]
"""{"r": result} or {"e": class or kind of the error, "m": its text}."""


class Exchange:
    """A running program; use it in a `with`, or `close` it.

    name -- what it calls itself. functions -- the names of what it answers.
    """

    def __init__(self, command: str, limit_s: float = CALL_LIMIT_S) -> None:
        """Start the program, and greet it.

        command -- words as in a shell, but no shell reads them. limit_s -- wall seconds of a call.
        Raises BadInputError, in one sentence, when it cannot be started or does not greet back.
        """
        self.command, self._limit_s, self._next = command, limit_s, 0
        self._child = _started(command)
        try:
            hello = self._asked({"do": "hello", "protocol": PROTOCOL}, START_LIMIT_S)
            self.name, self.functions, self._batches = _greeting(hello)
        except ChildError as error:
            raise BadInputError(f"--exec {command!r} {error}; its first line of output must answer the greeting: "
                                '{"id": 0, "protocol": 1, "name": "…", "functions": ["allocate"]}') from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """The program itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """Kill the program and whatever it started; may be called again."""
        self._child.close()

    @property
    def alive(self) -> bool:
        """Whether it has not been closed."""
        return self._child.alive

    def request(self, function: str, arguments: str) -> str:
        """The line that asks one call, as somebody can write it to the program; arguments -- as JSON."""
        return f'{{"id":1,{self._asking(function, [arguments])}}}'

    def call(self, function: str, arguments: Any) -> Answer:
        """The answer to one call; raises ChildError."""
        if self._batches:
            return self.batch(function, [_compact(arguments)])[0]
        return self._answer(self._sent(self._asking(function, [_compact(arguments)]), self._limit_s))

    def batch(self, function: str, calls: Sequence[str]) -> list[Answer]:
        """The answers to many calls, each given as JSON; one by one where the program knows no batches.

        Raises ChildError.
        """
        if not self._batches:
            return [self.call(function, json.loads(one)) for one in calls]
        reply = self._sent(self._asking(function, calls), self._limit_s + OF_A_BATCH_S * len(calls))
        answers = reply.get("answers")
        if not isinstance(answers, list) or len(answers) != len(calls):
            self.close()
            raise ChildGarbageError(f"gave no list of {len(calls)} answers to a batch, but {_shown(reply)}")
        return [self._answer(one) for one in answers]

    def _asking(self, function: str, calls: Sequence[str]) -> str:
        """The inside of a request; one call, given as JSON, for who knows no batches."""
        name = json.dumps(function)
        if self._batches:
            return f'"do":"batch","function":{name},"calls":[{",".join(calls)}]'
        return f'"do":"call","function":{name},"a":{calls[0]}'

    def _answer(self, reply: Any) -> Answer:
        if not isinstance(reply, dict) or ("r" in reply) == ("e" in reply):
            self.close()
            raise ChildGarbageError(f"gave an answer that has neither r nor e, or both: {_shown(reply)}")
        return reply

    # Lines ------------------------------------------------------------------------------------------------------------

    def _asked(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        return self._sent(_compact(request)[1:-1], limit_s)

    def _sent(self, body: str, limit_s: float) -> dict[str, Any]:
        """The reply to a request; body -- the inside of its JSON object, but for the id."""
        number, self._next = self._next, self._next + 1
        try:
            request = f'{{"id":{number},{body}}}\n'.encode()
            return _reply(self._child.line(request, limit_s, LONGEST_BYTES), number)
        except ChildError:
            self.close()
            raise


def _started(command: str) -> Child:
    if not command.strip():
        raise BadInputError("--exec has no words; give a program and its arguments")
    try:
        return Child(shlex.split(command), Path(tempfile.mkdtemp(prefix="rocketproof-port-")))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        cure = "give a program and its arguments"
        raise BadInputError(f"--exec {command!r} cannot be started ({why}); {cure}") from error


def _greeting(hello: Mapping[str, Any]) -> tuple[str, tuple[str, ...], bool]:
    functions = hello.get("functions")
    if hello.get("protocol") != PROTOCOL:
        raise ChildGarbageError(f"speaks protocol {hello.get('protocol')!r}, not {PROTOCOL}")
    if not isinstance(functions, list) or not all(isinstance(one, str) for one in functions) or not functions:
        raise ChildGarbageError(f"names no functions that it answers: {_shown(hello)}")
    return str(hello.get("name", "")), tuple(functions), hello.get("batch") is True


def _reply(line: bytes, number: int) -> dict[str, Any]:
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        raise ChildGarbageError(f"wrote a line that is not JSON: {line[:_SHOWN].decode(errors='replace')!r}") from None
    if not isinstance(reply, dict):
        raise ChildGarbageError(f"wrote no JSON object: {_shown(reply)}")
    if reply.get("id") != number or isinstance(reply.get("id"), bool):
        raise ChildGarbageError(f"answered id {_shown(reply.get('id'))} when it was asked {number}")
    return reply


def _shown(value: Any) -> str:
    return json.dumps(value)[:_SHOWN]
