"""cvc5 for questions about tables of paths: what Z3 has explored is proved, or refuted, once more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from proofs import terms
from proofs.cvc5_solver import PLAIN, Options, Session
from proofs.domains import Values, number_called, truth_called
from proofs.path_questions import Asked, rule_of_multiples
from proofs.paths import PathTable
from proofs.solve import Answer
from proofs.terms import Context, Term, fresh_context

STRATEGIES: tuple[Options, ...] = (PLAIN, {"decision": "internal"}, {"simplification": "none"})
EFFORT: Options = {"rlimit-per": "500000"}
"""What is tried for an obligation, in cvc5's resource units, some 700 a millisecond: unlike seconds they are the same
everywhere. Nearly all are answered by the first within a tenth.
"""


class PathsByCvc5:
    """cvc5."""

    explores = False

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self.seconds = 0.0

    def asked(self, table: PathTable, seed: int, *, brief: bool = False) -> Asked:
        """Questions about a table."""
        return _Asked(table, seed, self, STRATEGIES[:1] if brief else STRATEGIES)

    def multiples_hold(self, seed: int) -> bool:
        """Whether the rule that every table relies on is proved with this seed."""
        context = fresh_context()
        table = PathTable(terms.truth(True, context))
        return self.asked(table, seed).check([terms.negation(rule_of_multiples(context))])[0] is Answer.PROVED

    def cost(self) -> dict[str, float]:
        """The seconds since the last call."""
        spent, self.seconds = self.seconds, 0.0
        return {"cvc5_seconds": round(spent, 4)}


class _Asked:
    def __init__(self, table: PathTable, seed: int, solver: PathsByCvc5, strategies: Sequence[Options]) -> None:
        self._table, self._seed, self._solver, self._strategies = table, seed, solver, strategies
        self._session = Session()

    def check(self, formulas: Sequence[Term]) -> tuple[Answer, Values | None]:
        if terms.known(formulas[-1]) is False:
            return Answer.PROVED, None
        started = time.process_time()
        read = [self._session.read(one) for one in (*self._table.premises(), *formulas)]
        answer, _, solver = self._session.asked(read, self._seed, self._strategies, EFFORT)
        self._solver.seconds += time.process_time() - started
        if answer is not Answer.REFUTED:
            return answer, None
        return answer, _Values(self._session, solver, self._table.domain.ctx)

    def none_possible(self, cases: Sequence[Sequence[Term]]) -> bool:
        return all(self.check(case)[0] is Answer.PROVED for case in cases)


class _Values:
    def __init__(self, session: Session, solver: Any, context: Context) -> None:
        self._session, self._solver, self._context = session, solver, context

    def truth(self, name: str) -> bool:
        return bool(self._value(truth_called(name, self._context)).getBooleanValue())

    def number(self, name: str) -> int:
        return int(self._value(number_called(name, self._context)).getIntegerValue())

    def _value(self, constant: Term) -> Any:
        return self._solver.getValue(self._session.read(constant))
