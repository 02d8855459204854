"""The documentation tells the truth: links lead somewhere, commands exist and print what is shown, examples run."""

from __future__ import annotations

import importlib
import importlib.util
import re
import runpy
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from impl.hosts.simulation.tape import RandomTape
from invariants import exploring
from invariants.__main__ import app
from invariants.concepts import PROPERTIES
from invariants.front_desk import catalogue
from invariants.front_desk.guards import guards
from invariants.front_desk.premises import legend, under
from invariants.front_desk.show import called
from model.language import Misuse
from model.scopes import SCOPES
from stateful_tests.worlds.run import Plan, run

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("stateful_tests/**/*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]
DOCS, README = ROOT / "docs", ROOT / "README.md"
LANGUAGE = DOCS / "language.md"
pages = pytest.mark.parametrize("page", PAGES, ids=NAMES)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The fenced and the indented blocks of a page: (language, text)."""
    text = page.read_text("utf-8")
    yield from re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    yield from (("", block) for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE))


def prose(page: Path) -> str:
    return re.sub(r"^ *```.*?^ *```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


# Links ----------------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """What a link may name behind #, as GitHub makes it from a heading."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            found.append(target)
    return found


@pages
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading: two\n[ok](#a-heading-two) [gone](gone.md) [no](page.md#three) [out](https://x.y/z)\n")
    assert broken(page) == ["gone.md", "page.md#three"]


# Merges ---------------------------------------------------------------------------------------------------------------


def conflicts(page: Path) -> list[str]:
    """The lines that a merge leaves where two sides have changed the same."""
    return re.findall(r"^(?:<{7}|>{7})(?: .*)?$", page.read_text("utf-8"), re.MULTILINE)


@pages
def test_no_merge_was_left_half_done(page: Path) -> None:
    assert conflicts(page) == []


def test_a_merge_that_was_left_half_done_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("one\n<<<<<<< HEAD\ntwo\n=======\n<three>\n>>>>>>> main\n")
    assert conflicts(page) == ["<<<<<<< HEAD", ">>>>>>> main"]


# Commands -------------------------------------------------------------------------------------------------------------


def commands(page: Path) -> list[list[str]]:
    """Every `rocketproof …` that a page shows, in a block or in a sentence, without a pipe or a comment behind it."""
    lines = [line.strip().removeprefix("$ ") for language, block in blocks(page) if language != "toml"
             for line in block.splitlines()]
    lines += [" ".join(one.split()) for one in re.findall(r"`(rocketproof [^`]+)`", prose(page))]
    shown = [line for line in lines if line.startswith("rocketproof ")]
    return [shlex.split(re.split(r" [|>(#] | \|\| ", line)[0], comments=True)[1:] for line in shown]


def wrong(words: list[str]) -> str:
    """What is wrong with a command, or ""."""
    command: Any = typer.main.get_command(app)
    words = [word for word in words if word not in {"…", "..."}]
    while words and hasattr(command, "commands"):
        if words[0] not in command.commands:
            own = {name for one in command.params for name in one.opts}
            return f"no command {words[0]}" if words[0] not in own | {"--help"} else ""
        command = command.commands[words.pop(0)]
    known = _of_a_file if words and words[0].endswith(".py") and command.name in {"prove", "explore"} else _unknown
    takes = {name: one for one in command.params for name in one.opts if name.startswith("-")}
    arguments, expects = [], None
    for word in words:
        if expects is not None:
            problem, expects = known(expects, word), None
        elif word.startswith("--") or (word.startswith("-") and word != "-"):
            name = word.partition("=")[0]
            problem = "" if name in takes or name == "--help" else f"{command.name} has no option {name}"
            expects = name if name in takes and not getattr(takes[name], "is_flag", False) else None
        else:
            arguments.append(word)
            problem = known(command.name, word)
        if problem:
            return problem
    takes_any = any(one.param_type_name == "argument" for one in command.params)
    return f"{command.name} takes no arguments" if arguments and not takes_any else ""


def _of_a_file(_where: str, _word: str) -> str:
    """Names in a file of a user's own are not known here."""
    return ""


def _unknown(where: str, word: str) -> str:
    """What is wrong with an argument of a command, or the value of an option; words in capitals stand for any."""
    if word.isupper() or word.startswith(("my_", "…")) or word.endswith("…"):
        return ""
    try:
        if where == "show":
            called(word)
        elif where in {"verify", "prove", "--property"}:
            catalogue.known(word)
        elif where == "--guards":
            list(guards(word))
        elif where == "explore":
            exploring.scopes([word])
        elif where == "list":
            catalogue.filtered(catalogue.entries(), [word])
    except Exception as error:  # noqa: BLE001 - whatever the catalogue says against it
        return str(error)
    return ""


@pages
def test_every_command_exists_with_its_options_and_names(page: Path) -> None:
    assert [(words, wrong(words)) for words in commands(page) if wrong(words)] == []


@pytest.mark.parametrize("line", [
    "prov one_live_believer", "prove one_live_beliver", "prove --seads 3", "explore 'grup 1'", "report out --html",
    "check strategy --python A:B", "explore --property one_owner", "list xyzzy",
])
def test_a_command_that_does_not_exist_is_noticed(line: str) -> None:
    assert wrong(shlex.split(line))


def test_the_pages_show_commands_at_all() -> None:
    shown = [words for page in PAGES for words in commands(page)]
    every = "list show verify explore prove check conform campaign replay report"
    assert {words[0] for words in shown} >= set(every.split())
    assert sum(len(commands(page)) for page in PAGES if page.parent == DOCS) > 30


@pages
def test_every_module_and_make_target_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    missing = [name for name in re.findall(r"python -m ([\w.]+)", text) if importlib.util.find_spec(name) is None]
    own = [block for language, block in blocks(page) if language == "make"]
    makefile = "\n".join([(ROOT / "Makefile").read_text("utf-8"), *own])
    targets = re.findall(r"(?:`|^    |^\$ )make ([a-z-]+)\b", text, re.MULTILINE)
    assert missing == []
    assert [one for one in targets if not re.search(rf"^{one}:", makefile, re.MULTILINE)] == []


# What commands print --------------------------------------------------------------------------------------------------

RUN = [DOCS / f"{name}.md" for name in ("explore", "prove", "decisions", "conform", "machine", "verdicts")]


def shown_runs(page: Path) -> list[tuple[list[str], str]]:
    """The commands of a page that begin with `$ rocketproof`, and what the page says that they print."""
    parts = [part for _, block in blocks(page) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    runs = [part.partition("\n") for part in parts if part.startswith("rocketproof ")]
    return [(shlex.split(command, comments=True)[1:], printed) for command, _, printed in runs]


def missing(shown: str, printed: str) -> list[str]:
    """Parts of what a page shows that were not printed; … stands for anything, columns may be narrower."""
    real = " ".join(printed.split())
    lines = [line for line in shown.splitlines() if not set(line) <= set("─ ")]
    parts = [part.strip() for line in lines for part in re.split(r" {2,}|…", line)]
    return [part for part in parts if part not in real]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    Path("strategies.py").write_text("\n".join(code for kind, code in blocks(page) if kind == "python"), "utf-8")
    runpy.run_path("strategies.py")
    assert shown_runs(page)
    for words, shown in shown_runs(page):
        result = CliRunner().invoke(app, words)
        assert missing(shown, result.stdout + result.stderr) == [], words


def test_the_variant_that_a_page_shows_is_loaded_and_noticed(tmp_path: Path) -> None:
    (code,) = (code for kind, code in blocks(DOCS / "simulation.md") if kind == "python" and "VARIANT" in code)
    (tmp_path / "kept.py").write_text(code, "utf-8")
    found = [{seen.property for seen in run(Plan(subject, "orderly", "calm"), RandomTape(0)).seen}
             for subject in ("repaired", f"repaired+{tmp_path / 'kept.py'}")]
    assert found[1] - found[0] == {"given_up_lock_is_freed", "leaver_frees_its_locks", "queue_is_not_left_alone"}


def test_a_page_that_shows_something_else_is_noticed() -> None:
    assert missing(" 1,444 states · …  ✓ holds", "1,444 states · 11,742 transitions  ✓  holds") == []
    assert missing(" 1,445 states · …", "1,444 states · 11,742 transitions") == ["1,445 states ·"]


# The table of the README ----------------------------------------------------------------------------------------------


def table_rows() -> dict[str, list[str]]:
    """What the README says of properties of the models, column by column."""
    rows = [line.strip("| ").split(" | ") for line in README.read_text("utf-8").splitlines() if line.startswith("| ")]
    return {name: [*columns, ""] for name, *columns in rows if name in PROPERTIES}


def test_the_table_names_all_premises_of_each_proof() -> None:
    rows = table_rows()
    assert len(rows) > 20
    assert {name: columns[1].removesuffix(" |") for name, columns in rows.items()} == {
        name: under(PROPERTIES[name]) for name in rows}


def test_the_table_names_the_hazards_of_each_property() -> None:
    named = {name: set(re.findall(r"\b[A-Z]+-?\d+[ab]?\b", columns[0])) for name, columns in table_rows().items()}
    assert named == {name: set(PROPERTIES[name].expected.hazards) for name in named}


def test_the_legend_says_what_each_premise_of_the_table_says() -> None:
    block = "\n".join(legend(PROPERTIES[name] for name in table_rows()))
    assert len(block.splitlines()) > 40
    assert block in README.read_text("utf-8")


# Files, quoted code, counts -------------------------------------------------------------------------------------------


@pages
def test_every_file_that_is_named_exists(page: Path) -> None:
    rooms = "model|invariants|impl|proofs|stateful_tests|spark_fuzz|bench|docs"
    named = re.findall(rf"`((?:{rooms})/[\w/.-]*)`", page.read_text("utf-8"))
    paths = [one for one in named if not re.search(r"[A-Z]{2,}", one)]  # FAMILY.py stands for any
    assert [one for one in paths if not (ROOT / one).exists()] == []


@pages
def test_quoted_code_is_what_stands_in_its_file(page: Path) -> None:
    for language, block in blocks(page):
        if language == "py":
            name, _, code = block.partition("\n")
            assert code.strip() in (ROOT / name.removeprefix("# ")).read_text("utf-8"), name


@pages
def test_counts_of_scopes_are_the_pinned_ones(page: Path) -> None:
    pinned = {named.name: (named.states, named.transitions, named.depth) for named in SCOPES}
    counts = re.compile(r"explore +(.*?)   .* ([\d,]+) states · ([\d,]+) transitions · depth (\d+)")
    for scope, *numbers in counts.findall(page.read_text("utf-8")):
        assert tuple(int(number.replace(",", "")) for number in numbers) == pinned[scope], scope


# The language ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The blocks of the language page, as the one module that they are; it searches and proves when it is imported."""
    folder = tmp_path_factory.mktemp("language_page")
    source = "\n".join(code for kind, code in blocks(LANGUAGE) if kind == "python")
    (folder / "language_page.py").write_text(source, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("language_page")


def test_the_language_page_is_a_model_that_is_searched_and_proved(module: ModuleType) -> None:
    found, concept = module.found, module.Log.concept
    assert {name for name in concept.properties if found.outcome(name) == "violated"} == {
        "readers_stay_behind", "readers_are_inside"}  # both need that no machine is lost
    assert found.outcome("well_defined") == "holds"
    assert found.never_fired == []
    comment = re.search(r"# (append, .*)", LANGUAGE.read_text("utf-8"))
    assert comment
    assert module.shortest == comment[1].split(", ")
    assert module.rows
    assert set(module.rows.values()) == {"holds"}


def test_the_language_page_names_faults_that_are_noticed(module: ModuleType) -> None:
    for declared in module.Log.concept.properties.values():
        for mutation in declared.broken_by:
            assert module.explore(module.small, [declared], mutation=mutation).outcome(declared.name) == "violated"


def misuses() -> list[tuple[str, str, str]]:
    """The rows of the tables of misuse: (heading, what is written, what is said)."""
    text = LANGUAGE.read_text("utf-8").partition("## Misuse")[2].partition("## ")[0]
    parts = re.findall(r"(an action|a formula|a class)[^\n]*:\n\n(.*?)\n\n", text, re.DOTALL)
    rows = [(where, re.findall(r"^\| `(.*?)` \| (.*) \|$", table, re.MULTILINE)) for where, table in parts]
    return [(where, *(part.replace("\\|", "|") for part in row)) for where, table in rows for row in table]


_AROUND = {
    "an action": '@action("here")\ndef body(s: Log, c: Consumer, m: Message) -> None:\n    {}\n',
    "a formula": '@always(shipped="holds")\ndef promise(s: Log) -> Bool:\n    return {}\n',
    "a class": "class Other(State):\n    {}\n",
}


@pytest.mark.parametrize(("where", "written", "said"), misuses())
def test_each_misuse_says_what_the_page_says(
    where: str, written: str, said: str, module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"misuse_{zlib.crc32(written.encode())}"
    source = f"from __future__ import annotations\nfrom {module.__name__} import *\n{_AROUND[where].format(written)}"
    (tmp_path / f"{name}.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Misuse) as error:
        importlib.import_module(name)
    assert str(error.value).startswith(f"{name}.py:")
    assert str(error.value).endswith(f": {said}")


def test_the_misuse_tables_are_read() -> None:
    assert len(misuses()) > 25
    assert {where for where, *_ in misuses()} == set(_AROUND)
