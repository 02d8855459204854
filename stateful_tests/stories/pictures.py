"""The picture of a hazard: what its first story that breaks a property looks like."""

from __future__ import annotations

from collections.abc import Iterable

from invariants.pictures.picture import Picture, picture
from invariants.pictures.text import below, lines
from stateful_tests.stories.telling import BREAKS, TOLD_TWICE, Seen, Story, looking_on, told_of, told_twice


def picture_of(hazard: str) -> list[str]:
    """The lines of the picture of a hazard, told anew; empty if no story breaks one of its properties."""
    for known, story in told_of():
        if known == hazard and (shown := _told(hazard, story)):
            return shown
    twice = dict.fromkeys(name for known, name, _ in TOLD_TWICE if known == hazard)
    return next((shown for name in twice if (shown := _told(hazard, told_twice(name)))), [])


def _told(hazard: str, story: Story) -> list[str]:
    with looking_on() as worlds:
        story()
    shown = drawn(hazard, worlds)
    return [] if shown is None else written(shown)


def drawn(hazard: str, worlds: Iterable[Seen]) -> Picture | None:
    """The picture of what a hazard breaks first in these worlds; None if it breaks nothing."""
    names = [name for name, hazards in BREAKS.items() if hazard in hazards.split()]
    names += [name for known, _, name in TOLD_TWICE if known == hazard]
    for seen in worlds:
        for name in names:
            found, kernel = seen.of(name, hazard), seen.world.simulation.kernel
            if found is not None and kernel.trail is not None:
                return picture(kernel.records, kernel.trail, found)
    return None


def written(shown: Picture) -> list[str]:
    """The lines of a picture with its claim."""
    return [*lines(shown.lifelines, shown.rows, shown.left_out), *below(shown.claim)]
