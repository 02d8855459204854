"""The child process in which a user's strategy runs: it may raise, print, hang or exit, and takes nothing with it.

`python -m stateful_tests.decisions.worker MODULE:CLASS FOLDER` answers one JSON line per JSON line; FILE.py:CLASS may
stand there too. What the class imports is looked up first in the folder, or where the file lies; a user's own package
`model` means itself there. The first line of all says
whether the class could be made: {"made": true} or {"bad_input": sentence}. A request is {group, me, queues: [[topic,
broker, id], …], members}; its reply {"queues": [row or text, …]}, {"none": true} or {"failure": text}. What the
strategy prints is dropped. When its parent is gone, the process ends itself.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from impl.decisions.message_queue import MessageQueue
from invariants.verdict import BadInputError
from rocketproof.home import step_aside

MEMORY_BYTES = 4 << 30  # address space: a strategy that eats memory fails by itself, not the machine
_WATCH_S = 0.5


def named(reference: str, folder: str) -> tuple[str, str, str]:
    """Of MODULE:CLASS or FILE.py:CLASS the names of module and class, and the folder that has the module.

    folder -- that a module is looked up in, and from which a file is named. Raises BadInputError, in one sentence.
    """
    module_name, _, class_name = reference.partition(":")
    if not module_name or not class_name:
        raise BadInputError(f"{reference!r} is no MODULE:CLASS and no FILE.py:CLASS; write for example "
                            f"{module_name or 'my_strategies'}:ByZone")
    file = Path(folder, module_name)
    if file.suffix != ".py":
        return module_name, class_name, folder
    if not file.is_file():
        raise BadInputError(f"{module_name}: there is no such file; give FILE.py:CLASS")
    return file.stem, class_name, str(file.parent)


def made(module_name: str, class_name: str) -> Callable[..., Any]:
    """The allocate method of a new object of the class.

    Raises BadInputError, in one sentence, when module, class or method cannot be had.
    """
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        where = "is it installed, or in the current folder?" if error.name == module_name else "install what it imports"
        raise BadInputError(f"cannot import {module_name}: {error}; {where}") from error
    except BaseException as error:  # a module can raise, and exit, as it likes
        raise BadInputError(f"importing {module_name} raises {_told(error)}; it must import without effects") from error
    wanted = getattr(module, class_name, None)
    if wanted is None:
        raise BadInputError(f"module {module_name} has no {class_name}; name a class that it defines")
    try:
        strategy = wanted()
    except BaseException as error:  # as above
        raise BadInputError(f"{class_name}() raises {_told(error)}; it must be made without arguments") from error
    if not callable(getattr(strategy, "allocate", None)):
        raise BadInputError(f"{class_name} has no method allocate(consumer_group, current_cid, mq_all, cid_all)")
    return strategy.allocate  # type: ignore[no-any-return]  # whatever the user wrote


def answered(allocate: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
    """The reply to one request; lists are made anew for each call, so that a strategy may keep or change its own."""
    queues = [MessageQueue(*row) for row in request["queues"]]
    try:
        answer = allocate(request["group"], request["me"], queues, list(request["members"]))
    except BaseException as error:  # noqa: BLE001  # RebalanceImpl#rebalanceByTopic catches whatever is thrown
        return {"failure": f"raised {_told(error)}"}
    if answer is None:
        return {"none": True}
    if not isinstance(answer, list | tuple):
        return {"failure": f"answered {type(answer).__name__} {answer!r}, which is no list of queues"[:200]}
    return {"queues": [_row(element) for element in answer]}


def _row(element: object) -> list[Any] | str:
    if isinstance(element, MessageQueue) and isinstance(element.queue_id, int):
        return [str(element.topic), str(element.broker_name), element.queue_id]
    return f"{type(element).__name__} {element!r}"[:80]


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:160].replace("\n", " ")


def _end_with(parent: int) -> None:
    """End this process group as soon as the parent is another."""
    while os.getppid() == parent:
        time.sleep(_WATCH_S)
    os.killpg(0, signal.SIGKILL)


def _own_stdout() -> TextIO:
    """The real standard output for the protocol; what the strategy prints goes nowhere."""
    protocol = os.fdopen(os.dup(1), "w", encoding="ascii")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    return protocol


def main() -> None:
    """Serve until standard input ends."""
    protocol, requests = _own_stdout(), os.fdopen(os.dup(0), encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with contextlib.suppress(ImportError, ValueError, OSError):  # where there is no such limit, there is none
        import resource  # noqa: PLC0415  # not on every system

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    def tell(reply: dict[str, Any]) -> None:
        protocol.write(json.dumps(reply) + "\n")
        protocol.flush()

    try:
        module_name, class_name, folder = named(sys.argv[1], sys.argv[2])
        step_aside(folder, module_name)
        allocate = made(module_name, class_name)
    except BadInputError as error:
        tell({"bad_input": str(error)})
        return
    tell({"made": True})
    for line in requests:
        tell(answered(allocate, json.loads(line)))


if __name__ == "__main__":
    main()
    os._exit(0)  # threads that the strategy started do not keep the process
