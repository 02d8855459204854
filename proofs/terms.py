"""Z3 terms, built through Z3's C interface.

The operators of the z3 package look up the sort of every operand at every step, which costs ten times what the step
does. Here the caller knows the sorts: the readings have them from the declaration, the symbolic numbers are integers.
The results are ordinary z3 expressions. An operand of a wrong sort raises Z3Exception, as it does there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import z3
from z3 import z3core

Term = Any
"""A Z3 expression (z3 publishes no types)."""

Context = Any
"""A z3.Context."""


def fresh_context() -> Context:
    """A context of Z3 without a history: what is asked in it is answered the same, whatever was asked elsewhere."""
    return z3.Context()


def _formula(ast: Any, context: Context) -> Term:
    return z3.BoolRef(ast, context)


def _integer(ast: Any, context: Context) -> Term:
    return z3.ArithRef(ast, context)


@cache
def _array_of(length: int) -> Any:
    """The type of arrays of that length: ctypes forgets one that nobody holds, and makes it again."""
    return z3.Ast * length


def _array(terms: Sequence[Term]) -> Any:
    return _array_of(len(terms))(*[term.ast for term in terms])


def truth(value: bool, context: Context) -> Term:
    """True or false."""
    make = z3core.Z3_mk_true if value else z3core.Z3_mk_false
    return _formula(make(context.ctx), context)


def number(value: int, context: Context) -> Term:
    """An integer."""
    sort = z3core.Z3_mk_int_sort(context.ctx)
    return z3.IntNumRef(z3core.Z3_mk_numeral(context.ctx, str(value), sort), context)


def conjunction(terms: Sequence[Term], context: Context) -> Term:
    """All of them; true if there are none."""
    if not terms:
        return truth(True, context)
    return _formula(z3core.Z3_mk_and(context.ctx, len(terms), _array(terms)), context)


def disjunction(terms: Sequence[Term], context: Context) -> Term:
    """One of them at least; false if there are none."""
    if not terms:
        return truth(False, context)
    return _formula(z3core.Z3_mk_or(context.ctx, len(terms), _array(terms)), context)


def negation(term: Term) -> Term:
    """Not so."""
    context = term.ctx
    return _formula(z3core.Z3_mk_not(context.ctx, term.ast), context)


def implication(premise: Term, conclusion: Term) -> Term:
    """The premise implies the conclusion."""
    context = premise.ctx
    return _formula(z3core.Z3_mk_implies(context.ctx, premise.ast, conclusion.ast), context)


def equality(left: Term, right: Term) -> Term:
    """Two values of one sort, truth values included, are the same."""
    context = left.ctx
    return _formula(z3core.Z3_mk_eq(context.ctx, left.ast, right.ast), context)


def less(left: Term, right: Term) -> Term:
    """Of integers: left < right."""
    context = left.ctx
    return _formula(z3core.Z3_mk_lt(context.ctx, left.ast, right.ast), context)


def at_most(left: Term, right: Term) -> Term:
    """Of integers: left ≤ right."""
    context = left.ctx
    return _formula(z3core.Z3_mk_le(context.ctx, left.ast, right.ast), context)


def total(left: Term, right: Term) -> Term:
    """Of integers: left + right."""
    context = left.ctx
    return _integer(z3core.Z3_mk_add(context.ctx, 2, _array((left, right))), context)


def difference(left: Term, right: Term) -> Term:
    """Of integers: left - right."""
    context = left.ctx
    return _integer(z3core.Z3_mk_sub(context.ctx, 2, _array((left, right))), context)


def product(left: Term, right: Term) -> Term:
    """Of integers: left · right."""
    context = left.ctx
    return _integer(z3core.Z3_mk_mul(context.ctx, 2, _array((left, right))), context)


def negative(term: Term) -> Term:
    """Of an integer: -term."""
    context = term.ctx
    return _integer(z3core.Z3_mk_unary_minus(context.ctx, term.ast), context)


_PLAIN = {z3.IntNumRef: z3.ArithRef, z3.BitVecNumRef: z3.BitVecRef}


def choice(condition: Term, then: Term, otherwise: Term) -> Term:
    """One of two values of the same sort."""
    kind, context = type(then), condition.ctx
    if kind is z3.QuantifierRef:  # a formula or a function: z3 knows which
        return z3.If(condition, then, otherwise)
    return _PLAIN.get(kind, kind)(z3core.Z3_mk_ite(context.ctx, condition.ast, then.ast, otherwise.ast), context)


def applied(function: Any, kind: type, arguments: Sequence[Term]) -> Term:
    """Value of a function for these arguments; kind -- the class of z3 for values of its range."""
    context = function.ctx
    return kind(z3core.Z3_mk_app(context.ctx, function.ast, len(arguments), _array(arguments)), context)


_OF_SORT = {z3.BoolSortRef: z3.BoolRef, z3.ArithSortRef: z3.ArithRef, z3.BitVecSortRef: z3.BitVecRef,
            z3.ArraySortRef: z3.ArrayRef, z3.DatatypeSortRef: z3.DatatypeRef}


def kind_of(sort: Any) -> type:
    """The class of z3 for the values of a sort."""
    kind: type = _OF_SORT.get(type(sort), z3.ExprRef)
    return kind


# Looking at terms -----------------------------------------------------------------------------------------------------


def simplified(formula: Term) -> Term:
    """An equal formula, simpler."""
    context = formula.ctx
    return _formula(z3core.Z3_simplify(context.ctx, formula.ast), context)


def known(formula: Term) -> bool | None:
    """Whether a formula is the constant true or false; None: neither."""
    value = z3core.Z3_get_bool_value(formula.ctx.ctx, formula.ast)
    return None if value == z3.Z3_L_UNDEF else bool(value == z3.Z3_L_TRUE)


def negated(formula: Term) -> Term | None:
    """What is negated, if the formula is a negation."""
    context = formula.ctx
    if z3core.Z3_get_ast_kind(context.ctx, formula.ast) != z3.Z3_APP_AST:
        return None
    declaration = z3core.Z3_get_app_decl(context.ctx, formula.ast)
    if z3core.Z3_get_decl_kind(context.ctx, declaration) != z3.Z3_OP_NOT:
        return None
    return _formula(z3core.Z3_get_app_arg(context.ctx, formula.ast, 0), context)


def same(left: Term, right: Term) -> bool:
    """Whether two terms of one context are written alike: Z3 keeps each term once."""
    return bool(left.ast.value == right.ast.value)


def true_in(model: Any, formula: Term) -> bool | None:
    """Whether a formula is true in a model, completed where it says nothing; None: it does not tell."""
    value = (z3.Ast * 1)()
    context = formula.ctx
    if not z3core.Z3_model_eval(context.ctx, model.model, formula.ast, True, value):
        return None
    return known(_formula(value[0], context))


# Asking ---------------------------------------------------------------------------------------------------------------


def configure(solver: Any, **parameters: int | bool) -> None:
    """Set parameters of a solver, all at once; no formula here has strings, so it needs nobody who knows of them."""
    given = z3.ParamsRef(ctx=solver.ctx)
    given.set("string_solver", "none")
    for name, value in parameters.items():
        given.set(name, value)
    z3core.Z3_solver_set_params(solver.ctx.ctx, solver.solver, given.params)


def assume(solver: Any, formulas: Iterable[Term]) -> None:
    """Assert formulas; of the solver's context all of them."""
    context, own = solver.ctx.ctx, solver.solver
    for formula in formulas:
        z3core.Z3_solver_assert(context, own, formula.ast)


def copied(formula: Term, context: Context) -> Term:
    """The same formula in another context."""
    return _formula(z3core.Z3_translate(formula.ctx.ctx, formula.ast, context.ctx), context)
