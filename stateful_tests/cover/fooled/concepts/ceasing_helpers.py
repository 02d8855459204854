"""The goal is reached by what ceases, or by what is not fair, or by what the scope forbids."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    State,
    action,
    initially,
    leads_to,
    require,
)
from model.language.scope import Scope

EXPLORE = {
    "opened_by_what_ceases": "unknown: about nothing: let_in is fair and ceases, and no run is both",
    "opened_by_what_need_not_happen": "violated",
    "opened_by_what_is_fair": "holds",
    "opened_by_what_is_forbidden": "violated",
}


class Door(State):
    """A door that may be opened."""

    asked: Bool
    open: Bool


@initially
def shut(s: Door) -> Bool:
    """It is shut, and nobody asks."""
    return ~s.asked & ~s.open


@action("nothing")
def ask(s: Door) -> None:
    """Somebody asks."""
    s.asked = TRUE


@action("nothing")
def let_in(s: Door) -> None:
    """The door is opened for who asks."""
    require(s.asked)
    s.open = TRUE


@leads_to(shipped="holds", fair=("let_in",), until_quiet=("let_in",))
def opened_by_what_ceases(s: Door) -> tuple[Bool, Bool]:
    """It ceases though it stays possible: no run is fair, so nothing is said of any."""
    return s.asked, s.open


@leads_to(shipped="holds", fair=("ask",))
def opened_by_what_need_not_happen(s: Door) -> tuple[Bool, Bool]:
    """False: nothing makes it happen."""
    return s.asked, s.open


@leads_to(shipped="holds", fair=("let_in",))
def opened_by_what_is_fair(s: Door) -> tuple[Bool, Bool]:
    """True."""
    return s.asked, s.open


class Shut(Door):
    """The same, where a scope forbids to open it: nothing may be concluded from the fairness of what never happens."""


@leads_to(shipped="holds", fair=("let_in",))
def opened_by_what_is_forbidden(s: Shut) -> tuple[Bool, Bool]:
    """False where nobody ever opens it."""
    return s.asked, s.open


scopes = [Scope(Door, {}, name="a door"), Scope(Shut, {}, forbid=["let_in"], name="nobody opens")]
