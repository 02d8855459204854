"""What was proved before changes no proof: the same answers, obligations and amount of search in any order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

import pytest

from invariants.claim import CLAIMS
from invariants.concepts import CONCEPTS
from invariants.verdict import Verdict
from model.consumer_group import Convergence
from model.language import Property
from model.language.tracing import names_read
from model.order_lock import OrderLock
from proofs import decisions, path_questions, path_runs, paths, solve, terms
from proofs.apart import apart
from proofs.decisions import prove_claim
from proofs.engine import z3
from proofs.obligations import Induction
from proofs.prove import Prover, provable
from proofs.solve import Answer, Questions
from proofs.written import Written

assert CONCEPTS  # importing them declares properties
PROPERTIES = [p for state in (Convergence, OrderLock) for p in state.concept.properties.values() if provable(p)]
LOCKS = [p for p in PROPERTIES if p.concept is OrderLock.concept]
ATTEMPTS = 3
Result = TypeVar("Result")
SOME_CLAIMS = [  # easy ones, hard ones, refuted ones
    "averagely_is_total", "circle_is_balanced", "circle_moves_minimally", "position_is_in_range",
    "picks_visit_every_position", "retry_finds_the_other_broker", "bounds_follow_the_table", "full_disk_is_marked",
]


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every context that proofs ask in, from now on."""
    made: list[Any] = []

    def fresh_context() -> Any:
        made.append(terms.fresh_context())
        return made[-1]

    for module in (solve, decisions, path_questions):
        monkeypatch.setattr(module, "fresh_context", fresh_context)
    return made


def effort(context: Any) -> int:
    """Z3's resource units that were spent in a context: two searches that differ at all differ here."""
    solver = z3.SimpleSolver(ctx=context)
    solver.check()
    return int(dict(zip(solver.statistics().keys(), (v for _, v in solver.statistics()), strict=True))["rlimit count"])


def plain(row: Verdict) -> tuple[Any, ...]:
    cost = {name: value for name, value in row.cost.items() if name != "seconds"}
    return row.outcome, row.note, sorted(cost.items())


def by_name(properties: Sequence[Property]) -> dict[str, tuple[Any, ...]]:
    prover = Prover(seeds=(0, 1))  # in this process, which looks at the contexts
    return {declared.name: plain(prover.verdict(declared)) for declared in properties}


def survived(work: Callable[[int], Result]) -> Result:
    """What is found in a process apart: if Z3 ends it, in another one."""
    return next(one for one in apart(range(ATTEMPTS), work, lambda *_: None) if one is not None)


def test_protocols_are_proved_the_same_in_any_order(contexts: list[Any]) -> None:
    def both_ways(_: int) -> tuple[list[dict[str, tuple[Any, ...]]], list[list[int]]]:
        rows, spent = [], []
        for order in (PROPERTIES, PROPERTIES[::-1]):
            contexts.clear()
            rows.append(by_name(order))
            spent.append(sorted(map(effort, contexts)))
        return rows, spent

    (forwards, backwards), (first, second) = survived(both_ways)
    assert (backwards, second) == (forwards, first)
    assert len(forwards) > 10
    assert max(first) > 10_000


SHARED = """
from proofs import solve, terms
from stateful_tests.cover.proofs.test_order import LOCKS, by_name, effort

spent = []
for order in (LOCKS, LOCKS[::-1]):
    shared = terms.fresh_context()
    solve.fresh_context = lambda shared=shared: shared
    by_name(order)
    spent.append(effort(shared))
print(*spent)
"""


