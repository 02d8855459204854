"""Judges properties of states step by step: looks only where a step can have made something false.

`forall` over elements is cut into instances. When a cell changes, the instances that read it are found from its keys;
those that the change can only have made true are left out, and so are those whose premises exclude them. What is false
is remembered, so that it costs little to see that it still is. Whatever cannot be cut is evaluated as a whole when a
variable that it reads has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from model.language.nodes import Node
from model.language.open.cutting import Part, cut
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, State, States
from model.language.properties import Property
from model.language.tracing import names_read

Changes = Mapping[Cell, tuple[Any, Any]]
"""The values of cells before and after a step."""


class StepJudge:
    """Judges properties of steps.

    One that is true of a step that changes nothing is looked at only where something that it reads of the state after
    has changed; others are evaluated as a whole.
    """

    def __init__(self, reading: OpenReading, properties: Iterable[Property]) -> None:
        """Judge properties of steps, of a reading's concept."""
        self.reading, self.properties = reading, tuple(properties)
        self._cut = cut(self.properties, stepping=True)

    def judge(self, before: State, after: State, changes: Changes) -> list[Property]:
        """The properties that are false of a step."""
        cuts, given, wrong = self._cut, self.reading.given, dict[tuple[Any, ...], None]()
        if not changes and not cuts.always:
            return []
        whole = [cuts.parts[place] for place in cuts.always]
        false = {part.number for part in whole if not self._holds(part, before, after)}
        for cell, (old, new) in changes.items():
            for place, code in cuts.near.get(cell[0], ()):
                code(before.get, given, after.get, None, cell, old, new, wrong)
                if wrong:
                    false.add(cuts.parts[place].number)
                    wrong.clear()
        return [self.properties[number] for number in sorted(false)]

    def _holds(self, part: Part, before: State, after: State) -> bool:
        return self.reading.holds(self.properties[part.number], before, after)


class Judge:
    """Follows some states and knows which properties are true in none of them.

    false -- numbers of the properties that are.
    """

    def __init__(self, reading: OpenReading, properties: Iterable[Property], states: States) -> None:
        """Judge properties of a reading's concept, from these states on."""
        self.reading, self.properties = reading, tuple(properties)
        self._cut = cut(self.properties)
        self._wrong: list[dict[tuple[Any, ...], None]] = [{} for _ in self._cut.parts]
        self._index: dict[str, dict[Any, dict[Cell, None]]] = {name: {} for name in sorted(self._cut.indexed)}
        self._unknown = set(range(len(self._cut.parts)))
        self._bad: set[int] = set()
        self._premises: dict[Node, bool] = {}
        self._stale = False
        self.false: set[int] = set()
        self._index_all(states)
        self.judge({}, states)

    def reconsider(self) -> None:
        """What is rigid has changed, or cells without a word: nothing is known of any property."""
        self._stale = True
        self._premises.clear()
        self._unknown.update(range(len(self._cut.parts)))

    def judge(self, changes: Changes, states: States) -> list[Property]:
        """The properties that have become false by these changes; in several states, those that are false in all."""
        if len(states) > 1:
            return self._judge_each(changes, states)
        self.note(changes, states)
        if not self._unknown and not self._bad:
            return self._told(set()) if self.false else []
        get, given, parts = states.base.get, self.reading.given, self._cut.parts
        false: set[int] = set()
        for place in sorted(self._unknown | self._bad):
            part, wrong = parts[place], self._wrong[place]
            if not self._matters(part, states.base):
                continue  # and is looked at when it does
            if place in self._unknown:
                self._unknown.discard(place)
                wrong.clear()
                part.every(get, given, wrong)
            else:
                while wrong and part.still(get, given, *next(iter(wrong))):
                    del wrong[next(iter(wrong))]
            (self._bad.add if wrong else self._bad.discard)(place)
            if wrong:
                false.add(part.number)
        return self._told(false)

    def _matters(self, part: Part, state: State) -> bool:
        """Whether a part need be true; what its premises read may have changed since it was looked at last."""
        premise, known = part.given, self._premises
        if premise is None:
            return True
        if premise not in known:
            known[premise] = self.reading.holds(premise, state)
        return known[premise]

    def note(self, changes: Changes, states: States) -> None:
        """Collect the instances that changes of the only state can have made false; the next `judge` tells of them."""
        if self._index:
            self._keep_index(changes, states)
        state, given = states.base, self.reading.given
        near, whole, unknown = self._cut.near, self._cut.whole, self._unknown
        if given.grown:
            unknown.update(place for place, part in enumerate(self._cut.parts) if part.sorts & given.grown)
            given.grown.clear()
            self._premises.clear()
        for cell, (old, new) in changes.items():
            for place, code in near.get(cell[0], ()):
                if place not in unknown:
                    code(state.get, given, self._index, cell, old, new, self._wrong[place])
                    if self._wrong[place]:
                        self._bad.add(place)
            unknown.update(whole.get(cell[0], ()))
        if self._premises:
            names = {cell[0] for cell in changes}
            for premise in [premise for premise in self._premises if not names.isdisjoint(names_read(premise))]:
                del self._premises[premise]

    def _judge_each(self, changes: Changes, states: States) -> list[Property]:
        """Whole properties, in each of several states."""
        names, false = {cell[0] for cell in changes}, set(self.false)
        self.reconsider()
        for number, declared in enumerate(self.properties):
            if not names.isdisjoint(names_read(declared.condition)):
                holds = any(self.reading.holds(declared, state) for state in states.views)
                (false.discard if holds else false.add)(number)
        return self._told(false)

    def _told(self, false: set[int]) -> list[Property]:
        if not false and not self.false:
            return []
        new, self.false = sorted(false - self.false), false
        return [self.properties[number] for number in new]

    # Cells by their values --------------------------------------------------------------------------------------------

    def _index_all(self, states: States) -> None:
        for index in self._index.values():
            index.clear()
        for cell, value in states.base.items():
            if cell[0] in self._index:
                self._index[cell[0]].setdefault(value, {})[cell] = None

    def _keep_index(self, changes: Changes, states: States) -> None:
        if self._stale:
            self._stale = False
            self._index_all(states)
            return
        for cell, (old, new) in changes.items():
            index = self._index.get(cell[0])
            if index is not None:
                index.get(old, {}).pop(cell, None)
                index.setdefault(new, {})[cell] = None
