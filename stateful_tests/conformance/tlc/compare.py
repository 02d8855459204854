"""A scope in the explorer and in TLC: counts, and the verdict about each property.

One run of TLC checks all that the explorer says holds, and counts; each property that the explorer refutes or reaches
has a run of its own, which has to refute it in as many steps. What the explorer does not decide is not compared.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from invariants.exploring import judged_in
from model.explorer import Exploration, explore
from model.language import Property
from model.language.properties import LEADS_TO, NEVER_STUCK, SOMETIMES, STEP
from model.language.scope import Scope
from model.scopes import NamedScope
from model.tla.configuration import Configuration
from model.tla.terms import NotExpressibleError
from stateful_tests.conformance.tlc.run import TIMEOUT_S, Answer, run

COUNTS = "states, transitions, depth, initial states"
_QUICK_STATES = 20_000
_UNSEEN = "a step that changes nothing: TLA+ does not see it"


@dataclass(frozen=True, slots=True)
class Judged:
    """What both say of one property, or of the counts.

    name -- of the property. explored, checked -- what the explorer and TLC say, in the same words if they agree. known
    -- whether both have said something.
    """

    name: str
    explored: str
    checked: str
    known: bool = True

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.known and self.explored == self.checked


@dataclass(slots=True)
class Comparison:
    """What was compared of a scope.

    judged -- of each property, and of the counts. skipped -- properties that are not compared, and why. seconds -- of
    the runs of TLC. problem -- why there is no comparison at all, or "". version -- of TLC.
    """

    judged: list[Judged] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    found: Exploration | None = None
    runs: int = 0
    seconds: float = 0.0
    problem: str = ""
    version: str = ""

    @property
    def differing(self) -> list[Judged]:
        """What the two contradict each other about."""
        return [one for one in self.judged if one.known and not one.agrees]

    @property
    def unknown(self) -> str:
        """Why something is not known, or ""."""
        return self.problem or next((f"{one.name}: {one.checked}" for one in self.judged if not one.known), "")


def compared(named: NamedScope, *, timeout_s: float = TIMEOUT_S) -> Comparison:
    """Put a scope to the explorer and to TLC; raises BadInputError when there is no Java or no TLC.

    timeout_s -- of each run of TLC; one that takes longer says nothing.
    """
    return compared_scope(named.scope, judged_in(named), timeout_s=timeout_s)


def compared_scope(scope: Scope, properties: Sequence[Property], *, timeout_s: float = TIMEOUT_S) -> Comparison:
    """Likewise, of a scope and some properties."""
    found = explore(scope, properties)
    comparison = Comparison(found=found, problem=found.unknown or found.blurred)
    if comparison.problem:
        return comparison
    try:
        configuration = Configuration(scope)
    except NotExpressibleError as error:
        comparison.problem = str(error)
        return comparison
    with tempfile.TemporaryDirectory(prefix="tla-") as folder:
        for file, text in ((configuration.module.name, configuration.module.text()),
                           (configuration.name, configuration.text())):
            (Path(folder) / f"{file}.tla").write_text(text, encoding="utf-8")
        _Comparing(Path(folder), configuration, found, comparison, timeout_s).run()
    return comparison


class _Comparing:
    """The runs of one comparison."""

    def __init__(self, folder: Path, configuration: Configuration, found: Exploration, comparison: Comparison,
                 timeout_s: float) -> None:
        self.folder, self.configuration, self.found = folder, configuration, found
        self.comparison, self.timeout_s = comparison, timeout_s

    def run(self) -> None:
        """All runs."""
        wanted = [one for one in self.found.properties if not self._skipped(one)]
        holding = [one for one in wanted if self._steps(one) is None]
        stuck = self._stuck()
        answer = self._answer(holding, deadlock=stuck is not None and self.found.deadlocks == 0)
        self.comparison.version = answer.version
        self._counts(answer)
        for one in holding:
            self._judge(one.name, "holds", self._holds(one, answer), known=bool(answer.complete or answer.refuted))
        if stuck == 0:
            self._judge(NEVER_STUCK, "holds", "refuted" if answer.refuted == "deadlock" else "holds",
                        known=bool(answer.complete or answer.refuted))
        for one in wanted:
            if one not in holding:
                self._refuted(one)
        if self.found.deadlock is not None and stuck is not None:
            self._compare(NEVER_STUCK, len(self.found.deadlock["steps"]), self._answer([], deadlock=True))

    def _skipped(self, declared: Property) -> bool:
        """Whether a property is not compared; says why."""
        outcome = self.found.outcome(declared.name)
        reason = self.found.why(declared.name) if outcome == "unknown" else ""
        trace = self.found.violations.get(declared.name)
        if declared.kind == STEP and trace is not None and not trace["steps"][-1]["changes"]:
            reason = _UNSEEN
        if reason:
            self.comparison.skipped[declared.name] = reason
        return bool(reason)

    def _stuck(self) -> int | None:
        """The number of states without a step, where it is TLC's: a step that is cut is none for it."""
        if any(self.found.cut.values()):
            self.comparison.skipped[NEVER_STUCK] = "a step that leaves the scope is none for TLC"
            return None
        if NEVER_STUCK in self.found.undecided:
            self.comparison.skipped[NEVER_STUCK] = self.found.why(NEVER_STUCK)
            return None
        return self.found.deadlocks

    def _steps(self, declared: Property) -> int | None:
        """The length of the trace by which the explorer refutes what TLC checks; None if that holds."""
        if declared.kind == SOMETIMES:
            return 0 if self.found.reached[declared.name] else None
        trace = self.found.violations.get(declared.name)
        return None if trace is None else len(trace["steps"])

    def _answer(self, properties: Sequence[Property], *, deadlock: bool = False) -> Answer:
        started = time.monotonic()
        answer = run(self.folder, self.configuration.name, self.configuration.configuration(properties),
                     timeout_s=self.timeout_s, deadlock=deadlock, quick=self.found.states < _QUICK_STATES)
        self.comparison.runs += 1
        self.comparison.seconds += time.monotonic() - started
        return answer

    def _counts(self, answer: Answer) -> None:
        found = self.found
        explored = (found.states, found.transitions, found.depth, len(next(iter(found.levels))[0]))
        checked = (answer.states, answer.transitions, answer.depth, answer.initial)
        theirs = f"refuted {answer.refuted}" if answer.refuted else str(checked) if answer.complete else answer.problem
        self._judge(COUNTS, str(explored), theirs, known=not answer.problem)

    def _holds(self, declared: Property, answer: Answer) -> str:
        _, name = self.configuration.checked(declared)
        refuted = answer.refuted == name or (answer.refuted == "temporal" and declared.kind == LEADS_TO)
        return "refuted" if refuted else answer.problem or "holds"

    def _refuted(self, declared: Property) -> None:
        answer = self._answer([declared])
        # The explorer keeps no trace of what is reached, and any lasso will do.
        steps = None if declared.kind in (SOMETIMES, LEADS_TO) else self._steps(declared)
        _, name = self.configuration.checked(declared)
        if answer.refuted not in ("", name, "temporal"):
            answer = Answer(problem=f"TLC refutes {answer.refuted} first")
        self._compare(declared.name, steps, answer)

    def _compare(self, name: str, steps: int | None, answer: Answer) -> None:
        """Compare a refutation; steps -- of the explorer's trace, None if its length is not compared."""
        words = "refuted" if steps is None else f"refuted in {steps} steps"
        theirs = "refuted" if steps is None else f"refuted in {answer.steps} steps"
        self._judge(name, words, theirs if answer.refuted else "holds" if answer.complete else answer.problem,
                    known=bool(answer.refuted or answer.complete))

    def _judge(self, name: str, explored: str, checked: str, *, known: bool) -> None:
        self.comparison.judged.append(Judged(name, explored, checked, known))
