"""The follower that all rules share: it tells them what happens, in order, and asks them what is late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from invariants.finding import Finding, put_down_to
from invariants.refinement.follower import Record
from invariants.rules import observed
from invariants.rules.bounds import Bounds
from invariants.rules.excuse import Excuse, Sight
from invariants.rules.explaining import Reading, remember
from invariants.rules.facts import Facts
from invariants.rules.observed import Observation, Observed
from invariants.rules.past import Past
from invariants.rules.rule import RULES, Ascription, Duty, Hear, Promise, Rule, Told
from invariants.views import Views

LOOK_MS = 1_000
"""How often rules are asked what is late."""
LATE = "in time"
"""In the signature of what was not done in time."""


@dataclass(frozen=True, slots=True)
class Run:
    """What rules read: facts, folded from what was reported; views of the tables; what the world may hold up.

    past -- all that was reported.
    """

    facts: Facts
    views: Views
    bounds: Bounds
    past: Past = field(default_factory=Past)


class Watched:
    """A rule of a run, and what is seen of its excuses."""

    def __init__(self, rule: Rule) -> None:
        """Nothing has happened."""
        self.rule = rule
        about, bounds = tuple(type(rule).about.split()), rule.bounds
        self.excuses: list[tuple[Excuse, Sight | None]] = [
            (one, Sight(one, about, bounds) if one.when is None else None) for one in rule.excuses
        ]

    def folds(self) -> Iterator[tuple[type, Hear]]:
        """What keeps its tables, and what it remembers of excuses."""
        yield from chain.from_iterable(table.hears() for table in self.rule.tables())
        yield from chain.from_iterable(sight.hears() for _, sight in self.excuses if sight is not None)

    def causes(self, what: Told | Finding, about: tuple[Any, ...], since_ms: int) -> tuple[str, ...] | None:
        """The hazards that something is put down to; None if it is excused. what -- for those that are predicates."""
        hazards = [excuse.hazard for excuse, sight in self.excuses
                   if (excuse.holds(self.rule, what) if sight is None else sight.holds(about, since_ms))]
        return tuple(dict.fromkeys(hazards)) if all(hazards) else None

    def findings(self, told: Told, ms: int, event: Any, what: str = "") -> list[Finding]:
        """What to report of it; nothing if it is excused. what -- how its signature calls it, if not as usual."""
        causes = self.causes(told, told.about, ms if told.since_ms is None else told.since_ms)
        if causes is None or (self.rule.calm and not self.rule.views.calm()):
            return []
        what = what or (LATE if event is None else type(event).__name__)
        sentence = f"{self.rule.claim()} But {told.sentence}."
        signature = (self.rule.name, what, *map(put_down_to, causes))
        about = tuple(zip(type(self.rule).about.split(), told.about, strict=False))
        return [Finding(self.rule.name, event, sentence, signature, causes, ms, about, told.earlier)]


class Watch:
    """A Follower of all rules, or of some.

    properties -- what they judge. kept_ms -- property to how long after the healing its promise came true.
    """

    name = "rules"

    def __init__(
        self, views: Views, bounds: Bounds, rules: Iterable[type[Rule]] | None = None, *, explains: bool = False,
    ) -> None:
        """Watch from the first record on; rules -- None: all that are declared.

        explains -- findings name what they contradict, which takes time.
        """
        run = Run(Facts(), views, bounds)
        chosen = RULES.values() if rules is None else rules
        self._reading = Reading() if explains else None
        made = [one(run) for one in chosen]
        if self._reading is not None:
            for hearing in (run.facts, *made):
                remember(hearing, self._reading)
        self._watched = [Watched(one) for one in made]
        self._judging = [one for one in self._watched if not isinstance(one.rule, Ascription)]
        self._ascribing = defaultdict[str, list[Watched]](list)
        for one in self._watched:
            for name in one.rule.judges.split() if isinstance(one.rule, Ascription) else ():
                self._ascribing[name].append(one)
        self.properties = tuple(dict.fromkeys(one.rule.name for one in self._judging))
        self.kept_ms: dict[str, int] = {}
        self._hears = self._staged(run.facts)
        self._looks = [one for one in self._watched if type(one.rule).look not in (Rule.look, Duty.look)]
        self._duties = [(one, one.rule) for one in self._watched
                        if isinstance(one.rule, Duty) and one not in self._looks]
        self._promises = [(one, one.rule) for one in self._watched if isinstance(one.rule, Promise)]
        self._views, self._looked_ms = views, 0
        self._past = run.past.records

    @property
    def hears(self) -> Collection[type] | None:
        """See Follower: everything, if anything has to be done in time, or findings are put down to something."""
        return None if self._duties or self._looks or self._ascribing else self._hears.keys()

    def _staged(self, facts: Facts) -> dict[type, list[tuple[Hear, Watched | None]]]:
        """By class of event: rules that want the facts from before, what folds it, rules that want those from after."""
        hears: dict[type, list[tuple[Hear, Watched | None]]] = defaultdict(list)
        for one in self._watched:
            for kind, hear in one.rule.before():
                hears[kind].append((self._explaining(hear, one), one))
        for kind, fold in chain(*(table.hears() for table in facts.tables()), facts.before(),
                                *(one.folds() for one in self._watched)):
            hears[kind].append((self._explaining(fold), None))
        for one in self._watched:
            for kind, hear in one.rule.after():
                hears[kind].append((self._explaining(hear, one), one))
        return dict(hears)

    def _explaining(self, hear: Hear, who: Watched | None = None) -> Hear:
        """The same, but what is told names what it contradicts, if that is wanted."""
        if self._reading is None:
            return hear
        return self._reading.hearing(hear, () if who is None else tuple(type(who.rule).about.split()))

    def _explained(self, tells: Iterable[Told], who: Watched) -> Iterable[Told]:
        """What a look has shown, likewise."""
        if self._reading is None:
            return tells
        return self._reading.looking(tells, tuple(type(who.rule).about.split()))

    def segment(self, machine: str, records: Sequence[Record], *, whole: bool = False) -> list[Finding]:
        """See Follower."""
        del machine, whole
        found: list[Finding] = []
        past, hears = self._past, self._hears
        for record in records:
            ms, at, event = record
            past.append(record)
            for hear, who in hears.get(event.__class__, ()):
                tells = hear(ms, at, event)
                if tells is not None and who is not None:
                    for told in tells:  # no comprehension: mostly there is nothing
                        found += self._findings(who, told, ms, event)
        if records and records[-1][0] - self._looked_ms >= LOOK_MS:
            found += self.late(records[-1][0])
        return found

    def _findings(self, who: Watched, told: Told, ms: int, event: Any) -> list[Finding]:
        return [self.ascribed(one, ms) for one in who.findings(told, ms, event)]

    def late(self, now_ms: int) -> list[Finding]:
        """What has not been done in time, and what tables say that should not be."""
        self._looked_ms, calm = now_ms, self._views.calm()
        owed = [one for one, duty in self._duties if duty.owed]
        looks = [one for one in self._looks if calm or not one.rule.calm]  # once it is not calm it is so no more
        with self._views.standing_still():
            return [self.ascribed(found, now_ms) for one in (*owed, *looks)
                    for told in self._explained(one.rule.look(now_ms), one)
                    for found in one.findings(told, now_ms, None)]

    def promised(self, now_ms: int, healed_ms: int) -> list[Finding]:
        """Which promises are wrong although their time is over; call it again and again once the world has healed."""
        with self._views.standing_still():
            return list(self._broken(now_ms, healed_ms))

    def _broken(self, now_ms: int, healed_ms: int) -> Iterator[Finding]:
        for one, promise in self._promises:
            findings = [self.ascribed(finding, now_ms) for told in self._explained(promise.wrong(), one)
                        for finding in one.findings(told, now_ms, None)]
            if not findings:
                self.kept_ms.setdefault(promise.name, now_ms - healed_ms)
                continue
            self.kept_ms.pop(promise.name, None)
            if now_ms - healed_ms >= promise.limit_ms:
                yield from findings

    def observed(self, history: Sequence[Observation]) -> Iterator[Finding]:
        """What is wrong with what the clients of the world have observed, when its run is over."""
        watched = {one.rule.check: (one, one.rule) for one in self._watched if isinstance(one.rule, Observed)}
        with self._views.standing_still():
            for broken, position in observed.broken(history) if watched else ():
                if broken.check in watched:
                    who, rule = watched[broken.check]
                    told, last = rule.shows(broken), broken.operations[-1]
                    for found in who.findings(told, last.time_ms or 0, None, broken.check):
                        yield replace(self.ascribed(found, found.time_ms), machine=last.process, position=position)

    def ascribed(self, found: Finding, now_ms: int) -> Finding:
        """What was found now, with all hazards that it is put down to."""
        found = replace(found, time_ms=now_ms)
        more = [hazard for one in self._ascribing.get(found.property, ())
                for hazard in one.causes(found, (), now_ms) or () if hazard not in found.causes]
        causes = (*found.causes, *dict.fromkeys(more))
        signature = *found.signature, *map(put_down_to, dict.fromkeys(more))
        return replace(found, signature=signature, causes=causes)

    @property
    def last_promise_ms(self) -> int:
        """So long after the healing the last promise must be true, but for those that are, and stay so."""
        return max((promise.limit_ms for _, promise in self._promises
                    if not promise.lasts or promise.name not in self.kept_ms), default=0)


