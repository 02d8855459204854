"""A Java strategy as a Python function: what the check judge calls when it is given `--java CLASSPATH --class NAME`.

The class runs in a child process, so that one that hangs, crashes or exits takes nothing with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from copy import copy
from enum import Enum
from pathlib import Path
from typing import Any, Self, TypeVar

from impl.decisions.java_errors import JavaException
from impl.decisions.message_queue import MessageQueue
from invariants.verdict import BadInputError
from stateful_tests.conformance.java import artefacts
from stateful_tests.conformance.java.inputs import queues_text
from stateful_tests.conformance.java.process import JavaHungError, JavaProcess, JavaProcessError

_T = TypeVar("_T")

_NULL: Any = None  # a field that the writer leaves out

CALL_LIMIT_S = 10.0
MAKE_LIMIT_S = 30.0


class JavaStrategyError(JavaException):
    """What a Java strategy threw: `java_class` is the Throwable's class, `message` its getMessage."""

    def __init__(self, java_class: str, message: str | None) -> None:
        """Shown as Java shows it: class, colon, message."""
        super().__init__(message)
        self.java_class = java_class  # type: ignore[misc]  # a class variable of the mirrored ones; here it varies
        self.args = (java_class if message is None else f"{java_class}: {message}",)


class JavaStrategyStoppedError(Exception):
    """A call that was not answered, for one of two reasons; call -- its number in the batch."""

    def __init__(self, message: str, call: int) -> None:
        """Keep both."""
        super().__init__(message)
        self.call = call


class JavaStrategyHungError(JavaStrategyStoppedError):
    """A Java strategy did not return within the limit; its process has been killed."""


class JavaStrategyDiedError(JavaStrategyStoppedError):
    """A Java strategy ended its JVM (System.exit, a crash of native code)."""


class _NotMade(Enum):
    """Stands where there is no answer, not even None."""

    NOT_MADE = "not made"


Call = tuple[str, str | None, Sequence[MessageQueue] | None, Sequence[str] | None]
Answer = list[MessageQueue] | JavaStrategyError | None


class JavaStrategy:
    """`(group, me, queues, ids) -> queues` for a class of the user; close it, or use it in a `with`.

    Every call is one call of the one Java object, in the same order, with lists of its own; None is Java's null.
    """

    def __init__(self, entries: Sequence[str], class_name: str, call_limit_s: float = CALL_LIMIT_S) -> None:
        """Take the arguments of check_java, the class path split; the class is made at once."""
        self.class_name, self._entries, self._call_limit_s = class_name, list(entries), call_limit_s
        self._jars = artefacts.jars()
        self._process = self._started()
        self._queues: tuple[list[MessageQueue], str] = ([], "[]")
        self._ids: tuple[list[str], str] = ([], "[]")
        self._ahead: list[tuple[Call, Answer | JavaStrategyStoppedError | _NotMade]] = []  # not handed out yet

    def __enter__(self) -> Self:
        """The strategy itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End its process."""
        self.close()

    def close(self) -> None:
        """End its process; a call after that starts another."""
        self._process.close()

    def __call__(
        self, group: str, me: str | None, queues: Sequence[MessageQueue] | None, ids: Sequence[str] | None,
    ) -> list[MessageQueue] | None:
        """AllocateMessageQueueStrategy#allocate of the class; raises what `batch` answers or raises."""
        answer = self._asked_ahead((group, me, queues, ids))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ahead(self, calls: Sequence[Call]) -> None:
        """Make calls that will be asked next, with equal lists, in one request; each answer is handed out once.

        What a call that hangs or ends the JVM raises is raised when its turn comes; those before it are made again,
        each when its turn comes.
        """
        try:
            self._ahead = list(zip(calls, self.batch(calls), strict=True))
        except JavaStrategyStoppedError as error:
            self._ahead = [(call, _NotMade.NOT_MADE) for call in calls[:error.call]]
            self._ahead.append((calls[error.call], error))

    def batch(self, calls: Sequence[Call]) -> list[Answer]:
        """The answers to many calls; what one of them throws is its answer.

        Raises JavaStrategyHungError or JavaStrategyDiedError for a call that does not return within the limit, or ends
        the JVM: the message names the call. The next call starts a new JVM with a new object.
        """
        if not self._process.alive:
            self._process = self._started()
        asked = [[None, group, me, self._queues_text(queues), self._ids_text(ids)] for group, me, queues, ids in calls]
        try:
            reply = self._process.ask(self._call_limit_s, do="allocate", calls=asked)
        except JavaHungError as error:
            shown = _shown(calls[error.call])
            raise JavaStrategyHungError(
                f"{self.class_name} does not return within {self._call_limit_s:g} s: {shown}", error.call,
            ) from error
        except JavaProcessError as error:
            under_way = _shown(calls[error.call])
            raise JavaStrategyDiedError(f"{self.class_name}: {error}; under way: {under_way}", error.call) from error
        return answers(reply)

    def _asked_ahead(self, call: Call) -> Answer | JavaStrategyStoppedError:
        """The answer to one call; unless it is known, the other members of its list are asked in the same request.

        A round trip costs ten times a call, and whoever asks for one member's share asks for all. An answer is handed
        out once: the same question again is a new call of the Java object.
        """
        place = next((place for place, (known, _) in enumerate(self._ahead) if known == call), None)
        if place is not None:
            answer = self._ahead.pop(place)[1]
            return self.batch([call])[0] if isinstance(answer, _NotMade) else answer
        group, me, queues, ids = call
        others = [] if ids is None or me not in ids else [one for one in dict.fromkeys(ids) if one != me]
        if not others:
            return self.batch([call])[0]
        queues, ids = _copied(queues), _copied(ids)
        calls = [(group, one, queues, ids) for one in others]
        first, *rest = self.batch([call, *calls])
        self._ahead = list(zip(calls, rest, strict=True))
        return first

    def _queues_text(self, queues: Sequence[MessageQueue] | None) -> str:
        """The queues as `allocation` takes them; the last text is kept, for members ask about the same list in turn."""
        if queues is None:
            return "null"
        if list(queues) != self._queues[0]:
            self._queues = (list(queues), queues_text(queues))
        return self._queues[1]

    def _ids_text(self, ids: Sequence[str] | None) -> str:
        """The members as `allocation` takes them; kept as well."""
        if ids is None:
            return "null"
        if list(ids) != self._ids[0]:
            self._ids = (list(ids), json.dumps(ids))
        return self._ids[1]

    def _started(self) -> JavaProcess:
        """A new process that holds a new object of the class."""
        process = JavaProcess(self._jars)
        try:
            process.ask(MAKE_LIMIT_S, **{"do": "make", "class": self.class_name, "entries": self._entries})
        except JavaHungError as error:
            raise BadInputError(
                f"the constructor of {self.class_name} does not return within {MAKE_LIMIT_S:g} s; it must not wait",
            ) from error
        except BaseException:
            process.close()
            raise
        return process


