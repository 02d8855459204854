"""Machines: the tape under them, programs as text, what a failure says, verdict rows and their replay."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from typer.testing import CliRunner, Result

from impl.events import ProcessStarted, WorldHealed
from impl.hosts.simulation.tape import ReplayTape
from invariants.__main__ import app
from invariants.concepts import FOLLOWED, PROPERTIES
from invariants.front_desk.catalogue import DECISION, STRATEGY, entries
from invariants.hazards import HAZARDS
from invariants.rules.declared import BY_NAME
from invariants.rules.promises import ownership_converges_in_time
from invariants.rules.watch import Watch
from invariants.runs import NO_MACHINE
from invariants.verdict import BadInputError, Outcome
from stateful_tests.machines import judge, known
from stateful_tests.machines.machine import Found, Trial, ViolatedError
from stateful_tests.machines.program import Line, one_line, parsed
from stateful_tests.machines.search import MACHINES, Effort, machine_named, played, search, simplest, survey
from stateful_tests.machines.tape import RuleTape
from stateful_tests.stories.telling import has_story
from stateful_tests.worlds.subjects import DECLARED

D1 = "pause_thread(where='findConsumerIdList: the list is here, and not applied yet', s=1); start(who='consumer2')"
ROUTED, N1 = "live_broker_stays_routed", "change_roles(who='broker-a')"
EASY = Effort(seed=0, examples=20, deeds=5)
"""Enough to find N-1."""
CALM = "start(who='consumer2'); pass_time(s=20)"


# The tape -------------------------------------------------------------------------------------------------------------


def picked(tape: RuleTape, *n: int) -> list[int]:
    return [tape.pick(one) for one in n]


def test_the_tape_is_boring_but_for_what_is_given() -> None:
    tape = RuleTape()
    assert picked(tape, 3, 3) == [0, 0]
    tape.give([2, 0, 7, 1])
    assert picked(tape, 3, 3, 3, 3, 3) == [2, 0, 0, 1, 0]
    assert tape.choices == [0, 0, 2, 0, 0, 1, 0]


def test_what_is_left_over_is_forgotten() -> None:
    tape = RuleTape()
    tape.give([1, 1, 1])
    assert picked(tape, 2) == [1]
    tape.give([])
    assert picked(tape, 2, 2) == [0, 0]
    tape.give([1])
    tape.forget()
    assert picked(tape, 2) == [0]


def test_a_thread_is_paused_once_at_its_place() -> None:
    tape = RuleTape()
    tape.pause("registerConsumer: before updateChannel", 10)
    assert tape.pick(9, "heartBeat: before registerConsumer") == 0
    assert tape.pick(9, lambda: "broker-a at registerConsumer: before updateChannel") == 3
    assert tape.pauses == {}
    assert tape.pick(9, "registerConsumer: before updateChannel") == 0


def test_draws_stay_and_do_not_use_up_what_was_given() -> None:
    tape = RuleTape()
    tape.draw("findBrokerAddrByTopic", 1)
    tape.give([0, 0, 1])
    assert [tape.pick(2, where) for where in ("x", "MQClientInstance#findBrokerAddrByTopic", "x")] == [0, 1, 1]
    assert tape.pick(2, "MQClientInstance#findBrokerAddrByTopic") == 1
    assert tape.pick(1, "MQClientInstance#findBrokerAddrByTopic") == 0


def test_what_was_chosen_is_a_tape() -> None:
    machine = played("consumer_group", "shipped", parsed(f"rough_time(chance=[1, 2, 3]); {D1}"))
    choices = machine.tape.choices
    assert {1, 2} <= set(choices)
    replay = ReplayTape(choices)
    assert [replay.pick(256) for _ in choices] == choices


# Programs -------------------------------------------------------------------------------------------------------------


def test_a_program_reads_as_it_was_written() -> None:
    program = parsed(D1)
    assert program[1] == Line("start", (("who", "consumer2"),))
    assert one_line(program) == D1
    assert parsed(one_line(program)) == program


def test_a_program_may_be_what_hypothesis_prints() -> None:
    printed = "state = ConsumerGroupMachine()\nstate.start(who='consumer2')\nstate.pass_time(s=20)\nstate.teardown()\n"
    assert parsed(printed) == parsed(CALM)


@pytest.mark.parametrize(("text", "says"), [
    ("start(who='consumer2'", "no program"),
    ("start('consumer2')", "no call with named arguments"),
    ("start", "no call with named arguments"),
    ("start(who=consumer2)", "no plain value"),
    ("\0", "no program"),
])
def test_what_is_no_program_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(BadInputError, match=says) as error:
        parsed(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("program", "says"), [
    ("stop(who='consumer1')", "has no rule 'stop'; it has ask_only,"),
    ("start()", "start takes who"),
    ("start(whom='consumer2')", "start takes who"),
    ("start(who='consumer9')", "consumer9"),
    ("pass_time(s='long')", "long"),
    ("pass_time(s=-1)", "-1"),
])
def test_a_line_that_no_rule_understands_is_bad_input(program: str, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        played("consumer_group", "shipped", parsed(program))


# What a machine does --------------------------------------------------------------------------------------------------


def test_the_same_program_is_the_same_run() -> None:
    first, second = (played("consumer_group", "shipped", parsed(D1)) for _ in range(2))
    assert first.world.simulation.digest() == second.world.simulation.digest()
    other = played("consumer_group", "shipped", parsed(CALM))
    assert other.world.simulation.digest() != first.world.simulation.digest()


def programs(seed: int) -> list[int]:
    """How long the runs of the programs are that an effort writes."""
    trial, written = Trial("shipped", (), to_the_end=False), list[int]()
    trial.on_program = lambda one: written.append(one.segments)
    survey("consumer_group", trial, Effort(seed, 12, 6))
    return written


def test_the_same_effort_writes_the_same_programs() -> None:
    assert programs(1) == programs(1)
    assert programs(1) != programs(2)


def test_what_else_is_imported_does_not_change_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis's own backend draws numbers that stand in the source of imported modules."""
    before = programs(1)
    monkeypatch.setattr(providers, "_get_local_constants", lambda: Constants(integers={2}))
    providers.CONSTANTS_CACHE.cache.clear()
    assert programs(1) == before


