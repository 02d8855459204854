"""Programs lose the lines that they can do without."""

from __future__ import annotations

from stateful_tests.machines.program import Program, parsed
from stateful_tests.machines.shortening import MOST_TRIES, shortened, shorter

PROGRAM = parsed("kill(who='a', s=1); pass_time(s=1); pass_time(s=20); kill(who='b', s=1)")


def _seconds(program: Program) -> int:
    return sum(dict(line.arguments)["s"] for line in program if line.rule == "pass_time")


def test_two_waits_become_one_where_neither_can_go() -> None:
    assert shortened(PROGRAM, lambda program: _seconds(program) >= 21) == parsed("pass_time(s=21)")


def test_deeds_of_different_machines_stay_two() -> None:
    kills = parsed("kill(who='a', s=1); kill(who='b', s=1)")
    assert list(shorter(kills)) == [kills[1:], kills[:1]]


def test_a_program_that_needs_all_its_lines_stays() -> None:
    assert shortened(PROGRAM, lambda program: program == PROGRAM) == PROGRAM


def test_it_ends_after_so_many_tries() -> None:
    asked: list[Program] = []

    def breaks(program: Program) -> bool:
        asked.append(program)
        return len(program) % 2 == 1

    shortened(PROGRAM * 40, breaks)
    assert len(asked) <= MOST_TRIES
