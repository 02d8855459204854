"""Claims about strategies: RocketMQ's own as expected, each planted bug named with its smallest case."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.decisions.allocation import averagely_range
from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Failure, Observed, Strategy, observe
from invariants.allocation.cases import Case, equal_lists
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.allocation.inputs import (
    DUPLICATE_IDS,
    EQUAL_LISTS,
    LEAVER_STILL_SEEN,
    LISTED_ROOMS,
    NEARBY_ROOMS,
    UNEQUAL_ORDERS,
    UNEQUAL_ROUTES,
    UNLISTED_ROOMS,
    UNSEEN_JOINER,
)
from invariants.allocation.shipped import SHIPPED
from invariants.evidence import read
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.decisions.check import check_strategy
from stateful_tests.decisions.exhaust import exhaust_allocation
from stateful_tests.decisions.machine import explore_allocation
from stateful_tests.decisions.replay import replay_counterexample
from stateful_tests.decisions.strategies import Candidate

Queues = list[MessageQueue]


def candidate(strategy: Strategy) -> Candidate:
    return Candidate(Subject("strategy", "own"), EQUAL_LISTS, lambda case: [strategy] * len(case.views))


def checked(strategy: Strategy, queues: int, members: int, examples: int = 100) -> dict[str, Verdict]:
    rows = check_strategy(candidate(strategy), "command", queues=queues, members=members, examples=examples)
    return {row.property: row for row in rows}


# Shipped --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Verdict]]:
    """Every row about RocketMQ's strategies, on all cases of up to seven queues and four members."""
    out = tmp_path_factory.mktemp("strategies")
    return out, list(exhaust_allocation(out=out, queues=7, members=4))


def test_every_shipped_strategy_is_as_expected_on_all_small_cases_and_its_evidence_replays(
    shipped: tuple[Path, list[Verdict]],
) -> None:
    out, rows = shipped
    assert [str(row) for row in rows if not row.as_expected] == []
    assert len(rows) == sum(len(one.expected) for one in SHIPPED)
    violated = [row for row in rows if row.outcome is Outcome.VIOLATED]
    assert len(violated) > 30
    for row in violated:
        assert row.hazard
        body = read(out / str(row.evidence))
        assert body["table"]["rows"]
        again = replay_counterexample(json.loads(json.dumps(body)))
        assert (again.property, again.outcome, again.hazard) == (row.property, Outcome.VIOLATED, row.hazard)


def test_hypothesis_finds_the_same_of_one_property() -> None:
    rows = list(explore_allocation(["allocation_is_exclusive"], examples=40))
    assert [str(row) for row in rows if not row.as_expected] == []
    assert {row.judge for row in rows} == {"machine"}


@pytest.mark.parametrize(("name", "inputs", "wanted", "size"), [
    ("AVG", EQUAL_LISTS, "allocation_moves_minimally", (2, 3)),
    ("AVG", DUPLICATE_IDS, "allocation_is_exclusive", (1, 2)),
    ("AVG", DUPLICATE_IDS, "allocation_is_total", (2, 2)),
    ("AVG", UNSEEN_JOINER, "allocation_is_exclusive", (1, 2)),
    ("AVG", UNEQUAL_ROUTES, "allocation_is_exclusive", (2, 2)),
    ("AVG_BY_CIRCLE", EQUAL_LISTS, "allocation_moves_minimally", (2, 3)),
    ("CONSISTENT_HASH", EQUAL_LISTS, "allocation_is_balanced", (2, 2)),
    ("MACHINE_ROOM", UNLISTED_ROOMS, "allocation_is_total", (1, 1)),
    ("MACHINE_ROOM_NEARBY-AVG", NEARBY_ROOMS, "allocation_is_balanced", (2, 2)),
    ("AVG and AVG_BY_CIRCLE", EQUAL_LISTS, "allocation_is_total", (3, 2)),
])
def test_the_smallest_case_is_the_one_of_the_specification(
    shipped: tuple[Path, list[Verdict]], name: str, inputs: Any, wanted: str, size: Any,
) -> None:
    row, = [row for row in shipped[1] if row.outcome is Outcome.VIOLATED and row.property == wanted
            and (row.subject.name, row.subject.details["inputs"]) == (name, inputs.name)]
    queues, members = size
    assert row.note.startswith(f"{queues} queue{'s' * (queues != 1)}, {members} member{'s' * (members != 1)}: ")


