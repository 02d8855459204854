"""The judge of allocation strategies: small cases exhaustively, smallest first, then random ones by Hypothesis.

It knows of a strategy only that it can be called: ours, a user's class in a child process, a Java class.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings, strategies as st

from impl.decisions.message_queue import MessageQueue
from invariants import evidence as evidence_files
from invariants.allocation.answers import Observed, Strategy, observe, shown
from invariants.allocation.cases import Case, equal_lists
from invariants.allocation.claims import StrategyClaim
from invariants.allocation.inputs import EQUAL_LISTS, Inputs
from invariants.claim import Finding
from invariants.verdict import Outcome, Subject, Verdict

QUEUES, MEMBERS = 12, 6  # how far the exhaustive search goes
RANDOM_QUEUES, RANDOM_MEMBERS = 40, 12
ANNOUNCED = 16  # cases of the exhaustive search at a time, some hundred calls


@dataclass(frozen=True, slots=True)
class Candidate:
    """A strategy to be judged.

    subject -- as verdicts name it. inputs -- the family of cases. make -- the strategy of each member of a case.
    again -- whom to ask the second time; None: the same. stops -- exceptions that end the judgement: the strategy is
    gone, or does not return. announce -- told the cases that come next, by a driver that is faster when it knows them.
    requests -- the lines that ask a program about a case, if it is one.
    """

    subject: Subject
    inputs: Inputs
    make: Callable[[Case], Sequence[Strategy]]
    again: Callable[[Case], Sequence[Strategy]] | None = None
    stops: tuple[type[Exception], ...] = ()
    announce: Callable[[Sequence[Case]], None] = lambda _cases: None
    requests: Callable[[Case], list[str]] | None = None

    def observed(self, case: Case) -> Observed:
        """What the strategy answers in a case; raises what is listed in stops."""
        again = self.again(case) if self.again else None
        return observe(self.make(case), case, again=again, stops=self.stops)


@dataclass(frozen=True, slots=True)
class Broken:
    """A claim that a case falsified: what was observed, and what is wrong with it."""

    claim: StrategyClaim
    seen: Observed
    sentence: str


class _StopError(BaseException):
    """Carries an exception of `stops` past Hypothesis, which would try to shrink it."""


@dataclass(slots=True)
class Judging:
    """One judgement: what is still to be refuted, what was seen.

    left -- claims that no case has falsified yet. cases -- observed so far. silent -- of these, cases in which some
    call gave no list, so that the other claims say nothing about them. stopped -- why it ended early, or None;
    stopped_at -- the case in which that happened.
    """

    of: Candidate
    left: dict[str, StrategyClaim]
    cases: int = 0
    silent: int = 0
    stopped: Exception | None = None
    stopped_at: Case | None = None
    started: float = field(default_factory=time.process_time)

    def exhaust(self, queues: int = QUEUES, members: int = MEMBERS) -> Iterator[Broken]:
        """Every small case, smallest first; each broken claim as soon as it is found."""
        for joins in (False, True):
            cases = self.of.inputs.up_to(queues, members, joins=joins)
            while self.stopped is None and self._open(joins=joins):
                some = list(itertools.islice(cases, ANNOUNCED))
                if not some:
                    break
                self.of.announce(some)
                yield from self._each(some, joins=joins)

    def explore(self, examples: int, seed: int) -> Iterator[Broken]:
        """Random cases by Hypothesis, larger than the exhaustive ones; each broken claim with its smallest case."""
        for joins in (False, True):
            while self._open(joins=joins) and self.stopped is None:
                broken = self._shrunk(examples, seed, joins=joins)
                if broken is None:
                    break
                self.left.pop(broken.claim.name)
                yield broken

    def cost(self) -> dict[str, float]:
        """Cases observed and CPU seconds of this process."""
        return {"cases": float(self.cases), "seconds": round(time.process_time() - self.started, 4)}

    def _open(self, *, joins: bool) -> list[StrategyClaim]:
        return [claim for claim in self.left.values() if claim.joins == joins]

    def _each(self, cases: Sequence[Case], *, joins: bool) -> Iterator[Broken]:
        for case in cases:
            if self.stopped or not self._open(joins=joins):
                break
            yield from self._tried(case, joins=joins)

    def _tried(self, case: Case, *, joins: bool) -> Iterator[Broken]:
        try:
            broken = self._wrong(case, joins=joins)
        except self.of.stops as error:
            self.stopped, self.stopped_at = error, case
            return
        for one in broken:
            self.left.pop(one.claim.name)
            yield one

    def _wrong(self, case: Case, *, joins: bool) -> list[Broken]:
        """The claims that a case falsifies. Without an answer from everybody, only that there is one is judged."""
        seen = self.of.observed(case)
        self.cases += 1
        claims = self._open(joins=joins)
        if seen.failure() is not None:
            self.silent += 1
            claims = [claim for claim in claims if claim.name == "allocation_answers"]
        judged = [(claim, claim.wrong(seen)) for claim in claims]
        return [Broken(claim, seen, sentence) for claim, sentence in judged if sentence is not None]

    def _shrunk(self, examples: int, seed: int, *, joins: bool) -> Broken | None:
        last: list[Broken] = []

        @hypothesis.seed(seed)
        @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck),
                  phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False)
        @hypothesis.given(random_cases(self.of.inputs, joins=joins))
        def attempt(case: Case) -> None:
            self.of.announce([case])
            try:
                broken = self._wrong(case, joins=joins)
            except self.of.stops as error:
                self.stopped, self.stopped_at = error, case
                raise _StopError from error
            if broken and last and broken[0].claim.name != last[0].claim.name:
                return  # shrink the first one found; the others have their turn afterwards
            if broken:
                last[:] = broken[:1]
                raise AssertionError(broken[0].sentence)

        with contextlib.suppress(AssertionError, _StopError, hypothesis.errors.Flaky):
            attempt()
        return last[0] if last else None


# Random cases ---------------------------------------------------------------------------------------------------------


def random_cases(inputs: Inputs, *, joins: bool) -> st.SearchStrategy[Case]:
    """Cases of a family, up to forty queues and twelve members; for equal lists also with names of all kinds."""
    sizes = st.tuples(st.integers(1, RANDOM_QUEUES), st.integers(2 if joins else 1, RANDOM_MEMBERS))
    picked = st.tuples(sizes, st.integers(0, 7)).map(lambda drawn: _nth_case(inputs, drawn[0], drawn[1], joins=joins))
    known = picked.filter(lambda case: case is not None).map(lambda case: case or equal_lists([], []))
    return st.one_of(known, _named_cases(joins=joins)) if inputs is EQUAL_LISTS else known


def _nth_case(inputs: Inputs, size: tuple[int, int], number: int, *, joins: bool) -> Case | None:
    cases = list(itertools.islice(inputs.cases(*size, joins), number + 1))
    return cases[-1] if cases else None


def _named_cases(*, joins: bool) -> st.SearchStrategy[Case]:
    names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
    queue = st.builds(MessageQueue, st.just("T"), names, st.integers(0, 15))
    queues = st.lists(queue, min_size=1, max_size=24, unique=True)
    members = st.lists(names, min_size=2 if joins else 1, max_size=8, unique=True)
    return st.builds(lambda qs, ms: equal_lists(qs, ms, ms[0] if joins else None), queues, members)


# Rows -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """What the rows of one judgement have in common.

    judge -- as the verdict names it. expected -- by property. hazards -- by property, of an expected violation.
    extra -- what evidence needs beside the case to be replayed. command -- shows the row again without evidence.
    asked -- the lines that ask a program about a case, if one is judged.
    """

    judge: str
    subject: Subject
    expected: Mapping[str, Outcome]
    hazards: Mapping[str, tuple[str, ...]]
    command: str
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    asked: Callable[[Case], list[str]] | None = None

    def violated(self, broken: Broken, cost: Mapping[str, float], remark: str = "") -> Finding:
        """The row and the evidence of a broken claim."""
        n, m = len(broken.seen.case.queues()), len(broken.seen.case.views)
        size = f"{n} queue{'s' * (n != 1)}, {m} member{'s' * (m != 1)}"
        note = f"{size}: {broken.sentence}{remark}"
        verdict = self._verdict(broken.claim.name, Outcome.VIOLATED, note, cost)
        answers = zip(broken.seen.case.views, broken.seen.answers, strict=True)
        results = {f"{place} {view.me}": _shown(answer) for place, (view, answer) in enumerate(answers)}
        more = {**self.extra, **({"asked": self.asked(broken.seen.case)} if self.asked else {})}
        body = evidence_files.document(
            verdict, "counterexample", f"{size}: {broken.sentence}.", **more,
            arguments=broken.seen.case.to_json(), results=results, table=broken.seen.table(),
        )
        return Finding(verdict, body)

    def judged(self, name: str, outcome: Outcome, note: str, cost: Mapping[str, float]) -> Finding:
        """A row without a counterexample."""
        return Finding(self._verdict(name, outcome, note, cost))

    def _verdict(self, name: str, outcome: Outcome, note: str, cost: Mapping[str, float]) -> Verdict:
        hazard = self.hazards.get(name, ()) if outcome is Outcome.VIOLATED else ()
        found = Outcome.HOLDS if outcome.is_unknown else outcome  # nobody expects not to know
        return Verdict(name, self.judge, self.subject, self.expected.get(name, found), outcome, self.command,
                       hazard=hazard, cost=dict(cost), seed=self.seed, note=note)


def _shown(answer: object) -> list[str] | str:
    return [shown(queue) for queue in answer] if isinstance(answer, tuple) else getattr(answer, "text", repr(answer))


def unbroken(judging: Judging, row: Row, scope: str) -> Iterator[Finding]:
    """Rows of the claims that no case falsified: they hold in the scope, unless something was left unseen."""
    for name in judging.left:
        if judging.stopped is not None:
            yield row.judged(name, Outcome.UNKNOWN, f"the search ended early: {judging.stopped}", judging.cost())
        elif judging.cases == 0:
            yield row.judged(name, Outcome.UNKNOWN, "no case of these inputs is within the scope", judging.cost())
        elif judging.silent and name != "allocation_answers":
            note = f"{judging.silent} of {judging.cases} cases could not be judged: a call gave no list"
            yield row.judged(name, Outcome.UNKNOWN, note, judging.cost())
        else:
            yield row.judged(name, Outcome.HOLDS, scope, judging.cost())
