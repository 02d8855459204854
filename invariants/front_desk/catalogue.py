"""Everything that is promised, by name: protocol properties, decisions, strategies, and what judges say of themselves.

A name is that of a property, or of one claim about a decision (which belongs to the property that it is a part of).
What a model declares and a rule judges in runs is one entry: the hazards are those of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import invariants.decisions  # noqa: F401 - importing it declares the claims
from invariants import claim, exploring
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.allocation.shipped import SHIPPED
from invariants.claim import Claim
from invariants.concepts import PROPERTIES
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import RULE
from invariants.runs import CAMPAIGN, MACHINE, NO_MACHINE, OF_RUNS, judges_of, searched_by
from invariants.verdict import BadInputError, nearest
from model.language.expectation import Expectation
from model.language.properties import ALWAYS, LEMMA, STEP, Property
from model.scopes import SCOPES, NamedScope

DECISION, STRATEGY, HOUSE = "decision", "strategy", "house"
DECIDING = ("exhaust", "prove", "machine")  # the judges of claims about decisions

OWN: Mapping[str, tuple[str, str]] = {
    "state_space_is_pinned": ("explore", "A scope has the states, transitions and depth that are written down for it."),
    "well_defined": ("explore", "No action and no property subtracts below 0 or reads outside a table."),
    "never_stuck": ("explore", "In every state that a scope reaches something can happen."),
    "conforms_to_recordings": ("conform", "The implementation answers as the real RocketMQ 4.9.3 was recorded."),
}
"""What judges say of the models and the implementation as a whole: judge and sentence by property."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One property of the catalogue.

    kind -- always, step, sometimes, leads_to, lemma, rule, decision, strategy, or house (about the suite itself).
    home -- where it is declared. expected -- of RocketMQ as shipped: "holds", "violated" or, where that depends on the
    subject, "both". hazards -- that explain a violation. judges -- that apply, cheapest first.
    """

    name: str
    kind: str
    sentence: str
    home: str
    expected: str
    hazards: tuple[str, ...]
    judges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What names stand for, by what the judges take: all of it when no name was given.

    protocol, strategies, claims -- names of properties, of properties of strategies, and of claims. own -- of OWN.
    runs -- rules, what is said of runs as a whole, and what stands for properties that no machine judges.
    everything -- whether no name was given.
    """

    protocol: tuple[str, ...]
    strategies: tuple[str, ...]
    claims: tuple[str, ...]
    own: tuple[str, ...]
    runs: tuple[str, ...]
    everything: bool

    def scopes(self) -> list[NamedScope]:
        """Scopes that are searched: the light ones in which a property can be judged; all for the models as a whole."""
        light = exploring.scopes()
        if of_judge("explore", self.own):
            return light
        return [named for named in light if self.protocol and exploring.judged_in(named, self.protocol)]


def provable(declared: Property) -> bool:
    """Whether a proof without bounds is claimed: of what holds, or holds under premises."""
    claimed = declared.expected.outcome == "holds" or bool(declared.given)
    able = declared.kind in (ALWAYS, STEP, LEMMA) or declared.name in declared.concept.rankings
    return claimed and able and not declared.search_only


def scopes_of(declared: Property) -> list[NamedScope]:
    """The scopes, heavy ones included, in which a property is judged."""
    own = [named for named in SCOPES if named.scope.concept is declared.concept]
    return [named for named in own if exploring.judged_in(named, [declared.name])]


def claims_of(name: str) -> list[Claim]:
    """The claims about decisions that are, or make up, a property."""
    return [one for one in claim.CLAIMS.values() if name in (one.name, one.promises)]


def names() -> list[str]:
    """Every property: protocols concept by concept, rules, strategies, decisions, runs, and the suite itself."""
    decided = (one.promises for one in claim.CLAIMS.values())
    return list(dict.fromkeys([*PROPERTIES, *BY_NAME, *STRATEGY_CLAIMS, *decided, *OF_RUNS, *OWN]))


def entries(judged: Collection[str] = ()) -> list[Entry]:
    """The catalogue; judged -- protocol properties that are judged of runs of the implementation, too."""
    return [entry(name, judged) for name in names()]


def filtered(found: Sequence[Entry], words: Sequence[str]) -> list[Entry]:
    """The entries that have all these words; raises BadInputError when there is none."""
    kept = [one for one in found if all(_has(one, word) for word in words)]
    if not kept:
        hint = nearest(words[0], [one.name for one in found])
        raise BadInputError(f"nothing in the list has {' and '.join(map(repr, words))}; {hint}"
                            "`rocketproof list` has everything")
    return kept


