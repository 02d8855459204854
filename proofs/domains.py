"""The domains of a claim's arguments, read as Z3 constants: symbolic values, the formula that bounds them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import z3

from invariants.domains import Domain, Integers
from proofs.symbolic import Run, SymbolicBool, SymbolicInteger, Term


def symbolic_arguments(domains: Mapping[str, Domain], run: Run) -> dict[str, Any]:
    """Arguments that stand for all values of their domains; a member of an enumeration is one path each."""
    return {name: _symbolic(domain, name, run) for name, domain in domains.items()}


def within(domains: Mapping[str, Domain]) -> Term:
    """The formula "every argument is in its domain"."""
    return z3.And([bound for name, domain in domains.items() for bound in _bounds(domain, name)])


def leaves(domains: Mapping[str, Domain]) -> list[Term]:
    """One integer term for each argument, in their order: what a smallest counterexample is small in."""
    return [z3.If(z3.Bool(name), z3.IntVal(1), z3.IntVal(0)) if _is_truth(domain) else z3.Int(name)
            for name, domain in domains.items()]


def concrete_arguments(domains: Mapping[str, Domain], model: z3.ModelRef) -> dict[str, Any]:
    """The arguments that a model means."""
    return {name: _value(domain, name, model) for name, domain in domains.items()}


def _is_truth(domain: Domain) -> bool:
    return not isinstance(domain, Integers) and domain.values == (False, True)


def _symbolic(domain: Domain, name: str, run: Run) -> Any:
    if isinstance(domain, Integers):
        return SymbolicInteger(run, z3.Int(name))
    return SymbolicBool(run, z3.Bool(name)) if _is_truth(domain) else domain.values[run.concrete(z3.Int(name))]


def _bounds(domain: Domain, name: str) -> list[Term]:
    if _is_truth(domain):
        return []
    low, high = (domain.low, domain.high) if isinstance(domain, Integers) else (0, len(domain.values) - 1)
    bounds = [] if low is None else [z3.Int(name) >= low]
    return bounds if high is None else [*bounds, z3.Int(name) <= high]


def _value(domain: Domain, name: str, model: z3.ModelRef) -> Any:
    if _is_truth(domain):
        return z3.is_true(model.eval(z3.Bool(name), model_completion=True))
    number = int(model.eval(z3.Int(name), model_completion=True).as_long())
    return number if isinstance(domain, Integers) else domain.values[number]
