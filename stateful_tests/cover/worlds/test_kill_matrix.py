"""The kill matrix as people read it: its table in Markdown, and the page that has one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from impl.variants.catalogue import BUGS
from invariants.verdict import BadInputError
from spark_fuzz.cells import EFFECT
from spark_fuzz.hunts import JUDGES
from spark_fuzz.markdown import CONTROL, check_markdown, table, write_markdown

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "kill-matrix.md"
NUMBER = r"(> )?[\d,]+k?"
SEEN = rf"`[a-z_0-9]+` [1-9]\d*/\d+, {NUMBER} \({NUMBER} … {NUMBER}\)"
CELL = {**dict.fromkeys(JUDGES, f"({SEEN})?"), "decisions": r"(`[a-z_0-9]+`, [\d,]+ inputs)?",
        **dict.fromkeys(EFFECT, r"(\d+/\d+)?")}
"""What `table` writes, by column."""

NOBODY: dict[str, Any] = {"property": None, "killed": 0, "of": 20, "time_ms": [None] * 3, "steps": [None] * 3,
                          "limit_ms": 480_000, "limit_steps": 10_000}
KILLED = {**NOBODY, "property": "one_lock_holder", "killed": 12, "steps": [10, 12_345, None]}
ASKED = {**NOBODY, "property": "allocation_is_total", "killed": 1, "of": 1, "limit_ms": 0, "steps": [99_405] * 3}
EFFECTS = {"calls": {"f": 7}, "reached": 3, "runs": 18, "compared": 17, "different": 2, "outcome": "holds"}
MATRIX = {"judges": list(JUDGES), "rows": [
    {"subject": "repaired", "sentence": "", "effect": None, "cells": dict.fromkeys(JUDGES, NOBODY)},
    {"subject": "repaired+for-anyone", "sentence": "", "effect": EFFECTS,
     "cells": {**dict.fromkeys(JUDGES, NOBODY), "properties": KILLED, "decisions": ASKED}},
]}
LINES = """\
| bug | refinement | properties | promises | decisions | called | differs |
| --- | --- | --- | --- | --- | --- | --- |
| *(none: the control)* |  |  |  |  |  |  |
| for-anyone |  | `one_lock_holder` 12/20, 12k (10 … > 10k) |  | `allocation_is_total`, 99,405 inputs | 3/18 | 2/17 |
"""


def parsed(text: str) -> list[list[str]]:
    """The cells of the lines of the last table."""
    table = text[text.rindex("| bug |"):]
    return [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in table.splitlines() if line.startswith("|")]


def faults(rows: list[list[str]]) -> list[str]:
    """What `table` would not have written."""
    head, _, *body = rows
    columns = ["bug", *JUDGES, *EFFECT]
    found = [] if head == columns else [f"the head is {head}"]
    return found + [f"{row[0]}, {name}: {cell}" for row in body for name, cell in zip(columns, row, strict=True)
                    if name != "bug" and not re.fullmatch(CELL[name], cell)]


def test_the_table_is_written_as_it_stands_on_the_page() -> None:
    assert table(MATRIX) == LINES
    assert faults(parsed(LINES)) == []


@pytest.mark.parametrize(("said", "instead"), [
    ("12/20, ", ""), ("| promises ", "| promise "), ("3/18", "3 of 18"), ("99,405 inputs", "many inputs"),
])
def test_another_format_is_noticed(said: str, instead: str) -> None:
    assert len(faults(parsed(LINES.replace(said, instead)))) == 1


def test_the_page_has_a_row_for_each_planted_bug_in_the_format_of_the_command() -> None:
    rows = parsed(PAGE.read_text(encoding="utf-8"))
    assert faults(rows) == []
    assert [row[0] for row in rows[2:]] == [CONTROL, *BUGS]
    assert not any(rows[2][1:])
    assert "rocketproof kill-matrix --markdown" in PAGE.read_text(encoding="utf-8")


def test_the_page_says_how_many_bugs_were_not_hunted_and_how_many_of_these_single_runs_show() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    not_hunted = [row[0] for row in parsed(PAGE.read_text(encoding="utf-8")) if row[-2:] == ["0/0", "0/0"]]
    told = re.search(r"are of (\d+) bugs .*? Single runs show (\d+) of them \(`python -m pytest ([^`]*)`\)", text)
    assert told is not None
    paths = [ROOT / path for path in told[3].split()]
    beside = [path.with_name(path.name.removeprefix("test_")) for path in paths]  # what they run, if it stands there
    runs = "".join(path.read_text(encoding="utf-8") for path in (*paths, *beside) if path.exists())
    shown = [bug for bug in not_hunted if re.search(rf"[+\"]{bug}\"", runs)]
    assert [int(told[1]), int(told[2])] == [len(not_hunted), len(shown)]


def test_a_folder_without_matrix_and_a_file_that_cannot_be_written_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="give the folder of a kill matrix"):
        write_markdown(tmp_path / "matrix.md", tmp_path)
    with pytest.raises(BadInputError, match=r"--markdown .*: cannot be written"):
        check_markdown(tmp_path / "nowhere" / "matrix.md")
    (tmp_path / "matrix.md").write_text("kept", encoding="utf-8")
    check_markdown(tmp_path / "matrix.md")
    assert (tmp_path / "matrix.md").read_text(encoding="utf-8") == "kept"
