"""Errors of people who write declarations: each names the line, the expression and the cure."""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_HERE = str(Path(__file__).parent)
_LONG = 120  # an expression longer than this is cut

_Span = tuple[int, int, int, int]  # first line, last line, first byte, byte behind the last


class Misuse(TypeError):  # noqa: N818 - named as people speak of it: a misuse of the language
    """A declaration that the language cannot mean; raised at import, when the body is traced."""


def misuse(problem: str, cure: str, subject: str = "", within: str = "") -> Misuse:
    """The error for the expression that the first frame outside the language is evaluating.

    subject -- shown instead of that expression. within -- shown instead of the name of the frame's function.
    """
    frame = author()
    text = _shown(subject or _assignment(frame) or _source(frame.f_code, _position(frame)))
    place = _where(frame.f_code, _position(frame)[0], within or _function(frame))
    return Misuse(": ".join(part for part in (place, text, f"{problem}; {cure}") if part))


def misdeclared(body: Callable[..., Any], problem: str, cure: str, subject: str = "") -> Misuse:
    """The error for a declared function as a whole: subject, or its last return, or its heading, is what is shown."""
    code = body.__code__
    line, text = code.co_firstlineno, subject
    for node in _definition(code):
        shown = node.arg == subject if isinstance(node, ast.arg) else isinstance(node, ast.Return) and not subject
        if shown:
            line, text = node.lineno, ast.unparse(node)
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name and not text:
            line, text = node.lineno, f"def {node.name}({ast.unparse(node.args)})"
    return Misuse(f"{_where(code, line, code.co_name)}: {_shown(text)}: {problem}; {cure}")


def misannotated(owner: str, variable: str, problem: str, cure: str) -> Misuse:
    """The error for the annotation of a variable, or for the heading, of the class that is being declared."""
    frame = author()
    line, text = _position(frame)[0], f"class {owner}"
    for node in ast.walk(_tree(frame.f_code)):
        if isinstance(node, ast.ClassDef) and node.name == owner and node.lineno <= line <= (node.end_lineno or 0):
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id == variable:
                    line, text = part.lineno, ast.unparse(part)
    return Misuse(f"{_where(frame.f_code, line, owner)}: {_shown(text)}: {problem}; {cure}")


def truth_value() -> Misuse:
    """Somebody asked a formula for its truth; find out how and say what to write instead."""
    frame = author()
    how, cure, part = _construct(frame)
    text = part or _source(frame.f_code, _position(frame))
    place = _where(frame.f_code, _position(frame)[0], _function(frame))
    return Misuse(f"{place}: {_shown(text)}: a formula is not a truth value ({how}); {cure}")


def refuse_identity(body: Callable[..., Any]) -> None:
    """Refuse `is`, which compares Python objects and so is true or false whatever the state (None excepted)."""
    if not any(_IS_OP in code.co_code[::2] for code in _codes(body.__code__)):
        return
    for node in _definition(body.__code__):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            operands = (node.left, *node.comparators)
            if not any(isinstance(part, ast.Constant) and part.value is None for part in operands):
                place = _where(body.__code__, node.lineno, body.__code__.co_name)
                raise Misuse(f"{place}: {_shown(ast.unparse(node))}: `is` compares Python objects; write a == b")


_IS_OP = dis.opmap["IS_OP"]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the comprehensions and lambdas inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def author() -> FrameType:
    """The innermost frame outside the language."""
    frame = sys._getframe(1)  # noqa: SLF001 - the only way to see the caller's line
    while frame.f_back is not None and str(Path(frame.f_code.co_filename).parent) == _HERE:
        frame = frame.f_back
    return frame


def _position(frame: FrameType) -> _Span:
    line, end, column, end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line = line or frame.f_lineno
    return line, end or line, column or 0, end_column or 0


def _assignment(frame: FrameType) -> str:
    """The whole assignment when the frame is about to store something; the target alone would not say what."""
    if dis.opname[frame.f_code.co_code[frame.f_lasti]] not in ("STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE"):
        return ""
    line, _, column, end_column = _position(frame)
    for node in ast.walk(_tree(frame.f_code)):
        if isinstance(node, ast.Assign | ast.AugAssign) and _covers(node, line, column, end_column):
            return ast.unparse(node)
    return ""


def _source(code: CodeType, span: _Span) -> str:
    """The source text of a span; of a class, of a decorated function or of unknown columns the first line."""
    line, end, column, end_column = span
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(line, end + 1)]
    if not end_column or lines[0].lstrip().startswith((b"class ", b"@", b"for ")):
        return lines[0].decode().strip().rstrip(":")
    lines[-1] = lines[-1][:end_column]  # columns count bytes
    lines[0] = lines[0][column:]
    return b"".join(lines).decode()


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONG else f"{line[:_LONG]} …"


def _where(code: CodeType, line: int, within: str) -> str:
    return f"{Path(code.co_filename).name}:{line}: in {within}"


def _function(frame: FrameType) -> str:
    """The name of the function that a comprehension or a lambda stands in."""
    while frame.f_code.co_name.startswith("<") and frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
        while str(Path(frame.f_code.co_filename).parent) == _HERE and frame.f_back is not None:
            frame = frame.f_back
    return frame.f_code.co_name


def _tree(code: CodeType) -> ast.AST:
    try:
        return ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:  # the file has changed since it was imported
        return ast.Module([], [])


def _definition(code: CodeType) -> list[Any]:
    """The definition of a function and all nodes inside it, outermost first."""
    for node in ast.walk(_tree(code)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first: ast.stmt | ast.expr = node.decorator_list[0] if node.decorator_list else node
            if first.lineno == code.co_firstlineno:
                return list(ast.walk(node))
    return []


_CURES: dict[str, str] = {
    "and": "write (a) & (b)",
    "or": "write (a) | (b)",
    "not": "write ~a",
    "chained comparison": "write (a < b) & (b < c)",
    "if": "write ite(condition, a, b), or put the condition into require(...)",
    "match": "write ite(value == Choice.ELEMENT, a, b)",
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
    best: tuple[int, str, ast.AST] | None = None
    for node in ast.walk(_tree(frame.f_code)):
        name = _asks(node)
        if name and _covers(node, line, column, end_column):
            size = (node.end_lineno - node.lineno) * 1000 + node.end_col_offset - node.col_offset  # type: ignore[attr-defined]
            if best is None or size <= best[0]:
                best = (size, name, node)
    if best is None:
        return "bool", _CURES["bool"], ""
    text = ast.get_source_segment("".join(linecache.getlines(frame.f_code.co_filename)), best[2]) or ""
    if isinstance(best[2], ast.If | ast.While | ast.Match):
        text = text.splitlines()[0].rstrip(":")
    return best[1], _CURES[best[1]], text


_SHAPES: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("and", lambda node: isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)),
    ("or", lambda node: isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)),
    ("not", lambda node: isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)),
    ("chained comparison", lambda node: isinstance(node, ast.Compare) and len(node.ops) > 1),
    ("if", lambda node: isinstance(node, ast.If | ast.IfExp)),
    ("match", lambda node: isinstance(node, ast.Match)),
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
