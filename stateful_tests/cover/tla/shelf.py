"""A concept that uses everything of the language that TLA+ has to say: the golden module is its text."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Choice,
    Constant,
    Ghost,
    Maybe,
    Nat,
    Rigid,
    Set,
    Sort,
    State,
    Table,
    action,
    always,
    empty,
    every,
    exists,
    forall,
    initially,
    ite,
    leads_to,
    lemma,
    never,
    none,
    premise,
    require,
    search_only,
    setof,
    some,
    sometimes,
    step,
)
from model.language.scope import Scope


class Box(Sort):
    """What lies on the shelf."""


class Place(Nat):
    """A place on the shelf."""


class Age(Nat, saturates=True):
    """Days since somebody looked."""


class Light(Choice):
    """Of the room."""

    ON: Light
    OFF: Light


class Shelf(State):
    """A shelf in a room."""

    light: Light
    end: Place
    lies: Table[Place, Maybe[Box]]
    under: Table[Place, Box]
    wanted: Set[Box]
    near: Table[tuple[Box, Place], Bool]
    seen: Ghost[Table[Box, Bool]]
    age: Age
    heavy: Rigid[Box, Bool]
    room: Constant[Place]
    follows: Rigid[tuple[Box, Box], Bool]


@initially
def empty_shelf(s: Shelf) -> Bool:
    """Nothing lies there, in any light; who is wanted is heavy."""
    dark = ((s.light == Light.ON) | (s.light == Light.OFF)) & (s.end == 0) & (s.age == 0)
    tables = forall(s.lies[p].absent for p in every(Place)) & forall(~s.near[b, p] for b, p in every(Box, Place))
    return dark & tables & (s.wanted == setof(Box, lambda b: s.heavy[b])) & forall(~s.seen[b] for b in every(Box))


@action("Shelf#put", atomic_by="one hand")
def put(s: Shelf, b: Box) -> None:
    """A box is put behind the last; there may be no place."""
    require(s.light == Light.ON, s.heavy[b] | (s.end < s.room))
    s.lies[s.end] = some(b)
    s.under[s.end] = b
    s.near[b, s.end] = TRUE
    s.end = s.end + 1


@action("Shelf#take")
def take(s: Shelf) -> None:
    """The last box is taken away."""
    require(Place.of(0) < s.end)
    search_only(forall((s.lies[p].absent | exists(s.near[b, p] for b in every(Box))) for p in every(Place)))
    for b in every(Box):
        s.near[b, s.end - 1] = FALSE
    s.lies.forget(s.end - 1)
    s.under.forget(s.end - 1)
    s.end = s.end - 1


@action("eyes", environment=True)
def look(s: Shelf, b: Box, p: Place) -> None:
    """Somebody looks for a box and what follows it."""
    require(s.wanted.has(b), s.lies[p].holds(b), ~(s.light == Light.OFF))
    for c in every(Box):
        s.seen[c] = s.seen[c] | s.follows[b, c]
    s.seen[b] = TRUE
    s.wanted = s.wanted.minus(b)
    s.age = Age.of(0)


@action("time", environment=True)
def elapse(s: Shelf, age: Age) -> None:
    """Days pass; on the second the light changes, and everything is wanted again."""
    require(age > 0)
    lit, everything = (s.light == Light.ON) & (s.age <= 1), setof(Box, lambda b: s.heavy[b])
    s.wanted = ite(s.age == 1, everything, ite(s.age < 1, s.wanted, empty(Box)))
    s.light = ite(lit, Light.ON, Light.OFF)
    s.age = s.age + age


@action("a switch", environment=True)
def switch_on(s: Shelf) -> None:
    """Light again."""
    s.light = Light.ON


nobody_looks = never("look", because="The room is closed.")


@premise
def all_are_heavy(s: Shelf) -> Bool:
    """No box is light."""
    return forall(s.heavy[b] for b in every(Box))


@lemma
def places_are_taken_in_order(s: Shelf) -> Bool:
    """What lies on the shelf lies before its end."""
    return forall(~s.lies[p].absent == (p < s.end) for p in every(Place)) & (s.lies[s.end + 1] == none(Box))


@always(shipped="holds", given=(all_are_heavy, nobody_looks))
def what_lies_there_is_near(s: Shelf) -> Bool:
    """A box is near the place where it lies."""
    return forall(s.lies[p].holds(b).implies(s.near[b, p] & (s.under[p] == b)) for b, p in every(Box, Place))


@always(shipped="violated: H-1 somebody looks")
def nothing_is_seen(s: Shelf) -> Bool:
    """Nobody ever sees a box."""
    return forall(~s.seen[b] for b in every(Box))


@step(shipped="holds")
def the_end_moves_by_one(before: Shelf, after: Shelf) -> Bool:
    """No step adds or takes two boxes."""
    return (after.end <= before.end + 1) & (before.end <= after.end + 1)


@sometimes
def the_shelf_is_full(s: Shelf) -> Bool:
    """There is no place left."""
    return s.end == s.room


@leads_to(shipped="holds", fair=("switch_on",), strongly_fair=("put",), until_quiet=("take", "elapse"))
def it_fills(s: Shelf) -> tuple[Bool, Bool]:
    """An empty shelf has a box at last, if nobody takes any and it does not get dark again."""
    return s.end == 0, Place.of(0) < s.end


@leads_to(shipped="violated: H-2 it is not there", fair=("look",))
def what_is_wanted_is_seen(s: Shelf, b: Box) -> tuple[Bool, Bool]:
    """A box that is wanted is seen at last, or wanted no more."""
    return s.wanted.has(b), s.seen[b] | ~s.wanted.has(b)


scopes = [
    Scope(Shelf, {Box: 2, Place: 3, Age: 3}, {
        "heavy": lambda b: b == 1, "room": 2, "follows": lambda a, b: a != b}, name="a room"),
    Scope(Shelf, {Box: 2, Place: 3, Age: 3}, {
        "heavy": lambda _: True, "room": 2, "follows": lambda a, b: a != b}, name="closed", forbid=("look", "elapse")),
]
