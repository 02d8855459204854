"""What a workload is: which machines there are, and what people do with them while anything may fail.

Once in each PERIOD_MS, at the rate RATE, one pick chooses among the deeds of the workload (choice 0: nothing); more
picks choose where. A deed that finds nothing to do does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from invariants.concepts import FOLLOWED
from invariants.refinement.follower import Follower
from stateful_tests.worlds import deeds
from stateful_tests.worlds.deeds import GROUP, TOPIC
from stateful_tests.worlds.world import World

PERIOD_MS, RATE = 5_000, 2
_REFINEMENTS = {concept.name: import_module(f"invariants.refinement.{concept.name}") for concept in FOLLOWED}


@dataclass(frozen=True)
class Workload:
    """What happens besides faults.

    name, sentence -- for people. build -- adds the machines to an empty world. deeds -- what is chosen from, as often
    as it stands there. storm_ms -- how long anything may fail. promises -- names of what must come true afterwards.
    groups -- group and topic that are followed. concepts -- whose models follow; None: all. scopes -- names of the
    enumerable scopes that it stays in, mostly; see `invariants.refinement.coverage`. observed -- names of the checks of
    histories that judge what its applications note.
    """

    name: str
    sentence: str
    build: Callable[[World], None]
    deeds: tuple[Callable[[World], deeds.Done], ...]
    promises: tuple[str, ...]
    groups: tuple[tuple[str, str], ...] = ((GROUP, TOPIC),)
    scopes: tuple[str, ...] = ()
    storm_ms: int = 120_000
    concepts: tuple[str, ...] | None = None
    observed: tuple[str, ...] = ()

    def followers(self, world: World) -> list[Follower]:
        """The models that follow a world of this workload, concept by concept: its machines, and each of the groups."""
        refined = (_REFINEMENTS[name] for name in (_REFINEMENTS if self.concepts is None else self.concepts))
        return [one for module in refined for one in module.followers(world, self.groups, self.scopes)]


async def traffic(world: World, chosen_from: Sequence[Callable[[World], deeds.Done]]) -> None:
    """Do deeds until the world has healed; run it as a thread of `kernel.world`."""
    kernel = world.simulation.kernel
    while True:
        await kernel.world.sleep(PERIOD_MS)
        if world.healed:
            return
        before = len(kernel.tape.choices)
        chosen = kernel.tape.pick(len(chosen_from) + 1, "", RATE)
        if chosen:
            deed = chosen_from[chosen - 1]
            try:
                done = deed(world)
            except deeds.NothingToDoError:
                done = "world", f"{deed.__name__}: there was nothing to do"
            if kernel.tape.telling:
                kernel.tape.tell(kernel.now_ms, *done, since=before)
