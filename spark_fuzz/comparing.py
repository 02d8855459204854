"""The book of a comparison: a verdict for the change, one for each property, and a run that shows each difference.

What is said to be broken, fixed or better is shown by a tape that fails on one side, and did not on the other: a worker
has played it again twice with equal digests, and this process once. It is then made as short as time allows.
"""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from impl.variants.variant import Replacement
from invariants.evidence import replayed
from invariants.report.compared import COMPARED, Comparison as Shown
from invariants.report.shapes import read
from invariants.runs import COMPARE, WORSE
from invariants.verdict import Outcome, Subject, Verdict
from spark_fuzz import touched
from spark_fuzz.asked import USUAL, Asked
from spark_fuzz.confirmed import documents, file_of, settle, tests
from spark_fuzz.differences import FEWEST, HOW_LONG, Answer, Differences, Effect
from spark_fuzz.failures import Failure, Recording
from spark_fuzz.left import Left
from spark_fuzz.likely import Arm, Known
from spark_fuzz.pairing import Comparison
from spark_fuzz.pairs import Pair, Side
from spark_fuzz.runs import Key
from spark_fuzz.simulation import Aim
from spark_fuzz.tallies import is_given_up
from spark_fuzz.told import QUIET, SIDES, Told, documented
from spark_fuzz.touched import CLAIMED, Other, Others, proofs, told_together
from spark_fuzz.work import Row, Unit, refuse_mistake
from stateful_tests.worlds.evidence import fails
from stateful_tests.worlds.subjects import subject_named, subject_on

BASE, CHANGED = SIDES
BEYOND_DOUBT = 0.001
"""A comparison that looks several times may end at so small a p; what it says in the end is hardly surer or less so
(Haybittle, 1971; Peto, 1976)."""
SHORTER = 6
"""So many tapes are made shorter, those of what is broken first."""


def aim_of(
    file: str, base: str | None, seed: int = 0, workloads: Sequence[str] = (), profiles: Sequence[str] = (),
    strategies: Sequence[str] = (), *, until_answer: bool = False,
) -> Comparison:
    """The comparison that people name; raises BadInputError, one line, for what is not there or does not fit.

    file -- of a variant, or the name of a planted bug. base -- a subject; None: what the kind of the variant says.
    """
    changed = subject_named(subject_on(base, file))
    worlds = Aim((), tuple(workloads), tuple(profiles), tuple(strategies), seed)
    return Comparison(changed.base or changed.name, changed.name, worlds, file, until_answer).checked()


def compared(folder: Path) -> Shown:
    """What the file of a comparison says."""
    return read(Shown, json.loads((folder / COMPARED).read_text(encoding="utf-8")))


NONE_SEEN = f"no difference seen; what differs in fewer than {FEWEST} runs cannot be told from chance"
TOO_FEW = f"fewer than {FEWEST} judged pairs have called it, which say nothing yet: give it more time"


