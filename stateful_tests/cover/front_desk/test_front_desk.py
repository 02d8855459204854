"""The commands of `rocketproof`, in this process: what they print, write, and leave with."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from invariants import claim, evidence, exploring
from invariants.__main__ import app
from invariants.concepts import PROPERTIES
from invariants.front_desk import catalogue, interrupt, show
from invariants.front_desk.desk import CRASHED, Desk
from invariants.hazards import HAZARDS
from invariants.report import page
from invariants.verdict import Outcome, Verdict, nearest
from proofs.prove import provable
from spark_fuzz import at_once
from stateful_tests.stories import telling
from stateful_tests.stories import verdicts as stories
from stateful_tests.worlds import glance

COMMANDS = ("list", "show", "verify", "explore", "prove", "conform", "campaign", "kill-matrix", "replay",
            "report", "check allocation", "store")
GREEDY = """
class Greedy:
    def allocate(self, consumer_group, current_cid, mq_all, cid_all):
        return {answer}
"""


def run(*arguments: str | Path) -> Any:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, list(map(str, arguments)))


def rows(text: str) -> list[Verdict]:
    return [Verdict.from_json(line) for line in text.splitlines()]


def one_line(stderr: str) -> str:
    """The single line that a command says on standard error."""
    (line,) = stderr.splitlines()
    assert line.startswith("rocketproof: ")
    return line


# The catalogue --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"rocketproof {command}" in result.stdout.partition("Examples:")[2]


def test_the_list_has_every_property_with_a_judge() -> None:
    entries = catalogue.entries()
    shown = run("list").stdout
    assert len({one.name for one in entries}) == len(entries) > 90
    for one in entries:
        assert f"  {one.name} " in shown
        assert one.judges, f"nobody judges {one.name}"
        assert one.sentence.endswith(".")
        assert set(one.hazards) <= set(HAZARDS)
        assert one.hazards or one.expected == "holds"


def test_the_list_for_programs_is_the_catalogue() -> None:
    listed = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [one["name"] for one in listed] == [one.name for one in catalogue.entries()]
    assert listed[0]["judges"]


def test_the_catalogue_knows_what_the_prover_proves() -> None:
    found = {name for name, declared in PROPERTIES.items() if catalogue.provable(declared)}
    assert found == {name for name, declared in PROPERTIES.items() if provable(declared)}
    assert "one_owner_when_settled" in found
    assert "one_owner_per_queue" not in found


@pytest.mark.parametrize(("name", "parts"), [
    ("one_live_believer", ["∀ a, b: Client", "client_live + rpc_max ≤ broker_live", "violated: D8", "order lock, D8",
                           "holds under the premises", "D9    A delayed unlock", "RebalanceLockManager#"]),
    ("one_owner_per_queue", ["promised  by the documentation", "D1    A joiner takes its share"]),
    ("averagely_is_exclusive", ["assume(i < j, j < m, k < n)", "impl.decisions.allocation.averagely_owns", "prove "]),
    ("allocation_is_total", ["MACHINE_ROOM, equal lists, a room not configured", "violated: L13", "circle_is_total"]),
    ("conforms_to_recordings", ["the answers recorded from RocketMQ 4.9.3"]),
])
def test_a_property_is_shown_with_all_that_is_known(name: str, parts: list[str]) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    for part in parts:
        assert part in result.stdout


def test_every_entry_can_be_shown() -> None:
    for one in catalogue.entries():
        of_runs = one.kind == "rule" or one.home == "invariants.runs"
        last = [f"judge it  rocketproof verify {one.name}"]
        last += [f"search    rocketproof {catalogue.of_runs(one.name)}"] if of_runs else []
        assert list(show.shown(one.name))[-len(last):] == last


def test_judges_of_runs_are_named() -> None:
    assert "  campaign  simulated worlds" in run("show", "one_live_believer").stdout
    assert "  campaign  simulated worlds" not in run("show", "nothing_follows_the_leaver").stdout
    assert run("show", "control_is_silent").stdout.endswith("search    rocketproof kill-matrix\n")


def test_guards_of_a_concept_are_shown_with_what_tests_them_or_which_promise_they_are() -> None:
    shown = run("show", "--guards", "Routes").stdout
    assert "r: Role, k: Connection)    BrokerController#start\n    ¬runs[a]\n        tested by bind(2)" in shown
    assert "    ¬leaving[a]\n        promised as goodbyes_beat_restarts" in shown
    assert "      premise of running_brokers_have_ids, the_known_are_fresh, live_broker_stays_routed" in shown
    assert "no proof rests on it" in run("show", "--guards", "order_lock").stdout
    assert set(re.findall(r"^(\w+): ", run("show", "--guards", "route_info").stdout, re.MULTILINE)) == {
        "Routes", "TopicRoutes", "NameServers", "RouteCache"}


@pytest.mark.parametrize(("words", "said"), [
    ((), "say what to show"), (("one_owner_per_queue", "--guards", "Routes"), "say what to show"),
    (("--guards", "Routs"), "did you mean 'Routes'"), (("--guards", "zzzz"), "they are consumer_group, "),
])
def test_guards_of_nothing_known_are_bad_input(words: tuple[str, ...], said: str) -> None:
    result = run("show", *words)
    assert result.exit_code == 2
    assert said in one_line(result.stderr)


@pytest.mark.parametrize(("name", "judge", "status"), [
    ("refines_subscription", "story", 0), ("goodbye_is_final", "story", 0), ("who_consumes_is_answered", "campaign", 0),
    ("refines_order_lock", "campaign", 0), ("listener_keeps_its_lock", "campaign", 0),
    ("control_is_silent", "campaign", 0),
    ("visited_states_are_reachable", "campaign", 0), ("planted_bug_is_noticed", "campaign", 0),
    ("variant_changes_runs", "campaign", 0), ("same_tape_same_run", "campaign", 0),
    ("living_members_do_not_expire", "campaign", 3),
])
def test_verify_judges_a_property_of_runs_by_what_is_known_of_it(
    name: str, judge: str, status: int, tmp_path: Path,
) -> None:
    result = run("verify", name, "--out", tmp_path)
    (row,) = rows((tmp_path / "verdicts.jsonl").read_text("utf-8"))
    assert (row.property, row.judge, result.exit_code) == (name, judge, status), result.output
    if row.outcome is Outcome.VIOLATED and row.evidence:
        assert run(*row.replay.split()[1:]).exit_code == 0
    assert (f"search further: rocketproof {catalogue.of_runs(name)}" in row.note) == (name not in at_once.PROPERTIES)


def test_everything_in_the_list_is_judged_by_verify_or_said_not_to_be() -> None:
    chosen = catalogue.chosen([])
    judged = {*chosen.protocol, *chosen.strategies, *chosen.own, *chosen.runs}
    judged |= {claim.CLAIMS[name].promises for name in chosen.claims}
    assert judged == {*catalogue.names()}
    unknown = [name for name in chosen.runs if not (
        telling.has_story(name) or name in at_once.PROPERTIES or glance.is_known(name))]
    assert unknown == ["heartbeats_keep_a_member", "living_members_do_not_expire"]


def test_what_no_machine_judges_is_shown_by_a_story(tmp_path: Path) -> None:
    assert run("verify", "newer_subscription_is_taken", "--out", tmp_path).exit_code == 0
    found = rows((tmp_path / "verdicts.jsonl").read_text("utf-8"))
    assert ("story", "refines_subscription") in {(row.judge, row.property) for row in found}
    said = run("show", "newer_subscription_is_taken").stdout
    assert "machine   no machine: a step that its model allows" in said


def test_a_story_that_breaks_nothing_any_more_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stories, "stories_of", lambda _: [("B-29", lambda: None)])
    (row,) = stories.verdicts(["refines_subscription"], tmp_path)
    assert (row.outcome, row.as_expected) == (Outcome.HOLDS, False)
    assert "does not break it" in row.note


@pytest.mark.parametrize("command", [
    "show", "verify", "prove", "explore --property", "check allocation --python a:b --property",
])
def test_an_unknown_property_is_answered_with_the_nearest(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command.split(), "one_owner_per_que")
    assert result.exit_code == 2
    assert "did you mean 'one_owner_per_queue'" in one_line(result.stderr)


def test_names_that_look_alike_are_suggested_and_others_are_not() -> None:
    assert "'group 1,2,2'" in nearest("grup", ["group 1,2,2", "routes"])
    assert "'leaving_member_stays_gone'" in nearest("leaving", ["leaving_member_stays_gone"])
    assert nearest("xyzzy", ["group 1,2,2", "routes"]) == ""


@pytest.mark.parametrize(("words", "some", "others"), [
    (["lock"], {"one_lock_holder", "leaver_frees_its_locks"}, {"one_owner_per_queue"}),
    (["rule", "lock"], {"leaver_frees_its_locks"}, {"one_lock_holder"}),
    (["b-29"], {"refines_subscription", "newer_subscription_is_taken"}, {"leaver_frees_its_locks"}),
    (["check", "violated"], set(), {"allocation_answers"}),
    (["both", "strategy"], {"allocation_is_total"}, {"one_lock_holder"}),
])
def test_the_list_can_be_filtered(words: list[str], some: set[str], others: set[str]) -> None:
    result = run("list", *words, "--json")
    names = {json.loads(line)["name"] for line in result.stdout.splitlines()}
    assert some <= names
    assert not others & names
    assert result.exit_code == (0 if names else 2)


# Judges ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [
    "abandoned_lock_is_freed", "it_took_the_whole_lease", "allocation_does_not_overflow", "averagely_is_balanced",
    "allocation_answers",
])
def test_verify_puts_every_judge_that_applies_to_work(name: str, tmp_path: Path) -> None:
    result = run("verify", name, "--out", tmp_path)
    found = rows((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert result.exit_code == 0, result.output
    assert {row.judge for row in found} == set(catalogue.entry(name).judges) - {"campaign", "check"}
    assert {row.property for row in found} <= {name, *(one.promises for one in catalogue.claims_of(name))}
    assert f"report: {tmp_path / 'report.html'}" in result.stdout
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!")
    for row in found:
        if row.evidence:
            assert evidence.read(tmp_path / row.evidence)["property"] == row.property
            assert row.replay == f"rocketproof replay {tmp_path / row.evidence}"
            assert row.replay in result.stdout or "mutation" in row.subject.details


def test_verify_plays_the_known_program_of_a_property(tmp_path: Path) -> None:
    result = run("verify", "one_owner_while_nobody_joins", "--out", tmp_path)
    (row,) = [one for one in rows((tmp_path / "verdicts.jsonl").read_text("utf-8")) if one.judge == "machine"]
    assert (row.subject.name, row.outcome, row.hazard) == ("shipped", Outcome.VIOLATED, ("D2", "D4"))
    again = run(*row.replay.split()[1:])
    assert again.exit_code == 0
    assert "as stored" in again.stdout, result.output


def test_verify_leaves_nothing_of_an_earlier_run_and_keeps_what_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "old.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    assert run("verify", "it_took_the_whole_lease", "--out", tmp_path).exit_code == 0
    assert not (tmp_path / "evidence" / "old.json").exists()
    assert (tmp_path / "notes.txt").exists()


def test_rows_alone_go_to_standard_output(tmp_path: Path) -> None:
    result = run("verify", "--property", "it_took_the_whole_lease", "--json", "-", "--out", tmp_path)
    assert result.exit_code == 0
    assert {row.judge for row in rows(result.stdout)} == {"explore"}
    assert "as expected" in result.stderr


def test_explore_judges_the_scope_itself_too(tmp_path: Path) -> None:
    result = run("explore", "abandoned lock, U6", "--json", tmp_path / "rows.jsonl", "--out", tmp_path)
    found = {row.property: row for row in rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))}
    assert result.exit_code == 0
    assert found["state_space_is_pinned"].outcome is Outcome.HOLDS
    assert found["abandoned_lock_is_freed"].hazard == ("U6",)
    assert found["abandoned_lock_is_freed"].cost["states"] == 41
    assert "U6" in result.stdout


def test_a_search_that_reaches_its_memory_bound_is_unknown() -> None:
    result = run("explore", "order lock, D8", "--memory-bytes", "100000")
    assert result.exit_code == 3
    assert "bound of 100000 bytes" in result.stdout


def test_planted_bugs_are_found() -> None:
    result = run("explore", "--twins", "--property", "abandoned_lock_is_freed")
    assert result.exit_code == 0
    planted = len(PROPERTIES["abandoned_lock_is_freed"].broken_by)
    assert planted > 0
    assert f"{planted} of {planted} planted mutations noticed" in result.stdout


@pytest.mark.parametrize(("command", "said"), [
    (["explore", "grup"], "did you mean 'group 1,2,2'"),
    (["explore", "nowhere"], "names begin with group, running group, convergence, registration,"),
    (["explore", "group99"], "did you mean 'group 1,2,2' or 'group 2,2,2' or 'group 2,3,2'?"),
    (["list", "one_owner_per_quue"], "did you mean 'one_owner_per_queue'"),
    (["list", "rule", "xyzzy"], "nothing in the list has 'rule' and 'xyzzy'"),
    (["campaign", "--workload", "broadcasting", "--property", "one_lock_holder"], "no workload of this campaign is"),
    (["explore", "routes", "--property", "one_owner_per_queue"], "is not judged in routes"),
    (["prove", "one_owner_per_queue"], "no proof is claimed of one_owner_per_queue"),
    (["check", "allocation"], "say what to check: --python MODULE:CLASS"),
    (["check", "allocation", "--python", "no_such_module:Strategy"], "no_such_module"),
    (["check", "allocation", "--java", "nowhere.jar", "--class", "a.B"], "nowhere.jar does not exist"),
    (["conform", "--vectors", "/nowhere"], "/nowhere: no such directory"),
    (["conform", "--file", "nonsense"], "no recording 'nonsense'"),
    (["campaign", "--workload", "nothing"], "no workload 'nothing'"),
    (["kill-matrix", "--variant", "nothing"], "no subject 'nothing': say shipped"),
    (["campaign", "--variant", "/proc/version"], "/proc/version is no Python file: give one that ends with .py"),
    (["campaign", "--variant", "folder/nothing"], "no file folder/nothing: give the path of a Python file"),
    (["campaign", "--decisions", "--minutes", "0"], "give a number above 0"),
    (["replay", "/nowhere.json"], "cannot be read"),
    (["report", "/nowhere"], "no such directory"),
    (["verify", "--json", "/proc/nowhere/rows.jsonl"], "cannot be written"),
    (["verify", "--out", "/proc/nowhere"], "cannot be written"),
])
def test_bad_input_is_answered_in_one_line(
    command: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command)
    assert result.exit_code == 2
    assert said in one_line(result.stderr)
    assert result.stdout == ""


def test_prove_proves_protocols_and_decisions_with_as_many_seeds_as_asked() -> None:
    result = run("prove", "abandoned_lock_is_freed", "--property", "circle_is_total", "--seeds", "2", "--json", "-")
    protocol, decision = rows(result.stdout)
    assert result.exit_code == 0
    assert (protocol.property, decision.property) == ("abandoned_lock_is_freed", "allocation_is_total")
    assert decision.subject.details["claim"] == "circle_is_total"
    assert {row.outcome for row in (protocol, decision)} == {Outcome.HOLDS}


def test_conform_prints_rows_compared_and_different_per_file() -> None:
    result = run("conform", "--file", "allocation-names", "--file", "delay-levels")
    assert result.exit_code == 0
    assert "allocation-names.jsonl" in result.stdout
    assert "0 different" in result.stdout.replace("\N{NO-BREAK SPACE}", " ")


# A user's strategy ----------------------------------------------------------------------------------------------------


def strategy(folder: Path, answer: str) -> None:
    (folder / "desk_strategy.py").write_text(GREEDY.format(answer=answer), encoding="utf-8")


def test_a_broken_strategy_is_refuted_and_its_counterexample_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    strategy(tmp_path, "mq_all")
    sizes = ["--queues", "3", "--members", "2", "--examples", "5"]
    files = ["--out", "found", "--json", "rows.jsonl"]
    result = run("check", "allocation", "--python", "desk_strategy:Greedy", *sizes, *files)
    found = {row.property: row for row in rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))}
    assert result.exit_code == 1
    exclusive = found["allocation_is_exclusive"]
    assert exclusive.outcome is Outcome.VIOLATED
    assert exclusive.note.startswith("1 queue, 2 members")
    assert exclusive.replay in result.stdout
    again = run(*exclusive.replay.split()[1:])
    assert again.exit_code == 0
    assert "confirmed: allocation_is_exclusive is violated again" in again.stdout
    strategy(tmp_path, "mq_all[cid_all.index(current_cid)::len(cid_all)]")
    mended = run(*exclusive.replay.split()[1:])
    assert mended.exit_code == 1
    assert "not confirmed: allocation_is_exclusive was violated, and is holds now" in mended.stdout


def test_a_good_strategy_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "desk_good.py").write_text(
        GREEDY.format(answer="mq_all[cid_all.index(current_cid)::len(cid_all)]"), encoding="utf-8")
    sizes = ["--queues", "3", "--members", "2", "--examples", "5", "--property", "allocation_is_total"]
    result = run("check", "allocation", "--python", "desk_good:Greedy", *sizes, "--json", "-")
    (row,) = rows(result.stdout)
    assert result.exit_code == 0
    assert row.outcome is Outcome.HOLDS


# Replays --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evidence of a small scope: a trace, and the graph of its states."""
    folder = tmp_path_factory.mktemp("searched")
    assert run("explore", "abandoned lock, U6", "--out", folder).exit_code == 0
    return folder / "evidence"


