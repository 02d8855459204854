"""Names for quotients and remainders by divisors that are no constants, and what is known of them.

Each such division gets two fresh integers, and axioms that define them. What else is needed about products with
quotients follows from one rule, `multiples`, whose instances are spelled out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import z3

from proofs import terms
from proofs.terms import Term


@dataclass(frozen=True, slots=True)
class Division:
    """A named quotient and remainder; dividend and divisor are held, so that their identities stay their own."""

    dividend: Term
    divisor: Term
    quotient: Term
    remainder: Term

    def axiom(self) -> Term:
        """What defines the two, floored, for every divisor but 0."""
        context, divisor, remainder = self.divisor.ctx, self.divisor, self.remainder
        nothing = terms.number(0, context)
        rest = terms.conjunction((terms.at_most(nothing, remainder), terms.less(remainder, divisor)), context)
        other = terms.conjunction((terms.at_most(remainder, nothing), terms.less(divisor, remainder)), context)
        whole = terms.equality(self.dividend, terms.total(terms.product(divisor, self.quotient), remainder))
        floored = (whole, terms.implication(terms.less(nothing, divisor), rest),
                   terms.implication(terms.less(divisor, nothing), other))
        defined = terms.negation(terms.equality(divisor, nothing))
        return terms.implication(defined, terms.conjunction(floored, context))


@dataclass(slots=True)
class Divisions:
    """Named quotients and remainders; equal divisions share their names on all paths.

    by_operands -- divisions by the identities of dividend and divisor, which Z3 shares between equal terms.
    axioms -- each defines a pair for all arguments, so assuming it restricts nothing; and what follows about products
        with quotients by the rule of `multiples`, spelled out, so that everything else about them is linear.
    """

    by_operands: dict[tuple[int, int], Division] = field(default_factory=dict)
    axioms: list[Term] = field(default_factory=list)

    def named(self, dividend: Term, divisor: Term) -> Division:
        """The division of one term by another; of a new one the axioms are the last."""
        dividend, divisor = z3.simplify(dividend), z3.simplify(divisor)
        operands = dividend.get_id(), divisor.get_id()
        if operands not in self.by_operands:
            number, context = len(self.by_operands), divisor.ctx
            quotient, remainder = z3.Int(f"quotient!{number}", context), z3.Int(f"remainder!{number}", context)
            division = Division(dividend, divisor, quotient, remainder)
            others = [known.quotient for known in self.by_operands.values() if terms.same(known.divisor, divisor)]
            self.axioms += [division.axiom(), *_multiples(divisor, quotient, others)]
            self.by_operands[operands] = division
        return self.by_operands[operands]


def multiples(divisor: Term, factor: Term) -> Term:
    """The rule behind all reasoning about quotients: a multiple of a positive number is 0, or at least that number.

    Proved once, for all integers, by whoever relies on a table; every instance is then sound. The negative multiples
    come as instances with the negated factor.
    """
    context = divisor.ctx
    nothing, one = terms.number(0, context), terms.number(1, context)
    multiple = terms.product(divisor, factor)
    positive = terms.conjunction((terms.less(nothing, divisor), terms.at_most(one, factor)), context)
    at_least = terms.implication(positive, terms.at_most(divisor, multiple))
    empty = terms.implication(terms.equality(factor, nothing), terms.equality(multiple, nothing))
    return terms.conjunction((at_least, empty), context)


def _multiples(divisor: Term, quotient: Term, others: list[Term]) -> list[Term]:
    factors = [quotient, terms.negative(quotient)]
    for other in others:
        both = terms.total(quotient, other)
        factors += [terms.difference(quotient, other), terms.difference(other, quotient), both, terms.negative(both)]
    return [multiples(divisor, factor) for factor in factors]
