"""Which hazards a finding shows, of those that can break its property."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from invariants.finding import put_down_to
from invariants.rules.declared import RULES
from invariants.rules.excuse import Excuse


def causes_of(name: str) -> list[Excuse]:
    """What findings of a property are put down to: the causes that its rule declares, and those of ascriptions."""
    return [excuse for rule in RULES.values() if name in {rule.name, *rule.judges.split()}
            for excuse in rule.excuses if excuse.hazard]


@cache
def looked_for(name: str) -> frozenset[str]:
    """The hazards whose causes are looked for when a property is found to be broken."""
    return frozenset(one.hazard for one in causes_of(name))


def shown(hazards: Sequence[str], key: Sequence[str]) -> tuple[str, ...]:
    """Those whose cause was seen; where none was, those of which nobody can see a cause.

    hazards -- that can break the property. key -- property and signature of the finding.
    """
    seen = tuple(hazard for hazard in hazards if put_down_to(hazard) in key)
    return seen or tuple(hazard for hazard in hazards if hazard not in looked_for(key[0]))


def perhaps(hazards: Sequence[str], key: Sequence[str]) -> str:
    """The end of a note where the run does not say which one hazard it shows; else empty."""
    if not hazards:
        return ""
    told = shown(hazards, key)
    if not told:
        return f"; the run shows no cause of {_listed(hazards, 'nor')}"
    return "" if len(told) == 1 else f"; {_listed(told, 'or')}: the run does not tell them apart"


def _listed(hazards: Sequence[str], word: str) -> str:
    return f" {word} ".join(filter(None, (", ".join(hazards[:-1]), hazards[-1])))
