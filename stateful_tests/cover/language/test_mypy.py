"""Wrong sorts are errors under `mypy --strict` too, and what is right passes: one run over one folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from mypy import api

from stateful_tests.language import concepts
from stateful_tests.language.random_declarations import declaration, drawn
from stateful_tests.language.sources import ACT, HEAD, USED

ROOT = Path(__file__).parents[3]

# Each line is wrong in an action of the concept Group; behind it, the code of mypy's error.
WRONG = """
s.up[q] = TRUE  # expect: index
require(s.up[q])  # expect: index
s.pair[m] = TRUE  # expect: index
s.owner[q] = q  # expect: assignment
s.held = True  # expect: assignment
s.end = 0  # expect: assignment
s.last = None  # expect: assignment
s.last = some(q)  # expect: arg-type
s.view[m] = empty(Queue)  # expect: arg-type
s.view[m] = setof(Queue, lambda x: s.held)  # expect: arg-type
require(m == q)  # expect: operator
require(m != q)  # expect: operator
require(m == 1)  # expect: arg-type
require(s.view[m].has(q))  # expect: arg-type
require(s.last.holds(q))  # expect: arg-type
s.view[m] = s.view[m].plus(q)  # expect: arg-type
s.end = s.end + s.age  # expect: operator
s.end = s.end * 2  # expect: operator
s.end = s.end // 2  # expect: operator
s.end = -s.end  # expect: operator
require(s.end < s.age)  # expect: operator
require(m < m)  # expect: operator
require(s.end == n & s.held)  # expect: operator
require(s.held & s.end == n)  # expect: operator
require(not s.held)  # expect: arg-type
require(m in s.view[m])  # expect: arg-type
require(s.end)  # expect: arg-type
require(True)  # expect: arg-type
require(s.up[x] for x in every(Member))  # expect: arg-type
s.share[m] = some(q)  # expect: index
s.nothing[m] = TRUE  # expect: attr-defined
s.held[m] = TRUE  # expect: index
require(s.nothing)  # expect: attr-defined
s.end.forget(m)  # expect: attr-defined
s.share.forget(m)  # expect: attr-defined
s.up.forget(q)  # expect: arg-type
s.end = ite(s.held, 0, 1)  # expect: type-var
s.end = ite(s.held, s.end, s.age)  # expect: assignment
s.end = ite(s.end, s.end, n)  # expect: arg-type
s.role = Role.BOSS  # expect: attr-defined
s.owner[q] = Member()  # expect: call-arg
require(forall(s.end for x in every(Member)))  # expect: misc
require(forall(s.up[m]))  # expect: arg-type
require(len(s.view[m]) == 1)  # expect: arg-type
require(s.held.implies(s.end))  # expect: arg-type
other(s, q)  # expect: arg-type
other(s)  # expect: call-arg
"""

DECLARED = '''
@action("Class#other")
def other(s: Group, m: Member) -> None:
    """Do something."""
    s.up[m] = TRUE


@always("holds")
def no_formula(s: Group) -> Bool:  # expect: return
    """Say nothing."""
    forall(s.up[m] for m in every(Member))


@always("holds")
def a_number(s: Group) -> Bool:
    """Return a place."""
    return s.end  # expect: return-value


@always  # expect: arg-type
def bare(s: Group) -> Bool:
    """Lose its brackets."""
    return s.held


@always("holds")  # expect: arg-type
def with_parameter(s: Group, m: Member) -> Bool:
    """Take an element."""
    return s.up[m]


@step("holds")  # expect: arg-type
def one_state(s: Group) -> Bool:
    """Take one state."""
    return s.held


@action("Class#returns")  # expect: arg-type
def returns(s: Group, m: Member) -> Bool:
    """Return something."""
    s.up[m] = TRUE
    return s.held
'''


def statements() -> list[str]:
    return [line for line in WRONG.splitlines() if line]


@dataclass
class Told:
    """What mypy says: codes of errors by file and line; and the lines of the file that is wrong."""

    errors: dict[str, dict[int, set[str]]]
    lines: list[str]
    files: set[str]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("typed")
    wrong = [f"{ACT.replace('act(', f'act{i}(')}    {line}\n" for i, line in enumerate(statements())]
    (folder / "wrong.py").write_text(HEAD + DECLARED + "\n\n" + "\n\n".join(wrong), "utf-8")
    (folder / "right.py").write_text(HEAD + ACT + USED, "utf-8")
    for seed in range(12):
        (folder / f"random{seed}.py").write_text(IMPORTS + declaration(drawn(seed), f"Random{seed}").source, "utf-8")
    files = sorted(folder.glob("*.py"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        report, problems, _ = api.run(["--strict", "--no-error-summary", "--show-error-codes", *map(str, files),
                                       str(Path(concepts.__file__).parent)])
    assert problems == ""
    errors: dict[str, dict[int, set[str]]] = {}
    for name, line, code in re.findall(r"^(?:.*/)?(\w+)\.py:(\d+): error: .*\[([\w-]+)\]$", report, re.MULTILINE):
        errors.setdefault(name, {}).setdefault(int(line), set()).add(code)
    return Told(errors, (folder / "wrong.py").read_text("utf-8").splitlines(), {file.stem for file in files})


IMPORTS = """from __future__ import annotations

from model.language import (
    FALSE, TRUE, Bool, Constant, Ghost, Maybe, Rigid, Set, State, Table, action, always, empty, every, exists, forall,
    ite, none, require, search_only, setof, some, step,
)
from stateful_tests.language.random_declarations import Age, Blue, Count, Mode, Red


"""


def test_what_is_wrong_is_an_error_in_its_line(told: Told) -> None:
    expected = {number: code for number, line in enumerate(told.lines, 1)
                for code in re.findall(r"# expect: ([\w-]+)", line)}
    assert len(expected) > 45
    missed = {number: code for number, code in expected.items() if code not in told.errors["wrong"].get(number, set())}
    assert [(told.lines[number - 1], code, told.errors["wrong"].get(number)) for number, code in missed.items()] == []
    assert sorted(told.errors["wrong"]) == sorted(expected)


def test_what_is_right_is_no_error(told: Told) -> None:
    assert len(told.files) > 10
    assert set(told.errors) == {"wrong"}, told.errors
