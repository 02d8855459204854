"""Rankings: why what is waited for comes at last, however many there are and however long it takes.

    @ranking("contender_gets_the_lock")
    def the_lease_runs_out(s: Abandoned) -> Rank:
        return Rank(measure=(s.broker_live - s.age, …), helpers=(helps(s.broker_live < s.age, attempt), …))

says: while the goal is waited for, the measure never rises; some helper always helps, and goes on until the measure
falls; its action can happen, and makes the measure fall. A measure falls finitely often, so a run in which no fair
action is put off for ever reaches the goal. `proofs.ranking` has the rule and what is owed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from model.language.actions import ActionFunction
from model.language.binders import bound
from model.language.misuse import misdeclared, misuse
from model.language.nodes import BOOL, FREE, NAT, TRUE, Node, SortInfo, Variable, make
from model.language.properties import LEADS_TO, Property
from model.language.state import State, signature
from model.language.tracing import free_variables, names_read, term
from model.language.values import TRUE as ALWAYS_PENDING, Bool, Nat, Term, describe

P = ParamSpec("P")
S = TypeVar("S", bound=State)


@dataclass(frozen=True, slots=True)
class Measure:
    """A part of a measure: a natural number, or 1 while a formula is true; over variables, the sum for all elements."""

    term: Node
    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Helps:
    """What a helper is declared as; `helps` makes one."""

    when: Bool
    action: ActionFunction[Any]
    arguments: tuple[Term, ...]
    way: Rank | None


@dataclass(frozen=True, slots=True)
class Rank:
    """What a ranking returns.

    measure -- naturals, formulas (1 while true), counts and totals; earlier parts count for more. helpers -- at least
    one helps whenever the goal is waited for. pending -- what is true while it is waited for, beside the lemmas.
    """

    measure: tuple[Nat | Bool | Measure, ...]
    helpers: tuple[Helps, ...]
    pending: Bool = ALWAYS_PENDING


@dataclass(frozen=True, slots=True)
class Help:
    """An instance of a fair action that makes the measure fall.

    when -- that it helps now. elements -- it may be any of theirs. way -- of a strongly fair action that is not always
    possible while it helps: why it becomes possible again and again.
    """

    action: str
    arguments: tuple[Node, ...]
    when: Node
    elements: tuple[Variable, ...] = ()
    way: Way | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """A measure, and what makes it fall; pending -- of the way to the goal, what is true as long as it is gone."""

    measure: tuple[Measure, ...]
    helpers: tuple[Help, ...]
    pending: Node = TRUE

    def counted(self) -> Iterator[SortInfo]:
        """The sorts whose elements are counted."""
        for part in self.measure:
            yield from (variable.sort.element or variable.sort for variable in part.variables)
        for helper in self.helpers:
            yield from helper.way.counted() if helper.way else ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Why a leads_to property holds."""

    name: str
    sentence: str
    way: Way

    @property
    def finitely_many(self) -> list[str]:
        """Free sorts of which it is assumed that there are finitely many elements, however many."""
        return sorted({sort.name for sort in self.way.counted() if sort.kind == FREE})


def helps(when: Bool, action: ActionFunction[Any], *arguments: Term, way: Rank | None = None) -> Helps:
    """Say when an instance of a fair action makes the measure fall.

    arguments -- of the action: parameters of the ranking (then whichever satisfy `when` help) and constants. way -- of
    a strongly fair action: another measure, which leads to where it can happen.
    """
    return Helps(when, action, arguments, way)


def count(formulas: Iterator[Bool]) -> Measure:
    """Give the number of elements that satisfy a formula: `count(formula for m in every(Member))`."""
    variables, body = bound("count", formulas)
    if not isinstance(body, Bool):
        raise misuse(f"the body of count is {describe(body)}", "give a formula, or write total(...)")
    return _summed("count", variables, body)


def total(numbers: Iterator[Nat]) -> Measure:
    """Give the sum over all elements: `total(s.left[m] for m in every(Member))`."""
    variables, body = bound("total", numbers)
    if not isinstance(body, Nat):
        raise misuse(f"the body of total is {describe(body)}", "give a natural number, or write count(...)")
    return _summed("total", variables, body)


def _summed(name: str, variables: tuple[Variable, ...], body: Term) -> Measure:
    for variable in variables:
        if variable.sort.kind == NAT:
            raise misuse(f"{name} over all {variable.sort.name}, which are infinitely many",
                         "range over free sorts and choices: of them there are finitely many")
    return Measure(body.node, variables)


