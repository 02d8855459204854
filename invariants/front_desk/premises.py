"""What proofs without bounds rest on: the premises of each property in a few words, and what each premise says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from invariants.concepts import PROPERTIES
from invariants.front_desk.catalogue import provable
from model.language import Premise, Property

NEVER_PROVED = "–"


def under(declared: Property) -> str:
    """Whether a property is proved, and under which premises, by name; of liveness, with which fairness.

    "If and only if" stands before the premise whose negation breaks the property whatever the constants are, as long as
    the premises behind "given" are true.
    """
    if not provable(declared):
        return NEVER_PROVED
    needed = [run.premise for run in declared.concept.runs.values() if run.property == declared.name]
    others = [one for one in declared.given if one not in needed]
    others += [one for run in declared.concept.runs.values() if run.property == declared.name for one in run.where]
    names = ", ".join(dict.fromkeys(spoken(one) for one in others))
    if needed:
        return f"proved **if and only if** {', '.join(map(spoken, needed))}; given {names}"
    parts = [f"proved: {names}" if names else "proved"]
    parts += [f"{word} {', '.join(actions)}" for word, actions in (
        ("fair", declared.fair), ("strongly fair", declared.strongly_fair), ("until quiet", declared.until_quiet))
        if actions]
    return "; ".join(parts)


def spoken(premise: Premise) -> str:
    """The name of a premise as people write it: leases fit."""
    return premise.name.replace("_", " ")


def premises(properties: Iterable[Property]) -> dict[str, Premise]:
    """The premises of these properties, and what else "if and only if" rests on, by name."""
    found: dict[str, Premise] = {}
    for declared in properties:
        runs = [run for run in declared.concept.runs.values() if run.property == declared.name]
        for one in (*declared.given, *(premise for run in runs for premise in run.where)):
            found.setdefault(one.name, one)
    return dict(sorted(found.items()))


def legend(properties: Iterable[Property] = PROPERTIES.values()) -> Iterator[str]:
    """The premises of these properties as a table in Markdown: name and sentence."""
    yield "| premise | says |"
    yield "|---|---|"
    for one in premises(properties).values():
        yield f"| {spoken(one)} | {one.sentence} |"
