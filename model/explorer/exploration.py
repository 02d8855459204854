"""What a search found, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.explorer.expand import Expander
from model.explorer.seen import Encoded, Levels
from model.explorer.trace import Document
from model.language.properties import LEADS_TO, WELL_DEFINED, Property
from model.language.scope import Scope


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known after a level: its depth, all states so far, the states of the next level."""

    depth: int
    states: int
    frontier: int


@dataclass(slots=True)
class Exploration:
    """What a search found.

    states, transitions -- reachable states, and enabled instances of actions in them whose successor is in the scope
    (a step that changes nothing is one too). depth -- greatest distance of a state from the initial states.
    firings, cut -- per action: transitions, and enabled instances that leave the scope.
    beyond -- actions that may happen with a number beyond the scope in a state that was reached.
    deadlocks -- number of states in which no action is enabled in the scope; deadlock -- a shortest trace to one in
    which surely none is, whatever numbers lie beyond.
    reached -- per `sometimes` property whether it was reached.
    violations -- per violated property a shortest trace: {initial, steps, lifelines}, for leads_to also `loop`, the
    number of the step at which the part that repeats begins. A step property is broken by the last step. A broken
    obligation (a subtraction below 0, in order of reading) is filed under "well_defined", its action or its property as
    `broken_by`.
    undecided -- per property why it could not be judged. blurred -- why none is judged: the search may have taken steps
    that the concept does not have, or missed some. unknown -- why the search ended before all states were seen,
    or "". bytes -- the greatest memory of states and their tables. cpu_seconds -- of the search, with what was made
    ready for it and judged after it. levels -- the states by depth. expander -- the successor relation, for pictures
    and further questions.
    """

    scope: Scope
    properties: tuple[Property, ...]
    expander: Expander = field(repr=False)
    states: int = 0
    transitions: int = 0
    depth: int = 0
    firings: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    beyond: tuple[str, ...] = ()
    deadlocks: int = 0
    deadlock: Document | None = None
    reached: dict[str, bool] = field(default_factory=dict)
    violations: dict[str, Document] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    blurred: str = ""
    unknown: str = ""
    bytes: int = 0
    cpu_seconds: float = 0.0
    levels: Levels = field(default_factory=Encoded, repr=False)

    def outcome(self, name: str) -> str:
        """`holds`, `violated` or `unknown` for a property that was searched for, or "well_defined"."""
        if name != WELL_DEFINED and name not in {wanted.name for wanted in self.properties}:
            raise KeyError(f"{name} was not searched for")
        kinds = {wanted.name: wanted.kind for wanted in self.properties}
        if self.blurred or (kinds.get(name) == LEADS_TO and name in self.undecided):
            return "unknown"
        if name in self.violations:
            return "violated"
        if self.reached.get(name):
            return "holds"
        if self.unknown or name in self.undecided:
            return "unknown"
        return "violated" if name in self.reached else "holds"

    def why(self, name: str) -> str:
        """Why a property is unknown, or ""."""
        return self.blurred or self.undecided.get(name, self.unknown)

    @property
    def takes_undefined_steps(self) -> bool:
        """Whether an action means nothing in a state that is reached: what runs show rests on what it is read as."""
        found = self.violations.get(WELL_DEFINED)
        return found is not None and "property" not in found["broken_by"]

    @property
    def never_fired(self) -> list[str]:
        """Actions that made no step anywhere: what is said about them is vacuous."""
        return [name for name, count in self.firings.items() if not count]
