"""What shows that a proof is about something: a state to start from, and for each action a run that reaches it.

A start is asked of Z3, with all naturals: what no number satisfies is no start, though a scope may have one. A run is
searched in small scopes, those that are known first; then Z3 chooses sizes and rigid functions. Where something ranges
over naturals, the run is taken again without a greatest number (`proofs.again`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice

from model.explorer.exploration import Exploration
from model.explorer.search import explore
from model.language import Action, Concept, Premise, Property
from model.language.defined import obligations
from model.language.expectation import expectation
from model.language.nodes import FALSE, NAT, TRUE, Node, negation, quantified
from model.language.properties import ALWAYS, SOMETIMES, WELL_DEFINED
from model.language.scope import Scope
from model.language.tracing import TESTED, Ground
from model.language.walk import value as value_of
from proofs.again import is_fair_run, is_run, sees_the_greatest, some_run
from proofs.dead import dead
from proofs.few import SIZES, Few
from proofs.made_scopes import all_made
from proofs.obligations import Induction, kept
from proofs.solve import Answer, satisfiable
from proofs.unbounded import Unbounded

MEMORY_BYTES = 24 << 20  # for a search, which ends as soon as all that is wanted was seen
Key = tuple[int, tuple[Premise, ...]]


class Witnesses:
    """Starts and runs of any concepts, searched once per concept and premises."""

    def __init__(self, scopes: Sequence[Scope] = (), timeout_ms: int = 2_000) -> None:
        """Keep scopes that are known; timeout_ms bounds each question to Z3."""
        self._scopes, self._timeout_ms = scopes, timeout_ms
        self._starts: dict[Key, str] = {}
        self._begins: dict[Key, bool] = {}  # whether a few elements have a start under all premises of a concept
        self._seen: dict[Key, set[str]] = {}
        self._missed: dict[Key, set[str]] = {}
        self._most: dict[Key, dict[str, bool]] = {}  # whether a small known scope reaches an action
        self._traced: dict[tuple[int, tuple[Node, ...]], Exploration] = {}  # by a scope that is known, and the claims
        self._reaches: dict[tuple[int, Node], bool] = {}  # by a scope that is known, and what is possible

    def no_start(self, concept: Concept, given: Sequence[Premise]) -> str:
        """Say why no state is known to be initial under the premises, or ""."""
        key = (id(concept), tuple(given))
        if key not in self._starts:
            every = _all_premises(concept, given)
            most = (id(concept), every)
            if most not in self._begins:
                self._begins[most] = self._some_start(concept, every)
            self._starts[key] = "" if self._begins[most] else self._start(concept, given)
        return self._starts[key]

    def unseen(self, concept: Concept, given: Sequence[Premise], wanted: Collection[str]) -> list[str]:
        """Actions of these for which no run under the premises was found."""
        key = (id(concept), tuple(given))
        seen, missed = self._seen.setdefault(key, set()), self._missed.setdefault(key, set())
        for (other, more), found in self._seen.items():
            if other == id(concept) and set(more) >= set(given):
                seen |= found  # a run under more premises is one under these
        wanting = [name for name in sorted(wanted) if name not in seen and name not in missed]
        seen |= self._seen_under_most(concept, given, wanting)
        left = {name: kept(concept.actions[name], given) for name in wanting if name not in seen}
        found = self._search(concept, given, left) if left else set[str]()
        seen |= found
        missed |= left.keys() - found
        return [name for name in concept.actions if name in wanted and name not in seen]

    def _seen_under_most(self, concept: Concept, given: Sequence[Premise], wanted: Sequence[str]) -> set[str]:
        """Those to which a small known scope has a run under all premises of the concept that do not forbid them.

        It is a run under each of these premises, so that other sets of them need no search.
        """
        every = _all_premises(concept, given)
        most = {name: (id(concept), tuple(premise for premise in every if name not in premise.never))
                for name in wanted}
        for key in dict.fromkeys(most.values()):
            reached = self._most.setdefault(key, {})
            left = {name: kept(concept.actions[name], key[1]) for name in wanted
                    if most[name] == key and name not in reached}
            asked = [*left]
            self._strike(islice(self._known(concept, key[1], left), 2), key[1], left)
            reached |= {name: name not in left for name in asked}
        return {name for name in wanted if self._most[most[name]][name] and {*given} <= {*most[name][1]}}

    def waits(self, declared: Property) -> bool:
        """Whether a run was found under its premises that waits for the goal of a leads_to property."""
        waiting = Action("to wait", declared.parameters, (declared.when, negation(declared.condition)), (), "")
        return bool(self._search(declared.concept, declared.given, {waiting.name: waiting}))

    def fair(self, declared: Property) -> bool:
        """Whether a fair run under its premises was found, from where a leads_to property asks for its goal."""
        endless = replace(declared, condition=FALSE)
        waiting = Action("to wait", declared.parameters, (declared.when,), (), "")
        return any(self._fair(scope, declared, endless)
                   for scope in self._candidates(declared.concept, declared.given, {waiting.name: waiting}))

    def _fair(self, scope: Scope, declared: Property, endless: Property) -> bool:
        """Whether the scope has such a run, and it is one without bounds: there an action may have more arguments."""
        found = _explored(scope, [endless], until_decided=False)
        if found is None or found.outcome(endless.name) != "violated":
            return False
        fair = [declared.concept.actions[name] for name in (*declared.fair, *declared.strongly_fair)]
        again = sees_the_greatest(declared.concept, declared.given) or any(
            variable.sort.kind == NAT for action in fair for variable in action.parameters)
        return not again or is_fair_run(scope, declared, found.violations[endless.name], self._timeout_ms)

    def _search(self, concept: Concept, given: Sequence[Premise], wanted: Mapping[str, Action]) -> set[str]:
        """Names of those of the actions that some run makes possible."""
        left = dict(wanted)
        self._strike(self._known(concept, given, left), given, left)
        dying = dead(concept, given, left, self._timeout_ms) if left else set[str]()
        alive = {name: action for name, action in left.items() if name not in dying}
        self._strike(all_made(concept, given, alive, self._timeout_ms), given, alive)
        missed = {name for name, action in alive.items() if not sees_the_greatest(concept, given, action)
                  or not some_run(concept, given, action, self._timeout_ms)}
        return wanted.keys() - dying - missed

    def _strike(self, scopes: Iterator[Scope], given: Sequence[Premise], left: dict[str, Action]) -> None:
        """Take out of those left what runs of some scopes make possible."""
        for scope in scopes:
            for name in self._reached(scope, given, [one for name, one in left.items() if name not in scope.forbid]):
                del left[name]
            if not left:
                break

    def _reached(self, scope: Scope, given: Sequence[Premise], wanted: Sequence[Action]) -> set[str]:
        """Actions that runs without bounds make possible, by a search of the scope.

        The premises choose scopes and actions, they do not change a search: a scope that is known is searched once for
        each action and its guards, unless the run is taken again.
        """
        if sees_the_greatest(scope.concept, given, *wanted):
            return self._searched(scope, given, wanted, again=True)
        if not any(scope is one for one in self._scopes):
            return self._searched(scope, given, wanted, again=False)
        asked = {one.name: (id(scope), _possible(one)) for one in wanted}
        new = [one for one in wanted if asked[one.name] not in self._reaches]
        found = self._searched(scope, given, new, again=False) if new else set[str]()
        self._reaches |= {asked[one.name]: one.name in found for one in new}
        return {name for name, key in asked.items() if self._reaches[key]}

    def _searched(
        self, scope: Scope, given: Sequence[Premise], wanted: Sequence[Action], *, again: bool,
    ) -> set[str]:
        """Actions that a search of the scope finds possible; again -- whether its runs are taken without bounds.

        What only prunes a search need not hold there.
        """
        claims = [_claim(scope.concept, one, ALWAYS if again else SOMETIMES) for one in wanted]
        key = id(scope), tuple(claim.condition for claim in claims)
        known = again and any(scope is one for one in self._scopes)
        found = self._traced.get(key) if known else None
        if found is None:
            found = _explored(scope, claims, until_decided=True)
            if found is not None and WELL_DEFINED in found.violations:
                found = _explored(_sound(scope), claims, until_decided=True)
        if found is None or found.blurred:  # a step that saturation blurs may be none
            return set()
        if known:
            self._traced[key] = found
        if not again:
            return {one.name for one in wanted if found.reached[_called(one)]}
        return {one.name for one in wanted if _called(one) in found.violations
                and is_run(scope, given, found.violations[_called(one)], one, self._timeout_ms)}

    def _start(self, concept: Concept, given: Sequence[Premise]) -> str:
        if self._some_start(concept, given):
            return ""
        if (answer := self._asked(Unbounded(concept), given, concept.initial)) is Answer.REFUTED:
            return ""
        if answer is not Answer.PROVED:
            return "it is not known whether any state is initial"
        parts: list[tuple[str, Sequence[Premise], Node]] = [
            ("the initial condition contradicts itself", (), concept.initial),
            *((f"the premise {premise.name} contradicts itself", (premise,), TRUE) for premise in given),
            ("the premises contradict each other", given, TRUE)]
        return next((why for why, assumed, initial in parts
                     if self._asked(Unbounded(concept), assumed, initial) is Answer.PROVED),
                    "the premises contradict the initial condition")

    def _some_start(self, concept: Concept, given: Sequence[Premise]) -> bool:
        """Whether a few elements have an initial state; one under more premises is one under these."""
        return any(self._asked(Few(concept, size), given, concept.initial) is Answer.REFUTED for size in SIZES)

    def _asked(self, reading: Unbounded, given: Sequence[Premise], initial: Node) -> Answer:
        induction = Induction(reading, given)
        formulas = (*induction.base, reading.formula(initial, induction.now))
        return satisfiable(formulas, (0,), self._timeout_ms).answer

    def _candidates(
        self, concept: Concept, given: Sequence[Premise], left: Mapping[str, Action],
    ) -> Iterator[Scope]:
        """Scopes that keep the premises, as long as some action is left."""
        yield from self._known(concept, given, left)
        yield from all_made(concept, given, left, self._timeout_ms)

    def _known(self, concept: Concept, given: Sequence[Premise], left: Mapping[str, Action]) -> Iterator[Scope]:
        """Those that are known."""
        never = {name for premise in given for name in premise.never}
        for scope in self._scopes:
            if left.keys() - set(scope.forbid) and scope.concept is concept and never <= set(scope.forbid) \
                    and all(premise.name not in scope.breaks and value_of(premise.condition, scope, {}, {})
                            for premise in given):
                yield scope


def _all_premises(concept: Concept, given: Sequence[Premise]) -> tuple[Premise, ...]:
    """Premises of all properties of a concept, and these."""
    declared = (one for declared in concept.properties.values() for one in declared.given)
    return tuple(dict.fromkeys((*declared, *given)))


def _claim(concept: Concept, wanted: Action, kind: str) -> Property:
    """That an action is possible sometimes, or, to be refuted by a run, never."""
    condition = _possible(wanted) if kind == SOMETIMES else negation(_possible(wanted))
    return Property(_called(wanted), kind, concept, "", condition, expectation("holds"))


def _possible(wanted: Action) -> Node:
    return quantified("exists", wanted.parameters, wanted.tested)


def _called(wanted: Action) -> str:
    return f"{wanted.name} happens"


def _sound(scope: Scope) -> Scope:
    """The scope with the steps alone that are well defined: at its end another one reads 0, where no table ends."""
    made = copy(scope)
    made.concept = replace(scope.concept, actions={
        name: action if owed is TRUE else replace(
            action, guards=(*action.guards, owed), grounds=(*action.grounds, Ground(TESTED)))
        for name, action in scope.concept.actions.items() for owed in (obligations(action),)})
    return made


def _explored(scope: Scope, claims: Sequence[Property], *, until_decided: bool) -> Exploration | None:
    """Search a scope; None if no state is initial there, or too many are."""
    try:
        return explore(scope, claims, memory_bytes=MEMORY_BYTES, until_decided=until_decided,
                       findings_only=True)
    except ValueError:
        return None
