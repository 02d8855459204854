"""One property as people read it: claim, premises, formula, judges, verdict, hazards, actions. Or one hazard."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from invariants.allocation.shipped import SHIPPED
from invariants.claim import CLAIMS
from invariants.concepts import PROPERTIES
from invariants.front_desk.catalogue import HOUSE, Entry, claims_of, entries, entry, names, of_runs, scopes_of
from invariants.front_desk.search import search
from invariants.hazards import HAZARDS, SYMPTOMS, Hazard
from invariants.histories.checks import PROMISES
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import Rule
from invariants.rules.telling_apart import causes_of
from invariants.runs import NO_MACHINE, OF_RUNS
from invariants.verdict import BadInputError, nearest
from model.language import Expectation, Property, text

WIDTH = 110
_JUDGED_BY = {
    "explore": "all reachable states of {scopes}",
    "prove": "for any number of elements and any timing within the premises, in Z3",
    "exhaust": "all small inputs, smallest first",
    "machine": "random inputs, shrunk by Hypothesis",
    "campaign": "every size up to 64 queues x 24 members, then random ones, on Spark",
    "check": "your own strategy: rocketproof check allocation",
    "conform": "the answers recorded from RocketMQ 4.9.3, row by row",
}
_OF_RUNS = {
    "machine": "programs of deeds and faults that Hypothesis writes and shortens",
    "campaign": "simulated worlds, by seed, in which people work and things fail",
    "compare": "the same worlds, lived through with a change and without it",
    "kill-matrix": "hunts for planted bugs, and the control without one",
}


def listed(entries: Iterable[Entry]) -> Iterator[str]:
    """The catalogue: a heading for each home, then a line for each property: name, kind, judges, expected verdict."""
    home = ""
    for one in entries:
        if _room(one) != home:
            home = _room(one)
            yield f"\n{home}"
        expected = f"{one.expected}: {', '.join(one.hazards)}" if one.hazards else one.expected
        yield f"  {one.name:40} {one.kind:10} {', '.join(one.judges):32} {expected}".rstrip()


def _room(one: Entry) -> str:
    return "impl.decisions" if one.kind == "decision" else one.home


def shown(name: str, judged: Collection[str] = ()) -> Iterator[str]:
    """All that is known of a property or a claim, line by line; raises BadInputError for an unknown name.

    judged -- the properties that machines and campaigns judge of runs.
    """
    one = entry(name, judged)
    yield from (one.name, *_folded(one.sentence, "  "), "")
    yield f"kind      {one.kind}"
    yield f"declared  {one.home}"
    if name in PROPERTIES:
        yield from _of_protocol(PROPERTIES[name])
    if name in BY_NAME:
        yield from _of_rule(BY_NAME[name])
    if name in PROPERTIES or name in BY_NAME:
        yield from _causes(name)
    elif one.kind != HOUSE:
        yield from _of_strategies(name)
    yield from _judges(one)
    yield from _hazards(one)
    if name in PROPERTIES:
        yield from _actions(PROPERTIES[name])
    if one.kind != HOUSE and name not in BY_NAME:
        yield from _of_claims(name)
    yield from ("", f"judge it  rocketproof verify {name}")
    if name in BY_NAME or name in OF_RUNS:
        yield f"search    rocketproof {of_runs(name)}"


@dataclass(frozen=True, slots=True)
class Outside:
    """What the implementation and the tests know of a hazard.

    repairs -- their names, with their sentences. unrepaired -- why there is none. broken -- properties of stores that
    it breaks, with their sentences. stories -- commands that tell it. picture -- makes the lines of the picture of a
    story; none if no story breaks a property.
    """

    repairs: Mapping[str, str]
    unrepaired: str
    broken: Mapping[str, str]
    stories: Sequence[str]
    picture: Callable[[], Sequence[str]]


def called(name: str) -> str:
    """What has this name, upper and lower case apart; raises BadInputError, with the nearest names, for nothing."""
    every = [*HAZARDS, *SYMPTOMS, *PROMISES, *names(), *CLAIMS]
    alike = [one for one in every if one.lower() == name.lower()]
    if name in alike or len(alike) == 1:
        return name if name in alike else alike[0]
    raise BadInputError(f"nothing is called {name!r}; {nearest(name, every)}`rocketproof list` names the properties, "
                        f"`{shlex.join(['rocketproof', 'search', name])}` finds hazards by what you see")


NOT_KNOWN = "not known"
PICTURE = "picture   of a story in which it happens: ① then, ✗ what is broken there, × killed or stands still"


def shown_hazard(hazard: Hazard, outside: Outside, judged: Collection[str] = ()) -> Iterator[str]:
    """All that is known of a hazard, line by line; what is not known is said to be so.

    judged -- the properties that machines and campaigns judge of runs.
    """
    broken = {one.name: one.sentence for one in entries(judged) if hazard.name in one.hazards} | {**outside.broken}
    yield from (f"{hazard.name}  {hazard.group}", *_folded(hazard.sentence, "  "), "")
    yield from _field("seen", f"{', '.join(hazard.symptoms)}: {hazard.told}" if hazard.seen else NOT_KNOWN)
    yield from _field("trigger", hazard.trigger or NOT_KNOWN)
    yield from _field("code", hazard.cite)
    for line in hazard.logs:
        yield from _field("log", line)
    yield from _field("helps", hazard.mitigation or NOT_KNOWN)
    yield from _field("upstream", hazard.reports or NOT_KNOWN)
    yield from _field("fixed", hazard.fixed or NOT_KNOWN)
    for name, sentence in outside.repairs.items():
        yield from _field("repair", f"{name}: {sentence}")
    if outside.unrepaired:
        yield from _field("repair", f"none: {outside.unrepaired}")
    yield from ("", "breaks")
    for name, sentence in broken.items():
        yield from _folded(f"{name}: {sentence}", "  ", "    ")
    if not broken:
        yield "  no property names it"
    if hazard.no_machine:
        yield from ("", *_field("machine", f"none: {hazard.no_machine}"))
    if picture := outside.picture():
        yield from ("", PICTURE, *picture)
    yield from ("", "story" if outside.stories else f"story     {NOT_KNOWN}", *(f"  {one}" for one in outside.stories))


def shown_symptom(name: str) -> Iterator[str]:
    """What users see, and the hazards that may be behind it, each with what helps."""
    yield from (f"{name}  a symptom", *_folded(SYMPTOMS[name], "  "))
    for hazard in HAZARDS.values():
        if name in hazard.symptoms:
            yield from ("", *_folded(f"{hazard.name}  {hazard.sentence}", "", "  "))
            yield from _folded(f"helps: {hazard.mitigation or NOT_KNOWN}", "  ", "  ")
    yield from ("", "rocketproof show HAZARD says all of one; rocketproof search WORDS finds those that fit best")


def shown_of_histories(name: str) -> Iterator[str]:
    """A promise that the histories of clients are judged by, and what may break it."""
    check = PROMISES[name]
    said = check.name.replace("_", " ")
    hazards = [hit.name for hit in search(said) if hit.kind == "hazard"]
    yield from (name, *_folded(check.sentence, "  "), "")
    yield "kind      of histories: what clients observe"
    yield from _field("promised", f"by {check.source}")
    yield from _field("needs", check.needs)
    yield from _field("hazards", f"{', '.join(hazards)} and more: rocketproof search {said}" if hazards else NOT_KNOWN)
    if name in BY_NAME:
        yield from _of_worlds(name)
    yield from ("", "judge it  rocketproof judge history.jsonl",
                f"try it    rocketproof history --operations 1000 --fault {check.name} --out history.jsonl")
    if name in BY_NAME:
        yield f"search    rocketproof {of_runs(name)}"


def _of_worlds(name: str) -> Iterator[str]:
    """What is said of the histories of simulated worlds."""
    yield from ("", f"in worlds of 4.9.3 as shipped: {_expected(BY_NAME[name].expected)}")
    yield from _silent(BY_NAME[name])
    yield from _causes(name)
    yield from _hazards(entry(name))


def _field(name: str, value: str) -> list[str]:
    return _folded(value, f"{name:9} ", " " * 10)


# Protocols ------------------------------------------------------------------------------------------------------------


def _of_protocol(declared: Property) -> Iterator[str]:
    if declared.promised_by:
        yield f"promised  by {declared.promised_by}"
    under = "; holds under the premises" if declared.given and declared.expected.hazards else ""
    yield f"expected  {_expected(declared.expected)}{under}"
    for premise in declared.given:
        yield f"premise   {premise.name}: {premise.sentence}"
        yield f"          {text.assumption(premise)}"
    for what, named in (("fair", declared.fair), ("strongly fair", declared.strongly_fair),
                        ("until quiet", declared.until_quiet)):
        if named:
            yield f"{what:9} {', '.join(named)}"
    yield from ("", "formula", *_folded(text.claim(declared), "  "))
    if (ranked := declared.concept.rankings.get(declared.name)) is not None:
        yield from ("", f"because   {ranked.sentence}")
        for line in text.ranking(ranked, declared.parameters):
            yield from _folded(line, "  ", "            ")
    if declared.broken_by:
        yield from ("", "must fail with", *(f"  {mutation}" for mutation in declared.broken_by))


def _of_rule(declared: type[Rule]) -> Iterator[str]:
    if declared.judges:
        yield from ("", *_folded(f"of runs   {declared.sentence}", "", " " * 10))
    yield f"promised  by {declared.cite}"
    yield f"expected  {_expected(declared.expected)}"
    yield f"about     {', '.join(declared.about.split())} (at: the machine that reports)"
    yield from _silent(declared)


def _silent(declared: type[Rule]) -> Iterator[str]:
    """When nothing is told."""
    if excuses := [one for one in declared.excuses if not one.hazard]:
        yield from ("", "does not speak where")
        yield from (line for one in excuses for line in _folded(one.sentence, "  ", "    "))


def _causes(name: str) -> Iterator[str]:
    """What findings of a property are put down to."""
    if causes := causes_of(name):
        yield from ("", "puts down what it finds to")
        yield from (line for one in causes for line in _folded(f"{one.hazard}, where {one.sentence}", "  ", "    "))


def _actions(declared: Property) -> Iterator[str]:
    yield from ("", f"actions of {declared.concept.name}")
    for action in declared.concept.actions.values():
        yield from (f"  {part}" for part in text.action(action).splitlines())


# Decisions and strategies ---------------------------------------------------------------------------------------------


def _of_strategies(name: str) -> Iterator[str]:
    rows = [one for one in SHIPPED if name in one.expected]
    if rows:
        yield from ("", "strategies as shipped")
    for one in rows:
        subject = ", ".join(part for part in (one.name, one.inputs.name, one.note) if part)
        yield f"  {subject:72} {_expected(one.expected[name])}"


def _of_claims(name: str) -> Iterator[str]:
    for one in claims_of(name):
        yield from ("", f"claim {one.name}: {_expected(one.expected)}", "")
        yield from (f"  {part}" for part in textwrap.dedent(one.text()).splitlines())


# Judges and hazards ---------------------------------------------------------------------------------------------------


def _judges(one: Entry) -> Iterator[str]:
    yield from ("", "judges")
    said = _JUDGED_BY | (_OF_RUNS if one.name in {*PROPERTIES, *BY_NAME, *OF_RUNS} else {})
    for judge in one.judges:
        yield from _folded(said[judge].format(scopes=_scopes(one)), f"  {judge:8}  ", " " * 12)
    if not one.judges:
        yield "  none: it supports proofs only"
    if one.name in NO_MACHINE:
        instead, why = NO_MACHINE[one.name]
        yield from _folded(f"no machine: {why}: see {instead}", "  machine   ", " " * 12)


def _scopes(one: Entry) -> str:
    if one.name not in PROPERTIES:
        return "each named scope"
    found = [named.name for named in scopes_of(PROPERTIES[one.name])]
    return f"{len(found)} scope{'s' * (len(found) != 1)}: {'; '.join(found)}"


def _hazards(one: Entry) -> Iterator[str]:
    if one.hazards:
        yield from ("", "hazards of RocketMQ 4.9.3 that break it")
    for name in one.hazards:
        yield from _folded(f"{HAZARDS[name].sentence} ({HAZARDS[name].cite})", f"  {name:6}", " " * 8)


def _expected(wanted: Expectation) -> str:
    if wanted.outcome == "holds":
        return "holds" + (f" {wanted.remark}" if wanted.remark else "")
    return f"violated: {', '.join(wanted.hazards)}"


def _folded(sentence: str, first: str, later: str | None = None) -> list[str]:
    return textwrap.wrap(sentence, WIDTH, initial_indent=first, subsequent_indent=first if later is None else later,
                         break_long_words=False, break_on_hyphens=False)
