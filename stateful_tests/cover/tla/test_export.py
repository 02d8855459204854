"""The export to TLA+, without Java: the text of one concept, and what every module has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app
from invariants.exploring import judged_in
from invariants.exporting import export_file, export_named, refuted
from model.language import TRUE, Bool, Concept, Nat, State, Table, action, every, exists, forall, initially
from model.language.scope import Scope
from model.scopes import SCOPES, NamedScope
from model.tla.configuration import Configuration
from model.tla.module import Module
from model.tla.names import Names, legal, module_name
from model.tla.terms import NotExpressibleError

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
CONCEPTS = [*{named.scope.concept.name: named.scope.concept for named in SCOPES}.values()]
scoped = pytest.mark.parametrize("named", SCOPES, ids=lambda named: named.name)


def test_the_text_is_the_golden_one(tmp_path: Path) -> None:
    written = {path.name: path.read_text("utf-8") for path in export_file(HERE / "shelf.py", [], tmp_path)}
    assert written == {path.name: path.read_text("utf-8") for path in GOLDEN.iterdir()}


# Every module ---------------------------------------------------------------------------------------------------------


def code(text: str) -> str:
    """A module without its comments."""
    return re.sub(r"\\\*.*", "", text)


def definitions(text: str) -> dict[str, str]:
    """The definitions of a module by name."""
    parts = re.split(r"^(\w+)(?:\([^)]*\))? ==", code(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_each_action_and_each_property_has_a_definition_and_its_sentence(concept: Concept) -> None:
    module = Module(concept)
    text = module.text()
    defined = definitions(text)
    flat = " ".join(text.replace("\n\\*", " ").split())
    for one in module.concept.actions.values():
        assert "'" in defined[one.name]
        assert one.sentence in flat
        assert one.cite in flat
        assert re.search(rf"\\/ .*\b{one.name}\b", defined["Next"])
    for declared in module.concept.properties.values():
        assert declared.name in defined
        assert declared.sentence in flat


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_an_action_says_of_each_variable_what_it_becomes(concept: Concept) -> None:
    module = Module(concept)
    defined = definitions(module.text())
    for one in module.concept.actions.values():
        assert becoming(defined[one.name]) == sorted(info.name for info in module.state), one.name
    assert sorted(re.findall(r"\w+", defined["vars"])) == sorted(info.name for info in module.state)


def becoming(body: str) -> list[str]:
    """Variables that an action assigns or leaves."""
    assigned = re.findall(r"^ *(?:/\\ )+(\w+)' = ", body, re.MULTILINE)
    left = re.findall(r"UNCHANGED <<([^>]*)>>", body)
    return sorted([*assigned, *(name for group in left for name in re.findall(r"\w+", group))])


def test_a_variable_that_is_forgotten_is_noticed() -> None:
    body = "\n    /\\ a' = [a EXCEPT ![b] = b']\n    /\\ UNCHANGED <<c,\n          d>>\n"
    assert becoming(body) == ["a", "c", "d"]


@scoped
def test_a_configuration_gives_each_constant_a_value(named: NamedScope) -> None:
    made = Configuration(named.scope)
    module, own = code(made.module.text()), code(made.text())
    wanted = [name for text in (module, own) for block in re.findall(r"^CONSTANTS\n((?:    .*\n)+)", text, re.MULTILINE)
              for name in re.findall(r"\w+", block)]
    configuration = made.configuration(judged_in(named), refuted(named, judged_in(named)))
    given = re.findall(r"^    (\w+) (=|<-) (.*)", configuration, re.MULTILINE)
    assert sorted(name for name, _, _ in given) == sorted(wanted)
    assert {value for _, sign, value in given if sign == "<-"} <= set(definitions(own))
    checked = re.findall(r"^(?:\\\* )?(?:INVARIANT|PROPERTY) (\w+)", configuration, re.MULTILINE)
    assert set(checked) <= {*definitions(module), *definitions(own)}
    assert len(checked) == len(judged_in(named)) + 1


@scoped
def test_what_is_expected_to_fail_stands_as_a_comment(named: NamedScope) -> None:
    made = Configuration(named.scope)
    text = made.configuration(judged_in(named), refuted(named, judged_in(named)))
    told = set(re.findall(r"^\\\* (?:INVARIANT|PROPERTY) (\w+)", text, re.MULTILINE))
    assert {made.checked(one)[1] for one in judged_in(named) if one.name in named.violated} <= told


@scoped
def test_what_happens_elsewhere_is_no_step(named: NamedScope) -> None:
    made = Configuration(named.scope)
    left = definitions(made.text() if named.scope.forbid else made.module.text())[
        "NextHere" if named.scope.forbid else "Next"]
    for name in named.scope.concept.actions:
        assert (name in re.findall(r"\w+", left)) == (name not in named.scope.forbid)


def test_no_two_scopes_have_one_file() -> None:
    names = [Configuration(named.scope).name for named in SCOPES]
    assert len({*names, *(concept.name for concept in CONCEPTS)}) == len(names) + len(CONCEPTS)


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "wanted"), [
    ("fetch", "fetch"), ("WF_done", "x_WF_done"), ("größe", "gruf6udfe"), ("_", "x__"), ("_1", "x__1"),
])
def test_a_name_of_python_is_made_one_of_tla(name: str, wanted: str) -> None:
    assert legal(name) == wanted


def test_a_concept_that_is_called_like_a_standard_module_has_a_module_of_its_own() -> None:
    assert (module_name("Sequences"), module_name("Lease")) == ("SequencesConcept", "Lease")


class Clash(State):
    """Names that TLA+ has, or that are there twice."""

    vars: Bool
    Next: Bool
    step: Bool


@initially
def nothing(s: Clash) -> Bool:
    return ~s.vars & ~s.Next & ~s.step


@action("a")
def step(s: Clash, Next: Bool) -> None:  # noqa: N803 - the clash
    s.step = Next


def test_a_name_that_is_taken_gets_a_number() -> None:
    names = Names(Clash.concept)
    assert [names.of("variable", name) for name in ("vars", "Next", "step")] == ["vars_2", "Next_2", "step"]
    assert names.of("action", "step") == "step_2"
    assert "step_2(Next_3) ==\n    /\\ step' = Next_3\n" in Module(Clash.concept).text()


class Row(Nat):
    """A row."""


# Layout ---------------------------------------------------------------------------------------------------------------


class Shelves(State):
    """A table of which all cells are assigned, and then one."""

    full: Table[Row, Bool]
    swept: Table[Row, Bool]


@action("a")
def sweep(s: Shelves) -> None:
    for row in every(Row):
        s.full[row] = (exists(s.swept[r] & ~s.swept[row] & s.full[r] for r in every(Row))
                       & exists(~s.swept[r] & s.swept[row] & s.full[r] for r in every(Row)))
    s.full[Row.of(0)] = TRUE


def test_what_is_assigned_after_a_loop_leaves_its_lines_as_they_are() -> None:
    written = Module(Shelves.concept).text()
    assert len(re.findall(r"\\E \w+ \\in Row", written)) == 2
    assert not re.search(r"/\\ \\E.*/\\ \\E", written), "the second quantifier would lie in the first one"


# What is refused ------------------------------------------------------------------------------------------------------


class Partial(State):
    """The initial condition speaks of one cell."""

    full: Table[Row, Bool]


@initially
def one_is_empty(s: Partial) -> Bool:
    return ~s.full[Row.of(0)] & forall((r <= 0).implies(~s.full[r]) for r in every(Row))


@action("a")
def fill(s: Partial) -> None:
    s.full[Row.of(0)] = ~s.full[Row.of(0)]


class Single(State):
    """The initial condition speaks of one cell only."""

    full: Table[Row, Bool]


@initially
def first_is_empty(s: Single) -> Bool:
    return ~s.full[Row.of(0)]


@action("a")
def fill_first(s: Single) -> None:
    s.full[Row.of(0)] = ~s.full[Row.of(0)]


def test_a_start_that_mentions_some_cells_only_is_refused() -> None:
    Configuration(Scope(Partial, {Row: 2}))
    with pytest.raises(NotExpressibleError, match="mentions some cells of full and not others"):
        Configuration(Scope(Single, {Row: 2}))


# The command ----------------------------------------------------------------------------------------------------------


def exported(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["export", "tla", *map(str, words)])
    return result.exit_code, result.output


@pytest.mark.parametrize(("name", "files"), [
    ("OrderLock", {"OrderLock.tla"}),
    ("route_info", {"Routes.tla", "TopicRoutes.tla", "NameServers.tla", "RouteCache.tla"}),
    ("group 1,2,2", {"Group.tla", "MC_group_1_2_2.tla", "MC_group_1_2_2.cfg"}),
])
def test_a_concept_a_file_of_concepts_or_a_scope(name: str, files: set[str], tmp_path: Path) -> None:
    assert exported(name, "--out", tmp_path)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == files


def test_everything_is_written_without_names(tmp_path: Path) -> None:
    assert len(list(export_named([], tmp_path))) == len(CONCEPTS) + 2 * len(SCOPES)


def test_an_unknown_name_and_a_folder_that_is_a_file_are_bad_input(tmp_path: Path) -> None:
    assert exported("OrderLok", "--out", tmp_path)[0] == 2
    (tmp_path / "file").write_text("")
    assert exported("OrderLock", "--out", tmp_path / "file")[0] == 2
    assert exported(HERE / "shelf.py", "a cellar", "--out", tmp_path)[0] == 2
