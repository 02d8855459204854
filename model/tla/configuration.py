"""A scope as a TLA+ module that extends its concept, and as TLC's configuration.

No symmetry is declared: rigid functions tell elements apart, and what TLC counts shall be what the explorer counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from model.language.instantiate import Instantiation
from model.language.layout import Layout
from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SET, SortInfo, Variable
from model.language.properties import ALWAYS, LEADS_TO, LEMMA, SOMETIMES, STEP, Property
from model.language.scope import Scope
from model.language.tracing import VariableInfo
from model.tla.module import Module, comment, definition, text_of
from model.tla.names import ANY, GREATEST, NEVER, PROPERTY, SORT, VARIABLE, legal
from model.tla.terms import Block, NotExpressibleError

HERE = "_here"


class Configuration:
    """The module and the configuration of one scope.

    module -- of its concept. name -- of the scope's module and files.
    """

    def __init__(self, scope: Scope, module: Module | None = None) -> None:
        """Name the elements; raises NotExpressibleError when TLA+ would have other initial states."""
        self.scope, self.module = scope, module or Module(scope.concept)
        self.names = self.module.names
        self.name = legal("MC_" + "_".join("".join(c if c.isalnum() else " " for c in scope.name).split()))
        self._elements = {name: [self.names.free(element) for element in elements]
                          for name, elements in scope.elements.items() if scope.concept.sorts[name].kind == FREE}
        _check_start(scope)

    # Values -----------------------------------------------------------------------------------------------------------

    def value(self, sort: SortInfo, number: int) -> str:
        """A value of the scope."""
        if sort.kind == FREE:
            return self._elements[sort.name][number]
        if sort.kind == CHOICE:
            return f'"{sort.members[number]}"'
        if sort.kind == MAYBE and sort.element:
            return self.value(sort.element, number - 1) if number else "None"
        if sort.kind == SET and sort.element:
            inside = (self.value(sort.element, i) for i in range(number.bit_length()) if number >> i & 1)
            return f"{{{', '.join(inside)}}}"
        return ("FALSE", "TRUE")[number] if sort.kind == BOOL else str(number)

    def constants(self) -> dict[str, str]:
        """Every constant of the concept's module and its value."""
        given: dict[str, str] = {}
        for name, sort in self.scope.concept.sorts.items():
            if sort.kind == FREE:
                given[self.names.of(SORT, name)] = f"{{{', '.join(self._elements[name])}}}"
                if name in self.module.terms.forgotten:
                    given[self.names.of(ANY, name)] = self._elements[name][0]
            if sort.kind == NAT:
                given[self.names.of(GREATEST, name)] = str(self.scope.size(sort) - 1)
        if self.module.has_promises:
            broken = ", ".join(f'"{name}"' for name in self.scope.breaks)
            given["Broken"] = f"{{{broken}}}"
        for info in self.module.rigid:
            given[self.names.of(VARIABLE, info.name)] = " @@ ".join(self.cases(info))
        return given

    @property
    def elements(self) -> list[str]:
        """The elements of all free sorts, as model values."""
        return [name for names in self._elements.values() for name in names]

    def cases(self, info: VariableInfo) -> list[str]:
        """What a rigid function is for each key; what a constant is."""
        table = self.scope.tables[info.name]
        if not info.keys:
            return [self.value(info.value, table[0])]
        keys = [self._key(info, key) for key in product(*(range(self.scope.size(sort)) for sort in info.keys))]
        return [f"{key} :> {self.value(info.value, value)}" for key, value in zip(keys, table, strict=True)]

    def _rigid(self, info: VariableInfo) -> Block:
        """A rigid function, in one line where it is the same for all keys."""
        table, cases = self.scope.tables[info.name], self.cases(info)
        if len(set(table)) == 1:
            keys = [Variable(sort, "k") for sort in info.keys]
            with self.module.terms.binding(keys) as bound:
                return [f"[{bound} |-> {self.value(info.value, table[0])}]"]
        return [f"   {cases[0]}", *(f"@@ {case}" for case in cases[1:])]

    def _key(self, info: VariableInfo, numbers: Sequence[int]) -> str:
        values = [self.value(sort, number) for sort, number in zip(info.keys, numbers, strict=True)]
        return values[0] if len(values) == 1 else f"<<{', '.join(values)}>>"

    # The module -------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The module: elements, rigid functions, and what does not happen here."""
        head = f" MODULE {self.name} ".center(80, "-")
        lines = [head, *comment(f"The scope {self.scope.name} of {self.scope.concept.name}."),
                 f"EXTENDS {self.module.name}, TLC", *self._body(), "", "=" * 80]
        return text_of(lines)

    def _body(self) -> Iterator[str]:
        if self.elements:
            yield from ("", "CONSTANTS", "    " + ", ".join(self.elements))
        for info in self.module.rigid:
            if info.keys:
                yield from ("", *definition(self.names.of(VARIABLE, info.name) + HERE, self._rigid(info)))
        if self.scope.forbid:
            yield from ("", *comment(f"What happens elsewhere: {', '.join(self.scope.forbid)}."), *self._next())
        for declared in self.scope.concept.properties.values():
            if declared.kind == LEADS_TO and self._has_other_fairness(declared):
                yield from ("", *comment("Fair is what happens here."),
                            *self.module.property(declared, self.scope.forbid, HERE))

    def _next(self) -> Block:
        left = [one for name, one in self.scope.concept.actions.items() if name not in self.scope.forbid]
        return [*self.module.next("NextHere", left), "", "SpecHere == Init /\\ [][NextHere]_vars"]

    def _has_other_fairness(self, declared: Property) -> bool:
        fair = (*declared.fair, *declared.strongly_fair, *declared.until_quiet)
        return bool(set(fair) & set(self.scope.forbid))

    # The configuration ------------------------------------------------------------------------------------------------

    @property
    def specification(self) -> str:
        """The name of what TLC runs."""
        return "SpecHere" if self.scope.forbid else "Spec"

    def checked(self, declared: Property) -> tuple[str, str]:
        """How TLC is asked for a property: the keyword, and the name of what it checks."""
        if declared.kind == SOMETIMES:
            return "INVARIANT", self.names.of(NEVER, declared.name)
        name = self.names.of(PROPERTY, declared.name)
        if declared.kind == LEADS_TO and self._has_other_fairness(declared):
            name += HERE
        return ("INVARIANT" if declared.kind in (ALWAYS, LEMMA) else "PROPERTY"), name

    def configuration(self, properties: Sequence[Property], refuted: Mapping[str, str] | None = None) -> str:
        """The configuration for TLC.

        properties -- what is checked. refuted -- of these, what TLC refutes here, and why; they stand as comments.
        """
        refuted = refuted or {}
        lines = [rf"\* java -cp tla2tools.jar tlc2.TLC -deadlock -workers 1 -config {self.name}.cfg {self.name}.tla",
                 f"SPECIFICATION {self.specification}", "", *self._assigned(), "", "INVARIANT TypeOK"]
        lines += [" ".join(self.checked(one)) for kind in (ALWAYS, LEMMA, SOMETIMES, STEP, LEADS_TO)
                  for one in properties if one.kind == kind and one.name not in refuted]
        told = [one for one in properties if one.name in refuted]
        if told:
            lines += ["", *comment("TLC refutes these here:")]
        lines += [rf"\* {' '.join(self.checked(one))}  \* {refuted[one.name]}".rstrip(" \\*") for one in told]
        return text_of(lines)

    def _assigned(self) -> Iterator[str]:
        values = self.constants()
        tables = {self.names.of(VARIABLE, info.name) for info in self.module.rigid if info.keys}
        if values or self.elements or self.module.has_none:
            yield "CONSTANTS"
        yield from (f"    {name} = {name}" for name in (*self.elements, *(["None"] if self.module.has_none else [])))
        for name, value in values.items():
            yield f"    {name} <- {name}{HERE}" if name in tables else f"    {name} = {value}"


def _check_start(scope: Scope) -> None:
    """TLA+ mentions whole variables: one of which the initial condition mentions some cells only is refused."""
    layout = Layout(scope)
    ground = Instantiation(scope, layout)
    ground.term(scope.concept.initial)
    for info in scope.concept.variables.values():
        mentioned = {cell.number in ground.mentioned for cell in layout.cells if cell.variable == info.name}
        if len(mentioned) > 1:
            raise NotExpressibleError(f"{scope.concept.name}: the initial condition mentions some cells of {info.name} "
                                      "and not others; say in @initially what all of them are")
