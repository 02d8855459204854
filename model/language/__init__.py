"""The specification language: a small typed first-order language embedded in Python.

A concept is a subclass of State; its actions and properties are functions that are traced once, when they are defined.
What comes out are terms (`model.language.nodes`), and every judge reads those.
"""

from model.language.actions import Action, ActionFunction, action, initially
from model.language.binders import every, exists, forall, setof
from model.language.expectation import Expectation
from model.language.misuse import Misuse
from model.language.mutations import Mutation, drop_assignment, drop_condition, drop_guard
from model.language.promises import Promise, assume, promise
from model.language.properties import (
    Premise,
    Property,
    always,
    leads_to,
    lemma,
    lemma_given,
    never,
    premise,
    sometimes,
    step,
)
from model.language.rankings import Rank, Ranking, count, helps, ranking, total
from model.language.runs import Run, Steps, tight
from model.language.state import Concept, Constant, Ghost, Rigid, State, Table
from model.language.tracing import require, search_only
from model.language.values import FALSE, TRUE, Bool, Choice, Maybe, Nat, Set, Sort, Term, empty, ite, none, some

__all__ = [
    "FALSE", "TRUE", "Action", "ActionFunction", "Bool", "Choice", "Concept", "Constant", "Expectation", "Ghost",
    "Maybe", "Misuse", "Mutation", "Nat", "Premise", "Promise", "Property", "Rank", "Ranking", "Rigid", "Run", "Set",
    "Sort", "State", "Steps", "Table", "Term", "action", "always", "assume", "count", "drop_assignment",
    "drop_condition", "drop_guard", "empty", "every", "exists", "forall", "helps", "initially", "ite", "leads_to",
    "lemma", "lemma_given", "never", "none", "premise", "promise", "ranking", "require", "search_only", "setof", "some",
    "sometimes", "step", "tight", "total",
]
