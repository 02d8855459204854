"""Rankings of a counter: measures that rise, or stay, or fall for ever; and one that is right."""

from __future__ import annotations

from model.language import (
    TRUE,
    Bool,
    Nat,
    Rank,
    State,
    action,
    helps,
    initially,
    ite,
    leads_to,
    ranking,
    require,
)
from model.language.scope import Scope

PROVE = {
    "is_done": "holds",
    "comes_to_nothing": "unknown: rises comes_to_nothing under grow is not proved",
    "falls_below_nothing": "unknown: defined falls_below_nothing is not proved",
    "is_sent_back": "unknown: rises is_sent_back under send_back is not proved: the measure may rise",
    "parts_in_the_wrong_order": "unknown: rises parts_in_the_wrong_order under refill is not proved",
    "without_a_measure": "unknown: falls without_a_measure under grow is not proved",
}
EXPLORE = {
    "is_done": "holds",
    "comes_to_nothing": "unknown",
    "falls_below_nothing": "unknown",
    "is_sent_back": "violated",
    "parts_in_the_wrong_order": "violated",
    "without_a_measure": "unknown: grow is fair and leaves the scope",
}


class Number(Nat):
    """A number."""


class Work(State):
    """Work that is left, in parts."""

    parts: Number
    left: Number
    grown: Number
    sent: Bool


@initially
def some_work(s: Work) -> Bool:
    """Two parts."""
    return (s.parts == 2) & (s.left == 2) & (s.grown == 0) & ~s.sent


@action("nothing")
def work(s: Work) -> None:
    """A piece is done."""
    require(s.left > 0)
    s.left = s.left - 1


@action("nothing")
def next_part(s: Work) -> None:
    """A part is done; the next one has three pieces."""
    require(s.left == 0, s.parts > 0)
    s.parts = s.parts - 1
    s.left = Number.of(3)


@action("nothing")
def grow(s: Work) -> None:
    """A number grows for ever."""
    s.grown = s.grown + 1


@action("nothing")
def send_back(s: Work) -> None:
    """All pieces of the part are to be done again."""
    s.left = ite(s.sent, s.left, Number.of(2))
    s.sent = ~s.sent


@action("nothing")
def refill(s: Work) -> None:
    """Each piece brings a part."""
    require(s.left > 0, s.parts < 3)
    s.left = s.left - 1
    s.parts = s.parts + 1


@leads_to(shipped="holds", fair=("work", "next_part"), until_quiet=("send_back", "refill"))
def is_done(s: Work) -> tuple[Bool, Bool]:
    """True: first the parts, then the pieces."""
    return TRUE, (s.parts == 0) & (s.left == 0)


@ranking("is_done")
def parts_then_pieces(s: Work) -> Rank:
    """A part done counts for more than its pieces."""
    return Rank((s.parts, s.left), (helps(s.left > 0, work), helps(s.left == 0, next_part)))


@leads_to(shipped="holds", fair=("grow",))
def comes_to_nothing(s: Work) -> tuple[Bool, Bool]:
    """False: what grows is no measure."""
    return s.grown == 1, s.grown == 0


@ranking("comes_to_nothing")
def it_grows(s: Work) -> Rank:
    """Numbers have no greatest."""
    return Rank((s.grown,), (helps(TRUE, grow),))


@leads_to(shipped="holds", fair=("grow",))
def falls_below_nothing(s: Work) -> tuple[Bool, Bool]:
    """False: no number falls for ever."""
    return s.grown == 1, s.grown == 0


@ranking("falls_below_nothing")
def hundred_less_it(s: Work) -> Rank:
    """It would be negative, sooner or later."""
    return Rank((Number.of(100) - s.grown,), (helps(TRUE, grow),))


@leads_to(shipped="holds", fair=("work", "next_part"), until_quiet=("refill",))
def is_sent_back(s: Work) -> tuple[Bool, Bool]:
    """False: it is sent back again and again."""
    return TRUE, (s.parts == 0) & (s.left == 0)


@ranking("is_sent_back")
def pieces_again(s: Work) -> Rank:
    """As where nobody sends it back."""
    return Rank((s.parts, s.left), (helps(s.left > 0, work), helps(s.left == 0, next_part)))


@leads_to(shipped="holds", fair=("work", "next_part"), until_quiet=("send_back",))
def parts_in_the_wrong_order(s: Work) -> tuple[Bool, Bool]:
    """False: a part becomes pieces, and a piece a part."""
    return TRUE, (s.parts == 0) & (s.left == 0)


@ranking("parts_in_the_wrong_order")
def pieces_fall(s: Work) -> Rank:
    """The pieces fall, but count for less."""
    return Rank((s.parts, s.left), (helps(s.left > 0, work), helps(s.left == 0, next_part)))


@leads_to(shipped="holds", fair=("grow",))
def without_a_measure(s: Work) -> tuple[Bool, Bool]:
    """False: what can always happen does not help."""
    return TRUE, (s.parts == 0) & (s.left == 0)


@ranking("without_a_measure")
def nothing_falls(s: Work) -> Rank:
    """It does not fall."""
    return Rank((), (helps(TRUE, grow),))


scopes = [Scope(Work, {Number: 5}, name="work")]
