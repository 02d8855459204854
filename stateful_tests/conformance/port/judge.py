"""The judge `conform` for a program in any language: its answers to the recorded calls, beside the recorded ones."""

from __future__ import annotations

import shlex
import time
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Subject, Verdict, nearest
from stateful_tests.child import ChildError
from stateful_tests.conformance.judge import JUDGE, PROPERTY
from stateful_tests.conformance.port.calls import Call, calls, shown
from stateful_tests.conformance.port.exchange import CALL_LIMIT_S, Exchange
from stateful_tests.conformance.port.functions import FUNCTIONS, Function, text
from stateful_tests.conformance.port.strategy import ALLOCATE

TOGETHER = 256
"""Calls of a batch."""
KEPT = 10
"""Differences kept of each function."""
Tell = Callable[[str], object]


@dataclass(slots=True)
class Compared:
    """What came of one function.

    rows -- compared; different -- of these; thrown -- of these, where 4.9.3 throws and the program answers. kept --
    some differences, wrong answers before missing errors, the shortest call first. stopped -- why it ended early.
    """

    rows: int = 0
    different: int = 0
    thrown: int = 0
    kept: list[tuple[Call, str]] = field(default_factory=list)
    stopped: str = ""


def conform(
    command: str, names: Sequence[str] = (), out: Path | None = None, tell: Tell = bool, limit_s: float = CALL_LIMIT_S,
) -> Iterator[Verdict]:
    """One verdict for each function that the program answers and that was recorded.

    names -- only these. out -- folder for evidence. tell -- is told where it is. limit_s -- wall seconds of a call.
    Raises BadInputError for a program that cannot be asked, and for a name that it does not answer.
    """
    with Exchange(command, limit_s) as greeted:
        offered = [name for name in greeted.functions if name != ALLOCATE or name in names]
        for name in names:
            if name not in offered:
                raise BadInputError(f"--exec {command!r} does not answer {name!r}; {nearest(name, offered)}"
                                    f"it answers {', '.join(offered) or 'nothing that was recorded'}")
        if not offered:
            raise BadInputError(f"--exec {command!r} answers {', '.join(greeted.functions)}, which no recording is "
                                f"about; there are {', '.join(FUNCTIONS)}")
        for name in names or offered:
            yield _judged(command, greeted.name, name, out, tell, limit_s)


def covered(rows: Sequence[Verdict]) -> str:
    """How much of what was recorded a program answers, in a sentence."""
    answered = {str(row.subject.details["function"]) for row in rows} & {*FUNCTIONS}
    calls = sum(int(row.cost.get("rows", 0)) for row in rows)
    return f"answers {len(answered)} of {len(FUNCTIONS)} recorded functions, {calls:,} calls of them"


def _judged(command: str, port: str, name: str, out: Path | None, tell: Tell, limit_s: float) -> Verdict:
    started = time.perf_counter()
    details = {"function": name, "program": command}
    row = Verdict(PROPERTY, JUDGE, Subject("endpoint", f"{port or command}: {name}", details), Outcome.HOLDS,
                  Outcome.UNKNOWN, f"rocketproof conform --exec {shlex.quote(command)} --function {shlex.quote(name)}")
    if name not in FUNCTIONS:
        return replace(row, note="not compared: no recording is about it")
    found = _compared(command, FUNCTIONS[name], tell, limit_s)
    cost = {"rows": found.rows, "different": found.different, "different_where_it_throws": found.thrown,
            "seconds": round(time.perf_counter() - started, 3)}
    row = replace(row, cost=cost)
    stopped = f"{found.rows:,} rows compared, then {found.stopped}" if found.stopped else ""
    if found.different:
        first, sentence = found.kept[0]
        note = f"asked {shown(first.row['a'])} (line {first.line} of {FUNCTIONS[name].recording}): {sentence}"
        return _saved(replace(row, outcome=Outcome.VIOLATED, note="; ".join(filter(None, (note, stopped)))), found, out)
    return replace(row, note=stopped) if stopped else replace(row, outcome=Outcome.HOLDS)


def _compared(command: str, function: Function, tell: Tell, limit_s: float) -> Compared:
    found, asked = Compared(), calls(function)
    try:
        with Exchange(command, limit_s) as exchange:
            while not found.stopped and (some := list(islice(asked, TOGETHER))):
                try:
                    answers = exchange.batch(function.name, [text(call.row["a"]) for call in some])
                except ChildError as error:
                    found.stopped = f"it {error}, but not when it was asked one by one"
                    _one_by_one(found, command, function, some, limit_s)
                else:
                    for call, answer in zip(some, answers, strict=True):
                        _take(found, function, call, answer)
                tell(f"{function.name}: {found.rows:,} rows")
    except BadInputError as error:  # it greeted once, and does not now
        found.stopped = f"it could not be started again: {error}"
    return found


def _one_by_one(found: Compared, command: str, function: Function, some: Sequence[Call], limit_s: float) -> None:
    """Make the calls of a batch that had no answer once more, up to the one that has none."""
    with Exchange(command, limit_s) as exchange:
        for call in some:
            try:
                answer = exchange.call(function.name, call.row["a"])
            except ChildError as error:
                found.stopped = f"asked {shown(call.row['a'])} (line {call.line}) it {error}"
                return
            _take(found, function, call, answer)


def _take(found: Compared, function: Function, call: Call, answer: Any) -> None:
    found.rows += 1
    sentence = function.differs(call.recorded, answer)
    if sentence is not None:
        found.different += 1
        found.thrown += "e" in call.recorded
        insort(found.kept, (call, sentence), key=lambda kept: kept[0].effort)
        del found.kept[KEPT:]


def _saved(row: Verdict, found: Compared, out: Path | None) -> Verdict:
    if out is None:
        return row
    first, difference = found.kept[0]
    sentence = f"{found.different} of {found.rows} calls of {row.subject.name} are not answered as by RocketMQ 4.9.3."
    document = evidence.document(
        row, "counterexample", sentence, arguments={"line": first.line, "a": first.row["a"]},
        results={"recorded": first.recorded, "difference": difference},
        table={"columns": ["line", "call", "difference"],
               "rows": [[str(one.line), shown(one.row["a"]), differs] for one, differs in found.kept]})
    name = "".join(letter if letter.isalnum() else "-" for letter in row.subject.name)
    return evidence.saved(row, document, out, f"conform-{name}"[:120])


def replayed(document: Mapping[str, Any]) -> Verdict:
    """Ask a program again what it answered differently; violated if it still does."""
    subject = Subject(**document["subject"])
    function = FUNCTIONS[subject.details["function"]]
    row = Verdict(PROPERTY, JUDGE, subject, Outcome.HOLDS, Outcome.HOLDS, str(document["replay"]))
    try:
        with Exchange(str(subject.details["program"])) as exchange:
            answer = exchange.call(function.name, document["arguments"]["a"])
    except ChildError as error:
        return replace(row, outcome=Outcome.UNKNOWN, note=f"it {error}")
    sentence = function.differs(document["results"]["recorded"], answer)
    return row if sentence is None else replace(row, outcome=Outcome.VIOLATED, note=sentence)