def _has(one: Entry, word: str) -> bool:
    """Whether a word is a kind, judge, hazard or expected verdict of an entry, or stands in its texts."""
    whole = {one.kind, one.expected, *one.judges, *one.hazards}
    return word.lower() in {part.lower() for part in whole} or any(
        word.lower() in text.lower() for text in (one.name, one.sentence, one.home))


def entry(name: str, judged: Collection[str] = ()) -> Entry:
    """One entry; a claim has one of its own. Raises BadInputError for an unknown name, with the nearest ones."""
    known(name)
    if name in OWN:
        judge, sentence = OWN[name]
        return Entry(name, HOUSE, sentence, "the suite", "holds", (), (judge,))
    if name in OF_RUNS:
        sentence, judges, hazards = OF_RUNS[name]
        return Entry(name, HOUSE, sentence, "invariants.runs", "violated" if hazards else "holds", hazards, judges)
    if name in PROPERTIES:
        return _protocol(PROPERTIES[name], (MACHINE, CAMPAIGN) if name in judged or name in BY_NAME else ())
    if name in BY_NAME:
        rule = BY_NAME[name]
        return _entry(name, RULE, rule.sentence, rule.__module__, [rule.expected], judges_of(name))
    return _strategy(name) if name in STRATEGY_CLAIMS else _decision(name)


def _protocol(declared: Property, more: tuple[str, ...]) -> Entry:
    judges = (*["explore"] * bool(scopes_of(declared)), *["prove"] * provable(declared), *more)
    home = f"{declared.concept.module}.{declared.concept.name}"
    expected = [one.expected for one in (declared, BY_NAME.get(declared.name)) if one is not None]
    return _entry(declared.name, declared.kind, declared.sentence, home, expected, judges)


def _strategy(name: str) -> Entry:
    wanted = [one.expected[name] for one in SHIPPED if name in one.expected]
    judges = ("exhaust", *["prove"] * bool(claims_of(name)), "machine", "campaign", "check")
    return _entry(name, STRATEGY, STRATEGY_CLAIMS[name].sentence, "invariants.allocation", wanted, judges)


def _decision(name: str) -> Entry:
    own = claims_of(name)
    sentence = own[0].sentence if len(own) == 1 else f"{len(own)} claims: {', '.join(one.name for one in own)}."
    homes = dict.fromkeys(f"{f.__module__}.{f.__qualname__}" for one in own for f in one.subjects)
    return _entry(name, DECISION, sentence, ", ".join(homes), [one.expected for one in own], DECIDING)


def _entry(name: str, kind: str, sentence: str, home: str, expected: Sequence[Expectation], judges: tuple[str, ...],
           ) -> Entry:
    outcomes = {one.outcome for one in expected}
    hazards = tuple(dict.fromkeys(hazard for one in expected for hazard in one.hazards))
    return Entry(name, kind, sentence, home, outcomes.pop() if len(outcomes) == 1 else "both", hazards, judges)


def chosen(given: Sequence[str]) -> Chosen:
    """What to judge for these names; everything without names. Raises BadInputError for one that is none."""
    for name in given:
        known(name)
    wanted = given or [*names(), *claim.CLAIMS]
    runs = [name for name in (*BY_NAME, *OF_RUNS) if name in wanted]
    instead = {instead: None for name, (instead, _) in NO_MACHINE.items() if name in wanted}
    claims = [one for one in claim.CLAIMS.values()
              if one.name in wanted or one.promises in wanted or one.promises in instead]
    runs += [name for name in instead if name not in {one.promises for one in claims}]
    return Chosen(
        tuple(name for name in PROPERTIES if name in wanted),
        tuple(name for name in STRATEGY_CLAIMS if name in wanted),
        tuple(one.name for one in claims),
        tuple(name for name in OWN if name in wanted),
        tuple(dict.fromkeys(runs)),
        not given,
    )


def of_runs(name: str) -> str:
    """The command that judges a property of runs."""
    return searched_by(name, entry(name).judges)


def of_judge(judge: str, own: Iterable[str]) -> list[str]:
    """Those of OWN that a judge judges."""
    return [name for name in own if OWN[name][0] == judge]


def known(name: str) -> None:
    """Raise BadInputError, with the nearest names, unless it is a property or a claim."""
    every = [*names(), *claim.CLAIMS]
    if name not in every:
        raise BadInputError(f"no property is called {name!r}; {nearest(name, every)}`rocketproof list` names them all")
