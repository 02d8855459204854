"""Which decisions the rest of `impl` calls, and that the others say of themselves that it does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from stateful_tests.architecture.sources import modules, within

DECISIONS = "impl.decisions"
MARK = "Nothing in the rest of `impl` calls it yet."

Place = tuple[str, str]
"""A module, and what it declares."""


def taken(tree: ast.Module) -> dict[str, Place]:
    """What a module has taken out of modules of decisions, by the name that it uses."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and within(node.module or "", (DECISIONS,))
        for alias in node.names if node.module is not None
    }


def declared(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The functions, classes and names of a module, each with its statement."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))


def uses(sources: Mapping[str, str]) -> dict[Place, set[Place]]:
    """What each declaration of the decisions needs of them."""
    found: dict[Place, set[Place]] = {}
    for module in (name for name in sources if within(name, (DECISIONS,))):
        tree = ast.parse(sources[module])
        known = taken(tree) | {name: (module, name) for name, _ in declared(tree)}
        for name, statement in declared(tree):
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            found[module, name] = {known[one] for one in names if one in known}
    return found


def uncalled(sources: Mapping[str, str]) -> set[str]:
    """The modules of decisions of which nothing is reached from the rest of `impl`, variants aside."""
    needed = uses(sources)
    ways = [place for name, source in sources.items() if not within(name, (DECISIONS, "impl.variants"))
            for place in taken(ast.parse(source)).values()]
    reached: set[Place] = set()
    while ways:
        place = ways.pop()
        if place not in reached:
            reached.add(place)
            ways += needed.get(place, ())
    return {name for name in sources if name.startswith(f"{DECISIONS}.")} - {module for module, _ in reached}


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
    assert {f"{DECISIONS}.allocation", f"{DECISIONS}.start_offset"} <= set(sources) - uncalled(sources)
    assert mismarked(sources) == []


def test_the_mark_is_missed_and_is_seen_where_it_lies() -> None:
    marked = f'"""Ports.\n\n{MARK}\n"""\n'
    assert mismarked({
        "impl.client.rebalance": "from impl.decisions.allocation import average as share",
        "impl.variants.repairs": "from impl.decisions.pull_answer import answer",
        "impl.decisions.allocation": (
            f"{marked}from impl.decisions.flags import READ\nfrom impl.decisions.suggestion import suggest\n"
            "def average(): return _part()\ndef _part(): return READ\ndef other(): return suggest()"
        ),
        "impl.decisions.flags": '"""Flags."""\nREAD = 4',
        "impl.decisions.pull_answer": '"""Pulls."""\nfrom impl.decisions.suggestion import suggest\nanswer = suggest',
        "impl.decisions.suggestion": f"{marked}def suggest(): return 0",
    }) == [
        f"impl.decisions.allocation: remove the line {MARK!r} in its docstring",
        f"impl.decisions.pull_answer: add the line {MARK!r} in its docstring",
    ]
