"""A server and a client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.tape import ReplayTape
from stateful_tests.cover.simulation.calling import World, build


@pytest.fixture
def world() -> Iterator[World]:
    """One server and one client; nothing fails."""
    with Simulation(ReplayTape([])) as simulation:
        yield build(simulation)
