"""F3: the only action can never happen, and that it is excluded does not make a proof of something."""

from __future__ import annotations

from model.language import FALSE, Bool, State, action, always, initially, require
from model.language.scope import Scope

PROVE = {"a_is_up": "unknown: no action ever happens"}
EXPLORE = {"a_is_up": "holds", "never_stuck": "violated"}


class Dead(State):
    """A flag."""

    a: Bool


@initially
def up(s: Dead) -> Bool:
    """It is up."""
    return s.a


@action("nothing")
def lower(s: Dead) -> None:
    """It never is lowered."""
    require(s.a, ~s.a)
    s.a = FALSE


@always(shipped="holds", excludes=("lower",))
def a_is_up(s: Dead) -> Bool:
    """True, because nothing happens."""
    return s.a


scopes = [Scope(Dead, {}, name="dead")]