def test_an_unknown_property_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="no property of strategies is called 'nonsense'"):
        list(exhaust_allocation(["nonsense"]))


# Planted strategies ---------------------------------------------------------------------------------------------------


def good(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    return [queue for k, queue in enumerate(queues) if k % len(ids) == ids.index(me)]


def range_plus_one(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    start, length = averagely_range(len(queues), len(ids), ids.index(me))
    return queues[start:start + length + 1] if length > 0 else []


def border_of_the_index(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    n, m, i = len(queues), len(ids), ids.index(me)
    size = 1 if n <= m else n // m + (1 if n % m > 0 and i <= n % m else 0)
    start = i * size if n % m > 0 and i < n % m else i * size + n % m
    return queues[start:start + size]


def ignores_the_remainder(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    share = len(queues) // len(ids)
    return queues[ids.index(me) * share:(ids.index(me) + 1) * share]


def by_hash(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    return [queue for queue in queues if ids[hash(queue) % len(ids)] == me]


def first_takes_all(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    return queues if me == ids[0] else []


def forgets_beyond_thirteen(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
    return good(_group, me, queues[:13], ids)


def rotating() -> Strategy:
    turn = itertools.count()

    def rotate(_group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
        return good(_group, me, queues, ids) if next(turn) % 5 else []

    return rotate


@pytest.mark.parametrize(("strategy", "wanted", "size"), [
    (range_plus_one, "allocation_is_exclusive", "2 queues, 2 members"),
    (border_of_the_index, "allocation_is_exclusive", "4 queues, 3 members"),
    (ignores_the_remainder, "allocation_is_total", "1 queue, 2 members"),
    (rotating(), "allocation_is_deterministic", "1 queue, 1 member"),
    (lambda _g, _me, _qs, _ids: [MessageQueue("Other", "b", 1)], "allocation_is_in_range", "1 queue, 1 member"),
    (lambda _g, _me, _qs, _ids: ["T/b:0"], "allocation_is_in_range", "1 queue, 1 member"),
    (lambda _g, _me, qs, ids: qs[:len(ids) // 0], "allocation_answers", "1 queue, 1 member"),
    (lambda _g, _me, _qs, _ids: 5, "allocation_answers", "1 queue, 1 member"),
    (lambda _g, _me, qs, _ids: iter(qs), "allocation_answers", "1 queue, 1 member"),
    (lambda _g, _me, _qs, _ids: None, "allocation_is_total", "1 queue, 1 member"),
    (forgets_beyond_thirteen, "allocation_is_total", "14 queues, 1 member"),
])
def test_a_broken_strategy_is_named_with_its_smallest_case(strategy: Strategy, wanted: str, size: str) -> None:
    row = checked(strategy, queues=6, members=4)[wanted]
    assert (row.outcome, row.expected, row.as_expected) == (Outcome.VIOLATED, Outcome.HOLDS, False)
    assert row.note.startswith(size + ": "), row.note


def test_a_good_strategy_holds_and_says_how_far_that_goes() -> None:
    rows = checked(good, queues=5, members=3, examples=20)
    assert set(rows) == set(STRATEGY_CLAIMS)
    assert [row.property for row in rows.values() if row.outcome is Outcome.VIOLATED] == ["allocation_moves_minimally"]
    assert all(row.as_expected for row in rows.values())
    note = rows["allocation_is_total"].note
    assert "up to 5 queues, 3 members" in note
    assert "not executed symbolically" in note


def test_balance_and_movement_are_told_for_information() -> None:
    rows = checked(first_takes_all, queues=4, members=3, examples=5)
    assert rows["allocation_is_balanced"].outcome is Outcome.VIOLATED
    assert rows["allocation_is_balanced"].as_expected
    assert "for information" in rows["allocation_is_balanced"].note
    assert rows["allocation_is_total"].outcome is Outcome.HOLDS


def test_where_a_call_gives_no_list_the_other_claims_are_unknown_not_true() -> None:
    def raises_for_three(group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
        if len(ids) == 3:
            raise ValueError("three")
        return good(group, me, queues, ids)

    rows = checked(raises_for_three, queues=4, members=4, examples=10)
    assert rows["allocation_answers"].note == "1 queue, 3 members: c0 among ['c0', 'c1', 'c2'] raised ValueError: three"
    assert rows["allocation_is_total"].outcome is Outcome.UNKNOWN
    assert "could not be judged" in rows["allocation_is_total"].note


class GoneError(Exception):
    """The strategy is gone."""


@pytest.mark.parametrize("gone_at", [4, 7])
def test_a_strategy_that_is_gone_ends_the_search_and_keeps_what_was_found(gone_at: int) -> None:
    asked = []

    def leaves(group: str, me: str, queues: Queues, ids: list[str]) -> Queues:
        if len(ids) == gone_at:
            asked.append(me)
            raise GoneError("it is gone")
        return range_plus_one(group, me, queues, ids)

    one = candidate(leaves)
    rows = {row.property: row for row in check_strategy(
        Candidate(one.subject, one.inputs, one.make, stops=(GoneError,)), "command", queues=4, members=5, seed=3)}
    assert len(asked) == 1  # nobody asks again, not even Hypothesis
    assert rows["allocation_is_exclusive"].note.startswith("2 queues, 2 members")
    assert rows["allocation_answers"].outcome is Outcome.VIOLATED
    assert "it is gone" in rows["allocation_answers"].note
    assert rows["allocation_is_total"].outcome is Outcome.UNKNOWN
    assert "the search ended early: it is gone" in rows["allocation_is_total"].note
    assert {row.expected for row in rows.values() if row.outcome.is_unknown} == {Outcome.HOLDS}


def test_an_error_outside_the_strategy_is_not_taken_for_an_answer() -> None:
    def broken(_case: Case) -> Any:
        raise RuntimeError("the driver is broken")

    with pytest.raises(RuntimeError, match="driver"):
        list(check_strategy(Candidate(Subject("strategy", "own"), EQUAL_LISTS, broken), "command"))


# Observing ------------------------------------------------------------------------------------------------------------

TWO = equal_lists([MessageQueue("T", "b", 0), MessageQueue("T", "b", 1)], ["c1", "c0"])
Q0, Q1 = TWO.views[0].queues


def seen(*answers: Any, again: Any = None, before: Any = (), case: Case = TWO) -> Observed:
    return Observed(case, tuple(answers), tuple(again or answers), tuple(before))


JOINED = Case(TWO.views, "c1")


@pytest.mark.parametrize(("name", "fine", "wrong", "sentence"), [
    ("allocation_answers", seen((Q0,), ()), seen((Q0,), Failure("raised X")), "c1 among ['c0', 'c1'] raised X"),
    ("allocation_is_in_range", seen((Q0,), (Q1,)), seen((Q0,), (5,)),
     "c1 takes 5, which is not in the list that it was given"),
    ("allocation_is_total", seen((Q0,), (Q1,)), seen((Q0,), (Q0,)), "T/b:1 has no owner"),
    ("allocation_is_exclusive", seen((Q0, Q0), (Q1,)), seen((Q0,), (Q1, Q0)), "T/b:0 is owned by c0 and by c1"),
    ("allocation_is_deterministic", seen((Q0, Q1), (), again=((Q1, Q0), ())), seen((Q0,), (), again=((Q1,), ())),
     "c0 takes [T/b:0], and at the same question again [T/b:1]"),
    ("allocation_is_balanced", seen((Q0, Q0), (Q1,)), seen((Q0, Q1), ()), "c0 takes 2 queues and c1 takes 0"),
    ("allocation_moves_minimally", seen((Q0,), (Q1,), before=((Q0, Q1),), case=JOINED),
     seen((Q0, Q1), (), before=((Q1,),), case=JOINED), "T/b:0 goes from nobody to c0 when c1 joins"),
])
def test_each_claim_says_what_is_wrong_and_nothing_when_all_is_well(
    name: str, fine: Observed, wrong: Observed, sentence: str,
) -> None:
    assert STRATEGY_CLAIMS[name].wrong(fine) is None
    assert STRATEGY_CLAIMS[name].wrong(wrong) == sentence


def test_no_claim_is_missing_from_the_test_above() -> None:
    assert set(STRATEGY_CLAIMS) == {
        "allocation_answers", "allocation_is_in_range", "allocation_is_total", "allocation_is_exclusive",
        "allocation_is_deterministic", "allocation_is_balanced", "allocation_moves_minimally"}


def test_a_table_shows_queue_by_owner_and_with_a_joiner_before_and_after() -> None:
    assert seen((Q0, Q1), (Q1,)).table() == {
        "columns": ["queue", "owner"], "rows": [["T/b:0", "c0"], ["T/b:1", "c0, c1"]]}
    table = seen((Q0,), (), before=((Q0, Q1),), case=JOINED).table()
    assert table["columns"] == ["queue", "owner before", "owner after c1 joined"]
    assert table["rows"] == [["T/b:0", "c0", "c0"], ["T/b:1", "c0", "nobody"]]


def test_a_strategy_gets_lists_of_its_own() -> None:
    def greedy(_group: str, _me: str, queues: Queues, ids: list[str]) -> Queues:
        taken = queues.copy()
        queues.clear()
        ids.clear()
        return taken

    answers = observe([greedy, greedy], TWO)
    assert answers.answers == answers.again == ((Q0, Q1), (Q0, Q1))


# Families of inputs ---------------------------------------------------------------------------------------------------


def all_cases(inputs: Any, *, joins: bool = False) -> list[Case]:
    return list(inputs.up_to(4, 4, joins=joins))


@pytest.mark.parametrize("inputs", [EQUAL_LISTS, LISTED_ROOMS, UNLISTED_ROOMS, NEARBY_ROOMS])
def test_equal_lists_are_equal_sorted_and_distinct(inputs: Any) -> None:
    for joins in (False, True):
        for case in all_cases(inputs, joins=joins):
            first = case.views[0]
            assert all((view.queues, view.members) == (first.queues, first.members) for view in case.views)
            assert [view.me for view in case.views] == list(first.members)
            assert list(first.queues) == sorted(set(first.queues))
            assert len(set(first.members)) == len(first.members)
            assert (case.joiner in first.members) is joins


def test_members_are_sorted_as_java_sorts_texts() -> None:
    case = equal_lists([Q0], ["10.0.0.9@1", "10.0.0.10@1", "c2", "c10", "\U0001f600", "\uffff"])
    assert case.views[0].members == ("10.0.0.10@1", "10.0.0.9@1", "c10", "c2", "\U0001f600", "\uffff")


@pytest.mark.parametrize(("inputs", "breaks"), [
    (DUPLICATE_IDS, lambda case: len({view.me for view in case.views}) < len(case.views)),
    (UNSEEN_JOINER, lambda case: len({view.members for view in case.views}) == 2),
    (LEAVER_STILL_SEEN, lambda case: len(case.views) == len(case.views[0].members) - 1),
    (UNEQUAL_ROUTES, lambda case: len({view.queues for view in case.views}) == 2),
    (UNEQUAL_ORDERS, lambda case: len({view.members for view in case.views}) == 2),
])
def test_each_hazard_breaks_the_premise_in_its_own_way(inputs: Any, breaks: Callable[[Case], bool]) -> None:
    cases = all_cases(inputs)
    assert cases
    assert all(breaks(case) for case in cases)
    assert all_cases(inputs, joins=True) == []


def test_cases_come_smallest_first_and_each_once() -> None:
    sizes = [len(case.queues()) + len(case.views) for case in all_cases(EQUAL_LISTS)]
    assert sizes == sorted(sizes)
    assert len(sizes) == len(set(map(str, all_cases(EQUAL_LISTS)))) == 3 * 16
    rooms = [case for case in all_cases(NEARBY_ROOMS) if (len(case.queues()), len(case.views)) == (2, 2)]
    assert len(rooms) == 3**2 * 3**2


def test_a_case_survives_its_evidence() -> None:
    for inputs in (EQUAL_LISTS, UNEQUAL_ROUTES, DUPLICATE_IDS):
        for case in all_cases(inputs):
            assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case


@pytest.mark.parametrize("change", [
    {"arguments": {}}, {"arguments": {"views": [{"me": "c0"}]}}, {"property": "nonsense"},
    {"subject": {"kind": "strategy", "name": "AVG", "details": {}}}, {"subject": {"kind": "strategy", "name": "X"}},
])
def test_strategy_evidence_that_cannot_be_replayed_says_so(
    change: dict[str, Any], shipped: tuple[Path, list[Verdict]],
) -> None:
    out, rows = shipped
    row = next(row for row in rows if row.outcome is Outcome.VIOLATED)
    with pytest.raises(BadInputError) as caught:
        replay_counterexample({**read(out / str(row.evidence)), **change})
    assert "\n" not in str(caught.value)
