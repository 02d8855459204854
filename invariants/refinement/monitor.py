"""The refinement monitor: follows an implementation with a model, segment by segment, and knows nothing of either.

A *segment* is what one thread of the implementation does between two waits. In it the implementation reports what
happened, as events in its own words; a table maps each event to steps of the model. The monitor folds the steps over
the model's state (each must be enabled: the first false conjunct is the report) and then compares what is visible of
it with what the implementation's tables say. After a divergence it takes the visible part from the
implementation, keeps the hidden part, and goes on.

An event may not know all arguments of its step: then it maps to several alternatives, and the monitor follows a set of
states. A property is violated when it is false in all of them. More than MOST states is unknown, not a verdict.

What a step reads it may have read earlier than it becomes known: `late` takes such a step of states that were kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from invariants.finding import Finding
from model.language import Property, text
from model.language.nodes import Node
from model.language.properties import ALWAYS, LEMMA, STEP
from model.language.scalar import LeavesScope, StepReading, compiled
from model.language.scope import Scope

Step = tuple[str, tuple[int, ...]]                       # an action and the numbers of its arguments
Alternatives = Sequence[Sequence[Step]]                  # what an event may mean; () is: nothing that the model has
Refinement = Callable[[Any], Alternatives]
MOST = 64
"""Enough for threads that stand still again and again; without locks, each may have passed a place or not."""


class TooManyStatesError(Exception):
    """The events leave too much open: nothing can be said about the run."""


class Reading(StepReading):
    """A step reading without what only prunes a search; monitors of the same scope may share one."""

    def __init__(self, scope: Scope) -> None:
        """Read a scope; code is generated when it is first used."""
        super().__init__(scope, pruned=False)
        self._conditions: dict[Node, tuple[Callable[[int, int], object], int]] = {}
        self._written: dict[tuple[str, tuple[int, ...]], int] = {}

    def condition(self, declared: Property) -> tuple[Callable[[int, int], object], int]:
        """A property as a function of the states before and after a step, and the bits that it depends on."""
        found = self._conditions.get(declared.condition)
        if found is None:
            term = self.ground.term(declared.condition)
            found = self._conditions[declared.condition] = compiled(term), term.support
        return found

    def written(self, action: str, arguments: tuple[int, ...]) -> int:
        """The bits that an action assigns."""
        found = self._written.get((action, arguments))
        if found is None:
            cells = self.layout.cells
            found = sum(cells[number].mask for number in self.instance(action, arguments).effect)
            self._written[action, arguments] = found
        return found


class Monitor:
    """Follows one implementation with one model.

    scope -- the model made finite, or its reading; elements stand for the implementation's objects. refinement -- event
    to steps. visible -- names of the variables that the implementation's tables determine. properties -- what to judge.
    name -- the property that divergences violate, if it is not refines_ and the module of the concept.

    states -- those that fit all that was reported, sorted; a follower may replace them by states that say the same.
    visible -- the bits of the visible variables.
    """

    def __init__(
        self, scope: Scope | Reading, refinement: Refinement, visible: Sequence[str], initial: int,
        properties: Iterable[Property] = (), name: str = "",
    ) -> None:
        """Begin in a packed state (`Layout.pack`)."""
        self.refinement, self._names = refinement, tuple(visible)
        self._judged = [p for p in properties if p.kind in (ALWAYS, LEMMA, STEP)]
        self.move(scope if isinstance(scope, Reading) else Reading(scope), (initial,))
        concept = self.reading.ground.scope.concept
        self.name = name or f"refines_{concept.module.rpartition('.')[2]}"
        self._false: set[str] = {p.name for p, holds, _ in self._always if not holds(initial, 0)}

    def move(self, reading: Reading, states: Iterable[int]) -> None:
        """Go on in another scope of the concept, in which these states are what the states were."""
        self.reading, self.layout = reading, reading.layout
        self.states = tuple(sorted(states))
        self.visible = sum(cell.mask for name in self._names for cell in self.layout.table(name))
        self._always = [(p, *reading.condition(p)) for p in self._judged if p.kind != STEP]
        self._steps = [(p, *reading.condition(p)) for p in self._judged if p.kind == STEP]

    def segment(self, events: Iterable[Any], seen: int) -> list[Finding]:
        """Take a segment's events and the packed visible part of the implementation after it; say what went wrong."""
        findings: list[Finding] = []
        for event in events:
            alternatives = self.refinement(event)
            if alternatives:
                findings += self.follow(event, alternatives)
        findings += self.compare(seen)
        return findings

    def follow(self, event: Any, alternatives: Alternatives) -> list[Finding]:
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
        return self._enter(event, after)

    def late(self, event: Any, step: Step, then: Iterable[int]) -> list[Finding]:
        """Take one step that was taken in one of the states of `then`, and is learnt of only now.

        What it assigned there it assigns now; nothing else may have read or assigned that in between.
        """
        written, reasons = self.reading.written(*step), list[tuple[str, str]]()
        outcomes = {state & written for before in then if (state := self._fold([step], before, reasons)) is not None}
        if not outcomes:
            action, why = reasons[0] if reasons else (step[0], "it never was")
            return [Finding(self.name, event, f"{action} was not possible: {why}", (self.name, action, why))]
        return self._enter(event, {
            before & ~written | outcome: before for outcome in sorted(outcomes) for before in self.states
        })

    def possible(self, steps: Sequence[Step]) -> bool:
        """Whether these steps can be taken from some state."""
        return any(self._fold(steps, state, []) is not None for state in self.states)

    def _enter(self, event: Any, after: dict[int, int]) -> list[Finding]:
        """Go on from these states; after -- to the one before."""
        if len(after) > MOST:
            raise TooManyStatesError(f"{len(after)} states of {self.reading.ground.scope.concept.name} fit the events")
        self.states = tuple(sorted(after))
        steps = [(after[state], state) for state in self.states]
        found = self._judge(event, steps)
        for declared, holds, _ in self._steps:
            for before, state in steps:
                if holds(before, state):
                    break
            else:
                found.append(self._violation(declared, event))
        return found

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
        """Report a state property when it becomes false in all that fit, and again when it was true in between.

        What no step has touched is as true or false as it was.
        """
        findings: list[Finding] = []
        changed = 0
        for before, after in steps:
            changed |= before ^ after
        for declared, holds, support in self._always:
            if changed & support:
                for _, after in steps:
                    if holds(after, 0):
                        self._false.discard(declared.name)
                        break
                else:
                    if declared.name not in self._false:
                        findings.append(self._violation(declared, event))
                    self._false.add(declared.name)
        return findings

    def _violation(self, declared: Property, event: Any) -> Finding:
        return Finding(declared.name, event, declared.sentence, (declared.name, type(event).__name__))

    def compare(self, seen: int, visible: int = -1) -> list[Finding]:
        """Keep the states that look as the implementation does; if there is none, report and take its visible part.

        seen -- the implementation's visible part, packed. visible -- the bits of it that were looked at.
        """
        mask = self.visible & visible
        seen &= mask
        if len(self.states) == 1 and self.states[0] & mask == seen:
            return []
        fitting = tuple(state for state in self.states if state & mask == seen)
        if fitting:
            self.states = fitting
            return []
        model = self.states[0]
        differing = [cell for cell in self.layout.cells if cell.mask & mask
                     and self.layout.read(model, cell) != self.layout.read(seen, cell)]
        shown, wanted = self.layout.text(seen, differing), self.layout.text(model, differing)
        sentence = "; ".join(f"{cell} is {shown[cell]}, the model has {wanted[cell]}" for cell in shown)
        after = {state & ~mask | seen: state for state in self.states}
        self.states = tuple(sorted(after))
        names = sorted({cell.variable for cell in differing})
        findings = [Finding(self.name, None, sentence, (self.name, "differs", *names))]
        return findings + self._judge(None, [(after[state], state) for state in self.states])
