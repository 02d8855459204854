"""F6: a fair action leaves the scope, so no fair run stays inside, and the search sees none that fails."""

from __future__ import annotations

from model.language import Bool, Nat, State, action, initially, leads_to, sometimes
from model.language.scope import Scope

EXPLORE = {
    "comes_back": "unknown: more is fair and leaves the scope",
    "reaches_nine": "unknown: steps that leave the scope were cut",
}


class Number(Nat):
    """A number."""


class Cutting(State):
    """A number that grows for ever."""

    x: Number


@initially
def zero(s: Cutting) -> Bool:
    """It is 0."""
    return s.x == 0


@action("nothing")
def more(s: Cutting) -> None:
    """It grows."""
    s.x = s.x + 1


@leads_to(shipped="violated: D1", fair=("more",))
def comes_back(s: Cutting) -> tuple[Bool, Bool]:
    """False: it never comes back."""
    return s.x == 1, s.x == 0


@sometimes
def reaches_nine(s: Cutting) -> Bool:
    """True, behind the cut."""
    return s.x == 9


scopes = [Scope(Cutting, {Number: 4}, name="four")]
