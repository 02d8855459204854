"""Honest: Python takes letters of any language, and names that look alike in another language stay two."""
# ruff: noqa: PLC2401 -- that they are no ASCII is the point

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Nat,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    require,
)
from model.language.scope import Scope

PROVE = {"unter_ä": "holds", "unter_ue4": "unknown", "wahr": "holds"}
EXPLORE = {"unter_ä": "holds", "unter_ue4": "violated", "wahr": "holds"}


class Größe(Nat):
    """Numbers."""


class Ä(Sort):
    """Elements."""


class Prüfung(State):
    """The constant ä is written ue4 in TLA+, where another one has this name."""

    λ: Größe
    ue4: Constant[Größe]
    ä: Constant[Größe]
    not_: Table[Ä, Bool]
    true: Table[Ä, Bool]


@initially
def anfang(s: Prüfung) -> Bool:
    """Nothing is done."""
    return (s.λ == 0) & forall(~s.not_[λ] & s.true[λ] for λ in every(Ä))


@action("nothing")
def weiter(s: Prüfung, λ: Ä) -> None:
    """One after the other."""
    require(~s.not_[λ])
    require(s.λ < s.ä)
    s.λ = s.λ + 1
    s.not_[λ] = TRUE
    s.true[λ] = FALSE


@always(shipped="holds")
def unter_ä(s: Prüfung) -> Bool:
    """True."""
    return s.λ <= s.ä


@always(shipped="holds")
def unter_ue4(s: Prüfung) -> Bool:
    """False: it is another constant."""
    return s.λ <= s.ue4


@always(shipped="holds")
def wahr(s: Prüfung) -> Bool:
    """True: the element is not the number that is called alike."""
    return forall(s.not_[λ].iff(~s.true[λ]) for λ in every(Ä))


scopes = [Scope(Prüfung, {Größe: 4, Ä: 2}, {"ue4": 0, "ä": 2}, name="zwei")]
