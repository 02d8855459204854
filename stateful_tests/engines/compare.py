"""What the judges say of one concept, and where one refutes another.

* A property that `prove` calls true is violated in no scope (`explore`), and by no run of a few steps with all naturals
  (bounded model checking in Z3). A proof that is discarded as perhaps of nothing is no claim, but must not be refuted
  either.
* A property that `prove` calls violated is broken by an initial state.
* A search with more values of what saturates gives the same verdicts, where both give one.

What TLC says of the same searches is compared in `by_tlc`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from invariants.verdict import Outcome, Verdict
from model.explorer import Exploration, explore
from model.language import Action, Property
from model.language.nodes import negation
from model.language.properties import LEADS_TO, STEP
from model.language.scope import Scope
from model.language.values import Term
from proofs.few import Few
from proofs.obligations import Induction
from proofs.prove import Prover, provable
from proofs.reading import Expr, Reader
from proofs.solve import Answer, satisfiable
from stateful_tests.engines.by_tlc import Searched
from stateful_tests.engines.concepts import Drawn, Waiting

SCOPES, DEPTH, TIMEOUT_MS, MEMORY_BYTES = 3, 2, 300, 4 << 20
WAITING = 2  # one seed of so many draws a concept with leads_to properties, too
FEW = 2  # elements of a free sort in a run
SIZES = (1, 2, 3, 4)  # … in an initial state


def compared(seed: int, tally: Counter[str], searched: list[Searched] | None = None) -> list[str]:
    """Contradictions about the concept of a seed, a line each; counts verdicts into the tally.

    searched -- takes the searches, with what `prove` says is true, for TLC.
    """
    drawn = {str(seed): Drawn(seed), **({f"{seed}w": Waiting(seed)} if seed % WAITING == 1 else {})}
    taken = [] if searched is None else searched
    return [line for name, one in drawn.items() for line in _compared(name, one, tally, taken)]


def _compared(name: str, drawn: Drawn, tally: Counter[str], searched: list[Searched]) -> list[str]:
    prover = Prover((0,), TIMEOUT_MS, scopes=())
    rows = {p.name: prover.verdict(p) for p in drawn.concept.properties.values() if provable(p)}
    tally.update(f"prove: {row.outcome.value}" for row in rows.values())
    claimed = [drawn.concept.properties[row.property] for row in rows.values() if is_claim(row)]
    tally["proved, vacuous or not"] += len(claimed)
    wrong = [f"{name} {line}" for number, scope in enumerate(drawn.scopes(SCOPES))
             for line in _searched(drawn, scope, claimed, tally, searched, f"{name}.{number}")]
    wrong += [f"{name} {p.name}: prove says true, a run of {depth} steps breaks it"
              for p in claimed if p.kind != LEADS_TO and (depth := broken_by_run(p)) is not None]
    tally["runs unrolled"] += sum(p.kind != LEADS_TO for p in claimed)
    tally["leads_to proved, vacuous or not"] += sum(p.kind == LEADS_TO for p in claimed)
    for row in rows.values():
        if row.outcome is Outcome.VIOLATED:
            broken = broken_at_first(drawn.concept.properties[row.property])
            tally["first states undecided"] += broken is None
            wrong += [f"{name} {row.property}: prove says violated, no initial state breaks it"] * (broken is False)
    return wrong


def is_claim(row: Verdict) -> bool:
    """Whether everything that is owed was proved."""
    return row.outcome is Outcome.HOLDS or row.note.startswith("proved, but")


def _searched(
    drawn: Drawn, scope: Scope, claimed: Sequence[Property], tally: Counter[str], searched: list[Searched], name: str,
) -> Iterator[str]:
    found = _explored(scope)
    if found is None:
        return
    searched.append(Searched(name, found, frozenset(p.name for p in claimed)))
    tally.update(f"explore: {found.outcome(p.name)}" for p in found.properties)
    for p in claimed:
        if found.outcome(p.name) == "violated":
            yield f"{p.name}: prove says true, violated in {_sizes(scope)}"
        tally["leads_to proved and searched"] += p.kind == LEADS_TO and found.outcome(p.name) == "holds"
    older = _explored(_older(scope))
    if older is None or found.unknown or older.unknown or any(found.cut.values()) or any(older.cut.values()):
        return
    for p in drawn.concept.properties.values():
        pair = {found.outcome(p.name), older.outcome(p.name)}
        tally["compared with older ages"] += "unknown" not in pair
        if pair == {"holds", "violated"}:
            yield f"{p.name}: otherwise with more ages than in {_sizes(scope)}"


def _explored(scope: Scope) -> Exploration | None:
    try:
        return explore(scope, [*scope.concept.properties.values()], memory_bytes=MEMORY_BYTES)
    except ValueError:  # no state is initial there, or too many
        return None


def _older(scope: Scope) -> Scope:
    """The same with more ages: no key and no rigid function depends on their number."""
    sizes: dict[type[Term] | str, int] = {name: size + 2 * (name == "Age") for name, size in scope.sizes.items()}
    rigid = {name: lambda *_, info=scope.concept.variables[name]: scope.value(info.value, 0) for name in scope.tables}
    made = Scope(scope.concept, sizes, rigid, name=scope.name)
    made.tables = scope.tables
    return made


def _sizes(scope: Scope) -> str:
    return ", ".join(f"{size} {name}" for name, size in scope.sizes.items())


# Bounded model checking -----------------------------------------------------------------------------------------------


def broken_by_run(declared: Property) -> int | None:
    """The number of steps of a run that breaks a property, if there is one of at most DEPTH steps."""
    actions = [*declared.concept.actions.values()]
    for depth in range(declared.kind == STEP, DEPTH + 1):
        if any(_breaks(declared, run, FEW) is Answer.REFUTED for run in product(actions, repeat=depth)):
            return depth
    return None


def broken_at_first(declared: Property) -> bool | None:
    """Whether some initial state breaks a property; None: Z3 cannot tell of some number of elements, in the time."""
    answers = [_breaks(declared, (), size) for size in SIZES]
    if Answer.REFUTED in answers:
        return True
    return None if Answer.UNKNOWN in answers else False


def _breaks(declared: Property, run: Sequence[Action], size: int) -> Answer:
    """Whether no such run breaks the property with so many elements (proved), or one does (refuted)."""
    reading = Few(declared.concept, size)
    induction = Induction(reading, ())
    formulas: list[Expr] = [*induction.base, reading.formula(declared.concept.initial, induction.now)]
    before: Reader = induction.now
    state: Reader = induction.now
    for action in run:
        env = reading.arguments(action)
        formulas += [reading.domain(v.sort, value) for v, value in env.items()]
        formulas.append(reading.formula(action.tested, state, env))
        before, state = state, reading.after(action, state, env)
    first, last = (before, state) if declared.kind == STEP else (state, None)
    formulas.append(reading.formula(negation(declared.condition), first, after=last))
    return satisfiable(formulas, (0,), TIMEOUT_MS).answer
