"""Sets that are described alike but for the order of what they read: friends of m, and those whose friend m is."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    every,
    forall,
    initially,
    setof,
)
from model.language.scope import Scope

PROVE = {
    "friends_are_kept": "holds",
    "friendship_is_mutual": "unknown",
    "all_have_the_same_friends": "unknown",
}
EXPLORE = {
    "friends_are_kept": "holds",
    "friendship_is_mutual": "violated",
    "all_have_the_same_friends": "violated",
}


class Member(Sort):
    """A member."""


class Friends(State):
    """Who likes whom, and the same as sets."""

    likes: Table[tuple[Member, Member], Bool]
    friends: Table[Member, Set[Member]]


@initially
def strangers(s: Friends) -> Bool:
    """Nobody likes anybody; the sets say so."""
    return forall(~s.likes[m, k] for m, k in every(Member, Member)) & forall(
        s.friends[m] == setof(Member, lambda x: s.likes[m, x]) for m in every(Member))


@action("nothing")
def like(s: Friends, m: Member, k: Member) -> None:
    """One likes another."""
    s.friends[m] = setof(Member, lambda x: s.likes[m, x] | (x == k))
    s.likes[m, k] = TRUE


@always(shipped="holds")
def friends_are_kept(s: Friends) -> Bool:
    """True: the set of each says whom he likes."""
    return forall(s.friends[m] == setof(Member, lambda x: s.likes[m, x]) for m in every(Member))


@always(shipped="holds")
def friendship_is_mutual(s: Friends) -> Bool:
    """False: the same description, read the other way round."""
    return forall(s.friends[m] == setof(Member, lambda x: s.likes[x, m]) for m in every(Member))


@always(shipped="holds")
def all_have_the_same_friends(s: Friends) -> Bool:
    """False: a name for a set that forgets whose it is would prove it."""
    return forall(setof(Member, lambda x: s.likes[m, x]) == setof(Member, lambda x: s.likes[k, x])
                  for m, k in every(Member, Member))


scopes = [Scope(Friends, {Member: 2}, name="two members")]
