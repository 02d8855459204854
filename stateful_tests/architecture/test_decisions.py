"""Which decisions the rest of `impl` calls, and that the others say of themselves that it does not."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from stateful_tests.architecture.test_imports import imported, modules, within

ROOT = Path(__file__).parents[2]
DECISIONS = "impl.decisions"
MARK = "Nothing in the rest of `impl` calls it yet."


def uncalled(sources: Mapping[str, str]) -> set[str]:
    """The modules of decisions that no module of `impl` reaches, variants and decisions themselves aside."""
    reached: set[str] = set()
    ways = [name for name in sources if not within(name, (DECISIONS, "impl.variants"))]
    while ways:
        found = {one for one in imported(sources[ways.pop()]) if one in sources and within(one, (DECISIONS,))} - reached
        reached |= found
        ways += found
    return {name for name in sources if name.startswith(f"{DECISIONS}.")} - reached


def mismarked(sources: Mapping[str, str]) -> list[str]:
    """What says the wrong thing of itself, or nothing."""
    lonely, wrong = uncalled(sources), []
    for name in sorted(name for name in sources if name.startswith(f"{DECISIONS}.")):
        lines = (ast.get_docstring(ast.parse(sources[name])) or "").splitlines()
        if (MARK in lines) != (name in lonely):
            wrong.append(f"{name}: {'add' if name in lonely else 'remove'} the line {MARK!r} in its docstring")
    return wrong


def test_a_decision_that_nothing_calls_says_so_and_no_other_does() -> None:
    sources = {name: path.read_text("utf-8") for name, path in modules() if name.startswith("impl")}
    assert len(uncalled(sources)) < len([name for name in sources if name.startswith(f"{DECISIONS}.")])
    assert mismarked(sources) == []


def test_the_mark_is_missed_and_is_seen_where_it_lies() -> None:
    marked = f'"""Ports.\n\n{MARK}\n"""\n'
    assert mismarked({
        "impl.client.rebalance": "from impl.decisions import allocation",
        "impl.variants.repairs": "from impl.decisions import pull_answer",
        "impl.decisions.allocation": f"{marked}from impl.decisions.flags import READ",
        "impl.decisions.flags": '"""Flags."""',
        "impl.decisions.pull_answer": '"""Pulls."""\nfrom impl.decisions import suggestion',
        "impl.decisions.suggestion": marked,
    }) == [
        f"impl.decisions.allocation: remove the line {MARK!r} in its docstring",
        f"impl.decisions.pull_answer: add the line {MARK!r} in its docstring",
    ]
