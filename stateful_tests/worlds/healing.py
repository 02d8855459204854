"""Behind the healing of a world: what is promised must be true at its deadline, and stay true to the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from impl.hosts.simulation import channel, disk, process
from impl.hosts.simulation.profile import FaultProfile
from invariants.finding import Finding
from invariants.rules.bounds import Bounds
from invariants.rules.declared import RULES
from invariants.rules.observed import OBSERVED, Observed
from invariants.rules.rule import Ascription, Promise, Rule
from invariants.rules.watch import LATE, Watch
from stateful_tests.worlds.listeners import WORK_MS
from stateful_tests.worlds.world import World

LOOK_MS = 5_000
"""How often promises are looked at."""


def bounds_of(profile: FaultProfile) -> Bounds:
    """How long the faults of a profile may hold a world up: the longest ones, by the modules that inject them."""
    delay_ms = max(channel.DELAYS_MS) if profile.delay else 0
    stall_ms = max(channel.STALLS_MS) if profile.write_stall else 0
    force_ms = max(disk.FORCE_MS) if profile.slow_force else 0
    return Bounds(max(process.PAUSES_MS) if profile.thread_pause else 0, delay_ms + stall_ms, max(WORK_MS), force_ms)


def applying(of_models: Sequence[str] | None = None, observed: Collection[str] = ()) -> list[type[Rule]]:
    """The rules that apply to a world.

    of_models -- names of the declared properties of models that must come true in it, and of promises that apply only
    where they are named; None: all. observed -- names of the checks of histories that judge what its clients observe.
    Other rules always apply.
    """
    rules = [rule for rule in RULES.values() if not issubclass(rule, Observed) or rule.check in observed]
    return [rule for rule in rules
            if not issubclass(rule, Promise) or of_models is None or not (rule.judges or rule.named)
            or rule.name in of_models]


def promised(of_models: Sequence[str] | None = None) -> list[type[Rule]]:
    """The promises among them."""
    return [rule for rule in applying(of_models) if issubclass(rule, Promise)]


def is_promise(signature: Sequence[str]) -> bool:
    """Whether a property and a signature say that a promise was not kept."""
    name, *what = signature
    return what[:2] == [name, LATE] and name in {rule.name for rule in promised()}


def is_seen_late(signature: Sequence[str]) -> bool:
    """Whether a property and a signature are those of a promise, or of a check: that is seen without other judges."""
    return is_promise(signature) or signature[0] in {rule.name for rule in OBSERVED.values()}


def watching(
    world: World, of_models: Sequence[str] | None = None, *, bounds: Bounds | None = None, promises_only: bool = False,
    observed: Collection[str] = (),
) -> Watch:
    """The follower of all rules that apply to a world.

    bounds -- None: what the world's faults may hold up now. promises_only -- no other rule judges than promises and
    checks; what is wrong is put down to hazards all the same. observed -- see `applying`.
    """
    kinds = (Promise, Observed, Ascription) if promises_only else (Rule,)
    rules = [rule for rule in applying(of_models, observed) if issubclass(rule, kinds)]
    kernel = world.simulation.kernel
    return Watch(world.views, bounds or bounds_of(kernel.profile), rules, explains=kernel.trail is not None)


def healing(world: World, watch: Watch) -> Iterator[list[Finding]]:
    """Let a world that has just healed go on until its last promise must be true.

    Gives at each look what is wrong of the promises whose time is over.
    """
    healed_ms = world.now_ms
    while True:
        yield watch.promised(world.now_ms, healed_ms)
        left_ms = healed_ms + watch.last_promise_ms - world.now_ms
        if left_ms <= 0:
            return
        world.run(min(LOOK_MS, left_ms))
