"""The symbolic executor: it computes what Python computes, its tables are complete, and it knows when to stop."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any

import pytest

from proofs.divisions import multiples
from proofs.engine import z3
from proofs.path_runs import Path, PathLimitError
from proofs.paths import Limits, PathTable, enumerate_paths
from proofs.symbolic import SymbolicBool, SymbolicInteger, UnsupportedError

X, Y = z3.Int("x"), z3.Int("y")
SMALL = z3.And(X >= -40, X <= 40, Y >= -40, Y <= 40)


def table_of(function: Callable[..., Any], domain: Any = SMALL, **options: Any) -> PathTable:
    return enumerate_paths(lambda run: function(SymbolicInteger(run, X), SymbolicInteger(run, Y)), domain, **options)


def proved(*formulas: Any) -> bool:
    solver = z3.Solver()
    solver.add(*formulas)
    return bool(solver.check() == z3.unsat)


def rows_for(table: PathTable, x: int, y: int) -> list[tuple[Path, z3.ModelRef]]:
    """The rows whose condition is true of these arguments, each with a model (it holds quotients and remainders)."""
    found = []
    for path in table.paths:
        solver = z3.Solver()
        solver.add(*table.premises(), path.answers.condition, x == X, y == Y)
        if solver.check() == z3.sat:
            found.append((path, solver.model()))
    return found


def value(result: Any, model: z3.ModelRef) -> Any:
    if isinstance(result, SymbolicInteger):
        return model.eval(result.term, model_completion=True).as_long()
    if isinstance(result, SymbolicBool):
        return z3.is_true(model.eval(result.term, model_completion=True))
    return tuple(value(part, model) for part in result) if isinstance(result, tuple) else result


class Colour(Enum):
    RED = 1
    BLUE = 2


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "floor division and modulo by what is not 0": lambda x, y: divmod(x, y) if y != 0 else None,
    "division of a number": lambda x, y: (100 // x, 100 % x) if x else y,
    "division by constants": lambda x, y: (x // 7, y % 7, x // -7, y % -7),
    "division by zero raises": lambda x, y: x // y,
    "sums and products": lambda x, y: (x + y, x - y, 3 - x, x * 5 - 2 * y, -x, +y),
    "absolute, least, greatest": lambda x, y: (abs(x), min(x, y, 3), max(x, -y)),
    "chained comparisons": lambda x, y: 0 <= x < y <= 30,
    "and, or, not": lambda x, y: (x > 3 and y > 3) or not (x < y),
    "membership": lambda x, y: x in (1, 2, y),
    "comparison with floats": lambda x, y: (x > 2.5, x >= 3.0, x < -1.5, y <= -2.0, x == 4.0, x != 4.5),
    "masks": lambda x, y: (x & 0b1011_0110, y & -16, x | 12, y ^ 5, ~x),
    "shifts": lambda x, y: (x << 3, y >> 2),
    "truth of a number": lambda x, y: 1 if x else (2 if y else 3),
    "truth values as numbers": lambda x, y: (x > 0) + (y > 0) + sum([x > 1, y > 1]),
    "truth values joined": lambda x, y: ((x > 0) & (y > 0), (x > 0) | (y > 0), (x > 0) ^ (y > 0), (x > 0) == (y > 0)),
    "sorting": lambda x, y: sorted([x, y, 5])[1],
    "all and any": lambda x, y: (all(k < x for k in (1, 2)), any(k < y for k in (1, 2))),
    "a machine word wraps": lambda x, y: ((x + y + 2**31) % 2**32 - 2**31, (x * 2**30 + 2**31) % 2**32),
    "comparison with something else": lambda x, y: (x == "x", x != None, y == Colour.RED),  # noqa: E711  # the point
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_row_answers_what_python_answers(name: str) -> None:
    program = PROGRAMS[name]
    table = table_of(program)
    assert table.is_partition()
    rng = random.Random(name)  # noqa: S311  # samples
    corners = [(0, 0), (1, 0), (0, 1), (-1, 1), (1, -1), (-40, 40), (7, -7), (-7, 7), (3, 3)]
    for x, y in [*corners, *((rng.randint(-40, 40), rng.randint(-40, 40)) for _ in range(12))]:
        (path, model), = rows_for(table, x, y)
        if path.error is not None:
            with pytest.raises(type(path.error)):
                program(x, y)
        else:
            assert value(path.result, model) == program(x, y), (x, y)


def test_an_index_a_key_and_a_text_become_concrete_one_path_for_each_value() -> None:
    domain = z3.And(X >= 0, X <= 3, Y == 0)
    programs: list[Callable[[Any, Any], Any]] = [
        lambda x, _: "abcd"[x], lambda x, _: {0: "a", 1: "b", 2: "c", 3: "d"}[x], lambda x, _: f"{x}|{x:03}",
        lambda x, _: len(range(x)), lambda x, _: x / 4, lambda x, _: float(x), lambda x, _: x * 0.1,
    ]
    for program in programs:
        table = table_of(program, domain)
        assert table.is_partition()
        assert sorted(map(str, (path.result for path in table.paths))) == sorted(str(program(x, 0)) for x in range(4))


def test_an_index_outside_the_list_is_a_path_that_raises() -> None:
    table = table_of(lambda x, _: "ab"[x], z3.And(X >= 0, X <= 2, Y == 0))
    assert sorted(str(path.result) if path.error is None else type(path.error).__name__ for path in table.paths) == [
        "IndexError", "a", "b"]


def test_what_z3_refutes_is_cut_off_and_kept_for_a_second_proof() -> None:
    table = table_of(lambda x, y: "no" if x > y and y > x else "yes")  # noqa: PLR1716  # two questions, as written
    assert {path.result for path in table.paths} == {"yes"}
    assert len(table.impossible()) == 1
    assert all(proved(*table.premises(), condition) for condition in table.impossible())


def test_a_table_with_a_row_missing_doubled_or_changed_is_no_partition() -> None:
    table = table_of(lambda x, y: (x > 0, 1 if y > x else 2, 3 if x > 5 else 4)[1:])
    assert table.is_partition()
    assert len(table.paths) > 2
    for wrong in (table.paths[1:], table.paths[:-1], [*table.paths, table.paths[0]]):
        assert not replace(table, paths=wrong).is_partition()
    shorter = replace(table.paths[0].answers, given=table.paths[0].answers.given[:-1])
    assert not replace(table, paths=[replace(table.paths[0], answers=shorter), *table.paths[1:]]).is_partition()
    assert not replace(table, paths=[]).is_partition()


def test_a_function_that_does_not_ask_the_same_again_is_found_out() -> None:
    calls = iter(range(1000))

    def impure(x: Any, y: Any) -> int:
        return 1 if x > next(calls) else 2 if y > next(calls) else 3

    with pytest.raises(UnsupportedError, match="not pure"):
        table_of(impure)


def test_the_rule_about_multiples_is_a_theorem_and_a_stronger_one_is_not() -> None:
    divisor, factor = z3.Ints("divisor factor")
    assert proved(z3.Not(multiples(divisor, factor)))
    assert not proved(z3.Not(z3.Implies(divisor > 0, divisor * factor >= divisor)))


def test_equal_divisions_share_their_names_on_all_paths() -> None:
    table = table_of(lambda x, y: x // y if x > 3 else x % y, z3.And(X >= 0, Y >= 1))
    assert len(table.divisions.by_operands) == 1


def test_a_loop_without_end_reaches_a_limit_and_concludes_nothing() -> None:
    def endless(x: Any, _: Any) -> int:
        while x > 0:
            x = x + 1
        return 0

    with pytest.raises(PathLimitError):
        table_of(endless, limits=Limits(depth=50))

    def long(x: Any, _: Any) -> int:
        while x > 0:
            x = x - 1
        return 0

    with pytest.raises(PathLimitError):
        table_of(long, X >= 0, limits=Limits(paths=30))
    with pytest.raises(PathLimitError):
        table_of(long, X >= 0, limits=Limits(seconds=0.2))


@pytest.mark.parametrize("program", [
    lambda x, y: x & y, lambda x, y: x << y, lambda x, _: ~(x > 0), lambda x, y: x | y,
])
def test_what_has_no_symbolic_meaning_is_refused(program: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(UnsupportedError):
        table_of(program)


def test_code_under_test_cannot_swallow_a_refusal() -> None:
    def swallows(x: Any, y: Any) -> int:
        try:
            return int(x & y)
        except Exception:  # noqa: BLE001  # the point
            return 0

    with pytest.raises(UnsupportedError):
        table_of(swallows)


def test_a_side_that_z3_cannot_decide_in_time_is_followed() -> None:
    hard = z3.And(X > 2, Y > 2)

    def fermat(x: Any, y: Any) -> str:
        z = SymbolicInteger(x.run, z3.Int("z"))
        return "found" if z > 2 and x * x * x + y * y * y == z * z * z else "not found"

    table = table_of(fermat, hard, limits=Limits(effort=20_000))
    assert {path.result for path in table.paths} >= {"not found"}
    assert table.is_partition()


def test_a_program_that_fails_on_one_path_only_says_so_on_that_path() -> None:
    def fails(x: Any, _: Any) -> int:
        if x == 17:
            raise ValueError("seventeen")
        return 1

    errors = [path.error for path in table_of(fails).paths]
    assert sorted(type(error).__name__ for error in errors) == ["NoneType", "ValueError"]
