"""Every guard of the models says why it is one: what tests it, or which promise it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from invariants.front_desk.guards import ALL, grounded, promises
from model.language import TRUE, Action, Bool, Concept, State, action, require
from model.language.tracing import PROMISED, TESTED

METHOD = re.compile(r"[A-Z]\w+(\.[A-Z]\w+)*#[a-z]\w*(, ([A-Z]\w+(\.[A-Z]\w+)*)?#[a-z]\w*)*|"
                    r"[A-Z]\w+#\w+, [A-Z]\w+#\w+")
SYSTEM_CALL = re.compile(r"(bind|clock_gettime|connect|kill)\(2\)")


def silent(actions: Iterable[Action]) -> list[str]:
    """Guards that are tested nobody says where."""
    return [f"{one.name}: {formula}" for one in actions for ground, formula in grounded(one)
            if ground.kind == TESTED and not (METHOD.fullmatch(ground.by) or SYSTEM_CALL.fullmatch(ground.by))]


@pytest.mark.parametrize("concept", ALL.values(), ids=lambda concept: concept.name)
def test_every_guard_says_what_tests_it_or_which_promise_it_is(concept: Concept) -> None:
    assert silent(concept.actions.values()) == []
    promised = {ground.by for one in concept.actions.values() for ground in one.grounds if ground.kind == PROMISED}
    assert promised == {one.name for one in promises(concept)}
    assert all(len(one.sentence.split()) > 4 for one in promises(concept))


def test_the_guards_are_found_at_all() -> None:
    kinds = [ground.kind for concept in ALL.values() for one in concept.actions.values() for ground, _ in grounded(one)]
    assert kinds.count(TESTED) > 150
    assert kinds.count(PROMISED) > 20
    assert {"Rebalancing", "Registering", "Locking"} <= ALL.keys()


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

    assert silent(Silent.concept.actions.values()) == ["flip: ¬on", "press: ¬on"]
