"""The protocol models and their properties: complete, searched, proved, and never judged by blind judges."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from invariants import evidence
from invariants.concepts import PROPERTIES
from invariants.exploring import explore_scopes, explore_twins, keeps, replay_trace, scopes
from invariants.hazards import HAZARDS
from invariants.rules.declared import RULES
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status
from model.explorer.search import explore
from model.language import Property
from model.language.properties import ALWAYS, LEADS_TO, LEMMA, STEP
from model.scopes import SCOPES, averagely

README = Path(__file__).parents[3] / "README.md"
CATALOGUED = {
    "heartbeat_is_idempotent", "leaving_member_stays_gone", "bad_expression_is_refused",
    "answered_heartbeat_means_listed", "list_is_exactly_the_living", "live_member_is_never_forgotten",
    "pull_finds_its_subscription", "heartbeats_do_not_remove_others_topics", "pull_is_filtered_by_own_expression",
    "subscription_version_never_goes_back", "newer_subscription_is_taken", "one_owner_per_queue",
    "one_owner_when_settled", "every_queue_owned_when_settled", "ownership_converges",
    "membership_change_reaches_all", "one_lock_holder", "one_live_believer", "abandoned_lock_is_freed",
    "live_broker_stays_routed", "dead_broker_is_dropped",
    "contender_gets_the_lock", "ownership_converges_at_last", "dead_broker_is_dropped_at_last",
    "full_registration_installs_all_topics", "every_name_server_learns", "route_cache_becomes_true",
}


ONLY_IN_RUNS = {"lagging_slave_catches_up": {"V37"}, "listeners_do_not_overlap": {"D13"}}
"""Hazards for which a model has no step: a rule that judges runs by the property looks for their cause."""


def promised() -> list[Property]:
    return [p for p in PROPERTIES.values() if p.kind in (ALWAYS, STEP, LEADS_TO)]


def test_the_catalogue_has_every_property_of_these_concepts() -> None:
    assert {p.name for p in promised()} >= CATALOGUED


@pytest.mark.parametrize("declared", promised(), ids=lambda p: p.name)
def test_every_hazard_of_a_property_is_known_and_shown_by_a_scope(declared: Property) -> None:
    own = [named for named in SCOPES if named.scope.concept is declared.concept]
    shown = {hazard for named in own for hazard in named.violated.get(declared.name, ())}
    assert set(declared.expected.hazards) <= set(HAZARDS)
    in_runs = ONLY_IN_RUNS.get(declared.name, set())
    judging = [rule for rule in RULES.values() if declared.name in rule.judges.split()]
    assert set(declared.expected.hazards) - in_runs == shown
    assert in_runs <= {excuse.hazard for rule in judging for excuse in rule.excuses}


@pytest.mark.parametrize("declared", promised(), ids=lambda p: p.name)
def test_what_holds_is_searched_somewhere_and_names_a_mutation_that_breaks_it(declared: Property) -> None:
    if declared.expected.outcome == "holds" or declared.given:
        assert any(keeps(named.scope, declared) for named in SCOPES
                   if named.scope.concept is declared.concept and declared.name not in named.violated)
        assert declared.broken_by or declared.name == "every_queue_owned_when_settled"


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Verdict]]:
    out = tmp_path_factory.mktemp("explored")
    return out, list(explore_scopes(out=out))


def test_every_scope_gives_what_is_expected_and_every_trace_replays(explored: tuple[Path, list[Verdict]]) -> None:
    out, rows = explored
    assert exit_status(rows) is ExitStatus.AS_EXPECTED, [r for r in rows if not r.as_expected]
    traces = [row for row in rows if row.outcome is Outcome.VIOLATED and row.evidence]
    assert len(traces) == sum(row.outcome is Outcome.VIOLATED for row in rows if row.property not in unreached())
    for row in traces:
        assert replay_trace(evidence.read(out / str(row.evidence))).outcome is Outcome.VIOLATED


def test_the_readme_says_what_the_judges_say(explored: tuple[Path, list[Verdict]]) -> None:
    out, rows = explored
    steps: dict[str, int] = {}
    for row in rows:
        if row.outcome is Outcome.VIOLATED and row.evidence:
            length = len(evidence.read(out / str(row.evidence))["steps"])
            steps[row.property] = min(length, steps.get(row.property, length))
    declared = {p.name: p for p in promised()}
    line = re.compile(r"^\| (\w+) \| (holds|violated)(.*?) \| (.*?) \| *(\d*) *\|$", re.MULTILINE)
    table = line.findall(README.read_text("utf-8"))
    assert {name for name, *_ in table} >= CATALOGUED - {"every_queue_owned_when_settled", "bad_expression_is_refused",
                                                         "heartbeats_do_not_remove_others_topics"}
    for name, outcome, hazards, proof, length in table:
        assert outcome == declared[name].expected.outcome, name
        assert set(re.findall(r"[A-Z]-?\d+[a-z]?", hazards)) <= set(declared[name].expected.hazards), name
        assert length == (str(steps[name]) if outcome == "violated" else ""), name
        assert proof.startswith("proved") == (outcome == "holds" or bool(declared[name].given)), name


def unreached() -> set[str]:
    return {name for named in SCOPES for name in named.unreached}


def test_every_action_happens_in_some_scope() -> None:
    fired: dict[str, set[str]] = {}
    for named in scopes():
        if not fired.get(named.scope.concept.name, set()) >= set(named.scope.concept.actions):
            found = explore(named.scope)
            own = fired.setdefault(named.scope.concept.name, set())
            own |= {name for name, count in found.firings.items() if count}
    for named in scopes():
        assert fired[named.scope.concept.name] == set(named.scope.concept.actions)


def test_every_mutation_is_noticed_by_the_search() -> None:
    rows = list(explore_twins())
    assert len(rows) > 30
    assert exit_status(rows) is ExitStatus.AS_EXPECTED, [r for r in rows if not r.as_expected]


def test_a_wrong_pin_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    named = SCOPES[0]
    object.__setattr__(named, "states", named.states + 1)
    monkeypatch.setattr("invariants.exploring.SCOPES", (named,))
    try:
        row = next(r for r in explore_scopes() if r.property == "state_space_is_pinned")
    finally:
        object.__setattr__(named, "states", named.states - 1)
    assert row.outcome is Outcome.VIOLATED
    assert "pinned" in row.note


def test_an_unknown_scope_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="no scope is called 'grup'; did you mean 'group 1,2,2'"):
        scopes(["grup"])


def test_a_tampered_trace_is_bad_input(tmp_path: Path) -> None:
    row = next(r for r in explore_scopes(["group 1,2,2"], out=tmp_path) if r.property == "one_owner_per_queue")
    stored = evidence.read(tmp_path / str(row.evidence))
    for change in ({"action": "heart_beat"}, {"arguments": {"m": "member7", "b": "broker0"}}):
        broken = {**stored, "steps": [{**stored["steps"][0], **change}, *stored["steps"][1:]]}
        with pytest.raises(BadInputError):
            replay_trace(broken)
    shorter = {**stored, "steps": stored["steps"][:-1]}
    assert replay_trace(shorter).outcome is Outcome.HOLDS


@pytest.mark.parametrize(("queues", "members"), [(n, m) for n in range(1, 7) for m in range(1, 5)])
def test_the_scopes_share_queues_as_the_implementation_does(queues: int, members: int) -> None:
    view, strategy = frozenset(range(members)), AllocateMessageQueueAveragely()
    all_queues = [MessageQueue("t", "b", q) for q in range(queues)]
    ids = [f"c{i}" for i in range(members)]
    for i in range(members):
        own = {q.queue_id for q in strategy.allocate("g", ids[i], all_queues, ids) or ()}
        assert own == {q for q in range(queues) if averagely(queues)(view, i, q)}


def test_lemmas_are_searched_where_their_premises_are_kept() -> None:
    lemmas = [p for named in SCOPES for p in named.scope.concept.properties.values() if p.kind == LEMMA]
    assert lemmas
    for declared in lemmas:
        own = [named.scope for named in SCOPES if named.scope.concept is declared.concept]
        assert any(keeps(scope, declared) for scope in own), declared.name
