"""Machines: verdict rows and their replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from invariants.__main__ import app
from invariants.rules.declared import BY_NAME
from invariants.verdict import Outcome
from stateful_tests.cover.machines.asked import CALM, D1, N1, ROUTED, rows
from stateful_tests.machines import judge, known
from stateful_tests.machines.machine import Found, Trial
from stateful_tests.machines.program import parsed
from stateful_tests.machines.search import Effort, machine_named
from stateful_tests.standard_error import beside_progress
from stateful_tests.worlds.subjects import DECLARED


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def test_a_program_gives_a_row_for_what_it_breaks() -> None:
    result = run("machine", "consumer_group", "--program", D1, "--json", "-")
    (row,) = rows(result.stdout)
    assert result.exit_code == 0
    assert (row["property"], row["judge"], row["outcome"]) == ("one_owner_per_queue", "machine", "violated")
    assert row["subject"] == {"kind": "variant", "name": "shipped", "details": {"concept": "consumer_group"}}
    assert "D1" in row["hazard"]
    assert row["note"].startswith("2 deeds: ")


def test_a_variant_of_a_file_goes_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text('from impl.variants.variant import Variant\n'
                    'VARIANT = Variant("mine", "bug", "Nothing.", "a toy")\n', "utf-8")
    result = run("machine", "consumer_group", "--variant", str(file), "--program", D1, "--json", "-", "--out",
                 str(tmp_path / "out"))
    row, whole = rows(result.stdout)
    assert (row["outcome"], row["expected"], whole["outcome"]) == ("violated", "violated", "never executed")
    assert row["subject"] == {"kind": "variant", "name": "repaired+mine",
                              "details": {"concept": "consumer_group", "file": str(file)}}
    assert row["evidence"].startswith("evidence/machine-consumer_group-repaired_mine-")


EXAMPLES = Path(__file__).parents[3] / "examples" / "changes"
UNSUBSCRIBED = "unsubscribe(who='consumer1', topic='orders'); pass_time(s=31)"


@pytest.mark.parametrize(("kind", "status", "says"), [
    ("change", 1, "topics-stay: something got worse: refines_subscription: 2 deeds"),
    ("repair", 1, "topics-stay: what it repairs is not fixed, or something else got worse: refines_subscription: "),
    ("bug", 0, "topics-stay: it was noticed: refines_subscription: 2 deeds"),
])
def test_a_machine_says_of_a_variant_what_its_kind_asks_for(kind: str, status: int, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text((EXAMPLES / "topics_stay.py").read_text("utf-8").replace('"change"', repr(kind)), "utf-8")
    result = run("machine", "subscription", "--variant", str(file), "--base", "repaired-B-2,B-29",
                 "--program", UNSUBSCRIBED)
    assert (result.exit_code, says in result.stdout) == (status, True), result.output


@pytest.mark.parametrize(("kind", "status", "says"), [
    ("change", 0, "shipped-loop: nothing got worse: no property fails by this program that holds of repaired-B-2,B-29"),
    ("bug", 1, "shipped-loop: it was not noticed: no property fails"),
])
def test_what_breaks_nothing_is_as_good_as_its_kind_says(kind: str, status: int, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text((EXAMPLES / "shipped_loop.py").read_text("utf-8").replace('"change"', repr(kind)), "utf-8")
    result = run("machine", "subscription", "--variant", str(file), "--base", "repaired-B-2,B-29",
                 "--program", UNSUBSCRIBED)
    assert (result.exit_code, says in result.stdout) == (status, True), result.output


def test_what_the_base_breaks_by_the_same_program_is_not_the_doing_of_the_change() -> None:
    file = str(EXAMPLES / "shipped_loop.py")
    result = run("machine", "consumer_group", "--variant", file, "--base", "shipped", "--program", D1)
    assert result.exit_code == 0, result.output
    assert "shipped+shipped-loop: nothing got worse" in result.stdout


def test_a_machine_draws_what_it_finds_as_replay_and_show_do(tmp_path: Path) -> None:
    drawn = run("machine", "consumer_group", "--program", D1).stdout
    assert "◆" in drawn
    assert "✗ Broken promise: At every instant a queue is held by at most one member" in drawn
    stored = run("machine", "consumer_group", "--program", D1, "--out", str(tmp_path)).stdout
    picture = drawn.partition("profile the program")[2]
    assert picture in stored
    (file,) = (tmp_path / "evidence").glob("*.json")
    for command in ("replay", "show"):
        assert picture.strip() in run(command, str(file)).stdout


def test_what_repairs_cover_is_said_before_anything_runs_with_the_command_that_judges_it() -> None:
    file = str(EXAMPLES / "shipped_loop.py")
    words = ("machine", "subscription", "--variant", file, "--program", CALM)
    covered, *_ = run(*words, "--base", "repaired").stdout.split("to judge it without them:")
    assert "ConsumerGroupInfo.add_subscriptions would be covered by update_in_one_step (B-2, B-29), put_in" in covered
    assert f"{file} --base repaired-B-2,B-29\n" in run(*words, "--base", "repaired").stdout
    assert "the base is repaired-B-2,B-29; on repaired ConsumerGroupInfo.add_sub" in run(*words).stdout
    assert "would be covered" not in run(*words, "--base", "shipped").stdout


def test_a_program_that_breaks_nothing_says_so() -> None:
    result = run("machine", "consumer_group", "--subject", "repaired", "--program", CALM)
    assert (result.exit_code, result.output.strip()) == (0, "the program breaks nothing")


def test_evidence_shows_the_program_and_is_replayed(tmp_path: Path) -> None:
    result = run("machine", "consumer_group", "--program", D1, "--json", "-", "--out", str(tmp_path))
    (row,) = rows(result.stdout)
    file = tmp_path / row["evidence"]
    assert row["replay"] == f"rocketproof replay {file}"
    evidence = json.loads(file.read_text("utf-8"))
    assert evidence["kind"] == "run"
    assert evidence["program"] == [str(line) for line in parsed(D1)]
    told = {(one["who"], one["sentence"]) for one in evidence["told"]}
    assert ("consumer2", "starts") in told
    assert any(sentence.startswith("paused 1000 ms at findConsumerIdList") for _, sentence in told)
    assert {"picture", "digest", "choices"} <= evidence.keys()
    assert "takes queue" in next(one["text"] for one in evidence["picture"]["rows"] if one["mark"] == "finding")
    again = run("replay", str(file))
    assert again.exit_code == 0, again.output
    assert "digest as stored" in again.output


@pytest.mark.parametrize(("change", "status", "says"), [
    ({"digest": "0" * 32}, 0, "another digest: the code has changed"),
    ({"program": ["pass_time(s=1)"]}, 1, "does not break it any more"),
    ({"program": ["stop()"]}, 2, "has no rule 'stop'"),
    ({"program": 5}, 2, "give a file that a verdict names"),
    ({"signature": []}, 2, "give a file that a verdict names"),
])
def test_evidence_that_was_changed_is_noticed(
    change: dict[str, Any], status: int, says: str, tmp_path: Path,
) -> None:
    (row,) = judge.replayed("consumer_group", "shipped", parsed(D1), tmp_path)
    file = tmp_path / str(row.evidence)
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | change), "utf-8")
    result = run("replay", str(file))
    assert (result.exit_code, says in result.output) == (status, True), result.output


def test_a_judge_gives_a_row_for_each_property_and_shrinks_what_it_found(tmp_path: Path) -> None:
    told: list[str] = []
    found = judge.judged("route_info", "shipped", Effort(0, 4, 5), out=tmp_path, tell=told.append)
    verdicts = {one.property: one for one in found}
    assert {*verdicts} - {*BY_NAME} == {*machine_named("route_info").judged}
    assert all(one.outcome is Outcome.VIOLATED for name, one in verdicts.items() if name in BY_NAME)
    row = verdicts[ROUTED]
    assert (row.outcome, row.as_expected, row.note, row.hazard) == (
        Outcome.VIOLATED, True, f"1 deed: {DECLARED[ROUTED].sentence}", ("N-1",))
    assert json.loads((tmp_path / str(row.evidence)).read_text("utf-8"))["program"] == [N1]
    assert {one.outcome for one in verdicts.values()} == {Outcome.VIOLATED, Outcome.UNKNOWN}
    assert told[0] == "0 of 4 programs, 0 deeds, 0 properties broken"


def test_a_known_program_that_breaks_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "KNOWN", (known.Known("D1", "consumer_group", "one_owner_per_queue", CALM),))
    (row,) = known.shown(["one_owner_per_queue"])
    assert (row.outcome, row.as_expected) == (Outcome.HOLDS, False)
    assert row.replay.endswith(f'--program "{CALM}"')


def test_what_is_expected_and_was_not_found_is_unknown() -> None:
    (row,) = judge.judged("consumer_group", "shipped", Effort(0, 1, 1), ["one_owner_per_queue"])
    assert (row.expected, row.outcome) == (Outcome.VIOLATED, Outcome.UNKNOWN)
    assert "more with --examples" in row.note
    assert row.replay.endswith("--property one_owner_per_queue --seed 0 --examples 1 --deeds 1")


@pytest.mark.parametrize(("subject", "names"), [
    ("repaired", ["one_owner_when_settled"]), ("repaired+bc-subversion-not-bumped", []),
])
def test_what_there_was_no_time_for_is_unknown(subject: str, names: list[str]) -> None:
    (row,) = judge.judged("consumer_group", subject, Effort(0, 2, 3, seconds=0.0), names)
    assert row.outcome is Outcome.UNKNOWN
    assert "time was over after 0 of 2 programs; more with --minutes" in row.note


def test_a_program_that_there_was_no_time_to_shrink_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "SHRINKS_S", 0.0)
    found = {one.property: one for one in judge.judged("route_info", "shipped", Effort(0, 8, 5), [ROUTED])}
    assert found[ROUTED].outcome is Outcome.VIOLATED
    assert found[ROUTED].note.endswith("; shorter programs may do, for which there was no time")


def test_what_a_base_breaks_as_well_is_not_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    shrunk: list[str] = []

    def unshrunk(trial: Trial, name: str, _: Effort) -> tuple[Found, str]:
        shrunk.append(name)
        return trial.found[name], ""

    monkeypatch.setattr(judge, "_shrunk", unshrunk)
    monkeypatch.setattr(judge, "by_variant", lambda found: found.seen.property != ROUTED)
    list(judge.judged("route_info", "shipped+bc-subversion-not-bumped", Effort(0, 8, 5)))
    assert ROUTED not in shrunk
    assert shrunk


def test_what_is_not_broken_holds() -> None:
    (row,) = judge.judged("consumer_group", "repaired", Effort(0, 2, 3), ["one_owner_when_settled"])
    assert (row.outcome, row.as_expected, row.note) == (Outcome.HOLDS, True, "in 2 programs of at most 3 deeds")


def test_what_cannot_be_judged_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stateful_tests.machines.machine.MAX_SEGMENTS", 1_000)
    (row,) = judge.judged("consumer_group", "repaired", Effort(0, 2, 5), ["ownership_converges"])
    assert row.outcome is Outcome.UNKNOWN
    assert "1,002 segments and only " in row.note
    assert "it talks without end" in row.note


@pytest.mark.parametrize(("words", "says"), [
    (["nothing"], "no machine for 'nothing'; there are consumer_group,"),
    (["consumer_group", "--subject", "fixed"], "no subject 'fixed'"),
    (["consumer_group", "--variant", "seeded-nothing"], "no subject 'seeded-nothing': say"),
    (["consumer_group", "--variant", "gone.py"], "no file gone.py"),
    (["consumer_group", "--base", "shipped"], "--base shipped: say with --variant what lies on it"),
    (["consumer_group", "--variant", "seeded-no-goodbye", "--base", "mended"], "no subject 'mended'"),
    (["consumer_group", "--variant", "x", "--subject", "shipped"], "give --subject or --variant, not both"),
    (["consumer_group", "--property", "one_lock_holder"], "does not judge one_lock_holder; it judges"),
    (["consumer_group", "--program", "start(who="], "no program"),
    (["consumer_group", "--program", "start(who='me')"], "who is one of"),
])
def test_bad_input_gives_one_line(words: list[str], says: str) -> None:
    result = run("machine", *words)
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(beside_progress(result.stderr)) == 1
