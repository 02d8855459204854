"""Mutants of a function: the same source with one operator or number changed, swapped in while a block runs.

A proof that also succeeds for every mutant proves nothing; each holding claim must lose at least one of them.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
}
_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.FloorDiv: (ast.Mod,), ast.Mod: (ast.FloorDiv,),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed function body.

    function -- whose code it replaces.
    change -- what was changed, for people: "line 4: n <= m  →  n < m".
    """

    function: FunctionType
    change: str
    code: CodeType

    @contextmanager
    def active(self) -> Iterator[None]:
        """Every caller of the function meets the mutant while the block runs; not for use by several threads."""
        original = self.function.__code__
        self.function.__code__ = self.code
        try:
            yield
        finally:
            self.function.__code__ = original


def mutants(function: FunctionType) -> Iterator[Mutant]:
    """Every mutant of a function whose source is at hand, in the order of the source.

    The changes: one comparison, one arithmetic operator, `and` for `or`, the two sides of a conditional expression, an
    integer more or less by one, a truth value; last, another argument of the function for one that is read.
    """
    definition = _definition(function)
    names = [argument.arg for argument in (*definition.args.args, *definition.args.kwonlyargs)]
    nodes = list(ast.walk(definition))
    changes = [(node, variant) for node in nodes for variant in _variants(node)]
    changes += [(node, variant) for node in nodes for variant in _other_arguments(node, names)]
    for node, variant in changes:
        change = f"line {getattr(node, 'lineno', definition.lineno)}: {ast.unparse(node)}  →  {ast.unparse(variant)}"
        with _replaced(definition, node, variant):
            code = _code(definition, function)
        yield Mutant(function, change, code)


@cache
def _definition(function: FunctionType) -> ast.FunctionDef:
    """The function as it is written, without its docstring; line numbers are those of the file."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError(f"{function.__qualname__} is not a plain function")
    definition.decorator_list = []
    _strip_docstring(definition)
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)  # a traceback shows the line
    return definition


def _strip_docstring(definition: ast.FunctionDef) -> None:
    """Drop the docstring: changing text is no mutant."""
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]


def _variants(node: ast.AST) -> list[ast.expr]:
    changed: list[ast.expr] = []
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=right):
            changed = [ast.Compare(left, [other()], right) for other in _COMPARISONS.get(type(operator), ())]
        case ast.BinOp(left=left, op=operation, right=operand):
            changed = [ast.BinOp(left, other(), operand) for other in _OPERATORS.get(type(operation), ())]
        case ast.BoolOp(op=connective, values=values):
            changed = [ast.BoolOp(ast.Or() if isinstance(connective, ast.And) else ast.And(), values)]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            changed = [ast.IfExp(test, orelse, body)]
        case ast.Constant(value=bool() as truth):
            changed = [ast.Constant(not truth)]
        case ast.Constant(value=int() as number):
            changed = [ast.Constant(number + 1), ast.Constant(number - 1)]
    return changed


def _other_arguments(node: ast.AST, names: list[str]) -> list[ast.expr]:
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id not in names:
        return []
    return [ast.Name(other, ast.Load()) for other in names if other != node.id]


@contextmanager
def _replaced(tree: ast.AST, target: ast.AST, variant: ast.expr) -> Iterator[None]:
    """The tree has the variant in place of the target while the block runs."""
    ast.fix_missing_locations(ast.copy_location(variant, target))
    place, name, index = _place(tree, target)
    old = getattr(place, name)
    setattr(place, name, variant if index is None else [*old[:index], variant, *old[index + 1:]])
    try:
        yield
    finally:
        setattr(place, name, old)


def _place(tree: ast.AST, target: ast.AST) -> tuple[ast.AST, str, int | None]:
    """The node, its field, and the index in that field if it is a list, where the target stands."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                return parent, name, None
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if item is target:
                        return parent, name, index
    raise AssertionError(f"{ast.unparse(target)} is not in the function")


def _code(definition: ast.FunctionDef, function: FunctionType) -> CodeType:
    compiled = compile(ast.Module([definition], []), function.__code__.co_filename, "exec", dont_inherit=True,
                       flags=function.__code__.co_flags & _FUTURE)
    return next(item for item in compiled.co_consts if isinstance(item, CodeType) and item.co_name == function.__name__)


_FUTURE = 0x1000000  # from __future__ import annotations: annotations of the mutant are not evaluated either
