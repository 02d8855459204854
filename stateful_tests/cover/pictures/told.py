"""Pictures of stories, and a trail that knows nothing, for the tests of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from impl import events
from invariants.pictures.picture import Picture, picture
from invariants.pictures.text import lines
from stateful_tests.stories.telling import looking_on, stories_of

KINDS = [kind for kind in vars(events).values() if isinstance(kind, type)]
"""Every class of events."""


class NoTrail:
    """A run of which only the records are known."""

    flows: Sequence[Any] = ()
    halts: Sequence[Any] = ()
    waits: Sequence[Any] = ()
    closes: Sequence[Any] = ()
    put_off: Mapping[int, Any] = MappingProxyType({})
    jobs: Mapping[int, str] = MappingProxyType({})

    def handled(self, flow: Any) -> bool:
        """Each message finds a thread."""
        del flow
        return True

    def thread_of(self, at: int, machine: str) -> int:
        """Nobody knows."""
        del at, machine
        return 0

    def request_of(self, thread: int) -> Any:
        """None."""
        del thread

    def began(self, thread: int) -> tuple[int, int]:
        """Nobody knows."""
        del thread
        return 0, 0


@cache
def told(name: str) -> Picture:
    """The picture of the first story that breaks a property."""
    with looking_on() as worlds:
        next(iter(stories_of(name)))[1]()
    seen = next(one for one in worlds if one.of(name) is not None)
    kernel, found = seen.world.simulation.kernel, seen.of(name)
    assert kernel.trail is not None
    assert found is not None
    return picture(kernel.records, kernel.trail, found)


def text(drawn: Picture) -> str:
    """As the terminal shows it."""
    return "".join(f"{line}\n" for line in lines(drawn.lifelines, drawn.rows, drawn.left_out))
