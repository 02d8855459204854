"""What a comparison of a change with its base leaves besides rows: every question with both answers.

`compare.json` is a Comparison. Anybody may have written this file: what has not this shape raises BadInputError, and
the page shows that line.
"""

from __future__ import annotations

import builtins

from invariants.report.shapes import Shape, Words
from invariants.report.words import number

COMPARED = "compare.json"
QUIET = ("unchanged", "not met", "not looked at")
_NAMES = {"messages": "messages of a run", "requests": "requests of a run",
          "converged_ms": "seconds from the healing until all promises hold"}
_LEAST = 1e-4


class Answer(Shape):
    """One question about a property.

    asking -- whether it is broken, or how long. way -- of which signature; empty: of all. effect -- of the change on
    this alone. of -- pairs. base, changed -- runs in which it is broken. base_only, changed_only -- pairs in which one
    side has more. p -- corrected. declared -- no hazard of the base explains it. base_ms, changed_ms -- of `how long`:
    the mean.
    """

    asking: Words
    way: Words
    effect: Words
    of: int
    base: int
    changed: int
    base_only: int
    changed_only: int
    p: float
    declared: bool
    base_ms: float
    changed_ms: float

    @property
    def about(self) -> str:
        """What is asked, beneath the name of the property."""
        return self.asking if self.asking != "whether" else self.way

    @property
    def sides(self) -> tuple[str, str]:
        """What both sides show."""
        if self.asking != "whether":
            return f"{self.base_ms / 1000:.1f} s", f"{self.changed_ms / 1000:.1f} s"
        return f"{number(self.base)}/{number(self.of)}", f"{number(self.changed)}/{number(self.of)}"

    @property
    def chance(self) -> str:
        """The corrected p, or why none is needed."""
        if self.declared:
            return "declared"
        return probability(self.p)


class Compared(Shape):
    """One property: the answer about the whole of it, then those about its ways, and about time."""

    property: Words
    effect: Words
    replay: Words
    answers: tuple[Answer, ...]

    @builtins.property
    def lines(self) -> list[Answer]:
        """The whole, and what differs beneath it."""
        return [one for place, one in enumerate(self.answers) if not place or one.effect not in QUIET]


class Cost(Shape):
    """Quartiles and median of a cost, of both sides; None: longer than any."""

    name: Words
    base: tuple[float | None, float | None, float | None]
    changed: tuple[float | None, float | None, float | None]

    @property
    def told(self) -> tuple[str, str, str]:
        """What it is, and both sides."""
        return _NAMES.get(self.name, self.name), self._spread(self.base), self._spread(self.changed)

    def _spread(self, values: tuple[float | None, ...]) -> str:
        part = 1000 if self.name.endswith("_ms") else 1
        low, middle, high = ("never" if value is None else number(round(value / part)) for value in values)
        return f"{middle} ({low} … {high})"


class Other(Shape):
    """What another judge says: of how many inputs, and of how many it complains, under the base and the change."""

    judge: Words
    about: Words
    of: int
    base: int
    changed: int
    worse: bool

    @property
    def sentence(self) -> str:
        """As people read it."""
        both = number(self.base) if self.base == self.changed else f"{number(self.base)} → {number(self.changed)}"
        wrong = "are false" if self.judge == "claims" else "differ from 4.9.3"
        return f"{self.judge}, {self.about}: {both} of {number(self.of)} {wrong}"


class Proof(Shape):
    """What is proved of what stands at a place."""

    place: Words
    sentence: Words


class Called(Shape):
    """How often what is replaced at a place was called, and in how many runs."""

    place: Words
    calls: int
    runs: int


class Comparison(Shape):
    """A change beside its base.

    left -- what was not looked at, in sentences. unsettled -- what more time may settle, in sentences. goes_on -- the
    command that gives it more time; empty: nothing is unsettled.
    """

    base: Words
    change: Words
    said: Words
    headline: Words
    pairs: int
    unknown: int
    same_digest: int
    judged_alike: int
    calls: tuple[Called, ...]
    rows: tuple[Compared, ...]
    left: tuple[Words, ...]
    unsettled: tuple[Words, ...]
    goes_on: Words
    costs: tuple[Cost, ...]
    others: tuple[Other, ...]
    proofs: tuple[Proof, ...]

    @property
    def news(self) -> list[Compared]:
        """What differs."""
        return [row for row in self.rows if row.effect not in QUIET]

    @property
    def rest(self) -> list[Compared]:
        """What does not."""
        return [row for row in self.rows if row.effect in QUIET]

    @property
    def summed(self) -> str:
        """What does not differ, in one line."""
        unchanged = [row for row in self.rows if row.effect == "unchanged"]
        both = sum(row.answers[0].base > 0 for row in unchanged)
        not_met = len(self.rest) - len(unchanged)
        return f"{len(unchanged)} properties unchanged, {both} of them broken on both sides; {not_met} not met"


def probability(p: float) -> str:
    """Two digits, none that say nothing."""
    if p >= 1:
        return "1"
    return f"{p:.2g}" if p >= _LEAST else "< 0.0001"
