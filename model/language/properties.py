"""Properties: what is promised of a concept, each declared once, as a term."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from model.language import nodes
from model.language.expectation import Expectation, expectation
from model.language.misuse import misdeclared, misuse
from model.language.mutations import Mutation
from model.language.nodes import Node, Variable, make
from model.language.state import Concept, State, signature
from model.language.tracing import formula, names_read
from model.language.values import Bool

P = ParamSpec("P")
S = TypeVar("S", bound=State)

ALWAYS, STEP, SOMETIMES, LEADS_TO, LEMMA = "always", "step", "sometimes", "leads_to", "lemma"
WELL_DEFINED, NEVER_STUCK, PINNED = "well_defined", "never_stuck", "state_space_is_pinned"
OF_A_SCOPE = (WELL_DEFINED, NEVER_STUCK, PINNED)
"""What a search says of each scope, beside the properties."""
NEEDED = "_is_needed"
"""How a row ends that says that a premise is needed."""


@dataclass(frozen=True, slots=True)
class Premise:
    """Something that a proof or a search may assume.

    condition -- a formula over constants and rigid functions. never -- actions that do not happen.
    """

    name: str
    sentence: str
    condition: Node = nodes.TRUE
    never: tuple[str, ...] = ()

    @property
    def of_steps(self) -> bool:
        """Whether it is a guard of the actions that assume it."""
        return False


@dataclass(frozen=True, slots=True)
class Property:
    """A declared property.

    kind -- always (every state), step (before, after), sometimes (reachable), leads_to (liveness), lemma (every state;
    supports proofs). condition -- the formula; for leads_to the goal. when -- for leads_to what must lead to the goal.
    parameters -- of leads_to: it is said of all of their elements, each by itself.
    expected -- on RocketMQ 4.9.3 as shipped, without the premises if it is violated there.
    given -- premises under which it holds. fair, strongly_fair -- actions that may not be put off for ever.
    until_quiet -- actions that have ceased when leads_to is judged. broken_by -- mutations that make it fail.
    excludes -- actions that can never happen under the premises, which is proved. promised_by -- who promises it.
    search_only -- why no proof without bounds is claimed, or "".
    """

    name: str
    kind: str
    concept: Concept
    sentence: str
    condition: Node
    expected: Expectation
    when: Node = nodes.TRUE
    parameters: tuple[Variable, ...] = ()
    given: tuple[Premise, ...] = ()
    fair: tuple[str, ...] = ()
    strongly_fair: tuple[str, ...] = ()
    until_quiet: tuple[str, ...] = ()
    broken_by: tuple[Mutation, ...] = ()
    excludes: tuple[str, ...] = ()
    promised_by: str = ""
    search_only: str = ""


def always(
    shipped: str, *, given: tuple[Premise, ...] = (), broken_by: tuple[Mutation, ...] = (),
    excludes: tuple[str, ...] = (), promised_by: str = "", search_only: str = "",
) -> Callable[[Callable[[S], Bool]], Callable[[S], Bool]]:
    """Declare what is true in every reachable state.

    shipped -- "holds", or "violated: HAZARD, …", on RocketMQ 4.9.3 as shipped. given -- premises under which it holds.
    broken_by -- mutations that its judges must notice. excludes -- actions that can never happen under the premises:
    that is proved, and all others must happen in some run. promised_by -- who promises it ("the documentation of …").
    search_only -- why it is not proved without bounds.
    """
    _check_shipped(shipped, "@always")

    def declare(condition: Callable[[S], Bool]) -> Callable[[S], Bool]:
        owner, traced = _traced(condition)
        _register(owner, condition, ALWAYS, traced, shipped, given=given, broken_by=broken_by, excludes=excludes,
                  promised_by=promised_by, search_only=search_only)
        return condition

    return declare


def lemma(condition: Callable[[S], Bool]) -> Callable[[S], Bool]:
    """Declare an invariant that supports proofs; it is proved and explored like the properties."""
    owner, traced = _traced(condition)
    _register(owner, condition, LEMMA, traced, "holds")
    return condition


def lemma_given(
    *given: Premise, excludes: tuple[str, ...] = (),
) -> Callable[[Callable[[S], Bool]], Callable[[S], Bool]]:
    """Declare an invariant that supports proofs under premises; excludes -- as for always."""
    def declare(condition: Callable[[S], Bool]) -> Callable[[S], Bool]:
        owner, traced = _traced(condition)
        _register(owner, condition, LEMMA, traced, "holds", given=given, excludes=excludes)
        return condition

    return declare


def sometimes(condition: Callable[[S], Bool]) -> Callable[[S], Bool]:
    """Declare what must be reachable: a guard against vacuity."""
    owner, traced = _traced(condition)
    _register(owner, condition, SOMETIMES, traced, "holds")
    return condition


def step(
    shipped: str, *, given: tuple[Premise, ...] = (), broken_by: tuple[Mutation, ...] = (),
    excludes: tuple[str, ...] = (), promised_by: str = "", search_only: str = "",
) -> Callable[[Callable[[S, S], Bool]], Callable[[S, S], Bool]]:
    """Declare what is true of every step, as a formula over the state before and after; arguments as for always."""
    _check_shipped(shipped, "@step")

    def declare(condition: Callable[[S, S], Bool]) -> Callable[[S, S], Bool]:
        owner = _owner(condition, states=2)
        result = condition(owner("before"), owner("after"))  # type: ignore[arg-type]
        _register(owner, condition, STEP, formula(result, condition, owner.concept), shipped, given=given,
                  broken_by=broken_by, excludes=excludes, promised_by=promised_by, search_only=search_only)
        return condition

    return declare


def leads_to(  # noqa: PLR0913 - each is said by name
    shipped: str, *, fair: tuple[str, ...] = (), strongly_fair: tuple[str, ...] = (), until_quiet: tuple[str, ...] = (),
    given: tuple[Premise, ...] = (), broken_by: tuple[Mutation, ...] = (), excludes: tuple[str, ...] = (),
    promised_by: str = "",
) -> Callable[[Callable[Concatenate[S, P], tuple[Bool, Bool]]], Callable[Concatenate[S, P], tuple[Bool, Bool]]]:
    """Declare that the first formula leads to the second, for each choice of elements for the parameters.

    fair -- actions that happen when they stay enabled. strongly_fair -- … when they are enabled again and again.
    until_quiet -- actions that happen finitely often; what is reached with them is still a start. Others as for always.
    A `ranking` makes it provable without bounds.
    """
    _check_shipped(shipped, "@leads_to")

    def declare(
        condition: Callable[Concatenate[S, P], tuple[Bool, Bool]],
    ) -> Callable[Concatenate[S, P], tuple[Bool, Bool]]:
        owner, names, sorts = signature(condition)
        parameters = tuple(Variable(sort.info, name) for name, sort in zip(names, sorts, strict=True))
        elements: list[Any] = [sort(make("var", v.sort, payload=v)) for v, sort in zip(parameters, sorts, strict=True)]
        both = condition(owner(), *elements)  # type: ignore[call-arg, arg-type]
        if not (isinstance(both, tuple) and len(both) == 2):  # noqa: PLR2004 - what leads, and to what
            raise misdeclared(condition, "leads_to needs two formulas", "return what_leads, what_follows")
        when, then = both
        for role, listed in (("fair", fair), ("strongly_fair", strongly_fair), ("until_quiet", until_quiet)):
            _check_actions(owner.concept, condition.__name__, role, listed)
        _register(owner, condition, LEADS_TO, formula(then, condition, owner.concept, parameters), shipped,
                  when=formula(when, condition, owner.concept, parameters), parameters=parameters, fair=fair,
                  strongly_fair=strongly_fair, until_quiet=until_quiet, given=given, broken_by=broken_by,
                  excludes=excludes, promised_by=promised_by)
        return condition

    return declare


def premise(condition: Callable[[S], Bool]) -> Premise:
    """Declare an assumption about constants and rigid functions."""
    _, traced = _traced(condition)
    varying = names_read(traced)
    if varying:
        raise misdeclared(condition, f"a premise reads the variable {min(varying)}",
                          "read constants and rigid functions only; what is true of states is a property")
    return Premise(condition.__name__, " ".join((condition.__doc__ or "").split()), traced)


def never(*actions: str, because: str, name: str = "") -> Premise:
    """Return the premise that some actions do not happen; because says it in one sentence, name in short."""
    return Premise(name or "never_" + "_".join(actions), because, never=actions)


def _owner(condition: Callable[..., object], states: int = 1) -> type[State]:
    owner, names, _ = signature(condition, states)
    if names:
        raise misdeclared(condition, "a property has no parameters", "write forall(... for x in every(Sort))", names[0])
    return owner


def _traced(condition: Callable[[S], Bool]) -> tuple[type[State], Node]:
    """The class and the formula of a condition over one state."""
    owner = _owner(condition)
    return owner, formula(condition(owner()), condition, owner.concept)  # type: ignore[arg-type]


def _check_shipped(shipped: object, decorator: str) -> None:
    """A decorator without its brackets would take the property for the text, and lose it."""
    if not isinstance(shipped, str):
        raise misuse(f"{decorator} without what is expected", f'write {decorator}("holds")', decorator)


def _expected(shipped: str, name: str) -> Expectation:
    try:
        return expectation(shipped)
    except ValueError:
        raise misuse("it says neither that the property holds nor which hazards break it",
                     'write "holds", or "violated: D1 in words, B-7"', f"shipped={shipped!r}", name) from None


def _register(owner: type[State], function: Callable[..., object], kind: str, condition: Node, shipped: str,
              **options: object) -> None:
    name, concept = function.__name__, owner.concept
    sentence = " ".join((function.__doc__ or name.replace("_", " ")).split())
    if name in concept.properties:
        raise misdeclared(function, f"{concept.name} already has a property {name}", "rename one", f"def {name}")
    if name in OF_A_SCOPE or name.endswith(NEEDED):
        raise misdeclared(function, f"the judges have a row {name} of their own", "rename the property", f"def {name}")
    expected = _expected(shipped, name)
    declared = Property(name, kind, concept, sentence, condition, expected, **options)  # type: ignore[arg-type]
    for mutation in declared.broken_by:
        _check_mutation(concept, name, mutation)
    _check_actions(concept, name, "excludes", declared.excludes)
    for assumed in declared.given:
        _check_actions(concept, name, "given", assumed.never)
        _check_promise(concept, name, assumed)
    concept.properties[name] = declared


def _check_actions(concept: Concept, name: str, role: str, actions: tuple[str, ...]) -> None:
    for action in actions:
        if action not in concept.actions:
            raise misuse(f"{concept.name} has no action {action!r}", f"it has {', '.join(concept.actions) or 'none'}",
                         f"{role}={action!r}", name)


def _check_promise(concept: Concept, name: str, assumed: Premise) -> None:
    """A premise about steps is one that some step of the concept assumes."""
    known = sorted(frozenset[str]().union(*(action.promises for action in concept.actions.values())))
    if assumed.of_steps and assumed.name not in known:
        raise misuse(f"no action of {concept.name} assumes {assumed.name}",
                     f"give one of {', '.join(known)}" if known else "write assume(…) in an action",
                     f"given={assumed.name}", name)
    if assumed.of_steps and concept.promises.get(assumed.name) is not assumed:
        raise misuse(f"the actions of {concept.name} assume another promise {assumed.name}", "rename one",
                     f"given={assumed.name}", name)


def _check_mutation(concept: Concept, name: str, mutation: Mutation) -> None:
    _check_actions(concept, name, "broken_by", (mutation.action,))
    traced = concept.actions[mutation.action]
    if mutation.guard is not None and not 0 <= mutation.guard < len(traced.guards):
        raise misuse(f"{mutation.action} has {len(traced.guards)} guards", "count them from 0", f"broken_by={mutation}",
                     name)
    if mutation.applied(traced) == traced:
        raise misuse("the mutation changes nothing", f"name what {mutation.action} assigns", f"broken_by={mutation}",
                     name)
