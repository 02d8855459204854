"""The picture of a hazard: what its first story that breaks a property looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from invariants.hazards import HAZARDS
from invariants.pictures.picture import Picture, picture
from invariants.pictures.text import below, lines
from stateful_tests.stories.telling import BREAKS, TOLD_TWICE, Seen, Story, looking_on, told_of, told_twice


class Clearest(NamedTuple):
    """What shows a hazard best: a part of the name of its story, the property, and whether its last finding does."""

    story: str = ""
    property: str = ""
    last: bool = False


CLEAREST: Mapping[str, Clearest] = {
    "B-2": Clearest(property="table_is_one_members_set"),
    "B-11": Clearest("the_expiry_of_the_ghost", "connections_of_members_last"),
    "B-26": Clearest("a_text_that_does_not_compile", "filter_is_as_new_as_its_subscription", last=True),
    "L4": Clearest(property="filter_is_as_new_as_its_subscription", last=True),
    "U18": Clearest("subscribed_again", "topic_taken_again_is_pulled"),
    "D9": Clearest(property="held_queue_stays_locked"), "U3": Clearest(property="queue_is_not_left_alone"),
}
"""Hazards whose first story, property or finding shows something else, too."""


def picture_of(hazard: str) -> list[str]:
    """The lines of the picture of a hazard, told anew; empty if no story breaks one of its properties."""
    for story in stories_about(hazard):
        with looking_on() as worlds:
            story()
        if (shown := drawn(hazard, worlds)) is not None:
            return written(shown)
    return []


def stories_about(hazard: str) -> Iterator[Story]:
    """The stories of a hazard, the clearest first."""
    part = CLEAREST.get(hazard, Clearest()).story
    own = [story for known, story in told_of() if known == hazard]
    yield from sorted(own, key=lambda story: part not in story.__name__)
    twice = dict.fromkeys(name for known, name, _ in TOLD_TWICE if known == hazard)
    yield from map(told_twice, twice)


def drawn(hazard: str, worlds: Iterable[Seen]) -> Picture | None:
    """The picture of what a hazard breaks in these worlds, of the clearest property first; None: it breaks nothing."""
    names = [name for name, hazards in BREAKS.items() if hazard in hazards.split()]
    names += [name for known, _, name in TOLD_TWICE if known == hazard]
    clearest = CLEAREST.get(hazard, Clearest())
    for seen in worlds:
        for name in sorted(names, key=lambda name: name != clearest.property):
            found, kernel = seen.of(name, hazard, last=clearest.last), seen.world.simulation.kernel
            if found is not None and kernel.trail is not None:
                return picture(kernel.records, kernel.trail, found, HAZARDS[hazard].seen)
    return None


def written(shown: Picture) -> list[str]:
    """The lines of a picture with its claim."""
    return [*lines(shown.lifelines, shown.rows, shown.left_out), *below(shown.claim, shown.names)]