def test_a_trace_is_run_again_step_by_step(searched: Path) -> None:
    result = run("replay", searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json", "--json", "-")
    (row,) = rows(result.stdout)
    assert result.exit_code == 0
    assert row.outcome is Outcome.VIOLATED
    assert "confirmed: abandoned_lock_is_freed is violated again" in result.stderr


def test_a_trace_that_no_longer_ends_in_a_violation_is_not_confirmed(searched: Path, tmp_path: Path) -> None:
    document = evidence.read(searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json")
    evidence.write(tmp_path / "cut.json", {**document, "steps": document["steps"][:-1]})
    result = run("replay", tmp_path / "cut.json")
    assert result.exit_code == 1
    assert "not confirmed" in result.stdout


def test_a_graph_is_drawn_again(searched: Path, tmp_path: Path) -> None:
    file = searched / "explore-abandoned-lock-U6-state-space-is-pinned.json"
    assert run("replay", file).exit_code == 0
    document = evidence.read(file)
    evidence.write(tmp_path / "less.json", {**document, "edges": document["edges"][1:]})
    assert run("replay", tmp_path / "less.json").exit_code == 1


@pytest.mark.parametrize("change", [
    {"kind": "picture"}, {"subject": {"kind": "model", "name": "no such scope", "details": {}}}, {"initial": 3},
    {"steps": [{"action": "fly"}]}, {"property": "no_such_property"}, {"subject": None},
])
def test_evidence_that_cannot_be_run_is_bad_input(searched: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    document = evidence.read(searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json")
    evidence.write(tmp_path / "changed.json", {**document, **change})
    result = run("replay", tmp_path / "changed.json")
    assert result.exit_code == 2
    assert one_line(result.stderr)


def recording(folder: Path, *answers: dict[str, Any]) -> None:
    header = {"what": "names", "java": "getName", "version": "4.9.3", "args": "a", "result": "r", "errors": ""}
    lines = [header, *({"a": "AllocateMessageQueueAveragely", **answer} for answer in answers)]
    (folder / "allocation-names.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def test_a_row_that_differs_is_compared_again(tmp_path: Path) -> None:
    recording(tmp_path, {"r": "AVG"}, {"r": "CIRCLE"})
    assert run("conform", "--vectors", tmp_path, "--out", tmp_path / "out").exit_code == 1
    file = tmp_path / "out" / "evidence" / "conform-allocation-names.json"
    again = run("replay", file)
    assert again.exit_code == 0
    assert "confirmed: conforms_to_recordings is violated again" in again.stdout
    assert 'expected {"r": "CIRCLE"}, got {"r": "AVG"}' in again.stdout
    (tmp_path / "allocation-names.jsonl").unlink()
    assert run("replay", file).exit_code == 0, "the evidence carries the row"
    recording(tmp_path, {"r": "AVG"}, {"r": "AVG"})
    assert run("replay", file).exit_code == 1


def test_a_row_that_was_not_understood_is_unknown_again(tmp_path: Path) -> None:
    header = {"what": "names", "java": "getName", "version": "4.9.3"}
    text = f"{json.dumps(header)}\n" + json.dumps({"a": "NoSuchStrategy", "r": "AVG"})
    (tmp_path / "allocation-names.jsonl").write_text(text, encoding="utf-8")
    assert run("conform", "--vectors", tmp_path, "--out", tmp_path).exit_code == 3
    assert run("replay", tmp_path / "evidence" / "conform-allocation-names.json").exit_code == 0


@pytest.mark.parametrize(("answer", "status"), [(0, 1), (1, 0)])
def test_an_answer_of_the_live_comparison_is_compared_again(tmp_path: Path, answer: int, status: int) -> None:
    arguments = {"strategy": {"strategy": "AVG"}, "group": "g", "cid": "a", "cidAll": ["a", "b"],
                 "mqAll": [["T", "x", 0], ["T", "x", 1]]}
    stored = {"format": evidence.FORMAT, "kind": "counterexample", "property": "answers_as_rocketmq",
              "judge": "conform",
              "subject": {"kind": "implementation", "name": "AllocateMessageQueueAveragely", "details": {}},
              "replay": "", "sentence": "", "arguments": arguments,
              "results": {"RocketMQ 4.9.3": {"r": [["T", "x", answer]]}}}
    evidence.write(tmp_path / "live.json", stored)
    assert run("replay", tmp_path / "live.json").exit_code == status


def test_several_files_are_replayed_by_one_command(searched: Path, tmp_path: Path) -> None:
    good = searched / "explore-abandoned-lock-U6-abandoned-lock-is-freed.json"
    document = evidence.read(good)
    evidence.write(tmp_path / "cut.json", {**document, "steps": document["steps"][:-1]})
    both = run("replay", good, tmp_path / "cut.json", "--json", "-")
    assert [row.outcome for row in rows(both.stdout)] == [Outcome.VIOLATED, Outcome.HOLDS]
    assert (both.exit_code, run("replay", good, good).exit_code) == (1, 0)
    bad = run("replay", tmp_path / "none.json", good)
    assert bad.exit_code == 2
    assert "confirmed: abandoned_lock_is_freed" in bad.stdout
    assert "none.json: cannot be read" in one_line(bad.stderr)


# Folders --------------------------------------------------------------------------------------------------------------

U6 = ["explore", "abandoned lock, U6", "--property", "abandoned_lock_is_freed"]
PREMISE = ["explore", "abandoned lock", "--property", "it_took_the_whole_lease"]


def test_a_folder_keeps_the_rows_of_the_commands_that_write_there(tmp_path: Path) -> None:
    for command in (U6, PREMISE, U6):
        assert run(*command, "--out", tmp_path).exit_code == 0
    found = rows((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert [row.property for row in found] == ["it_took_the_whole_lease", "abandoned_lock_is_freed"]
    assert (tmp_path / str(found[1].evidence)).is_file()
    assert run("report", tmp_path).exit_code == 0


def test_a_machine_leaves_a_folder_that_can_be_reported(tmp_path: Path) -> None:
    program = "stand_still(who='consumer1', s=5); start(who='consumer2')"
    command = ["machine", "consumer_group", "--subject", "shipped", "--program", program]
    assert run(*command, "--out", tmp_path).exit_code == 0
    assert run("report", tmp_path).exit_code == 0
    assert "one_owner_per_queue" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_rows_that_a_file_in_the_folder_has_are_not_written_twice(tmp_path: Path) -> None:
    assert run(*PREMISE, "--out", tmp_path, "--json", tmp_path / "rows.jsonl").exit_code == 0
    assert not (tmp_path / "verdicts.jsonl").exists()
    assert run(*PREMISE, "--out", tmp_path / "all", "--json", tmp_path / "rows.jsonl").exit_code == 0
    assert (tmp_path / "all" / "verdicts.jsonl").read_text("utf-8") == (tmp_path / "rows.jsonl").read_text("utf-8")


def test_a_folder_with_something_else_in_its_rows_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "verdicts.jsonl").write_text("mine\n", encoding="utf-8")
    result = run(*PREMISE, "--out", tmp_path)
    assert result.exit_code == 2
    assert "not a verdict row" in one_line(result.stderr)
    assert (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8") == "mine\n"


# What goes wrong ------------------------------------------------------------------------------------------------------


def test_a_judge_that_crashes_is_unknown_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any, **__: Any) -> Iterator[Verdict]:
        raise ZeroDivisionError("by accident")

    monkeypatch.setattr(exploring, "explore_scopes", broken)
    monkeypatch.setattr(sys, "argv", ["rocketproof", "verify", "abandoned_lock_is_freed"])
    result = run("verify", "abandoned_lock_is_freed", "--out", tmp_path)
    found = rows((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert result.exit_code == 3
    assert (found[0].property, found[0].outcome) == (CRASHED, Outcome.UNKNOWN)
    assert "ZeroDivisionError: by accident" in found[0].note
    assert found[0].replay == "rocketproof verify abandoned_lock_is_freed"
    assert {row.judge for row in found[1:]} == {"explore", "prove"}


def test_a_report_that_crashes_takes_no_verdict_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> Path:
        raise ZeroDivisionError

    monkeypatch.setattr(page, "write_report", broken)
    result = run("verify", "it_took_the_whole_lease", "--out", tmp_path)
    assert result.exit_code == 3
    assert "it_took_the_whole_lease" in result.stdout


def swallowing(row: Verdict) -> Iterator[Verdict]:
    """A judge that does not let Ctrl-C through."""
    yield row
    with contextlib.suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    yield row
    raise AssertionError("it goes on after Ctrl-C")


def test_ctrl_c_that_a_judge_swallows_is_heard(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (row,) = exploring.explore_scopes(["abandoned lock"], ["it_took_the_whole_lease"])
    desk = Desk(str(tmp_path / "rows.jsonl"))
    with pytest.raises(BaseException) as ended, desk:  # noqa: PT011 - the status is looked at
        desk.judge("swallowing", swallowing(row))
    assert getattr(ended.value, "exit_code", None) == 3
    assert len(rows((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))) == 2
    assert "interrupted: 2 verdicts kept; no count has what was still to be judged" in one_line(capsys.readouterr().err)


def test_ctrl_c_before_the_first_row_says_that_nothing_was_judged(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BaseException), Desk():  # noqa: B017, PT011 - whatever it leaves with
        raise KeyboardInterrupt
    assert one_line(capsys.readouterr().err).endswith("interrupted before anything was judged")


def test_ctrl_c_between_two_judges_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    def after_ctrl_c() -> None:
        raise SystemExit(interrupt.TYPER_INTERRUPTED)

    monkeypatch.setattr(interrupt.INTERRUPT, "listen", lambda: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # start replaces it
    with pytest.raises(SystemExit) as ended:
        interrupt.start(after_ctrl_c)
    assert ended.value.code == 3
    assert "interrupted" in one_line(capsys.readouterr().err)


def test_ctrl_c_in_a_destructor_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))
    dying = Dying()
    del dying
    assert reported == [KeyboardInterrupt]
    interrupt.quiet()
    dying = Dying()
    del dying
    assert reported == [KeyboardInterrupt]


@pytest.mark.parametrize("pressed", [False, True])
def test_a_destructor_that_misses_an_attribute_is_reported_unless_ctrl_c_was_pressed(
    pressed: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    class HalfMade:
        def __del__(self) -> None:
            raise AttributeError

    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))
    monkeypatch.setattr(interrupt.INTERRUPT, "pressed", pressed)
    interrupt.quiet()
    half_made = HalfMade()
    del half_made
    assert bool(reported) is not pressed


def test_a_package_that_is_missing_is_named_with_its_cure(capsys: pytest.CaptureFixture[str]) -> None:
    def judge() -> Iterator[Verdict]:
        yield from ()
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark.sql")

    with pytest.raises(BaseException) as ended, Desk() as desk:  # noqa: PT011 - the status is looked at
        desk.judge("campaign", judge())
    assert getattr(ended.value, "exit_code", None) == 2
    assert "pip install 'rocketproof[spark]'" in one_line(capsys.readouterr().err)


def test_a_judge_ends_with_the_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    def judge() -> Iterator[Verdict]:
        try:
            yield row
        finally:
            ended.append(True)

    def interrupted(_: Verdict) -> None:
        raise KeyboardInterrupt

    (row,) = exploring.explore_scopes(["abandoned lock"], ["it_took_the_whole_lease"])
    desk = Desk()
    monkeypatch.setattr(desk, "take", interrupted)
    with pytest.raises(BaseException), desk:  # noqa: B017, PT011 - whatever it leaves with
        desk.judge("short", judge())
    assert ended == [True]
