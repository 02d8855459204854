"""The stories of hazards, followed by everything that follows worlds: which declared property each of them breaks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from invariants.hazards import HAZARDS
from stateful_tests.cover.pictures.legible import flaws
from stateful_tests.cover.pictures.stored import stored
from stateful_tests.stories.pictures import drawn, stories_about, written
from stateful_tests.stories.telling import BREAKS, TOGETHER, TOLD_TWICE, Seen, looking_on, told_of, told_twice
from stateful_tests.worlds.subjects import DECLARED, subject_named


@pytest.mark.parametrize("hazard", sorted({hazard for hazards in BREAKS.values() for hazard in hazards.split()}))
def test_the_stories_of_a_hazard_break_its_properties_and_have_a_picture_for_strangers(hazard: str) -> None:
    told = list[Seen]()
    for story in stories_about(hazard):
        with looking_on() as worlds:
            story()
        told += worlds
    shown = drawn(hazard, told)
    assert shown is not None
    assert written(shown) == stored(hazard)
    assert [*flaws(shown)] == []
    broken = {seen.property for one in told for seen in one.judges.seen.values()}
    sentences = [seen.sentence for one in told for seen in one.judges.seen.values()]
    assert not any("the model has" in sentence for sentence in sentences)
    names = {name for name, hazards in BREAKS.items() if hazard in hazards.split()}
    assert names <= broken
    assert [wrong for name in sorted(names) for wrong in wrongly_told(hazard, name, told)] == []


def wrongly_told(hazard: str, name: str, worlds: Sequence[Seen]) -> list[tuple[str, ...]]:
    """What findings of a property show, if none of them shows the hazard, or only with others than go with it."""
    shown = [told for one in worlds for told in one.hazards(name)]
    with_it = {hazard, *TOGETHER.get(hazard, "").split()}
    is_declared = hazard in subject_named("shipped").hazards(name)
    told_right = any(hazard in told and {*told} <= with_it for told in shown)
    return [] if told_right or not is_declared else [(name,), *shown]


def test_the_story_of_every_hazard_is_judged_by_a_property() -> None:
    assert {hazard for hazard, _ in told_of()} == {hazard for hazards in BREAKS.values() for hazard in hazards.split()}
    assert {name for name in BREAKS if not name.startswith("refines_")} <= {*DECLARED}


@pytest.mark.parametrize(("hazard", "story"), dict.fromkeys((hazard, story) for hazard, story, _ in TOLD_TWICE))
def test_a_story_that_is_told_twice_breaks_its_properties_as_shipped_only(hazard: str, story: str) -> None:
    with looking_on() as worlds:
        told_twice(story)()
    if hazard not in {told for told, _ in told_of()}:
        shown = drawn(hazard, worlds)
        assert shown is not None
        assert written(shown) == stored(hazard)
        assert [*flaws(shown)] == []
    for name in (name for *same, name in TOLD_TWICE if same == [hazard, story]):
        assert [one.of(name) is not None for one in worlds] == [True, False]
        assert wrongly_told(hazard, name, worlds) == []


def test_what_goes_together_is_not_told_apart_in_some_story() -> None:
    assert {hazard for others in TOGETHER.values() for hazard in others.split()} <= {*HAZARDS}
