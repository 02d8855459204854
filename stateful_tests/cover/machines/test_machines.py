"""Machines: the tape under them, programs as text, what a failure says."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from typer.testing import CliRunner

from impl.events import ProcessStarted, WorldHealed
from impl.hosts.simulation.tape import ReplayTape
from invariants.__main__ import app
from invariants.concepts import PROGRAMMED, PROPERTIES
from invariants.front_desk.catalogue import DECISION, STRATEGY, entries
from invariants.hazards import HAZARDS
from invariants.rules.declared import BY_NAME
from invariants.rules.promises import ownership_converges_in_time
from invariants.rules.watch import Watch
from invariants.runs import NO_MACHINE
from invariants.verdict import BadInputError, Outcome
from stateful_tests.cover.machines.asked import CALM, D1, EASY, N1, ROUTED, rows
from stateful_tests.machines import judge, known, search as searching
from stateful_tests.machines.machine import TimeOverError, Trial, ViolatedError
from stateful_tests.machines.program import Line, one_line, parsed
from stateful_tests.machines.search import MACHINES, Effort, machine_named, played, search, shortest, simplest, survey
from stateful_tests.machines.tape import RuleTape
from stateful_tests.stories.telling import has_story
from stateful_tests.worlds.subjects import DECLARED

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


def in_order(records: Iterable[tuple[int, str, Any]]) -> dict[tuple[str, Any], list[Any]]:
    """What was reported, by machine and queue."""
    found = defaultdict[tuple[str, Any], list[Any]](list)
    for record in records:
        found[record[1], getattr(record[2], "mq", None)].append(record)
    return found


def test_rough_time_is_rough_only_where_chance_says_so() -> None:
    calm, boring, rough = (played("consumer_group", "repaired", parsed(text)) for text in (
        "pass_time(s=20)", "rough_time(chance=[200])", f"rough_time(chance={[5] * 40})"))
    # Where the order is left to chance all timers of a millisecond are ready at once: what happens to one queue, or to
    # none, at a machine is in the same order; what happens to several queues in one millisecond is not.
    records = [in_order(machine.world.simulation.kernel.records) for machine in (calm, boring, rough)]
    assert records[0] == records[1] != records[2]
    assert not any(boring.tape.choices)
    assert any(rough.tape.choices)


def test_every_concept_has_a_machine_that_judges_whether_it_is_refined() -> None:
    without = [concept.name for concept in PROGRAMMED
               if concept.name not in MACHINES or concept.refines not in MACHINES[concept.name].judged]
    assert without == []


def test_what_hazards_break_has_a_machine_or_a_reason_why_not() -> None:
    judged = {name for machine in MACHINES.values() for name in machine.judged}
    followed = {concept.name for concept in PROGRAMMED}
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
    words = shlex.split(str(error.value).rpartition("replay: rocketproof ")[2])
    result = CliRunner().invoke(app, [*words, "--json", "-"])
    assert ROUTED in [row["property"] for row in rows(result.stdout)]


def test_a_program_whose_lines_take_lists_is_shortened() -> None:
    program = parsed(f"rough_time(chance=[0]); {N1}")
    found = played("route_info", "shipped", program, to_the_end=False).trial.found[ROUTED]
    assert found.program == program
    assert simplest(found).program == parsed(N1)


@pytest.mark.parametrize("complaint", [TimeOverError, FlakyStrategyDefinition("the second run stopped earlier")])
def test_lines_are_left_out_where_hypothesis_has_had_its_time(
    complaint: BaseException, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def over(*_: object, **__: object) -> None:
        raise complaint

    monkeypatch.setattr(searching, "search", over)
    program = parsed(f"rough_time(chance=[0]); {N1}")
    found = played("route_info", "shipped", program, to_the_end=False).trial.found[ROUTED]
    assert shortest(found, EASY, lambda: True).program == parsed(N1)
    with pytest.raises((TimeOverError, FlakyStrategyDefinition)):
        shortest(found, EASY, lambda: False)


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
