"""The refinement monitor: follows an implementation with a model, segment by segment, and knows nothing of either.

A *segment* is what one thread of the implementation does between two waits. In it the implementation reports what
happened, as events in its own words; a table maps each event to steps of the model. The monitor folds the steps over
the model's state (each must be enabled: the first false conjunct is the report) and then compares what is visible of
it with what the implementation's tables say. After a divergence it takes the visible part from the
implementation, keeps the hidden part, and goes on.

An event may not know all arguments of its step: then it maps to several alternatives, and the monitor follows a set of
states. A property is violated when it is false in all of them. More than MOST states is unknown, not a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from model.language import Property, text
from model.language.properties import ALWAYS, LEMMA, STEP
from model.language.scalar import LeavesScope, StepReading
from model.language.scope import Scope

Step = tuple[str, tuple[int, ...]]                       # an action and the numbers of its arguments
Alternatives = Sequence[Sequence[Step]]                  # what an event may mean; () is: nothing that the model has
Refinement = Callable[[Any], Alternatives]
MOST = 16


class TooManyStatesError(Exception):
    """The events leave too much open: nothing can be said about the run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the monitor saw.

    property -- refines_<concept>, or the violated property. event -- the event of the step; None for a difference that
    no event explains. sentence -- which conjunct was false, or which cells differ. signature -- the same for all runs
    that go wrong in the same way: no element names, no numbers.
    """

    property: str
    event: Any
    sentence: str
    signature: tuple[str, ...]


class Monitor:
    """Follows one implementation with one model.

    scope -- the model made finite; elements stand for the implementation's objects. refinement -- event to steps.
    visible -- names of the variables that the implementation's tables determine. properties -- what to judge.
    """

    def __init__(
        self, scope: Scope, refinement: Refinement, visible: Sequence[str], initial: int,
        properties: Iterable[Property] = (),
    ) -> None:
        """Begin in a packed state (`Layout.pack`)."""
        self.reading = StepReading(scope, pruned=False)
        self.layout = self.reading.layout
        self.name = f"refines_{scope.concept.module.rpartition('.')[2]}"
        self.refinement = refinement
        self.states: tuple[int, ...] = (initial,)
        self._mask = sum(cell.mask for name in visible for cell in self.layout.table(name))
        judged = [p for p in properties if p.kind in (ALWAYS, LEMMA, STEP)]
        self._always = [p for p in judged if p.kind != STEP]
        self._steps = [p for p in judged if p.kind == STEP]
        self._false: set[str] = {p.name for p in self._always if not self.reading.holds(p, initial)}

    def segment(self, events: Iterable[Any], seen: int) -> list[Finding]:
        """Take a segment's events and the packed visible part of the implementation after it; say what went wrong."""
        findings: list[Finding] = []
        for event in events:
            alternatives = self.refinement(event)
            if alternatives:
                findings += self._follow(event, alternatives)
        findings += self._compare(seen & self._mask)
        return findings

    def _follow(self, event: Any, alternatives: Alternatives) -> list[Finding]:
        """Take an event's steps from every state; a state from which no alternative is possible is dropped."""
        after: dict[int, int] = {}
        reasons: list[tuple[str, str]] = []
        for before in self.states:
            for steps in alternatives:
                state = self._fold(steps, before, reasons)
                if state is not None:
                    after.setdefault(state, before)
        if not after:
            action, why = reasons[0]
            return [Finding(self.name, event, f"{action} is not possible: {why}", (self.name, action, why))]
        if len(after) > MOST:
            raise TooManyStatesError(f"{len(after)} states of {self.reading.ground.scope.concept.name} fit the events")
        self.states = tuple(sorted(after))
        return self._judge(event, [(after[state], state) for state in self.states])

    def _fold(self, steps: Sequence[Step], state: int, reasons: list[tuple[str, str]]) -> int | None:
        for action, arguments in steps:
            try:
                stepped = self.reading.step(action, arguments, state)
            except LeavesScope:
                reasons.append((action, "it leaves the scope"))
                return None
            if stepped is None:
                false = self.reading.first_false_conjunct(action, arguments, state)
                reasons.append((action, "its guard is false" if false is None else text.formula(false)))
                return None
            state = stepped
        return state

    def _judge(self, event: Any, steps: Sequence[tuple[int, int]]) -> list[Finding]:
        """Report a property when it becomes false in all states that fit, and again when it was true in between."""
        findings = []
        for declared in self._always:
            broken = not any(self.reading.holds(declared, after) for _, after in steps)
            if broken and declared.name not in self._false:
                findings.append(self._violation(declared, event))
            (self._false.add if broken else self._false.discard)(declared.name)
        findings += [self._violation(declared, event) for declared in self._steps
                     if not any(self.reading.holds(declared, before, after) for before, after in steps)]
        return findings

    def _violation(self, declared: Property, event: Any) -> Finding:
        return Finding(declared.name, event, declared.sentence, (declared.name, type(event).__name__))

    def _compare(self, seen: int) -> list[Finding]:
        """Keep the states that look as the implementation does; if there is none, report and take its visible part."""
        fitting = tuple(state for state in self.states if state & self._mask == seen)
        if fitting:
            self.states = fitting
            return []
        model = self.states[0]
        differing = [cell for cell in self.layout.cells if cell.mask & self._mask
                     and self.layout.read(model, cell) != self.layout.read(seen, cell)]
        shown, wanted = self.layout.text(seen, differing), self.layout.text(model, differing)
        sentence = "; ".join(f"{cell} is {shown[cell]}, the model has {wanted[cell]}" for cell in shown)
        self.states = tuple(sorted({state & ~self._mask | seen for state in self.states}))
        names = sorted({cell.variable for cell in differing})
        findings = [Finding(self.name, None, sentence, (self.name, "differs", *names))]
        return findings + self._judge(None, [(state, state) for state in self.states])
