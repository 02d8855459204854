"""`list` and `show`: every property, and all that is known of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from invariants.__main__ import app
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.claim import CLAIMS
from invariants.concepts import PROPERTIES
from invariants.front_desk import catalogue, show
from invariants.hazards import HAZARDS
from invariants.histories.checks import PROMISES
from invariants.rules.declared import BY_NAME, RULES
from invariants.rules.observed import Observed
from invariants.runs import OF_RUNS
from invariants.verdict import nearest
from proofs.prove import provable
from stateful_tests.cover.front_desk.commands import one_line, run


def commands(group: Any, *before: str) -> Iterator[str]:
    """The words of each command of a group, and of the groups in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)
        else:
            yield " ".join((*before, name))


@pytest.mark.parametrize("command", list(commands(get_command(app))))
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


def test_a_name_is_declared_once_whoever_judges_it() -> None:
    kinds = {
        "models": {*PROPERTIES}, "rules": {name for name, rule in BY_NAME.items() if not rule.judges},
        "strategies": {*STRATEGY_CLAIMS}, "claims": {name for name, one in CLAIMS.items() if one.promises == name},
        "runs": {*OF_RUNS}, "the suite": {*catalogue.OWN},
        "histories": {name for name in PROMISES if name not in BY_NAME or not issubclass(BY_NAME[name], Observed)},
    }
    twice = {name for one, other in combinations(kinds.values(), 2) for name in one & other}
    assert twice == set()
    unknown = {name for rule in RULES.values() for name in rule.judges.split()} - {*catalogue.names()}
    assert unknown == set()


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
        of_runs = one.name in BY_NAME or one.home == "invariants.runs"
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
