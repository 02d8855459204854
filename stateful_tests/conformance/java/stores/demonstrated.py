"""The command `demonstrate`: it lets the real store start on directories that show a hazard."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError, Outcome, Subject, Verdict, known
from stateful_tests.child import Child, ChildError, worker
from stateful_tests.conformance.java import artefacts
from stateful_tests.crash.demonstrations import DEMONSTRATIONS

START_LIMIT_S, SHOW_LIMIT_S = 60.0, 60.0
_WORKER = "stateful_tests.conformance.java.stores.demonstrate"


def demonstrated(
    hazards: Sequence[str], out: Path, say: Callable[[str], object], tell: Callable[[str], object] = bool,
) -> Iterator[Verdict]:
    """A row for each hazard: violated is expected, but of a report that is not so.

    hazards -- empty: all. out -- gets a folder for each, with the directory before the start and after it. say -- takes
    the lines for people. tell -- is told what is done at the moment. Raises BadInputError for a hazard that is not
    shown so, and where there is no Java.
    """
    left = deque(known("demonstration", name, DEMONSTRATIONS) for name in hazards or DEMONSTRATIONS)
    while left:
        tell("starting Java")
        child, java = _started(out)
        try:
            while left and child.alive:
                hazard = left.popleft()
                tell(f"{hazard} on the real store")
                shutil.rmtree(out / hazard, ignore_errors=True)
                yield _row(child, hazard, java, say)
        finally:
            child.close()


def _row(child: Child, hazard: str, java: str, say: Callable[[str], object]) -> Verdict:
    """Of one hazard; a worker that does not answer is closed."""
    try:
        answer = _answer(child, hazard, SHOW_LIMIT_S)
    except ChildError as error:
        child.close()
        return _unknown(hazard, java, f"the worker with the real store {error}")
    for line in answer["lines"]:
        say(line)
    return Verdict.from_json(answer["row"])


def _started(out: Path) -> tuple[Child, str]:
    """A worker, and the version of its Java."""
    jars = artefacts.jars()
    scratch = Path(tempfile.mkdtemp(prefix="rocketproof-java-"))
    child = worker(_WORKER, [str(out), str(scratch), *map(str, jars)], scratch)
    try:
        answer = _answer(child, "", START_LIMIT_S)
    except ChildError as error:
        child.close()
        raise BadInputError(f"Java does not start: the worker {error}; JAVA_HOME names a Java 17 or newer") from error
    if "refused" in answer:
        child.close()
        raise BadInputError(answer["refused"])
    return child, answer["java"]


def _answer(child: Child, hazard: str, limit_s: float) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(child.line(f"{hazard}\n".encode() if hazard else b"", limit_s))
    return answer


def _unknown(hazard: str, java: str, note: str) -> Verdict:
    subject = Subject("implementation", "DefaultMessageStore", {"hazard": hazard, "java": java})
    shown = DEMONSTRATIONS[hazard]
    return Verdict(shown.property, "demonstrate", subject, shown.expected, Outcome.UNKNOWN,
                   f"rocketproof demonstrate {hazard}", hazard=shown.hazards(), note=note)
