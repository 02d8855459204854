"""The sources of the project, and what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("rocketproof", "model", "invariants", "impl", "stateful_tests", "proofs", "spark_fuzz")


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the project, by its name."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def imported(source: str) -> Iterator[str]:
    """The modules that a source imports, and what it takes out of them, which may be modules too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    """Whether the module is one of these, or in one of these packages."""
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)
