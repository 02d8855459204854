"""Two premises may be called alike: one under which a lemma was proved is not the other."""

from __future__ import annotations

from model.language import Bool, Constant, Nat, State, action, always, initially, lemma_given, premise
from model.language.scope import Scope

PROVE = {"stays_low": "holds", "low_for_all": "unknown"}
EXPLORE = {"low_for_all": "violated"}


class Number(Nat):
    """A number."""


class Alike(State):
    """A constant and a flag."""

    limit: Constant[Number]
    high: Bool


@initially
def low(s: Alike) -> Bool:
    """It is low."""
    return ~s.high


@action("nothing")
def rise(s: Alike) -> None:
    """It is high if the limit is."""
    s.high = s.limit > 3


@premise
def bound(s: Alike) -> Bool:
    """The limit is small."""
    return s.limit <= 3


small = bound


@premise  # type: ignore[no-redef]
def bound(s: Alike) -> Bool:
    """The limit is not 0."""
    return s.limit > 0


@lemma_given(small)
def stays_low(s: Alike) -> Bool:
    """True if the limit is small."""
    return ~s.high


@always(shipped="violated: D1", given=(bound,))
def low_for_all(s: Alike) -> Bool:
    """False: the other premise says nothing of the kind."""
    return ~s.high


scopes = [Scope(Alike, {Number: 6}, {"limit": 5}, name="limit 5")]
