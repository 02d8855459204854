"""What follows from the rows of the campaign over worlds: a verdict for each subject and property, and its evidence.

A violation is believed when a story confirms it, or a worker has played its tape again with the digest of the search,
twice and this process once more if no hazard explains it; else it is unknown. So is a property that some runs could not
judge, and one that a known hazard breaks but that no run has seen broken: luck is no proof. Where only hazards break it
that no repair ends, it is not met: such a hazard need not be.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from impl.variants.mistakes import what_does_not_end
from invariants.evidence import replayed
from invariants.rules.telling_apart import perhaps, shown as hazards_shown
from invariants.runs import CHANGED, OF_KIND, REACHED, SAME_RUN, WITHIN, outcome_of
from invariants.verdict import Outcome, Subject, Verdict
from spark_fuzz import simulation
from spark_fuzz.asked import USUAL, Asked
from spark_fuzz.confirmed import documents, file_of, settle, tests
from spark_fuzz.effect import Effect
from spark_fuzz.failures import Failure, Recording
from spark_fuzz.scopes import Share, shares
from spark_fuzz.tallies import About, as_a_whole, begun, cost_of, doubt, is_given_up, visited, what_ends_it
from spark_fuzz.towards import Towards
from spark_fuzz.work import Row, Unit, refuse_mistake
from stateful_tests.worlds.evidence import is_by_variant
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.steering import Begun
from stateful_tests.worlds.subjects import Subject as Known, subject_named

MUTATION = "mutation"
"""The detail of a row's subject that names a planted bug."""


