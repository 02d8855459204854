"""The verdict row: what every judge writes, and what the exit status of every command is made from."""

from __future__ import annotations

import builtins
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, Self

_ALIKE = 0.65  # of a name and what may have been meant


class Outcome(StrEnum):
    """What a judge found, or what is expected of RocketMQ as shipped."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"  # a time-out, a memory bound, a crashed checker: never success
    NOT_MET = "not met"  # hazards may break it, and no run has met one; or a history has nothing of it
    NEVER_EXECUTED = "never executed"  # no run has called what the variant replaces
    NO_DIFFERENCE = "no difference"  # each run with the variant was the run without it

    @builtins.property
    def is_unknown(self) -> bool:
        """Whether nothing is known of the property; a variant that changed nothing was neither noticed nor missed."""
        return self in {Outcome.UNKNOWN, Outcome.NEVER_EXECUTED, Outcome.NO_DIFFERENCE}


class ExitStatus(IntEnum):
    """Exit status of every command."""

    AS_EXPECTED = 0
    DIFFERENT = 1
    BAD_INPUT = 2
    UNKNOWN = 3


class BadInputError(Exception):
    """The user's input cannot be used; the message is one line that says what to do (exit status 2)."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was judged.

    kind -- model, decision, implementation, strategy, class, recording, endpoint or file.
    name -- the model and its scope, the decision, the variant, the class path, the file.
    details -- whatever else tells two subjects of the same name apart (sizes, versions), as plain JSON values.
    """

    kind: str
    name: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row of the verdict table.

    property -- its name, a positive claim. judge -- prove, explore, exhaust, machine, story, campaign, compare,
    conform, crash, check, judge. subject -- what was judged. expected -- of RocketMQ 4.9.3 as shipped. outcome -- what
    was found. hazard -- names of the hazards that explain a violation (expected or found). cost -- plain numbers:
    states, transitions, obligations, rows, runs, cpu_seconds, … evidence -- path of the file that holds trace,
    counterexample, graph or run; relative to the output directory. seed -- where chance took part. replay -- the
    one command that shows the same verdict again. note -- one sentence: why unknown, within which scope, what the
    counterexample says.
    """

    property: str
    judge: str
    subject: Subject
    expected: Outcome
    outcome: Outcome
    replay: str
    hazard: tuple[str, ...] = ()
    cost: Mapping[str, float] = field(default_factory=dict)
    evidence: str | None = None
    seed: int | None = None
    note: str = ""

    @builtins.property
    def as_expected(self) -> bool:
        """Whether the outcome is the expected one; unknown never is. What may be violated may also not be met."""
        if self.outcome is Outcome.NOT_MET:
            return self.expected in {Outcome.VIOLATED, Outcome.NOT_MET}
        return self.outcome is self.expected and not self.outcome.is_unknown

    @builtins.property
    def standing(self) -> str:
        """Whether the outcome is "expected", "different" or "unknown"."""
        if self.outcome.is_unknown:
            return "unknown"
        return "expected" if self.as_expected else "different"

    def to_json(self) -> str:
        """One line of JSON with sorted keys; it has the standing, too."""
        return json.dumps({**asdict(self), "standing": self.standing}, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Read one line written by to_json; raises BadInputError when it is not a verdict row."""
        try:
            row = json.loads(line)
            subject = Subject(**row.pop("subject"))
            expected, outcome = Outcome(row.pop("expected")), Outcome(row.pop("outcome"))
            hazard = tuple(row.pop("hazard", ()))
            row.pop("standing", None)
            return cls(subject=subject, expected=expected, outcome=outcome, hazard=hazard, **row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInputError(f"not a verdict row ({error}): {line[:120]!r}; write rows with --json FILE") from error


def exit_status(rows: Iterable[Verdict]) -> ExitStatus:
    """0 if every outcome is as expected, 1 if some known outcome differs, else 3 if some outcome is unknown."""
    rows = list(rows)
    if any(not row.as_expected and not row.outcome.is_unknown for row in rows):
        return ExitStatus.DIFFERENT
    if any(row.outcome.is_unknown for row in rows):
        return ExitStatus.UNKNOWN
    return ExitStatus.AS_EXPECTED


def known(what: str, name: str, names: Iterable[str]) -> str:
    """The name; raises BadInputError if it is none of the names. what -- is called so."""
    if name not in names:
        raise BadInputError(f"no {what} {name!r}; there are {', '.join(names)}")
    return name


def nearest(name: str, names: Sequence[str]) -> str:
    """"did you mean …? " with at most three names that look alike, or contain the name, or nothing."""
    wanted = name.lower()

    def likeness(one: str) -> float:
        parts = (one.lower(), one.lower()[:len(name) + 1])
        return 1.0 if wanted and wanted in parts[0] else max(
            difflib.SequenceMatcher(a=part, b=wanted).ratio() for part in parts)

    close = sorted((one for one in names if likeness(one) > _ALIKE), key=lambda one: (-likeness(one), names.index(one)))
    return f"did you mean {' or '.join(map(repr, close[:3]))}? " if close else ""
