"""The command `demonstrate`: it lets the real store start on directories that show a hazard."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError, Outcome, Subject, Verdict, known
from stateful_tests.child import Child, ChildError
from stateful_tests.conformance.java import artefacts
from stateful_tests.crash.demonstrations import DEMONSTRATIONS

START_LIMIT_S, SHOW_LIMIT_S = 60.0, 60.0
_WORKER = "stateful_tests.conformance.java.stores.demonstrate"
_ROOMS = Path(__file__).parents[4]


def demonstrated(
    hazards: Sequence[str], out: Path, say: Callable[[str], object], tell: Callable[[str], object] = bool,
) -> Iterator[Verdict]:
    """A row for each hazard: violated is expected, but of a report that is not so.

    hazards -- empty: all. out -- gets a folder for each, with the directory before the start and after it. say -- takes
    the lines for people. tell -- is told what is done at the moment. Raises BadInputError for a hazard that is not
    shown so, and where there is no Java.
    """
    chosen = [known("demonstration", name, DEMONSTRATIONS) for name in hazards or DEMONSTRATIONS]
    tell("starting Java")
    worker, java = _started(out)
    try:
        for hazard in chosen:
            tell(f"{hazard} on the real store")
            shutil.rmtree(out / hazard, ignore_errors=True)
            try:
                answer = _answer(worker, hazard, SHOW_LIMIT_S)
            except ChildError as error:
                yield _unknown(hazard, java, f"the worker with the real store {error}")
                worker.close()
                worker, java = _started(out)
                continue
            for line in answer["lines"]:
                say(line)
            yield Verdict.from_json(answer["row"])
    finally:
        worker.close()


def _started(out: Path) -> tuple[Child, str]:
    """A worker, and the version of its Java."""
    jars = artefacts.jars()
    scratch = Path(tempfile.mkdtemp(prefix="rocketproof-java-"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
        filter(None, [str(_ROOMS), os.environ.get("PYTHONPATH")]))}
    worker = Child([sys.executable, "-P", "-m", _WORKER, str(out), str(scratch), *map(str, jars)], scratch, environment)
    try:
        answer = _answer(worker, "", START_LIMIT_S)
    except ChildError as error:
        worker.close()
        raise BadInputError(f"Java does not start: the worker {error}; JAVA_HOME names a Java 17 or newer") from error
    if "refused" in answer:
        worker.close()
        raise BadInputError(answer["refused"])
    return worker, answer["java"]


def _answer(worker: Child, hazard: str, limit_s: float) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(worker.line(f"{hazard}\n".encode() if hazard else b"", limit_s))
    return answer


def _unknown(hazard: str, java: str, note: str) -> Verdict:
    subject = Subject("implementation", "DefaultMessageStore", {"hazard": hazard, "java": java})
    shown = DEMONSTRATIONS[hazard]
    row = Verdict(shown.property, "demonstrate", subject, shown.expected, Outcome.UNKNOWN,
                  f"rocketproof demonstrate {hazard}", hazard=shown.hazards())
    return replace(row, note=note)
