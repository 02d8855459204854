"""Which models follow which world."""

from __future__ import annotations

from importlib import import_module

from invariants.concepts import CONCEPTS
from invariants.refinement.follower import Follower
from stateful_tests.worlds.workloads import Workload
from stateful_tests.worlds.world import World

_BY_CONCEPT = tuple(import_module(f"invariants.refinement.{concept.name}") for concept in CONCEPTS)


def followers(world: World, workload: Workload) -> list[Follower]:
    """All that apply, concept by concept: of the machines of a world, and of each group of its workload."""
    return [one for module in _BY_CONCEPT for one in module.followers(world, workload.groups, workload.scopes)]
