"""Counts and sums over however many there are: such that fall, and such that only seem to."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Nat,
    Rank,
    Sort,
    State,
    Table,
    action,
    count,
    every,
    exists,
    forall,
    helps,
    initially,
    leads_to,
    ranking,
    require,
    total,
)
from model.language.scope import Scope

PROVE = {
    "all_is_eaten": "holds",
    "each_eats_up": "holds",
    "everybody_has_been_asked": "holds",
    "it_is_handed_round": "unknown: rises it_is_handed_round under hand is not proved",
    "the_other_eats_up": "unknown: helps the_other_eats_up is not proved",
    "the_turn_comes": "unknown: stays the_turn_comes under turn is not proved",
    "somebody_stays_asked": "unknown: rises somebody_stays_asked under forget is not proved",
}
EXPLORE = {
    "all_is_eaten": "holds",
    "each_eats_up": "holds",
    "everybody_has_been_asked": "holds",
    "it_is_handed_round": "violated",
    "the_other_eats_up": "violated",
    "the_turn_comes": "violated",
    "somebody_stays_asked": "violated",
}


class Guest(Sort):
    """Somebody at the table."""


class Piece(Nat):
    """Pieces of cake."""


class Party(State):
    """Guests with cake."""

    has: Table[Guest, Piece]
    asked: Table[Guest, Bool]
    next: Guest


@initially
def nobody_asked(s: Party) -> Bool:
    """Everybody has something."""
    return forall((s.has[g] <= 2) & ~s.asked[g] for g in every(Guest))


@action("nothing")
def eat(s: Party, g: Guest) -> None:
    """A guest eats a piece."""
    require(s.has[g] > 0)
    s.has[g] = s.has[g] - 1


@action("nothing")
def hand(s: Party, g: Guest, h: Guest) -> None:
    """A piece goes from one guest to another: the sum stays."""
    require(~(g == h), s.has[g] > 0, s.has[h] < 2)
    more = s.has[h] + 1
    s.has[g] = s.has[g] - 1
    s.has[h] = more


@action("nothing")
def ask(s: Party, g: Guest) -> None:
    """A guest is asked."""
    require(~s.asked[g])
    s.asked[g] = TRUE


@action("nothing")
def forget(s: Party, g: Guest) -> None:
    """It is forgotten that a guest was asked."""
    s.asked[g] = FALSE


@action("nothing")
def turn(s: Party, g: Guest) -> None:
    """Another one is next."""
    s.next = g


@action("nothing")
def eat_when_next(s: Party, g: Guest) -> None:
    """Who is next eats a piece."""
    require(s.next == g, s.has[g] > 0)
    s.has[g] = s.has[g] - 1


@leads_to(shipped="holds", fair=("eat",), until_quiet=("hand",))
def all_is_eaten(s: Party) -> tuple[Bool, Bool]:
    """True: however many guests."""
    return TRUE, forall(s.has[g] == 0 for g in every(Guest))


@ranking("all_is_eaten")
def pieces_left(s: Party, g: Guest) -> Rank:
    """All pieces together."""
    return Rank((total(s.has[h] for h in every(Guest)),), (helps(s.has[g] > 0, eat, g),))


@leads_to(shipped="holds", fair=("eat",), until_quiet=("hand",))
def each_eats_up(s: Party, g: Guest) -> tuple[Bool, Bool]:
    """True of each guest."""
    return TRUE, s.has[g] == 0


@ranking("each_eats_up")
def own_pieces(s: Party, g: Guest) -> Rank:
    """Its own."""
    return Rank((s.has[g],), (helps(TRUE, eat, g),))


@leads_to(shipped="holds", fair=("ask",), until_quiet=("forget",))
def everybody_has_been_asked(s: Party) -> tuple[Bool, Bool]:
    """True."""
    return TRUE, forall(s.asked[g] for g in every(Guest))


@ranking("everybody_has_been_asked")
def who_is_left(s: Party, g: Guest) -> Rank:
    """Those who were not."""
    return Rank((count(~s.asked[h] for h in every(Guest)),), (helps(~s.asked[g], ask, g),))


@leads_to(shipped="holds", fair=("hand",), until_quiet=("eat", "eat_when_next"))
def it_is_handed_round(s: Party) -> tuple[Bool, Bool]:
    """False: a piece that is handed on is not eaten."""
    return exists(s.has[g] > 0 for g in every(Guest)), forall(s.has[g] == 0 for g in every(Guest))


@ranking("it_is_handed_round")
def less_for_one(s: Party, g: Guest, h: Guest) -> Rank:
    """One summand falls, another rises."""
    return Rank((total(s.has[x] for x in every(Guest)),),
                (helps(s.has[g] > 0, hand, g, h),))


@leads_to(shipped="holds", fair=("eat_when_next",), until_quiet=("hand", "eat", "turn"))
def the_other_eats_up(s: Party, g: Guest) -> tuple[Bool, Bool]:
    """False: somebody else is next."""
    return s.has[g] > 0, s.has[g] == 0


@ranking("the_other_eats_up")
def pieces_of_another(s: Party, g: Guest, h: Guest) -> Rank:
    """What another one eats helps nobody."""
    return Rank((s.has[g],), (helps((s.next == h) & (h == g), eat_when_next, h),))


@leads_to(shipped="holds", fair=("eat_when_next",), until_quiet=("hand", "eat"))
def the_turn_comes(s: Party) -> tuple[Bool, Bool]:
    """False: the turn changes before anybody eats."""
    return forall(s.has[g] > 0 for g in every(Guest)), exists(s.has[g] == 0 for g in every(Guest))


@ranking("the_turn_comes")
def who_is_next(s: Party, g: Guest) -> Rank:
    """Each time another one helps."""
    return Rank((total(s.has[x] for x in every(Guest)),), (helps(s.next == g, eat_when_next, g),))


@leads_to(shipped="holds", fair=("ask",))
def somebody_stays_asked(s: Party) -> tuple[Bool, Bool]:
    """False: it is forgotten again and again."""
    return TRUE, forall(s.asked[g] for g in every(Guest))


@ranking("somebody_stays_asked")
def who_is_left_again(s: Party, g: Guest) -> Rank:
    """Those who were not asked."""
    return Rank((count(~s.asked[h] for h in every(Guest)),), (helps(~s.asked[g], ask, g),))


scopes = [Scope(Party, {Guest: 2, Piece: 3}, name="two guests")]