class Sightings:
    """The book of the campaign over worlds.

    aim -- checked. folder -- of the campaign, for the commands it names. asked -- what is told.
    """

    def __init__(self, aim: simulation.Aim, folder: Path, asked: Asked = USUAL) -> None:
        """Nothing is seen yet."""
        self._aim, self._folder, self._asked = aim, folder, asked
        self._about = {name: begun(name, aim.workloads) for name in aim.subjects}
        self._towards = Towards(aim)

    # Rows ---------------------------------------------------------------------------------------------------------

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows of units of either kind, and failed ones, in the order of the plan.

        Raises BadInputError for a mistake in a file of one's own.
        """
        for row in rows:
            plan = simulation.plan_of(row["unit"])
            about = self._about[plan.subject]
            refuse_mistake(row)
            if simulation.is_again(row["unit"]):
                about.failures.answer(row)
            elif row["error"] is not None:
                about.failed.append((plan, f"{row['unit']}: {row['error']}"))
            else:
                self._take(about, plan, row)

    def _take(self, about: About, plan: Plan, row: Row) -> None:
        match row["kind"]:
            case "judged":
                about.take(row)
            case "states":
                about.arms[plan] += row["runs"]
                about.coverage.add(plan, row["turn"], row["runs"], row["states"])
            case "scope":
                about.take_scope(row)
            case "failure":
                about.failures.take(row)
            case "called" | "compared":
                about.take_effect(row)
            case "near" | "trails":
                self._towards.take(plan, row)
            case "unknown":
                about.why.append(f"seed {row['seed']} of {row['unit']}: {row['sentence']}")
                if row["violated"]:
                    about.endless[what_does_not_end(row["sentence"])] += 1

    def inputs(self) -> int:
        """How many runs there were."""
        return sum(about.coverage.runs for about in self._about.values())

    def flat(self, arm: Plan, turn: int) -> bool:
        """Whether an arm visited hardly anything new in a turn."""
        return self._about[arm.subject].coverage.flat(arm, turn)

    def near(self, turn: int) -> list[Begun]:
        """How the runs of a turn begin that look for states that are wanted."""
        return self._towards.turn(turn)

    def questions(self) -> Iterator[Unit]:
        """Failures that must be seen again."""
        return chain.from_iterable(about.failures.questions() for about in self._about.values())

    def wishes(self) -> Iterator[Unit]:
        """Failures that should be made simpler."""
        return chain.from_iterable(about.failures.wishes() for about in self._about.values())

    def settle(self) -> bool:
        """Play a failure here that a worker has seen again and no hazard explains; whether there was one."""
        return settle(chain.from_iterable(about.failures.looked_at() for about in self._about.values()))

    def given_up(self) -> bool:
        """Whether no run more makes sense: in each subject a function does not end, which costs seconds each time."""
        return all(map(is_given_up, (about.endless for about in self._about.values())))

    def found(self) -> bool:
        """Whether there is a failure that no hazard explains."""
        return any(self._broken(name) for name in self._about)

    def _broken(self, subject: str) -> list[str]:
        """The properties that fail, seen again, and that no hazard explains; of a change, not its base either."""
        about = self._about[subject]
        return [name for name in about.seen if name != SAME_RUN and self._tells(name)
                and any(not one.expected and not _of_base(one, shown) for one, shown in self._believed(about, name))]

    # Verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> list[Verdict]:
        """A row for each subject and property; one that all runs repeat. Enumerable scopes have a row each.

        A variant has one row as a whole. Of the properties those have a row that a repair or a change breaks, and those
        that were asked for. Each state that is wanted has a row.
        """
        wanted = self._asked.told(self._towards.verdicts(self._command(), self._folder))
        return [*(verdict for subject in self._about for verdict in self._of(subject)), *wanted]

    def _tells(self, name: str) -> bool:
        """Whether a property counts: all do for the row of a variant as a whole."""
        return self._asked.about(name) or not {*OF_KIND.values()}.isdisjoint(self._asked.properties)

    def _of(self, subject: str) -> Iterator[Verdict]:
        if as_a_whole(subject) is None:
            yield from self._asked.told(self._each(subject))
            return
        about, told = self._about[subject], list(self._asked.told(self._each(subject)))
        if not self._asked.properties or any(self._tells(name) for name in about.seen if name != SAME_RUN):
            yield self._whole(subject, about.effect or Effect(subject))
        if not self._asked.properties:
            wrong = [] if subject_named(subject).kind == "bug" else self._broken(subject)
            told = [one for one in told if one.property in {*wrong, SAME_RUN}]
        yield from told

    def _each(self, subject: str) -> Iterator[Verdict]:
        """The rows of one subject, but for that of a variant as a whole."""
        about = self._about[subject]
        if about.effect is not None and as_a_whole(subject) is None:
            yield self._changed(subject, about.effect)
        yield from (self._verdict(subject, name) for name in about.seen if name != SAME_RUN)
        yield from (self._within(subject, share) for share in shares(about.scopes))
        yield self._same_run(subject)

    def _verdict(self, subject: str, name: str) -> Verdict:
        about, known = self._about[subject], subject_named(subject)
        ways = self._believed(about, name)
        outcome, note = self._outcome(about, name, known)
        file = Path("evidence") / file_of(ways[0][0]) if ways else None
        surprise = any(not one.expected and not _of_base(one, shown) for one, shown in ways)
        wanted = Outcome.VIOLATED if known.kind == "bug" else Outcome.HOLDS  # by what lies on the base
        return Verdict(
            name, "campaign", _plain(subject), wanted if surprise else known.expected(name), outcome,
            self._replay(file),
            hazard=_hazards(known.hazards(name), ways) if ways and not surprise
            else known.hazards(name) if outcome is Outcome.NOT_MET else (),
            cost=cost_of(about.seen[name]),
            evidence=None if file is None else str(file), seed=self._aim.seed, note=note,
        )

    def _outcome(self, about: About, name: str, known: Known) -> tuple[Outcome, str]:
        seen = about.seen[name]
        if ways := self._believed(about, name):
            unsaid = perhaps(known.hazards(name), ways[0][0].key)
            return Outcome.VIOLATED, f"{ways[0][1].sentence}; {self._extent(about, name)}{unsaid}"
        if why := doubt(about, name):
            return Outcome.UNKNOWN, why
        if known.may_break(name):
            return Outcome.NOT_MET, f"a hazard may break it, which none of {seen.runs:,} runs has met"
        if known.expected(name) is Outcome.VIOLATED:
            return Outcome.UNKNOWN, f"a hazard breaks it, which none of {seen.runs:,} runs has met; give it more time"
        return Outcome.HOLDS, f"in {seen.runs:,} runs, {seen.segments:,} segments"

    def _extent(self, about: About, name: str) -> str:
        """In how many runs and ways a property fails, and which hazards only those ways name that are but counted.

        Where hazards explain some of the ways, and not the one that is shown, that one is counted by itself.
        """
        seen, ways, shown = about.seen[name], about.failures.ways(name), about.failures.of(name)
        told = f"in {seen.violated:,} of {seen.runs:,} runs" + (f", in {len(ways)} ways" if len(ways) > 1 else "")
        strange = [one for one in ways if not one.expected]
        first = self._believed(about, name)[0][0]
        if not first.expected and len(strange) < len(ways):
            more = {0: "", 1: ", nor one more way"}.get(len(strange) - 1, f", nor {len(strange) - 1} more ways")
            told = (f"no hazard explains this, in {first.runs:,} of {seen.runs:,} runs{more}; "
                    f"with what hazards explain {told}")
        if len(ways) == len(shown):
            return told
        named = frozenset[str]().union(*(one.causes for one in shown))
        besides = sorted(frozenset[str]().union(*(one.causes for one in ways)) - named)
        also = f", put down to {', '.join(besides)} too" if besides else ""
        return f"{told}, {len(ways) - len(shown)} of them counted only{also}"

    def _changed(self, subject: str, effect: Effect) -> Verdict:
        """The row that says whether leaving a repair out has made any difference."""
        return Verdict(
            CHANGED, "campaign", _plain(subject), Outcome.HOLDS, effect.outcome, self._command(), cost=effect.cost(),
            seed=self._aim.seed, note=effect.sentence(),
        )

    def _whole(self, subject: str, effect: Effect) -> Verdict:
        """The row of a variant as a whole: whether some property fails that no hazard of its base explains.

        Of a variant that was never executed, or made no difference, nothing can be said. What fails although no run has
        executed it fails without it.
        """
        known = subject_named(subject)
        kind = known.kind or ""
        about, broken = self._about[subject], self._broken(subject)
        ways = sorted((next(way for way in self._believed(about, name) if not way[0].expected and not _of_base(*way))
                       for name in broken), key=lambda one: one[1].order)
        total = about.seen[broken[0] if broken else next(iter(about.seen))]
        outcome = outcome_of(kind, broken=bool(ways))
        note = f"no property fails in {total.runs:,} runs, {total.segments:,} segments"
        if ways:
            note = f"{', '.join(broken)}: {ways[0][1].sentence}"
        elif hangs := what_ends_it(about):
            outcome, note = Outcome.UNKNOWN, f"it does not end: {hangs}"
        elif doubts := [why for name in about.seen if name != SAME_RUN and (why := doubt(about, name))]:
            outcome, note = Outcome.UNKNOWN, doubts[0]
        elif effect.outcome is not Outcome.HOLDS:
            outcome = effect.outcome
        elif kind != "bug" and (masked := self._masked(subject)):
            command = shlex.join(["rocketproof", "compare", known.file or "FILE", "--base", known.base or ""])
            outcome, note = Outcome.UNKNOWN, f"{masked} fail by what the base has; whether more often says `{command}`"
        if ways and effect.outcome is Outcome.NEVER_EXECUTED:
            outcome, note = Outcome.UNKNOWN, f"{note}; that is none of the variant's doing, as no run has executed it"
        file = Path("evidence") / file_of(ways[0][0]) if ways else None
        return Verdict(
            OF_KIND[kind], "campaign", named(subject), Outcome.HOLDS, outcome, self._replay(file),
            cost={**cost_of(total), **effect.cost()}, evidence=None if file is None else str(file),
            seed=self._aim.seed, note=f"{note}; {effect.sentence()}",
        )

    def _masked(self, subject: str) -> str:
        """Properties that fail as they do without the variant: nobody can say whether more often; empty if none does.

        What has no repair does not count: its cause was seen in the run.
        """
        about, known = self._about[subject], subject_named(subject)
        names = [name for name in about.seen if name != SAME_RUN and self._tells(name)
                 and any(known.masks(one.key) if one.expected else _of_base(one, shown)
                         for one, shown in self._believed(about, name))]
        return ", ".join(names)

    def _same_run(self, subject: str) -> Verdict:
        """The row that says that runs can be repeated; it also carries how many states were visited."""
        about, seen = self._about[subject], self._about[subject].seen[SAME_RUN]
        doubts = [one for name in about.seen for one in about.failures.of(name) if one.doubt]
        outcome = Outcome.HOLDS if seen.runs and not doubts else Outcome.UNKNOWN
        if seen.violated:
            outcome = Outcome.VIOLATED
        cost = {**cost_of(seen), "states": about.coverage.states}
        note = f"{seen.runs - seen.violated} of {seen.runs} runs were repeated from their tapes"
        return Verdict(
            SAME_RUN, "campaign", _plain(subject), Outcome.HOLDS, outcome, self._command(), cost=cost,
            seed=self._aim.seed, note=f"{note}; {doubts[0].key[0]} was not" if doubts else note,
        )

    def _within(self, subject: str, share: Share) -> Verdict:
        """The row of an enumerable scope: how much of it was visited, and that all of that is reachable."""
        return Verdict(
            WITHIN, "campaign", _plain(subject, scope=share.visited.scope), Outcome.HOLDS,
            share.outcome, self._command(), cost=share.cost(), seed=self._aim.seed, note=share.sentence(),
        )

    def _replay(self, file: Path | None) -> str:
        return self._command() if file is None else replayed(self._folder / file)

    def _command(self) -> str:
        return f"{self._aim.command()} {self._asked.options()} --out {shlex.quote(str(self._folder))}"

    # Evidence -----------------------------------------------------------------------------------------------------

    def _believed(self, about: About, name: str) -> list[tuple[Failure, Recording]]:
        """The ways in which a property fails that are believed; first what no hazard explains, by simplicity.

        Two that have come to the same tape are one.
        """
        ways = sorted(((one, shown) for one in about.failures.of(name) if (shown := one.believed) is not None),
                      key=lambda one: (one[0].expected, one[1].order))
        tapes = {(shown.plan, shown.choices): (one, shown) for one, shown in reversed(ways)}
        return list(reversed(tapes.values()))

    def _shown(self) -> list[Failure]:
        return [one for about in self._about.values() for name in about.seen if self._tells(name)
                for one, _ in self._believed(about, name)]

    def evidence(self) -> Mapping[str, Mapping[str, Any]]:
        """A failing run for each way in which a property fails, and one for each wanted state that was reached."""
        reached = self._towards.evidence(self._folder) if self._asked.about(REACHED) else {}
        return {**documents(self._shown(), self._folder), **reached}

    def files(self) -> Mapping[str, str]:
        """Tests to keep, one beside each piece of evidence; all failures; what was visited, and by which runs."""
        failures = {subject_named(name).title: about.failures.to_json() for name, about in self._about.items()}
        coverage = {subject_named(name).title: visited(about) for name, about in self._about.items()}
        kept = tests(self._shown())
        return {**kept, **self._towards.files(), "failures.json": _json(failures), "coverage.json": _json(coverage)}


def _of_base(failure: Failure, shown: Recording) -> bool:
    """Whether the base of a change or a repair fails in the same way on the same tape: then it is not their doing."""
    known = subject_named(shown.plan.subject)
    return known.kind in {"change", "repair"} and not is_by_variant(shown.plan, shown.choices, failure.key)


def _hazards(candidates: Sequence[str], ways: Sequence[tuple[Failure, Recording]]) -> tuple[str, ...]:
    """The hazards that some way to fail shows, in the order of those that can break the property."""
    found = {hazard for way, _ in ways for hazard in hazards_shown(candidates, way.key)}
    return tuple(hazard for hazard in candidates if hazard in found)


def named(subject: str) -> Subject:
    """The subject of the row of a variant as a whole: of a planted bug by its name, with the file that it is from."""
    plain, top = _plain(subject), subject_named(subject).top
    if top is not None and top.kind != "bug":
        return plain
    return replace(plain, details={MUTATION: plain.name if top is None else top.name, **plain.details})


def _plain(subject: str, **details: str) -> Subject:
    """The subject of any other row."""
    known = subject_named(subject)
    return Subject("variant", known.title, {**details, **({"file": known.file} if known.file else {})})


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
