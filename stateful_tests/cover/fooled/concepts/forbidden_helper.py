"""A fair action that a scope forbids: it never happens there, so nothing may be concluded from its fairness."""

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

EXPLORE = {"the_door_opens": "violated"}


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


@leads_to(shipped="holds", fair=("let_in",))
def the_door_opens(s: Door) -> tuple[Bool, Bool]:
    """False where nobody ever opens it."""
    return s.asked, s.open


scopes = [Scope(Door, {}, forbid=["let_in"], name="nobody opens")]
