"""The refinement monitor: follows an implementation with a model, step by step, and knows nothing of either.

A *segment* is what one thread of the implementation does between two waits. In it the implementation reports what
happened, as events in its own words; a map says which steps of the model an event stands for. The monitor takes the
steps (each must be enabled: the first false conjunct is the report), and then compares what is visible of the model
with what the implementation's tables say. After a divergence it takes the visible part from the implementation, keeps
the hidden part, and goes on.

An event may not know all arguments of its step: then there are several alternatives, and the monitor follows a set of
states. A property is violated when it is false in all of them. More than MOST states is unknown, not a verdict.

What a step reads it may have read earlier than it becomes known: `foresee` takes a step aside, `late` enters it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from invariants.finding import Finding
from model.language import Property, text
from model.language.nodes import FREE, SET
from model.language.open.fingerprints import Fingerprints
from model.language.open.judging import Changes, Judge, StepJudge
from model.language.open.reading import NOBODY, OpenReading
from model.language.open.states import Cell, Overlay, State, States, Writes
from model.language.properties import ALWAYS, LEMMA, STEP
from model.language.state import Concept

Step = tuple[str, tuple[Any, ...]]
"""An action and its arguments."""
Alternatives = Sequence[Sequence[Step]]
"""What an event may mean."""
SWEEP = 512
"""From so many cells on, what means nothing any more is dropped."""


MOST = 256
"""Enough for threads that stand still again and again; without locks, each may have passed a place or not."""


class TooManyStatesError(Exception):
    """The events leave too much open: nothing can be said about the run."""


class Outcomes(NamedTuple):
    """What a step assigns in the states in which it was taken aside.

    why -- action and false conjunct where it was not possible. then -- for each of `writes` the cells of such a state,
    if the monitor keeps them.
    """

    step: Step
    writes: tuple[Writes, ...] = ()
    why: tuple[str, str] = ("", "")
    then: tuple[Mapping[Cell, Any], ...] = ()


class Recorder:
    """Is told which steps monitors take; does nothing with it."""

    def stepped(self, monitor: Monitor, steps: Sequence[Step]) -> None:
        """The monitor has taken these steps; which state it was in before they were late is not told."""


_recorders: list[Recorder] = []


@contextmanager
def recorded_by(recorder: Recorder) -> Iterator[None]:
    """Let a recorder be told of all monitors that begin in the block."""
    _recorders.append(recorder)
    try:
        yield
    finally:
        _recorders.pop()


class Monitor:
    """Follows one implementation with one model.

    reading -- of the model. properties -- what to judge. name -- the property that divergences violate. visible --
    variables that the implementation's tables determine. named -- how elements are called in sentences. unmarked --
    variables that are no part of fingerprints. kept -- names of the sorts of which no element is forgotten by itself.
    history -- variables that say which steps led here: where the model was left, they say nothing any more.

    states -- those that fit all that was reported; at first one in which nothing was ever written. version -- another
    number whenever they have changed. moved -- whether something visible has changed; whoever compares it sets it back.
    keeping -- whether steps that are taken aside keep their states.
    """

    def __init__(  # noqa: PLR0913 - a map says once what its variables are good for
        self, reading: OpenReading, properties: Iterable[Property], name: str, *, visible: Sequence[str],
        named: Callable[[Any], str] = str, unmarked: Sequence[str] = (), kept: Sequence[str] = (),
        history: Sequence[str] = (),
    ) -> None:
        """Begin."""
        self.reading, self.name, self.named, self.kept = reading, name, named, frozenset(kept)
        self.states = States(reading.defaults)
        given = tuple(properties)
        self._judge = Judge(reading, (p for p in given if p.kind in (ALWAYS, LEMMA)), self.states)
        self._steps = StepJudge(reading, (p for p in given if p.kind == STEP))
        self._visible, self._history = frozenset(visible), frozenset(history)
        self._marks = Fingerprints(reading.defaults.keys() - set(unmarked))
        self._most_cells = SWEEP
        self.version, self.moved, self.keeping = 0, False, False
        self._recorder = _recorders[-1] if _recorders else None
        self._idle: set[tuple[Step, ...]] = set()  # steps that change nothing in the state of this version

    # Looking ----------------------------------------------------------------------------------------------------------

    def value(self, *cell: Any) -> Any:
        """The value of a cell in the first of the states."""
        states = self.states
        own = states.overlays[0]
        if own and cell in own:
            return own[cell]
        return states.base.get(cell, states.defaults[cell[0]])

    def values(self, *cell: Any) -> set[Any]:
        """The values of a cell in all states."""
        unset = self.states.defaults[cell[0]]
        return {state.get(cell, unset) for state in self.states.views}

    def agrees(self, cells: Mapping[Cell, Any]) -> bool:
        """Whether these cells have these values in all states."""
        return not any(self._differing(state, cells, cells) for state in self.states.views)

    def possible(self, *steps: Step) -> bool:
        """Whether these steps can be taken from some state."""
        return any(self._fold(steps, state, []) is not None for state in self.states.views)

    def fingerprints(self) -> list[int]:
        """A number for each of the states, the same in every process."""
        return self._marks.of(self.states)

    # Steps ------------------------------------------------------------------------------------------------------------

    def take(self, event: Any, *steps: Step) -> list[Finding]:
        """Take the steps that an event stands for."""
        if self._idle and steps in self._idle:
            return []
        states, reasons, version = self.states, list[tuple[str, str]](), self.version
        if len(states.overlays) > 1:
            return self.follow(event, [steps])
        writes = self._fold(steps, states.base, reasons)
        found = self._impossible(event, reasons[0], "is") if writes is None else self._enter(event, writes)
        if self._recorder is not None and writes is not None:
            self._recorder.stepped(self, steps)
        if not found and self.version == version:
            self._idle.add(steps)
        return found

    def follow(self, event: Any, alternatives: Alternatives | Callable[[State], Alternatives]) -> list[Finding]:
        """Take an event's steps from every state; a state from which no alternative is possible is dropped.

        A function says for each state what the event may mean; all of that is tried in all states.
        """
        views = self.states.views
        if callable(alternatives):
            given = [tuple(steps) for state in views for steps in alternatives(state)]
            alternatives = given if len(given) == 1 else list(dict.fromkeys(given))
        if len(views) == len(alternatives) == 1:
            return self.take(event, *alternatives[0])
        after: list[tuple[int, Writes]] = []
        reasons: list[tuple[str, str]] = []
        for number, state in enumerate(views):
            for steps in alternatives:
                writes = self._fold(steps, state, reasons)
                if writes is not None:
                    after.append((number, writes))
        if not after:
            return self._impossible(event, reasons[0], "is")
        return self._enter_all(event, after)

    def supposing(self, event: Any, step: Step, cells: Writes) -> list[Finding] | None:
        """Take a step from the only state as if some cells had these values; None if it is not possible."""
        writes = self.reading.step(*step, Overlay(self.states.base, cells))
        return None if writes is None else self._enter(event, writes)

    def foresee(self, step: Step, of: Sequence[State] | None = None) -> Outcomes:
        """What a step assigns if it is taken now, or in these states; it is entered `late`, if ever."""
        if of is None and len(self.states) == 1 and not self.keeping:
            writes = self.reading.step(*step, self.states.base)
            if writes is not None:
                return Outcomes(step, (writes,))
        reasons: list[tuple[str, str]] = []
        different, then = list[Writes](), list[Mapping[Cell, Any]]()
        for number, state in enumerate(self.states.views if of is None else of):
            writes = self._fold([step], state, reasons)
            if writes is not None and writes not in different:
                different.append(writes)
                if self.keeping:
                    then.append({**self.states.base, **self.states.overlays[number]})
        return Outcomes(step, tuple(different), reasons[0] if reasons else (step[0], "it never was"), tuple(then))

    def late(self, event: Any, outcomes: Outcomes) -> list[Finding]:
        """Enter a step that was taken aside; nothing else may have read or assigned what it assigned."""
        if not outcomes.writes:
            return self._impossible(event, outcomes.why, "was")
        if len(outcomes.writes) == len(self.states) == 1:
            found = self._enter(event, outcomes.writes[0])
            if self._recorder is not None:
                self._recorder.stepped(self, [outcomes.step])
            return found
        return self._enter_all(event, [
            (number, writes) for writes in outcomes.writes for number in range(len(self.states))])

    def _fold(self, steps: Sequence[Step], state: State, reasons: list[tuple[str, str]]) -> Writes | None:
        """All that the steps assign, one after another; None, and why, if one of them is not possible."""
        written: Writes = {}
        at: State = state
        for action, arguments in steps:
            writes = self.reading.step(action, arguments, at)
            if writes is None:
                false = self.reading.first_false_conjunct(action, arguments, at)
                reasons.append((action, "its guard is false" if false is None else text.formula(false)))
                return None
            if len(steps) == 1:
                return writes
            written.update(writes)
            at = Overlay(state, written)
        return written

    def _impossible(self, event: Any, reason: tuple[str, str], word: str) -> list[Finding]:
        action, why = reason
        return [Finding(self.name, event, f"{action} {word} not possible: {why}", (self.name, action, why))]

    def _apply(self, writes: Mapping[Cell, Any]) -> Writes:
        """Write to the only state there is; what these cells were before."""
        base, defaults = self.states.base, self.states.defaults
        before = {cell: base.get(cell, defaults[cell[0]]) for cell in writes}
        base.update(writes)
        return before

    def _enter(self, event: Any, writes: Writes) -> list[Finding]:
        """Go on from the only state there is, and what is written."""
        base, before = self.states.base, self._apply(writes)
        changes = self._noted(before)
        false = self._steps.judge(Overlay(base, before), base, changes) if self._steps.properties else []
        if changes:
            false = self._judge.judge(changes, self.states) + false
            if len(base) > self._most_cells:
                self._sweep()
        return [self._violation(p, event) for p in false]

    def _noted(self, before: Writes) -> Changes:
        """What has changed, if these cells were so before."""
        base, changes = self.states.base, dict[Cell, tuple[Any, Any]]()
        for cell, old in before.items():
            new = base[cell]
            if old != new:
                changes[cell] = old, new
                if cell[0] in self._visible:
                    self.moved = True
        if changes:
            self.version += 1
            self._idle.clear()
            self._marks.changed.update(changes)
        return changes

    def _enter_all(self, event: Any, after: Sequence[tuple[int, Writes]]) -> list[Finding]:
        """Go on from several states; after -- from which of the former each comes, and what is written."""
        states, views = self.states, self.states.views
        defaults = states.defaults
        each = [self._steps.judge(views[number], Overlay(views[number], writes), {
            cell: (views[number].get(cell, defaults[cell[0]]), new) for cell, new in writes.items()})
                for number, writes in after]
        false = [p for p in each[0] if all(p in others for others in each)]
        self._become([{**states.overlays[number], **writes} for number, writes in after])
        changes = {cell: (None, None) for _, writes in after for cell in writes}
        return [self._violation(p, event) for p in (*self._judge.judge(changes, states), *false)]

    def _become(self, overlays: Sequence[Writes]) -> None:
        self.states.become(overlays)
        self._changed()
        self.moved = True
        if len(self.states) > MOST:
            raise TooManyStatesError(f"{len(self.states)} states of {self.reading.concept.name} fit the events")

    def _violation(self, declared: Property, event: Any) -> Finding:
        return Finding(declared.name, event, declared.sentence, (declared.name, type(event).__name__))

    # What is not a step -----------------------------------------------------------------------------------------------

    def write(self, writes: Mapping[Cell, Any]) -> None:
        """Give cells of all states a value; nothing is judged."""
        if len(self.states) > 1:
            self.rewrite(lambda _: writes)
            return
        if not writes:
            return
        self._name(writes)
        self._judge.note(self._noted(self._apply(writes)), self.states)

    def rewrite(self, change: Callable[[State], Mapping[Cell, Any]]) -> None:
        """Write in each state what is said for it; nothing is judged."""
        overlays = [{**own, **change(state)}
                    for own, state in zip(self.states.overlays, self.states.views, strict=True)]
        if len(overlays) == 1 and not overlays[0]:
            return
        for own in overlays:
            self._name(own)
        self._become(overlays)

    def keep(self, fits: Callable[[State], bool]) -> None:
        """Drop the states that do not fit, if there is one that does; nothing is judged."""
        if self.states.keep(fits):
            self._changed()

    def _changed(self) -> None:
        """Other states are there, and nothing is known of them."""
        self._marks.forget()
        self.version += 1
        self.reconsider()

    def reconsider(self) -> None:
        """What is rigid has changed."""
        self._idle.clear()
        self._judge.reconsider()

    # Tables -----------------------------------------------------------------------------------------------------------

    def compare(self, seen: Mapping[Cell, Any], looked: Iterable[Cell]) -> list[Finding]:
        """Keep the states that look as the implementation does; if there is none, report and take what it looks like.

        seen -- the cells that the tables set. looked -- all cells that they determine.
        """
        states, defaults = self.states, self.states.defaults
        cells = looked if isinstance(looked, (list, tuple)) else tuple(looked)
        if len(states.overlays) == 1:
            get = states.base.get
            for cell in cells:
                unset = defaults[cell[0]]
                if get(cell, unset) != seen.get(cell, unset):
                    break
            else:
                return []
        elif states.keep(lambda state: not self._differing(state, seen, cells)):
            self._changed()
            return []
        return self._differs(seen, self._differing(states.views[0], seen, cells))

    def _differing(self, state: State, seen: Mapping[Cell, Any], cells: Iterable[Cell]) -> list[Cell]:
        defaults = self.states.defaults
        return [cell for cell in cells if state.get(cell, defaults[cell[0]]) != seen.get(cell, defaults[cell[0]])]

    def _differs(self, seen: Mapping[Cell, Any], differing: Sequence[Cell]) -> list[Finding]:
        defaults, before = self.states.defaults, self.states.views[0]
        told, taken, differs = [], dict[Cell, Any](), list[tuple[str, tuple[Any, ...], Any, Any]]()
        for cell in dict.fromkeys(differing):
            taken[cell] = value = seen.get(cell, defaults[cell[0]])
            has = before.get(cell, defaults[cell[0]])
            differs.append((cell[0], cell[1:], value, has))
            told.append(f"{self.label(cell)} is {self.text(cell, value)}, the model has {self.text(cell, has)}")
        names = sorted({cell[0] for cell in taken})
        finding = Finding(self.name, None, "; ".join(told), (self.name, "differs", *names), about=self._about(taken),
                          differs=tuple(differs))
        self._name(taken)
        taken.update(self._unset())
        if len(self.states) == 1:
            changes = self._noted(self._apply(taken))
        else:
            changes = dict.fromkeys(taken, (None, None))
            self._become([{**own, **taken} for own in self.states.overlays])
        return [finding, *(replace(self._violation(p, None), about=finding.about)
                           for p in self._judge.judge(changes, self.states))]

    def _about(self, cells: Iterable[Cell]) -> tuple[tuple[str, Any], ...]:
        """The elements that cells speak of, by the names of their sorts in small letters."""
        keys = self.reading.concept.variables
        return tuple(dict.fromkeys((sort.name.lower(), key) for cell in cells
                                   for sort, key in zip(keys[cell[0]].keys, cell[1:], strict=True)))

    def _unset(self) -> Writes:
        """What says which steps led here, as if there had been none."""
        defaults = self.states.defaults
        cells = (cell for part in (self.states.base, *self.states.overlays) for cell in part)
        return {cell: defaults[cell[0]] for cell in cells if cell[0] in self._history}

    def begin_anew(self) -> None:
        """Something that the steps so far rested on has changed: what says which they were is unset."""
        if unset := self._unset():
            self.write(unset)

    def label(self, cell: Cell) -> str:
        """A cell as people write it: listed[broker-a, c1]."""
        keys = ", ".join(map(self.named, cell[1:]))
        return f"{cell[0]}[{keys}]" if keys else str(cell[0])

    def text(self, cell: Cell, value: Any) -> str:
        """The value of a cell as people write it."""
        sort = self.reading.concept.variables[cell[0]].value
        if sort.kind == SET:
            return "{" + ", ".join(sorted(map(self.named, value))) + "}"
        if value is None:
            return "none"
        return str(value).lower() if isinstance(value, bool) else self.named(value)

    # Elements and cells -----------------------------------------------------------------------------------------------

    def _name(self, writes: Mapping[Cell, Any]) -> None:
        given = self.reading.given
        for cell, value in writes.items():
            for sort, element in self.reading.elements_of(cell, value):
                if element not in given.named[sort.name] and element != NOBODY:
                    given.add(sort.name, element)
                    self._idle.clear()

    def forget(self, sort: str, elements: Sequence[Any]) -> None:
        """Nothing is known of these elements any more."""
        concept, gone = self.reading.concept, frozenset(elements)
        places = {name: [place for place, key in enumerate(info.keys, 1) if key.name == sort]
                  for name, info in concept.variables.items()}
        for cells in (self.states.base, *self.states.overlays):
            for cell in [cell for cell in cells if any(cell[place] in gone for place in places[cell[0]])]:
                del cells[cell]
        named = self.reading.given.named[sort]
        self.reading.given.name(concept.sorts[sort], [one for one in named if one not in gone])
        self._changed()

    def _sweep(self) -> None:
        """Forget cells as if they had never been written, and elements of which no cell speaks."""
        base, defaults, reading = self.states.base, self.states.defaults, self.reading
        for cell in [cell for cell, value in base.items() if value == defaults[cell[0]]]:
            del base[cell]
        spoken: dict[str, dict[Any, None]] = {name: {} for name in reading.given.named}
        for cell, value in base.items():
            for sort, element in reading.elements_of(cell, value):
                spoken[sort.name][element] = None
        for name, sort in reading.concept.sorts.items():
            if sort.kind == FREE and name not in self.kept:
                reading.given.name(sort, (one for one in reading.given.named[name] if one in spoken[name]))
        self._most_cells = max(SWEEP, 2 * len(base))
        self._judge.reconsider()


def judged(concept: Concept, *only: Callable[..., Any], without: Sequence[str] = ()) -> tuple[Property, ...]:
    """What is promised: no lemmas, which support proofs under premises, and nothing that must only be reachable.

    only -- declared by these functions, if any are given.
    """
    names = [declared.__name__ for declared in only] or [
        name for name, declared in concept.properties.items() if declared.kind in (ALWAYS, STEP)]
    return tuple(concept.properties[name] for name in names if name not in without)
