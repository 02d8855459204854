"""What pairs of runs say of a change: how both sides answer each question, and whether chance explains the difference.

Three kinds of questions are asked: whether a property is broken; whether it is broken in a certain way (a signature);
for how long a promise is broken. All of them are corrected together (`matched.corrected`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from impl.variants.mistakes import what_does_not_end
from spark_fuzz.matched import ALPHA, Asked, corrected, how_much, whether
from spark_fuzz.pairs import Pair
from spark_fuzz.runs import Key, judged
from stateful_tests.worlds.subjects import Subject

WHETHER, HOW_LONG = "whether", "how long"
FEWEST = 6
"""Of fewer pairs no test says anything, whatever they show: half to the power of 5 is the first that is below ALPHA."""


class Question(NamedTuple):
    """Whether, or how long, a property is broken; key -- the property, and the signature if it is about one way."""

    asking: str
    key: Key


class Effect(StrEnum):
    """What a change does; in the order in which people want to read it."""

    BROKEN = "broken"  # more often, longer, or at all where the base keeps it
    FIXED = "fixed"  # the base breaks it, and no run with the change does
    BETTER = "better"  # less often or shorter, but still broken
    UNCHANGED = "unchanged"  # both keep it, or both break it about as much
    NOT_MET = "not met"  # hazards of the base may break it, and no run of either side has met one
    NOT_LOOKED_AT = "not looked at"  # no run that it judges was lived through


@dataclass
class Seen:
    """In how many pairs something was seen: on both sides, on one side only."""

    both: int = 0
    base_only: int = 0
    changed_only: int = 0

    @property
    def base(self) -> int:
        """Runs of the base."""
        return self.both + self.base_only

    @property
    def changed(self) -> int:
        """Runs with the change."""
        return self.both + self.changed_only

    def take(self, *, base: bool, changed: bool) -> None:
        """One pair more in which it was seen so."""
        self.both += base and changed
        self.base_only += base and not changed
        self.changed_only += changed and not base


@dataclass(frozen=True)
class Answer:
    """What became of a question.

    of -- pairs that were judged by the property. seen -- in how many of them it is broken (of a promise: in the end).
    asked -- the test. p -- corrected for all questions. declared -- it is never broken on the base, whose hazards do
    not explain it either: one run with the change says that it is worse. base_ms, changed_ms -- of a promise: the mean
    time for which it is broken after the world has healed.
    """

    question: Question
    of: int
    seen: Seen
    asked: Asked
    p: float
    declared: bool = False
    base_ms: float = 0.0
    changed_ms: float = 0.0

    @property
    def effect(self) -> Effect:
        """What the change does, so far as this question goes."""
        if self.declared:
            return Effect.BROKEN
        if self.p > ALPHA:
            return Effect.UNCHANGED
        if self.asked.more > self.asked.fewer:
            return Effect.BROKEN
        return Effect.FIXED if self.question.asking == WHETHER and not self.seen.changed else Effect.BETTER

    @property
    def of_a_way(self) -> bool:
        """Whether it is about one signature of a property."""
        return len(self.question.key) > 1


class Differences:
    """All pairs so far; base -- the subject that is changed.

    pairs -- how many. unknown -- why some could not be judged. same_digest, judged_alike -- pairs whose sides have
    equal digests, and of which judges say the same. met -- judged pairs that have met the change. endless -- by what
    does not end: in how many pairs. talking -- by workload: pairs in which the change talks without end, and the base
    does not; what the change has shown until then breaks a property that the base keeps, and no test counts it. lived
    -- judged pairs by workload. calls, reached -- by place: calls of what is replaced, and in how many runs. costs --
    by name: what the runs of either side have cost; None: longer than any other.
    """

    def __init__(self, base: Subject) -> None:
        """None yet."""
        self.base = base
        self.pairs = self.same_digest = self.judged_alike = self.met = 0
        self.endless = Counter[str]()
        self.talking = Counter[str]()
        self.unknown: list[str] = []
        self.calls, self.reached = Counter[str](), Counter[str]()
        self.costs: dict[str, tuple[list[int | None], list[int | None]]] = {
            name: ([], []) for name in ("messages", "requests", "converged_ms")}
        self.lived = Counter[str]()
        self._ways: dict[Key, Seen] = defaultdict(Seen)
        self._while_talking = Counter[Key]()
        self._broken_ms: dict[str, tuple[Counter[int], Counter[int]]] = defaultdict(lambda: (Counter(), Counter()))
        self._longer_ms: dict[str, Counter[int]] = defaultdict(Counter)
        self._of_base: set[Key] = set()
        self._answers: dict[Question, Answer] | None = None

    def shown_by_base(self, key: Key) -> None:
        """The base fails so as well, on the very tape on which the change does: no declaration speaks against it."""
        self._of_base.add(key)
        self._answers = None

    def take(self, pair: Pair) -> None:
        """One pair more."""
        self._answers = None
        self.pairs += 1
        self.same_digest += pair.base.digest == pair.changed.digest
        for place, calls in pair.changed.calls.items():
            self.calls[place] += calls
            self.reached[place] += bool(calls)
        if pair.changed.endless:
            self.endless[what_does_not_end(pair.changed.unknown)] += 1
        if pair.unknown:
            self.unknown.append(f"seed {pair.seed} of {pair.plan.workload}: {pair.unknown}")
            if pair.changed.talks and not pair.base.unknown:
                self._take_talk(pair)
            return
        self.judged_alike += pair.base.judged_as(pair.changed)
        self.met += pair.met
        self.lived[pair.plan.workload] += 1
        self._take_ways(pair)
        self._take_times(pair)
        for name, sides in self.costs.items():
            for side, numbers in zip((pair.base, pair.changed), sides, strict=True):
                numbers.append(getattr(side, name))

    def _take_talk(self, pair: Pair) -> None:
        self.talking[pair.plan.workload] += 1
        self._of_base.update(pair.base.shown)
        self._while_talking.update(_with_properties(pair.changed.shown))

    def _take_ways(self, pair: Pair) -> None:
        for key in _with_properties((*pair.base.shown, *pair.changed.shown)):
            of_base, of_changed = (any(shown[:len(key)] == key for shown in side.shown)
                                   for side in (pair.base, pair.changed))
            self._ways[key].take(base=of_base, changed=of_changed)

    def _take_times(self, pair: Pair) -> None:
        for name, base_ms in pair.base.broken_ms.items():
            changed_ms = pair.changed.broken_ms[name]
            for counter, ms in zip(self._broken_ms[name], (base_ms, changed_ms), strict=True):
                counter[ms] += 1
            self._longer_ms[name][changed_ms - base_ms] += 1

    @property
    def enough(self) -> bool:
        """Whether so many judged pairs have met the change that a test can say something."""
        return self.met >= FEWEST

    # Answers ------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """All properties that some pair was judged by, or of which the change shows what the base keeps."""
        shown = (key[0] for key in (*self._ways, *filter(self._declared, self._while_talking)))
        return tuple(dict.fromkeys([*chain.from_iterable(map(judged, self.lived)), *shown]))

    def answers(self) -> Mapping[Question, Answer]:
        """Every question, answered by the pairs so far."""
        if self._answers is None:
            asked = dict(self._asked())
            p = corrected(asked)
            self._answers = {question: self._answer(question, one, p[question]) for question, one in asked.items()}
        return self._answers

    def of(self, name: str) -> list[Answer]:
        """The answers about a property, that about the whole of it first."""
        return [one for question, one in self.answers().items() if question.key[0] == name]

    def ways(self, name: str) -> dict[Key, Seen]:
        """The ways in which a property was seen broken."""
        return {key: self._seen(key) for key in self._keys() if key[0] == name and len(key) > 1}

    def effect(self, name: str) -> Effect:
        """What the change does to a property.

        It is broken if it or one of its ways is. It is fixed or better only if it is as a whole: one way may end
        beneath others.
        """
        answers = self.of(name)
        effects = [one.effect for one in answers if not one.of_a_way]
        if any(one.effect is Effect.BROKEN for one in answers):
            return Effect.BROKEN
        for effect in (Effect.FIXED, Effect.BETTER):
            if effect in effects:
                return effect
        seen = self._seen((name,))
        met = seen.base or seen.changed or not self.base.hazards(name)
        return Effect.UNCHANGED if met else Effect.NOT_MET

    def _asked(self) -> Iterator[tuple[Question, Asked]]:
        keys = self._keys()
        ways = Counter(key[0] for key in keys)
        several = [key for key in keys if len(key) > 1 and ways[key[0]] > 2]  # noqa: PLR2004 - one is the property itself
        for key in (*((name,) for name in self.names), *several):
            seen = self._seen(key)
            yield Question(WHETHER, key), whether(seen.base_only, seen.changed_only)
        for name, longer in sorted(self._longer_ms.items()):
            yield Question(HOW_LONG, (name,)), how_much(tuple(longer.elements()))

    def _answer(self, question: Question, asked: Asked, p: float) -> Answer:
        key = question.key
        declared = question.asking == WHETHER and self._declared(key)
        lived = self.lived + self.talking if declared else self.lived
        of = sum(pairs for workload, pairs in lived.items() if key[0] in judged(workload))
        if question.asking == HOW_LONG:
            base_ms, changed_ms = map(_mean, self._broken_ms[key[0]])
            return Answer(question, of, self._ways.get(key, Seen()), asked, p, base_ms=base_ms, changed_ms=changed_ms)
        return Answer(question, of, self._seen(key), asked, p, declared=declared)

    def _keys(self) -> list[Key]:
        """All ways in which something was seen, and the properties that they break."""
        return sorted({*self._ways, *self._while_talking})

    def _seen(self, key: Key) -> Seen:
        """In how many pairs it was seen; of what the base keeps also in those in which the change talks without end."""
        seen = self._ways.get(key, Seen())
        more = self._while_talking[key] if self._declared(key) else 0
        return replace(seen, changed_only=seen.changed_only + more)

    def _declared(self, key: Key) -> bool:
        """Whether the base keeps it by all that is declared and seen, and the change does not."""
        seen = self._ways.get(key, Seen())
        if seen.base or not (seen.changed or self._while_talking[key]):
            return False
        ways = [key] if len(key) > 1 else [one for one in self._keys() if one[0] == key[0] and len(one) > 1]
        return any(not (self.base.explains(one) or self._ways.get(one, Seen()).base or one in self._of_base)
                   for one in ways)


def _with_properties(keys: Iterable[Key]) -> list[Key]:
    """These ways, and the properties that they break, each once."""
    return list(dict.fromkeys(part for key in keys for part in ((key[0],), key)))


def _mean(counter: Mapping[int, int]) -> float:
    return sum(ms * count for ms, count in counter.items()) / max(1, sum(counter.values()))


def quartiles(values: Sequence[int | None]) -> tuple[int | None, ...]:
    """Lower quartile, median, upper quartile, nearest rank; None is more than any number."""
    ordered = sorted(values, key=lambda one: (one is None, one or 0))
    places = (max(0, -(-len(ordered) * part // 4) - 1) for part in (1, 2, 3))
    return tuple(ordered[place] for place in places) if ordered else (None, None, None)
