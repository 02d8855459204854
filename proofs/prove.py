"""The judge `prove`: every property that is promised without bounds, proved by induction in Z3.

A verdict "holds" needs all of it: every obligation is proved under every seed, every action can happen in a state with
all invariants (or the proof would be empty), and each mutation that the property names spoils the proof.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.exploring import keeps
from invariants.verdict import Outcome, Subject, Verdict
from model.language import Concept, Premise, Property, Run
from model.language.properties import ALWAYS, LEMMA, STEP
from model.scopes import SCOPES
from proofs.counterexample import explained
from proofs.enumerated import Enumerated
from proofs.obligations import Induction, Obligation, of_run, support
from proofs.solve import SEEDS, TIMEOUT_MS, Answer, Questions, Solved
from proofs.terms import Context
from proofs.unbounded import Unbounded

SMALL = 2  # elements of a free sort in the search for a state in which an action can happen
MUTANT_EFFORT = 200_000  # Z3's resource units; a proof that is not found is what a mutation shall bring about, and the
# hardest one of the catalogue takes a quarter of this
SOME_NUMBERS = 6  # … values of a natural


@dataclass(slots=True)
class Record:
    """What became of the obligations of one property: the first that failed, and the cost."""

    obligations: int = 0
    seconds: float = 0.0
    failed: tuple[Obligation, Solved] | None = None
    vacuous: str = ""
    blind: str = ""
    proved: list[dict[str, Any]] = field(default_factory=list)

    def include(self, other: Record) -> None:
        """Take over what another record says."""
        self.obligations += other.obligations
        self.seconds += other.seconds
        self.failed = self.failed or other.failed
        self.proved += other.proved

    def work(self, questions: Questions, obligations: Iterable[Obligation]) -> None:
        """Prove obligations up to the first that cannot be."""
        for obligation in obligations:
            if not self.add(obligation, _asked(questions, obligation)):
                return

    def add(self, obligation: Obligation, solved: Solved) -> bool:
        """Note an answer; tell whether it is a proof."""
        self.obligations += 1
        self.seconds += solved.seconds
        self.proved.append({"obligation": str(obligation), "answer": solved.answer.value,
                            "seconds": round(solved.seconds, 4)})
        if solved.answer is not Answer.PROVED and self.failed is None:
            self.failed = (obligation, solved)
        return solved.answer is Answer.PROVED


def _layers(declared: Property) -> list[tuple[Premise, ...]]:
    """Sets of premises of the lemmas that a property stands on: each layer is proved on those below it."""
    own = support(declared.concept, declared.given)
    return list(dict.fromkeys(lemma.given for lemma in own)) or [()]


def provable(declared: Property) -> bool:
    """Whether a proof without bounds is claimed: of what holds, or holds under premises."""
    claimed = declared.expected.outcome == "holds" or bool(declared.given)
    return claimed and declared.kind in (ALWAYS, STEP, LEMMA) and not declared.search_only


class Prover:
    """Proves properties of any concepts; the lemmas of a concept are proved once per set of premises."""

    def __init__(
        self, seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS, out: Path | None = None,
    ) -> None:
        """Use these solver seeds; timeout_ms bounds each call; out -- directory for counterexamples to induction."""
        self.seeds, self.timeout_ms, self.out = seeds, timeout_ms, out
        self._layers: dict[tuple[int, tuple[Premise, ...]], Record] = {}

    def judge(self, properties: Iterable[Property]) -> Iterator[Verdict]:
        """Give one row per property for which a proof is claimed."""
        for declared in properties:
            if provable(declared):
                yield self.verdict(declared)
            for run in declared.concept.runs.values():
                if run.property == declared.name:
                    yield self.tightness(declared, run)

    def verdict(self, declared: Property) -> Verdict:
        """Prove one property."""
        started = time.process_time()
        record = self._supported(declared)
        induction, questions = Induction(Unbounded(declared.concept), declared.given), self._questions()
        if record.failed is None and declared.kind != LEMMA:
            self._attempt(declared, induction, questions, record)
        if record.failed is None and declared.kind != LEMMA:
            record.vacuous = self._vacuous(declared, questions.context)
        if record.failed is None and not record.vacuous:
            record.blind = self._blind(declared, induction, questions.context)
        outcome, note = _outcome(record)
        given = [premise.name for premise in declared.given]
        cost = {"obligations": record.obligations, "seconds": round(time.process_time() - started, 3)}
        replay = f"rocketproof prove {declared.name}"
        details = {"concept": declared.concept.name, "kind": declared.kind, **({"given": given} if given else {})}
        subject = Subject("model", subject_name(declared.concept), details)
        row = Verdict(declared.name, "prove", subject, Outcome.HOLDS, outcome, replay, cost=cost, note=note)
        return row if record.failed is None else self._explained(declared, row)

    def _explained(self, declared: Property, row: Verdict) -> Verdict:
        """Look for a small counterexample to induction, and say whether it is reachable."""
        able = [named.scope for named in SCOPES if named.scope.concept is declared.concept
                and not named.heavy and keeps(named.scope, declared)]
        found = explained(declared, able[0]) if able else None
        if found is None:
            return row
        sentence, trace = found
        row = replace(row, note=f"{row.note}; {sentence}")
        if self.out is None:
            return row
        path = Path("evidence") / f"prove-{declared.concept.name}-{declared.name}.json"
        evidence.write(self.out / path, evidence.document(row, "trace", sentence, **trace))
        return replace(row, evidence=str(path))

    def tightness(self, declared: Property, run: Run) -> Verdict:
        """Prove that a premise is needed: where it is false, a run violates the property."""
        started = time.process_time()
        record = Record()
        record.work(self._questions(), of_run(Unbounded(declared.concept), run))
        outcome, note = _outcome(record)
        cost = {"obligations": record.obligations, "seconds": round(time.process_time() - started, 3)}
        subject = Subject("model", subject_name(declared.concept),
                          {"concept": declared.concept.name, "kind": "run", "run": run.name,
                           "unless": run.premise.name})
        return Verdict(f"{run.premise.name}_is_needed", "prove", subject, Outcome.HOLDS, outcome,
                       f"rocketproof prove {declared.name}", cost=cost, note=note or run.sentence)

    def _questions(self) -> Questions:
        """Questions about one property, or one layer of lemmas: what was asked about others changes no answer."""
        return Questions(self.seeds, self.timeout_ms)

    def _supported(self, declared: Property) -> Record:
        """Try all obligations of the lemmas that a property stands on."""
        record = Record()
        for premises in _layers(declared):
            record.include(self._layer(declared.concept, premises))
        return record

    def _layer(self, concept: Concept, given: tuple[Premise, ...]) -> Record:
        """Prove the lemmas that need exactly these premises, and that their actions are well defined."""
        key = (id(concept), given)
        if key not in self._layers:
            induction = Induction(Unbounded(concept), given)
            lemmas = [lemma for lemma in induction.lemmas if set(lemma.given) == set(given)]
            record = self._layers[key] = Record()
            record.work(self._questions(), chain(induction.of_lemmas(lemmas), induction.of_actions()))
        return self._layers[key]

    def _attempt(self, declared: Property, induction: Induction, questions: Questions, record: Record) -> None:
        """Try the obligations of a property, stopping at the first that fails."""
        if declared.kind == ALWAYS:
            at_once = induction.at_once(declared)
            solved = _asked(questions, at_once)
            if solved.answer is Answer.PROVED:
                record.add(at_once, solved)
                return
        record.work(questions, induction.of(declared))

    def _vacuous(self, declared: Property, context: Context) -> str:
        """Say which action cannot happen in any small state with all invariants though it should, or ""."""
        small = Induction(Enumerated(declared.concept, small_sizes(declared.concept)), declared.given)
        states = small.states([*small.lemmas, *([declared] if declared.kind == ALWAYS else [])])
        questions = Questions(self.seeds[:1], self.timeout_ms, context=context)
        dead = {action.name for action in small.actions
                if questions.satisfiable(states, small.enabled(action)).answer is not Answer.REFUTED}
        for action in sorted(dead ^ set(declared.excludes)):
            return f"{action} {'never happens' if action in dead else 'happens'} in a small state"
        return ""

    def _blind(self, declared: Property, induction: Induction, context: Context) -> str:
        """Name a mutation that the proof does not notice, or ""."""
        questions = Questions(self.seeds[:1], self.timeout_ms, MUTANT_EFFORT, context)
        for mutation in declared.broken_by:
            changed = induction.mutated(mutation)
            owed = chain(changed.of_lemmas(changed.lemmas), changed.of(declared), changed.of_actions())
            if all(_asked(questions, one).answer is Answer.PROVED for one in owed if one.action):
                return str(mutation)
        return ""


def _asked(questions: Questions, obligation: Obligation) -> Solved:
    return questions.prove(obligation.assumed, obligation.hypotheses, obligation.goal)


def subject_name(concept: Concept) -> str:
    """Name a concept as verdict rows do: "consumer_group.Group"."""
    return f"{concept.module.rpartition('.')[2]}.{concept.name}"


def small_sizes(concept: Concept) -> Mapping[str, int]:
    """Sizes for questions about small states."""
    return {name: SOME_NUMBERS if info.kind == "nat" else SMALL for name, info in concept.sorts.items()}


def _outcome(record: Record) -> tuple[Outcome, str]:
    if record.failed is not None:
        obligation, solved = record.failed
        if solved.answer is Answer.REFUTED and obligation.part == "initially":
            return Outcome.VIOLATED, f"false at first: {obligation.invariant}"
        why = "is not inductive" if solved.answer is Answer.REFUTED else f"is not decided ({solved.reason})"
        return Outcome.UNKNOWN, f"{obligation} {why}"
    if record.vacuous:
        return Outcome.UNKNOWN, f"proved, but perhaps of nothing: {record.vacuous}"
    if record.blind:
        return Outcome.UNKNOWN, f"proved, but also with {record.blind}"
    return Outcome.HOLDS, ""
