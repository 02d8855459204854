"""Every guard of the models says why it is one: what tests it, or which promise it is."""

from __future__ import annotations

import re

import pytest

from invariants.concepts import CONCEPTS
from invariants.front_desk.guards import ALL, grounded, other_case, promises
from model.language import TRUE, Bool, Concept, State, action, require
from model.language.tracing import PROMISED, TESTED
from model.scopes import SCOPES

METHOD = re.compile(r"[A-Z]\w+(\.[A-Z]\w+)*#[a-z]\w*(, ([A-Z]\w+(\.[A-Z]\w+)*)?#[a-z]\w*)*|"
                    r"[A-Z]\w+#\w+, [A-Z]\w+#\w+")
SYSTEM_CALL = re.compile(r"(bind|clock_gettime|connect|fsync|kill|read)\(2\)")


def silent(concept: Concept) -> list[str]:
    """Guards that are tested nobody says where, and that tell no two cases of one step apart."""
    return [f"{one.name}: {formula}" for one in concept.actions.values() for ground, formula in grounded(one)
            if ground.kind == TESTED and not (METHOD.fullmatch(ground.by) or SYSTEM_CALL.fullmatch(ground.by))
            and not other_case(concept, one, formula)]


@pytest.mark.parametrize("concept", ALL.values(), ids=lambda concept: concept.name)
def test_every_guard_says_what_tests_it_or_which_promise_it_is(concept: Concept) -> None:
    assert silent(concept) == []
    promised = {ground.by for one in concept.actions.values() for ground in one.grounds if ground.kind == PROMISED}
    assert promised == {one.name for one in promises(concept)}
    assert all(len(one.sentence.split()) > 4 for one in promises(concept))


def test_the_guards_are_found_at_all() -> None:
    kinds = [ground.kind for concept in ALL.values() for one in concept.actions.values() for ground, _ in grounded(one)]
    assert kinds.count(TESTED) > 150
    assert kinds.count(PROMISED) > 20
    assert ALL.keys() == {named.scope.concept.name for named in SCOPES}
    assert {one.home for one in ALL.values()} == {one.name for one in CONCEPTS}


def test_a_guard_that_says_nothing_is_noticed() -> None:
    class Silent(State):
        on: Bool

    @action("Switch#flip")
    def flip(s: Silent) -> None:
        require(~s.on)
        s.on = TRUE

    @action("Switch#press")
    def press(s: Silent) -> None:
        require(~s.on, by="the deployment, somehow")
        s.on = TRUE

    assert silent(Silent.concept) == ["flip: ¬on", "press: ¬on"]


def test_another_step_is_no_other_case() -> None:
    class Cases(State):
        on: Bool
        dark: Bool

    @action("Switch#flip")
    def flip(s: Cases) -> None:
        require(~s.dark)
        s.on = TRUE

    @action("Switch#flip")
    def darken(s: Cases) -> None:
        require(s.dark)
        s.dark = TRUE

    @action("Switch#press")
    def press(s: Cases) -> None:
        require(s.dark)
        s.on = TRUE

    assert silent(Cases.concept) == ["flip: ¬dark", "darken: dark", "press: dark"]

    @action("Switch#flip")
    def grope(s: Cases) -> None:
        require(s.dark)
        s.on = TRUE

    assert silent(Cases.concept) == ["darken: dark", "press: dark"], "to flip is one step in two cases"
