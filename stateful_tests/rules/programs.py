"""Programs in which rules see a planted bug that no drawn run is known to show, and the control is silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stateful_tests.stories import test_stores as stores
from stateful_tests.stories.telling import looking_on
from stateful_tests.worlds.producers import SEND_EVERY_MS, Sending
from stateful_tests.worlds.script import PAUSING
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.world import World

MINUTE_MS = 60_000


def a_full_disk_takes_no_unit_for_a_while() -> None:
    """The dispatcher meets an error, and goes on when there is space."""
    with World() as world:
        stores.begin(world)
        stores.produce(world, 1)
        world.simulation.fill_disk(stores.BROKER, 100)
        world.add_producer(stores.PRODUCER, Sending("orders", queues=2))
        world.run(2 * SEND_EVERY_MS + 100)
        world.simulation.fill_disk(stores.BROKER, 0)
        world.run(MINUTE_MS // 2)


def no_force_succeeds() -> None:
    """A message is put meanwhile, behind one that the disk has."""
    with World() as world:
        stores.begin(world)
        stores.produce(world, 1)
        world.simulation.kernel.profile = replace(PAUSING, force_fails=1)
        world.script.draw("a force of store/commitlog", 2)
        stores.produce(world, 1)
        world.simulation.kernel.profile = PAUSING


def no_broker_answers() -> None:
    """The only broker hears a producer, which does not hear the broker for a while."""
    with World() as world:
        stores.begin(world)
        world.add_producer(stores.PRODUCER, Sending("orders"))
        world.run(10 * SEND_EVERY_MS)
        world.simulation.network.partition(stores.BROKER, stores.PRODUCER)
        world.run(MINUTE_MS // 2)


def seen(subject: str, program: Callable[[], None]) -> set[str]:
    """What is seen of a program, and has no hazard of the control."""
    control = subject_named("repaired")
    with subject_named(subject).running(), looking_on() as worlds:
        program()
    return {one.property for world in worlds for one in world.judges.seen.values() if not control.explains(one.key)}


PROGRAMS: tuple[tuple[str, str, Callable[[], None]], ...] = (
    ("seeded-retries-begin-anew", "send_is_over_in_its_time", no_broker_answers),
    ("st-reput-thread-dies", "no_record_is_missed", a_full_disk_takes_no_unit_for_a_while),
    ("fl-timeout-is-ok", "acknowledged_is_on_the_disk", no_force_succeeds),
    ("fl-error-swallowed", "acknowledged_is_on_the_disk", no_force_succeeds),
)
