"""Two choices that are called alike in one process: their elements must not be taken for each other."""

from __future__ import annotations

from model.language import Bool, Choice, Maybe, State, action, always, initially, some
from model.language.scope import Scope

PROVE = {"never_b": "holds", "never_other": "unknown"}
EXPLORE = {"never_b": "holds", "never_other": "violated"}


class Role(Choice):
    """A role."""

    A: Role
    B_C: Role


class RoleA(Choice):
    """Another, which is called like the first with its element."""

    B_C: RoleA


class Roles(State):
    """Two Maybes."""

    one: Maybe[Role]
    other: Maybe[RoleA]


@initially
def absent(s: Roles) -> Bool:
    """Both are absent."""
    return s.one.absent & s.other.absent


@action("nothing")
def set_one(s: Roles) -> None:
    """The first is set."""
    s.one = some(Role.A)


@action("nothing")
def set_other(s: Roles) -> None:
    """The second is set."""
    s.other = some(RoleA.B_C)


@always(shipped="holds")
def never_b(s: Roles) -> Bool:
    """True."""
    return ~s.one.holds(Role.B_C)


@always(shipped="holds")
def never_other(s: Roles) -> Bool:
    """False."""
    return ~s.other.holds(RoleA.B_C)


scopes = [Scope(Roles, {}, name="roles")]
