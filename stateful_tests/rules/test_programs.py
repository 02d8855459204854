from __future__ import annotations

from collections.abc import Callable

import pytest

from stateful_tests.rules.programs import PROGRAMS, seen


@pytest.mark.parametrize(("bug", "name", "program"), PROGRAMS)
def test_a_program_shows_a_planted_bug(bug: str, name: str, program: Callable[[], None]) -> None:
    assert seen("repaired", program) == set()
    assert name in seen(f"repaired+{bug}", program)
