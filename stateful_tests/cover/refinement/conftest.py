"""The watch of the tests of followers."""

from __future__ import annotations

from typing import Any

import pytest

from invariants.refinement.follower import ROUND, Follower, Following
from invariants.refinement.registration import Registrations
from invariants.refinement.route_info import RouteInfo
from invariants.refinement.subscription import Subscription
from stateful_tests.cover.refinement.watching import Watch
from stateful_tests.worlds.world import World


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Every world that is made from now on is watched; the last one counts."""
    watching, made = Watch(), World.__init__

    def init(world: World, *args: Any, **settings: Any) -> None:
        made(world, *args, **settings)
        world.simulation.kernel.monitor, world.simulation.kernel.show_every = watching, ROUND
        tables: list[Follower] = [Subscription(world), RouteInfo(world), Registrations(world)]
        watching.following, watching.findings = Following(tables), []

    monkeypatch.setattr(World, "__init__", init)
    return watching
