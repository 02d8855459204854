"""Programs: what a machine did, line by line, as Hypothesis prints it and as people may write it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from invariants.verdict import BadInputError


@dataclass(frozen=True, slots=True)
class Line:
    """One deed: a rule's name and what it was given."""

    rule: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """As a Python call: kill(who='consumer1', s=10)."""
        return f"{self.rule}({', '.join(f'{name}={value!r}' for name, value in self.arguments)})"


Program = tuple[Line, ...]


def one_line(program: Iterable[Line]) -> str:
    """The program as `--program` takes it."""
    return "; ".join(map(str, program))


def parsed(text: str) -> Program:
    """Read calls that stand in lines, or behind semicolons; a `state.` before a call is as good as none.

    What Hypothesis prints around them (`state = …`, `state.teardown()`) says nothing. Raises BadInputError, one line.
    """
    try:
        statements = ast.parse(text.strip()).body
    except (SyntaxError, ValueError) as error:
        raise _unreadable(text, str(error)) from error
    lines = (_line(statement, text) for statement in statements if not isinstance(statement, ast.Assign))
    return tuple(line for line in lines if line.rule != "teardown")


def _line(statement: ast.stmt, text: str) -> Line:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args:
        raise _unreadable(text, f"{ast.unparse(statement)!r} is no call with named arguments")
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    try:
        return Line(name, tuple((one.arg or "**", ast.literal_eval(one.value)) for one in call.keywords))
    except ValueError as error:
        raise _unreadable(text, f"{ast.unparse(call)!r} has an argument that is no plain value") from error


def _unreadable(text: str, why: str) -> BadInputError:
    return BadInputError(f"no program ({why}): {text[:80]!r}; write kill(who='consumer1', s=1); pass_time(s=20)")


def listed(program: Sequence[Line]) -> str:
    """The program for people, a numbered line each."""
    return "\n".join(f"  {number}  {line}" for number, line in enumerate(program, 1))
