"""A user's strategy as a plain function: each call goes to a child process, with a wall limit, which can be killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Self

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Failure, asking
from invariants.verdict import BadInputError
from stateful_tests.child import ChildEndedError, ChildHungError, worker

START_LIMIT_S = 30.0
CALL_LIMIT_S = 5.0


class ChildStrategy:
    """(group, me, queues, members) -> queues, for a class of the user's; use it in a `with`, or `close` it.

    An answer is a list of MessageQueues (and of texts, for elements that are none), None, or a Failure that says what
    was raised. Raises ChildHungError or ChildEndedError when there is no answer; the child is gone then.
    """

    def __init__(self, reference: str, *, limit_s: float = CALL_LIMIT_S, hash_seed: int = 0) -> None:
        """Start the child and make the object.

        reference -- MODULE:CLASS, importable from here or from the working directory, or FILE.py:CLASS. limit_s -- wall
        seconds of one call. hash_seed -- the child's PYTHONHASHSEED: two children with different seeds differ where a
        strategy depends on hash().

        Raises BadInputError, in one sentence, when the class cannot be made.
        """
        self.reference, self._limit_s = reference, limit_s
        here = str(Path.cwd())
        self._child = worker("stateful_tests.decisions.worker", [reference, here],
                             path=[entry or here for entry in sys.path], PYTHONHASHSEED=str(hash_seed))
        try:
            reply = self._reply(f"making {reference}", b"", START_LIMIT_S)
        except (ChildHungError, ChildEndedError) as error:
            raise BadInputError(f"{error}; it must be made without effects") from error
        except BaseException:
            self.close()
            raise
        if "bad_input" in reply:
            self.close()
            raise BadInputError(reply["bad_input"])

    def __enter__(self) -> Self:
        """The strategy itself."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End the child."""
        self.close()

    def close(self) -> None:
        """Kill the child and whatever it started; may be called again."""
        self._child.close()

    def __call__(self, group: str, me: str, queues: list[MessageQueue], members: list[str]) -> Any:
        """What the class's allocate answers."""
        rows = [[queue.topic, queue.broker_name, queue.queue_id] for queue in queues]
        request = json.dumps({"group": group, "me": me, "queues": rows, "members": members})
        reply = self._reply(f"{asking(me, members)}: {self.reference}", request.encode("ascii") + b"\n", self._limit_s)
        if "failure" in reply:
            return Failure(str(reply["failure"]))
        if "none" in reply:
            return None
        return [MessageQueue(*row) if isinstance(row, list) else row for row in reply["queues"]]

    def _reply(self, call: str, request: bytes, limit_s: float) -> dict[str, Any]:
        """The reply; call -- what it is, for the message of an error."""
        try:
            line = self._child.line(request, limit_s)
        except ChildHungError as error:
            self.close()
            raise ChildHungError(f"{call} does not return within {limit_s:g} s") from error
        except ChildEndedError as error:
            self.close()
            raise ChildEndedError(f"{call} ends its process") from error
        return json.loads(line)  # type: ignore[no-any-return]  # the worker writes objects
