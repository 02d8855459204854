"""Actions as TLA+: guards, the new value of each variable, what is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from model.language.actions import Action
from model.language.nodes import NAT, Node, Variable
from model.language.state import Concept
from model.language.tracing import PROMISED, Assignment, VariableInfo
from model.tla.names import ACTION, GREATEST, SORT, VARIABLE
from model.tla.terms import WIDTH, Block, Terms, closed, fits, hang


class Actions:
    """Writes the actions of one concept."""

    def __init__(self, concept: Concept, terms: Terms) -> None:
        """Write with these terms."""
        self.concept, self.terms, self.names = concept, terms, terms.names
        self._state = [info for info in concept.variables.values() if not info.rigid]

    def definition(self, action: Action) -> Block:
        """`fetch(b, m) == …`."""
        with self.terms.binding(action.parameters):
            head = self.names.of(ACTION, action.name) + self._arguments(action.parameters)
            body = [line for part in self._conjuncts(action) for line in hang(r"/\ ", part)]
        return [f"{head} ==", *hang("    ", body)]

    def instance(self, action: Action) -> str:
        """Some instance of an action happens: fetch(b, m) for some b and m."""
        name = self.names.of(ACTION, action.name)
        if not action.parameters:
            return name
        with self.terms.binding(action.parameters) as bound:
            return rf"\E {bound} : {name}{self._arguments(action.parameters)}"

    def fair(self, action: Action, sign: str) -> str:
        """Each instance of an action is fair; sign -- WF or SF."""
        name = self.names.of(ACTION, action.name)
        if not action.parameters:
            return f"{sign}_vars({name})"
        with self.terms.binding(action.parameters) as bound:
            return rf"\A {bound} : {sign}_vars({name}{self._arguments(action.parameters)})"

    def _arguments(self, parameters: Sequence[Variable]) -> str:
        return f"({', '.join(map(self.terms.bound, parameters))})" if parameters else ""

    def _conjuncts(self, action: Action) -> Iterator[Block]:
        for guard, ground in zip(action.guards, action.grounds, strict=True):
            yield self._promised(guard, ground.by) if ground.kind == PROMISED else self.terms.guard(guard, WIDTH - 7)
        for guard in action.search_only:
            yield closed(self.terms.guard(guard, WIDTH - 7), r"  \* only prunes the search")
        for assignment in action.assignments:
            yield from self._inside(assignment)
        by_variable: dict[str, list[Assignment]] = {}
        for assignment in action.assignments:
            by_variable.setdefault(assignment.variable, []).append(assignment)
        for name, assignments in by_variable.items():
            new = self._written(self.concept.variables[name], assignments)
            yield hang(f"{self.names.of(VARIABLE, name)}' = ", new)
        kept = [self.names.of(VARIABLE, info.name) for info in self._state if info.name not in by_variable]
        if kept:
            yield tuple_of("UNCHANGED ", kept)

    def _promised(self, guard: Node, promise: str) -> Block:
        self.terms.used.add("Promised")
        head = f'Promised("{promise}", '
        one = hang(head, self.terms.block(guard, WIDTH - 8 - len(head)))
        if len(one) > 1:
            one = [head.rstrip(), *hang("    ", self.terms.block(guard, WIDTH - 12))]
        return closed(one, ")")

    def _inside(self, assignment: Assignment) -> Iterator[Block]:
        """A step that leaves the naturals of a scope is not taken in it."""
        numbers = [key for key in assignment.keys if key.sort.kind == NAT]
        value = assignment.value
        if value is not None and value.sort.kind == NAT and not value.sort.saturates:
            numbers.append(value)
        outside = [number for number in numbers if not fits(number)]
        with self.terms.binding(assignment.loops) as bound:
            for number in outside:
                text = rf"{self.terms.side(number)} \in {self.names.of(SORT, number.sort.name)}"
                yield [(rf"\A {bound} : {text}" if bound else text) + r"  \* stays in the scope"]

    # New values -------------------------------------------------------------------------------------------------------

    def _written(self, info: VariableInfo, assignments: Sequence[Assignment]) -> Block:
        """The new value of a variable; what is assigned later wins."""
        if not info.keys:
            return self._value(info, assignments[-1], self.terms.operand)
        text = [self.names.of(VARIABLE, info.name)]
        for loops, group in groupby(assignments, key=lambda one: bool(one.loops)):
            if loops:
                for one in group:
                    text = self._constructed(info, one, text)
            else:
                text = self._excepted(info, list(group), text)
        return text

    def _value(self, info: VariableInfo, assignment: Assignment, write: Callable[[Node, int], Block] | None = None,
               ) -> Block:
        value = assignment.value
        if value is None:
            return [self.terms.zero(info.value)]
        if value.sort.kind == NAT and value.sort.saturates and not fits(value):
            self.terms.used.add("Capped")
            return [f"Capped({self.terms.line(value)}, {self.names.of(GREATEST, value.sort.name)})"]
        return (write or self.terms.block)(value, WIDTH - 20)

    def _excepted(self, info: VariableInfo, assignments: Sequence[Assignment], before: Block) -> Block:
        """`[holds EXCEPT ![m, q] = TRUE]`."""
        parts = [hang(f"![{self.terms.key(one.keys)}] = ", self._value(info, one)) for one in assignments]
        head = closed(hang("[", before), " EXCEPT")
        if len(parts) == 1 and len(head) == 1:
            return closed(hang(f"{head[0]} ", parts[0]), "]")
        listed = [line for part in parts[:-1] for line in (*part[:-1], part[-1] + ",")] + parts[-1]
        return closed([*head, *hang("    ", listed)], "]")

    def _constructed(self, info: VariableInfo, assignment: Assignment, before: Block) -> Block:
        """A function over all keys: each loop variable stands for the key that it is."""
        keys, conditions = self._pattern(info, assignment)
        own = [*dict.fromkeys(assignment.loops)]
        with self.terms.binding([*own, *(key for key in keys if key not in own)]):
            names = [self.terms.bound(key) for key in keys]
            bound = ", ".join(rf"{name} \in {self.terms.domain(sort)}"
                              for name, sort in zip(names, info.keys, strict=True))
            tests = [f"{self.terms.bound(key)} = {self.terms.side(wanted)}" for key, wanted in conditions]
            value = self._value(info, assignment)
            base, *first = self._named(before)
            if tests:
                value = _choice(r" /\ ".join(tests), value, f"{base}[{', '.join(names)}]")
        whole = hang(f"[{bound} |-> ", value)
        made = closed(whole if len(value) == 1 else [f"[{bound} |->", *hang("    ", value)], "]")
        return [*first, *hang("IN ", made)] if first and tests else made

    def _named(self, before: Block) -> Block:
        """The name of what an earlier assignment has made of a table, and its definition if it needs one."""
        if before in ([self.names.of(VARIABLE, info.name)] for info in self._state):
            return before
        return ["before", *hang("LET before == ", before)]

    @staticmethod
    def _pattern(info: VariableInfo, assignment: Assignment) -> tuple[list[Variable], list[tuple[Variable, Node]]]:
        """A variable for each key, and what the keys must be that no loop runs through."""
        keys: list[Variable] = []
        conditions: list[tuple[Variable, Node]] = []
        for sort, key in zip(info.keys, assignment.keys, strict=True):
            if key.op == "var" and key.payload in assignment.loops and key.payload not in keys:
                keys.append(key.payload)
            else:
                keys.append(Variable(sort, "k"))
                conditions.append((keys[-1], key))
        return keys, conditions


def _choice(test: str, then: Block, otherwise: str) -> Block:
    line = f"IF {test} THEN {then[0]} ELSE {otherwise}"
    if len(then) == 1 and len(line) < WIDTH - 30:
        return [line]
    return [f"IF {test}", *hang("THEN ", then), f"ELSE {otherwise}"]


def tuple_of(head: str, names: Sequence[str]) -> Block:
    """`UNCHANGED <<a, b>>`, in lines that are not too long."""
    lines: Block = [head + "<<"]
    for place, name in enumerate(names):
        text = name + (", " if place < len(names) - 1 else ">>")
        if len(lines[-1]) + len(text) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * (len(head) + 2))
        lines[-1] += text
    return lines

