"""Rankings that lean on states that no run reaches, on lemmas that are false at first, or on what is pruned."""

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
    every,
    forall,
    helps,
    initially,
    leads_to,
    lemma,
    ranking,
    require,
    search_only,
)
from model.language.mutations import drop_guard
from model.language.scope import Scope

PROVE = {
    "the_door_opens": "unknown: starts the_door_opens is not proved",
    "a_key_is_found": "unknown: waits a_key_is_found under lose is not proved",
    "never_asked_for": "unknown: proved, but perhaps of nothing: no run was found that waits for the goal",
    "leans": "unknown: it leans on the lemma he_calls, which is false at first",
    "he_calls": "violated",
    "every_number_is_tried": "unknown: stays every_number_is_tried under more is not proved",
    "pruned_growth": "unknown: rises pruned_growth under pruned is not proved",
    "its_fault_is_none": "unknown: proved, but also with open_it without guard 0",
}
EXPLORE = {
    "the_door_opens": "violated",
    "a_key_is_found": "violated",
    "never_asked_for": "unknown: about nothing",
    "leans": "violated",
    "he_calls": "violated",
    "every_number_is_tried": "violated",
    "pruned_growth": "holds: within the scope",
    "its_fault_is_none": "holds",
}


class Number(Nat):
    """A number."""


class Key(Sort):
    """A key."""


class Door(State):
    """A door and its keys."""

    open: Bool
    found: Table[Key, Bool]


@initially
def shut(s: Door) -> Bool:
    """No key is found."""
    return ~s.open & forall(~s.found[k] for k in every(Key))


@action("nothing")
def find(s: Door, k: Key) -> None:
    """A key is found."""
    s.found[k] = TRUE


@action("nothing")
def lose(s: Door, k: Key) -> None:
    """A key is lost."""
    s.found[k] = FALSE


@action("nothing")
def open_it(s: Door, k: Key) -> None:
    """A key opens."""
    require(s.found[k])
    s.open = TRUE


@leads_to(shipped="holds", fair=("open_it",))
def the_door_opens(s: Door) -> tuple[Bool, Bool]:
    """False: no key need be found."""
    return ~s.open, s.open


@ranking("the_door_opens")
def a_key_is_there(s: Door, k: Key) -> Rank:
    """It would be open."""
    return Rank((), (helps(s.found[k], open_it, k),), pending=s.open)


@leads_to(shipped="holds", fair=("open_it",))
def a_key_is_found(s: Door) -> tuple[Bool, Bool]:
    """False: keys are lost again."""
    return forall(s.found[k] for k in every(Key)), s.open


@ranking("a_key_is_found")
def all_keys_are_there(s: Door, k: Key) -> Rank:
    """So they are at first."""
    return Rank((), (helps(TRUE, open_it, k),), pending=forall(s.found[k] for k in every(Key)))


@leads_to(shipped="holds", fair=("open_it",))
def never_asked_for(s: Door) -> tuple[Bool, Bool]:
    """About nothing: what is open and shut leads anywhere."""
    return s.open & ~s.open, s.open


@ranking("never_asked_for")
def nothing_is_asked(s: Door, k: Key) -> Rank:
    """It is never waited for."""
    return Rank((), (helps(s.found[k], open_it, k),), pending=s.open & ~s.open)


@leads_to(shipped="holds", fair=("find",), broken_by=(drop_guard("open_it", 0),))
def its_fault_is_none(s: Door, k: Key) -> tuple[Bool, Bool]:
    """True; a door that opens without a key changes nothing."""
    return ~s.found[k], s.found[k]


@ranking("its_fault_is_none")
def it_is_found(s: Door, k: Key) -> Rank:
    """At once."""
    return Rank((), (helps(~s.found[k], find, k),))


class Lost(State):
    """Somebody who is found if he calls."""

    calls: Bool
    found: Bool


@initially
def silent(s: Lost) -> Bool:
    """He is silent."""
    return ~s.calls & ~s.found


@action("nothing")
def answer(s: Lost) -> None:
    """Who calls is found."""
    require(s.calls)
    s.found = TRUE


@action("nothing")
def call(s: Lost) -> None:
    """He calls, or calls again."""
    s.calls = TRUE


@lemma
def he_calls(s: Lost) -> Bool:
    """False at first, and kept by every step."""
    return s.calls


@leads_to(shipped="holds", fair=("answer",))
def leans(s: Lost) -> tuple[Bool, Bool]:
    """False: he need not call."""
    return ~s.found, s.found


@ranking("leans")
def who_calls_is_found(s: Lost) -> Rank:
    """By the lemma."""
    return Rank((), (helps(~s.found, answer),))


class Tries(State):
    """Numbers that are tried; one of them is right."""

    tried: Number
    right: Number
    done: Bool


@initially
def none_tried(s: Tries) -> Bool:
    """The first one."""
    return (s.tried == 0) & ~s.done & (s.right == 1)


@action("nothing")
def attempt(s: Tries, n: Number) -> None:
    """The number is tried."""
    require(s.tried == n)
    s.done = s.done | (s.tried == s.right)


@action("nothing")
def more(s: Tries) -> None:
    """The next number is."""
    s.tried = s.tried + 1


@action("nothing")
def pruned(s: Tries) -> None:
    """What is right moves on; searches do not."""
    search_only(s.right == 0)
    s.right = s.right + 1


@leads_to(shipped="holds", fair=("attempt",), until_quiet=("pruned",))
def every_number_is_tried(s: Tries) -> tuple[Bool, Bool]:
    """False: each number is tried for a while only."""
    return ~s.done, s.done


@ranking("every_number_is_tried")
def the_number_that_is_tried(s: Tries, n: Number) -> Rank:
    """Another instance each time."""
    return Rank((), (helps(s.tried == n, attempt, n),))


@leads_to(shipped="holds", fair=("more",))
def pruned_growth(s: Tries) -> tuple[Bool, Bool]:
    """False: what is right runs ahead, where no search goes."""
    return s.tried <= s.right, s.right < s.tried


@ranking("pruned_growth")
def the_distance(s: Tries) -> Rank:
    """It falls with every number."""
    return Rank((s.right - s.tried,), (helps(TRUE, more),), pending=s.tried <= s.right)


scopes = [Scope(Door, {Key: 2}, name="door"), Scope(Lost, {}, name="lost"), Scope(Tries, {Number: 4}, name="tries")]
