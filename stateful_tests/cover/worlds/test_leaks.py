"""What the rules of a run have made goes with the run: a campaign's worker lives through thousands of them."""

from __future__ import annotations

import gc
from collections import Counter

from invariants.rules.match import Bound, Match
from invariants.rules.rule import Kept
from stateful_tests.worlds.healing import watching
from stateful_tests.worlds.world import World


def watched() -> Counter[type]:
    """What there is of each class when a world has been watched, and is gone."""
    with World() as world:
        watching(world)
    del world
    gc.collect()
    return Counter(kind for one in gc.get_objects() if (kind := type(one)) in {Bound, Match, Kept})


def test_nothing_of_the_rules_of_a_run_stays_behind() -> None:
    first = watched()
    assert first[Match]
    assert watched() == first
