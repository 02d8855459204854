"""An allocation strategy that a program answers for, as a plain function that can be judged."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Failure, asking
from invariants.verdict import BadInputError, nearest
from stateful_tests.child import ChildError
from stateful_tests.conformance.port.exchange import CALL_LIMIT_S, Answer, Exchange

ALLOCATE = "allocate"
Call = tuple[str, str, list[MessageQueue], list[str]]


class PortStrategy:
    """(group, me, queues, members) -> queues; use it in a `with`, or `close` it.

    An answer is a list of MessageQueues (and of texts, for elements that are none), None, or a Failure that says what
    the program's error was. Raises ChildError when there is no answer; the next call starts the program anew.
    """

    def __init__(self, command: str, function: str = ALLOCATE, limit_s: float = CALL_LIMIT_S) -> None:
        """Start the program; raises BadInputError, in one sentence, when that fails or it has no such function."""
        self.command, self.function, self._limit_s = command, function, limit_s
        self._exchange = Exchange(command, limit_s)
        self._ahead: deque[tuple[Call, Answer]] = deque()
        self._texts: dict[str, tuple[Any, str]] = {}
        if function not in self._exchange.functions:
            self.close()
            offered = self._exchange.functions
            raise BadInputError(f"--exec {command!r} does not answer {function!r}; {nearest(function, offered)}"
                                f"it answers {', '.join(offered)}: choose one with --function")

    def __enter__(self) -> Self:
        """The strategy itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End the program."""
        self.close()

    def close(self) -> None:
        """End the program."""
        self._exchange.close()

    def __call__(self, group: str, me: str, queues: list[MessageQueue], members: list[str]) -> Any:
        """What the program answers."""
        call = (group, me, queues, members)
        while self._ahead:
            known, answer = self._ahead.popleft()
            if known == call:
                return _queues(answer)
        try:
            return _queues(self._running().batch(self.function, [self._text(call)])[0])
        except ChildError as error:
            raise type(error)(f"{asking(me, members)}: {self.command} {error}") from error

    def request(self, call: Call) -> str:
        """The line that asks a call."""
        return self._exchange.request(self.function, self._text(call))

    def ahead(self, calls: Sequence[Call]) -> None:
        """Make calls that will be asked next in this order, in one request; each answer is handed out once.

        Where that fails nothing is known ahead, and each call is made when its turn comes.
        """
        try:
            answers = self._running().batch(self.function, [self._text(one) for one in calls])
        except ChildError:
            answers = []
        self._ahead = deque(zip(calls, answers, strict=False))

    def _running(self) -> Exchange:
        if not self._exchange.alive:
            self._exchange = Exchange(self.command, self._limit_s)
        return self._exchange

    def _text(self, call: Call) -> str:
        """The call as JSON; members ask about equal lists in turn, so that the last texts are kept."""
        group, me, queues, members = call
        rows = self._kept("queues", queues, lambda: [[mq.topic, mq.broker_name, mq.queue_id] for mq in queues])
        ids = self._kept("members", members, lambda: members)
        return f'{{"group":{json.dumps(group)},"cid":{json.dumps(me)},"mqAll":{rows},"cidAll":{ids}}}'

    def _kept(self, what: str, value: list[Any], plain: Any) -> str:
        known = self._texts.get(what)
        if known is None or known[0] != value:
            known = self._texts[what] = (list(value), json.dumps(plain(), separators=(",", ":")))
        return known[1]


def _queues(answer: Answer) -> Any:
    """An answer as a strategy gives it; what is no list is a failure that shows it."""
    if "e" in answer:
        return Failure(f"threw {answer['e']}: {answer.get('m', '')}"[:200])
    rows = answer["r"]
    if rows is None:
        return None
    if not isinstance(rows, list):
        return Failure(f"answered {json.dumps(rows)}"[:200])
    return [MessageQueue(*row) if _is_queue(row) else json.dumps(row) for row in rows]


def _is_queue(row: Any) -> bool:
    match row:
        case [str(), str(), int(number)]:
            return not isinstance(number, bool)
    return False
