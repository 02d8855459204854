"""What a proof leans on: `rocketproof prove --explain NAME`.

Each obligation is proved again with every assumption named, and left out one by one what the proof can do without.
A lemma that is used is explained, too: what it leans on belongs to the proof.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import z3

from invariants import evidence
from invariants.verdict import Outcome, Verdict
from model.language import Premise, Property, text
from model.language.properties import ALWAYS, LEMMA
from proofs import terms
from proofs.apart import apart, ended
from proofs.obligations import Induction, Obligation
from proofs.ranking import owed
from proofs.reading import Called, Expr
from proofs.smtlib import Writer
from proofs.terms import fresh_context
from proofs.written import Written

FIRST, EACH = 4_000_000, 100_000  # Z3's resource units for a proof, and for the same with an assumption less
SLOWEST = 3


@dataclass(frozen=True, slots=True)
class Leaning:
    """An obligation, the names of the assumptions that its proof needs, and the CPU seconds of the proof."""

    obligation: str
    needs: tuple[Called, ...]
    seconds: float


Found = tuple[list[Leaning], list[str], list[str]]
"""The leanings, the lemmas that are not used, and what is open: an explanation without its property."""


@dataclass(slots=True)
class Explanation:
    """What the proof of one property leans on.

    leanings -- its obligations and those of the lemmas that it uses. unused -- lemmas that could have been used.
    open -- obligations of which no proof was found again.
    """

    declared: Property
    leanings: list[Leaning] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def uses(self, kind: str) -> list[tuple[Called, list[str]]]:
        """What of a kind is used, with the obligations that need it, in the order of first use."""
        found: dict[Called, list[str]] = {}
        for one in self.leanings:
            for called in one.needs:
                if called.kind == kind:
                    found.setdefault(called, []).append(one.obligation)
        return [*found.items()]

    @property
    def seconds(self) -> float:
        """Of all proofs."""
        return sum(one.seconds for one in self.leanings)

    def slowest(self) -> list[Leaning]:
        """The obligations that took longest."""
        return sorted(self.leanings, key=lambda one: -one.seconds)[:SLOWEST]


def explanation(declared: Property) -> Explanation:
    """Explain the proof of a property that is proved."""
    made = Explanation(declared)
    wanted, known = [declared.name], {declared.name}
    lemmas = Induction(Written(declared.concept), declared.given).lemmas
    while wanted:
        name = wanted.pop(0)
        one = declared.concept.properties[name]
        for leaning in _leanings(one, made.open):
            made.leanings.append(leaning)
            new = [called.name for called in leaning.needs if called.kind == LEMMA and called.name not in known]
            wanted += new
            known.update(new)
    made.unused = [lemma.name for lemma in lemmas if lemma.name not in known]
    return made


def _leanings(declared: Property, unproved: list[str]) -> Iterator[Leaning]:
    """The obligations of one property; the short cut, if it is one."""
    reading = Written(declared.concept)
    induction, cores = Induction(reading, declared.given), _Cores(reading)
    if declared.kind == ALWAYS:
        at_once = cores.of(induction.at_once(declared))
        if at_once is not None:
            yield at_once
            owes: Iterable[Obligation] = induction.of_meaning(declared)
            yield from _each(chain(owes, induction.excluding(declared)), cores, unproved)
            return
    yield from _each(chain(owed(induction, declared), induction.excluding(declared)), cores, unproved)


def _each(obligations: Iterable[Obligation], cores: _Cores, unproved: list[str]) -> Iterator[Leaning]:
    for one in obligations:
        leaning = cores.of(one)
        if leaning is None:
            unproved.append(str(one))
        else:
            yield leaning


class _Cores:
    """Finds the assumptions that a proof needs."""

    def __init__(self, reading: Written) -> None:
        self._reading, self._writer = reading, Writer()

    def of(self, obligation: Obligation) -> Leaning | None:
        started = time.process_time()
        goal = terms.negation(obligation.goal)
        facts = [*obligation.assumed, *obligation.hypotheses]
        always = [goal, *self._writer.meaning(self._reading, [*facts, goal])]
        needed = _core(facts, always, FIRST)
        seconds = time.process_time() - started
        if needed is None:
            return None
        for fact in [*needed]:
            rest = _core([one for one in needed if one is not fact], always, EACH) if fact in needed else None
            needed = needed if rest is None else rest
        names = (self._reading.name_of(fact) for fact in needed)
        return Leaning(str(obligation), tuple(dict.fromkeys(name for name in names if name)), seconds)


def _core(facts: Sequence[Expr], always: Sequence[Expr], effort: int) -> list[Expr] | None:
    """Facts that contradict, together with what always is assumed; None: no contradiction is found."""
    context = fresh_context()
    solver = z3.SimpleSolver(ctx=context)
    terms.configure(solver, unsat_core=True, rlimit=effort)
    terms.assume(solver, [terms.copied(one, context) for one in always])
    marks = {}
    for number, fact in enumerate(facts):
        mark = z3.Bool(f"assumption {number}", context)
        marks[str(mark)] = fact
        solver.assert_and_track(terms.copied(fact, context), mark)
    if solver.check() != z3.unsat:
        return None
    core = {str(mark) for mark in solver.unsat_core()}
    return [fact for name, fact in marks.items() if name in core]


# What people read -----------------------------------------------------------------------------------------------------


def lines(found: Explanation) -> Iterator[str]:
    """The explanation, line by line."""
    declared = found.declared
    yield f"{declared.name}: {len(found.leanings)} obligations, {found.seconds:.2f} s"
    for title, rows in tables(found):
        yield f"  {title}"
        yield from (f"    {first:44} {second}".rstrip() for first, second in rows)
    if found.open:
        yield f"  not proved again in the time: {', '.join(found.open)}"


def tables(found: Explanation) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Titles with rows of two columns each."""
    yield "premises", [(premise.name, _premise(found, premise)) for premise in found.declared.given]
    yield "lemmas", [(called.name, _count(needs)) for called, needs in found.uses(LEMMA)]
    if found.unused:
        yield "lemmas that are not used", [(name, "") for name in found.unused]
    yield "guards", [(called.name.partition(" ")[0], f"{called.text}, {_count(needs)}")
                     for called, needs in found.uses("guard")]
    yield "slowest obligations", [(one.obligation, f"{one.seconds:.3f} s") for one in found.slowest()]


