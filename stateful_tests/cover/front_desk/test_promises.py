"""The table of the README that says which promises to users are kept: it is derived from what is declared."""

from __future__ import annotations

from pathlib import Path

from invariants.relied_on import RELIED_ON
from stateful_tests.worlds.subjects import DECLARED, subject_named


def said(subject: str, name: str) -> str:
    """What is expected of a property of a subject."""
    hazards = subject_named(subject).hazards(name)
    return f"violated: {', '.join(hazards)}" if hazards else "holds"


def test_the_front_page_says_what_is_declared() -> None:
    rows = [f"| {promise} | {name} | {said('shipped', name)} | {said('repaired', name)} |"
            for name, promise in RELIED_ON.items()]
    lines = Path("README.md").read_text(encoding="utf-8").splitlines()
    begin = lines.index("| users rely on | property | 4.9.3 as shipped | with all repairs |") + 2
    assert lines[begin:begin + len(rows) + 1] == [*rows, ""]
    assert DECLARED.keys() >= RELIED_ON.keys()
