"""Formulas of Z3 as SMT-LIB text: for other solvers, and in files for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import z3
from z3 import z3core

from proofs.reading import Expr
from proofs.written import SET, Written

WIDTH = 110


# What stands twice is small here, and no `let` has to be looked up. Contexts take parameters over when they are made.
for _name, _value in (("pp.max_depth", 1_000_000), ("pp.min_alias_size", 1_000_000), ("pp.max_width", WIDTH)):
    z3.set_param(_name, _value)


@dataclass(frozen=True, slots=True)
class Text:
    """A formula: what it needs declared, in order, and itself."""

    declarations: tuple[str, ...]
    formula: str


class Writer:
    """Writes formulas of one context, each once."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self._known: dict[int, tuple[Text, Expr]] = {}  # by the identity of the formula, which is held with it

    def text(self, formula: Expr) -> Text:
        """Write a formula."""
        found = self._known.get(formula.get_id())
        if found is None:
            found = self._known[formula.get_id()] = _text(formula), formula
        return found[0]

    def meaning(self, reading: Written, formulas: Sequence[Expr]) -> list[Expr]:
        """The definitions of all sets that the formulas name, or their definitions."""
        if not reading.definitions:
            return []  # formulas are long to write
        found: dict[str, Expr] = {}
        pending = [*formulas]
        while pending:
            for name in _SETS.findall(self.text(pending.pop()).formula):
                if name not in found:
                    found[name] = reading.definitions[name]
                    pending.append(found[name])
        return [definition for name, definition in reading.definitions.items() if name in found]


def _text(formula: Expr) -> Text:
    script = z3core.Z3_benchmark_to_smtlib_string(
        formula.ctx.ref(), "", "", "unknown", "", 0, (z3.Ast * 0)(), formula.as_ast())
    declarations = (part for part in commands(script) if part.startswith("(declare"))
    return Text(tuple(declarations), formula.sexpr())


_SETS = re.compile(rf"\|({SET} \d+ [^|]*)\|")
_TOKEN = re.compile(r'\|[^|]*\||"[^"]*"|;[^\n]*|[()]|[^\s()|";]+')


def commands(text: str) -> Iterator[str]:
    """The commands of a script, one by one."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] == "(":
            start = token.start() if depth == 0 else start
            depth += 1
        elif token[0] == ")":
            depth -= 1
            if depth == 0:
                yield text[start:token.end()]
