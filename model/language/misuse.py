"""Errors of people who write declarations: each names the line, the expression and the cure."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_HERE = str(Path(__file__).parent)


class Misuse(TypeError):  # noqa: N818 - named as people speak of it: a misuse of the language
    """A declaration that the language cannot mean; raised at import, when the body is traced."""


def misuse(problem: str, cure: str, subject: str = "") -> Misuse:
    """The error for the expression that the first frame outside the language is evaluating."""
    frame = _author()
    place, text = _place(frame)
    return Misuse(f"{place}: {subject or text}: {problem}; {cure}")


def truth_value() -> Misuse:
    """Somebody asked a formula for its truth; find out how and say what to write instead."""
    frame = _author()
    place, text = _place(frame)
    how, cure, part = _construct(frame)
    return Misuse(f"{place}: {part or text}: a formula is not a truth value ({how}); {cure}")


def _author() -> FrameType:
    frame = sys._getframe(1)  # noqa: SLF001 - the only way to see the caller's line
    while frame.f_back is not None and str(Path(frame.f_code.co_filename).parent) == _HERE:
        frame = frame.f_back
    return frame


def _position(frame: FrameType) -> tuple[int, int, int, int]:
    positions = list(frame.f_code.co_positions())
    line, end, column, end_column = positions[frame.f_lasti // 2]
    line = line or frame.f_lineno
    return line, end or line, column or 0, end_column or 0


def _place(frame: FrameType) -> tuple[str, str]:
    line, end, column, end_column = _position(frame)
    name = Path(frame.f_code.co_filename).name
    text = linecache.getline(frame.f_code.co_filename, line)
    text = text[column:end_column] if end == line and end_column else text
    where = _function(frame)
    return f"{name}:{line}: in {where}", " ".join(text.split())


def _function(frame: FrameType) -> str:
    while frame.f_code.co_name.startswith("<") and frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
        while str(Path(frame.f_code.co_filename).parent) == _HERE and frame.f_back is not None:
            frame = frame.f_back
    return frame.f_code.co_name


_CURES: dict[str, str] = {
    "and": "write (a) & (b)",
    "or": "write (a) | (b)",
    "not": "write ~a",
    "chained comparison": "write (a < b) & (b < c)",
    "if": "write ite(condition, a, b), or put the condition into require(...)",
    "while": "an action is one step: write for x in every(Sort)",
    "assert": "state it as a property, or put it into require(...)",
    "filter of a comprehension": "write forall(condition.implies(...) for ...) or exists(condition & ... for ...)",
    "any": "write exists(... for x in every(Sort))",
    "all": "write forall(... for x in every(Sort))",
    "max": "write ite(a < b, b, a)",
    "min": "write ite(a < b, a, b)",
    "sorted": "sorts have no order; write a formula over every(Sort)",
    "bool": "keep it a formula",
}


def _construct(frame: FrameType) -> tuple[str, str, str]:
    """What asks for the truth: (its name, the cure, its source text)."""
    line, _, column, end_column = _position(frame)
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return "bool", _CURES["bool"], ""
    best: tuple[int, str, ast.AST] | None = None
    for node in ast.walk(tree):
        name = _asks(node)
        if name and _covers(node, line, column, end_column):
            size = (node.end_lineno - node.lineno) * 1000 + node.end_col_offset - node.col_offset  # type: ignore[attr-defined]
            if best is None or size <= best[0]:
                best = (size, name, node)
    if best is None:
        return "bool", _CURES["bool"], ""
    text = ast.get_source_segment(source, best[2]) or ""
    first = text.splitlines()[0] if text else ""
    return best[1], _CURES[best[1]], first


_SHAPES: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("and", lambda node: isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)),
    ("or", lambda node: isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)),
    ("not", lambda node: isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)),
    ("chained comparison", lambda node: isinstance(node, ast.Compare) and len(node.ops) > 1),
    ("if", lambda node: isinstance(node, ast.If | ast.IfExp)),
    ("while", lambda node: isinstance(node, ast.While)),
    ("assert", lambda node: isinstance(node, ast.Assert)),
    ("filter of a comprehension", lambda node: isinstance(node, ast.GeneratorExp) and bool(node.generators[0].ifs)),
)


def _asks(node: ast.AST) -> str:
    """Name the construct if it is one that asks for a truth value."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CURES:
        return node.func.id
    return next((name for name, fits in _SHAPES if fits(node)), "")


def _covers(node: ast.AST, line: int, column: int, end_column: int) -> bool:
    start = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
    if isinstance(node, ast.If | ast.While):
        end = (node.test.end_lineno or 0, node.test.end_col_offset or 0)
    else:
        end = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return start <= (line, column) and (line, min(end_column, column + 1)) <= end