class Comparing:
    """The book. aim -- checked. folder -- of the comparison, for the commands that it names. asked -- for how long."""

    def __init__(self, aim: Comparison, folder: Path, asked: Asked = USUAL) -> None:
        """Nothing is known yet."""
        self._aim, self._folder, self._asked = aim, folder, asked
        self.found = Differences(subject_named(aim.base))
        self.others = Others()
        self._near = touched.near(subject_named(aim.changed).changes)
        self._arms: list[tuple[Arm, Known] | None] = []  # of each unit of the plan, in order
        self._failed: list[str] = []
        self._tapes: dict[tuple[str, Key], Recording] = {}
        self._failures: dict[tuple[str, Key], Failure] = {}
        self._cpu_us = 0

    # Rows ---------------------------------------------------------------------------------------------------------

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows of units of either kind, and failed ones, in the order of the plan.

        Raises BadInputError for a mistake in the file of the change.
        """
        rows = list(rows)
        self._cpu_us += rows[0]["cpu_us"] if rows else 0
        for row in rows:
            refuse_mistake(row)
            if " again " in row["unit"]:
                self._answered(row)
                continue
            self._arms.append(None)
            if row["error"] is not None:
                self._failed.append(f"{row['unit']}: {row['error']}")
            elif row["kind"] == "touched":
                self.others.take(row)
            else:
                self._take(Pair.from_row(row))
        self._look()

    def _answered(self, row: Row) -> None:
        for failure in self._failures.values():
            if row["error"] is not None and row["unit"] in {failure.question().id, getattr(failure.wish(), "id", "")}:
                failure.unanswered(row["error"])
            elif row["error"] is None and (row["subject"], row["property"], *json.loads(row["signature"])) == (
                    failure.first.plan.subject, *failure.key):
                failure.answer(row)

    def _take(self, pair: Pair) -> None:
        self.found.take(pair)
        arm = (pair.plan.workload, pair.plan.profile, pair.plan.strategy)
        base, changed = map(self._telling, (pair.base, pair.changed))
        self._arms[-1] = arm, Known(1, int(pair.met), int(base != changed))
        sides = ((BASE, self._aim.base, pair.base, pair.base_tape, pair.changed),
                 (CHANGED, self._aim.changed, pair.changed, pair.changed_tape, pair.base))
        for name, subject, side, tape, other in sides:
            for key in side.shown.keys() - other.shown.keys():
                plan, shown = replace(pair.plan, subject=subject), side.shown[key]
                self._keep((name, key), Recording(
                    plan, pair.seed, tape, bytes.fromhex(side.digest), shown.time_ms, shown.sentence))

    def _telling(self, side: Side) -> set[Key]:
        """What is shown of the properties that are about what the change touches; of all if there are none."""
        return {key for key in side.shown if not self._near or key[0] in self._near}

    def _keep(self, what: tuple[str, Key], recording: Recording) -> None:
        kept = self._tapes.get(what)
        if kept is None or recording.order < kept.order:
            self._tapes[what] = recording

    def known(self, units: int) -> Mapping[Arm, Known]:
        """What so many of the first units of the plan say of each arm."""
        found = defaultdict[Arm, Known](Known)
        for arm, each in filter(None, self._arms[:units]):
            found[arm] += each
        return found

    def inputs(self) -> int:
        """How many pairs there were."""
        return self.found.pairs

    # Tapes --------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Have a tape looked at again for each property that seems to differ."""
        for name in self.found.names:
            what = self._shown_by(name)
            if what is not None and what not in self._failures and what in self._tapes:
                self._failures[what] = Failure(what[1], expected=False, first=self._tapes[what])

    def _shown_by(self, name: str) -> tuple[str, Key] | None:
        """The side and the way that show best what a change does to a property; one that was chosen is kept."""
        effect = self.found.effect(name)
        if effect in QUIET:
            return None
        side = CHANGED if effect is Effect.BROKEN else BASE
        chosen = next((what for what in self._failures if what[0] == side and what[1][0] == name), None)
        return chosen or self._most_telling(name, effect, side)

    def _most_telling(self, name: str, effect: Effect, side: str) -> tuple[str, Key] | None:
        ways = self.found.ways(name)
        own = [one.question.key for one in self.found.of(name) if one.of_a_way and one.effect is effect]
        able = [key for key in own or ways if (side, key) in self._tapes]
        count = {key: ways[key].changed_only if side == CHANGED else ways[key].base_only for key in able}
        return (side, max(able, key=lambda key: count[key])) if able else None

    def questions(self) -> Iterator[Unit]:
        """Tapes that must fail again."""
        return (one.question() for one in self._failures.values() if not one.answers and not one.doubt)

    def wishes(self) -> Iterator[Unit]:
        """The same, to be made shorter."""
        ordered = sorted(self._failures, key=lambda what: what[0] == BASE)[:SHORTER]
        return (wished for what in ordered if (wished := self._failures[what].wish()) is not None)

    def settle(self) -> bool:
        """Play a tape here that a worker has seen fail again; whether there was one.

        With the base in place it is played as well: what fails there too is not the change's doing.
        """
        played = settle(self._failures.values())
        for (side, key), failure in self._failures.items():
            if side == CHANGED and (shown := failure.believed) is not None and fails(
                    replace(shown.plan, subject=self._aim.base), shown.choices, key):
                self.found.shown_by_base(key)
        return played

    def evidence(self) -> Mapping[str, Mapping[str, Any]]:
        """A failing run for each difference."""
        return documents(self._shown(), self._folder)

    def _shown(self) -> list[Failure]:
        """The tapes that rows name."""
        shown = (self._shown_by(name) for name in self.found.names)
        return [self._failures[what] for what in shown if what in self._failures]

    # Verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> list[Verdict]:
        """A row for the change, then one for each property, what differs first."""
        rows = [self._verdict(name) for name in self.found.names]
        rows += [self._claim(one) for one in self.others.found if one.worse]
        rows += [self._not_looked_at(name) for name in self.left.properties]
        order = list(Effect)
        return [self._change(rows), *sorted(rows, key=lambda row: order.index(Effect(row.subject.details["effect"])))]

    def _verdict(self, name: str) -> Verdict:
        effect, base = self.found.effect(name), subject_named(self._aim.base)
        whole = self.found.of(name)[0]
        failure = self._failure(name)
        broken = effect is Effect.BROKEN
        outcome = {Effect.BROKEN: Outcome.VIOLATED, Effect.NOT_MET: Outcome.NOT_MET}.get(
            effect, Outcome.VIOLATED if whole.seen.changed else Outcome.HOLDS)
        note = Told(self.found, name).sentence()
        if broken and (doubt := self._doubt(name, failure)):
            outcome, note = Outcome.UNKNOWN, f"{note}; {doubt}"
        file = Path("evidence") / file_of(failure) if failure is not None and failure.believed else None
        expected = Outcome.HOLDS if broken or outcome is Outcome.HOLDS else Outcome.VIOLATED
        return Verdict(
            name, COMPARE, self._subject(effect=str(effect)), expected, outcome,
            self._command() if file is None else replayed(self._folder / file),
            hazard=base.hazards(name) if outcome is Outcome.VIOLATED and not broken else (),
            cost=_cost(whole), evidence=None if file is None else str(file), seed=self._aim.seed, note=note,
        )

    def _claim(self, one: Other) -> Verdict:
        """The row of a property of decisions that small inputs show to be broken."""
        note = f"claims about decisions are false of {one.base:,} → {one.changed:,} of {one.of:,} small inputs"
        return Verdict(
            one.about, COMPARE, self._subject(effect=str(Effect.BROKEN)), Outcome.HOLDS, Outcome.VIOLATED,
            self._command(), seed=self._aim.seed, note=note,
            cost={"inputs": one.of, "base_violated": one.base, "changed_violated": one.changed})

    def given_up(self) -> bool:
        """Whether the change does not end, which each other pair would show as well, after seconds."""
        return is_given_up(self.found.endless)

    def answered(self) -> bool:
        """Whether something differs beyond doubt, and that is enough for whoever asks."""
        return self._aim.until_answer and any(map(self._beyond_doubt, self.found.names))

    def _beyond_doubt(self, name: str) -> bool:
        failure, effect = self._failure(name), self.found.effect(name)
        sure = (one.declared or one.p <= BEYOND_DOUBT for one in self.found.of(name) if one.effect is effect)
        return failure is not None and failure.believed is not None and any(sure)

    @property
    def left(self) -> Left:
        """What was not looked at; where a change does not end nothing else is worth telling."""
        if self.given_up():
            return Left((), 0, (), ())
        return Left.by(self._aim, self.found.lived, self.found.names, self.others.answered)

    def _not_looked_at(self, name: str) -> Verdict:
        note = "no run that it judges was lived through: give it more time"
        return Verdict(name, COMPARE, self._subject(effect=str(Effect.NOT_LOOKED_AT)), Outcome.HOLDS, Outcome.UNKNOWN,
                       self._command(), seed=self._aim.seed, note=note)

    def _failure(self, name: str) -> Failure | None:
        what = self._shown_by(name)
        return None if what is None else self._failures.get(what)

    def _doubt(self, name: str, failure: Failure | None) -> str:
        """Why it is not to be believed that a property is broken; empty if it is."""
        by_time = any(one.question.asking == HOW_LONG and one.effect is Effect.BROKEN for one in self.found.of(name))
        if by_time or (failure is not None and failure.believed):
            return ""
        return (failure.doubt if failure is not None else "") or "no tape was played again yet"

    def _doubted(self) -> dict[str, str]:
        """What seems broken and is not to be believed, or not yet, and why."""
        broken = (name for name in self.found.names if self.found.effect(name) is Effect.BROKEN)
        return {name: doubt for name in broken if (doubt := self._doubt(name, self._failure(name)))}

    def _change(self, rows: Iterable[Verdict]) -> Verdict:
        """The row that says what came of the change as a whole."""
        effects = {row.property: row for row in rows}
        broken = [name for name, row in effects.items() if row.subject.details["effect"] == Effect.BROKEN]
        believed = [name for name in broken if effects[name].outcome is Outcome.VIOLATED]
        outcome = Outcome.HOLDS
        if believed:
            outcome = Outcome.VIOLATED
        elif broken or self._failed or self.found.endless or self.found.talking or not self.found.pairs:
            outcome = Outcome.UNKNOWN
        elif not self.executed:
            outcome = Outcome.NEVER_EXECUTED
        elif self.said == TOO_FEW:
            outcome = Outcome.UNKNOWN
        unjudged = (self._failed + self.found.unknown)[:1] if outcome is Outcome.UNKNOWN else []
        note = "; ".join([self.headline(), *(() if self.given_up() else (*self.unsettled(), *unjudged))])
        return Verdict(
            WORSE, COMPARE, self._subject(said=self.said), Outcome.HOLDS, outcome, self._command(), seed=self._aim.seed,
            cost={"pairs": self.found.pairs, "same_digest": self.found.same_digest, "broken": len(broken),
                  "judged_alike": self.found.judged_alike, "unknown": len(self.found.unknown),
                  "cpu_seconds": round(self._cpu_us / 1e6, 3)}, note=note)

    @property
    def executed(self) -> bool:
        """Whether some run, or a claim about decisions, called what is replaced, or some run was another one."""
        found = self.found
        return bool(found.calls.total() or self.claimed) or found.same_digest < found.pairs

    @property
    def claimed(self) -> bool:
        """Whether claims about decisions were asked of what is replaced."""
        return any(one.judge == CLAIMED for one in self.others.found)

    @property
    def said(self) -> str:
        """What came of it, in a few words."""
        if not self.found.pairs:
            return "nothing was compared"
        if self.given_up():
            return f"it does not end: {self.found.unknown[0]}"
        if not self.executed:
            return "never executed"
        effects = {self.found.effect(name) for name in self.found.names}
        effects |= {Effect.BROKEN for one in self.others.found if one.worse}
        told = [str(one) for one in Effect if one in effects - {*QUIET}]
        told += ["talks without end"] if self.found.talking else []
        return " and ".join(told) or (NONE_SEEN if self.found.enough or self.claimed else TOO_FEW)

    def so_far(self) -> str:
        """What is seen of the change up to now."""
        return Told(self.found, "").so_far(self._doubted())

    def headline(self) -> str:
        """What came of it, in a sentence."""
        claims = [one.about for one in self.others.found if one.worse]
        return Told(self.found, "").headline(self.said, claims, self._doubted())

    def unsettled(self) -> list[str]:
        """What more time may settle: what is broken and not believed yet, and a difference that chance may explain."""
        doubted = [f"not believed yet that {name} is broken: {doubt}" for name, doubt in self._doubted().items()]
        apart = Told(self.found, "").most_apart() if self.said in {NONE_SEEN, TOO_FEW} else ""
        return doubted + ([f"{apart}; chance may explain it"] if apart else [])

    def _replacements(self) -> list[Replacement]:
        """What the change replaces, and what repairs do that it leaves out."""
        return [one for variant in subject_named(self._aim.changed).changes for one in variant.replacements]

    def _subject(self, **details: str) -> Subject:
        known = subject_named(self._aim.changed)
        return Subject("variant", known.title, {**details, "base": self._aim.base, "file": self._aim.file})

    def _command(self) -> str:
        return f"{self._aim.command()} {self._asked.options()} --out {shlex.quote(str(self._folder))}"

    def files(self) -> Mapping[str, str]:
        """What the page and other programs read, and a test to keep beside each piece of evidence."""
        replays = {name: replayed(self._folder / "evidence" / file_of(failure)) for name in self.found.names
                   if (failure := self._failure(name)) is not None and failure.believed}
        unsettled, left = self.unsettled(), list(self.left.sentences())
        document = {
            "base": self._aim.base, "change": subject_named(self._aim.changed).title, "file": self._aim.file,
            "said": self.said, "headline": self.headline(), **documented(self.found, replays),
            "left": left, "unsettled": unsettled,
            "goes_on": self._command() if unsettled or left or self.said == TOO_FEW else "",
            "others": [one.to_json() for one in self.others.found],
            "proofs": told_together(proofs(self._replacements()), Told(self.found, "").counts())}
        return {COMPARED: json.dumps(document, indent=1, ensure_ascii=False) + "\n", **tests(self._shown())}


def _cost(whole: Answer) -> dict[str, float]:
    seen = whole.seen
    return {"pairs": whole.of, "base_violated": seen.base, "changed_violated": seen.changed,
            "base_only": seen.base_only, "changed_only": seen.changed_only, "p": whole.p}


