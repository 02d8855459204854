from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from impl.decisions import allocation, disk_cleanup, fault_strategy, pull_answer, queue_selection, retry_level
from impl.decisions.java_arithmetic import (
    INT_MAX,
    INT_MIN,
    LONG_MIN,
    absolute32,
    boolean_hash,
    double_hash,
    greater,
    long_hash,
    quotient,
    remainder,
    smaller,
    string_hash,
    wrap32,
    wrap64,
)
from impl.decisions.java_errors import DivisionByZeroError
from invariants.rules.stored_codes import java_hash

ints = st.integers(INT_MIN, INT_MAX)


@settings(deadline=None)  # a busy machine needs room
@given(ints, ints.filter(bool))
def test_quotient_rounds_towards_zero_and_remainder_has_the_sign_of_the_dividend(a: int, b: int) -> None:
    assert quotient(a, b) * b + remainder(a, b) == a
    assert abs(remainder(a, b)) < abs(b)
    assert remainder(a, b) == 0 or (remainder(a, b) > 0) == (a > 0)


def test_java_differs_from_python_where_signs_differ() -> None:
    assert (quotient(-7, 2), remainder(-7, 2)) == (-3, -1)
    assert (-7 // 2, -7 % 2) == (-4, 1)
    assert (quotient(7, -2), remainder(7, -2)) == (-3, 1)
    assert wrap32(quotient(INT_MIN, -1)) == INT_MIN
    with pytest.raises(DivisionByZeroError, match="/ by zero"):
        quotient(1, 0)
    with pytest.raises(DivisionByZeroError):
        remainder(1, 0)


@settings(deadline=None)  # a busy machine needs room
@given(st.integers())
def test_wrapping_keeps_the_low_bits(number: int) -> None:
    assert INT_MIN <= wrap32(number) <= INT_MAX
    assert (wrap32(number) - number) % 2**32 == 0
    assert (wrap64(number) - number) % 2**64 == 0
    assert LONG_MIN <= wrap64(number) < -LONG_MIN


def test_the_absolute_value_of_the_least_int_is_negative() -> None:
    assert [absolute32(n) for n in (INT_MIN, INT_MIN + 1, -1, 0, INT_MAX)] == [INT_MIN, INT_MAX, 1, 0, INT_MAX]
    assert (smaller(1, 2), smaller(2, 1), greater(1, 2), greater(2, 1)) == (1, 1, 2, 2)


def test_hashes_are_those_of_java() -> None:
    assert string_hash("polygenelubricants") == INT_MIN
    assert string_hash("\U0001f600") == 31 * 0xD83D + 0xDE00
    assert string_hash("\ud83d") == 0xD83D
    assert (long_hash(-1), long_hash(2**32), long_hash(LONG_MIN)) == (0, 1, INT_MIN)
    assert (double_hash(0.0), double_hash(-0.0), double_hash(1.0)) == (0, INT_MIN, 1072693248)
    assert (boolean_hash(value=True), boolean_hash(value=False)) == (1231, 1237)


@settings(deadline=None)  # a busy machine needs room
@given(st.text(st.characters()) | st.just("polygenelubricants"))
def test_judges_hash_for_themselves_as_java_does(text: str) -> None:
    assert java_hash(text) == string_hash(text)


class Opaque:
    """An integer that allows + - * // %, comparisons and minus only, as a symbolic one: no int(), no index, no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int) -> None:
        self._value = value

    def _of(self, other: Any) -> int:
        return other._value if isinstance(other, Opaque) else other


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: Opaque, *others: Any) -> Any:
        result = getattr(int, name)(self._value, *map(self._of, others))
        return result if isinstance(result, bool) else Opaque(result)

    return apply


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Opaque, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Opaque, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in ("__neg__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Opaque, _name, _operator(_name))


def plain(value: Any) -> Any:
    if isinstance(value, Opaque):
        return value._value
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return {slot: plain(getattr(value, slot)) for slot in value.__slots__} if hasattr(value, "__slots__") else value


NUMERIC: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (wrap32, (2**31,)), (wrap64, (-(2**63) - 1,)), (quotient, (-7, 2)), (remainder, (-7, 3)), (absolute32, (INT_MIN,)),
    (allocation.averagely_range, (7, 3, 1)), (allocation.averagely_owns, (7, 3, 1, 3)),
    (allocation.circle_owns, (7, 3, 1, 4)), (allocation.machine_room_range, (7, 3, 0)),
    (allocation.machine_room_owns, (7, 3, 0, 6)),
    (queue_selection.position, (INT_MIN, 3)), (queue_selection.plain_position, (INT_MAX, 3)),
    (queue_selection.write_queue_id, (INT_MIN, 3)), (queue_selection.hash_position, (-7, 4)),
    (fault_strategy.compute_not_available_duration, (600,)), (fault_strategy.available_at, (5, 6)),
    (retry_level.send_back_delay_level, (3, 0, 16)), (retry_level.corrected_timestamp, (5, 9, 1)),
    (retry_level.stored_delay_level, (19, 18)), (pull_answer.max_filter_bytes, (900,)),
    (pull_answer.roll_next_file, (7, 100)), (pull_answer.next_offset_after_scan, (2**63 - 1, 1)),
    (disk_cleanup.disk_max_used_space_ratio, (96,)), (disk_cleanup.space_used_percent, (100, 30, 20)),
]


@pytest.mark.parametrize(("function", "arguments"), NUMERIC, ids=lambda value: getattr(value, "__name__", ""))
def test_number_functions_need_nothing_but_the_operators_of_a_symbolic_integer(
    function: Callable[..., Any], arguments: tuple[Any, ...],
) -> None:
    assert plain(function(*map(Opaque, arguments))) == plain(function(*arguments))


def test_tables_with_flags_run_on_symbolic_integers_too() -> None:
    flags = {"slave": True, "offset_check_in_slave": False}
    opaque = pull_answer.bounds_decision(Opaque(9), Opaque(1), Opaque(5), **flags)  # type: ignore[arg-type]
    assert plain(opaque) == plain(pull_answer.bounds_decision(9, 1, 5, **flags))
    opaque_space = disk_cleanup.is_space_to_delete(Opaque(80), Opaque(95), Opaque(75), disk_full=False)  # type: ignore[arg-type]
    assert plain(opaque_space) == plain(disk_cleanup.is_space_to_delete(80, 95, 75, disk_full=False))


def test_the_opaque_integer_really_refuses_conversions() -> None:
    with pytest.raises(TypeError):
        int(Opaque(1))  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        [0, 1][Opaque(1)]  # type: ignore[call-overload]
    assert "__index__" not in dict(inspect.getmembers(Opaque))
