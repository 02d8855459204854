"""Shares: how much of what a model reaches in an enumerable scope the runs of a campaign have visited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from invariants.refinement.coverage import Visited
from invariants.refinement.enumerated import enumerated
from invariants.verdict import Outcome


@dataclass(frozen=True)
class Share:
    """What was visited of a scope: states and steps, of how many, and what the enumeration does not have of either."""

    visited: Visited

    @property
    def states(self) -> tuple[int, int, int]:
        """Visited ones that are reachable, all reachable ones, visited ones that are not."""
        return _three(self.visited.states, enumerated(self.visited.scope).states)

    @property
    def steps(self) -> tuple[int, int, int]:
        """The same of steps."""
        return _three(self.visited.steps, enumerated(self.visited.scope).steps)

    @property
    def outside(self) -> dict[str, int]:
        """At how many moments a run was outside, by reason, the most frequent first."""
        return dict(sorted(self.visited.outside.items(), key=lambda one: (-one[1], one[0])))

    @property
    def beyond(self) -> int:
        """States and steps that the enumeration does not have."""
        return self.states[2] + self.steps[2]

    @property
    def outcome(self) -> Outcome:
        """Of the property WITHIN."""
        if self.beyond:
            return Outcome.VIOLATED
        return Outcome.HOLDS if self.visited.states else Outcome.UNKNOWN

    def sentence(self) -> str:
        """As people read it."""
        if not self.visited.states:
            return "not reached in the time given"
        beyond = f"; {self.states[2]:,} states and {self.steps[2]:,} steps are not reachable" if self.beyond else ""
        reasons = ", ".join(f"{reason} ({moments:,})" for reason, moments in self.outside.items())
        left = f"; outside at {sum(self.outside.values()):,} of {self.visited.moments:,} moments: {reasons}"
        return f"{_of(self.states, 'states')}, {_of(self.steps, 'steps')}{beyond}{left if reasons else ''}"

    def cost(self) -> dict[str, float]:
        """Plain numbers for a verdict row."""
        return {"states": self.states[0], "reachable_states": self.states[1], "steps": self.steps[0],
                "reachable_steps": self.steps[1], "moments": self.visited.moments,
                "moments_outside": sum(self.outside.values())}

    def to_json(self) -> dict[str, Any]:
        """Plain values; see `invariants.report.campaigns`."""
        return {"scope": self.visited.scope, "states": list(self.states), "steps": list(self.steps),
                "moments": self.visited.moments, "outside": self.outside}


def _three(visited: set[Any], reachable: frozenset[Any]) -> tuple[int, int, int]:
    within = len(visited & reachable)
    return within, len(reachable), len(visited) - within


def _of(counts: Sequence[int], noun: str) -> str:
    return f"{counts[0]:,} of {counts[1]:,} {noun} ({100 * counts[0] / counts[1]:.1f} %)"


def shares(visited: Mapping[str, Visited]) -> list[Share]:
    """By name of scope."""
    return [Share(visited[name]) for name in sorted(visited)]