def test_one_context_for_all_is_noticed() -> None:
    """The fault that this file is for: a search differs when it shares its context with what was asked before.

    In a process of its own: many solvers in one context have been seen to crash Z3 where formulas describe sets.
    """
    done = subprocess.run(  # noqa: S603  # the interpreter that runs this test, and the program above
        [sys.executable, "-c", SHARED], capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    forwards, backwards = done.stdout.split()
    assert forwards != backwards


def test_a_property_alone_is_proved_as_among_others() -> None:
    together, *alone = survived(lambda _: [by_name(PROPERTIES), *(by_name([one]) for one in PROPERTIES[::3])])
    assert len(alone) > 1
    assert all(one.items() <= together.items() for one in alone)


def claims(names: Sequence[str], contexts: list[Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name in names:
        contexts.clear()
        row = prove_claim(CLAIMS[name], (0, 1)).verdict
        yield name, (*plain(row), effort(contexts[0]))


def test_decisions_are_proved_the_same_in_any_order(contexts: list[Any]) -> None:
    path_questions._multiples_hold.cache_clear()
    forwards = dict(claims(SOME_CLAIMS, contexts))
    assert dict(claims(SOME_CLAIMS[::-1], contexts)) == forwards


def test_questions_in_one_context_may_depend_on_each_other_only_there() -> None:
    """What is assumed is kept from question to question, and replaced when it is another."""
    x, y = z3.Ints("x y")
    questions = Questions((0, 1))
    above, below = (x > 3,), (x < 3,)
    assert questions.prove(above, (y == x,), y > 2).answer is Answer.PROVED
    assert questions.prove(above, (), y > 2).answer is Answer.REFUTED, "the hypothesis is gone"
    assert questions.prove(below, (), x < 4).answer is Answer.PROVED
    assert questions.prove(below, (), x > 3).answer is Answer.REFUTED, "what was assumed before is gone"
    assert questions.prove((), (), x < 3).answer is Answer.REFUTED


def test_what_is_assumed_grows_and_shrinks() -> None:
    """What two questions assume alike up to a place is kept, and only what lies behind it is replaced."""
    x = z3.Int("x")
    floor, step, roof, other = x > 0, x > 3, x < 9, x < 7
    bounds = {(): (), (floor,): (0,), (floor, step): (0, 3), (floor, step, roof): (0, 3, 8), (floor, other): (0, 6)}
    for first, second in product(bounds, repeat=2):
        questions = Questions((0, 1))
        for assumed in (first, second, first):
            least = max((bound for bound in bounds[assumed] if bound < 4), default=None)
            most = max((bound for bound in bounds[assumed] if bound > 4), default=None)
            for bound in range(-1, 10):
                above = questions.prove(assumed, (), x > bound).answer is Answer.PROVED
                below = questions.prove(assumed, (), x <= bound).answer is Answer.PROVED
                assert above == (least is not None and bound <= least)
                assert below == (most is not None and bound >= most)


def test_another_seed_searches_otherwise(contexts: list[Any]) -> None:
    """Z3 takes a seed when it makes a solver; if it did not take it, all seeds would spend the same."""
    declared = OrderLock.concept.properties["one_live_believer"]
    induction = Induction(Written(declared.concept), declared.given)
    hard = [one for one in induction.of_lemmas(induction.lemmas) if one.action]

    def spent(seed: int) -> int:
        contexts.clear()
        questions = Questions((seed,))
        assert all(questions.prove(one.assumed, one.hypotheses, one.goal).answer is Answer.PROVED for one in hard)
        return effort(*contexts)

    efforts = [spent(seed) for seed in (0, 1, 2, 0)]
    assert len({*efforts[:3]}) > 1
    assert efforts[3] == efforts[0]


def test_every_seed_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    configure = terms.configure

    def noted(solver: Any, **parameters: int) -> None:
        asked.append(parameters["random_seed"])
        configure(solver, **parameters)

    monkeypatch.setattr(terms, "configure", noted)
    x = z3.Int("x")
    assert Questions((0, 1, 2, 3, 4)).prove((), (x > 3,), x > 2).answer is Answer.PROVED
    assert asked == [0, 1, 2, 3, 4]


def test_a_goal_that_is_among_what_is_known_is_not_asked(contexts: list[Any]) -> None:
    x = z3.Int("x")
    questions = Questions((0, 1))
    assert questions.prove((x > 3,), (x > 5,), x > 5).answer is Answer.PROVED
    assert not contexts
    assert questions.prove((x > 3,), (), x > 5).answer is Answer.REFUTED, "it is not among them any more"
    assert len(contexts) == 1


def test_only_a_step_that_leaves_an_invariant_alone_has_it_for_a_goal_as_it_was() -> None:
    induction = Induction(Written(OrderLock.concept), OrderLock.concept.properties["one_live_believer"].given)
    alone, touched = 0, 0
    for one in induction.keeping(induction.lemmas, induction.lemmas):
        written = {assignment.variable for assignment in OrderLock.concept.actions[one.action].assignments}
        read = names_read(OrderLock.concept.properties[one.invariant].condition)
        same = any(terms.same(one.goal, known) for known in one.assumed)
        assert same == read.isdisjoint(written), str(one)
        alone, touched = alone + same, touched + (not same)
    assert alone
    assert touched


def test_an_input_that_is_given_has_its_path_first() -> None:
    x = z3.Int("x")
    table = paths.PathTable(z3.And(x >= 0, x <= 9))

    def program(run: path_runs.PathRun) -> str:
        return "seven" if run.decide(x == 7) else "small" if run.decide(x < 4) else "other"

    for wanted, given in (("seven", 7), ("small", 1), ("other", 5)):
        table = paths.PathTable(z3.And(x >= 0, x <= 9))
        found = [path.result for path in table.explore(program, first=[x == given])]
        assert found[0] == wanted
        assert sorted(found) == ["other", "seven", "small"]
        assert table.is_partition()


def test_the_benchmark_prints_json_lines() -> None:
    command = [sys.executable, "-m", "bench.prove", "--json", "-", "--seeds", "1", "--solver", "both",
               "queue_order_is_total"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own module
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["solver"] for line in lines] == ["z3", "z3", "cvc5", "cvc5"]
    for group, everything in (lines[:2], lines[2:]):
        assert (group["group"], group["verdicts"], group["seeds"]) == ("message_queue", 1, 1)
        assert everything["obligations"] == group["obligations"] > 0
        assert everything["cpu_seconds"] > group["cpu_seconds"] > 0
    refused = subprocess.run([*command[:-1], "nonsense"], capture_output=True, text=True, check=False)  # noqa: S603  # same
    assert refused.returncode == 2
    assert "nonsense" in refused.stderr
