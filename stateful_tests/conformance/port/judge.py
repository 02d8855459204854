"""The judge `conform` for a program in any language: its answers to the recorded calls, beside the recorded ones."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.verdict import BadInputError, Outcome, Subject, Verdict, nearest
from stateful_tests.child import ChildError
from stateful_tests.conformance.judge import JUDGE, PROPERTY, RECORDINGS
from stateful_tests.conformance.port.exchange import CALL_LIMIT_S, Exchange
from stateful_tests.conformance.port.functions import FUNCTIONS, Function, text
from stateful_tests.conformance.port.strategy import ALLOCATE
from stateful_tests.conformance.replay import SUFFIXES, Difference, Row, lines

TOGETHER = 256
"""Calls of a batch."""
KEPT = 10
"""Differences kept of each function."""
Tell = Callable[[str], object]


@dataclass(slots=True)
class Compared:
    """What came of one function.

    rows -- compared; different -- of these; thrown -- of these, where 4.9.3 throws and the program answers. first --
    the first differences. stopped -- why it ended early.
    """

    rows: int = 0
    different: int = 0
    thrown: int = 0
    first: list[Difference] = field(default_factory=list)
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
    if found.different:
        first = found.first[0]
        note = f"line {first.line} of {FUNCTIONS[name].recording}: {first.sentence}"
        stopped = f"; then it {found.stopped}" if found.stopped else ""
        return _saved(replace(row, outcome=Outcome.VIOLATED, note=note + stopped), found, out)
    if found.stopped:
        return replace(row, note=f"{found.rows:,} rows compared, then it {found.stopped}")
    return replace(row, outcome=Outcome.HOLDS)


def _compared(command: str, function: Function, tell: Tell, limit_s: float) -> Compared:
    found = Compared()
    try:
        with Exchange(command, limit_s) as exchange:
            rows = _rows(function)
            while some := list(islice(rows, TOGETHER)):
                answers = exchange.batch(function.name, [text(row["a"]) for _, row, _ in some])
                for (line, row, recorded), answer in zip(some, answers, strict=True):
                    _take(found, function, line, row, recorded, answer)
                tell(f"{function.name}: {found.rows:,} rows")
    except ChildError as error:
        found.stopped = str(error)
    except BadInputError as error:  # it greeted once, and does not now
        found.stopped = f"could not be started again: {error}"
    return found


def _rows(function: Function) -> Iterator[tuple[int, Row, Mapping[str, Any]]]:
    """The recorded calls of a function: line, row, recorded answer."""
    path = next(path for path in (RECORDINGS / f"{function.recording}{suffix}" for suffix in SUFFIXES) if path.exists())
    rows = lines(path)
    next(rows)
    for line, row in rows:
        if (recorded := function.recorded(row)) is not None:
            yield line, row, recorded


def _take(found: Compared, function: Function, line: int, row: Row, recorded: Mapping[str, Any], answer: Any) -> None:
    found.rows += 1
    sentence = function.differs(recorded, answer)
    if sentence is not None:
        found.different += 1
        found.thrown += "e" in recorded
        if len(found.first) < KEPT:
            found.first.append(Difference(line, {"a": row["a"], "recorded": recorded}, sentence))


def _saved(row: Verdict, found: Compared, out: Path | None) -> Verdict:
    if out is None:
        return row
    first = found.first[0]
    sentence = f"{found.different} of {found.rows} calls of {row.subject.name} are not answered as by RocketMQ 4.9.3."
    document = evidence.document(
        row, "counterexample", sentence, arguments={"line": first.line, "a": first.row["a"]},
        results={"recorded": first.row["recorded"], "difference": first.sentence},
        table={"columns": ["line", "difference"], "rows": [[str(one.line), one.sentence] for one in found.first]})
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
