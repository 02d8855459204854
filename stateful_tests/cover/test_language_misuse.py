"""Every misuse of the language is an error where it is written: its author reads line, expression, problem and cure."""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from model.language import Concept, Misuse, binders, tracing

MISUSES = Path(__file__).parents[1] / "language" / "misuses.txt"

HEAD = '''from __future__ import annotations

from model.language import (
    FALSE, TRUE, Bool, Choice, Constant, Ghost, Maybe, Nat, Rigid, Set, Sort, State, Steps, Table, action, always,
    drop_assignment, drop_condition, drop_guard, empty, every, exists, forall, initially, ite, leads_to, lemma, never,
    none, premise, require, search_only, setof, some, sometimes, step, tight,
)


class Member(Sort):
    """A member."""


class Queue(Sort):
    """A queue."""


class Offset(Nat):
    """A place."""


class Ms(Nat):
    """Milliseconds."""


class Role(Choice):
    """What it is."""

    MASTER: Role
    SLAVE: Role


class Group(State):
    """Variables of every kind."""

    up: Table[Member, Bool]
    end: Offset
    age: Ms
    held: Bool
    owner: Table[Queue, Member]
    view: Table[Member, Set[Member]]
    last: Maybe[Member]
    role: Role
    log: Table[Offset, Member]
    pair: Table[tuple[Member, Queue], Bool]
    seen: Ghost[Table[Member, Bool]]
    limit: Constant[Offset]
    share: Rigid[Member, Maybe[Queue]]


'''
ACT = '@action("Class#method")\ndef act(s: Group, m: Member, q: Queue, n: Offset) -> None:\n'


USED = """    require(s.up[m] & (s.end < n), ~s.held, ~(s.last.holds(m)))
    require(s.view[m].has(m).iff(s.role == Role.MASTER))
    s.end += 1
    s.log[n], s.owner[q] = s.owner[q], ite(s.share[m].holds(q), m, s.owner[q])
    for x, y in every(Member, Queue):
        s.pair[x, y] = s.up[x] & exists(s.pair[z, y] & ~(z == x) for z in every(Member))
    s.seen[m] = s.seen[m] | s.held


@always("holds", broken_by=(drop_guard("act", 0), drop_assignment("act", "end"), drop_condition("act", "owner")))
def p(s: Group) -> Bool:
    return forall(s.seen[x].implies(s.up[x]) for x in every(Member))
"""


@dataclass(frozen=True, slots=True)
class Misused:
    """What somebody writes, and what they read then: the line, and the message behind it."""

    name: str
    code: str
    line: int
    message: str

    @property
    def source(self) -> str:
        """The whole file."""
        return HEAD + (ACT if self.code.startswith(" ") else "") + self.code

    @property
    def expected(self) -> str:
        """The message behind the name of the file."""
        return f"{self.source[:-len(self.code)].count(chr(10)) + self.line}: {self.message}"


def misuses() -> list[Misused]:
    """The misuses of the table."""
    table = MISUSES.read_text(encoding="utf-8")
    found = re.findall(r"^\[([^\n]+)\]\n(.*?)^=> (\d+): ([^\n]+)$", table, re.DOTALL | re.MULTILINE)
    return [Misused(name, code, int(line), message) for name, code, line, message in found]


_numbers = itertools.count()


def load(source: str, folder: Path) -> ModuleType:
    """Import a file of this text, as an author would."""
    path = folder / f"concept_{next(_numbers)}.py"
    path.write_text(source, encoding="utf-8")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    sys.modules[path.stem] = module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    return module


@pytest.mark.parametrize("misused", misuses(), ids=lambda misused: misused.name)
def test_a_misuse_is_an_error_with_line_expression_and_cure(misused: Misused, tmp_path: Path) -> None:
    with pytest.raises(Misuse) as caught:
        load(misused.source, tmp_path)
    file, _, told = str(caught.value).partition(":")
    assert re.fullmatch(r"concept_\d+\.py", file)
    assert told == misused.expected
    assert (tracing.tracing(), binders.actions, binders.quantifiers) == (False, [], [])  # the next body starts afresh


def test_every_message_names_an_expression_a_problem_and_a_cure() -> None:
    table = misuses()
    assert len(table) >= 200
    assert len({misused.name for misused in table}) == len(table)
    for misused in table:
        assert re.fullmatch(r"in \S+: .+: .+; .+", misused.message), misused.message
    assert MISUSES.read_text(encoding="utf-8").count("\n=> ") == len(table)


def test_the_concept_that_is_misused_can_be_used(tmp_path: Path) -> None:
    concept: Concept = load(HEAD + ACT + USED, tmp_path).Group.concept
    assert (list(concept.actions), list(concept.properties)) == (["act"], ["p"])
