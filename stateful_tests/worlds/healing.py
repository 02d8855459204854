"""Behind the healing of a world: what is promised must be true at its deadline, and stay true to the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from invariants.finding import Finding
from invariants.rules import group_tables, membership, producers, promises, routes, server_files, subscriptions
from invariants.rules.bounds import Bounds
from invariants.rules.rule import RULES, Promise, Rule
from invariants.rules.watch import LATE, Watch
from stateful_tests.worlds.world import World

LOOK_MS = 5_000
"""How often promises are looked at."""
DECLARING = (group_tables, membership, producers, promises, routes, server_files, subscriptions)
"""Modules that declare promises: whoever imports this one has them all."""


def promised(of_models: Sequence[str] | None = None) -> list[type[Rule]]:
    """The promises that apply to a world.

    of_models -- names of the declared properties of models that must come true in it; None: all. Promises that no model
    declares always apply.
    """
    return [rule for rule in RULES.values() if issubclass(rule, Promise)
            and (of_models is None or not rule.judges or rule.judges in of_models)]


def is_promise(signature: Sequence[str]) -> bool:
    """Whether a property and a signature say that a promise was not kept: that is seen without any other judge."""
    name, *what = signature
    return what == [name, LATE] and name in {rule.name for rule in promised()}


def watching(world: World, bounds: Bounds, of_models: Sequence[str] | None = None) -> Watch:
    """A follower of the promises alone; see `promised`."""
    return Watch(world.views, bounds, promised(of_models))


def healing(world: World, watch: Watch) -> Iterator[list[Finding]]:
    """Let a world that has just healed go on until its last promise must be true.

    Gives at each look what is wrong of the promises whose time is over.
    """
    healed_ms = world.now_ms
    last_ms = healed_ms + watch.last_promise_ms
    while True:
        yield watch.promised(world.now_ms, healed_ms)
        if world.now_ms >= last_ms:
            return
        world.run(min(LOOK_MS, last_ms - world.now_ms))
