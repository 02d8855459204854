"""How a claim about a decision is declared: a pure predicate over typed arguments, for everything that can run it.

    @decision(of=allocation.averagely_owns, promises="allocation_is_exclusive")
    def averagely_is_exclusive(n: Count, m: Positive, i: Count, j: Count, k: Count) -> bool:
        \"\"\"Two different members never own the same queue.\"\"\"
        assume(i < j, j < m, k < n)
        return not (allocation.averagely_owns(n, m, i, k) and allocation.averagely_owns(n, m, j, k))

The predicate is plain Python: the proof executes it on symbolic numbers, the exhaustive judge on all small inputs,
Hypothesis and Spark on random ones, a replay on one. An argument's annotation is its domain (invariants/domains.py):
Count, Positive, Int32, … (or Annotated[int, Integers(low, high)]), bool, or an enumeration.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from invariants import evidence as evidence_files
from invariants.domains import Domain, Integers, domain_of, rows_of_size, written
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from model.language.expectation import Expectation, expectation


class DiscardedError(Exception):
    """The input is outside what the claim speaks about; raised by assume."""


def assume(*conditions: Any) -> None:
    """Discard the input unless all conditions are true; as the first lines of a claim these are its premises."""
    for condition in conditions:
        if not condition:
            raise DiscardedError


# Claims ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim about decision functions, for all inputs of its domains that it does not discard.

    name -- of this claim; unique. promises -- the property of the catalogue that it is a part of. sentence -- what is
    claimed. subjects -- the functions that are judged. expected -- the outcome expected of the code as shipped.
    predicate -- the claim as a function; call `judge` instead. domains -- of each argument, in order.
    """

    name: str
    promises: str
    sentence: str
    subjects: tuple[types.FunctionType, ...]
    expected: Expectation
    predicate: Callable[..., bool]
    domains: Mapping[str, Domain]

    def judge(self, arguments: Mapping[str, Any]) -> bool | None:
        """Whether the claim is true of these arguments; None when they are outside of it. The code may raise."""
        try:
            return bool(self.predicate(**arguments))
        except DiscardedError:
            return None

    def small_inputs(self) -> Iterator[dict[str, Any]]:
        """Every combination of the domains' small values, smallest first."""
        values = [[*domain.smallest()] for domain in self.domains.values()]
        sizes = itertools.product(*(map(domain.size, few)
                                    for domain, few in zip(self.domains.values(), values, strict=True)))
        rows = sorted(zip(((sum(row), row) for row in sizes), itertools.product(*values), strict=True),
                      key=operator.itemgetter(0))
        return (dict(zip(self.domains, row, strict=True)) for _, row in rows)

    def inputs_by_size(self) -> Iterator[dict[str, Any]]:
        """Every input of the domains, smallest first; without end as soon as one domain has none."""
        domains = list(self.domains.values())
        for size in itertools.count():
            for row in rows_of_size(domains, size):
                yield dict(zip(self.domains, row, strict=True))

    def answers(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        """What the judged functions answered, as {call: answer}; the outcome of the claim itself is ignored."""
        return recorded_answers(self.subjects, lambda: self.judge(arguments))

    def text(self) -> str:
        """The claim as it is written."""
        return inspect.getsource(self.predicate)

    def subject(self) -> Subject:
        """What a verdict about this claim names."""
        names = [f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}" for function in self.subjects]
        return Subject("decision", ", ".join(names), {"claim": self.name})


CLAIMS: dict[str, Claim] = {}
"""Every declared claim by name, in the order of declaration; filled by importing invariants.decisions."""


def decision(*, of: Callable[..., Any] | tuple[Callable[..., Any], ...], promises: str | None = None,
             shipped: str = "holds", few: Mapping[str, Iterable[int]] | None = None,
             ) -> Callable[[Callable[..., bool]], Claim]:
    """Declare a claim; the decorated function is its predicate, the docstring its sentence.

    of -- the function or functions of impl.decisions that it is about.
    promises -- the property that it is part of; by default the function's own name.
    shipped -- "holds" or "violated: HAZARD, …": what is expected of RocketMQ as shipped.
    few -- values for the exhaustive search by argument, where the domain's own do not suit.
    """
    expected = expectation(shipped)

    def declare(predicate: Callable[..., bool]) -> Claim:
        name = predicate.__name__
        if name in CLAIMS:
            raise ValueError(f"claim {name} is declared twice")
        hints = typing.get_type_hints(predicate, include_extras=True)
        domains = {argument: domain_of(hint) for argument, hint in hints.items() if argument != "return"}
        for argument, values in (few or {}).items():
            domains[argument] = _with_few(domains[argument], values)
        subjects = of if isinstance(of, tuple) else (of,)
        functions = tuple(function for function in subjects if isinstance(function, types.FunctionType))
        if len(functions) != len(subjects) or not predicate.__doc__:
            raise TypeError(f"claim {name} needs plain functions as its subjects, and a docstring as its sentence")
        claim = Claim(name, promises or name, " ".join(predicate.__doc__.split("\n\n")[0].split()), functions,
                      expected, predicate, domains)
        CLAIMS[name] = claim
        return claim

    return declare


def _with_few(domain: Domain, values: Iterable[int]) -> Domain:
    if not isinstance(domain, Integers):
        raise TypeError("few values can be given for integers only; of an enumeration all are tried")
    return replace(domain, few=tuple(values))


def chosen(names: Sequence[str] | None) -> list[Claim]:
    """The claims with these names, or of these properties; all for None. Raises BadInputError for an unknown name."""
    if names is None:
        return list(CLAIMS.values())
    for name in names:
        if not any(name in (claim.name, claim.promises) for claim in CLAIMS.values()):
            raise BadInputError(f"no claim about a decision is called {name!r}; `rocketproof list` names them")
    return [claim for claim in CLAIMS.values() if claim.name in names or claim.promises in names]


def recorded_answers(functions: Sequence[types.FunctionType], action: Callable[[], object]) -> dict[str, str]:
    """Run an action and note every call of the given functions: {"name(argument=value, …)": "answer"}.

    Whatever the action raises is swallowed; a call that raised is noted as such. Under a profiler nothing is noted,
    for there is one hook only.
    """
    if sys.getprofile() is not None:
        return {}
    by_code = {function.__code__: function.__name__ for function in functions}
    calls: dict[types.FrameType, str] = {}
    noted: dict[str, str] = {}

    def note(frame: types.FrameType, event: str, answer: Any) -> None:
        name = by_code.get(frame.f_code)
        if name is not None and event == "call":
            count = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
            inputs = ", ".join(f"{key}={_told(frame.f_locals[key])}" for key in frame.f_code.co_varnames[:count])
            calls[frame] = f"{name}({inputs})"
            noted[calls[frame]] = "no answer"
        elif name is not None and event == "return" and frame in calls:
            noted[calls[frame]] = "no answer" if answer is None else _told(answer)

    sys.setprofile(note)
    try:
        action()
    except Exception as error:  # noqa: BLE001  # a claim whose code raises is judged elsewhere; here the answers count
        noted["raised"] = f"{type(error).__name__}: {error}"
    finally:
        sys.setprofile(None)
    return noted


def _told(value: object) -> str:
    """A value as Python shows it; a member or a function by its name (an address would differ from run to run)."""
    if isinstance(value, Enum):
        return value.name
    return value.__name__ if isinstance(value, types.FunctionType) else repr(value)


# Findings -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with the evidence that belongs to it, before anything is written.

    evidence -- an evidence object (invariants.evidence), or None.
    """

    verdict: Verdict
    evidence: dict[str, Any] | None = field(default=None)

    def saved(self, out: Path | None) -> Verdict:
        """Write the evidence below the output folder, if there are both, and return the verdict that points at it."""
        if self.evidence is None or out is None:
            return self.verdict
        return evidence_files.saved(self.verdict, self.evidence, out, _slug(self.verdict))


def _slug(verdict: Verdict) -> str:
    details = [str(value) for _, value in sorted(verdict.subject.details.items())]
    parts = [verdict.judge, verdict.property, verdict.subject.name, *details]
    return "-".join("".join(c if c.isalnum() or c in "._" else "_" for c in part) for part in parts)[:180]


def counterexample(claim: Claim, judge: str, arguments: Mapping[str, Any], *, seed: int | None = None,
                   cost: Mapping[str, float] | None = None) -> Finding:
    """The finding "violated" for arguments that were seen to falsify the claim."""
    shown = {name: written(arguments[name]) for name in claim.domains}
    text = ", ".join(f"{name}={value}" for name, value in shown.items())
    answers = claim.answers(arguments)
    found = judged(claim, judge, Outcome.VIOLATED, f"{text}: {_summary(answers)}", seed=seed, cost=cost)
    verdict = replace(found.verdict, hazard=claim.expected.hazards)
    table = {"columns": ["call", "answer"], "rows": [[call, answer] for call, answer in answers.items()]}
    return Finding(verdict, evidence_files.document(
        verdict, "counterexample", f"Not so for {text}: {claim.sentence}", claim=claim.name, arguments=shown,
        results=answers, table=table))


def _summary(answers: Mapping[str, str]) -> str:
    """The first answers, short enough for one line of a table; the evidence has them whole."""
    shown = [f"{call} = {answer}" for call, answer in itertools.islice(answers.items(), 3)]
    return "; ".join(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…" for text in shown) or "the code raised"


_SHOWN = 120  # characters of a call and its answer


def judged(claim: Claim, judge: str, outcome: Outcome, note: str, *, seed: int | None = None,
           cost: Mapping[str, float] | None = None) -> Finding:
    """A finding without evidence."""
    replay = f"rocketproof {'prove' if judge == 'prove' else 'verify'} --property {claim.name}"
    return Finding(Verdict(claim.promises, judge, claim.subject(), Outcome(claim.expected.outcome), outcome, replay,
                           cost=dict(cost or {}), seed=seed, note=note))
