"""Runs: the evidence that a premise is needed, for every choice of constants that breaks it.

    @tight("one_live_believer", leases_fit)
    def the_answer_takes_too_long(s: OrderLock, a: Client, b: Client) -> Steps:
        return (grant, a), (elapse, s.rpc_max), (answer, a), …

says: whatever the constants are, if `leases_fit` is false, these steps can be taken from the start by any two clients
and end in a state that violates the property. So the property holds if and only if the premise does (as far as it
speaks of those constants).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from model.language.actions import ActionFunction
from model.language.misuse import misdeclared, misuse
from model.language.nodes import Node, Variable, make
from model.language.properties import ALWAYS, STEP, Premise, Property
from model.language.state import State, signature
from model.language.tracing import names_read
from model.language.values import Term

P = ParamSpec("P")
S = TypeVar("S", bound=State)
Steps = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A run that breaks a property whenever a premise is false.

    elements -- distinct elements that take part. steps -- (action, arguments over the elements and the constants).
    where -- further assumptions about the constants.
    """

    name: str
    sentence: str
    property: str
    premise: Premise
    where: tuple[Premise, ...]
    elements: tuple[Variable, ...]
    steps: tuple[tuple[str, tuple[Node, ...]], ...]


def tight(
    declared: str, premise: Premise, *, where: tuple[Premise, ...] = (),
) -> Callable[[Callable[Concatenate[S, P], Steps]], Callable[Concatenate[S, P], Steps]]:
    """Declare a run of the concept that the first parameter names.

    declared -- name of a property of states or steps. premise -- one of those under which it holds, and what is false
    here. where -- further assumptions about the constants.
    """
    def declare(body: Callable[Concatenate[S, P], Steps]) -> Callable[Concatenate[S, P], Steps]:
        owner, names, sorts = signature(body)
        about = owner.concept.properties.get(declared)
        if about is None:
            known = ", ".join(owner.concept.properties) or "none"
            raise misuse(f"{owner.concept.name} has no property {declared!r}", f"it has {known}",
                         f"tight({declared!r})", body.__name__)
        _check_premises(body, about, premise, where)
        elements = tuple(Variable(sort.info, name) for name, sort in zip(names, sorts, strict=True))
        terms: list[Any] = [sort(make("var", v.sort, payload=v)) for v, sort in zip(elements, sorts, strict=True)]
        steps = tuple(_step(body, step, about) for step in body(owner(), *terms))  # type: ignore[call-arg, arg-type]
        if not steps:
            raise misdeclared(body, "a run without a step breaks nothing", "return (action, argument, …), …")
        sentence = " ".join((body.__doc__ or "").split())
        owner.concept.runs[body.__name__] = Run(body.__name__, sentence, declared, premise, where, elements, steps)
        return body

    return declare


def _check_premises(body: Callable[..., Any], about: Property, premise: Premise, where: tuple[Premise, ...]) -> None:
    """A run negates a condition under which the property holds, and assumes conditions only."""
    if about.kind not in (ALWAYS, STEP):
        raise misdeclared(body, f"{about.name} is no property of states or steps",
                          "show that a premise of an @always or a @step is needed", about.name)
    if premise not in about.given:
        raise misdeclared(body, f"{about.name} does not need {premise.name}",
                          f"give one of its premises: {', '.join(p.name for p in about.given) or 'it has none'}",
                          premise.name)
    for one in (premise, *where):
        if one.condition.op == "const":
            raise misdeclared(body, f"{one.name} says nothing about constants, so it has no negation",
                              "show by a search that an action breaks the property", one.name)


def _check_action(body: Callable[..., Any], function: ActionFunction[Any], about: Property) -> None:
    """A run takes actions of the concept, none that another premise of the property forbids."""
    name = function.traced.name
    if about.concept.actions.get(name) is not function.traced:
        raise misdeclared(body, f"{about.concept.name} does not have this action {name}",
                          f"it has {', '.join(about.concept.actions)}", name)
    for assumed in about.given:
        if name in assumed.never:
            raise misdeclared(body, f"{name} never happens under the premise {assumed.name}",
                              "break the property without it", name)


def _step(body: Callable[..., Any], step: Any, about: Property) -> tuple[str, tuple[Node, ...]]:
    if not (isinstance(step, tuple) and step and isinstance(step[0], ActionFunction)):
        raise misdeclared(body, "a step is none of the concept's actions with its arguments",
                          "return (action, argument, …), (action, argument, …), …")
    function, *arguments = step
    _check_action(body, function, about)
    parameters = function.traced.parameters
    if [a.node.sort if isinstance(a, Term) else None for a in arguments] != [v.sort for v in parameters]:
        wanted = ", ".join(f"{v.name}: {v.sort.name}" for v in parameters)
        raise misdeclared(body, f"{function.traced.name} takes ({wanted})", "give one term each")
    nodes = tuple(argument.node for argument in arguments)
    for node in nodes:
        if names_read(node):
            raise misdeclared(body, f"an argument of {function.traced.name} reads the state",
                              "use elements and constants")
    return function.traced.name, nodes
