"""cvc5 as a judge of obligations: it reads as text what Z3 is asked, and answers by itself.

Every question has a solver of its own, so nothing that was asked before changes an answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import cvc5

from proofs import terms
from proofs.obligations import FOLLOWS, Obligation
from proofs.reading import Expr
from proofs.smtlib import Writer
from proofs.solve import Answer, Solved
from proofs.written import Written

Options = Mapping[str, str]
PLAIN: Options = {}
STRATEGIES: tuple[Options, ...] = (
    PLAIN, {"full-saturate-quant": "true"}, {"enum-inst": "true", "e-matching": "false"}, {"finite-model-find": "true"})
FINITE: tuple[Options, ...] = ({"arrays-exp": "true"}, {"arrays-exp": "true", "finite-model-find": "true"})
"""What is tried for a proof, and for a model; the next one when the one before gives up."""


def within(timeout_ms: int) -> Options:
    """The option that bounds an attempt in time."""
    return {"tlimit-per": str(timeout_ms)}


class Session:
    """Formulas of Z3 that cvc5 has read; each is read once."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self.writer = Writer()
        self._manager = cvc5.TermManager()
        self._solver = cvc5.Solver(self._manager)
        self._solver.setLogic("ALL")
        self._parser = cvc5.InputParser(self._solver)
        self._parser.setIncrementalStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "formulas")
        self._declared: set[str] = set()
        self._read: dict[int, Any] = {}  # by the identity of the formula, which the writer holds

    def read(self, formula: Expr) -> Any:
        """The formula as a term of cvc5."""
        text = self.writer.text(formula)
        if formula.get_id() not in self._read:
            new = [one for one in text.declarations if one not in self._declared]
            self._declared.update(new)
            self._parser.appendIncrementalStringInput("\n".join([*new, text.formula, ""]))
            for _ in new:
                self._parser.nextCommand().invoke(self._solver, self._parser.getSymbolManager())
            self._read[formula.get_id()] = self._parser.nextTerm()
        return self._read[formula.get_id()]

    def asked(
        self, formulas: Sequence[Any], seed: int, strategies: Sequence[Options], limit: Options,
    ) -> tuple[Answer, str, Any]:
        """Whether terms of cvc5 have no model: the answer of the first strategy that has one; why not; and the solver.

        limit -- the option that bounds each attempt.
        """
        reasons: list[str] = []
        solver = None
        for options in strategies:
            solver = self._asking(seed, {**options, **limit})
            for formula in formulas:
                solver.assertFormula(formula)
            try:
                result = solver.checkSat()
            except RuntimeError as error:  # cvc5 says so of what it has no procedure for
                reasons.append(" ".join(str(error).split()))
                continue
            if not result.isUnknown():
                return Answer.PROVED if result.isUnsat() else Answer.REFUTED, "", solver
            reasons.append(str(result.getUnknownExplanation()).rpartition(".")[2].lower())
        return Answer.UNKNOWN, "cvc5: " + ", ".join(dict.fromkeys(reasons)), solver

    def _asking(self, seed: int, options: Options) -> Any:
        solver = cvc5.Solver(self._manager)
        solver.setLogic("ALL")
        own = {"seed": str(seed), "sat-random-seed": str(seed), "produce-models": "true"}
        for name, value in {**own, **options}.items():
            solver.setOption(name, value)
        return solver


class Obligations:
    """Questions to cvc5 about one reading."""

    def __init__(self, reading: Written, seeds: Sequence[int], timeout_ms: int) -> None:
        """Ask nothing yet; every obligation is asked under each seed, timeout_ms bounds each attempt."""
        self._reading, self._seeds, self._timeout_ms = reading, seeds, timeout_ms
        self._session = Session()

    def asked(self, obligation: Obligation) -> Solved:
        """Ask whether the obligation is owed for good reason: proved, refuted, or why it is not known.

        A short cut has one attempt: the longer way is taken when it fails.
        """
        started = time.process_time()
        formulas = [*obligation.assumed, *obligation.hypotheses, terms.negation(obligation.goal)]
        formulas += self._session.writer.meaning(self._reading, formulas)
        read = [self._session.read(one) for one in formulas]
        strategies = STRATEGIES[:1] if obligation.part == FOLLOWS else STRATEGIES
        answer, reason = Answer.UNKNOWN, ""
        for seed in self._seeds:
            answer, reason, _ = self._session.asked(read, seed, strategies, within(self._timeout_ms))
            if answer is not Answer.PROVED:
                break  # one refutation or one unknown decides
        return Solved(answer, time.process_time() - started, reason)


def has_model(formulas: Sequence[Expr], timeout_ms: int) -> bool:
    """Whether cvc5 finds a model of formulas without sets that are described."""
    session = Session()
    read = [session.read(one) for one in formulas]
    return session.asked(read, 0, FINITE, within(timeout_ms))[0] is Answer.REFUTED


def answer_to(script: str, timeout_ms: int = 5_000) -> str:
    """What cvc5 says to a script in SMT-LIB: the last line that it prints."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(timeout_ms))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, parser.getSymbolManager())).strip() or said
    return said
