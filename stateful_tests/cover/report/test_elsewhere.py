"""Rows for other programs: well-formed, complete, and nothing in them is read as markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET  # reads what this project has written

import pytest
import typer
from typer.testing import CliRunner

from invariants.__main__ import app
from invariants.report.elsewhere import junit, summary
from stateful_tests.cover.report import samples

ROWS = [
    samples.row("a", "prove", "m", replay="replay a", cost={"seconds": 1.5}),
    samples.row("b", "explore", "m", "violated", expected="violated", replay="replay b", hazard=("D1",)),
    samples.row("c", "explore", "m", "violated", expected="holds", replay="replay c", note="it does | not"),
    samples.row("d", "campaign", "m", "unknown", expected="holds", replay="replay d", note="a time-out"),
]
EVIL = "]]><x a=\"'&\x00\x1b\ud800|*_[l](u)\n`"
PREMISE = ["explore", "abandoned lock", "--property", "it_took_the_whole_lease"]


def parsed(text: str) -> Any:
    return ET.fromstring(text.encode())  # noqa: S314  # see above


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(app, list(map(str, words)))


def test_a_test_case_fails_if_its_row_differs_and_is_an_error_if_it_is_unknown() -> None:
    suite = parsed(junit(ROWS))[0]
    assert suite.attrib == {"name": "rocketproof", "tests": "4", "failures": "1", "errors": "1", "time": "1.500"}
    found = {case.get("name"): [part.tag for part in case] for case in suite}
    assert found == {"a [m]": [], "b [m]": ["system-out"], "c [m]": ["failure"], "d [m]": ["error"]}
    failure = suite[2][0]
    assert failure.get("message") == "violated, expected holds"
    assert failure.text == "it does | not\nsee it again: replay c"
    assert suite[2].get("classname") == "rocketproof.explore"


def test_a_summary_has_a_count_and_a_line_for_all_that_needs_a_look() -> None:
    said = summary(ROWS).splitlines()
    assert said[2] == "4 verdicts; as expected: 1 holds, 1 violated; 2 need a look."
    assert said[4] == "| property | judge | subject | expected | outcome | note |"
    assert said[6] == r"| c | explore | m | holds | ✗ violated | it does \| not |"
    assert said[7].startswith("| d | campaign | m | holds | ? unknown |")
    assert said[9:13] == ["```", "replay c", "replay d", "```"]
    assert "needs a look" not in summary(ROWS[:2])
    assert "|" not in summary(ROWS[:2])


def test_a_summary_says_first_what_became_of_a_variant() -> None:
    row = samples.row("change_breaks_nothing", "campaign", "repaired+mine", "violated", expected="holds")
    assert summary([row]).splitlines()[2] == "repaired+mine: something got worse"
    assert "got worse" not in summary([row] * 4)


def test_texts_are_texts() -> None:
    evil = samples.row(EVIL, "prove", EVIL, "violated", expected="holds", note=EVIL, replay=EVIL)
    failure = parsed(junit([evil]))[0][0][0]
    assert "]]><x" in failure.text
    assert "\x00" not in failure.text
    (line,) = [one for one in summary([evil]).splitlines() if one.startswith(r"| \]")]
    assert r"\|\*\_\[l\](u)" in line


def test_the_options_of_every_command_write_both_files(tmp_path: Path) -> None:
    files: list[str | Path] = ["--junit", tmp_path / "new" / "rows.xml", "--summary", tmp_path / "summary.md"]
    for _ in range(2):
        assert run(*PREMISE, *files).exit_code == 0
    assert parsed((tmp_path / "new" / "rows.xml").read_text("utf-8"))[0].get("tests") == "1"
    assert (tmp_path / "summary.md").read_text("utf-8").count("### rocketproof") == 2


@pytest.mark.parametrize("option", ["--junit", "--summary"])
def test_a_file_that_cannot_be_written_is_bad_input_at_once(option: str) -> None:
    result = run(*PREMISE, option, "/proc/nowhere/file")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert result.stdout == ""


def test_the_version_is_printed() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("rocketproof 0.")


# JUnit's schema -------------------------------------------------------------------------------------------------------

MAY_HAVE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"},
                  {"time", "skipped", "timestamp", "hostname", "id", "package"},
                  {"properties", "testcase", "system-out", "system-err"}),
    "testcase": ({"name"}, {"classname", "time"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}
"""What junit-10.xsd of Jenkins lets an element have: attributes that it must have, that it may have, children."""


def against_the_schema(element: Any) -> list[str]:
    """What is not as junit-10.xsd wants it; the counts of a suite are counted, too."""
    must, may, children = MAY_HAVE[element.tag]
    found = [f"{element.tag} has {name}" for name in element.attrib if name not in must | may]
    found += [f"{element.tag} lacks {name}" for name in sorted(must) if name not in element.attrib]
    found += [f"{part.tag} in {element.tag}" for part in element if part.tag not in children]
    if "time" in element.attrib and not re.fullmatch(r"\d+\.\d{3}", element.get("time")):
        found.append(f"time {element.get('time')}")
    if element.tag == "testsuite":
        counted = {name: len(element.findall(f".//{part}")) for name, part in (
            ("tests", "testcase"), ("failures", "failure"), ("errors", "error"))}
        found += [f"{name} {element.get(name)}" for name, count in counted.items() if element.get(name) != str(count)]
    return [*found, *(what for part in element if part.tag in children for what in against_the_schema(part))]


def test_the_document_is_what_junit_readers_take() -> None:
    evil = samples.row(EVIL, "prove", EVIL, "violated", expected="holds", note=EVIL, replay=EVIL)
    long = samples.row("a", "prove", "m", cost={"cpu_seconds": 12_345.6789})
    for rows in ([], ROWS, [evil, long]):
        assert against_the_schema(parsed(junit(rows))) == []


@pytest.mark.parametrize(("right", "wrong", "said"), [
    ("<failure ", "<failed ", "failed in testcase"), ('errors="1"', 'errors="2"', "errors 2"),
    ('name="b [m]"', 'label="b"', "testcase has label"), ('time="1.500">', 'time="1,5">', "time 1,5"),
])
def test_what_is_not_is_noticed(right: str, wrong: str, said: str) -> None:
    text = junit(ROWS).replace(right, wrong).replace("</failure>", "</failed>" if "failed" in wrong else "</failure>")
    assert said in against_the_schema(parsed(text))


# Every command --------------------------------------------------------------------------------------------------------


def judging_commands() -> dict[str, Any]:
    """The commands that write rows, by name."""
    found, left = dict[str, Any](), [("", typer.main.get_command(app))]
    for name, command in left:
        left += [(f"{name} {part}".strip(), one) for part, one in getattr(command, "commands", {}).items()]
        if any("--json" in one.opts for one in command.params) and name not in {"list", "search"}:
            found[name] = command
    return found


def test_every_command_that_judges_can_be_asked_by_other_programs_and_says_how_it_ends() -> None:
    commands = judging_commands()
    assert {"verify", "explore", "prove", "machine", "campaign", "compare", "kill-matrix", "conform", "crash", "replay",
            "store", "check allocation"} <= {*commands}
    for name, command in commands.items():
        assert {"--junit", "--summary"} <= {option for one in command.params for option in one.opts}, name
        assert "Exit status: 0" in command.help, name