def _copied(elements: Sequence[_T] | None) -> Sequence[_T] | None:
    """A copy that its caller cannot change, of the same kind, so that it compares equal."""
    return None if elements is None else copy(elements)


def answers(reply: Mapping[str, Any]) -> list[Answer]:
    """The answers in a reply of the worker."""
    found: list[Answer] = [_result(rows) for rows in reply["results"]]
    for number, (java_class, message) in reply["errors"].items():
        found[int(number)] = JavaStrategyError(java_class, message)
    return found


def _result(rows: list[dict[str, Any]] | None) -> Answer:
    """One result; an element that is no MessageQueue is what Java's caller would trip over, a ClassCastException."""
    if rows is None:
        return None
    try:
        return [MessageQueue(row.get("topic", _NULL), row.get("brokerName", _NULL), row["queueId"]) for row in rows]
    except (AttributeError, KeyError, TypeError):
        shown = f"the result holds what is no MessageQueue: {json.dumps(rows)}"
        return JavaStrategyError("java.lang.ClassCastException", shown[:200])


def _shown(call: Call) -> str:
    """The arguments of a call, for people."""
    _, me, queues, ids = call
    shown = "null" if queues is None else ", ".join(f"{mq.topic}/{mq.broker_name}:{mq.queue_id}" for mq in queues)
    return f"me={me!r}, queues=[{shown}], ids={ids!r}"


def check_java(classpath: str, class_name: str, call_limit_s: float = CALL_LIMIT_S) -> JavaStrategy:
    """The strategy `class_name` of a Java class path, as a function `(group, me, queues, ids) -> queues`.

    classpath -- jars and class folders, separated as Java's (`:`); `FOLDER/*` stands for the jars in a folder. The
    official jars of RocketMQ 4.9.3 follow it, so it need not have them, and its own RocketMQ classes win.
    class_name -- binary name of a public class with a public no-arg constructor.
    call_limit_s -- wall seconds for a call.

    Raises BadInputError, in one sentence, when an entry does not exist, or the class cannot be found, loaded or made.
    """
    return JavaStrategy(_entries(classpath), class_name.strip(), call_limit_s)


def _entries(classpath: str) -> list[str]:
    """The entries of a class path, absolute, `*` expanded."""
    found: list[str] = []
    for entry in filter(None, classpath.split(os.pathsep)):
        path = Path(entry).expanduser().absolute()
        if path.name == "*":
            jars = sorted(path.parent.glob("*.jar"))
            if not jars:
                raise BadInputError(f"class path entry {entry}: no jar in that folder; give the folder that holds them")
            found += map(str, jars)
        elif path.exists():
            found.append(str(path))
        else:
            raise BadInputError(f"class path entry {entry} does not exist; give jars or class folders that do")
    if not found:
        raise BadInputError("the class path is empty; give jars or class folders, as target/classes:lib/*")
    return found
