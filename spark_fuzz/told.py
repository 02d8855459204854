"""What a comparison has found, as people and programs read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from invariants.finding import causes_in
from invariants.report.compared import probability
from spark_fuzz.differences import HOW_LONG, Answer, Differences, Effect, Seen, quartiles

SIDES = ("base", "changed")
QUIET = (Effect.UNCHANGED, Effect.NOT_MET, Effect.NOT_LOOKED_AT)


class Told:
    """What is said of one property; name -- empty: of the whole change."""

    def __init__(self, found: Differences, name: str) -> None:
        """The answers about it."""
        self._found = found
        self._answers = found.of(name) if name else []

    def sentence(self) -> str:
        """What a verdict row says of the property."""
        whole = self._answers[0]
        ways = [f"{way_of(one)}: {counted(one.seen, one.of)}, {chance(one)}"
                for one in self._answers[1:] if one.effect not in QUIET]
        return "; ".join([f"broken {counted(whole.seen, whole.of)}, {chance(whole)}", *ways])

    def so_far(self, doubted: Collection[str]) -> str:
        """What a comparison says while it works: what differs already, or else what differs most; see headline."""
        if told := [*self._differing((), doubted), *self._talking()]:
            return f"so far {'; '.join(told)}"
        apart = self.most_apart()
        return f"so far nothing but chance; {apart}" if apart else "so far no difference"

    def most_apart(self) -> str:
        """The property that chance explains least, with its numbers; empty if none is broken on one side more often."""
        asked = {name: self._found.of(name)[0].asked for name in self._found.names}
        differing = (name for name, one in asked.items() if one.more != one.fewer)
        most = min(differing, key=lambda name: (asked[name].p, -abs(asked[name].more - asked[name].fewer)), default="")
        return most and (f"most apart: {most}, broken only in base {asked[most].fewer:,}, "
                         f"only in change {asked[most].more:,}")

    def counts(self) -> dict[str, str]:
        """By property, in how many runs of either side it is broken."""
        return {name: counted(whole.seen, whole.of) for name in self._found.names for whole in self._found.of(name)[:1]}

    def _differing(self, claims: Sequence[str], doubted: Collection[str]) -> list[str]:
        """What is broken, fixed and better, each with its properties, and what seems broken."""
        found = self._found
        each = {effect: [name for name in found.names if found.effect(name) is effect] for effect in Effect}
        seems = [name for name in each[Effect.BROKEN] if name in doubted]
        each[Effect.BROKEN] = [name for name in each[Effect.BROKEN] if name not in doubted] + [*claims]
        told = [f"{effect}: {', '.join(names)}" for effect, names in each.items() if names and effect not in QUIET]
        return told + ([f"seems broken: {', '.join(seems)}"] if seems else [])

    def _talking(self) -> list[str]:
        """That the change talks without end, if it does."""
        talking = self._found.talking.total()
        said = f"talks without end in {talking:,} of {self._found.pairs:,} runs, which were cut off"
        return [said] if talking else []

    def headline(self, said: str, claims: Sequence[str], doubted: Collection[str]) -> str:
        """What came of a change: what differs, what was called, how many digests are equal.

        claims -- properties of decisions that are broken. doubted -- properties of which it is not believed yet.
        """
        found = self._found
        told = [*self._differing(claims, doubted), *self._talking()]
        calls = ", ".join(f"{place} ({count:,} calls in {found.reached[place]:,} of {found.pairs:,} runs)"
                          for place, count in found.calls.items())
        return "; ".join([
            *(told or [said]), f"replaced: {calls or 'nothing that is called'}",
            f"digests equal in {found.same_digest:,} of {found.pairs:,} runs, judged alike in {found.judged_alike:,}"])


def way_of(answer: Answer) -> str:
    """Which part of a property a question is about, for people."""
    if answer.question.asking == HOW_LONG:
        return "how long"
    return ", ".join(one for one in answer.question.key[1:] if one != answer.question.key[0])


def counted(seen: Seen, of: int) -> str:
    """In how many runs of either side."""
    return f"{seen.base:,} → {seen.changed:,} of {of:,} runs"


def chance(answer: Answer) -> str:
    """What the test says."""
    if answer.declared:
        return "which no hazard of the base explains"
    asked = answer.asked
    times = f"{answer.base_ms / 1000:.1f} → {answer.changed_ms / 1000:.1f} s on average, " if answer.base_ms or (
        answer.changed_ms) else ""
    return f"{times}only with the change {asked.more:,}, only without {asked.fewer:,}, p {probability(answer.p)}"


def documented(found: Differences, replays: Mapping[str, str]) -> dict[str, Any]:
    """Plain values for `invariants.report.compared`."""
    return {
        "pairs": found.pairs, "same_digest": found.same_digest, "judged_alike": found.judged_alike,
        "unknown": len(found.unknown),
        "calls": [{"place": place, "calls": count, "runs": found.reached[place]} for place, count in
                  found.calls.items()],
        "rows": [_row(found, name, replays.get(name, "")) for effect in Effect for name in found.names
                 if found.effect(name) is effect],
        "costs": [{"name": name, **{side: list(quartiles(numbers)) for side, numbers in zip(SIDES, sides, strict=True)}}
                  for name, sides in found.costs.items()],
    }


def _row(found: Differences, name: str, replay: str) -> dict[str, Any]:
    return {"property": name, "effect": str(found.effect(name)), "replay": replay,
            "answers": [_answer(one) for one in found.of(name)]}


def _answer(one: Answer) -> dict[str, Any]:
    return {
        "asking": one.question.asking, "way": way_of(one) if one.of_a_way else "", "effect": str(one.effect),
        "hazards": [*causes_in(one.question.key)], "of": one.of, "base": one.seen.base, "changed": one.seen.changed,
        "base_only": one.asked.fewer, "changed_only": one.asked.more, "p": one.p, "declared": one.declared,
        "base_ms": round(one.base_ms), "changed_ms": round(one.changed_ms)}
