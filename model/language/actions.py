"""Actions: the steps of a concept, traced once, when they are defined."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from model.language import nodes, tracing
from model.language.misuse import misdeclared, misuse
from model.language.nodes import Node, Variable, make
from model.language.state import State, refuse_heirs, signature
from model.language.tracing import PROMISED, TESTED, Assignment, Ground, Trace, formula
from model.language.values import Bool

P = ParamSpec("P")
S = TypeVar("S", bound=State)


@dataclass(frozen=True, slots=True)
class Action:
    """A traced action.

    parameters -- nondeterministic choices, in order.
    guards -- what RocketMQ tests and what is promised, conjunct by conjunct. grounds -- of each guard, why it is one.
    assignments -- in the order of writing; a later one wins. What is not assigned keeps its value.
    cite -- RocketMQ class and method. environment -- whether the world does it. atomic_by -- the lock or the thread
    that makes it one step. flow -- names of the parameters that send and receive, for sequence diagrams.
    search_only -- what only prunes a search; a monitor drops it.
    """

    name: str
    parameters: tuple[Variable, ...]
    guards: tuple[Node, ...]
    assignments: tuple[Assignment, ...]
    cite: str
    sentence: str = ""
    environment: bool = False
    atomic_by: str = ""
    flow: tuple[str, str] | None = None
    search_only: tuple[Node, ...] = ()
    grounds: tuple[Ground, ...] = ()

    def __post_init__(self) -> None:
        """Guards of which nothing is said are tested, it is not known where."""
        if len(self.grounds) != len(self.guards):
            object.__setattr__(self, "grounds", (Ground(TESTED),) * len(self.guards))

    def keeping(self, premises: Collection[str] = ()) -> Action:
        """The action without the guards that only other premises than these promise."""
        return self.breaking(self.promises.difference(premises))

    def breaking(self, premises: Collection[str]) -> Action:
        """The action without the guards that these premises promise."""
        kept = [(guard, ground) for guard, ground in zip(self.guards, self.grounds, strict=True)
                if ground.kind != PROMISED or ground.by not in premises]
        if len(kept) == len(self.guards):
            return self
        return replace(self, guards=tuple(guard for guard, _ in kept), grounds=tuple(ground for _, ground in kept))

    @property
    def promises(self) -> frozenset[str]:
        """Names of the premises that promise a guard."""
        return frozenset(ground.by for ground in self.grounds if ground.kind == PROMISED)

    @property
    def tested(self) -> Node:
        """All guards as one formula: what proofs and monitors go by."""
        return nodes.conjunction(*self.guards)

    @property
    def guard(self) -> Node:
        """All guards and prunings as one formula."""
        return nodes.conjunction(*self.guards, *self.search_only)


class ActionFunction(Generic[P]):
    """A declared action; called inside another action's body it becomes part of that step."""

    def __init__(self, body: Callable[P, None], traced: Action) -> None:
        """Keep the body for joint actions."""
        self.body, self.traced = body, traced
        self.__name__, self.__doc__ = traced.name, body.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Take part in the step of the action that is being traced."""
        if not tracing.tracing():
            raise misuse("an action is called outside an action", "judges run actions; a joint action calls them")
        self.body(*args, **kwargs)


def action(
    cite: str, *, environment: bool = False, atomic_by: str = "", flow: str = "",
) -> Callable[[Callable[Concatenate[S, P], None]], ActionFunction[Concatenate[S, P]]]:
    """Declare an action of the State class that the first parameter names.

    cite -- the RocketMQ class and method that it stands for.
    environment -- done by the world (crash, loss, time), not by RocketMQ.
    atomic_by -- the lock or the thread that makes it one step.
    flow -- "m -> b": the parameters between which a message flows, for sequence diagrams.
    """
    if not isinstance(cite, str):
        raise misuse("@action without what it stands for", 'write @action("Class#method")', "@action")

    def declare(body: Callable[Concatenate[S, P], None]) -> ActionFunction[Concatenate[S, P]]:
        owner, names, sorts = signature(body)
        parameters = tuple(Variable(sort.info, name) for name, sort in zip(names, sorts, strict=True))
        arguments = [sort(make("var", v.sort, payload=v)) for v, sort in zip(parameters, sorts, strict=True)]
        trace = _run(body, owner, parameters, arguments)
        traced = Action(
            body.__name__, parameters, tuple(trace.guards), tuple(trace.assignments), cite,
            " ".join((body.__doc__ or "").split()), environment, atomic_by,
            _flow(body, flow, names), tuple(trace.search_only), tuple(trace.grounds))
        if traced.name in owner.concept.actions:
            raise misdeclared(body, f"{owner.concept.name} already has an action {traced.name}", "rename one")
        refuse_heirs(body, owner.concept)
        owner.concept.actions[traced.name] = traced
        return ActionFunction(body, traced)

    return declare


def _run(
    body: Callable[..., Any], owner: type[State], parameters: tuple[Variable, ...], arguments: list[Any],
) -> Trace:
    trace = tracing.begin(owner.concept, parameters)
    try:
        result = body(owner(), *arguments)
    finally:
        tracing.end()
    if result is not None:
        raise misdeclared(body, "an action returns nothing", "state require(...) and assignments")
    if trace.loops.left_early is not None:
        raise trace.loops.left_early
    if not trace.assignments:
        raise misdeclared(body, "an action without an assignment does nothing", "state what it changes")
    return trace


def _flow(body: Callable[..., Any], flow: str, names: list[str]) -> tuple[str, str] | None:
    if not flow:
        return None
    sender, _, receiver = (part.strip() for part in flow.partition("->"))
    if sender not in names or receiver not in names:
        raise misuse(f"it does not name two parameters of the action ({', '.join(names)})", 'write flow="a -> b"',
                     f"flow={flow!r}", body.__name__)
    return sender, receiver


def initially(condition: Callable[[S], Bool]) -> Callable[[S], Bool]:
    """Declare the initial condition; several are conjoined."""
    owner, names, _ = signature(condition)
    if names:
        raise misdeclared(condition, "the initial condition has no parameters",
                          "write forall(... for x in every(Sort))", names[0])
    refuse_heirs(condition, owner.concept)
    traced = formula(condition(owner()), condition, owner.concept)  # type: ignore[arg-type]
    owner.concept.initial = nodes.conjunction(owner.concept.initial, traced)
    return condition


def without_guard(traced: Action, number: int) -> Action:
    """Return the action without its guard of that number (0 is the first): a mutation."""
    left = [i for i in range(len(traced.guards)) if i != number]
    return replace(traced, guards=tuple(traced.guards[i] for i in left),
                   grounds=tuple(traced.grounds[i] for i in left))


def without_condition(traced: Action, variable: str) -> Action:
    """Return the action that always takes the first branch of the `ite` that it assigns to a variable: a mutation."""
    def take(assignment: Assignment) -> Assignment:
        value = assignment.value
        if assignment.variable != variable or value is None or value.op != "ite":
            return assignment
        return replace(assignment, value=value.args[1])

    return replace(traced, assignments=tuple(map(take, traced.assignments)))


def without_assignment(traced: Action, variable: str) -> Action:
    """Return the action without its assignments to a variable: a mutation."""
    return replace(traced, assignments=tuple(a for a in traced.assignments if a.variable != variable))
