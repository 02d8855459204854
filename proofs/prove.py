"""The judge `prove`: every property that is promised without bounds, proved by induction in Z3.

A verdict "holds" needs all of it: some state is initial under the premises, every obligation is proved under every
seed, every action happens in some run, or provably never does and is declared so, what waits for a goal does so in some
run, and each mutation that the property names spoils the proof.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.exploring import keeps
from invariants.verdict import Outcome, Subject, Verdict
from model.language import Concept, Premise, Property, Run
from model.language.properties import ALWAYS, LEADS_TO, LEMMA, NEEDED, STEP
from model.language.scope import Scope
from model.scopes import SCOPES
from proofs.apart import apart, ended
from proofs.counterexample import counterexample, told, wanted
from proofs.needless import needless
from proofs.obligations import Induction, Obligation, Steps, actions, support
from proofs.ranking import owed
from proofs.record import Record, outcome_of
from proofs.solve import SEEDS, TIMEOUT_MS, Answer
from proofs.solvers import Z3, Asker, Solver
from proofs.unnoticed import unnoticed
from proofs.visited import Asked, Visited, visited
from proofs.witnesses import Witnesses

KNOWN = [named.scope for named in sorted(SCOPES, key=lambda named: named.states) if not named.heavy]


def _layers(declared: Property) -> list[tuple[Premise, ...]]:
    """Sets of premises of the lemmas that a property stands on: each layer is proved on those below it."""
    own = support(declared.concept, declared.given)
    return list(dict.fromkeys(lemma.given for lemma in own)) or [()]


def provable(declared: Property) -> bool:
    """Whether a proof without bounds is claimed: of what holds, or holds under premises."""
    claimed = declared.expected.outcome == "holds" or bool(declared.given)
    able = declared.kind in (ALWAYS, STEP, LEMMA) or declared.name in declared.concept.rankings
    return claimed and able and not declared.search_only


class Prover:
    """Proves properties of any concepts; the lemmas of a concept are proved once per set of premises."""

    def __init__(
        self, seeds: Sequence[int] = SEEDS, timeout_ms: int = TIMEOUT_MS, out: Path | None = None,
        scopes: Sequence[Scope] = KNOWN, replay: str = "rocketproof prove", solver: Solver | None = None,
        cti: Path | None = None,
    ) -> None:
        """Use these solver seeds.

        timeout_ms -- bounds each call. out -- directory for counterexamples to induction. scopes -- where runs are
        looked for first, smallest first. replay -- the command that proves a property of a name again. solver -- who
        proves the obligations; None: Z3. cti -- a folder of states that runs have visited, which are asked before the
        solver is, and of counterexamples to induction.
        """
        self.seeds, self.timeout_ms, self.out, self.scopes, self.replay = seeds, timeout_ms, out, scopes, replay
        self.solver = solver or Z3(seeds, timeout_ms)
        self.witnesses = Witnesses(scopes)
        self.cti, self.visited = cti, Visited() if cti is None else visited(cti)
        self._layers: dict[tuple[int, tuple[Premise, ...]], Record] = {}
        self._mutants_apart = False  # whether each mutation is asked of in a process of its own

    def judge(self, properties: Iterable[Property]) -> Iterator[Verdict]:
        """Give one row per property for which a proof is claimed, in a process apart: unknown if the solver ends it."""
        yield from chain.from_iterable(apart(properties, self._rows, self._once_more))

    def _rows(self, declared: Property) -> list[Verdict]:
        runs = [run for run in declared.concept.runs.values() if run.property == declared.name]
        return [*([self.verdict(declared)] if provable(declared) else []),
                *(self.tightness(declared, run) for run in runs)]

    def _once_more(self, declared: Property, how: str) -> list[Verdict]:
        """The rows of a property whose proof ended the process: a mutation may have done so, in place of a proof.

        The limit of effort, which hardly any true proof meets, can crash Z3. Then nothing is proved, which is noticed.
        """
        del how

        def carefully(one: Property) -> list[Verdict]:
            self._mutants_apart = True
            return self._rows(one)

        rows, = apart([declared], carefully, self._lost)
        return rows

    def _lost(self, declared: Property, how: str) -> list[Verdict]:
        """The row of a property whose proof ended the process."""
        subject = Subject("model", subject_name(declared.concept), {
            "concept": declared.concept.name, "kind": declared.kind, **self.solver.details})
        return [Verdict(declared.name, "prove", subject, Outcome.HOLDS, Outcome.UNKNOWN,
                        f"{self.replay} {declared.name}", note=ended(how))]

    def verdict(self, declared: Property) -> Verdict:
        """Prove one property."""
        started = time.process_time()
        record = Record(nothing=self.witnesses.no_start(declared.concept, declared.given))
        if not record.nothing:
            record.asked, record.false = self._visited(declared)
        if not record.nothing and not record.false:
            self._prove(declared, record)
        outcome, note = outcome_of(record, declared)
        given = [premise.name for premise in declared.given]
        cost = self._cost(record, started)
        details = {"concept": declared.concept.name, "kind": declared.kind, **({"given": given} if given else {}),
                   **_of_fair_runs(declared), **self.solver.details}
        subject = Subject("model", subject_name(declared.concept), details)
        row = Verdict(declared.name, "prove", subject, Outcome.HOLDS, outcome, f"{self.replay} {declared.name}",
                      cost=cost, note=note)
        return row if record.failed is None else self._explained(declared, row)

    def _visited(self, declared: Property) -> tuple[Asked, str]:
        """What visited states say of a property and the lemmas that it stands on, and which of these is false."""
        total = 0
        others = [one for one in support(declared.concept, declared.given) if one is not declared]
        for one in (declared, *others):
            asked = self.visited.ask(one)
            total += asked.states
            if asked.of:
                return replace(asked, states=total), one.name
        return Asked(total), ""

    def _prove(self, declared: Property, record: Record) -> None:
        """Try whatever is owed, up to the first that fails; then look for what the proof may be empty of."""
        record.include(self._supported(declared))
        reading, questions = self.solver.asker(declared.concept, declared.name)
        induction = Induction(reading, declared.given)
        if record.failed is None:
            record.work(questions, induction.of_start())
        if record.failed is None and declared.kind != LEMMA:
            self._attempt(declared, induction, questions, record)
        if record.failed is None:
            record.vacuous = self._vacuous(declared)
        if record.failed is None and not record.vacuous:
            record.work(questions, induction.excluding(declared))
        if record.failed is None and not record.vacuous:
            record.blind = unnoticed(declared, reading, induction, self.seeds[0], self.timeout_ms,
                                     carefully=self._mutants_apart)
        elif record.failed is not None and record.failed[0].part == "initially":
            record.false_at_first = self._false_at_first(declared, record.failed[0])

    def _false_at_first(self, declared: Property, failed: Obligation) -> bool:
        """Whether some initial state breaks the property itself, where that is well defined."""
        return failed.invariant == declared.name and any(
            self.solver.has_model((*induction.of_initial(), *induction.breaks(declared)))
            for reading in self.solver.searched(declared.concept)
            for induction in (Induction(reading, declared.given),))

    def _explained(self, declared: Property, row: Verdict) -> Verdict:
        """Look for a small counterexample to induction, and say whether it is reachable."""
        able = (scope for scope in self.scopes if scope.concept is declared.concept and keeps(scope, declared))
        found = next(((one, scope) for scope in able if (one := counterexample(declared, scope)) is not None), None)
        if found is None:
            return row
        sentence, trace = told(*found)
        row = replace(row, note=f"{row.note}; {sentence}")
        if self.cti is not None:
            self.cti.mkdir(parents=True, exist_ok=True)
            state = wanted(*found, sentence)
            (self.cti / f"{declared.concept.name}-{state.property}.json").write_text(state.text(), "utf-8")
        if self.out is None:
            return row
        path = Path("evidence") / f"prove-{declared.concept.name}-{declared.name}.json"
        evidence.write(self.out / path, evidence.document(row, "trace", sentence, **trace))
        return replace(row, evidence=str(path))

    def tightness(self, declared: Property, run: Run) -> Verdict:
        """Prove that a premise is needed: where it is false, a run violates the property."""
        started = time.process_time()
        record = Record()
        reading, questions = self.solver.asker(declared.concept, f"{run.premise.name}{NEEDED}")
        record.work(questions, Steps(reading, run).obligations())
        if record.failed is None:
            record.vacuous = needless(declared.concept, run, self.timeout_ms)
        outcome, note = outcome_of(record, declared)
        cost = self._cost(record, started)
        subject = Subject("model", subject_name(declared.concept),
                          {"concept": declared.concept.name, "kind": "run", "run": run.name,
                           "unless": run.premise.name, **self.solver.details})
        return Verdict(f"{run.premise.name}{NEEDED}", "prove", subject, Outcome.HOLDS, outcome,
                       f"{self.replay} {declared.name}", cost=cost, note=note or run.sentence)

    def _cost(self, record: Record, started: float) -> dict[str, float]:
        """What a row has cost, since this CPU second."""
        cost = {"obligations": record.obligations, "seconds": round(time.process_time() - started, 3)}
        cost |= {"states_asked": record.asked.states} if record.asked.states else {}
        return cost | ({f"{self.solver.name}_seconds": round(record.seconds, 3)} if self.solver.details else {})

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
            reading, questions = self.solver.asker(concept, "-".join(("lemmas", *(premise.name for premise in given))))
            induction = Induction(reading, given)
            lemmas = [lemma for lemma in induction.lemmas if set(lemma.given) == set(given)]
            record = self._layers[key] = Record()
            record.work(questions, chain(induction.of_lemmas(lemmas), induction.of_actions()))
        return self._layers[key]

    def _attempt(self, declared: Property, induction: Induction, questions: Asker, record: Record) -> None:
        """Try the obligations of a property, stopping at the first that fails."""
        if declared.kind == ALWAYS:
            at_once = induction.at_once(declared)
            solved = questions.asked(at_once)
            if solved.answer is Answer.PROVED:
                record.add(at_once, solved)
                record.work(questions, induction.of_meaning(declared))
                return
        record.work(questions, owed(induction, declared))

    def _vacuous(self, declared: Property) -> str:
        """Say which action no run reaches though it should happen, or ""."""
        wanted = [action.name for action in actions(declared.concept, declared.given)
                  if action.name not in declared.excludes]
        if not wanted:
            return "no action ever happens"
        unseen = self.witnesses.unseen(declared.concept, declared.given, wanted)
        if unseen:
            return f"no run was found in which {unseen[0]} happens"
        if declared.kind == LEADS_TO and not self.witnesses.waits(declared):
            return "no run was found that waits for the goal"
        both = sorted({*declared.fair, *declared.strongly_fair} & {*declared.until_quiet})
        if both and not self.witnesses.fair(declared):
            return f"no run was found that is fair: {both[0]} is fair and ceases"
        return ""


def subject_name(concept: Concept) -> str:
    """Name a concept as verdict rows do: "consumer_group.Group"."""
    return f"{concept.home}.{concept.name}"


def _of_fair_runs(declared: Property) -> dict[str, Any]:
    """What a row says of a ranking: which actions are fair, which cease, of what there are finitely many."""
    if declared.kind != LEADS_TO:
        return {}
    said = {"fair": [*declared.fair], "strongly_fair": [*declared.strongly_fair],
            "until_quiet": [*declared.until_quiet],
            "finitely_many": declared.concept.rankings[declared.name].finitely_many}
    return {key: names for key, names in said.items() if names}
