"""Claims about decisions: each judge is as expected, sees a planted bug, and never takes unknown for success."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest

from impl.decisions import allocation, disk_cleanup, pull_answer
from invariants import evidence
from invariants.claim import CLAIMS, Claim, Finding, assume, chosen, decision
from invariants.domains import Count, Domain, Int32, Integers, Members, Positive, domain_of, rows_of_size, written
from invariants.verdict import BadInputError, Outcome, Verdict
from proofs import decisions as prover, path_questions
from proofs.decisions import prove_claim, prove_decisions
from proofs.mutants import mutants
from proofs.paths import Limits, solver_for
from stateful_tests.decisions.exhaust import exhaust_claim, exhaust_decisions
from stateful_tests.decisions.machine import explore_claim, explore_decisions
from stateful_tests.decisions.replay import replay_counterexample

SMALLEST: dict[str, dict[str, Any]] = {
    # claim: the smallest counterexample there is
    "batched_record_is_readable": {"own": 1, "common": 32_766, "separated": True},
    "unread_record_is_durable_whatever_the_clock_does": {
        "a": 1, "b": 1, "c": 1, "minimum": 1, "place": 0, "stored": 2},
    "unit_stands_at_its_queue_offset": {"queue_offset": 1, "units": 0},
    "record_behind_a_blank_unit_is_new": {"offset": 0, "size": 1},
    "dispatch_begins_in_the_log_behind_a_blank_unit": {"least": 0, "end": 0},
    "kept_unit_names_a_record": {"offset": 0, "size": 0, "end": 1, "first": True},
    "torn_tags_code_is_no_ext_address": {"tags_hash": -1},
    "key_is_found_at_its_time": {"begun": 1, "stored": 2, "begin": 2, "end": 2},
    "first_entry_of_a_later_file_keeps_its_time": {"previous_end": 1, "stored": 1001},
    "new_record_waits_for_the_slave": {"slave": 1, "end": 0, "size": 1},
    "delayed_message_has_a_delivery_time": {"level": 1, "most": 0},
    "delivery_is_noted_behind_its_message": {"first": 0, "delivered": 1},
    "message_of_any_clock_is_kept_as_long_as_files": {"now": 0, "stored": 0, "skew": -1, "hours": 0},
    "nobody_is_asked_within_the_timeout": {"age": -1, "start": 0, "timeout": 0},
    "averagely_moves_minimally": {"n": 2, "m": 2, "p": 0, "i": 0, "k": 1},
    "circle_moves_minimally": {"n": 2, "m": 2, "p": 0, "i": 0, "k": 1},
    "machine_room_moves_minimally": {"n": 2, "m": 2, "p": 0, "i": 0, "k": 1},
    "written_queue_id_is_in_range": {"write_queue_nums": 3, "index": -(2**31)},
    "least_bad_broker_is_found": {"items": 6, "index": 2**31 - 1},
    "retry_finds_the_other_broker": {"size": 4, "healthy": 3, "index": -3},
    "retry_leaves_a_quick_broker": {"index": 1},
    "failed_question_moves_nobody": {"mode": "CONSUME_FROM_LAST_OFFSET", "retry_topic": False},
    "overflowed_offset_goes_to_the_end": {"asked": 2, "least": 0, "end": 1},
    "missing_file_passes_over_nothing": {"asked": 0, "file_units": 1},
    "slave_is_suggested_for_a_reason": {
        "status": "FOUND", "slave": False, "read": True, "check": False, "slow": False, "group_broker": 1},
    "full_disk_is_marked": {"log_disk": 76, "queue_disk": 91, "full": False},
    "full_log_disk_is_marked": {"most": 91, "log_disk": 91, "queue_disk": 0, "full": False},
    "full_disk_stays_marked": {"log_disk": 86, "queue_disk": 0},
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Verdict]]:
    """Every claim proved or refuted, once."""
    out = tmp_path_factory.mktemp("proved")
    return out, {verdict.subject.details["claim"]: verdict for verdict in prove_decisions(out=out)}


@pytest.fixture
def own_claims() -> Iterator[None]:
    """Claims that a test declares are gone afterwards."""
    known = dict(CLAIMS)
    yield
    CLAIMS.clear()
    CLAIMS.update(known)


def test_every_claim_is_proved_or_refuted_as_expected(verdicts: tuple[Path, dict[str, Verdict]]) -> None:
    assert [str(verdict) for verdict in verdicts[1].values() if not verdict.as_expected] == []
    assert list(verdicts[1]) == list(CLAIMS)


def test_all_proofs_take_a_few_seconds_of_one_core(verdicts: tuple[Path, dict[str, Verdict]]) -> None:
    seconds = sum(verdict.cost["seconds"] for verdict in verdicts[1].values())
    assert seconds < 25, f"{seconds:.1f} CPU seconds; some 6 on an idle core, twice that on a busy machine"


def test_a_proof_says_what_it_cost_and_which_twin_fails(verdicts: tuple[Path, dict[str, Verdict]]) -> None:
    for verdict in verdicts[1].values():
        assert set(verdict.cost) == {"obligations", "paths", "seconds"}
        assert verdict.cost["obligations"] >= 1
        assert verdict.outcome is Outcome.VIOLATED or "fails for the twin with line" in verdict.note


def test_the_counterexamples_are_the_smallest(verdicts: tuple[Path, dict[str, Verdict]]) -> None:
    out, proved = verdicts
    found = {name: evidence.read(out / str(verdict.evidence))["arguments"]
             for name, verdict in proved.items() if verdict.outcome is Outcome.VIOLATED}
    assert found == SMALLEST


def test_a_counterexample_names_its_hazards_and_is_replayed_from_its_file(
    verdicts: tuple[Path, dict[str, Verdict]],
) -> None:
    out, proved = verdicts
    for name in SMALLEST:
        verdict = proved[name]
        assert verdict.hazard == CLAIMS[name].expected.hazards
        assert verdict.replay == f"rocketproof replay {out / str(verdict.evidence)}"
        body = evidence.read(out / str(verdict.evidence))
        assert body["kind"] == "counterexample"
        assert body["table"]["rows"]
        again = replay_counterexample(body)
        assert (again.property, again.outcome, again.judge) == (verdict.property, Outcome.VIOLATED, "prove")


def test_the_exhaustive_judge_agrees_and_finds_the_same_smallest() -> None:
    rows = {verdict.subject.details["claim"]: verdict for verdict in exhaust_decisions()}
    assert [str(verdict) for verdict in rows.values() if not verdict.as_expected] == []
    for name, arguments in SMALLEST.items():
        if name != "full_log_disk_is_marked":  # its small values are those of the documented ratios
            assert rows[name].note.startswith(", ".join(f"{key}={value}" for key, value in arguments.items())), name


def test_hypothesis_agrees_about_some_claims() -> None:
    names = ["averagely_is_total", "averagely_moves_minimally", "written_queue_id_is_in_range", "java_int_wraps"]
    rows = list(explore_decisions(names, seed=1))
    assert [verdict.subject.details["claim"] for verdict in rows] == [name for name in CLAIMS if name in names]
    assert [str(verdict) for verdict in rows if not verdict.as_expected] == []
    assert all(verdict.seed == 1 for verdict in rows)


@pytest.mark.parametrize(("name", "function", "change", "arguments"), [
    ("averagely_is_exclusive", allocation.averagely_range, "i < mod  →  i <= mod",
     {"n": 4, "m": 3, "i": 1, "j": 2, "k": 3}),
    ("averagely_is_total", allocation.averagely_range, "n // m + 1  →  n // m - 1", {"n": 3, "m": 2, "k": 0}),
    ("circle_is_total", allocation.circle_owns, "k < n  →  k >= n", {"n": 1, "m": 1, "k": 0}),
    ("circle_is_exclusive", allocation.circle_owns, "k % m != i", {"n": 3, "m": 3, "i": 0, "j": 1, "k": 2}),
    ("machine_room_is_total", allocation.machine_room_range, "rem > i  →  rem <= i", {"n": 1, "m": 2, "k": 0}),
    ("disk_flag_has_hysteresis", disk_cleanup.disk_full_flag, "  →  percent >= DISK_SPACE_CLEAN",
     {"used": 85, "full": True}),
    ("bounds_follow_the_table", pull_answer.bounds_decision, "offset <= max_offset",
     {"asked": 0, "least": 0, "end": 1}),
])
def test_a_planted_bug_is_seen_by_every_judge(name: str, function: Any, change: str, arguments: dict[str, Any]) -> None:
    """The smallest overlap of `index <= mod` has four queues and three members, as the notes of the design say."""
    bug = next(mutant for mutant in mutants(function) if change in mutant.change)
    with bug.active():
        proved, exhausted, drawn = (judge(CLAIMS[name]) for judge in (prove_claim, exhaust_claim, patient))
    assert [one.verdict.outcome for one in (proved, exhausted, drawn)] == [Outcome.VIOLATED] * 3
    assert proved.evidence
    assert exhausted.evidence
    assert proved.evidence["arguments"] == exhausted.evidence["arguments"] == arguments
    assert exhaust_claim(CLAIMS[name]).verdict.outcome is Outcome.HOLDS  # the mutant is gone again


def patient(claim: Claim) -> Finding:
    return explore_claim(claim, examples=3000)


@pytest.mark.parametrize(("name", "function", "change"), [
    ("circle_is_total", allocation.circle_owns, "k < n  →  k <= n"),
    ("bounds_follow_the_table", pull_answer.bounds_decision, "offset > max_offset  →  offset >= max_offset"),
])
def test_a_change_that_changes_nothing_is_held_against_nobody(name: str, function: Any, change: str) -> None:
    with planted(function, change).active():
        assert [judge(CLAIMS[name]).verdict.outcome for judge in (prove_claim, exhaust_claim)] == [Outcome.HOLDS] * 2


def planted(function: Any, change: str) -> Any:
    """The one mutant whose change contains this text."""
    found, = [mutant for mutant in mutants(function) if change in mutant.change]
    return found


def test_a_repaired_decision_no_longer_fails_on_the_stored_counterexample() -> None:
    stored = exhaust_claim(CLAIMS["overflowed_offset_goes_to_the_end"]).evidence
    assert stored is not None
    repair = planted(pull_answer.bounds_decision, "min_offset if min_offset == 0 else max_offset  →")
    with repair.active():
        assert replay_counterexample(stored).outcome is Outcome.HOLDS


@pytest.mark.parametrize("change", [
    {"arguments": {}}, {"arguments": {"asked": "x", "least": 0, "end": 1}},
    {"arguments": {"asked": -5, "least": 0, "end": 1}}, {"arguments": {"asked": 0, "least": 5, "end": 1}},
    {"claim": "nothing"}, {"subject": 5}, {"subject": {"kind": "decision"}},
])
def test_a_file_that_cannot_be_replayed_says_so_in_one_line(change: dict[str, Any]) -> None:
    stored = exhaust_claim(CLAIMS["overflowed_offset_goes_to_the_end"]).evidence
    assert stored is not None
    with pytest.raises(BadInputError) as caught:
        replay_counterexample({**json.loads(json.dumps(stored)), **change})
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_bad_input() -> None:
    for judge in (prove_decisions, exhaust_decisions, explore_decisions):
        with pytest.raises(BadInputError, match="no claim about a decision is called 'nonsense'"):
            list(judge(["nonsense"]))


def test_a_property_selects_all_its_claims_and_a_name_one() -> None:
    assert [claim.name for claim in chosen(["queue_order_is_total"])] == ["queues_are_ordered"]
    assert {claim.promises for claim in chosen(["allocation_is_total"])} == {"allocation_is_total"}
    assert len(chosen(["allocation_is_total"])) > 3
    assert chosen(["circle_is_total"]) == [CLAIMS["circle_is_total"]]


# Unknown is not success -----------------------------------------------------------------------------------------------


def outcomes(claim: Claim) -> list[str]:
    return [judge(claim).verdict.outcome.value for judge in (prove_claim, exhaust_claim, explore_claim)]


@pytest.mark.usefixtures("own_claims")
def test_a_claim_about_nothing_is_unknown() -> None:
    @decision(of=allocation.averagely_range)
    def vacuous(n: Count, m: Positive) -> bool:
        """No input is ever spoken about."""
        assume(n < 0)
        return allocation.averagely_range(n, m, 0)[0] == 17

    assert outcomes(vacuous) == ["unknown"] * 3


@pytest.mark.usefixtures("own_claims")
def test_a_claim_that_no_mutant_can_break_is_unknown_to_the_proof() -> None:
    @decision(of=disk_cleanup.disk_full_flag)
    def empty_words(used: Count, full: bool) -> bool:
        """Whatever is answered, it is true or false."""
        return bool(disk_cleanup.disk_full_flag(used, disk_full=full)) in (True, False)

    verdict = prove_claim(empty_words).verdict
    assert (verdict.outcome, verdict.as_expected) == (Outcome.UNKNOWN, False)
    assert "every mutant" in verdict.note


@pytest.mark.usefixtures("own_claims")
def test_code_that_raises_falsifies_a_claim() -> None:
    @decision(of=allocation.averagely_range)
    def answers_without_members(n: Count, m: Count) -> bool:
        """An answer is given whatever the number of members."""
        return len(allocation.averagely_range(n, m, 0)) == 2

    found = [judge(answers_without_members) for judge in (prove_claim, exhaust_claim, explore_claim)]
    assert [one.verdict.outcome for one in found] == [Outcome.VIOLATED] * 3
    assert all(one.evidence and one.evidence["arguments"] == {"n": 0, "m": 0} for one in found)
    assert all("ZeroDivisionError" in json.dumps(one.evidence) for one in found)


@pytest.mark.usefixtures("own_claims")
def test_what_cannot_be_executed_or_decided_in_time_is_unknown() -> None:
    @decision(of=allocation.averagely_range)
    def masked(n: Count, m: Positive) -> bool:
        """A mask by a number that is no constant has no symbolic meaning."""
        return allocation.averagely_range(n, m, 0)[0] & n >= 0

    verdict = prove_claim(masked).verdict
    assert verdict.outcome is Outcome.UNKNOWN
    assert "a mask that is not a constant" in verdict.note
    assert prove_claim(CLAIMS["averagely_is_total"], limits=Limits(paths=2)).verdict.outcome is Outcome.UNKNOWN


@pytest.mark.usefixtures("own_claims")
def test_an_obligation_that_no_solver_decides_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    solvers = (solver_for, 20_000), (path_questions._nonlinear, 20_000)
    monkeypatch.setattr(path_questions, "_SOLVERS", solvers)

    @decision(of=allocation.circle_owns)
    def no_sum_of_cubes_is_a_cube(x: Positive, y: Positive, z: Positive) -> bool:
        """Fermat's last theorem for exponent three, which Z3 does not know."""
        return bool(allocation.circle_owns(x, y, z, 0)) or (x * x * x + y * y * y != z * z * z)

    verdict = prove_claim(no_sum_of_cubes_is_a_cube).verdict
    assert verdict.outcome is Outcome.UNKNOWN
    assert "neither proved nor refuted" in verdict.note


