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
from stateful_tests.language.sources import ACT, HEAD, USED

MISUSES = Path(__file__).parents[2] / "language" / "misuses.txt"


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
