"""The judge `story`: verdict rows from stories that are told again, their evidence, and its replay."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from impl.variants.subjects import SHIPPED
from invariants import evidence
from invariants.finding import Finding
from invariants.runs import STORY, further
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.stories.telling import Seen, Story, has_story, looking_on, stories_of
from stateful_tests.worlds.evidence import pictured

EXTRA = "pip install 'rocketproof[test]'"


def verdicts(names: Collection[str], out: Path | None = None) -> Iterator[Verdict]:
    """A verdict on RocketMQ as shipped for each of these properties that has a story: the first one that shows it.

    out -- folder for evidence.
    """
    return (_verdict(name, out) for name in names if has_story(name))


def _verdict(name: str, out: Path | None) -> Verdict:
    started, told = time.process_time(), list[str]()
    row = Verdict(name, STORY, Subject("variant", SHIPPED), Outcome.VIOLATED, Outcome.HOLDS,
                  f"rocketproof verify {name}")
    try:
        for hazard, story in stories_of(name):
            told.append(story.__name__)
            if (shows := _shows(story, name, hazard)) is not None:
                spent = round(time.process_time() - started, 1)
                return _broken(replace(row, hazard=(hazard,), cost={"cpu_seconds": spent}), story, *shows, out)
    except ModuleNotFoundError as error:
        return replace(row, outcome=Outcome.UNKNOWN, note=f"its story needs {error.name}: {EXTRA}")
    return replace(row, note=f"{', '.join(told)} does not break it{further(name)}")


def _shows(story: Story, name: str, hazard: str) -> tuple[Seen, Finding] | None:
    """The first world of a story of a hazard in which a property is broken, and how."""
    with looking_on() as worlds:
        story()
    return next(((seen, found) for seen in worlds if (found := seen.of(name, hazard)) is not None), None)


def _broken(row: Verdict, story: Story, seen: Seen, found: Finding, out: Path | None) -> Verdict:
    """The row of a story that breaks a property; its evidence is written below out."""
    simulation = seen.world.simulation
    note = f"{story.__name__}: {found.sentence}{further(row.property)}"
    row = replace(row, outcome=Outcome.VIOLATED, note=note, cost={"segments": simulation.kernel.segments, **row.cost})
    if out is None:
        return row
    document = evidence.document(
        row, "run", found.sentence, story=story.__name__, digest=simulation.digest(), time_ms=found.time_ms, told=[],
        choices=list(simulation.kernel.tape.choices), signature=list(found.key),
        plan={"subject": SHIPPED, "workload": "a story", "profile": story.__name__, "strategy": STORY},
        picture=pictured(seen.world, found, SHIPPED))
    return evidence.saved(row, document, out, f"{STORY}-{row.property}")


def replay_story(stored: Mapping[str, Any]) -> Verdict:
    """Tell the story of a document again: violated if it breaks the property as it did.

    Raises BadInputError for a story that is none.
    """
    name = str(stored["property"])
    hazard, story = next(
        (one for one in stories_of(name) if one[1].__name__ == stored["story"]), ("", None))
    if story is None:
        raise BadInputError(f"no story of {name} is called {stored['story']!r} any more; verify it again")
    row = Verdict(name, STORY, Subject(**stored["subject"]), Outcome.VIOLATED, Outcome.HOLDS, str(stored["replay"]))
    shows = _shows(story, name, hazard)
    if shows is None:
        return replace(row, note="the story does not break it any more")
    same = shows[0].world.simulation.digest() == stored["digest"]
    said = "digest as stored" if same else "another digest: the code has changed"
    return replace(row, outcome=Outcome.VIOLATED, note=f"{shows[1].sentence} ({said})")
