"""Mutations: changes of a model that a property must notice, each of one action."""

from __future__ import annotations

from dataclasses import dataclass

from model.language.actions import Action, without_assignment, without_condition, without_guard


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of one action that makes a property fail: the evidence that its judges can see.

    guard -- number of the guard to drop, or None. variable -- variable whose assignments are dropped, or None.
    unconditional -- variable whose assigned `ite` always takes its first branch, or None.
    """

    action: str
    guard: int | None = None
    variable: str | None = None
    unconditional: str | None = None

    def __str__(self) -> str:
        """As people say it."""
        if self.unconditional is not None:
            return f"{self.action} without the condition for {self.unconditional}"
        what = f"guard {self.guard}" if self.guard is not None else f"the assignment of {self.variable}"
        return f"{self.action} without {what}"

    def applied(self, traced: Action) -> Action:
        """Return the action, changed if the mutation is one of it."""
        if traced.name != self.action:
            return traced
        if self.guard is not None:
            return without_guard(traced, self.guard)
        if self.unconditional is not None:
            return without_condition(traced, self.unconditional)
        return without_assignment(traced, self.variable or "")


def drop_guard(action: str, number: int) -> Mutation:
    """Return the mutation that drops a guard of an action (0 is the first)."""
    return Mutation(action, guard=number)


def drop_assignment(action: str, variable: str) -> Mutation:
    """Return the mutation that drops the assignments of an action to a variable."""
    return Mutation(action, variable=variable)


def drop_condition(action: str, variable: str) -> Mutation:
    """Return the mutation that always takes the first branch of the `ite` that an action assigns to a variable."""
    return Mutation(action, unconditional=variable)