def test_deeds_that_find_nothing_to_do_are_no_part_of_the_program() -> None:
    machine = played("consumer_group", "shipped", parsed(
        "start(who='consumer1'); leave(who='consumer2'); kill(who='consumer3', s=1); start(who='consumer2')"))
    assert one_line(machine.program) == "start(who='consumer2')"
    assert machine.said[0][1:] == ("consumer2", "starts")


def test_a_world_heals_at_the_end_and_its_promises_are_judged() -> None:
    machine = played("consumer_group", "repaired", parsed(
        "restart_broker(who='broker-a', s=131); cut_off(who='consumer1', broker='broker-b', s=131)"))
    records = machine.world.simulation.kernel.records
    (healed_ms,) = [ms for ms, _, event in records if event == WorldHealed()]
    assert (healed_ms, "broker-a", ProcessStarted(2)) in records
    assert machine.world.now_ms >= healed_ms + machine.watch.last_promise_ms
    assert set(machine.watch.kept_ms) >= {*machine.workload.promises}
    assert {one.property for one in machine.seen} <= {"one_owner_per_queue"}


def test_a_promise_that_is_not_kept_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership_converges_in_time, "wrong", lambda self: iter([
        self.told("queue 0 is held by nobody", "G", "orders", None)]))
    with pytest.raises(ViolatedError, match=r"ownership_converges is violated .* queue 0 is held by nobody"):
        search("consumer_group", Trial("shipped", ("ownership_converges",)), Effort(0, 3, 2), quiet=True)


def test_rough_time_is_rough_only_where_chance_says_so() -> None:
    calm, boring, rough = (played("consumer_group", "repaired", parsed(text)) for text in (
        "pass_time(s=20)", "rough_time(chance=[200])", f"rough_time(chance={[5] * 40})"))
    records = [machine.world.simulation.kernel.records for machine in (calm, boring, rough)]
    assert records[0] == records[1] != records[2]
    assert not any(boring.tape.choices)
    assert any(rough.tape.choices)


def test_every_concept_has_a_machine_that_judges_whether_it_is_refined() -> None:
    without = [concept.name for concept in FOLLOWED
               if concept.name not in MACHINES or concept.refines not in MACHINES[concept.name].judged]
    assert without == []


