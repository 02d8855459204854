"""Mutants of a function: the same source with one operator or number changed, swapped in while a block runs.

A proof that also succeeds for every mutant proves nothing; each holding claim must lose at least one of them.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError(f"{function.__qualname__} is not a plain function")
    definition.decorator_list = []
    _strip_docstring(definition)
    nodes = list(enumerate(ast.walk(definition)))
    names = [argument.arg for argument in (*definition.args.args, *definition.args.kwonlyargs)]
    changes = [(place, variant) for place, node in nodes for variant in _variants(node)]
    changes += [(place, variant) for place, node in nodes for variant in _other_arguments(node, names)]
    for place, variant in changes:
        changed = copy.deepcopy(definition)
        original = _node(changed, place)
        line = function.__code__.co_firstlineno + getattr(original, "lineno", 1) - 1
        change = f"line {line}: {ast.unparse(original)}  →  {ast.unparse(variant)}"
        _replace(changed, original, copy.deepcopy(variant))
        yield Mutant(function, change, _code(changed, function))


def _strip_docstring(definition: ast.FunctionDef) -> None:
    """Drop the docstring: changing text is no mutant."""
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]


def _node(tree: ast.AST, place: int) -> ast.AST:
    return next(node for number, node in enumerate(ast.walk(tree)) if number == place)


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


def _replace(tree: ast.AST, target: ast.AST, variant: ast.expr) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, variant)
            elif isinstance(value, list) and any(item is target for item in value):
                setattr(parent, name, [variant if item is target else item for item in value])


def _code(definition: ast.FunctionDef, function: FunctionType) -> CodeType:
    module = ast.fix_missing_locations(ast.Module([definition], []))
    ast.increment_lineno(module, function.__code__.co_firstlineno - 1)  # a traceback shows the line
    compiled = compile(module, function.__code__.co_filename, "exec", dont_inherit=True,
                       flags=function.__code__.co_flags & _FUTURE)
    return next(item for item in compiled.co_consts if isinstance(item, CodeType) and item.co_name == function.__name__)


_FUTURE = 0x1000000  # from __future__ import annotations: annotations of the mutant are not evaluated either