def test_a_reading_that_differs_from_the_code_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counterexample of the solver that the code does not confirm is no violation."""
    claim = CLAIMS["full_disk_is_marked"]
    monkeypatch.setattr(prover, "_false", lambda _claim, _arguments: False)
    verdict = prove_claim(claim).verdict
    assert verdict.outcome is Outcome.UNKNOWN
    assert "differs from the code" in verdict.note


def test_without_trying_by_size_the_solver_minimises_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "TRIED_BY_SIZE", 0)
    for name in ("overflowed_offset_goes_to_the_end", "full_disk_is_marked", "missing_file_passes_over_nothing",
                 "slave_is_suggested_for_a_reason", "failed_question_moves_nobody", "circle_moves_minimally"):
        found = prove_claim(CLAIMS[name]).evidence
        assert found is not None
        assert found["arguments"] == SMALLEST[name], name


# Declaring ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("own_claims")
def test_a_claim_that_is_declared_wrongly_fails_at_once() -> None:
    def good(n: Count) -> bool:
        """Something."""
        return n >= 0

    def undocumented(n: Count) -> bool:
        return n >= 0

    def untyped(n: int) -> bool:
        """An int without a domain."""
        return n >= 0

    of = allocation.averagely_range
    with pytest.raises(TypeError, match="docstring"):
        decision(of=of)(undocumented)
    with pytest.raises(TypeError, match="names no domain"):
        decision(of=of)(untyped)
    with pytest.raises(TypeError, match="plain functions"):
        decision(of=len)(good)
    with pytest.raises(ValueError, match="violated"):
        decision(of=of, shipped="violated")(good)
    decision(of=of)(good)
    with pytest.raises(ValueError, match="twice"):
        decision(of=of)(good)


@pytest.mark.usefixtures("own_claims")
def test_few_values_are_for_integers() -> None:
    def flagged(flag: bool) -> bool:
        """Something."""
        return flag

    with pytest.raises(TypeError, match="for integers only"):
        decision(of=allocation.averagely_range, few={"flag": (0, 1)})(flagged)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def test_domains_know_their_values() -> None:
    assert domain_of(Count) == Integers(low=0)
    assert domain_of(bool) == Members((False, True))
    colours = domain_of(Colour)
    assert isinstance(colours, Members)
    assert written(Colour.BLUE) == "BLUE"
    assert colours.from_json("RED") is Colour.RED
    assert list(Integers(2, None).smallest()) == [2, 3, 4, 5, 6]
    assert list(Integers(2, 3).smallest()) == [2, 3]
    assert list(Integers().smallest()) == [-2, -1, 0, 1, 2]
    with pytest.raises(TypeError):
        domain_of(Annotated[int, "words"])


def test_rows_by_size_are_every_row_once() -> None:
    domains: list[Domain] = [Integers(0, 3), Members((False, True)), domain_of(Int32)]
    for size in range(6):
        rows = list(rows_of_size(domains, size))
        assert len(set(rows)) == len(rows)
        assert all(a + int(b) + abs(c) == size for a, b, c in rows)
        assert len(rows) == sum(1 for a in range(4) for b in range(2) for c in range(-9, 10) if a + b + abs(c) == size)


def test_small_inputs_come_smallest_first() -> None:
    for claim in CLAIMS.values():
        sizes = [sum(domain.size(arguments[name]) for name, domain in claim.domains.items())
                 for arguments in claim.small_inputs()]
        assert sizes == sorted(sizes)
