"""Small scopes in which runs are looked for: Z3 chooses the rigid functions under which an action may happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from model.language import Action, Concept, Premise
from model.language.nodes import NAT
from model.language.scope import Scope
from model.language.values import Term
from proofs.enumerated import Enumerated, values
from proofs.obligations import Induction
from proofs.solve import satisfiable

SMALL = ((2, 4), (2, 6), (3, 4), (4, 4), (1, 12), (2, 12), (3, 12), (5, 6))  # elements, naturals: scopes for runs
DRAWS = 3  # choices of rigid functions for each action and size


def all_made(
    concept: Concept, given: Sequence[Premise], left: Mapping[str, Action], timeout_ms: int,
) -> Iterator[Scope]:
    """Scopes of small sizes, each once, as long as some action is left; timeout_ms bounds each question to Z3."""
    sizes = [{name: naturals if info.kind == NAT else elements for name, info in concept.sorts.items()}
             for elements, naturals in SMALL]
    for place, size in enumerate(sizes):
        if left and size not in sizes[:place]:
            yield from _made(concept, given, size, left, timeout_ms)


def _made(
    concept: Concept, given: Sequence[Premise], sizes: Mapping[str, int], left: Mapping[str, Action],
    timeout_ms: int,
) -> Iterator[Scope]:
    """Scopes with rigid functions under which some action of those left may happen, and some state is initial."""
    never = sorted({name for premise in given for name in premise.never})
    tried: set[tuple[int, ...]] = set()
    for name in sorted(left):
        for draw in range(DRAWS):
            if name not in left:
                break
            rigid = _rigid(concept, given, sizes, left[name], draw, timeout_ms)
            if rigid is None:
                break
            drawn = tuple(number for table in rigid.values() for number in table.values())
            if drawn not in tried:
                tried.add(drawn)
                yield _scope(concept, sizes, rigid, never, given)


def _rigid(
    concept: Concept, given: Sequence[Premise], sizes: Mapping[str, int], action: Action, seed: int,
    timeout_ms: int,
) -> dict[str, dict[tuple[int, ...], int]] | None:
    reading = Enumerated(concept, sizes)
    induction = Induction(reading, given)
    first = (*reading.well_formed("first"), reading.formula(concept.initial, reading.state("first")))
    asked = (*induction.states(induction.lemmas), *first, *induction.enabled(action))
    model = satisfiable(asked, (seed,), timeout_ms).model
    if model is None:
        return None
    return {info.name: dict(values(reading, "rigid", info, model))
            for info in concept.variables.values() if info.rigid}


def _scope(
    concept: Concept, sizes: Mapping[str, int], rigid: Mapping[str, Mapping[tuple[int, ...], int]],
    never: Sequence[str], given: Sequence[Premise],
) -> Scope:
    """A scope that keeps the promises among these premises and no others."""
    spoken: dict[str, dict[object, object]] = {}
    for name, table in rigid.items():
        info = concept.variables[name]
        keys = [tuple(map(Scope.value, info.keys, numbers)) for numbers in table]
        spoken[name] = {key[0] if len(key) == 1 else key: Scope.value(info.value, number)
                        for key, number in zip(keys, table.values(), strict=True)}
    named: dict[type[Term] | str, int] = dict(sizes.items())
    promised = frozenset[str]().union(*(action.promises for action in concept.actions.values()))
    broken = promised.difference(premise.name for premise in given)
    return Scope(concept, named, spoken, forbid=never, breaks=sorted(broken))