def _premise(found: Explanation, premise: Premise) -> str:
    if premise.of_steps:
        return "stands among the guards of the actions that assume it"
    if premise.never:
        return "its actions never happen"
    needs = [need for called, own in found.uses("premise") if called.name == premise.name for need in own]
    return _count(needs) if needs else "not used"


def _count(needs: Sequence[str]) -> str:
    most, times = Counter(needs).most_common(1)[0]
    others = len(needs) - times
    return f"for {most}" + (f" and {others} more" if others else "")


def with_reasons(
    rows: Iterable[Verdict], declared: Mapping[str, Property], tell: Callable[[str], None], out: Path | None,
) -> Iterator[Verdict]:
    """The rows; what each proof leans on is told, and written as evidence if there is a folder for that."""
    for row in rows:
        if row.outcome is not Outcome.HOLDS or row.property not in declared or row.subject.kind != "model":
            yield row
            continue
        found, lost = _explained(declared[row.property])
        for line in lines(found) if found else [f"{row.property}: not explained, {lost}"]:
            tell(line)
        yield row if out is None or found is None else _saved(row, found, out)


def _explained(declared: Property) -> tuple[Explanation | None, str]:
    """The explanation, made in a process apart; or why there is none, as the solver has ended that process."""
    def work(one: Property) -> tuple[Found | None, str]:
        made = explanation(one)
        return (made.leanings, made.unused, made.open), ""

    (found, lost), = apart([declared], work, lambda _, how: (None, ended(how)))
    return (None if found is None else Explanation(declared, *found)), lost


def _saved(row: Verdict, found: Explanation, out: Path) -> Verdict:
    body: dict[str, Any] = {
        "outcome": row.outcome.value, "claim": text.claim(found.declared),
        "seconds": round(found.seconds, 3), "open": found.open,
        "tables": [{"title": title, "rows": content} for title, content in tables(found) if content]}
    document = evidence.document(row, "proof", f"Proved: {found.declared.sentence}", **body)
    return evidence.saved(row, document, out, f"proof-{found.declared.concept.name}-{row.property}")