def ranking(declared: str) -> Callable[[Callable[Concatenate[S, P], Rank]], Callable[Concatenate[S, P], Rank]]:
    """Declare why a leads_to property of the concept holds.

    declared -- its name. The parameters of the property come first; the others are elements of helpers.
    """
    def declare(body: Callable[Concatenate[S, P], Rank]) -> Callable[Concatenate[S, P], Rank]:
        owner, names, sorts = signature(body)
        about = owner.concept.properties.get(declared)
        if about is None or about.kind != LEADS_TO:
            known = ", ".join(p.name for p in owner.concept.properties.values() if p.kind == LEADS_TO) or "none"
            raise misuse(f"{owner.concept.name} has no @leads_to {declared!r}", f"it has {known}",
                         f"ranking({declared!r})", body.__name__)
        if declared in owner.concept.rankings:
            raise misuse(f"{declared} has a ranking already", "declare one", f"ranking({declared!r})", body.__name__)
        if [sort.info for sort in sorts[:len(about.parameters)]] != [v.sort for v in about.parameters]:
            wanted = ", ".join(f"{v.name}: {v.sort.name}" for v in about.parameters)
            raise misdeclared(body, f"{declared} is about ({wanted})", "let the same parameters come first")
        others = [Variable(sort.info, name) for name, sort in zip(names, sorts, strict=True)][len(about.parameters):]
        elements = (*about.parameters, *others)
        terms: list[Any] = [sort(make("var", v.sort, payload=v)) for v, sort in zip(elements, sorts, strict=True)]
        returned = body(owner(), *terms)  # type: ignore[call-arg, arg-type]
        sentence = " ".join((body.__doc__ or "").split())
        way = _Traced(body, about, elements).way(returned, frozenset(about.parameters))
        owner.concept.rankings[declared] = Ranking(body.__name__, sentence, way)
        return body

    return declare


class _Traced:
    """Checks what a ranking returned, and takes its terms."""

    def __init__(self, body: Callable[..., Any], about: Property, elements: tuple[Variable, ...]) -> None:
        self.body, self.about, self.elements = body, about, elements

    def way(self, rank: object, fixed: frozenset[Variable]) -> Way:
        """Terms of a rank; fixed -- variables that have their elements already."""
        if not (isinstance(rank, Rank) and isinstance(rank.measure, tuple) and isinstance(rank.helpers, tuple)):
            raise misdeclared(self.body, "a ranking returns a Rank of two tuples",
                              "return Rank(measure=(…,), helpers=(helps(…),))")
        if not rank.helpers:
            raise misdeclared(self.body, "nothing helps", "name the fair actions that make the measure fall")
        measure = tuple(self._measure(part, fixed) for part in rank.measure)
        helpers = tuple(self._helper(one, fixed) for one in rank.helpers)
        return Way(measure, helpers, self._term(rank.pending, Bool, fixed))

    def _measure(self, part: object, fixed: frozenset[Variable]) -> Measure:
        if isinstance(part, Measure):
            self._inside(part.term, {*fixed, *part.variables})
            return part
        if not (isinstance(part, Term) and part.node.sort.kind in (BOOL, NAT)):
            raise misdeclared(self.body, f"{describe(part)} is no measure",
                              "give a natural number, a formula, count(...) or total(...)")
        return Measure(self._inside(part.node, fixed))

    def _helper(self, one: Helps, fixed: frozenset[Variable]) -> Help:
        action = one.action.traced
        self._check_action(one)
        if [a.node.sort if isinstance(a, Term) else None for a in one.arguments] != [v.sort for v in action.parameters]:
            wanted = ", ".join(f"{v.name}: {v.sort.name}" for v in action.parameters)
            raise misdeclared(self.body, f"{action.name} takes ({wanted})", "give one term each")
        arguments = tuple(self._term(argument, Term, self.elements) for argument in one.arguments)
        if varying := sorted(set[str]().union(*map(names_read, arguments))):
            raise misdeclared(self.body, f"an argument of {action.name} reads {varying[0]}, which changes",
                              "add a parameter to the ranking, and say in `when` that it is equal to that")
        when = self._term(one.when, Bool, self.elements)
        used = free_variables(when).union(*map(free_variables, arguments))
        elements = tuple(v for v in self.elements if v in used and v not in fixed)
        return Help(action.name, arguments, when, elements, self._inner(one.way, fixed.union(elements)))

    def _inner(self, rank: Rank | None, fixed: frozenset[Variable]) -> Way | None:
        if rank is not None and rank.pending is not ALWAYS_PENDING:
            raise misdeclared(self.body, "a way says what is pending", "say it once, of the whole ranking")
        return None if rank is None else self.way(rank, fixed)

    def _check_action(self, one: Helps) -> None:
        name, about = one.action.traced.name, self.about
        if about.concept.actions.get(name) is not one.action.traced:
            raise misdeclared(self.body, f"{about.concept.name} does not have this action {name}",
                              f"it has {', '.join(about.concept.actions)}", name)
        if name not in (*about.fair, *about.strongly_fair):
            raise misdeclared(self.body, f"{name} may be put off for ever: it is not fair",
                              f"let {about.name} say that it is", name)
        if one.way is not None and name not in about.strongly_fair:
            raise misdeclared(self.body, f"{name} is not strongly_fair: who cannot happen for a while may never happen",
                              "leave its way out, or make it strongly_fair", name)
        if name in about.until_quiet:
            raise misdeclared(self.body, f"{name} ceases (until_quiet), and helps nobody then",
                              "name another helper", name)
        for premise in about.given:
            if name in premise.never:
                raise misdeclared(self.body, f"{name} never happens under the premise {premise.name}",
                                  "name another helper", name)

    def _term(self, value: object, kind: type[Term], visible: frozenset[Variable] | tuple[Variable, ...]) -> Node:
        if not isinstance(value, kind):
            raise misdeclared(self.body, f"{describe(value)} is no {kind.__name__}", "give a term of that sort")
        return self._inside(value.node, visible)

    def _inside(self, node: Node, visible: frozenset[Variable] | set[Variable] | tuple[Variable, ...]) -> Node:
        return term(node, self.body, self.about.concept, visible)
