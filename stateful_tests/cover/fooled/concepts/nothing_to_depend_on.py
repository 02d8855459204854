"""A scope in which nothing can differ: no bit of a state decides anything."""

from __future__ import annotations

from model.language import Bool, Sort, State, action, always, every, forall, initially
from model.language.scope import Scope

EXPLORE = {"all_hold": "holds"}


class Member(Sort):
    """A member."""


class Single(State):
    """Who holds."""

    holder: Member


@initially
def anybody(s: Single) -> Bool:
    """It is somebody."""
    return s.holder == s.holder


@action("nothing")
def take(s: Single, m: Member) -> None:
    """Somebody takes it."""
    s.holder = m


@always(shipped="violated: D1")
def all_hold(s: Single) -> Bool:
    """False of two members."""
    return forall(s.holder == m for m in every(Member))


scopes = [Scope(Single, {Member: 1}, name="one member")]
