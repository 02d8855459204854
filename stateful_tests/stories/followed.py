"""Worlds and stories in which a group is followed by its models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from impl.hosts.simulation.kernel import Record
from impl.hosts.simulation.process import Process
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import RandomTape
from invariants.finding import Finding
from invariants.refinement.consumer_group import ConsumerGroup
from invariants.refinement.follower import ROUND, Following as Shown
from invariants.refinement.order_lock import OrderLocks
from stateful_tests.stories.storm import GROUP, TOPIC, group_world
from stateful_tests.worlds.world import World


class Following:
    """A monitor of the kernel: shows segments to the followers that they concern; found -- true time and finding."""

    def __init__(self) -> None:
        """Follow nobody yet."""
        self.shown = Shown()
        self.records: list[Record] = []
        self.found: list[tuple[int, Finding]] = []

    def follow(self, world: World, group: str = GROUP, topic: str = TOPIC) -> None:
        """Follow a group of a world, and its locks."""
        self.group, self.locks = ConsumerGroup(world, group, topic), OrderLocks(world, group)
        self.shown = Shown((self.group, self.locks))
        world.simulation.kernel.show_every = ROUND

    def __call__(self, process: Process, records: Sequence[Record], due: bool) -> None:
        """See Monitor."""
        self.records += records
        if self.shown.followers:
            records, self.records = self.records, []
            followers = self.shown.followers if due else self.shown.concerned(records)
            self.found += [(process.kernel.now_ms, finding) for follower in followers
                           for finding in follower.segment(process.name, records, whole=due)]

    def names(self) -> Counter[str]:
        """How often each property was found to be broken."""
        return Counter(finding.property for _, finding in self.found)

    def diverges(self, since_ms: int = 0) -> list[str]:
        """Where the implementation did what is no step of the model."""
        return [finding.sentence for ms, finding in self.found
                if finding.property.startswith("refines") and ms >= since_ms]


@contextmanager
def followed(seed: int, profile: FaultProfile = CALM, *, orderly: bool = False) -> Iterator[tuple[World, Following]]:
    """The group of `storm.py`, followed from its start."""
    following = Following()
    with group_world(RandomTape(seed), profile, following, orderly=orderly) as world:
        following.follow(world)
        yield world, following


def lived(seed: int, profile: FaultProfile = CALM, *, orderly: bool = False) -> Following:
    """A storm of two minutes, and 40 s after it."""
    with followed(seed, profile, orderly=orderly) as (world, following):
        world.strike()
        world.run(120_000)
        world.heal()
        world.run(40_000)
    return following


def told(story: Callable[[], None]) -> Following:
    """Tell a story, followed from its first segment on."""
    following = Following()

    def enter(world: World) -> World:
        world.simulation.kernel.monitor = following
        following.follow(world)
        return world

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(World, "__enter__", enter)
        story()
    return following
