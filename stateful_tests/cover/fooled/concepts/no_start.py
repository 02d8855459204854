"""F3: the initial condition contradicts itself, and whatever steps keep is proved of nothing."""

from __future__ import annotations

from model.language import Bool, State, action, always, initially

PROVE = {"the_flag_is_up": "unknown: the initial condition contradicts itself"}


class NoStart(State):
    """Two truth values."""

    flag: Bool
    x: Bool


@initially
def contradiction(s: NoStart) -> Bool:
    """The flag is up and down."""
    return s.flag & ~s.flag


@action("nothing")
def flip(s: NoStart) -> None:
    """X changes."""
    s.x = ~s.x


@always(shipped="holds")
def the_flag_is_up(s: NoStart) -> Bool:
    """There is no state to say it of."""
    return s.flag
