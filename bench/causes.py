"""How often a finding is put down to the right hazard, where the right one is known: one repair alone is left out.

For each hazard with a repair so many hunts are drawn on `repaired-HAZARD`: each workload once, under a fault profile
and a strategy that chance draws. Of what they find those findings count whose property several hazards break in 4.9.3
as shipped: there the row has to choose. A finding that may be of a hazard that nothing repairs is left out if the cause
of that one was seen. One JSON object a line:

    hazard      whose repair is left out
    findings    how many count
    right       how many name it, and no other hazard that this repair does not end
    among       how many name it and others
    wrong       how many do not name it
    as          property and names of those that are not right, with their number

and a last one with the sums.

    python -m bench.causes
    python -m bench.causes --hazard N-1 --hunts 1
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from impl.variants.catalogue import NO_REPAIR
from impl.variants.subjects import SHIPPED, repaired_without
from invariants.finding import Finding
from invariants.rules.telling_apart import looked_for, shown
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES
from stateful_tests.worlds.run import Plan, run
from stateful_tests.worlds.subjects import DECLARED, subject_named
from stateful_tests.worlds.workloads import WORKLOADS

Told = tuple[str, tuple[str, ...]]
"""A property, and the hazards that its row names."""


def candidates() -> list[str]:
    """Hazards with a repair that break a property which others break, too."""
    shipped = subject_named(SHIPPED)
    shared = {hazard for name in DECLARED if len(hazards := shipped.hazards(name)) > 1 and looked_for(name)
              for hazard in hazards}
    return sorted(shared - {*NO_REPAIR})


def lived_through(subject: str, hunts: int, seed: int) -> Iterator[Finding]:
    """What runs find: so many hunts of each workload once, under profiles and strategies that chance draws."""
    draw = random.Random(seed)  # noqa: S311 - anybody can draw the same
    for number in range(hunts):
        for workload in WORKLOADS:
            plan = Plan(subject, workload, draw.choice(list(PROFILES)), draw.choice(list(STRATEGIES)))
            yield from run(plan, STRATEGIES[plan.strategy](seed + number)).seen


def named(hazard: str, hunts: int, seed: int) -> Iterator[Told]:
    """What the findings name that are of this hazard."""
    shipped, subject = subject_named(SHIPPED), subject_named(repaired_without([hazard]))
    for found in lived_through(subject.name, hunts, seed):
        own, of_shipped = subject.hazards(found.property), shipped.hazards(found.property)
        of_others = {*found.causes} & {*own} - {hazard}
        if hazard in own and len(of_shipped) > 1 and not of_others:
            yield found.property, shown(of_shipped, found.key)


def counted(hazard: str, told: Sequence[Told]) -> dict[str, Any]:
    """The line of a hazard."""
    here = subject_named(repaired_without([hazard])).opened
    right = sum(hazard in names and here.issuperset(names) for _, names in told)
    among = sum(hazard in names for _, names in told) - right
    missed = Counter(f"{name}: {', '.join(names) or 'none'}" for name, names in told
                     if hazard not in names or not here.issuperset(names))
    return {"hazard": hazard, "findings": len(told), "right": right, "among": among,
            "wrong": len(told) - right - among, "as": dict(missed.most_common())}


def main(
    hazards: Annotated[list[str] | None, typer.Option("--hazard", help="Only these; may be repeated.")] = None,
    hunts: Annotated[int, typer.Option(help="So many hunts of each hazard.")] = 2,
    seed: Annotated[int, typer.Option(help="Which runs are drawn.")] = 0,
) -> None:
    """How often findings name the hazard whose repair is left out, one JSON object a line."""
    lines = []
    for hazard in hazards or candidates():
        lines.append(counted(hazard, [*named(hazard, hunts, seed)]))
        print(json.dumps(lines[-1]), flush=True)
    sums = {name: sum(line[name] for line in lines) for name in ("findings", "right", "among", "wrong")}
    print(json.dumps({"hazards": sum(bool(line["findings"]) for line in lines), **sums}))


if __name__ == "__main__":
    typer.run(main)
