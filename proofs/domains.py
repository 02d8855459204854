"""The domains of a claim's arguments, read as Z3 constants: symbolic values, the formula that bounds them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import z3

from invariants.domains import Domain, Integers
from proofs import terms
from proofs.symbolic import Run, SymbolicBool, SymbolicInteger
from proofs.terms import Context, Term


def symbolic_arguments(domains: Mapping[str, Domain], run: Run) -> dict[str, Any]:
    """Arguments that stand for all values of their domains; a member of an enumeration is one path each."""
    return {name: _symbolic(domain, name, run) for name, domain in domains.items()}


def within(domains: Mapping[str, Domain], context: Context) -> Term:
    """The formula "every argument is in its domain"."""
    bounds = [bound for name, domain in domains.items() for bound in _bounds(domain, number_called(name, context))]
    return terms.conjunction(bounds, context)


def leaves(domains: Mapping[str, Domain], context: Context) -> list[Term]:
    """One integer term for each argument, in their order: what a smallest counterexample is small in."""
    one, zero = terms.number(1, context), terms.number(0, context)
    return [terms.choice(truth_called(name, context), one, zero) if _is_truth(domain) else number_called(name, context)
            for name, domain in domains.items()]


def equal_to(domains: Mapping[str, Domain], arguments: Mapping[str, Any], context: Context) -> list[Term]:
    """Formulas that say that the arguments are these."""
    return [_is(domain, name, arguments[name], context) for name, domain in domains.items()]


def number_called(name: str, context: Context) -> Term:
    """An argument that is an integer; its name has a space, which no word of a solver's own language has."""
    return z3.Int(f"argument {name}", context)


def truth_called(name: str, context: Context) -> Term:
    """An argument that is true or false."""
    return z3.Bool(f"argument {name}", context)


class Values(Protocol):
    """A model of any solver: what it says of a constant, and something where it says nothing."""

    def truth(self, name: str) -> bool:
        """The value of a formula of this name."""
        ...

    def number(self, name: str) -> int:
        """The value of an integer of this name."""
        ...


def concrete_arguments(domains: Mapping[str, Domain], values: Values) -> dict[str, Any]:
    """The arguments that a model means."""
    return {name: _value(domain, name, values) for name, domain in domains.items()}


def _is_truth(domain: Domain) -> bool:
    return not isinstance(domain, Integers) and domain.values == (False, True)


def _symbolic(domain: Domain, name: str, run: Run) -> Any:
    if _is_truth(domain):
        return SymbolicBool(run, truth_called(name, run.context))
    term = number_called(name, run.context)
    return SymbolicInteger(run, term) if isinstance(domain, Integers) else domain.values[run.concrete(term)]


def _bounds(domain: Domain, term: Term) -> list[Term]:
    if _is_truth(domain):
        return []
    low, high = (domain.low, domain.high) if isinstance(domain, Integers) else (0, len(domain.values) - 1)
    bounds = [] if low is None else [term >= low]
    return bounds if high is None else [*bounds, term <= high]


def _is(domain: Domain, name: str, value: Any, context: Context) -> Term:
    if _is_truth(domain):
        return terms.equality(truth_called(name, context), terms.truth(value, context))
    number = value if isinstance(domain, Integers) else domain.values.index(value)
    return terms.equality(number_called(name, context), terms.number(number, context))


def _value(domain: Domain, name: str, values: Values) -> Any:
    if _is_truth(domain):
        return values.truth(name)
    number = values.number(name)
    return number if isinstance(domain, Integers) else domain.values[number]
