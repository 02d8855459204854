"""Promises: premises about steps, which whoever runs the system keeps, and which are guards of the actions in question.

    @promise
    def answers_come_in_time(s: OrderLock, by: Ms) -> Bool:
        '''An answer is on its way for at most rpc_max.'''
        return forall(s.granted[c].implies(s.wait[c] + by <= s.rpc_max) for c in every(Client))

    @action("time", environment=True)
    def elapse(s: OrderLock, by: Ms) -> None:
        assume(answers_come_in_time, s, by)

A proof has the guard only if the promise is one of its premises; a search has it unless its scope breaks the promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, ParamSpec

from model.language import tracing
from model.language.nodes import TRUE, Node, Variable, make
from model.language.properties import Premise
from model.language.state import signature
from model.language.tracing import formula
from model.language.values import Bool

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Promise(Premise, Generic[P]):
    """A premise about steps.

    meaning -- what must be true before a step, over the parameters of the function that declares it.
    """

    meaning: Node = TRUE
    body: Callable[P, Bool] | None = field(default=None, repr=False, compare=False)

    @property
    def of_steps(self) -> bool:
        """It is."""
        return True


def promise(condition: Callable[P, Bool]) -> Promise[P]:
    """Declare what is promised of the steps that assume it; the docstring says it in one sentence."""
    owner, names, sorts = signature(condition)
    variables = [Variable(sort.info, name) for name, sort in zip(names, sorts, strict=True)]
    arguments = [sort(make("var", v.sort, payload=v)) for v, sort in zip(variables, sorts, strict=True)]
    result = condition(owner(), *arguments)  # type: ignore[call-arg, arg-type]
    meaning = formula(result, condition, owner.concept, tuple(variables))
    sentence = " ".join((condition.__doc__ or "").split())
    return Promise(condition.__name__, sentence, meaning=meaning, body=condition)


def assume(promised: Promise[P], *args: P.args, **kwargs: P.kwargs) -> None:
    """State that a promise keeps the step from happening elsewhere."""
    assert promised.body is not None  # noqa: S101 - narrows for mypy
    tracing.promised(promised, promised.body(*args, **kwargs))
