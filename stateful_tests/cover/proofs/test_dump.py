"""Obligations as SMT-LIB files: any solver reads them, and people do."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app
from proofs.cvc5_solver import answer_to
from proofs.dump import _Names
from proofs.engine import z3

CLAIMS = ("averagely_is_exclusive", "averagely_moves_minimally", "backoff_is_monotone")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("obligations")
    words = ["prove", "--seeds", "1", "pull_finds_its_subscription", "ownership_converges", "leases_fit_is_needed",
             "one_live_believer", *CLAIMS, "--dump", str(folder)]
    result = CliRunner().invoke(app, [word for word in words if word != "leases_fit_is_needed"])
    assert result.exit_code == 0, result.output
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in sorted(folder.rglob("*.smt2"))}


def test_both_solvers_read_a_file_and_answer_what_it_says(files: dict[str, str]) -> None:
    assert len(files) > 60
    for name, text in [*files.items()][::3]:
        solver = z3.SimpleSolver()
        solver.from_string(text)
        status = text.partition(":status ")[2].partition(")")[0]
        assert status == "unsat" or name.startswith("decisions/"), name
        assert {str(solver.check()), answer_to(text)} == {status}, name


def test_what_a_claim_about_a_decision_owes(files: dict[str, str]) -> None:
    """Each path, each side that no input takes, the rule of multiples, and an input that the claim is about."""
    told = [(re.sub(r"[-\d]*[.]smt2", "", name.split("/")[2][4:]), ":status unsat" in text)
            for name, text in files.items() if name.startswith("decisions/averagely_is_exclusive/")]
    assert Counter(told) == {("true-path", True): 18, ("impossible-side", True): 23, ("rule-multiples", True): 1,
                             ("possible-path", False): 1}
    broken = [name for name, text in files.items() if "/averagely_moves_minimally/" in name and ":status sat" in text]
    assert len(broken) == 1, "the counterexample"
    (third,) = (text for name, text in files.items() if "averagely_is_exclusive/003-true-path-3" in name)
    for line in ("; averagely_is_exclusive: the claim is true on path 3", "; There is no such input.",
                 "(declare-fun quotient.0 () Int)", ":named domain))", ":named division.3))", ":named answer.1))",
                 ":named goal.negated))"):
        assert line in third


def test_a_file_without_its_goal_has_another_answer(files: dict[str, str]) -> None:
    """What is assumed does not contradict itself: the answer rests on the goal."""
    text = files["OrderLock/leases_fit_is_needed/009-violates-one_live_believer.smt2"]
    solver = z3.SimpleSolver()
    solver.from_string(re.sub(r"\(assert \(! \(not (.*)\) :named goal.negated\)\)", "", text, flags=re.DOTALL))
    assert str(solver.check()) == "sat"


def test_names_are_those_of_the_declarations(files: dict[str, str]) -> None:
    (turn,) = (text for name, text in files.items() if "everybody_adds_the_same-turn" in name)
    for line in ("(declare-sort Topic 0)", "(declare-fun listed (Member) Bool)", ":named premise.same_topics))",
                 ":named lemma.threads_keep_their_plan))", ":named guard.turn.1))", ":named goal.negated))"):
        assert line in turn
    assert "; phase[m] = ADDING" in turn
    for text in files.values():
        assert "|" not in text
        assert not re.search(r"!\d|\bfresh\b|\bnow\b", re.sub(r";.*", "", text))


def test_names_that_would_be_equal_are_told_apart() -> None:
    names = _Names()
    read = [names.read(f"|{name}|") for name in ("now x", "rigid x", "fresh 3 x", "now select", "now wörld", "now x")]
    assert read == ["x", "x.2", "x.3", "select.2", "|wörld|", "x"]


@pytest.mark.parametrize("name", ["names_of_the_writer", "names_of_the_solver", "two_sorts_of_one_name",
                                  "described_sets", "ranked_by_many", "names_beyond_ascii"])
def test_no_name_confuses_a_reader(name: str, tmp_path: Path) -> None:
    """Words of SMT-LIB, of solvers and of the writer as names: both read every file, and contradict no answer."""
    file = Path(__file__).parents[1] / "fooled" / "concepts" / f"{name}.py"
    CliRunner().invoke(app, ["prove", str(file), "--seeds", "1", "--timeout-ms", "500", "--dump", str(tmp_path)])
    statuses = set()
    for path in sorted(tmp_path.rglob("*.smt2")):
        text = path.read_text("utf-8")
        status = text.partition(":status ")[2].partition(")")[0]
        statuses.add(status)
        solver = z3.SimpleSolver()
        solver.set("timeout", 500)
        solver.from_string(text)
        assert {str(solver.check()), answer_to(text, 500), status} - {"unknown"} in ({"sat"}, {"unsat"}, set()), path
    assert "unsat" in statuses


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["prove", "one_live_believer", "--dump", str(tmp_path / "file" / "below")])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