def test_what_hazards_break_has_a_machine_or_a_reason_why_not() -> None:
    judged = {name for machine in MACHINES.values() for name in machine.judged}
    followed = {concept.name for concept in FOLLOWED}
    without = {name: one for name, one in PROPERTIES.items() if one.expected.hazards and name not in judged}
    assert {name for name, one in without.items() if one.concept.home in followed} <= {*NO_MACHINE} <= {*without}
    decided = {one.name for one in entries() if one.kind == DECISION}
    assert all(has_story(instead) or instead in decided for instead, _ in NO_MACHINE.values())


def test_each_hazard_breaks_what_a_machine_judges_or_says_why_not() -> None:
    of_models = {hazard for machine in MACHINES.values() for hazards in machine.judged.values() for hazard in hazards}
    of_rules = {hazard for rule in BY_NAME.values() for hazard in rule.expected.hazards}
    decided = {hazard for one in entries() if one.kind in {DECISION, STRATEGY} and "machine" in one.judges
               for hazard in one.hazards}
    without = {name for name, hazard in HAZARDS.items() if hazard.no_machine}
    assert {*HAZARDS} - without <= of_models | of_rules | decided
    assert without & (of_models | decided | {one.hazard for one in known.KNOWN}) == set()


def test_every_machine_judges_what_its_followers_and_promises_say() -> None:
    for concept, machine in MACHINES.items():
        alive = machine_named(concept)(Trial("shipped", ()))
        alive.teardown()
        rules, *models = alive.judges.following.followers
        assert isinstance(rules, Watch)
        assert {one.name for one in models} == {name for name in machine.judged if name.startswith("refines_")}, concept
        assert {*machine.workload.promises} <= {*machine.judged}, concept


# What a failure says --------------------------------------------------------------------------------------------------


def test_a_failure_says_property_sentence_program_and_replay(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ViolatedError) as error:
        search("route_info", Trial("shipped", (ROUTED,), to_the_end=False), EASY)
    said = str(error.value)
    assert said.startswith(f"{ROUTED} is violated at ")
    assert DECLARED[ROUTED].sentence in said
    assert f"  1  {N1}\n" in said
    assert said.endswith(f'replay: rocketproof machine route_info --subject shipped --program "{N1}"')
    printed = capsys.readouterr().out + "\n".join(error.value.__notes__)
    assert f"state.{N1}" in printed
    assert "@reproduce_failure(" in printed


def test_the_printed_command_replays_it() -> None:
    trial = Trial("shipped", (ROUTED,), to_the_end=False)
    with pytest.raises(ViolatedError) as error:
        search("route_info", trial, EASY, shrink=False, quiet=True)
    result = run(*shlex.split(str(error.value).rpartition("replay: rocketproof ")[2]), "--json", "-")
    assert ROUTED in [row["property"] for row in rows(result.stdout)]


def test_a_program_whose_lines_take_lists_is_shortened() -> None:
    program = parsed(f"rough_time(chance=[0]); {N1}")
    found = played("route_info", "shipped", program, to_the_end=False).trial.found[ROUTED]
    assert found.program == program
    assert simplest(found).program == parsed(N1)


def test_a_search_whose_shrinking_crashes_gives_the_program_that_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def crashed(*_: object) -> None:
        raise TypeError("unhashable type: 'list'")

    monkeypatch.setattr(judge, "shortest", crashed)
    kept = "known_version_changes_nothing"
    found = {one.property: one for one in judge.judged("route_info", "shipped", EASY, [ROUTED, kept])}
    assert found[ROUTED].outcome is Outcome.VIOLATED
    assert "it is not shrunk: TypeError: unhashable type: 'list'" in found[ROUTED].note
    assert found[kept].outcome is Outcome.HOLDS


@pytest.mark.parametrize("program", [
    "pass_time(s=120); unsubscribe(who='consumer1', topic='orders'); start(who='consumer2')",
])
def test_what_a_program_breaks_of_rocketmq_as_shipped_is_explained_by_a_hazard(program: str) -> None:
    machine = played("subscription", "shipped", parsed(program))
    assert machine.seen
    assert [one.key for one in machine.seen if not machine.explains("shipped", one)] == []


# Verdicts -------------------------------------------------------------------------------------------------------------


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def rows(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]


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
    assert "1000 segments" in row.note


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
    assert len(result.stderr.splitlines()) == 1
